"""What an experiment says of two of its runs, in a sentence with its interval."""

import math
from collections.abc import Sequence
from statistics import fmean

from markupsafe import Markup

from leanrag_core.evaluation.statistics import Interval
from leanrag_core.evaluation.tables import KindDifference, ScoreTable, grounds, questions_of, scores_of
from leanrag_core.messages.message import Message, message
from leanrag_core.types.experiment import ExperimentResult
from pages.common import markup
from pages.common.html import html
from pages.common.messages import say, words
from pages.evaluate import measure_words

GOLD, TOKENS = "evidence-recall", "context-tokens"
_MOST_NEEDED = 20_000  # questions; more than that nobody writes
_MOST_NAMED = 3
_TIMES = 2.0  # from which a ratio is no share of the other's tokens


def sentence(
    result: ExperimentResult, rows: ScoreTable, difference: KindDifference | None, run: str, against: str, measure: str
) -> Markup:
    """The difference of the two first, then the tokens, then the runs that cannot be told apart from the first.

    difference: of the two, over the questions of the table.
    """
    interval, kind = None if difference is None else difference.interval, rows.kind
    if difference is None or interval is None or interval.low is None or interval.high is None:
        title = measure_words.title_of(measure)
        return html('<div class="lr-finding">{}</div>', say("evaluate.finding.nothing", measure=title))
    start = say("evaluate.finding.kind", kind=measure_words.kind_title(kind)) + say("text.space") if kind else ""
    first, rest = _difference(difference, interval, run, against, measure)
    rest += _tokens(result, run, against, kind) if measure != TOKENS else ""
    rest += say("text.stop")
    if not difference.is_told:
        rest += _needed(interval)
    rest += _alike(rows, run, against, measure)
    return html('<div class="lr-finding">{}<b>{}</b> {}</div>', start, first, rest)


def rests_on(result: ExperimentResult, runs: Sequence[str], measure: str, kind: str) -> Markup:
    """What the finding rests on, and what limits it."""
    return markup.muted(say("text.space").join(map(words, grounds(result, runs, measure, kind))))


def _difference(
    difference: KindDifference, interval: Interval, run: str, against: str, measure: str
) -> tuple[str, str]:
    """The claim, and the interval that it rests on."""
    assert interval.low is not None
    assert interval.high is not None
    title, value = measure_words.title_of(measure), interval.value
    if measure == GOLD:
        low, high = (f"{100 * end:.0f}".replace("-", "−") for end in (interval.low, interval.high))
        if value < 0:
            low, high = (f"{-100 * end:.0f}".replace("-", "−") for end in (interval.high, interval.low))
    else:
        low, high = (measure_words.shown_difference(measure, end) for end in (interval.low, interval.high))
    bounds = say("evaluate.finding.interval", low=low, high=high)
    if not difference.is_told:
        shown = measure_words.shown_difference(measure, value)
        low, high = (measure_words.shown_difference(measure, end) for end in (interval.low, interval.high))
        claim = say("evaluate.finding.alike", run=run, against=against, n=interval.n)
        return claim, say("evaluate.finding.alike_rest", measure=title, value=shown, low=low, high=high)
    if measure == GOLD:
        code = "evaluate.finding.more_gold" if value > 0 else "evaluate.finding.less_gold"
        return say(code, run=run, against=against, n=round(abs(100 * value))), bounds
    shown = measure_words.shown_difference(measure, abs(value)).lstrip("+")
    code = "evaluate.finding.above" if value > 0 else "evaluate.finding.below"
    return say(code, run=run, against=against, value=shown, measure=title), bounds


def _tokens(result: ExperimentResult, run: str, against: str, kind: str) -> str:
    tokens = scores_of(result, TOKENS, questions_of(result, kind))
    own, other = ([value for value in tokens[name] if value is not None] for name in (run, against))
    if not own or not other or not fmean(other):
        return ""
    ratio = fmean(own) / fmean(other)
    if ratio >= _TIMES:
        return say("evaluate.finding.times", ratio=f"{ratio:.1f}")
    return say("evaluate.finding.tokens", share=f"{100 * ratio:.0f}")


def _needed(interval: Interval) -> str:
    """About how many questions would separate the two, were the difference as it is."""
    assert interval.low is not None
    assert interval.high is not None
    half = (interval.high - interval.low) / 2
    if abs(interval.value) < 1e-9 or half <= 0:
        return ""
    needed = math.ceil(interval.n * (half / abs(interval.value)) ** 2)
    if needed <= interval.n:  # the interval excludes 0; it is the test over all pairs that does not tell them apart
        return ""
    rounded = needed if needed < 100 else round(needed, -1)
    return say("text.space") + say("evaluate.finding.needed", n=rounded) if rounded <= _MOST_NEEDED else ""


def _alike(rows: ScoreTable, run: str, against: str, measure: str) -> str:
    """The other runs that share a letter with the first."""
    cells = {row.run.name: row.cells.get(measure) for row in rows.rows}
    own = cells.get(run)
    if own is None or not own.letters:
        return ""
    alike = [
        name
        for name, cell in cells.items()
        if name not in (run, against) and cell is not None and set(cell.letters) & set(own.letters)
    ]
    if not alike or len(alike) == len(cells) - 2:
        return ""
    return say("text.space") + say("evaluate.finding.apart", names=_names(alike), run=run)


def _names(names: Sequence[str]) -> tuple[Message, ...]:
    shown = [message("plain", text=name) for name in names[:_MOST_NAMED]]
    if len(names) > _MOST_NAMED:
        shown.append(message("evaluate.finding.others", n=len(names) - _MOST_NAMED))
    return tuple(shown)
