"""Chart of lambda: how many relations of the layer below each inter-cluster relation stands for, with tau."""

import numpy as np

from leanrag_core.figures.chart import Chart, empty_figure, marked_line
from leanrag_core.figures.numbers import counted
from leanrag_core.figures.palette import Palette

_SINGLE = 10  # lambda up to which each value has a bar of its own; above, bars double in width


def strengths_chart(strength: np.ndarray, tau: float, layer: int, palette: Palette) -> Chart:
    """Bars of relations by lambda; those above tau, which were summarised, in the colour of inter-cluster relations.

    strength: (r,) int, lambda of each relation of the layer, r at least 1. tau: its threshold.
    """
    import plotly.graph_objects as go

    bins = strength_bins(int(strength.max()), tau)
    starts = np.array([first for first, _ in bins])
    counts = np.bincount(np.searchsorted(starts, strength, side="right") - 1, minlength=len(bins))
    names = [f"{first:,}" if first == last else f"{first:,}–{last:,}" for first, last in bins]
    above = starts > tau
    figure = empty_figure(palette, x_title="λ, relations that one stands for", y_title="Relations", showlegend=True)
    for is_above, title, colour in ((False, "joined, λ ≤ τ", "base"), (True, "summarised, λ > τ", "inter")):
        places = np.flatnonzero(above == is_above)
        figure.add_trace(
            go.Bar(
                x=places,
                y=counts[places],
                name=title,
                marker={"color": palette[colour], "line": {"width": 0}},
                customdata=[
                    f"{counted(int(counts[place]), 'relation')} of layer {layer} with λ {names[place]}: {title}"
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
        (name, f"{n:,}", "summarised" if summarised else "joined")
        for name, n, summarised in zip(names, counts.tolist(), above.tolist(), strict=True)
    )
    label = (
        f"{counted(len(strength), 'relation')} of layer {layer}: {int(counts[above].sum()):,} above τ {tau:g} were "
        "summarised, the others joined"
    )
    return Chart(figure, ("λ", "Relations", "Made"), rows, label)


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
