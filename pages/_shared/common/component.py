"""The pages' own components: drawn in the browser by a script beside the module that shows them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).resolve().parent


@st.cache_resource(show_spinner=False)
def component(script: Path, frame: str, *, draws_svg: bool = False, library: Path | None = None) -> Callable[..., Any]:
    """The component of a script, called lr_ and the script's name; its style sheet is the .css file beside it, if there
    is one. frame: the HTML that the script fills. draws_svg: the script uses the functions of svg.js. library: a script
    that stands in front of it and puts its own name into globalThis."""
    shared = (_HERE / "svg.js").read_text(encoding="utf-8") if draws_svg else ""
    if library is not None:
        shared += library.read_text(encoding="utf-8") + "\n"
    styles = script.with_suffix(".css")
    return st.components.v2.component(
        f"lr_{script.stem}",
        html=frame,
        css=styles.read_text(encoding="utf-8") if styles.exists() else None,
        js=shared + script.read_text(encoding="utf-8"),
        isolate_styles=False,
    )
