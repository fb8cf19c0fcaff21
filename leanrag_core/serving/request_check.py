"""Which requests reach a server of this machine, by their Host and Origin headers; one rule for the app and the API."""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass
from enum import Enum
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[_Message, _Receive, _Send], Awaitable[None]]

# The URL holds the question: no other site learns where a link was clicked, frames the app, or embeds its files.
SECURITY_HEADERS = (
    (b"content-security-policy", b"frame-ancestors 'self'; base-uri 'self'; object-src 'none'"),
    (b"x-frame-options", b"SAMEORIGIN"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
_OWN_HEADERS = frozenset(name for name, _ in SECURITY_HEADERS)
_WEBSOCKET_POLICY_VIOLATION = 1008


class Refused(Enum):
    """The header for which a request is refused."""

    HOST = "host"
    ORIGIN = "origin"


@dataclass(frozen=True)
class AllowedNames:
    """Names and origins that pass beside the loopback's own. hosts: names, *.name for what lies below a name, * for
    all."""

    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()


class RequestCheck:
    """ASGI middleware: a request passes when its Host is a loopback or allowed name and its Origin is the server's own
    or an allowed one. Others are answered with 403 and reach nothing of the server.

    allowed: read anew for each request. remedies: what a refused request is told.
    """

    def __init__(self, app: _App, *, allowed: Callable[[], AllowedNames], remedies: Callable[[Refused], str]) -> None:
        self._app, self._allowed, self._remedies = app, allowed, remedies

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        """See ASGI: one call a request or a websocket."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refused = refusal(_values(scope, b"host"), _values(scope, b"origin"), self._allowed())
        if refused is None:
            await self._app(scope, receive, _with_security_headers(send))
        elif scope["type"] == "websocket":
            await receive()  # the opening; closing before it is accepted sends 403
            await send({"type": "websocket.close", "code": _WEBSOCKET_POLICY_VIOLATION, "reason": ""})
        else:
            body = self._remedies(refused).encode()
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
            await send({"type": "http.response.start", "status": 403, "headers": [*headers, *SECURITY_HEADERS]})
            await send({"type": "http.response.body", "body": body})


def refusal(hosts: Sequence[str], origins: Sequence[str], allowed: AllowedNames) -> Refused | None:
    """Return for which of its headers a request is refused; None when it is not. hosts, origins: values of Host and
    Origin, as many as it has.

    A request without Origin comes from no script of a foreign page that could read the answer. Another port of the
    loopback is another origin: whatever runs there must not read the corpora either.
    """
    host = _parsed(f"//{hosts[0]}") if len(hosts) == 1 else None
    if host is None or not (_is_loopback(host.hostname or "") or _is_allowed(host.hostname or "", allowed.hosts)):
        return Refused.HOST
    if not origins or (len(origins) == 1 and origins[0] in {origin.strip() for origin in allowed.origins}):
        return None
    origin = _parsed(origins[0]) if len(origins) == 1 else None
    if origin is not None and origin.netloc.lower() == host.netloc.lower():
        return None
    return Refused.ORIGIN


def _parsed(address: str) -> SplitResult | None:
    """Return the parts of scheme://name:port, scheme optional; None when there is anything else or the port is
    invalid."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # raises for a port that is no number
    except ValueError:
        return None
    extra = parts.path or parts.query or parts.fragment or parts.username is not None or parts.password is not None
    return None if extra or not parts.hostname or not parts.netloc.isascii() else parts


def _is_loopback(name: str) -> bool:
    if name.rstrip(".") == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _is_allowed(name: str, allowed: Sequence[str]) -> bool:
    """Tell whether the name is allowed, as Streamlit reads server.allowedHosts: names, *.name for what lies below a
    name, * for all."""
    name = name.rstrip(".")
    for entry in allowed:
        pattern = entry.strip().lower().rstrip(".")
        if pattern == "*" or name == pattern or (pattern.startswith("*.") and name.endswith(pattern[1:])):
            return True
    return False


def _values(scope: _Message, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


def _with_security_headers(send: _Send) -> _Send:
    async def sending(message: _Message) -> None:
        if message["type"] == "http.response.start":
            kept = [pair for pair in message.get("headers", ()) if pair[0].lower() not in _OWN_HEADERS]
            message = {**message, "headers": [*kept, *SECURITY_HEADERS]}
        await send(message)

    return sending
