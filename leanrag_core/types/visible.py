"""Characters that are not seen but change how text is read are shown as marks, wherever text is drawn."""

import html
import re
from typing import Any

# Controls of a terminal; embeddings, overrides and isolates of direction. Joiners and marks of direction that have no
# reach are left alone: Arabic, Hebrew and Indian scripts need them.
# So are whole isolates that take their direction from their text: pages put names in them, and they turn nothing else.
_UNSEEN = re.compile("\u2068([^\u2066-\u2069]*)\u2069|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Write such characters as [U+202E]: "cod\u202efdp.exe" would read as "codexe.pdf"."""
    return _UNSEEN.sub(_mark, text)


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
    if isinstance(value, list | tuple):
        return [visible_values(inner) for inner in value]
    return value
