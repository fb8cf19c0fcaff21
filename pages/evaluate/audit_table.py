"""The pairs of an audit in a table: win rates in both orders, flips, ties, and whether the verdict can be reported."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from leanrag_core.evaluation.audit.records import CANNOT_TELL, WINS, PairAudit
from leanrag_core.evaluation.statistics import Interval
from leanrag_core.figures import numbers
from leanrag_core.figures.interval_marks import Estimate, PairMark, pair_mark
from pages.common.html import NOTHING, html, joined
from pages.common.messages import say

MOST_FLIPS = 0.45
_HEAD = ("pair", "rate", "both", "first", "second", "flips", "ties", "unparsed", "p", "verdict")


def table(pairs: Sequence[PairAudit], letters: Mapping[str, str], shown: PairAudit | None) -> Markup:
    """The pairs of a criterion. letters: of the runs; shown: the pair that is read below."""
    head = joined(html('<th class="{}">{}</th>', name, _head(name)) for name in _HEAD)
    lines = [_line(pair, letters, is_shown=pair == shown) for pair in pairs]
    return html(
        '<div class="lr-scroll lr-pairs" role="region" tabindex="0" aria-label="{0}">'
        '<table aria-label="{0}"><tr>{1}</tr>{2}</table></div>',
        say("evaluate.audit.pairs"),
        head,
        joined(lines),
    )


def _head(name: str) -> Markup:
    if name != "rate":
        return html("{}", say(f"evaluate.audit.head.{name}"))
    scale = html('<span class="scale"><i>0 %</i><i>50</i><i>100</i></span>')
    return html("{}{}", say("evaluate.audit.head.rate"), scale)


def _line(pair: PairAudit, letters: Mapping[str, str], *, is_shown: bool) -> Markup:
    names = html(
        '<td class="pair">{} <span class="lr-muted">{}</span> {}</td>',
        run_name(pair.a, letters),
        say("evaluate.audit.against"),
        run_name(pair.b, letters),
    )
    flips = pair.swaps.flip_rate
    cells = [
        names,
        html('<td class="rate">{}</td>', _marks(pair, letters.get(pair.a, ""))),
        html("<td><b>{}</b> <small>{}</small></td>", percent(pair.win_rate), half_width(pair.win_rate)),
        html("<td>{}</td>", percent(pair.shown_first)),
        html("<td>{}</td>", percent(pair.shown_second)),
        html("<td>{}</td>", _flips(flips)),
        html("<td>{}</td>", _ties(pair)),
        html("<td>{}</td>", f"{pair.unparsed:,}"),
        html("<td>{}</td>", numbers.p_value(pair.p_holm)),
        html('<td class="verdict">{}</td>', _verdict(pair, letters)),
    ]
    return html('<tr class="{}">{}</tr>', "shown" if is_shown else "", joined(cells))


def run_name(name: str, letters: Mapping[str, str]) -> Markup:
    """A run with its letter."""
    letter = letters.get(name, "")
    square = html('<span class="lr-sq" style="--c:var(--lr-column-{})">{}</span> ', letter.lower(), letter)
    return html("{}{}", square if letter else NOTHING, name)


def percent(interval: Interval | None) -> str:
    """A share in percent, a dash where there is none."""
    return "–" if interval is None else numbers.share(interval.value)


def half_width(interval: Interval | None) -> str:
    """ "± 6": half the width of the interval, in points."""
    if interval is None or interval.low is None or interval.high is None:
        return ""
    return f"± {50 * (interval.high - interval.low):.0f}"


def _ties(pair: PairAudit) -> str:
    n = pair.wins + pair.losses + pair.ties
    return numbers.share(pair.ties / n) if n else "–"


def _marks(pair: PairAudit, letter: str) -> Markup:
    rate = pair.win_rate
    if rate is None:
        return NOTHING
    first, second = (None if each is None else each.value for each in (pair.shown_first, pair.shown_second))
    mark: PairMark = pair_mark(Estimate(rate.value, rate.low, rate.high), first, second)
    left, width = mark.span
    orders = joined(
        html('<b class="{}" style="left:{}%"></b>', side, place)
        for side, place in (("first", mark.shown_first), ("second", mark.shown_second))
        if place is not None
    )
    described = say(
        "evaluate.audit.marks",
        both=percent(pair.win_rate),
        first=percent(pair.shown_first),
        second=percent(pair.shown_second),
    )
    return html(
        '<span class="lr-pm" role="img" aria-label="{0}" title="{0}"><s></s><em style="left:{1}%;width:{2}%"></em>'
        '<i class="{3}" style="left:{4}%;width:{5}%"></i>{6}<u class="{3}" style="left:{7}%"></u></span>',
        described,
        left,
        width,
        letter.lower() or "other",
        mark.left,
        mark.width,
        orders,
        mark.both,
    )


def _flips(rate: float | None) -> Markup:
    if rate is None:
        return html("–")
    bad = "bad" if rate >= MOST_FLIPS else ""
    return html(
        '<span class="lr-flips {}"><i><u style="width:{:.1f}%"></u></i>{}</span>', bad, 100 * rate, numbers.share(rate)
    )


def _verdict(pair: PairAudit, letters: Mapping[str, str]) -> Markup:
    if pair.verdict == CANNOT_TELL:
        return html('<span class="unsure">{} {}</span>', "?", say("evaluate.audit.verdict.cannot_tell"))
    code = "evaluate.audit.verdict.wins" if pair.verdict == WINS else "evaluate.audit.verdict.wins_weakly"
    return html("<b>{} {}</b>", "✓", say(code, run=letters.get(pair.winner, "") or pair.winner))
