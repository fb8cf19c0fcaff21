"""Chart of lambda: how many relations of the layer below each inter-cluster relation stands for, with tau."""

import numpy as np

from leanrag_core.figures.chart import Chart, empty_figure, marked_line
from leanrag_core.figures.palette import Palette
from leanrag_core.messages.catalog import ENGLISH, sentence
from leanrag_core.messages.message import message

_SINGLE = 10  # lambda up to which each value has a bar of its own; above, bars double in width


def strengths_chart(
    strength: np.ndarray, tau: float, layer: int, palette: Palette, *, language: str = ENGLISH
) -> Chart:
    """Bars of relations by lambda; those above tau, which were summarised, in the colour of inter-cluster relations.

    strength: (r,) int, lambda of each relation of the layer, r at least 1. tau: its threshold.
    """
    import plotly.graph_objects as go

    bins = strength_bins(int(strength.max()), tau)
    starts = np.array([first for first, _ in bins])
    counts = np.bincount(np.searchsorted(starts, strength, side="right") - 1, minlength=len(bins))
    names = [f"{first:,}" if first == last else f"{first:,}–{last:,}" for first, last in bins]
    above = starts > tau
    x_title, y_title = (sentence(message(f"chart.lambda.{axis}"), language) for axis in ("x", "y"))
    figure = empty_figure(palette, x_title=x_title, y_title=y_title, showlegend=True)
    made = {name: sentence(message(f"chart.lambda.{name}"), language) for name in ("joined", "summarised")}
    for is_above, title, colour in (
        (False, f"{made['joined']}, λ ≤ τ", "base"),
        (True, f"{made['summarised']}, λ > τ", "inter"),
    ):
        places = np.flatnonzero(above == is_above)
        figure.add_trace(
            go.Bar(
                x=places,
                y=counts[places],
                name=title,
                marker={"color": palette[colour], "line": {"width": 0}},
                customdata=[
                    sentence(
                        message(
                            "chart.lambda.bar", n=int(counts[place]), layer=layer, strength=names[place], made=title
                        ),
                        language,
                    )
                    for place in places
                ],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
    figure.update_xaxes(tickvals=list(range(len(bins))), ticktext=names, range=[-0.6, len(bins) - 0.4])
    figure.update_yaxes(rangemode="tozero", tickformat=",d", nticks=6)
    figure.update_layout(legend={"y": 1.1})
    marked_line(figure, palette, np.count_nonzero(~above) - 0.5, f"τ {tau:g}")
    rows = tuple(
        (name, f"{n:,}", made["summarised" if summarised else "joined"])
        for name, n, summarised in zip(names, counts.tolist(), above.tolist(), strict=True)
    )
    summarised = int(counts[above].sum())
    label = message("chart.lambda.label", n=len(strength), layer=layer, summarised=summarised, tau=f"{tau:g}")
    head = ("λ", y_title, sentence(message("chart.lambda.made"), language))
    return Chart(figure, head, rows, sentence(label, language))


def strength_bins(largest: int, tau: float) -> list[tuple[int, int]]:
    """First and last lambda of each bar, from 1 on without gaps; tau lies between two bars, never inside one."""
    lasts, last, width = [], 0, 1
    while last < max(largest, 1):
        width = 1 if last < _SINGLE else 2 * width
        last = last + width
        lasts.append(last)
    cut = int(np.floor(tau))
    if 0 < cut < lasts[-1] and cut not in lasts:
        lasts = sorted([*lasts, cut])
    return [(first + 1, last) for first, last in zip([0, *lasts[:-1]], lasts, strict=True)]
