"""Charts of the evidence behind suggestions: two curves over the values that were tried, the suggested one marked."""

from collections.abc import Sequence
from dataclasses import dataclass

from leanrag_core.figures.chart import Chart, empty_figure, marked_line
from leanrag_core.figures.palette import Palette


@dataclass(frozen=True)
class Curve:
    """One y for each value. title: with its unit. colour: of the palette. texts: the y as they are written."""

    title: str
    y: tuple[float, ...]
    texts: tuple[str, ...]
    colour: str


def curves_chart(
    x_title: str, values: Sequence[int], left: Curve, right: Curve, *, suggested: int, mark: str, palette: Palette
) -> Chart:
    """Return the left curve solid with discs on the left axis, the right one dashed with squares on an axis of its own.

    values: at least one. suggested: the value that is marked. mark: what is written there.
    """
    import plotly.graph_objects as go

    figure = empty_figure(palette, x_title=x_title, y_title=left.title, height=230, showlegend=True)
    places = list(range(len(values)))
    for curve, axis, dash, symbol in ((left, "y", "solid", "circle"), (right, "y2", "dash", "square")):
        figure.add_trace(
            go.Scatter(
                x=places,
                y=curve.y,
                yaxis=axis,
                name=curve.title,
                mode="lines+markers",
                line={"color": palette[curve.colour], "width": 2, "dash": dash},
                marker={"symbol": symbol, "size": 7},
                customdata=[
                    f"{x_title} {value}: {curve.title} {text}" for value, text in zip(values, curve.texts, strict=True)
                ],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
    font = {"size": 12, "color": palette["mute"]}
    figure.update_layout(
        yaxis2={
            "overlaying": "y",
            "side": "right",
            "showgrid": False,
            "zeroline": False,
            "title": {"text": right.title, "font": font},
            "tickfont": font,
            "nticks": 5,
        },
        legend={"y": 1.16},
        margin={"t": 44, "r": 8},
    )
    figure.update_yaxes(nticks=5)
    figure.update_xaxes(tickvals=places, ticktext=[f"{value:,}" for value in values])
    marked_line(figure, palette, list(values).index(suggested), mark)
    rows = tuple(zip((f"{value:,}" for value in values), left.texts, right.texts, strict=True))
    place = list(values).index(suggested)
    label = f"{mark}: {left.title} {left.texts[place]}, {right.title} {right.texts[place]}"
    return Chart(figure, (x_title, left.title, right.title), rows, label)
