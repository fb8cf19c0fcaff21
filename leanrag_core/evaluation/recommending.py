"""Which system fits a wish: what stored runs over the same questions support, how sure that is, what it rests on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.run_titles import run_titles
from leanrag_core.evaluation.statistics import (
    Interval,
    Within,
    chance_within,
    differ,
    mean_interval,
    pair_tests,
    share_interval,
)
from leanrag_core.evaluation.tables import RECALL, TOKENS, large_contexts, questions_of
from leanrag_core.figures import numbers
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import MAX_TOKENS
from leanrag_core.retrieval.settings import settings_line
from leanrag_core.types.experiment import ExperimentResult, RunSpec

CALLS, MILLISECONDS = "calls", "milliseconds"  # limits of a question, as TOKENS; less is better
LEAST_QUESTIONS = 10  # with gold evidence: of fewer nothing is said
SURE = 0.95
MEETS, MAY, MISSES, TOO_FEW, NOTHING = "meets", "may", "misses", "too_few", "nothing"
_EQUAL = 1e-9


@dataclass(frozen=True)
class Wish:
    """What a system should do on questions like these. recall: mean evidence recall, from 0 to 1. tokens: of the
    context, calls: of models, for a question in the mean; milliseconds: of a retrieval, at the median; None: as many as
    it takes. kind: of questions, "" for all. Raises InvalidConfig for values that nothing can have."""

    recall: float
    tokens: float | None = None
    calls: float | None = None
    milliseconds: float | None = None
    kind: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.recall <= 1:
            code, bound = ("option.too_small", "low") if self.recall < 0 else ("option.too_large", "high")
            raise InvalidConfig(code, option="recall", value=self.recall, **{bound: 0 if self.recall < 0 else 1})
        for name in ("tokens", "calls", "milliseconds"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise InvalidConfig("option.too_small", option=name, value=value, low=0)

    @property
    def limits(self) -> Mapping[str, float | None]:
        """Return what a question may take, by its measure."""
        return {TOKENS: self.tokens, CALLS: self.calls, MILLISECONDS: self.milliseconds}


@dataclass(frozen=True)
class IndexFacts:
    """What is known of the index of a run. settings: as it was built, empty where the index is gone; is_here: whether
    it can be asked."""

    name: str
    settings: Mapping[str, Any]
    is_here: bool


@dataclass(frozen=True)
class StoredExperiment:
    """An experiment that a finding may rest on. changed: when it was run last, ISO 8601, "" for one that comes with the
    program. indexes: of its runs, by id."""

    result: ExperimentResult
    changed: str
    indexes: Mapping[str, IndexFacts]


@dataclass(frozen=True)
class Source:
    """What the figures of a candidate rest on. engine: the model that its index, else its answers, were made with, ""
    where neither is known. questions: those with a score of evidence; failed: those that failed."""

    experiment: str
    title: str
    is_shipped: bool
    changed: str
    engine: str
    index: IndexFacts
    questions: int
    failed: int


@dataclass(frozen=True)
class Shortfall:
    """A figure that misses the wish. measure: RECALL, TOKENS, CALLS or MILLISECONDS; by: how far, above 0."""

    measure: str
    value: float
    wanted: float

    @property
    def by(self) -> float:
        """Return how far it misses."""
        return abs(self.value - self.wanted)


@dataclass(frozen=True)
class Candidate:
    """A system with its settings. title: what its experiment calls it. figures: means over the questions with their
    intervals, by measure; without those that were not measured. milliseconds: the median. chance: that all means keep
    the wish at once (chance_within()), None where nothing can be told. shortfalls: of the means. is_alike: it meets the
    wish too, and its recall cannot be told apart from the best one's. caution: its contexts are as large as half of the
    corpus, or larger."""

    run: RunSpec
    title: Message
    source: Source
    figures: Mapping[str, Interval]
    milliseconds: float | None
    chance: float | None
    shortfalls: tuple[Shortfall, ...]
    is_alike: bool = False
    caution: Message | None = None

    @property
    def state(self) -> str:
        """Return MEETS (it surely does), MAY (its means do), MISSES or NOTHING (it lacks a figure that is needed)."""
        if self.shortfalls:
            return MISSES
        if self.chance is None:
            return NOTHING
        return MEETS if self.chance >= SURE else MAY

    @property
    def key(self) -> tuple[str, str]:
        """Return the experiment and the key of the run."""
        return self.source.experiment, self.run.key


@dataclass(frozen=True)
class Recommendation:
    """What stored runs support. candidates: the best one first, then those that meet the wish, then the nearest ones.

    state: MEETS, MAY, MISSES, TOO_FEW (questions), NOTHING (no run has evidence scores of such questions). questions:
    with a score of evidence. left_out: titles of runs without one, such as systems that retrieve no passages. telling:
    the question on which the first four differ most in recall, "" where they do not.
    """

    wish: Wish
    state: str
    candidates: tuple[Candidate, ...] = ()
    questions: int = 0
    left_out: tuple[Message, ...] = ()
    telling: str = ""

    @property
    def best(self) -> Candidate | None:
        """Return the one to take, or the nearest one; None where nothing was measured."""
        return self.candidates[0] if self.candidates else None

    @property
    def alike(self) -> tuple[Candidate, ...]:
        """Return those that cannot be told apart from the best one, without it."""
        return tuple(each for each in self.candidates[1:] if each.is_alike)

    def name(self, candidate: Candidate) -> Message:
        """Return its title; where runs of several experiments have it, with the budget, or all settings, in which they
        differ."""
        namesakes = [each.run.options for each in self.candidates if each.title == candidate.title]
        if len(namesakes) < 2:
            return candidate.title
        differing = [name for name in candidate.run.options if len({options.get(name) for options in namesakes}) > 1]
        if len({options.get(MAX_TOKENS) for options in namesakes}) == len(namesakes):
            differing = [MAX_TOKENS]
        settings = {name: candidate.run.options[name] for name in differing if name in candidate.run.options}
        return message("recommend.name", run=candidate.title, settings=settings_line(settings))


@dataclass(frozen=True)
class _Scored:
    """A candidate with its scores, question by question, by measure."""

    candidate: Candidate
    scores: Mapping[str, Sequence[float | None]]


def recommend(wish: Wish, experiments: Iterable[StoredExperiment]) -> Recommendation:
    """Return which runs of these experiments, all over the same questions, support the wish.

    Of runs with the same strategy, options and index the one with scores of most questions counts, of equals the first,
    so that a run which was stopped early never replaces a complete one. The best is the one of the highest recall among
    those that meet the wish; then that of the highest chance; then the nearest.
    """
    stored = list(experiments)
    questions = tuple(dict.fromkeys(id_ for each in stored for id_ in questions_of(each.result, wish.kind)))
    scored = [each for experiment in stored for each in _scored(wish, experiment, questions)]
    fullest: dict[object, _Scored] = {}
    for each in scored:
        other = fullest.setdefault(_settings_key(each.candidate), each)
        if each.candidate.source.questions > other.candidate.source.questions:
            fullest[_settings_key(each.candidate)] = each
    scored = [each for each in scored if fullest[_settings_key(each.candidate)] is each]
    known = sorted((each for each in scored if RECALL in each.candidate.figures), key=_place)
    left_out = tuple(
        {sentence(each.candidate.title): each.candidate.title for each in scored if each not in known}.values()
    )
    n = max((each.candidate.source.questions for each in known), default=0)
    candidates = tuple(each.candidate for each in known)
    if not candidates:
        return Recommendation(wish, NOTHING, left_out=left_out)
    telling = _telling([each.scores[RECALL] for each in known[:_OPENED]], questions)
    if n < LEAST_QUESTIONS:
        untold = tuple(replace(each, chance=None) for each in candidates)
        return Recommendation(wish, TOO_FEW, untold, n, left_out, telling)
    alike = _alike([each for each in known if each.candidate.state == candidates[0].state])
    marked = tuple(replace(each, is_alike=each.key in alike) for each in candidates)
    return Recommendation(wish, candidates[0].state, marked, n, left_out, telling)


_OPENED = 4  # candidates that are set side by side


def _telling(recalls: Sequence[Sequence[float | None]], questions: Sequence[str]) -> str:
    """Return the question whose scores differ most, "" where none do."""
    spans = [max(known) - min(known) if (known := _known(row)) else 0.0 for row in zip(*recalls, strict=True)]
    widest = max(spans, default=0.0)
    return questions[spans.index(widest)] if widest > _EQUAL else ""


def _settings_key(candidate: Candidate) -> tuple[str, str, tuple[tuple[str, Any], ...]]:
    run = candidate.run
    return run.index, run.strategy, tuple(sorted(run.options.items()))


def _scored(wish: Wish, stored: StoredExperiment, questions: Sequence[str]) -> list[_Scored]:
    """Return the runs of an experiment with what the wish needs of their scores."""
    result = stored.result
    rows = {(row.run, row.question): row for row in result.rows}
    costs = {(cost.run, cost.question): cost for cost in result.costs}
    titles, listed = run_titles(result.spec.runs), []
    for run in result.spec.runs:
        run_rows = [rows.get((run.key, id_)) for id_ in questions]
        run_costs = [costs.get((run.key, id_)) for id_ in questions]
        times = [
            cost.retrieval_ms for cost, row in zip(run_costs, run_rows, strict=True) if cost and row and not row.error
        ]
        scores: dict[str, Sequence[float | None]] = {
            name: [row.scores.get(name) if row else None for row in run_rows] for name in (RECALL, TOKENS)
        }
        scores[CALLS] = [float(cost.calls) if cost else None for cost in run_costs]
        failed = sum(bool(row and row.error) for row in run_rows)
        source = _source(stored, run, sum(score is not None for score in scores[RECALL]), failed)
        caution = next(iter(large_contexts(result, [run.key], questions)), None)
        candidate = _candidate(wish, scores, run, median(times) if times else None, titles[run.key], source)
        listed.append(_Scored(replace(candidate, caution=caution), scores))
    return listed


def _candidate(
    wish: Wish,
    scores: Mapping[str, Sequence[float | None]],
    run: RunSpec,
    milliseconds: float | None,
    title: Message,
    source: Source,
) -> Candidate:
    intervals = {
        name: (share_interval if name == RECALL else mean_interval)(_known(column)) for name, column in scores.items()
    }
    figures = {name: interval for name, interval in intervals.items() if interval is not None}
    values = {name: interval.value for name, interval in figures.items()}
    if milliseconds is not None:
        values[MILLISECONDS] = milliseconds
    misses = [Shortfall(RECALL, values[RECALL], wish.recall)] if values.get(RECALL, 1.0) < wish.recall - _EQUAL else []
    misses += [
        Shortfall(name, values[name], most)
        for name, most in wish.limits.items()
        if most is not None and name in values and values[name] > most + _EQUAL
    ]
    chance = None
    if all(name in values for name, most in wish.limits.items() if most is not None) and RECALL in values:
        wanted = [Within(scores[RECALL], low=wish.recall, is_share=True)]
        for name in (TOKENS, CALLS):
            if (most := wish.limits[name]) is not None:
                wanted.append(Within(scores[name], high=most))
        # A time is that of the machine, not of the questions: it keeps its limit or does not.
        is_late = wish.milliseconds is not None and values[MILLISECONDS] > wish.milliseconds
        chance = 0.0 if is_late else chance_within(wanted)
    return Candidate(run, title, source, figures, milliseconds, chance, tuple(misses))


def _known(scores: Iterable[float | None]) -> list[float]:
    return [score for score in scores if score is not None]


def _source(stored: StoredExperiment, run: RunSpec, n_questions: int, n_failed: int) -> Source:
    result = stored.result
    facts = stored.indexes.get(run.index, IndexFacts(run.index, {}, False))
    engine = str(facts.settings.get("model") or result.versions.get(f"answers {run.index}", ""))
    return Source(
        experiment=result.id,
        title=result.spec.title,
        is_shipped=result.is_shipped,
        changed=stored.changed,
        engine=engine,
        index=facts,
        questions=n_questions,
        failed=n_failed,
    )


_ORDER = (MEETS, MAY, MISSES, NOTHING)


def _place(scored: _Scored) -> tuple[float, ...]:
    """Return where the candidate stands: by its state; then by recall where that is sure, else by its chance; then by
    how far it misses, and by its tokens."""
    candidate = scored.candidate
    recall = candidate.figures[RECALL].value
    tokens = candidate.figures[TOKENS].value if TOKENS in candidate.figures else 0.0
    far = sum(each.by / max(each.wanted, _EQUAL) for each in candidate.shortfalls)
    leading = recall if candidate.state == MEETS else round(candidate.chance or 0.0, 3)
    return _ORDER.index(candidate.state), -leading, far, -recall, tokens


def _alike(family: Sequence[_Scored]) -> frozenset[tuple[str, str]]:
    """Return the candidates whose recall cannot be told apart from the first one's: the paired rank test over all pairs
    of the family. Empty where the wish is met by none."""
    if family[0].candidate.state not in (MEETS, MAY):
        return frozenset()
    names = {str(place): each for place, each in enumerate(family)}
    p_values = pair_tests({name: each.scores[RECALL] for name, each in names.items()})
    return frozenset(
        each.candidate.key for place, each in enumerate(family[1:], start=1) if not differ(p_values["0", str(place)])
    )


_MOST_NAMED = 3


def headline(recommendation: Recommendation) -> Message:
    """Say in a sentence what the stored runs support."""
    best = recommendation.best
    if best is None:
        return message("recommend.nothing")
    name, n = recommendation.name(best), best.source.questions
    if recommendation.state == TOO_FEW:
        return message("recommend.too_few", n=n, least=LEAST_QUESTIONS)
    if recommendation.state == MEETS:
        return message("recommend.meets", name=name)
    if recommendation.state == MAY:
        return message("recommend.may", name=name)
    return message("recommend.misses" if recommendation.state == MISSES else "recommend.unmeasured", name=name)


def figures_words(candidate: Candidate) -> Message:
    """Say what was measured of a candidate, with the interval of its recall."""
    recall, tokens = candidate.figures[RECALL], candidate.figures.get(TOKENS)
    return message(
        "recommend.figures" if tokens is not None else "recommend.recall_alone",
        recall=numbers.share(recall.value),
        low=numbers.share(recall.value if recall.low is None else recall.low),
        high=numbers.share(recall.value if recall.high is None else recall.high),
        tokens=0 if tokens is None else tokens.value,
        n=candidate.source.questions,
    )


def alike_words(recommendation: Recommendation) -> Message | None:
    """Say which ones cannot be told apart from the best, and which of all these takes the fewest tokens; None where
    there are none."""
    best, alike = recommendation.best, recommendation.alike
    if best is None or not alike:
        return None
    named = tuple(recommendation.name(each) for each in alike[:_MOST_NAMED])
    if len(alike) > _MOST_NAMED:
        named += (message("evaluate.finding.others", n=len(alike) - _MOST_NAMED),)
    with_tokens = [each for each in (best, *alike) if TOKENS in each.figures]
    least = min(with_tokens, key=lambda each: each.figures[TOKENS].value, default=best)
    if least is best or TOKENS not in least.figures:
        return message("recommend.alike", names=named, best=recommendation.name(best))
    tokens = least.figures[TOKENS].value
    return message(
        "recommend.alike_cheaper",
        names=named,
        best=recommendation.name(best),
        least=recommendation.name(least),
        tokens=tokens,
    )


def missing_words(candidate: Candidate) -> tuple[Message, ...]:
    """Say what a candidate lacks of the wish, a message for each figure."""
    return tuple(map(_missing, candidate.shortfalls))


def _missing(shortfall: Shortfall) -> Message:
    if shortfall.measure == RECALL:
        return message("recommend.short.recall", wanted=numbers.share(shortfall.wanted))
    values = {"by": shortfall.by, "value": shortfall.value, "wanted": shortfall.wanted}
    return message(f"recommend.short.{shortfall.measure}", **values)
