"""A column over a question set: what it found of the gold, where it lost the rest, and its measures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from leanrag_core.comparing.gold_passages import Gold, GoldFinder
from leanrag_core.comparing.lost_evidence import STAGES, Lane, lane
from leanrag_core.evaluation.base import Mean, Outcome
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.measuring import measure_infos
from leanrag_core.evaluation.tables import means
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace

FOUND = "found"
PER_THOUSAND = "recall-per-1000"


@dataclass(frozen=True)
class Judged:
    """A piece of gold and how far it came."""

    gold: Gold
    lane: Lane


@dataclass(frozen=True)
class QuestionResult:
    """A question of the set in one column. tokens: of the context."""

    question: GoldQuestion
    evidence: tuple[Judged, ...]
    tokens: int
    milliseconds: float

    @property
    def n_found(self) -> int:
        """How many of its pieces of gold the context holds."""
        return sum(each.lane.is_found for each in self.evidence)


@dataclass(frozen=True)
class SetResult:
    """A column over the set. means: of each measure."""

    questions: tuple[QuestionResult, ...]
    means: tuple[Mean, ...]

    @property
    def losses(self) -> dict[str, int]:
        """How many pieces of gold were found, and how many each stage lost; in the order of the stages."""
        counts = dict.fromkeys((FOUND, *STAGES), 0)
        for result in self.questions:
            for each in result.evidence:
                counts[each.lane.lost_at or FOUND] += 1
        return counts

    @property
    def n_gold(self) -> int:
        """How many pieces of gold the set has."""
        return sum(len(result.evidence) for result in self.questions)

    @property
    def share_found(self) -> float:
        """The share of the set's gold that the contexts hold."""
        return self.losses[FOUND] / max(1, self.n_gold)

    @property
    def mean_tokens(self) -> float:
        """Mean tokens of the contexts."""
        return sum(result.tokens for result in self.questions) / max(1, len(self.questions))

    @property
    def median_ms(self) -> float:
        """The median of the retrieval's milliseconds."""
        return median(result.milliseconds for result in self.questions) if self.questions else 0.0


def over_questions(
    index: Index,
    questions: Sequence[GoldQuestion],
    retrieve: Callable[[str], Trace],
    on_question: Callable[[int], object] = lambda n: None,
) -> SetResult:
    """Run the column over the set. retrieve: returns a question's trace. on_question: called with how many are done."""
    finder, results, outcomes = GoldFinder(index), [], []
    for n, question in enumerate(questions, start=1):
        trace = retrieve(question.question)
        evidence = tuple(Judged(gold, lane(trace, index, gold)) for gold in finder.of_question(question))
        results.append(QuestionResult(question, evidence, trace.context.tokens, trace.timings_ms["total"]))
        outcomes.append(Outcome(question, trace, chunks=finder.chunks))
        on_question(n)
    measure_names = [info.name for info in measure_infos() if info.is_main or info.name == PER_THOUSAND]
    return SetResult(tuple(results), means(outcomes, measure_names))


@dataclass(frozen=True)
class BestChange:
    """A change of one option of a column that was run over the set, and what it finds. tokens: more on average."""

    letter: str
    option: str
    value: int
    gained: int
    tokens: float


def best_change(before: Mapping[str, SetResult], tried: Mapping[tuple[str, str, int], SetResult]) -> BestChange | None:
    """Choose the tried change that finds most of the gold that was lost, the cheaper of equals; None where none
    finds more.

    tried: by column, option and value.
    """
    changes = [
        BestChange(*change, result.losses[FOUND] - own.losses[FOUND], result.mean_tokens - own.mean_tokens)
        for change, result in tried.items()
        if (own := before.get(change[0])) is not None
    ]
    best = max(changes, key=lambda change: (change.gained, -change.tokens), default=None)
    return best if best is not None and best.gained > 0 else None
