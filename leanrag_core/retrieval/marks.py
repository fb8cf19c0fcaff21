"""Citation marks such as [E1] or [C2], which a context gives and an answer repeats."""

import re
from collections.abc import Iterable, Sequence

from leanrag_core.text.sentences import split_sentences
from leanrag_core.types.calls import NO_USAGE, Usage
from leanrag_core.types.trace import Answer, AnswerPart, Context, Trace

_SPACE_BEFORE_STOP = re.compile(r"\s+([.,;:!?])")


def mark_pattern(context: Context) -> re.Pattern[str]:
    """Return what matches a mark in brackets with one of the context's letters; group 1 is the mark. Without sections:
    nothing."""
    letters = sorted({section.letter for section in context.sections}, key=lambda letter: (-len(letter), letter))
    return re.compile(rf"\[((?:{'|'.join(map(re.escape, letters))})\d+)\]" if letters else r"(?!)()")


def distinct(marks: Iterable[str]) -> tuple[str, ...]:
    """Return each mark once, in order of its first place."""
    return tuple(dict.fromkeys(marks))


def with_marks(text: str, marks: Iterable[str]) -> str:
    """Return the text with its marks in brackets behind it."""
    return f"{text} {''.join(f'[{mark}]' for mark in marks)}".strip()


def cited_answer(
    trace: Trace, parts: Sequence[AnswerPart], model: str, *, extractive: bool = False, usage: Usage = NO_USAGE
) -> Answer:
    """Return the answer of those parts to the trace's question; it is grounded where one of them has a mark."""
    citations = distinct(mark for part in parts for mark in part.marks)
    return Answer(
        text=" ".join(with_marks(part.text, part.marks) for part in parts),
        parts=tuple(parts),
        citations=citations,
        grounded=bool(citations),
        extractive=extractive,
        model=model,
        trace=trace,
        usage=usage,
    )


def cited_parts(text: str, context: Context) -> list[AnswerPart]:
    """Return the sentences of a text that a model wrote, each with the marks that the context has; others are taken
    out."""
    known, pattern = frozenset(item.mark for item in context.items), mark_pattern(context)
    parts: list[AnswerPart] = []
    for sentence in split_sentences(pattern.sub(lambda match: match[0] if match[1] in known else "", text)):
        marks = distinct(pattern.findall(sentence))
        plain = _SPACE_BEFORE_STOP.sub(r"\1", pattern.sub("", sentence)).strip()
        if plain:
            parts.append(AnswerPart(plain, marks))
        elif parts:  # marks behind the full stop belong to the sentence before
            parts[-1] = AnswerPart(parts[-1].text, distinct((*parts[-1].marks, *marks)))
    return parts
