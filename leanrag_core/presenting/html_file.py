"""A presentation as one HTML file: it opens from a disk, asks nothing of any network, and stays interactive.

Texts of documents and models are in a JSON block that no browser runs, and are drawn as text. Of scripts the policy of
the file allows the two in it alone, by their hashes.
"""

import base64
import hashlib

from markupsafe import Markup

from leanrag_core.errors import InvalidConfig
from leanrag_core.figures.fonts import POLICY, font_faces
from leanrag_core.figures.palette import palette
from leanrag_core.presenting import browser
from leanrag_core.presenting.slides import deck_of, values_of_deck
from leanrag_core.presenting.story import Presentation
from leanrag_core.records import json_bytes
from leanrag_core.types.visible import visible

MAX_BYTES = 5_000_000
_START = 'new DeckView(document.querySelector(".lrp"),JSON.parse(document.getElementById("deck").textContent));'
_PAGE = (
    '<!doctype html><html lang="{}"><head><meta charset="utf-8">'
    '<meta http-equiv="Content-Security-Policy" content="{}">'
    '<meta name="viewport" content="width=device-width,initial-scale=1"><title>{}</title><style>{}</style></head>'
    '<body><div class="lrp"></div><script type="application/json" id="deck">{}</script>'
    "<script>{}</script></body></html>\n"
)


def as_html(presentation: Presentation, language: str = "en") -> bytes:
    """The content of the file. Raises InvalidConfig where it would have more than MAX_BYTES."""
    deck = deck_of(presentation, language)
    script = f"{{{browser.scripts()}\n{_START}}}"  # in a block, so that nothing of it is global
    page = Markup(_PAGE).format(
        deck.language,
        _policy(script),
        visible(deck.title),
        Markup(font_faces() + _colours() + browser.styles()),
        Markup(_inert(json_bytes(values_of_deck(deck)).decode())),
        Markup(script),
    )
    content = str(page).encode()
    if len(content) > MAX_BYTES:
        raise InvalidConfig("present.file_too_large", n=len(content), limit=MAX_BYTES)
    return content


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # Styles are set by the script too, on single elements, which hashes cannot name.
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; {POLICY}; "
        "base-uri 'none'; form-action 'none'"
    )


def _inert(json: str) -> str:
    """JSON in which nothing ends or begins an element of HTML, or a comment."""
    return json.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _colours() -> str:
    light, dark = (palette(dark=dark).css_variables() for dark in (False, True))
    return (
        f":root{{color-scheme:light dark;{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}body{{margin:0}}"
    )
