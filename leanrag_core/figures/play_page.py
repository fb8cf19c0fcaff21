"""A play as one HTML file: it opens from a disk, asks nothing of any network, and can be stepped through.

Texts of documents and models are in a JSON block that no browser runs, and are drawn as text. Of scripts the policy of
the file allows its own alone, by its hash.
"""

import base64
import hashlib
import json

from markupsafe import Markup

from leanrag_core.figures.fonts import POLICY, font_faces
from leanrag_core.figures.palette import palette
from leanrag_core.figures.play import play, play_words
from leanrag_core.figures.play_values import play_values
from leanrag_core.figures.scripts import PLAY, scripts, styles
from leanrag_core.messages.catalog import ENGLISH
from leanrag_core.types.trace import Answer, Trace
from leanrag_core.types.visible import visible

_START = (
    "const held=JSON.parse(document.getElementById('play').textContent);"
    "playRetrieval(document.querySelector('main'),held.play,held.words,{start:held.start});"
)
_STYLE = (
    "body{margin:0;background:var(--lr-bg);color:var(--lr-text);font-family:'Source Sans','Source Sans Pro',system-ui,"
    "sans-serif;font-size:17px}h1{font:500 1.35rem/1.4 'Source Serif','Source Serif Pro',Georgia,serif;margin:0 0 1rem;"
    "overflow-wrap:anywhere}.page{max-width:1160px;margin:0 auto;padding:1.6rem 1rem}"
)
_PAGE = (
    '<!doctype html><html lang="{}"><head><meta charset="utf-8">'
    '<meta http-equiv="Content-Security-Policy" content="{}">'
    '<meta name="viewport" content="width=device-width,initial-scale=1"><title>{}</title><style>{}</style></head>'
    '<body><div class="page"><h1 dir="auto">{}</h1><main></main></div>'
    '<script type="application/json" id="play">{}</script><script>{}</script></body></html>\n'
)


def play_page(trace: Trace, *, answer: Answer | None = None, language: str = ENGLISH) -> bytes:
    """The content of the file. It begins at the first frame."""
    shown = play(trace, answer=answer, language=language)
    first = shown.segments[0].name
    held = {"play": play_values(shown), "words": play_words(language), "start": f"{first}.1"}
    script = f"{{{scripts(PLAY)}\n{_START}}}"  # in a block, so that nothing of it is global
    question = visible(trace.question)
    page = Markup(_PAGE).format(
        language,
        _policy(script),
        question,
        Markup(font_faces() + _colours() + styles(PLAY) + _STYLE),
        question,
        Markup(_inert(json.dumps(held, ensure_ascii=False))),
        Markup(script),
    )
    return str(page).encode()


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # Styles are set by the script too, on single elements, which hashes cannot name.
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; {POLICY}; "
        "base-uri 'none'; form-action 'none'"
    )


def _inert(text: str) -> str:
    """JSON in which nothing ends or begins an element of HTML, or a comment."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _colours() -> str:
    light, dark = (palette(dark=dark).css_variables() for dark in (False, True))
    return f":root{{color-scheme:light dark;{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
