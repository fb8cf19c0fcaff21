"""When does the graph pay here: the difference of two runs for each kind of question, with its interval."""

from collections.abc import Mapping

from leanrag_core.evaluation.tables import KindDifference
from leanrag_core.figures.interval_marks import Difference, forest
from pages.common import markup
from pages.common.html import draw
from pages.common.messages import say
from pages.evaluate import figure_view, measure_words

_WIDTHS = (320, 430, 560)


def show(by_kind: Mapping[str, KindDifference], run: str, against: str, measure: str) -> None:
    """The figure, and in words for which kinds the difference is sure."""
    title = measure_words.title_of(measure)
    figure_view.title(say("evaluate.pays"), say("evaluate.pays_note", measure=title, run=run, against=against))
    rows = differences(by_kind, measure)
    if not rows:
        draw(markup.muted(say("evaluate.pays_nothing", measure=title)))
        return
    label = say("evaluate.pays_label", measure=title, run=run, against=against)
    drawings = [
        forest(
            rows,
            width=width,
            colour="column-a",
            label=label,
            tick=lambda value: measure_words.shown_difference(measure, value) if value else "0",
        )
        for width in _WIDTHS
    ]
    head = tuple(say(f"evaluate.pays_head.{name}") for name in ("kind", "questions", "difference", "low", "high"))
    table = [
        (
            each.name,
            each.note,
            each.shown,
            *(measure_words.shown_difference(measure, end) for end in (each.low, each.high)),
        )
        for each in rows
    ]
    figure_view.show(drawings, head, table, key="evaluate_pays")
    draw(markup.muted(say("evaluate.pays_signs")))


def differences(by_kind: Mapping[str, KindDifference], measure: str) -> list[Difference]:
    """The difference for each kind of question that has two or more of them with a score of both runs."""
    rows = []
    for kind, each in by_kind.items():
        interval = each.interval
        if kind and interval is not None and interval.low is not None and interval.high is not None:
            rows.append(
                Difference(
                    measure_words.kind_title(kind),
                    f"{interval.n:,}",
                    interval.value,
                    interval.low,
                    interval.high,
                    measure_words.shown_difference(measure, interval.value),
                    each.is_told,
                )
            )
    return rows
