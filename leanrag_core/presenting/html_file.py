"""A presentation as one HTML file: it opens from a disk, asks nothing of any network, and stays interactive."""

from leanrag_core.errors import InvalidConfig
from leanrag_core.figures.html import html, html_file
from leanrag_core.presenting import browser
from leanrag_core.presenting.slides import deck_of, values_of_deck
from leanrag_core.presenting.story import Presentation

MAX_BYTES = 5_000_000


def as_html(presentation: Presentation, language: str = "en") -> bytes:
    """Return the content of the file. Raises InvalidConfig where it would have more than MAX_BYTES."""
    deck = deck_of(presentation, language)
    content = html_file(
        html('<div class="lrp"></div>'),
        title=deck.title,
        language=deck.language,
        styles=f"body{{margin:0}}{browser.styles()}",
        script=f'{browser.scripts()}\nnew DeckView(document.querySelector(".lrp"),values);',
        values=values_of_deck(deck),
    ).encode()
    if len(content) > MAX_BYTES:
        raise InvalidConfig("present.file_too_large", n=len(content), limit=MAX_BYTES)
    return content
