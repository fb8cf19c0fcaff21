"""What the reader of a document should know, as its notes are stored, in English, and in the language of a page."""

import re
from functools import cache

from leanrag_core.messages.catalog import sentence, templates
from leanrag_core.messages.message import Message

# The longer sentence stands before the one that it begins with.
_NAMES = ("guessed", "read_as", "cut_off", "nul_characters", "running_heads", "missing_chapters", "damaged_after")
_FIELD = re.compile(r"\\\{(\w+)\\\}")


def note(name: str, **values: str) -> str:
    """Return the note of that name, as it is stored."""
    return sentence(Message(f"file.note.{name}", values))


def note_in(language: str, stored: str) -> str:
    """Return the stored note in that language; one that is no sentence of ours, such as an id, is returned as it is."""
    for code, pattern in _patterns():
        if found := pattern.fullmatch(stored):
            return sentence(Message(code, found.groupdict()), language)
    return stored


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return each code with what its English sentence looks like."""
    codes = [f"file.note.{name}" for name in _NAMES]
    return tuple((code, re.compile(_FIELD.sub(r"(?P<\1>.+)", re.escape(templates(code)[0])))) for code in codes)
