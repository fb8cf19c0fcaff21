"""What a measure offers, and the outcome of a question that it scores."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from leanrag_core.evaluation.gold import ChunkTexts, GoldQuestion, GoldRanking, RankingScores, gold_ranking
from leanrag_core.messages.message import Message, message
from leanrag_core.types.trace import Answer, Trace

HIGHER, LOWER = "higher", "lower"  # which scores are better; "" where neither is
SHARE, TOKENS, COUNT, RATIO = "share", "tokens", "count", "ratio"  # units of scores
CONTEXT, EVIDENCE, ANSWER, CLAIMS, OTHER = "context", "evidence", "answer", "claims", "other"  # groups of measures
GROUPS = (EVIDENCE, CONTEXT, ANSWER, CLAIMS, OTHER)  # in the order of tables


@dataclass(frozen=True)
class Outcome:
    """What a strategy did with a gold question. answer: None where only retrieval is measured.

    chunks: texts of the index; without them rankings end with the passages of the trace. claims: of the answer, where a
    language model has listed them.
    """

    question: GoldQuestion
    trace: Trace
    answer: Answer | None = None
    chunks: ChunkTexts | None = None
    claims: tuple[str, ...] | None = None

    @cached_property
    def ranking(self) -> GoldRanking | None:
        """Return where the gold quotes are; None for a question without gold evidence, and for a strategy that
        retrieves no passages at all, to which this does not apply."""
        if not (self.question.evidence and self.trace.gives_passages):
            return None
        return gold_ranking(self.question, self.trace, self.chunks)

    @cached_property
    def ranking_scores(self) -> RankingScores | None:
        """Return the ranking measures, computed once for all; None where there is no ranking."""
        return self.ranking.scores() if self.ranking else None


@dataclass(frozen=True)
class Ratio:
    """A measure whose figure over several questions is the mean of one measure divided by that of another, times the
    scale."""

    over: str
    under: str
    scale: float = 1.0


class Measure(Protocol):
    """Scores an outcome. title, help: for tables.

    Optional, with these values where a file does not say: group "other"; unit "share", which is from 0 to 1; better
    "higher"; is_main True, which has the measure in tables that do not show all; ratio None, which has its mean over
    questions in tables, else the Ratio that it is.
    """

    name: str
    title: Message
    help: Message

    def score(self, outcome: Outcome) -> float | None:
        """Return the score, None where the question lacks what the measure needs."""


@dataclass(frozen=True)
class MeasureInfo:
    """A measure for tables. group, unit, better: constants of this module."""

    name: str
    title: Message
    help: Message
    group: str = OTHER
    unit: str = SHARE
    better: str = HIGHER
    is_main: bool = True
    ratio: Ratio | None = None

    @property
    def group_title(self) -> Message:
        """Return the heading of the group; a group that is not known here is among the others."""
        return message(f"measure.group.{self.group if self.group in GROUPS else OTHER}")


@dataclass(frozen=True)
class Mean:
    """The mean of a measure over the n questions that it applies to; of a ratio the ratio of the means. value: None
    where n is 0."""

    measure: str
    title: Message
    value: float | None
    n: int
