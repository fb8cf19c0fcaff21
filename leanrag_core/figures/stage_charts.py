"""Charts of the report of a build: time and tokens of its stages beside the forecast, sizes of clusters, strengths of
relations, and the figures of a clustering.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from leanrag_core.errors import IndexDamaged
from leanrag_core.figures.chart import Chart, empty_figure, marked_line
from leanrag_core.figures.numbers import duration, tokens
from leanrag_core.figures.palette import Palette
from leanrag_core.messages.catalog import ENGLISH, Say, saying
from leanrag_core.types.build_report import BuildReport, LayerClusters

if TYPE_CHECKING:
    import plotly.graph_objects as go

_ROW = 30  # pixels of a bar
_FRAME = 90  # pixels of axis and margins
_MOST_BARS = 40
_SINGLE = 10  # lambda up to which each value has a bar of its own; above, bars double in width
T = TypeVar("T")


@dataclass(frozen=True)
class StageTime:
    """Seconds that a stage took. stage: its title."""

    stage: str
    seconds: float


@dataclass(frozen=True)
class StageTokens:
    """What a stage asked of a model: calls, and tokens sent and received. stage: its title."""

    stage: str
    calls: int
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True)
class Compared:
    """A forecast value beside the actual one, in a unit of its own. low to high: the forecast's bounds. shown_forecast,
    shown_actual: both as a reader wants them, with the unit."""

    title: str
    low: float
    expected: float
    high: float
    actual: float
    shown_forecast: str
    shown_actual: str


def stage_times_chart(stages: Sequence[StageTime], palette: Palette, *, language: str = ENGLISH) -> Chart:
    """Return a bar for each stage, in the order of the job, the time written at its end."""
    say = saying(language)
    figure = _bars(palette, len(stages), say("chart.time.x"))
    names, seconds = [stage.stage for stage in stages], [stage.seconds for stage in stages]
    text = {"text": list(map(duration, seconds)), "textposition": "outside", "textfont": {"color": palette["text"]}}
    bars = {"y": names, "x": seconds, "orientation": "h", "cliponaxis": False}
    figure.add_bar(**bars, **text, marker=_filled(palette["path"]), hovertemplate="%{y}: %{text}<extra></extra>")
    figure.update_xaxes(range=[0, 1.15 * max(seconds, default=1.0)])
    rows = tuple((stage.stage, f"{stage.seconds:.2f}") for stage in stages)
    head = tuple(say(f"chart.time.{name}") for name in ("stage", "seconds"))
    return Chart(figure, head, rows, say("chart.time.label", time=duration(sum(seconds))))


def stage_tokens_chart(stages: Sequence[StageTokens], palette: Palette, *, language: str = ENGLISH) -> Chart:
    """Return a bar for each stage that called a model: prompt tokens, then completion tokens; calls written at its
    end."""
    say = saying(language)
    figure = _bars(palette, len(stages), say("chart.tokens.x"), showlegend=True)
    codes = ("chart.time.stage", "chart.tokens.calls", "chart.tokens.prompt", "chart.tokens.completion")
    head = tuple(map(say, codes))
    names = [stage.stage for stage in stages]
    for title, colour, values in (
        (head[2], "path", [stage.prompt_tokens for stage in stages]),
        (head[3], "seed", [stage.completion_tokens for stage in stages]),
    ):
        bars = {"y": names, "x": values, "orientation": "h", "name": title, "marker": _filled(palette[colour])}
        figure.add_bar(**bars, hovertemplate=f"%{{y}}: {title} %{{x:,}}<extra></extra>")
    totals = [stage.prompt_tokens + stage.completion_tokens for stage in stages]
    for stage, total in zip(stages, totals, strict=True):
        said = say("chart.tokens.total", tokens=tokens(total), n=stage.calls)
        _write(figure, palette, total, stage.stage, f" {said}")
    figure.update_layout(barmode="stack")
    figure.update_xaxes(range=[0, 1.45 * max([1, *totals])], tickformat="~s")
    rows = tuple(
        (stage.stage, f"{stage.calls:,}", f"{stage.prompt_tokens:,}", f"{stage.completion_tokens:,}")
        for stage in stages
    )
    return Chart(figure, head, rows, say("chart.tokens.label", n=sum(stage.calls for stage in stages)))


def forecast_chart(compared: Sequence[Compared], palette: Palette, *, language: str = ENGLISH) -> Chart:
    """Draw for each value the forecast's range as a bar and the actual value as a mark, as multiples of what was
    expected, so that calls, tokens and seconds share an axis. Values without an expectation above zero are left out."""
    say = saying(language)
    kept = [value for value in compared if value.expected > 0]
    names = [value.title for value in kept]
    forecast, actual = (say(f"chart.forecast.{name}") for name in ("forecast", "actual"))
    figure = _bars(palette, len(kept), say("chart.forecast.x"), showlegend=True)
    bars = {"y": names, "orientation": "h", "width": 0.42, "name": say("chart.forecast.range")}
    figure.add_bar(
        **bars,
        x=[(value.high - value.low) / value.expected for value in kept],
        base=[value.low / value.expected for value in kept],
        marker={"color": palette.layer(1), "line": {"color": palette["path"], "width": 1}},
        customdata=[value.shown_forecast for value in kept],
        hovertemplate=f"%{{y}}: {forecast} %{{customdata}}<extra></extra>",
    )
    marks = {"y": names, "mode": "markers", "name": actual, "cliponaxis": False}
    figure.add_scatter(
        **marks,
        x=[value.actual / value.expected for value in kept],
        text=[value.shown_actual for value in kept],
        marker={"color": palette["seed"], "size": 12, "symbol": "diamond"},
        hovertemplate=f"%{{y}}: {actual} %{{text}}<extra></extra>",
    )
    ends = [max(value.high, value.actual) / value.expected for value in kept]
    for value, end in zip(kept, ends, strict=True):
        said = say("chart.forecast.value", actual=value.shown_actual, forecast=value.shown_forecast)
        _write(figure, palette, end, value.title, f"  {said}")
    figure.update_xaxes(range=[0, 1.3 * max(ends, default=1.0)], ticksuffix=" ×")
    marked_line(figure, palette, 1, say("chart.forecast.expected"))
    rows = tuple((value.title, value.shown_forecast, value.shown_actual) for value in compared)
    inside = sum(value.low <= value.actual <= value.high for value in kept)
    label = say("chart.forecast.label", inside=inside, n=len(kept))
    return Chart(figure, ("", forecast, actual), rows, label)


def _bars(palette: Palette, n: int, x_title: str, *, showlegend: bool = False) -> "go.Figure":
    figure = empty_figure(
        palette, x_title=x_title, y_title="", grid="x", height=_FRAME + _ROW * max(n, 1), showlegend=showlegend
    )
    figure.update_yaxes(autorange="reversed", ticksuffix="  ", tickfont={"color": palette["text"]})
    figure.update_layout(legend={"y": 1.12, "traceorder": "normal"})
    return figure


def _filled(colour: str) -> dict[str, Any]:
    """Return the look of bars without an outline."""
    return {"color": colour, "line": {"width": 0}}


def _write(figure: "go.Figure", palette: Palette, x: float, y: str, text: str) -> None:
    """Write a text to the right of a bar's end."""
    font = {"color": palette["text"], "size": 12}
    figure.add_annotation(x=x, y=y, text=text, xanchor="left", showarrow=False, font=font)


@dataclass(frozen=True, eq=False)
class LayerClusterSizes:
    """The clusters that make layer `layer`. sizes: (clusters,) nodes of the layer below in each."""

    layer: int
    sizes: np.ndarray


def cluster_sizes_chart(
    layers: Sequence[LayerClusterSizes], cap: int | None, palette: Palette, *, language: str = ENGLISH
) -> Chart:
    """Draw a histogram of cluster sizes, a colour a layer. cap: the most nodes of a cluster; None draws no line."""
    say = saying(language)
    largest = max(int(layer.sizes.max()) for layer in layers)
    end = max(largest, cap or 0)
    width = -(-end // _MOST_BARS)
    edges = np.arange(1, end + width + 1, width)
    x_title, y_title = (say(f"chart.sizes.{axis}") for axis in ("x", "y"))
    figure = empty_figure(palette, x_title=x_title, y_title=y_title, showlegend=len(layers) > 1, height=280)
    rows = []
    for layer in layers:
        clusters = np.histogram(layer.sizes, bins=np.append(edges, edges[-1] + width))[0]
        names = [_sizes(int(edge), width, say) for edge in edges]
        counted = list(zip(clusters.tolist(), names, strict=True))
        figure.add_bar(
            x=edges + (width - 1) / 2,
            y=clusters,
            width=0.86 * width,
            name=say("chart.sizes.into", layer=layer.layer),
            marker=_filled(palette.layer(layer.layer + 1)),
            customdata=[say("chart.sizes.bar", n=n, size=name, layer=layer.layer) for n, name in counted],
            hovertemplate="%{customdata}<extra></extra>",
        )
        rows += [(f"L{layer.layer}", name, f"{n:,}") for n, name in counted if n > 0]
    figure.update_layout(barmode="stack", legend={"traceorder": "normal", "y": 1.1})
    figure.update_yaxes(rangemode="tozero", tickformat=",d", nticks=6)
    figure.update_xaxes(range=[0, end + 1.5])
    if cap is not None:
        marked_line(figure, palette, cap + 0.5, say("chart.sizes.cap", cap=cap))
    n, smallest = sum(len(layer.sizes) for layer in layers), min(int(layer.sizes.min()) for layer in layers)
    label = say("chart.sizes.label", n=n, smallest=smallest, largest=largest)
    return Chart(figure, (say("chart.sizes.layer"), x_title, y_title), tuple(rows), label)


def _sizes(first: int, width: int, say: Say) -> str:
    if width == 1:
        return f"{first:,}"
    return say("chart.sizes.range", first=first, last=first + width - 1)


def strengths_chart(
    strength: np.ndarray, tau: float, layer: int, palette: Palette, *, language: str = ENGLISH
) -> Chart:
    """Draw bars of relations by lambda, those above tau, which were summarised, in the colour of inter-cluster ones.

    strength: (r,) int, lambda of each relation of the layer, r at least 1. tau: its threshold.
    """
    say = saying(language)
    bins = strength_bins(int(strength.max()), tau)
    starts = np.array([first for first, _ in bins])
    counts = np.bincount(np.searchsorted(starts, strength, side="right") - 1, minlength=len(bins))
    names = [f"{first:,}" if first == last else f"{first:,}–{last:,}" for first, last in bins]
    above = starts > tau
    x_title, y_title = (say(f"chart.lambda.{axis}") for axis in ("x", "y"))
    figure = empty_figure(palette, x_title=x_title, y_title=y_title, showlegend=True)
    titles = {name: say(f"chart.lambda.{name}") for name in ("joined", "summarised")}
    for is_above, title, colour in (
        (False, f"{titles['joined']}, λ ≤ τ", "base"),
        (True, f"{titles['summarised']}, λ > τ", "inter"),
    ):
        places = np.flatnonzero(above == is_above)
        figure.add_bar(
            x=places,
            y=counts[places],
            name=title,
            marker=_filled(palette[colour]),
            customdata=[
                say("chart.lambda.bar", n=int(counts[place]), layer=layer, strength=names[place], made=title)
                for place in places
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
    figure.update_xaxes(tickvals=list(range(len(bins))), ticktext=names, range=[-0.6, len(bins) - 0.4])
    figure.update_yaxes(rangemode="tozero", tickformat=",d", nticks=6)
    figure.update_layout(legend={"y": 1.1})
    marked_line(figure, palette, np.count_nonzero(~above) - 0.5, f"τ {tau:g}")
    rows = tuple(
        (name, f"{n:,}", titles["summarised" if summarised else "joined"])
        for name, n, summarised in zip(names, counts.tolist(), above.tolist(), strict=True)
    )
    summarised = int(counts[above].sum())
    label = say("chart.lambda.label", n=len(strength), layer=layer, summarised=summarised, tau=f"{tau:g}")
    head = ("λ", y_title, say("chart.lambda.made"))
    return Chart(figure, head, rows, label)


def strength_bins(largest: int, tau: float) -> list[tuple[int, int]]:
    """Return first and last lambda of each bar, from 1 on without gaps; tau lies between two bars, never inside one."""
    lasts, last, width = [], 0, 1
    while last < max(largest, 1):
        width = 1 if last < _SINGLE else 2 * width
        last = last + width
        lasts.append(last)
    cut = int(np.floor(tau))
    if 0 < cut < lasts[-1] and cut not in lasts:
        lasts = sorted([*lasts, cut])
    return [(first + 1, last) for first, last in zip([0, *lasts[:-1]], lasts, strict=True)]


@dataclass(frozen=True)
class ClusterFacts:
    """How a layer was grouped into the next one.

    layer: the new one. smallest, median, largest, singletons: of the clusters' sizes. neighbours_inside: share of a
    node's 10 nearest neighbours that are in its cluster, None in a report that does not say. relations_inside: share
    of the layer's relations with both ends in one cluster, None for a layer without relations. likelihood: mean log
    density, None for one cluster.
    """

    layer: int
    smallest: int
    median: float
    largest: int
    singletons: int
    neighbours_inside: float | None
    relations_inside: float | None
    likelihood: float | None


def cluster_facts(report: BuildReport) -> list[ClusterFacts]:
    """Return the facts of every layer but the base, the lowest first. Raises IndexDamaged where the report lacks
    them."""
    return [_facts(layer) for layer in report.clustering]


def _facts(layer: LayerClusters) -> ClusterFacts:
    below = _recorded(layer.relations_below)
    return ClusterFacts(
        layer=_recorded(layer.layer),
        smallest=_recorded(layer.smallest),
        median=_recorded(layer.median),
        largest=_recorded(layer.largest),
        singletons=_recorded(layer.singletons),
        neighbours_inside=layer.neighbours_inside,
        relations_inside=_recorded(layer.relations_inside) / below if below else None,  # both are counts
        likelihood=layer.likelihood,
    )


def _recorded(value: T | None) -> T:
    if value is None:
        raise IndexDamaged("index.clustering_unknown")
    return value
