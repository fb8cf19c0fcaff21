"""What an audit says, as frozen values. Shares are from 0 to 1."""

from dataclasses import dataclass

from leanrag_core.evaluation.statistics import Interval, LengthAdjusted
from leanrag_core.messages.message import Message
from leanrag_core.types.experiment import Judgement

WINS, WINS_WEAKLY, CANNOT_TELL = "wins", "wins weakly", "cannot tell"


@dataclass(frozen=True)
class Swaps:
    """The verdicts that were asked for in both orders. n: how many these are; flipped: how many named another winner
    when the answers were swapped. rate: flipped over n with its interval over questions, None where nothing was judged
    in both orders."""

    n: int
    flipped: int
    rate: Interval | None = None

    @property
    def flip_rate(self) -> float | None:
        """Return the share of flipped verdicts; None where nothing was judged in both orders."""
        return self.rate.value if self.rate else None


@dataclass(frozen=True)
class PairAudit:
    """Two runs by a judge and a criterion.

    win_rate: of a, over all readable judgements, a tie counting half; shown_first, shown_second: those in which a was
    shown so; first_answer: how often the answer shown first won. Intervals by a bootstrap over questions, None where
    nothing could be read. wins, losses: of a.
    p: Wilcoxon's signed-rank test over questions; p_holm: corrected for all pairs and criteria of the judge.
    verdict: WINS, WINS_WEAKLY or CANNOT_TELL; winner: the name, "" for CANNOT_TELL. length: None where the lengths of
    the answers are not known. questions_needed: about how many would separate the two, where CANNOT_TELL and the
    answers differ at all.
    """

    judge: str
    criterion: str
    a: str
    b: str
    win_rate: Interval | None
    shown_first: Interval | None
    shown_second: Interval | None
    first_answer: Interval | None
    swaps: Swaps
    wins: int
    losses: int
    ties: int
    unparsed: int
    p: float
    p_holm: float
    verdict: str
    winner: str
    length: LengthAdjusted | None
    questions_needed: int | None = None


@dataclass(frozen=True)
class FirstAnswerBias:
    """How often a judge prefers the answer that it was shown first. share: of verdicts for either answer; ties are
    left out. p_holm: that it is half, corrected for the judge's criteria."""

    judge: str
    criterion: str
    share: Interval | None
    p_holm: float


@dataclass(frozen=True)
class LengthPoint:
    """A question of a pair: how long a's answer is beside b's (ratio of words), and a's win rate."""

    judge: str
    a: str
    b: str
    question: str
    ratio: float
    win_rate: float


@dataclass(frozen=True)
class LengthEffect:
    """What length does to a judge's overall verdicts. longer_wins: share of decided verdicts for the longer answer.

    points: for the drawing; fit: of all pairs together. within_pairs: whether in any pair a run wins the more often,
    the longer its answer is (Holm over the pairs). A run that is better and always longer is no sign of that.
    """

    judge: str
    longer_wins: Interval
    fit: LengthAdjusted | None
    points: tuple[LengthPoint, ...] = ()
    within_pairs: bool = False


@dataclass(frozen=True)
class Agreement:
    """Cohen's kappa of two judges over n verdicts that both gave; of a judge with itself, between repeats. same: share
    of equal verdicts of two judges, its interval over questions and pairs; None without any."""

    judge: str
    other: str
    kappa: float | None
    n: int
    same: Interval | None = None


@dataclass(frozen=True)
class ScoreSpread:
    """Absolute scores of a judge by criterion. spread: standard deviation over repeats of the same answer, None without
    repeats; with_length: rank correlation of an answer's score and its words, None where it cannot be computed."""

    judge: str
    criterion: str
    mean: float
    spread: float | None
    with_length: float | None
    n: int
    unparsed: int


@dataclass(frozen=True)
class JudgeAudit:
    """A judge over all its pairs. Its figures are of its main criterion: overall, where there is one.

    consistency: share of repeats that name the same winner; None without repeats. faults: sentences on what makes it
    untrustworthy; a judge without any holds. questions, judgements: how many; unparsed: judgements without a verdict.
    """

    judge: str
    judgements: int
    questions: int
    unparsed: int
    ties: int
    swaps: Swaps
    first_answer: Interval | None
    consistency: Interval | None
    longer_wins: Interval | None
    faults: tuple[Message, ...]

    @property
    def holds(self) -> bool:
        """Tell whether nothing speaks against its verdicts."""
        return not self.faults


@dataclass(frozen=True)
class Flip:
    """A verdict that names another winner after the swap. shown_first, shown_second: the judgements, by where a
    was shown."""

    judge: str
    criterion: str
    a: str
    b: str
    question: str
    shown_first: Judgement
    shown_second: Judgement


@dataclass(frozen=True)
class Audit:
    """A whole audit; pairs and biases in the order of judges, pairs and criteria. fleiss: kappa of all judges together,
    overall criterion, None below two judges."""

    judges: tuple[JudgeAudit, ...]
    pairs: tuple[PairAudit, ...]
    first_answer: tuple[FirstAnswerBias, ...]
    length: tuple[LengthEffect, ...]
    agreement: tuple[Agreement, ...]
    fleiss: float | None
    scores: tuple[ScoreSpread, ...]
    flips: tuple[Flip, ...]
