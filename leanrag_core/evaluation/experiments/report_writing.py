"""HTML of a report in a language, with every value escaped."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message, Value, message
from leanrag_core.types.visible import visible


class Writing:
    """Writes HTML in a language; every value is escaped but for what was written before."""

    def __init__(self, language: str) -> None:
        self.language = language

    def say(self, code: str | Message, **values: Value) -> str:
        """The sentence of that code."""
        return sentence(message(code, **values) if isinstance(code, str) else code, self.language)

    def html(self, template: str, *values: object) -> Markup:
        """The template filled, each value as text."""
        return Markup(template).format(*map(_shown, values))

    def joined(self, parts: Iterable[object]) -> Markup:
        """The parts one after the other."""
        return Markup("").join(_shown(part) for part in parts)

    def row(self, cells: Sequence[object], tag: str = "td") -> Markup:
        """A row of a table."""
        return self.html("<tr>{}</tr>", self.joined(Markup(f"<{tag}>{{}}</{tag}>").format(_shown(c)) for c in cells))


def _shown(value: object) -> str:
    return value if isinstance(value, Markup) else visible(str(value))
