"""Charts of what the stages of a job took: time, tokens, and how that compares with the forecast."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leanrag_core.figures.chart import Chart, empty_figure, marked_line
from leanrag_core.figures.numbers import duration, tokens
from leanrag_core.figures.palette import Palette
from leanrag_core.messages.catalog import ENGLISH, sentence
from leanrag_core.messages.message import message

if TYPE_CHECKING:
    import plotly.graph_objects as go

_ROW = 30  # pixels of a bar
_FRAME = 90  # pixels of axis and margins


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
    """A bar for each stage, in the order of the job, the time written at its end."""
    import plotly.graph_objects as go

    figure = _bars(palette, len(stages), sentence(message("chart.time.x"), language))
    shown = [duration(stage.seconds) for stage in stages]
    figure.add_trace(
        go.Bar(
            y=[stage.stage for stage in stages],
            x=[stage.seconds for stage in stages],
            orientation="h",
            text=shown,
            textposition="outside",
            textfont={"color": palette["text"]},
            cliponaxis=False,
            marker={"color": palette["path"], "line": {"width": 0}},
            hovertemplate="%{y}: %{text}<extra></extra>",
        )
    )
    figure.update_xaxes(range=[0, 1.15 * max([stage.seconds for stage in stages], default=1.0)])
    rows = tuple((stage.stage, f"{stage.seconds:.2f}") for stage in stages)
    taken = duration(sum(stage.seconds for stage in stages))
    head = tuple(sentence(message(f"chart.time.{name}"), language) for name in ("stage", "seconds"))
    return Chart(figure, head, rows, sentence(message("chart.time.label", time=taken), language))


def stage_tokens_chart(stages: Sequence[StageTokens], palette: Palette, *, language: str = ENGLISH) -> Chart:
    """A bar for each stage that called a model: prompt tokens, then completion tokens; calls written at its end."""
    import plotly.graph_objects as go

    figure = _bars(palette, len(stages), sentence(message("chart.tokens.x"), language), showlegend=True)
    head = tuple(
        sentence(message(code), language)
        for code in ("chart.time.stage", "chart.tokens.calls", "chart.tokens.prompt", "chart.tokens.completion")
    )
    names = [stage.stage for stage in stages]
    for title, colour, values in (
        (head[2], "path", [stage.prompt_tokens for stage in stages]),
        (head[3], "seed", [stage.completion_tokens for stage in stages]),
    ):
        figure.add_trace(
            go.Bar(
                y=names,
                x=values,
                orientation="h",
                name=title,
                marker={"color": palette[colour], "line": {"width": 0}},
                hovertemplate=f"%{{y}}: {title} %{{x:,}}<extra></extra>",
            )
        )
    most = max((stage.prompt_tokens + stage.completion_tokens for stage in stages), default=1)
    for name, stage in zip(names, stages, strict=True):
        total = stage.prompt_tokens + stage.completion_tokens
        figure.add_annotation(
            x=total,
            y=name,
            text=" " + sentence(message("chart.tokens.total", tokens=tokens(total), n=stage.calls), language),
            xanchor="left",
            showarrow=False,
            font={"color": palette["text"], "size": 12},
        )
    figure.update_layout(barmode="stack")
    figure.update_xaxes(range=[0, 1.45 * max(most, 1)], tickformat="~s")
    rows = tuple(
        (name, f"{stage.calls:,}", f"{stage.prompt_tokens:,}", f"{stage.completion_tokens:,}")
        for name, stage in zip(names, stages, strict=True)
    )
    calls = sum(stage.calls for stage in stages)
    return Chart(figure, head, rows, sentence(message("chart.tokens.label", n=calls), language))


def forecast_chart(compared: Sequence[Compared], palette: Palette, *, language: str = ENGLISH) -> Chart:
    """For each value the forecast's range as a bar and the actual value as a mark, as multiples of what was expected,
    so that calls, tokens and seconds share an axis. Values without an expectation above zero are left out."""
    import plotly.graph_objects as go

    kept = [value for value in compared if value.expected > 0]
    names = [value.title for value in kept]
    forecast, actual = (sentence(message(f"chart.forecast.{name}"), language) for name in ("forecast", "actual"))
    figure = _bars(palette, len(kept), sentence(message("chart.forecast.x"), language), showlegend=True)
    figure.add_trace(
        go.Bar(
            y=names,
            x=[(value.high - value.low) / value.expected for value in kept],
            base=[value.low / value.expected for value in kept],
            orientation="h",
            width=0.42,
            name=sentence(message("chart.forecast.range"), language),
            marker={"color": palette.layer(1), "line": {"color": palette["path"], "width": 1}},
            customdata=[value.shown_forecast for value in kept],
            hovertemplate=f"%{{y}}: {forecast} %{{customdata}}<extra></extra>",
        )
    )
    figure.add_trace(
        go.Scatter(
            y=names,
            x=[value.actual / value.expected for value in kept],
            mode="markers",
            name=actual,
            text=[value.shown_actual for value in kept],
            cliponaxis=False,
            marker={"color": palette["seed"], "size": 12, "symbol": "diamond"},
            hovertemplate=f"%{{y}}: {actual} %{{text}}<extra></extra>",
        )
    )
    ends = [max(value.high, value.actual) / value.expected for value in kept]
    for value, end in zip(kept, ends, strict=True):
        figure.add_annotation(
            x=end,
            y=value.title,
            text="  "
            + sentence(
                message("chart.forecast.value", actual=value.shown_actual, forecast=value.shown_forecast), language
            ),
            xanchor="left",
            showarrow=False,
            font={"color": palette["text"], "size": 12},
        )
    figure.update_xaxes(range=[0, 1.3 * max(ends, default=1.0)], ticksuffix=" ×")
    marked_line(figure, palette, 1, sentence(message("chart.forecast.expected"), language))
    rows = tuple((value.title, value.shown_forecast, value.shown_actual) for value in compared)
    inside = sum(value.low <= value.actual <= value.high for value in kept)
    label = sentence(message("chart.forecast.label", inside=inside, n=len(kept)), language)
    return Chart(figure, ("", forecast, actual), rows, label)


def _bars(palette: Palette, n: int, x_title: str, *, showlegend: bool = False) -> "go.Figure":
    figure = empty_figure(
        palette, x_title=x_title, y_title="", grid="x", height=_FRAME + _ROW * max(n, 1), showlegend=showlegend
    )
    figure.update_yaxes(autorange="reversed", ticksuffix="  ", tickfont={"color": palette["text"]})
    figure.update_layout(legend={"y": 1.12, "traceorder": "normal"})
    return figure
