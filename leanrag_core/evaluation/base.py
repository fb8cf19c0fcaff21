"""What a measure offers, and how measures are found: one file each in measures/."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.extensions import BrokenExtension, Extensions, discover
from leanrag_core.messages.message import Message
from leanrag_core.types.trace import Answer, Trace


@dataclass(frozen=True)
class Outcome:
    """What a strategy did with a gold question. answer: None where only retrieval is measured."""

    question: GoldQuestion
    trace: Trace
    answer: Answer | None = None


class Measure(Protocol):
    """Scores an outcome. title, help: for tables."""

    name: str
    title: Message
    help: Message

    def score(self, outcome: Outcome) -> float | None:
        """The score, None where the question lacks what the measure needs."""


@dataclass(frozen=True)
class Mean:
    """The mean of a measure over the questions that it applies to. n: how many these are; value: None for none."""

    measure: str
    title: Message
    value: float | None
    n: int


def measures() -> tuple[Measure, ...]:
    """All measures, by name; a file that does not load is passed over (see broken_measures())."""
    loaded = [module.Measure() for module in _found().modules]
    return tuple(sorted(loaded, key=lambda measure: str(measure.name)))


def broken_measures() -> tuple[BrokenExtension, ...]:
    """The files of measures/ that do not load."""
    return _found().broken


def means(outcomes: Sequence[Outcome]) -> tuple[Mean, ...]:
    """The mean of each measure over the outcomes."""
    table = []
    for measure in measures():
        scores = [score for score in map(measure.score, outcomes) if score is not None]
        value = sum(scores) / len(scores) if scores else None
        table.append(Mean(measure.name, measure.title, value, len(scores)))
    return tuple(table)


def _found() -> Extensions:
    from leanrag_core.evaluation import measures as folder

    return discover(folder, kind="Measure", required=("name", "title", "help", "score"))
