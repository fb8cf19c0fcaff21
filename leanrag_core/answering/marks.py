"""Citation marks such as [E1] or [C2], which a context gives and an answer repeats."""

import re
from collections.abc import Iterable

from leanrag_core.types.trace import Context


def mark_pattern(context: Context) -> re.Pattern[str]:
    """Matches a mark in brackets with one of the context's letters; group 1 is the mark. Without sections: nothing."""
    letters = sorted({section.letter for section in context.sections}, key=lambda letter: (-len(letter), letter))
    return re.compile(rf"\[((?:{'|'.join(map(re.escape, letters))})\d+)\]" if letters else r"(?!)()")


def known_marks(context: Context) -> frozenset[str]:
    """All marks of the context."""
    return frozenset(item.mark for section in context.sections for item in section.items)


def distinct(marks: Iterable[str]) -> tuple[str, ...]:
    """Each mark once, in order of its first place."""
    return tuple(dict.fromkeys(marks))


def with_marks(text: str, marks: Iterable[str]) -> str:
    """The text with its marks in brackets behind it."""
    return f"{text} {''.join(f'[{mark}]' for mark in marks)}".strip()
