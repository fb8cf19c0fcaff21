"""Scripts and style sheets of the pages' components as files of the server: a browser fetches each once and keeps it.

Sent inline they would go out again with every change of what a component shows. An address names what its content is
made of and holds its digest, so that nothing needs to be remembered here and a browser never has an old version.
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
    """Return the routes for the server of the app: the scripts, and the document of each page."""
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
    """Return every script and style sheet that a component may be made of, by its file name, which is its own."""
    folders = (_PAGES, script_path("svg").parent)
    return {path.name: path for folder in folders for ending in _TYPES for path in sorted(folder.rglob(f"*.{ending}"))}


@cache  # a file once, whatever addresses name it
def _text(file_name: str) -> str:
    return _paths()[file_name].read_text(encoding="utf-8")


def _content(names: Sequence[str], ending: str) -> str:
    return "\n".join(_text(f"{name}.{ending}") for name in names)


def _digest(names: Sequence[str], ending: str) -> str:
    """Return the digest of the content, without making it."""
    hashed = hashlib.sha256()
    for place, name in enumerate(names):
        hashed.update((b"\n" if place else b"") + _text(f"{name}.{ending}").encode())
    return hashed.hexdigest()[:16]


def keep_for_fragments() -> None:
    """Let a fragment's run drop no message of the runs before it, from now on.

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


_REMEDIES = {
    Refused.HOST: "This app answers under the names of this machine alone (127.0.0.1, localhost). To serve it under "
    "another name, add that name to server.allowedHosts in .streamlit/config.toml and restart the app.\n",
    Refused.ORIGIN: "This request was made by a page of another origin. If a proxy stands before the app, add the "
    "proxy's address to server.corsAllowedOrigins in .streamlit/config.toml and restart the app.\n",
}


def request_check() -> Middleware:
    """Return what refuses requests under foreign names and from pages of other origins, as .streamlit/config.toml
    allows them."""

    def allowed() -> AllowedNames:
        hosts, origins = (config.get_option(f"server.{name}") for name in ("allowedHosts", "corsAllowedOrigins"))
        return AllowedNames(hosts, origins)

    return Middleware(RequestCheck, allowed=allowed, remedies=_REMEDIES.__getitem__)
