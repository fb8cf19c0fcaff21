"""What a page gave the browser to draw, sorted by how the browser reads it: as HTML, as Markdown, or as plain text."""

import json
import re
import zlib
from collections.abc import Iterator
from functools import lru_cache
from html.parser import HTMLParser
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.figures.unpacked import unpacked

# Tags and attributes that the pages themselves write; anything else came out of a document.
TAGS = {
    "b",
    "bdi",
    "br",
    "details",
    "div",
    "em",
    "hr",
    "i",
    "li",
    "mark",
    "p",
    "s",
    "small",
    "span",
    "style",
    "summary",
    "table",
    "td",
    "th",
    "tr",
    "u",
    "ul",
}
ATTRIBUTES = re.compile(r"class|colspan|dir|style|role|tabindex|title|aria-[a-z]+")
# HTML of the pages that came out as text; documents of the tests have none of it.
ESCAPED_TWICE = re.compile(r"&lt;(bdi|br|(div|span|i|p|u|table) (class|role))\b")
MARKDOWN = re.compile(r"\\.|(\[|\]|<|\$|`|\*|~)")


class Markup(HTMLParser):
    """The tags, attributes and text of a piece of HTML."""

    def __init__(self, body: str) -> None:
        super().__init__()
        self.strange: list[str] = []
        self.text = ""
        self.feed(body)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            self.strange.append(f"<{tag}>")
        for name, value in attrs:
            if not ATTRIBUTES.fullmatch(name) or (name == "style" and "url(" in (value or "")):
                self.strange.append(f"<{tag} {name}={value!r}>")

    def handle_data(self, data: str) -> None:
        self.text += data


@lru_cache(maxsize=2000)
def markup(body: str) -> Markup:
    """Return what is in the piece of HTML; most pieces of a page are those of the page before."""
    return Markup(body)


def everything(app: AppTest) -> Iterator[Any]:
    for root in app._tree.children.values():
        yield from root


def html(app: AppTest) -> list[str]:
    """Return bodies of all pieces of HTML but the style sheet."""
    bodies = [element.proto.body for element in everything(app) if element.type == "html"]
    return [body for body in bodies if not body.startswith("<style>")]


def text(app: AppTest) -> str:
    """Return what all pieces of HTML and Markdown say, tags and entities resolved."""
    texts = [markup(body).text for body in html(app)]
    texts += [str(element.value) for element in everything(app) if element.type in ("caption", "markdown", "text")]
    return "\n".join(texts)


def labels(app: AppTest) -> list[str]:
    """Return all that Streamlit reads as Markdown: labels, helps, options of pills, captions."""
    labels_found = []
    for element in everything(app):
        proto = getattr(element, "proto", None)
        for holder in (proto, getattr(proto, "expandable", None), getattr(proto, "popover", None)):
            labels_found += [str(getattr(holder, name, "") or "") for name in ("label", "help")]
        if element.type in ("caption", "markdown"):
            labels_found.append(str(element.value))
        if element.type == "button_group":
            labels_found += [option.content for option in proto.options]
    return [label for label in labels_found if label]


def component(app: AppTest, name: str) -> list[Any]:
    """Return data of the own components of that name, which their scripts draw as text."""
    protos = [element.proto for element in everything(app) if element.type == "bidi_component"]
    return [_data(proto) for proto in protos if proto.component_name.endswith(name)]


def _data(proto: Any) -> Any:
    return json.loads(zlib.decompress(proto.bytes) if proto.bytes else proto.json or proto.mixed.json)


def plays(app: AppTest) -> list[Any]:
    """Return data of the plays of a retrieval, as their script reads them."""
    return [{**shown, "play": unpacked(shown["play"])} for shown in component(app, "lr_play")]


def assert_sound(app: AppTest) -> None:
    """Assert that the run raised nothing, and that nothing of a document is read as HTML, Markdown or LaTeX."""
    assert [(error.message, error.stack_trace) for error in app.exception] == []
    for body in html(app):
        assert markup(body).strange == [], body
        assert ESCAPED_TWICE.search(body) is None, body
    for label in labels(app):
        assert [hit for hit in MARKDOWN.findall(label) if hit] == [], label
