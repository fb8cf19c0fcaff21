"""Serves the scripts and style sheets of the pages' components as files, so that a browser fetches each once.

Sent inline they would be repeated whenever a component changes. An address names the parts of its content and holds
their digest, so that the server needs no memory of it and a browser never uses an old version.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from streamlit import config, file_util
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from leanrag_core.figures.scripts import script_path
from leanrag_core.serving.request_check import AllowedNames, Refused, RequestCheck

FOLDER = "lr"  # below the app's own address
_PAGES = Path(__file__).resolve().parents[1]
_TYPES = {"js": "text/javascript", "css": "text/css"}
_FOREVER = "public, max-age=31536000, immutable"


def address(paths: Sequence[Path]) -> str:
    """Return one relative address for those files together; all must have the same ending."""
    names, ending = tuple(path.stem for path in paths), paths[0].suffix[1:]
    return f"{FOLDER}/{'.'.join(names)}.{_digest(names, ending)}.{ending}"


def content_at(name: str) -> tuple[str, str] | None:
    """Return the content and its type for the last part of such an address; None for an unknown one.

    A repeated or unknown name is refused before a file is read, and a wrong digest before the content is joined.
    """
    *names, digest, ending = name.split(".") if name.count(".") > 1 else ("", "", "")
    if ending not in _TYPES or len(set(names)) < len(names):
        return None
    if not all(f"{each}.{ending}" in _paths() for each in names) or digest != _digest(names, ending):
        return None
    return _content(names, ending), _TYPES[ending]


def routes() -> list[Route]:
    """Return the routes for the app's server: the scripts, and the HTML document of each page."""
    base = str(config.get_option("server.baseUrlPath")).strip("/")
    below = f"/{base}" if base else ""
    names = ["", *(path.parent.name for path in sorted(_PAGES.glob("*/page.py")))]
    return [Route(f"{below}/{FOLDER}/{{name}}", _answer), *(Route(f"{below}/{name}", _document) for name in names)]


async def _document(request: Request) -> Response:
    """Return Streamlit's document with style.css, behind its own styles, and the script that shows a drawn page."""
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
    """Return every script and style sheet of the components by its file name, which is unique."""
    folders = (_PAGES, script_path("svg").parent)
    return {path.name: path for folder in folders for ending in _TYPES for path in sorted(folder.rglob(f"*.{ending}"))}


@cache  # each file once, whatever addresses name it
def _text(file_name: str) -> str:
    return _paths()[file_name].read_text(encoding="utf-8")


def _content(names: Sequence[str], ending: str) -> str:
    return "\n".join(_text(f"{name}.{ending}") for name in names)


def _digest(names: Sequence[str], ending: str) -> str:
    """Return the digest of the content without joining it."""
    hashed = hashlib.sha256()
    for place, name in enumerate(names):
        hashed.update((b"\n" if place else b"") + _text(f"{name}.{ending}").encode())
    return hashed.hexdigest()[:16]


def keep_for_fragments() -> None:
    """Keep all messages of earlier runs when a fragment runs, from now on.

    Streamlit drops those of the same fragment but not those of a fragment or dialog inside it. The elements of the
    latter would arrive without their container, and the browser would remove the whole page ("Cannot set a node at a
    delta path"). Messages that are not dropped are drawn over.
    """
    clear = ForwardMsgQueue.clear

    def clear_for_page(
        self: ForwardMsgQueue, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
    ) -> None:
        if fragment_ids_this_run is None:
            clear(self, retain_lifecycle_msgs)
        else:
            self._delta_index_map = {}  # no message of this run replaces an earlier one

    setattr(ForwardMsgQueue, "clear", clear_for_page)  # noqa: B010 - mypy lets no method be assigned


_REMEDIES = {
    Refused.HOST: "This app answers under the names of this machine alone (127.0.0.1, localhost). To serve it under "
    "another name, add that name to server.allowedHosts in .streamlit/config.toml and restart the app.\n",
    Refused.ORIGIN: "This request was made by a page of another origin. If a proxy stands before the app, add the "
    "proxy's address to server.corsAllowedOrigins in .streamlit/config.toml and restart the app.\n",
}


def request_check() -> Middleware:
    """Return a check that refuses requests with foreign host names and from other origins, as .streamlit/config.toml
    says."""

    def allowed() -> AllowedNames:
        hosts, origins = (config.get_option(f"server.{name}") for name in ("allowedHosts", "corsAllowedOrigins"))
        return AllowedNames(hosts, origins)

    return Middleware(RequestCheck, allowed=allowed, remedies=_REMEDIES.__getitem__)
