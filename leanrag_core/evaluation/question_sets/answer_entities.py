"""Which entities of a reference graph the gold answers of whole-corpus questions name."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from leanrag_core.evaluation.gold import GoldQuestion, is_named, normalised
from leanrag_core.types.question_set import WHOLE_CORPUS


def with_entities(questions: Sequence[GoldQuestion], folder: Path) -> tuple[GoldQuestion, ...]:
    """Add the entities of their answers to whole-corpus questions that do not list them, where the folder holds a
    reference graph. Raises RecordDamaged, ReferenceDamaged."""
    from leanrag_core.indexing.reference.records import is_reference, read_reference

    if not is_reference(folder):
        return tuple(questions)
    entities = read_reference(folder).entities
    known = [tuple(sorted({*map(normalised, (each.name, *each.aliases))} - {""})) for each in entities]
    return tuple(
        replace(question, entities=_only_in_answer(known, question))
        if question.kind == WHOLE_CORPUS and not question.entities
        else question
        for question in questions
    )


def _only_in_answer(known: Sequence[tuple[str, ...]], question: GoldQuestion) -> tuple[tuple[str, ...], ...]:
    """Return the entities that the answer names and the question does not: a context that repeats the question shows
    nothing."""
    answer, asked = normalised(" | ".join((question.answer, *question.answers))), normalised(question.question)
    return tuple(names for names in known if is_named(names, answer) and not is_named(names, asked))
