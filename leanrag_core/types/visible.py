"""Characters that are not seen but change how text is read are shown as marks, wherever text is drawn."""

import html
import re
from typing import Any

# Controls of a terminal; embeddings, overrides and isolates of direction. Joiners and marks of direction that have no
# reach are left alone: Arabic, Hebrew and Indian scripts need them.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """The text with such characters written as [U+202E]: "cod\u202efdp.exe" would read as "codexe.pdf"."""
    return _UNSEEN.sub(lambda match: f"[U+{ord(match[0]):04X}]", text)


def escape(text: str) -> str:
    """The text as HTML that shows it and does nothing else."""
    return html.escape(visible(text))


def visible_values(value: Any) -> Any:
    """JSON values, every text in them made visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {name: visible_values(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [visible_values(inner) for inner in value]
    return value
