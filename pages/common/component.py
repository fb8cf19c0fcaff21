"""The pages' own components: drawn in the browser by a script beside the module that shows them."""

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.figures.scripts import script_path
from pages.common import server

_HERE = Path(__file__).resolve().parent
# All that is sent with a component: its script is fetched as a file. Nothing is drawn before its style sheet is there,
# since scripts measure what they draw. The sheet comes last in the page, behind style.css.
_LOADER = """const at = (path) => new URL(path, document.baseURI).href;
const styled = {sheet} && new Promise((done) => {{
  const link = document.createElement("link");
  Object.assign(link, {{ rel: "stylesheet", href: at({sheet}), onload: done, onerror: done }});
  document.body.append(link);
}});
const [{{ default: drawn }}{also}] = await Promise.all([import(at({script})), {unpacks}styled]);
export default {drawn};"""


def component(
    script: Path,
    frame: str,
    *,
    draws_svg: bool = False,
    library: Path | None = None,
    parts: tuple[str, ...] = (),
    packs: bool = False,
) -> Callable[..., Any]:
    """Return the component of a script, called lr_ and the script's name; its style sheet is the .css file beside it,
    if there is one. frame: the HTML that the script fills. draws_svg: the script uses the functions of svg.js. library:
    a script that is put in front of it and puts its own name into globalThis. parts: names of the scripts whose
    functions it uses, such as layers, of its own folder, this one or the figures; their style sheets come along.
    packs: data is sent as deflated JSON, for the large ones: a fourth of the bytes."""
    before = [script_path("svg")] if draws_svg else []
    before += [library] if library is not None else []
    mount: Callable[..., Any] = _component(f"{script} {before} {parts} {frame}", script, frame, before, parts, packs)
    return (lambda *, data, **others: mount(data=packed(data), **others)) if packs else mount


def packed(data: Any) -> bytes:
    """Return the data as deflated JSON, which packed.js inflates."""
    return zlib.compress(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode())


@st.cache_resource(show_spinner=False)
def _component(
    key: str, _script: Path, _frame: str, _before: list[Path], _parts: tuple[str, ...], _packs: bool
) -> Callable[..., Any]:
    """Return the component, registered once. key: one text is hashed in a fiftieth of the time of the parts."""
    before = list(_before)
    for part in _parts:
        own = [folder / f"{part}.js" for folder in (_script.parent, _HERE)]
        before.append(next((path for path in own if path.exists()), script_path(part)))
    files = [*before, _script]
    styles = [path.with_suffix(".css") for path in files if path.with_suffix(".css").exists()]
    sheet = server.address(styles) if styles else ""
    loader = _LOADER.format(
        script=json.dumps(server.address(files)),
        sheet=json.dumps(sheet),
        also=", { default: inflating }" if _packs else "",
        unpacks=f"import(at({json.dumps(server.address([_HERE / 'packed.js']))})), " if _packs else "",
        drawn="inflating(drawn)" if _packs else "drawn",
    )
    return st.components.v2.component(f"lr_{_script.stem}", html=_frame, js=loader, isolate_styles=False)
