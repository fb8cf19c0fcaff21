"""Answers to anonymous questions: names put back, and what went wrong on the way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leanrag_core.evaluation.anonymity.dictionary import Dictionary
from leanrag_core.evaluation.anonymity.replacing import Anonymiser, reverted
from leanrag_core.evaluation.declining import GRADES, grade
from leanrag_core.evaluation.gold import GoldQuestion


@dataclass(frozen=True)
class RevertedAnswer:
    """An answer with its names. unknown: placeholders that stand for nothing; remembered: names of the dictionary that
    the answer held before, which the model can only have from memory. grade: one of GRADES by match, None without gold.
    """

    question: str
    text: str
    known: tuple[str, ...]
    unknown: tuple[str, ...]
    remembered: tuple[str, ...]
    grade: str | None


@dataclass(frozen=True)
class ReversionScore:
    """reverted: share of placeholders that stand for an entity, None without any. remembering: share of answers that
    hold a name that the documents did not show. shares: of the graded answers, each of GRADES; empty without gold."""

    answers: tuple[RevertedAnswer, ...]
    reverted: float | None
    remembering: float | None
    shares: Mapping[str, float]


def reversion(
    answers: Sequence[tuple[str, str]], dictionary: Dictionary, questions: Sequence[GoldQuestion] = ()
) -> ReversionScore:
    """Put the names back into the answers, and score them. answers: id of the question, and the answer. questions:
    with names and gold answers."""
    gold = {question.id: question for question in questions}
    find_names = Anonymiser(dictionary)
    made = [_answer(id_, text, dictionary, find_names, gold.get(id_)) for id_, text in answers]
    known, unknown = (sum(len(getattr(each, name)) for each in made) for name in ("known", "unknown"))
    graded = [each.grade for each in made if each.grade is not None]
    return ReversionScore(
        tuple(made),
        known / (known + unknown) if known + unknown else None,
        sum(bool(each.remembered) for each in made) / len(made) if made else None,
        {name: graded.count(name) / len(graded) for name in GRADES} if graded else {},
    )


def _answer(
    id_: str, text: str, dictionary: Dictionary, find_names: Anonymiser, question: GoldQuestion | None
) -> RevertedAnswer:
    names = reverted(text, dictionary)
    remembered = tuple(dict.fromkeys(text[start:end] for start, end, _ in find_names(text).spans))
    given = grade(question, names.text) if question else None
    return RevertedAnswer(id_, names.text, names.known, names.unknown, remembered, given)
