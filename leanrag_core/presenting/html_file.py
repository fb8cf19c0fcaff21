"""A presentation as one HTML file: it opens from a disk, asks nothing of any network, and stays interactive."""

from leanrag_core.errors import InvalidConfig
from leanrag_core.figures import scripts as figures
from leanrag_core.figures.html import html, html_file
from leanrag_core.presenting.slides import deck_of, values_of_deck
from leanrag_core.presenting.story import Presentation
from leanrag_core.system.environment import PROGRAM

MAX_BYTES = 5_000_000
_PAGES = PROGRAM / "pages"
_SCRIPTS = (
    "present/slides_index.js",
    "present/slides_question.js",
    "present/deck.js",
)
_STYLES = ("present/deck.css",)


def scripts() -> str:
    """Return the functions and the class DeckView, for a script that follows."""
    return f"{figures.scripts(('layers',))}\n{_joined(_SCRIPTS)}"


def styles() -> str:
    """Return the style sheet; colours are the --lr-* properties of the palette."""
    return f"{figures.styles(('layers',))}\n{_joined(_STYLES)}"


def _joined(names: tuple[str, ...]) -> str:
    return "\n".join((_PAGES / name).read_text(encoding="utf-8") for name in names)


def as_html(presentation: Presentation, language: str = "en") -> bytes:
    """Return the content of the file. Raises InvalidConfig where it would have more than MAX_BYTES."""
    deck = deck_of(presentation, language)
    content = html_file(
        html('<div class="lrp"></div>'),
        title=deck.title,
        language=deck.language,
        styles=f"body{{margin:0}}{styles()}",
        script=f'{scripts()}\nnew DeckView(document.querySelector(".lrp"),values);',
        values=values_of_deck(deck),
    ).encode()
    if len(content) > MAX_BYTES:
        raise InvalidConfig("present.file_too_large", n=len(content), limit=MAX_BYTES)
    return content
