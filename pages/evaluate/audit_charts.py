"""Charts of a judge's biases, by the order and the length of answers, and of how far judges agree."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from leanrag_core.evaluation.audit import records
from leanrag_core.evaluation.statistics import Interval
from leanrag_core.figures import numbers
from leanrag_core.figures.interval_marks import PairMark, pair_mark
from leanrag_core.figures.judge_charts import (
    BiasBar,
    CurvePoint,
    LengthFit,
    LengthPoint,
    agreement_matrix,
    bias_bars,
    fitted_curve,
    length_curve,
)
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.types.config import model_title
from leanrag_core.types.experiment import HUMAN, is_human
from pages.common import markup
from pages.common.html import NOTHING, draw, html, joined
from pages.common.messages import say, say_or
from pages.compare import fragments
from pages.evaluate import figure_view

MOST_FLIPS = 0.45
_HEAD = ("pair", "rate", "both", "first", "second", "flips", "ties", "unparsed", "p", "verdict")


def table(pairs: Sequence[records.PairAudit], letters: Mapping[str, str], shown: records.PairAudit | None) -> Markup:
    """Return the table of a criterion's pairs. letters: by run; shown: the pair whose details stand below."""
    head = joined(html('<th class="{}">{}</th>', name, _head(name)) for name in _HEAD)
    lines = [_line(pair, letters, is_shown=pair == shown) for pair in pairs]
    return markup.wide_table("lr-pairs", say("evaluate.audit.pairs"), head, lines)


def _head(name: str) -> Markup:
    if name != "rate":
        return html("{}", say(f"evaluate.audit.head.{name}"))
    scale = html('<span class="scale"><i>0 %</i><i>50</i><i>100</i></span>')
    return html("{}{}", say("evaluate.audit.head.rate"), scale)


def _line(pair: records.PairAudit, letters: Mapping[str, str], *, is_shown: bool) -> Markup:
    template = '<td class="pair">{} <span class="lr-muted">{}</span> {}</td>'
    names = html(template, run_name(pair.a, letters), say("evaluate.audit.against"), run_name(pair.b, letters))
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
    """Return a run's name with its letter before it."""
    letter = letters.get(name, "")
    return html("{} {}", fragments.square(letter), name) if letter else html("{}", name)


def percent(interval: Interval | None) -> str:
    """Return a share in percent, a dash where there is none."""
    return "–" if interval is None else numbers.share(interval.value)


def half_width(interval: Interval | None) -> str:
    """Return half the width of the interval in percentage points, as "± 6"; empty where it has no bounds."""
    if interval is None or interval.low is None or interval.high is None:
        return ""
    return f"± {50 * (interval.high - interval.low):.0f}"


def _ties(pair: records.PairAudit) -> str:
    n = pair.wins + pair.losses + pair.ties
    return numbers.share(pair.ties / n) if n else "–"


def _marks(pair: records.PairAudit, letter: str) -> Markup:
    rate = pair.win_rate
    if rate is None:
        return NOTHING
    first, second = (None if each is None else each.value for each in (pair.shown_first, pair.shown_second))
    mark: PairMark = pair_mark(rate, first, second)
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
    template = (
        '<span class="lr-pm" role="img" aria-label="{0}" title="{0}"><s></s><em style="left:{1}%;width:{2}%"></em>'
        '<i class="{3}" style="left:{4}%;width:{5}%"></i>{6}<u class="{3}" style="left:{7}%"></u></span>'
    )
    return html(template, described, left, width, letter.lower() or "other", mark.left, mark.width, orders, mark.both)


def _flips(rate: float | None) -> Markup:
    if rate is None:
        return html("–")
    bad = "bad" if rate >= MOST_FLIPS else ""
    return html(
        '<span class="lr-flips {}"><i><u style="width:{:.1f}%"></u></i>{}</span>', bad, 100 * rate, numbers.share(rate)
    )


def _verdict(pair: records.PairAudit, letters: Mapping[str, str]) -> Markup:
    if pair.verdict == records.CANNOT_TELL:
        return html('<span class="unsure">{} {}</span>', "?", say("evaluate.audit.verdict.cannot_tell"))
    code = "evaluate.audit.verdict.wins" if pair.verdict == records.WINS else "evaluate.audit.verdict.wins_weakly"
    return html("<b>{} {}</b>", "✓", say(code, run=letters.get(pair.winner, "") or pair.winner))


_WIDTHS = (300, 360, 460)
_REACH = 8.0  # most that one answer is drawn longer than the other
_MOST_POINTS = 300


def judge_title(judge: str) -> str:
    """Return a judge's title as it is shown: the name of a model, or of a person."""
    name = model_title(judge)
    if not is_human(judge):
        return name
    return say("verdicts.nobody") if judge == HUMAN else say("verdicts.person", name=name)


def criterion_title(criterion: str) -> str:
    """Return a criterion's title as it is shown."""
    return say_or(criterion.capitalize(), f"evaluate.criterion.{criterion.lower().replace(' ', '-')}")


def bias(rows: Sequence[records.FirstAnswerBias]) -> None:
    """Draw how often the answer shown first wins, by criterion."""
    figure_view.title(say("evaluate.audit.bias"), say("evaluate.audit.bias_note"))
    bars = [
        BiasBar(
            criterion_title(row.criterion),
            row.share.value,
            row.share.value if row.share.low is None else row.share.low,
            row.share.value if row.share.high is None else row.share.high,
            percent(row.share),
            is_overall=row.criterion == "overall",
        )
        for row in rows
        if row.share is not None
    ]
    if not bars:
        draw(markup.muted(say("evaluate.audit.bias_nothing")))
        return
    label = say("evaluate.audit.bias_label")
    drawings = [bias_bars(bars, width=width, label=label, no_bias=say("evaluate.audit.no_bias")) for width in _WIDTHS]
    head = tuple(say(f"evaluate.audit.bias_head.{name}") for name in ("criterion", "share", "low", "high", "p"))
    table = [
        (criterion_title(row.criterion), percent(row.share), *_ends(row), numbers.p_value(row.p_holm)) for row in rows
    ]
    figure_view.show(drawings, head, table, key="audit_bias")


def _ends(row: records.FirstAnswerBias) -> tuple[str, str]:
    ends = (None, None) if row.share is None else (row.share.low, row.share.high)
    low, high = ("–" if end is None else numbers.share(end) for end in ends)
    return low, high


def length(effects: Sequence[records.LengthEffect], letters: Mapping[str, str]) -> None:
    """Draw how the win rate depends on an answer's length relative to the other answer's."""
    figure_view.title(say("evaluate.audit.length"), say("evaluate.audit.length_note"))
    if not effects:
        draw(markup.muted(say("evaluate.audit.length_nothing")))
        return
    effect = effects[0]
    points = [
        LengthPoint(min(max(each.ratio, 1 / _REACH), _REACH), each.win_rate, letters.get(each.a, ""), each.a)
        for each in effect.points[:_MOST_POINTS]
        if each.ratio > 0
    ]
    curve = _curve(effect, points)
    names = {1 / 4: "quarter", 1 / 2: "half", 1.0: "equal", 2.0: "twice", 4.0: "four"}
    titles = {ratio: say(f"evaluate.audit.ratio.{name}") for ratio, name in names.items()}
    label = say("evaluate.audit.length_label")
    drawings = [
        length_curve(
            points, curve, width=width, label=label, ratio_title=say("evaluate.audit.length_axis"), ratio_names=titles
        )
        for width in _WIDTHS
    ]
    head = tuple(say(f"evaluate.audit.length_head.{name}") for name in ("run", "question", "ratio", "rate"))
    table = [
        (each.a, each.question, numbers.decimal(each.ratio, 2), numbers.share(each.win_rate)) for each in effect.points
    ]
    figure_view.show(drawings, head, table, key="audit_length")
    draw(markup.muted(_length_words(effect, curve)))


def _curve(effect: records.LengthEffect, points: Sequence[LengthPoint]) -> tuple[CurvePoint, ...]:
    fit = effect.fit
    bounds = () if fit is None else (fit.equal_length.low, fit.equal_length.high, fit.odds_per_doubling.low,
                                     fit.odds_per_doubling.high)  # fmt: skip
    if fit is None or len(points) < 2 or None in bounds:
        return ()
    equal_low, equal_high, odds_low, odds_high = (float(end or 0.0) for end in bounds)
    reach = max(2.0, *(max(each.ratio, 1 / each.ratio) for each in points))
    return fitted_curve(
        LengthFit((fit.equal_length.value, equal_low, equal_high), (fit.odds_per_doubling.value, odds_low, odds_high)),
        reach=reach,
    )


def _length_words(effect: records.LengthEffect, curve: Sequence[CurvePoint]) -> str:
    longer = say("evaluate.audit.longer", share=numbers.share(effect.longer_wins.value))
    if effect.fit is None or not curve:
        return longer
    twice = min(curve, key=lambda each: abs(each.ratio - 2.0))
    at_twice = say(
        "evaluate.audit.twice",
        share=numbers.share(twice.rate),
        raw=numbers.share(effect.fit.raw),
        equal=numbers.share(effect.fit.equal_length.value),
    )
    return joined_sentences([longer, at_twice])


def agreement(audit: records.Audit) -> None:
    """Draw kappa of each judge with itself and with the others."""
    figure_view.title(say("evaluate.audit.agreement"), say("evaluate.audit.agreement_note"))
    rows = [row for row in audit.agreement if row.kappa is not None]
    names = [judge.judge for judge in audit.judges]
    if not rows:
        draw(markup.muted(say("evaluate.audit.agreement_nothing")))
        return
    values = {
        (
            min(names.index(row.judge), names.index(row.other)),
            max(names.index(row.judge), names.index(row.other)),
        ): float(row.kappa or 0.0)
        for row in rows
    }
    label = say("evaluate.audit.agreement_label")
    titles = [judge_title(name) for name in names]
    drawings = [agreement_matrix(titles, values, width=width, label=label) for width in _WIDTHS]
    head = tuple(say(f"evaluate.audit.agreement_head.{name}") for name in ("judge", "other", "kappa", "same", "n"))
    figure_view.show(drawings, head, [_agreement_row(row) for row in rows], key="audit_agreement")


def _agreement_row(row: records.Agreement) -> tuple[str, ...]:
    return (
        judge_title(row.judge),
        judge_title(row.other),
        "–" if row.kappa is None else numbers.score(row.kappa),
        same_words(row),
        f"{row.n:,}",
    )


def same_words(row: records.Agreement) -> str:
    """Return how often two judges agree, with the interval; a dash where that is not known."""
    same = row.same
    if same is None or same.low is None or same.high is None:
        return "–"
    return say(
        "verdicts.same", share=numbers.share(same.value), low=numbers.share(same.low), high=numbers.share(same.high)
    )
