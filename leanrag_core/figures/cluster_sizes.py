"""Chart of how many nodes the clusters of each layer hold, with the size cap."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.figures.chart import Chart, empty_figure, marked_line
from leanrag_core.figures.numbers import counted
from leanrag_core.figures.palette import Palette

_MOST_BARS = 40


@dataclass(frozen=True, eq=False)
class LayerClusterSizes:
    """The clusters that make layer `layer`. sizes: (clusters,) nodes of the layer below in each."""

    layer: int
    sizes: np.ndarray


def cluster_sizes_chart(layers: Sequence[LayerClusterSizes], cap: int | None, palette: Palette) -> Chart:
    """Histogram of cluster sizes, a colour a layer. cap: the most nodes of a cluster; None draws no line."""
    import plotly.graph_objects as go

    largest = max(int(layer.sizes.max()) for layer in layers)
    width = -(-max(largest, cap or 0) // _MOST_BARS)
    edges = np.arange(1, max(largest, cap or 0) + width + 1, width)
    figure = empty_figure(
        palette, x_title="Nodes in a cluster", y_title="Clusters", showlegend=len(layers) > 1, height=280
    )
    rows = []
    for layer in layers:
        clusters = np.histogram(layer.sizes, bins=np.append(edges, edges[-1] + width))[0]
        names = [_sizes(int(edge), width) for edge in edges]
        figure.add_trace(
            go.Bar(
                x=edges + (width - 1) / 2,
                y=clusters,
                width=0.86 * width,
                name=f"into layer {layer.layer}",
                marker={"color": palette.layer(layer.layer + 1), "line": {"width": 0}},
                customdata=[
                    f"{counted(int(n), 'cluster')} of {name} nodes make layer {layer.layer}"
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
        marked_line(figure, palette, cap + 0.5, f"cap {cap:,}")
    n, smallest = sum(len(layer.sizes) for layer in layers), min(int(layer.sizes.min()) for layer in layers)
    label = f"{counted(n, 'cluster')} of {smallest:,} to {largest:,} nodes"
    return Chart(figure, ("Into layer", "Nodes in a cluster", "Clusters"), tuple(rows), label)


def _sizes(first: int, width: int) -> str:
    return f"{first:,}" if width == 1 else f"{first:,} to {first + width - 1:,}"
