"""Map of a layer's embeddings: two principal components, coloured by the cluster at a higher layer."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from leanrag_core.figures.chart import Chart, empty_figure, plain_text
from leanrag_core.figures.direction import isolated
from leanrag_core.figures.numbers import counted, share
from leanrag_core.figures.palette import Palette

MAX_POINTS = 10_000
_MAX_LABELLED = 10  # clusters with a colour and a label of their own
_LABEL_LETTERS = 28
_HOVER_LETTERS = 80
_HEIGHT = 560  # px
_LABEL_HEIGHT = 27 / 480  # of the plot's own height
_APART = 0.5  # of the map's width: labels so far apart do not overlap even in a narrow column


class EmbeddingMap:
    """Points of a layer in the plane. rows: (p,) rows of the layer that are drawn, p <= MAX_POINTS.
    places: (p, 2). shares: of the variance, for each axis."""

    def __init__(self, vectors: np.ndarray) -> None:
        from sklearn.decomposition import PCA

        n = len(vectors)
        self.rows = np.arange(n) if n <= MAX_POINTS else np.unique(np.linspace(0, n - 1, MAX_POINTS).astype(np.int64))
        self.places, self.shares = np.zeros((len(self.rows), 2)), (0.0, 0.0)
        drawn = np.asarray(vectors[self.rows], dtype=np.float64)
        if min(drawn.shape) < 2 or not np.ptp(drawn, axis=0).any():
            return  # a single place
        # Exact, by the eigenvectors of the covariance; scikit-learn fixes the sign of each axis by its largest entry.
        pca = PCA(2, svd_solver="covariance_eigh")
        self.places = pca.fit_transform(drawn)
        first, second = pca.explained_variance_ratio_.tolist()
        self.shares = (first, second)


def map_chart(
    points: EmbeddingMap,
    names: Sequence[str],
    cluster_of: np.ndarray,
    cluster_names: Sequence[str],
    palette: Palette,
    *,
    chosen: int | None = None,
) -> Chart:
    """The points as a WebGL scatter; the customdata of a point is its position in `names`.

    names: (p,) of the drawn points. cluster_of: (p,) cluster of each. chosen: position of the point to draw a ring
    around.
    """
    import plotly.graph_objects as go

    sizes = np.bincount(cluster_of, minlength=len(cluster_names))
    largest = [cluster for cluster in np.argsort(-sizes, kind="stable")[:_MAX_LABELLED].tolist() if sizes[cluster]]
    colour_of = np.full(len(cluster_names), palette["tree"], dtype=object)
    colour_of[largest] = palette.clusters[: len(largest)]
    titles = [f"Component {axis}, {share(part, 1)} of the variance" for axis, part in enumerate(points.shares, start=1)]
    figure = empty_figure(palette, x_title=titles[0], y_title=titles[1], height=_HEIGHT, grid="")
    for axis in (figure.update_xaxes, figure.update_yaxes):
        axis(fixedrange=False, nticks=6)
    x, y = points.places.astype(np.float32).T
    order = np.argsort(np.isin(cluster_of, largest), kind="stable")  # points with a colour lie above the grey ones
    figure.add_trace(
        go.Scattergl(
            x=x[order],
            y=y[order],
            mode="markers",
            marker={
                "color": colour_of[cluster_of[order]].tolist(),
                "size": 7 if len(names) < 1000 else 5,
                "opacity": 0.8,
            },
            # A click selects a point; the others keep their colour, and the ring shows which one it is.
            selected={"marker": {"opacity": 0.8}},
            unselected={"marker": {"opacity": 0.8}},
            customdata=order,
            text=[
                f"<b>{_shown(names[n], _HOVER_LETTERS)}</b><br>in "
                f"{_shown(cluster_names[cluster_of[n]], _HOVER_LETTERS)}"
                for n in order.tolist()
            ],
            hovertemplate="%{text}<extra></extra>",
        )
    )
    if chosen is not None:
        ring = {"symbol": "circle-open", "color": palette["text"], "size": 16, "line": {"width": 3}}
        figure.add_trace(go.Scattergl(x=[x[chosen]], y=[y[chosen]], mode="markers", marker=ring, hoverinfo="skip"))
    middles = np.array([np.median(points.places[cluster_of == cluster], axis=0) for cluster in largest])
    for cluster, colour, place in zip(largest, palette.clusters, label_places(middles, points.places), strict=False):
        figure.add_annotation(_label(place, cluster_names[cluster], colour, palette))
    figure.update_layout(dragmode="pan", clickmode="event+select", uirevision="map", hovermode="closest")
    rows = tuple(
        (name, cluster_names[cluster], f"{place[0]:.4f}", f"{place[1]:.4f}")
        for name, cluster, place in zip(names, cluster_of.tolist(), points.places.tolist(), strict=True)
    )
    label = f"{counted(len(names), 'entity', 'entities')} in {counted(int((sizes > 0).sum()), 'cluster')}"
    return Chart(figure, ("Entity", "Cluster", "Component 1", "Component 2"), rows, label)


def label_places(middles: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Where the labels of clusters are drawn: near the middle of each, none over another.

    middles: (k, 2). places: (p, 2) of all points. Returns (k, 2); labels move up or down alone.
    """
    if not len(middles):
        return middles
    placed = middles.copy()
    width, height = np.ptp(places, axis=0)
    lower: list[int] = []
    for label in np.argsort(middles[:, 1], kind="stable").tolist():
        below = [placed[n, 1] for n in lower if abs(middles[n, 0] - middles[label, 0]) < _APART * width]
        placed[label, 1] = max([placed[label, 1], *(y + height * _LABEL_HEIGHT for y in below)])
        lower.append(label)
    placed[:, 1] -= (placed[:, 1] - middles[:, 1]).mean()  # so that labels move down as far as up
    return placed


def _label(middle: np.ndarray, name: str, colour: str, palette: Palette) -> dict[str, Any]:
    return {
        "x": float(middle[0]),
        "y": float(middle[1]),
        "text": _shown(name, _LABEL_LETTERS),
        "showarrow": False,
        "font": {"color": palette["text"], "size": 12},
        "bgcolor": palette["bg"],
        "bordercolor": colour,
        "borderwidth": 2,
        "borderpad": 2,
        "opacity": 0.9,
        "captureevents": False,  # a point below the label can be clicked
    }


def _shown(name: str, most_letters: int) -> str:
    short = name if len(name) <= most_letters else f"{name[: most_letters - 1].rstrip()}…"
    return plain_text(isolated(short))
