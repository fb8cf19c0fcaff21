"""Chart of how many nodes the clusters of each layer hold, with the size cap."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.figures.chart import Chart, empty_figure, marked_line
from leanrag_core.figures.palette import Palette
from leanrag_core.messages.catalog import ENGLISH, sentence
from leanrag_core.messages.message import message

_MOST_BARS = 40


@dataclass(frozen=True, eq=False)
class LayerClusterSizes:
    """The clusters that make layer `layer`. sizes: (clusters,) nodes of the layer below in each."""

    layer: int
    sizes: np.ndarray


def cluster_sizes_chart(
    layers: Sequence[LayerClusterSizes], cap: int | None, palette: Palette, *, language: str = ENGLISH
) -> Chart:
    """Histogram of cluster sizes, a colour a layer. cap: the most nodes of a cluster; None draws no line."""
    import plotly.graph_objects as go

    largest = max(int(layer.sizes.max()) for layer in layers)
    width = -(-max(largest, cap or 0) // _MOST_BARS)
    edges = np.arange(1, max(largest, cap or 0) + width + 1, width)
    x_title, y_title = (sentence(message(f"chart.sizes.{axis}"), language) for axis in ("x", "y"))
    figure = empty_figure(palette, x_title=x_title, y_title=y_title, showlegend=len(layers) > 1, height=280)
    rows = []
    for layer in layers:
        clusters = np.histogram(layer.sizes, bins=np.append(edges, edges[-1] + width))[0]
        names = [_sizes(int(edge), width, language) for edge in edges]
        figure.add_trace(
            go.Bar(
                x=edges + (width - 1) / 2,
                y=clusters,
                width=0.86 * width,
                name=sentence(message("chart.sizes.into", layer=layer.layer), language),
                marker={"color": palette.layer(layer.layer + 1), "line": {"width": 0}},
                customdata=[
                    sentence(message("chart.sizes.bar", n=int(n), size=name, layer=layer.layer), language)
                    for n, name in zip(clusters, names, strict=True)
                ],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
        rows += [(f"L{layer.layer}", name, f"{n:,}") for n, name in zip(clusters.tolist(), names, strict=True) if n > 0]
    figure.update_layout(barmode="stack", legend={"traceorder": "normal", "y": 1.1})
    figure.update_yaxes(rangemode="tozero", tickformat=",d", nticks=6)
    figure.update_xaxes(range=[0, max(largest, cap or 0) + 1.5])
    if cap is not None:
        marked_line(figure, palette, cap + 0.5, sentence(message("chart.sizes.cap", cap=cap), language))
    n, smallest = sum(len(layer.sizes) for layer in layers), min(int(layer.sizes.min()) for layer in layers)
    label = sentence(message("chart.sizes.label", n=n, smallest=smallest, largest=largest), language)
    return Chart(figure, (sentence(message("chart.sizes.layer"), language), x_title, y_title), tuple(rows), label)


def _sizes(first: int, width: int, language: str) -> str:
    if width == 1:
        return f"{first:,}"
    return sentence(message("chart.sizes.range", first=first, last=first + width - 1), language)
