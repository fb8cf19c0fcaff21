"""The pages' own components: drawn in the browser by a script beside the module that shows them."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.figures.scripts import script_path

_HERE = Path(__file__).resolve().parent


@st.cache_resource(show_spinner=False)
def component(
    script: Path, frame: str, *, draws_svg: bool = False, library: Path | None = None, parts: tuple[str, ...] = ()
) -> Callable[..., Any]:
    """The component of a script, called lr_ and the script's name; its style sheet is the .css file beside it, if there
    is one. frame: the HTML that the script fills. draws_svg: the script uses the functions of svg.js. library: a script
    that stands in front of it and puts its own name into globalThis. parts: names of the scripts whose functions it
    uses, such as layers, of this folder or of the figures; their style sheets come along."""
    before = [script_path("svg")] if draws_svg else []
    before += [library] if library is not None else []
    for part in parts:
        own = _HERE / f"{part}.js"
        before.append(own if own.exists() else script_path(part))
    styles = [path.with_suffix(".css") for path in (*before, script)]
    return st.components.v2.component(
        f"lr_{script.stem}",
        html=frame,
        css=_joined(path for path in styles if path.exists()) or None,
        js="\n".join(_text(path) if path == library else without_comments(_text(path)) for path in (*before, script)),
        isolate_styles=False,
    )


def _joined(paths: Iterable[Path]) -> str:
    return "\n".join(_text(path) for path in paths)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def without_comments(script: str) -> str:
    """The script without lines that are comments, and without indentation: each page view sends it again."""
    lines = (line.strip() for line in script.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))
