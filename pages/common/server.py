"""Scripts and style sheets of the pages' components as files of the server: a browser fetches each once and keeps it.

Sent inline they would go out again with every change of what a component shows. An address names what its content is
made of and holds its digest, so that nothing needs to be remembered here and a browser never has an old version.
"""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from streamlit import config, file_util
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from leanrag_core.figures.scripts import script_path

FOLDER = "lr"  # below the app's own address
_PAGES = Path(__file__).resolve().parents[1]
_TYPES = {"js": "text/javascript", "css": "text/css"}
_FOREVER = "public, max-age=31536000, immutable"


def address(paths: Sequence[Path]) -> str:
    """Return the address of those files as one, relative to a page's; all of them have the same ending."""
    names, ending = tuple(path.stem for path in paths), paths[0].suffix[1:]
    return f"{FOLDER}/{'.'.join(names)}.{_digest(names, ending)}.{ending}"


def content_at(name: str) -> tuple[str, str] | None:
    """Return the content and its type at the last part of such an address; None where nothing has it.

    A repeated or unknown name is refused before any file is read, and nothing is joined for a digest that is wrong.
    """
    *names, digest, ending = name.split(".") if name.count(".") > 1 else ("", "", "")
    if ending not in _TYPES or len(set(names)) < len(names):
        return None
    if not all(f"{each}.{ending}" in _paths() for each in names) or digest != _digest(names, ending):
        return None
    return _content(names, ending), _TYPES[ending]


def routes() -> list[Route]:
    """For the server of the app: the scripts, and the document of each page."""
    base = str(config.get_option("server.baseUrlPath")).strip("/")
    below = f"/{base}" if base else ""
    names = ["", *(path.parent.name for path in sorted(_PAGES.glob("*/page.py")))]
    return [Route(f"{below}/{FOLDER}/{{name}}", _answer), *(Route(f"{below}/{name}", _document) for name in names)]


async def _document(request: Request) -> Response:
    """Streamlit's document with style.css, behind its own styles, and the script that shows a page once it is drawn."""
    document = (Path(file_util.get_static_dir()) / "index.html").read_text(encoding="utf-8")
    sheet, script = (address([Path(__file__).with_name(name)]) for name in ("style.css", "opening.js"))
    added = f'<link rel="stylesheet" href="./{sheet}"><script type="module" src="./{script}"></script></body>'
    opening = document.replace("<html ", '<html class="lr-opening" ', 1).replace("</body>", added, 1)
    return HTMLResponse(opening, headers={"cache-control": "no-cache"})


async def _answer(request: Request) -> Response:
    known = content_at(request.path_params["name"])
    if known is None:
        return PlainTextResponse("not found", status_code=404)
    content, kind = known
    return Response(content, media_type=kind, headers={"cache-control": _FOREVER})


@cache
def _paths() -> Mapping[str, Path]:
    """Return every script and style sheet that a component may be made of, by its file name, which is its own."""
    folders = (_PAGES, script_path("svg").parent)
    return {path.name: path for folder in folders for ending in _TYPES for path in sorted(folder.rglob(f"*.{ending}"))}


@cache  # a file once, whatever addresses name it
def _text(file_name: str) -> str:
    return _paths()[file_name].read_text(encoding="utf-8")


def _content(names: Sequence[str], ending: str) -> str:
    return "\n".join(_text(f"{name}.{ending}") for name in names)


def _digest(names: Sequence[str], ending: str) -> str:
    """Of the content, without making it."""
    hashed = hashlib.sha256()
    for place, name in enumerate(names):
        hashed.update((b"\n" if place else b"") + _text(f"{name}.{ending}").encode())
    return hashed.hexdigest()[:16]


def keep_for_fragments() -> None:
    """From now on a fragment's run drops no message of the runs before it.

    Streamlit drops those of the same fragment, but not those of a fragment or dialog inside it: their elements would
    arrive without the block that they stand in, and the browser would remove the whole page ("Cannot set a node at a
    delta path"). What is not dropped is drawn over.
    """
    clear = ForwardMsgQueue.clear

    def clear_for_page(
        self: ForwardMsgQueue, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
    ) -> None:
        if fragment_ids_this_run is None:
            clear(self, retain_lifecycle_msgs)
        else:
            self._delta_index_map = {}  # nothing of this run takes the place of a message before it

    setattr(ForwardMsgQueue, "clear", clear_for_page)  # noqa: B010 - mypy lets no method be assigned


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


class RequestCheck:
    """ASGI middleware: a request passes when its Host is a loopback or configured name and its Origin is the app's own
    or a configured one. Others are answered with 403 and reach nothing of Streamlit."""

    def __init__(self, app: _App) -> None:
        self._app = app

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        """See ASGI: one call a request or a websocket."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        reason = refusal(
            _values(scope, b"host"),
            _values(scope, b"origin"),
            allowed_hosts=config.get_option("server.allowedHosts"),
            allowed_origins=config.get_option("server.corsAllowedOrigins"),
        )
        if reason is None:
            await self._app(scope, receive, _with_security_headers(send))
        elif scope["type"] == "websocket":
            await receive()  # the opening; closing before it is accepted sends 403
            await send({"type": "websocket.close", "code": _WEBSOCKET_POLICY_VIOLATION, "reason": ""})
        else:
            body = reason.encode()
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
            await send({"type": "http.response.start", "status": 403, "headers": [*headers, *SECURITY_HEADERS]})
            await send({"type": "http.response.body", "body": body})


def refusal(
    hosts: Sequence[str],
    origins: Sequence[str],
    *,
    allowed_hosts: Sequence[str],
    allowed_origins: Sequence[str],
) -> str | None:
    """Return why a request with these Host and Origin headers is refused and what to do; None when it is not.

    A request without Origin comes from no script of a foreign page that could read the answer. Another port of the
    loopback is another origin: whatever runs there must not read the corpora either.
    """
    host = _parsed(f"//{hosts[0]}") if len(hosts) == 1 else None
    if host is None or not (_is_loopback(host.hostname or "") or _is_allowed(host.hostname or "", allowed_hosts)):
        return (
            "This app answers under the names of this machine alone (127.0.0.1, localhost). To serve it under another "
            "name, add that name to server.allowedHosts in .streamlit/config.toml and restart the app.\n"
        )
    if not origins or (len(origins) == 1 and origins[0] in {origin.strip() for origin in allowed_origins}):
        return None
    origin = _parsed(origins[0]) if len(origins) == 1 else None
    if origin is not None and origin.netloc.lower() == host.netloc.lower():
        return None
    return (
        "This request was made by a page of another origin. If a proxy stands before the app, add the proxy's address "
        "to server.corsAllowedOrigins in .streamlit/config.toml and restart the app.\n"
    )


def _parsed(address: str) -> SplitResult | None:
    """Return the parts of scheme://name:port, scheme optional; None when there is anything else or the port is none."""
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
    """As Streamlit reads server.allowedHosts: names, *.name for what lies below a name, * for all."""
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
