"""Settings of a strategy over a question set: what each finds and costs, and how it stands beside a pinned one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from leanrag_core.evaluation.base import Ratio
from leanrag_core.evaluation.gold import GoldQuestion, gold_in_context, normalised
from leanrag_core.evaluation.statistics import Interval, differ, difference_interval, mean_interval, paired_test
from leanrag_core.evaluation.tables import ratio_scores
from leanrag_core.figures import numbers
from leanrag_core.messages.message import Message, message
from leanrag_core.system.threads import BoundedCache, collector_paused
from leanrag_core.types.trace import Trace

FOUND, ALL, PER_THOUSAND, PASSAGES = "found", "all", "per_thousand", "passages"
MEASURES = (FOUND, ALL, PER_THOUSAND, PASSAGES)
WITHOUT_GOLD = (PASSAGES,)  # what a set without gold evidence can be measured by
FEW = 10  # questions with gold below which nothing is told
_KEPT_TEXTS = 4096
_SHARE = Ratio("", "", 1000.0)


@dataclass(frozen=True)
class Scored:
    """What a setting made of a question. found: of its n_gold quotes, how many the context holds. tokens, passages: of
    the context."""

    found: int
    n_gold: int
    tokens: int
    passages: int

    @property
    def recall(self) -> float | None:
        """Share of the gold that was found; None without gold."""
        return self.found / self.n_gold if self.n_gold else None


@dataclass(frozen=True)
class SetScores:
    """A setting over the set, question by question in its order."""

    questions: tuple[Scored, ...]

    def scores(self, measure: str) -> tuple[float | None, ...]:
        """Return the scores whose mean is the figure of the measure; None where the question lacks gold."""
        recalls = [each.recall for each in self.questions]
        if measure == FOUND:
            return tuple(recalls)
        if measure == ALL:
            return tuple(None if recall is None else float(recall == 1) for recall in recalls)
        if measure == PASSAGES:
            return tuple(float(each.passages) for each in self.questions)
        with_gold = [None if recall is None else tokens for recall, tokens in zip(recalls, self.tokens, strict=True)]
        return ratio_scores(_SHARE, recalls, with_gold)

    @property
    def tokens(self) -> tuple[float, ...]:
        """Tokens of each context."""
        return tuple(float(each.tokens) for each in self.questions)

    @property
    def n_gold(self) -> int:
        """How many questions have gold."""
        return sum(each.n_gold > 0 for each in self.questions)

    def interval(self, measure: str) -> Interval | None:
        """Return the figure of the measure with its interval; None where no question has it."""
        return mean_interval(self.scores(measure))

    def token_interval(self) -> Interval | None:
        """Return the mean tokens of a context with their interval; None without questions."""
        return mean_interval(self.tokens)


class QuestionScorer:
    """Scores retrievals of a question set. Texts are normalised once and kept, since neighbouring settings retrieve the
    same passages."""

    def __init__(self, questions: Sequence[GoldQuestion]) -> None:
        self.questions = tuple(questions)
        self._gold = [
            [(each.document, normalised(each.quote)) for each in question.evidence] for question in self.questions
        ]
        self._texts: BoundedCache[str, str] = BoundedCache(_KEPT_TEXTS)  # threads score at the same time

    def score(self, retrieve: Callable[[str], Trace], on_question: Callable[[], object] = lambda: None) -> SetScores:
        """Retrieve for every question. on_question: is called before each, and may raise to end the work."""
        scored = []
        with collector_paused():  # a third of the time; traces are freed without it
            for question, gold in zip(self.questions, self._gold, strict=True):
                on_question()
                trace = retrieve(question.question)
                in_context = trace.context.mark_of
                passages = sum(passage.id in in_context for passage in trace.passages)
                n_found = len(gold_in_context(gold, trace, self._normalised))
                scored.append(Scored(n_found, len(gold), trace.context.tokens, passages))
        return SetScores(tuple(scored))

    def _normalised(self, text: str) -> str:
        return self._texts.get_or_make(text, lambda: normalised(text))


@dataclass(frozen=True)
class Changes:
    """Places of questions of which one setting found more gold than another, and of which less; the largest change
    first."""

    won: tuple[int, ...]
    lost: tuple[int, ...]


def changes(now: SetScores, pinned: SetScores) -> Changes:
    """Compare the gold found, question by question. Raises ValueError for sets of different length."""
    gained = [
        round(a.recall - b.recall, 12) if a.recall is not None and b.recall is not None else 0.0
        for a, b in zip(now.questions, pinned.questions, strict=True)
    ]
    places = sorted(range(len(gained)), key=lambda place: (-abs(gained[place]), place))
    return Changes(
        tuple(place for place in places if gained[place] > 0), tuple(place for place in places if gained[place] < 0)
    )


@dataclass(frozen=True)
class Standing:
    """A setting beside the pinned one on the same questions. difference: of the measure, now less pinned; None where no
    question has both. differs: by the paired rank test, as everywhere (evaluation.statistics.differ). is_equal: every
    question has the same score of both. tokens: mean of now over that of pinned. n_gold: questions that have gold."""

    measure: str
    difference: Interval | None
    differs: bool
    is_equal: bool
    tokens: float
    changes: Changes
    n_gold: int


def standing(now: SetScores, pinned: SetScores, measure: str) -> Standing:
    """Compare two settings on the same set. Raises ValueError for sets of different length."""
    ours, theirs, before = now.scores(measure), pinned.scores(measure), sum(pinned.tokens)
    return Standing(
        measure,
        difference_interval(ours, theirs),
        differ(paired_test(ours, theirs)),
        ours == theirs,
        sum(now.tokens) / before if before else 1.0,
        changes(now, pinned),
        now.n_gold,
    )


@dataclass(frozen=True)
class Finding:
    """A sentence in three parts, of which `claim` is drawn bold."""

    before: Message
    claim: Message
    after: Message


def changes_words(changed: Changes) -> Message:
    """Return how many questions were won and lost, as a part of the finding's sentence."""
    won = message("board.questions_won", n=len(changed.won))
    return message("board.changes", won=won, lost=len(changed.lost))


def prepare() -> None:
    """Import what the first comparison of two settings would otherwise wait half a second for."""
    import scipy.stats  # noqa: F401


def finding(name: Message, stands: Standing) -> Finding:
    """Say what the setting of that name finds beside the pinned one: more, less, or nothing that can be told."""
    nothing, change = message("plain", text=""), stands.difference
    if change is None:
        return Finding(nothing, message("board.nothing_to_measure"), nothing)
    values: dict[str, Message | int | str] = {
        "name": name,
        "change": _amount(change.value, stands.measure),
        "low": _amount(change.low, stands.measure),
        "high": _amount(change.high, stands.measure),
        "tokens": _tokens(stands.tokens),
        "changes": changes_words(stands.changes),
    }
    if stands.is_equal:
        same = message("board.equal", n=change.n, tokens=values["tokens"])
        return Finding(message("board.name", name=name), same, nothing)
    few = message("board.few", n=stands.n_gold) if 0 < stands.n_gold < FEW else nothing
    if not stands.differs:
        claim = message("board.not_told", n=change.n)
        return Finding(message("board.name", name=name), claim, message("board.not_told_rest", few=few, **values))
    direction = "more" if change.value > 0 else "less"
    amount = _amount(abs(change.value), stands.measure)
    claim = message(f"board.{stands.measure}.{direction}", name=name, amount=amount)
    if change.value < 0:  # the sentence has the direction, and the interval goes the same way
        values |= {
            "low": _amount(-(change.high or 0.0), stands.measure),
            "high": _amount(-(change.low or 0.0), stands.measure),
        }
    return Finding(nothing, claim, message("board.rest", few=few, **values))


def _amount(value: float | None, measure: str) -> str:
    """Write a difference: of shares in points of a hundred, else to two places."""
    if value is None:
        return "–"
    if measure in (FOUND, ALL):
        return numbers.decimal(100 * value, 0)
    return numbers.decimal(value, 1 if measure == PASSAGES else 2)


def _tokens(ratio: float) -> Message:
    percent = round(100 * (ratio - 1))
    if not percent:
        return message("board.tokens.same")
    return message("board.tokens.more" if percent > 0 else "board.tokens.fewer", percent=abs(percent))


@dataclass(frozen=True)
class KindMeans:
    """The mean of a measure over the questions of a kind. pinned, now: None where none of them has a score."""

    kind: str
    n: int
    pinned: float | None
    now: float | None


def by_kind(
    questions: Sequence[GoldQuestion], now: SetScores, pinned: SetScores, measure: str
) -> tuple[KindMeans, ...]:
    """Return the means of each kind of question, in the order in which kinds occur; kinds without scores are left
    out."""
    places: dict[str, list[int]] = {}
    ours, theirs = now.scores(measure), pinned.scores(measure)
    for place, question in enumerate(questions):
        if ours[place] is not None and theirs[place] is not None:
            places.setdefault(question.kind, []).append(place)
    return tuple(
        KindMeans(kind, len(rows), _mean(pinned, rows, measure), _mean(now, rows, measure))
        for kind, rows in places.items()
    )


def _mean(scores: SetScores, rows: Sequence[int], measure: str) -> float | None:
    """Return the figure of the measure over these questions alone: a ratio is that of their own means."""
    of_rows = SetScores(tuple(scores.questions[row] for row in rows)).scores(measure)
    known = [score for score in of_rows if score is not None]
    return fmean(known) if known else None
