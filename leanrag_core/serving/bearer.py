"""The token that every request has to bring: in its Authorization header, never in an address or a file."""

import hmac
import os
import secrets
from dataclasses import dataclass
from typing import Any

from leanrag_core.errors import InvalidConfig
from leanrag_core.messages.message import message
from leanrag_core.serving.failures import failure_response

VARIABLE = "LEANRAG_API_TOKEN"
_SHORTEST = 16  # characters of a token that a person chose


@dataclass(frozen=True)
class Token:
    """The token of a server. made: at its start, so that it has to be told."""

    text: str
    made: bool


def chosen_token() -> Token:
    """Return the token of the environment, else one that is made now. Raises InvalidConfig for one that is easily
    guessed or that a header cannot hold."""
    given = os.environ.get(VARIABLE, "")
    if not given:
        return Token(secrets.token_urlsafe(32), made=True)
    if len(given) < _SHORTEST or not (given.isascii() and given.isprintable()) or " " in given:
        raise InvalidConfig("serving.token_unfit", variable=VARIABLE, n=_SHORTEST)
    return Token(given, made=False)


class BearerCheck:
    """ASGI middleware: a request passes with the token. The comparison takes as long for a wrong one as for the right
    one."""

    def __init__(self, app: Any, *, token: str) -> None:
        self._app, self._expected = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """See ASGI."""
        if scope["type"] == "http":
            given = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
            scheme, _, token = (given[0] if len(given) == 1 else b"").partition(b" ")
            if not hmac.compare_digest(scheme.capitalize() + b" " + token, self._expected):
                response = failure_response(401, message("serving.no_token", variable=VARIABLE))
                response.headers["www-authenticate"] = "Bearer"
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)
