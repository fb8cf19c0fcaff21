"""The check of the token, which every request has to bring in its Authorization header."""

import hmac
from typing import Any

from leanrag_core.messages.message import message
from leanrag_core.serving.failures import failure_response
from leanrag_core.serving.start import VARIABLE


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
