"""Texts and values as they are drawn: characters that are not seen are shown as marks."""

import html
import re
from collections.abc import Callable
from typing import Any, ClassVar

# Controls of a terminal; embeddings, overrides and isolates of direction. Joiners and marks of direction that have no
# reach are left alone: Arabic, Hebrew and Indian scripts need them.
# So are whole isolates that take their direction from their text: pages put names in them, and they turn nothing else.
_UNSEEN = re.compile("\u2068([^\u2066-\u2069]*)\u2069|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

_NO_TEXT = frozenset([int, float, bool, type(None)])


def visible(text: str) -> str:
    """Write such characters as [U+202E]: "cod\u202efdp.exe" would read as "codexe.pdf"."""
    return _UNSEEN.sub(_mark, text)


def shortened(text: str, most: int) -> str:
    """Return at most so many characters of a text, with an ellipsis where it is cut."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _mark(match: re.Match[str]) -> str:
    if match[1] is not None:
        return f"\u2068{visible(match[1])}\u2069"
    return f"[U+{ord(match[0]):04X}]"


def escape(text: str) -> str:
    """Escape the text for HTML, so that it is shown and does nothing else."""
    return html.escape(visible(text))


def visible_values(value: Any) -> Any:
    """Make every text in these JSON values visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {name: visible_values(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):  # mostly numbers, which a call each would take longer than all else here
        return [inner if type(inner) in _NO_TEXT else visible_values(inner) for inner in value]
    return value


class ShownInNotebooks:
    """Draws itself by what the workbench attaches: leanrag_core.notebook, which knows figures."""

    _html_of: ClassVar[Callable[[Any], str] | None] = None

    @staticmethod
    def draw_with(html_of: Callable[[Any], str]) -> None:
        """Let that function make the HTML of all such values."""
        ShownInNotebooks._html_of = html_of

    def _repr_html_(self) -> str | None:
        html_of = ShownInNotebooks._html_of
        return None if html_of is None else html_of(self)
