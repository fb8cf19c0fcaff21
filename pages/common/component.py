"""The pages' own components: a script beside the Python module draws each in the browser."""

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.figures.scripts import script_path
from pages.common import server

_HERE = Path(__file__).resolve().parent
# All that is sent with a component; its script is fetched as a file. Nothing is drawn before its style sheet is there,
# since scripts measure what they draw. The sheet comes last in the page, behind style.css.
_LOADER = """const at = (path) => new URL(path, document.baseURI).href;
const styled = {sheet} && new Promise((done) => {{
  const link = document.createElement("link");
  Object.assign(link, {{ rel: "stylesheet", href: at({sheet}), onload: done, onerror: done }});
  document.body.append(link);
}});
const [{{ default: draw }}, {{ default: inflating }}] =
  await Promise.all([import(at({script})), import(at({inflate})), styled]);
export default inflating(draw);"""
_DEFLATED_FROM = 4000  # characters of JSON


def component(script: Path, frame: str, *, parts: tuple[str, ...] = ()) -> Callable[..., Any]:
    """Return the component of a script, named lr_ and the script's name; the .css file beside the script, if any, is
    its style sheet. frame: the HTML that the script fills. parts: names of further scripts it uses, from its own
    folder, this one or the figures; their style sheets are included. svg.js and elements.js come before all."""
    mount: Callable[..., Any] = _component(f"{script} {parts} {frame}", script, frame, parts)
    return lambda *, data, **others: mount(data=_deflated(data), **others)


def report(key: str, event: str, act: Callable[[str], object]) -> Callable[[], None]:
    """Return a callback that passes on what the component with that key reports as the event, unless it is empty."""

    def reported() -> None:
        value = st.session_state[key].get(event)
        if value:
            act(str(value))

    return reported


def _deflated(data: Any) -> Any:
    """Return large data as deflated JSON, a fourth of the bytes, which inflate.js reads; return small data
    unchanged."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return data if len(text) < _DEFLATED_FROM else zlib.compress(text.encode())


@st.cache_resource(show_spinner=False)
def _component(key: str, _script: Path, _frame: str, _parts: tuple[str, ...]) -> Callable[..., Any]:
    """Return the component, registered once. key: hashing this one text takes a fiftieth of the time of the other
    arguments."""
    files = [script_path("svg"), _HERE / "elements.js"]
    for part in _parts:
        candidates = [folder / f"{part}.js" for folder in (_script.parent, _HERE)]
        files.append(next((path for path in candidates if path.exists()), script_path(part)))
    files.append(_script)
    styles = [path.with_suffix(".css") for path in files if path.with_suffix(".css").exists()]
    sheet = server.address(styles) if styles else ""
    inflate = server.address([_HERE / "inflate.js"])
    loader = _LOADER.format(
        script=json.dumps(server.address(files)), inflate=json.dumps(inflate), sheet=json.dumps(sheet)
    )
    return st.components.v2.component(f"lr_{_script.stem}", html=_frame, js=loader, isolate_styles=False)
