"""Pairwise judgements put in one form: who won a question, in which order the answers were shown."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from leanrag_core.evaluation.judging.verdicts import FIRST, TIE
from leanrag_core.types.experiment import PAIRWISE, Judgement

Pair = tuple[str, str]


@dataclass(frozen=True)
class Comparison:
    """A judgement of a and b by a criterion. won: by a: 1, 0, .5 for a tie, None for an unreadable reply."""

    judgement: Judgement
    is_a_first: bool
    won: float | None

    @property
    def question(self) -> str:
        """The question's id."""
        return self.judgement.question

    @property
    def first_won(self) -> float | None:
        """Whether the answer shown first won: 1, 0, .5 for a tie."""
        return self.won if self.won is None or self.is_a_first else 1 - self.won

    @property
    def words(self) -> tuple[int, int]:
        """The numbers of words of the answers of a and b; (0, 0) where they are not known."""
        first, second = self.judgement.words
        return (first, second) if self.is_a_first else (second, first)


def judges_of(judgements: Iterable[Judgement]) -> tuple[str, ...]:
    """Return the names of the judges, in the order in which they come."""
    return tuple(dict.fromkeys(judgement.judge for judgement in judgements))


def pairs_of(judgements: Iterable[Judgement]) -> tuple[Pair, ...]:
    """Return the pairs that were compared, each in the order in which it was compared first."""
    pairs: dict[Pair, None] = {}
    for judgement in judgements:
        if judgement.kind == PAIRWISE and (judgement.second, judgement.first) not in pairs:
            pairs.setdefault((judgement.first, judgement.second))
    return tuple(pairs)


def criteria_of(judgements: Iterable[Judgement], kind: str) -> tuple[str, ...]:
    """Return the criteria of judgements of that kind, in the order in which they come."""
    return tuple(
        dict.fromkeys(name for judgement in judgements if judgement.kind == kind for name in judgement.verdicts)
    )


def comparisons(judgements: Iterable[Judgement], pair: Pair, criterion: str) -> tuple[Comparison, ...]:
    """Return the pairwise judgements of the two by that criterion, in either order. A reply without this criterion
    counts as unreadable."""
    both = {pair, pair[::-1]}
    return tuple(
        Comparison(judgement, judgement.first == pair[0], _won(judgement, pair[0], criterion))
        for judgement in judgements
        if judgement.kind == PAIRWISE and (judgement.first, judgement.second) in both
    )


def _won(judgement: Judgement, a: str, criterion: str) -> float | None:
    verdict = judgement.verdicts.get(criterion)
    if verdict is None or verdict == TIE:
        return None if verdict is None else 0.5
    return float((verdict == FIRST) == (judgement.first == a))


def by_question(compared: Iterable[Comparison]) -> Mapping[str, tuple[Comparison, ...]]:
    """Group the readable comparisons by question."""
    groups: dict[str, list[Comparison]] = defaultdict(list)
    for comparison in compared:
        if comparison.won is not None:
            groups[comparison.question].append(comparison)
    return {question: tuple(group) for question, group in groups.items()}


def swapped(compared: Sequence[Comparison]) -> tuple[tuple[Comparison, Comparison], ...]:
    """Return couples of readable judgements of the same question and repeat, in each first the one that was shown a
    first."""
    by_place = {
        (comparison.question, comparison.judgement.repeat, comparison.is_a_first): comparison
        for comparison in compared
        if comparison.won is not None
    }
    couples = ((first, by_place.get((*key[:2], False))) for key, first in by_place.items() if key[2])
    return tuple((first, second) for first, second in couples if second is not None)
