"""How the scores of a measure are written, and whether higher is better."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from markupsafe import Markup

from leanrag_core.evaluation import measuring, tables
from leanrag_core.evaluation.base import MeasureInfo
from leanrag_core.evaluation.measuring import measure_infos
from leanrag_core.evaluation.statistics import Interval
from leanrag_core.evaluation.sweeps.points import shown_value
from leanrag_core.evaluation.tables import KindDifference, ScoreTable, grounds, questions_of, scores_for_mean, scores_of
from leanrag_core.figures import numbers
from leanrag_core.messages.catalog import joined_sentences, space_between
from leanrag_core.messages.message import Message, message
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.experiment import ExperimentResult, Parameter, QuestionRow
from leanrag_core.types.sweep import PointResult, SweepPoint
from pages.common import forms, markup
from pages.common.html import html
from pages.common.messages import known, say, say_or, words

LATENCY = "latency"
# The order of a table's columns; measures that are not listed here follow by group.
ORDER = (
    "evidence-recall",
    "recall-5",
    "all-gold-8",
    "reciprocal-rank",
    "answer-in-context",
    "context-tokens",
    "recall-per-1000",
    "repeated-share",
)
COLUMNS = ("evidence-recall", "all-gold-8", "reciprocal-rank", "context-tokens", "recall-per-1000")


def _infos() -> Mapping[str, MeasureInfo]:
    return {info.name: info for info in measure_infos()}


def less_is_better(measure: str) -> bool:
    """Tell whether the lowest score of a measure is the best."""
    return measure == LATENCY or tables.less_is_better(measure)


def is_measure(name: str) -> bool:
    """Tell whether the program has a measure of that name."""
    return name in _infos()


def title_of(measure: str) -> str:
    """Return the measure's name on screen; its code name if the program no longer has it."""
    infos = _infos()
    return say_or(words(infos[measure].title) if measure in infos else measure, f"evaluate.measure.{measure}")


def help_of(measure: str) -> str:
    """Return a sentence that explains the measure; empty where there is none."""
    infos = _infos()
    return words(infos[measure].help) if measure in infos else ""


def shown(measure: str, value: float | None) -> str:
    """Return the score as text; a dash for a missing one."""
    if value is None:
        return "–"
    if measure == LATENCY:
        return numbers.duration(value / 1000)
    return measuring.written(measure, value)


def in_order(names: Sequence[str]) -> tuple[str, ...]:
    """Sort the measures: those of ORDER first, the others as their groups come."""
    order = dict.fromkeys((*ORDER, *_infos()))
    place = {name: number for number, name in enumerate(order)}
    return tuple(sorted(names, key=lambda name: (place.get(name, len(place)), name)))


def measured(rows: Sequence[QuestionRow]) -> tuple[str, ...]:
    """Return the measures that any of these rows has a score of, in display order."""
    names = {name for row in rows for name, score in row.scores.items() if score is not None}
    return in_order(sorted(names))


def kind_title(kind: str) -> str:
    """Return a kind of question in words."""
    return say_or(kind, f"evaluate.kind.{kind.lower().replace(' ', '-')}")


def axis_title(name: str) -> str:
    """Return the axis title of a setting or of a result."""
    code = f"evaluate.sweep.axis.{name}"
    if known(code):
        return say(code)
    if is_measure(name):
        return title_of(name)
    return forms.title_of(name, IndexConfig if name in forms.option_fields(IndexConfig) else None)


def mean_of(result: PointResult, measure: str) -> float | None:
    """Return the mean of a measure at a sweep's point; None where it has no score."""
    scores = scores_for_mean(measure, lambda name: result.scores.get(name, ()))
    known = [score for score in scores if score is not None]
    return fmean(known) if known else None


def number(value: Parameter, order: Sequence[Parameter]) -> float:
    """Return a setting as a number: itself, the number in its text, or its position in the order."""
    if isinstance(value, bool) or value is None:
        return float(order.index(value))
    if isinstance(value, int | float):
        return float(value)
    try:
        return float(value)
    except ValueError:
        return float(order.index(value))


def point_title(point: SweepPoint) -> str:
    """Return the settings of a point with their titles, such as "clustersize 20, tau 3"."""
    settings = point.settings.items()
    return say("ask.comma").join(f"{axis_title(name)} {shown_value(value)}" for name, value in settings)


_RECALL, _CONTEXT_TOKENS = "evidence-recall", "context-tokens"
_MOST_NEEDED = 20_000  # questions; nobody writes more than that
_MOST_NAMED = 3
_TIMES = 2.0  # from this ratio on, tokens are said as a multiple instead of a share


def sentence(
    result: ExperimentResult,
    rows: ScoreTable,
    difference: KindDifference | None,
    pair: tuple[str, str],
    measure: str,
    titles: Mapping[str, str],
) -> Markup:
    """Return the finding: the difference of the two, then the tokens, then the runs that cannot be told apart from the
    first.

    difference: of the two, over the questions of the table. pair: the keys of the two; titles: of all runs, by key.
    """
    interval, kind = None if difference is None else difference.interval, rows.kind
    if difference is None or interval is None or interval.low is None or interval.high is None:
        title = title_of(measure)
        return html('<div class="lr-finding">{}</div>', say("evaluate.finding.nothing", measure=title))
    start = say("evaluate.finding.kind", kind=kind_title(kind)) if kind else ""
    first, rest = _difference(difference, interval, titles[pair[0]], titles[pair[1]], measure)
    rest += _tokens(result, *pair, kind) if measure != _CONTEXT_TOKENS else ""
    rest += say("text.stop")
    needed = "" if difference.is_told else _needed(interval)
    rest = joined_sentences([rest, needed, _alike(rows, pair, measure, titles)])
    template = '<div class="lr-finding">{}{}<b>{}</b>{}{}</div>'
    return html(template, start, space_between(start, first), first, space_between(first, rest), rest)


def rests_on(result: ExperimentResult, runs: Sequence[str], measure: str, kind: str) -> Markup:
    """Return the evidence of the finding, and its limits."""
    return markup.muted(joined_sentences(map(words, grounds(result, runs, measure, kind))))


def _difference(
    difference: KindDifference, interval: Interval, run: str, against: str, measure: str
) -> tuple[str, str]:
    """Return the claim, and the interval behind it."""
    assert interval.low is not None
    assert interval.high is not None
    title, value = title_of(measure), interval.value
    if measure == _RECALL:
        low, high = (f"{100 * end:.0f}".replace("-", "−") for end in (interval.low, interval.high))
        if value < 0:
            low, high = (f"{-100 * end:.0f}".replace("-", "−") for end in (interval.high, interval.low))
    else:
        low, high = (measuring.written_difference(measure, end) for end in (interval.low, interval.high))
    bounds = say("evaluate.finding.interval", low=low, high=high)
    if not difference.is_told:
        shown = measuring.written_difference(measure, value)
        low, high = (measuring.written_difference(measure, end) for end in (interval.low, interval.high))
        about: dict[str, str | int] = {
            "run": run,
            "against": against,
            "n": interval.n,
            "measure": title,
            "value": shown,
        }
        leans = interval.low > 0 or interval.high < 0  # this pair alone; the test is corrected for all pairs
        if leans:
            return say("evaluate.finding.chance", **about), say("evaluate.finding.chance_rest", low=low, high=high)
        return say("evaluate.finding.alike", **about), say("evaluate.finding.alike_rest", low=low, high=high, **about)
    if measure == _RECALL:
        code = "evaluate.finding.more_gold" if value > 0 else "evaluate.finding.less_gold"
        return say(code, run=run, against=against, n=round(abs(100 * value))), bounds
    shown = measuring.written_difference(measure, abs(value)).lstrip("+")
    code = "evaluate.finding.above" if value > 0 else "evaluate.finding.below"
    return say(code, run=run, against=against, value=shown, measure=title), bounds


def _tokens(result: ExperimentResult, run: str, against: str, kind: str) -> str:
    tokens = scores_of(result, _CONTEXT_TOKENS, questions_of(result, kind))
    run_tokens, other = ([value for value in tokens[name] if value is not None] for name in (run, against))
    if not run_tokens or not other or not fmean(other):
        return ""
    ratio = fmean(run_tokens) / fmean(other)
    if ratio >= _TIMES:
        return say("evaluate.finding.times", ratio=f"{ratio:.1f}")
    return say("evaluate.finding.tokens", share=f"{100 * ratio:.0f}")


def _needed(interval: Interval) -> str:
    """Return in words how many questions would separate the two at this difference; empty where that number means
    nothing."""
    assert interval.low is not None
    assert interval.high is not None
    half = (interval.high - interval.low) / 2
    if abs(interval.value) < 1e-9 or half <= 0:
        return ""
    needed = math.ceil(interval.n * (half / abs(interval.value)) ** 2)
    if needed <= interval.n:  # the interval excludes 0; it is the test over all pairs that does not tell them apart
        return ""
    rounded = needed if needed < 100 else round(needed, -1)
    return say("evaluate.finding.needed", n=rounded) if rounded <= _MOST_NEEDED else ""


def _alike(rows: ScoreTable, pair: tuple[str, str], measure: str, titles: Mapping[str, str]) -> str:
    """Return in words which other runs share a letter with the first; empty where none or all do."""
    cells = {row.run.key: row.cells.get(measure) for row in rows.rows}
    first_cell = cells.get(pair[0])
    if first_cell is None or not first_cell.letters:
        return ""
    alike = [
        titles[key]
        for key, cell in cells.items()
        if key not in pair and cell is not None and set(cell.letters) & set(first_cell.letters)
    ]
    if not alike or len(alike) == len(cells) - 2:
        return ""
    return say("evaluate.finding.apart", names=_names(alike), run=titles[pair[0]])


def _names(names: Sequence[str]) -> tuple[Message, ...]:
    shown = [message("plain", text=name) for name in names[:_MOST_NAMED]]
    if len(names) > _MOST_NAMED:
        shown.append(message("evaluate.finding.others", n=len(names) - _MOST_NAMED))
    return tuple(shown)
