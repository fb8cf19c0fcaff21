"""The scripts and styles that draw slides in a browser, the same on the page and in an exported file."""

from leanrag_core.figures import scripts as figures
from leanrag_core.program_files import PROGRAM

_PAGES = PROGRAM / "pages"
_SCRIPTS = (
    "present/slides_index.js",
    "present/slides_question.js",
    "present/deck.js",
)
_STYLES = ("present/deck.css",)


def scripts() -> str:
    """The functions and the class DeckView, for a script that follows."""
    return f"{figures.scripts(('layers',))}\n{_joined(_SCRIPTS)}"


def styles() -> str:
    """The style sheet; colours are the --lr-* properties of the palette."""
    return f"{figures.styles(('layers',))}\n{_joined(_STYLES)}"


def _joined(names: tuple[str, ...]) -> str:
    return "\n".join((_PAGES / name).read_text(encoding="utf-8") for name in names)
