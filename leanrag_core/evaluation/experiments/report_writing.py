"""HTML of a report in a language, with every value escaped."""

from collections.abc import Sequence

from markupsafe import Markup

from leanrag_core.figures.html import html, joined
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message, Value, message


class Writing:
    """Writes sentences and rows of tables in a language."""

    def __init__(self, language: str) -> None:
        self.language = language

    def say(self, code: str | Message, **values: Value) -> str:
        """Return the sentence of that code."""
        return sentence(message(code, **values) if isinstance(code, str) else code, self.language)

    def row(self, cells: Sequence[object], tag: str = "td") -> Markup:
        """Return a row of a table."""
        return html("<tr>{}</tr>", joined(html(f"<{tag}>{{}}</{tag}>", cell) for cell in cells))
