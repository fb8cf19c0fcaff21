"""What every Plotly chart of the workbench shares: fonts, margins, a hairline grid on one axis, titled axes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leanrag_core.figures.palette import Palette

if TYPE_CHECKING:
    import plotly.graph_objects as go

FONT = '"Source Sans","Source Sans Pro",system-ui,sans-serif'
# The mode bar holds the download alone; plotly.js draws the picture in the browser and sends nothing anywhere.
CONFIG: Mapping[str, Any] = {"displaylogo": False, "modeBarButtons": [["toImage"]]}
_FORMULA = tuple("=+-@\t\r＝＋－＠")  # also in the full-width forms, which spreadsheets in Chinese and Japanese take
_NUMBER = re.compile(r"[+-]?[\d,]*\.?\d+")


@dataclass(frozen=True, eq=False)
class Chart:
    """A figure with the numbers behind it. head, rows: the same values as a table; units stand in the head. label: what
    the figure shows, in one sentence, for those who do not see it."""

    figure: "go.Figure"
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    label: str


def empty_figure(
    palette: Palette, *, x_title: str, y_title: str, height: int = 260, grid: str = "y", showlegend: bool = False
) -> "go.Figure":
    """Return a figure without traces in the colours of the theme. Titles name the unit; grid: "x", "y" or "" for
    none."""
    import plotly.graph_objects as go

    figure = go.Figure()
    text_font = {"family": FONT, "size": 13, "color": palette["text"]}
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 16, "t": 24, "b": 8},
        font=text_font,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        showlegend=showlegend,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"color": palette["text"]}},
        hoverlabel={"bgcolor": palette["surf"], "bordercolor": palette["line"], "font": text_font, "align": "left"},
        bargap=0.12,
        dragmode=False,
    )
    font = {"size": 12, "color": palette["mute"]}
    for axis, title in (("xaxis", x_title), ("yaxis", y_title)):
        is_grid = grid == axis[0]
        lines = {"showgrid": is_grid, "gridcolor": palette["line"], "gridwidth": 1, "zeroline": False}
        lines |= {"linecolor": palette["line"], "showline": not is_grid}
        titled = {"title": {"text": title, "font": font, "standoff": 8}, "tickfont": font}
        fixed = {"separatethousands": True, "automargin": True, "fixedrange": True}
        figure.update_layout({axis: {**titled, **lines, **fixed}})
    return figure


def marked_line(figure: "go.Figure", palette: Palette, x: float, text: str) -> None:
    """Draw a dashed vertical line at x with its meaning written at the top."""
    figure.add_shape(
        type="line", x0=x, x1=x, y0=0, y1=1, yref="paper", line={"color": palette["text"], "width": 1.5, "dash": "dash"}
    )
    font = {"color": palette["text"], "size": 12}
    figure.add_annotation(x=x, y=1, yref="paper", yanchor="bottom", text=text, showarrow=False, font=font)


def as_csv(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the table as CSV text; names of clusters and documents become no formulas in a spreadsheet."""
    import csv
    import io

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [[spreadsheet_cell(cell, numbers=True) for cell in row] for row in (head, *rows)]
    )
    return text.getvalue()


def spreadsheet_cell(value: object, *, numbers: bool = False) -> object:
    """Return the value; a text that a spreadsheet would take for a formula gets an apostrophe before it.

    numbers: texts such as "-1.5" are numbers, and stay as they are.
    """
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    return value if numbers and _NUMBER.fullmatch(value) else f"'{value}"


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
    figure = empty_figure(palette, x_title=x_title, y_title=left.title, height=230, showlegend=True)
    places, place = list(range(len(values))), list(values).index(suggested)
    for curve, axis, dash, symbol in ((left, "y", "solid", "circle"), (right, "y2", "dash", "square")):
        texts = zip(values, curve.texts, strict=True)
        figure.add_scatter(
            x=places,
            y=curve.y,
            yaxis=axis,
            name=curve.title,
            mode="lines+markers",
            line={"color": palette[curve.colour], "width": 2, "dash": dash},
            marker={"symbol": symbol, "size": 7},
            customdata=[f"{x_title} {value}: {curve.title} {text}" for value, text in texts],
            hovertemplate="%{customdata}<extra></extra>",
        )
    font = {"size": 12, "color": palette["mute"]}
    second: dict[str, Any] = {"overlaying": "y", "side": "right", "showgrid": False, "zeroline": False, "nticks": 5}
    second |= {"title": {"text": right.title, "font": font}, "tickfont": font}
    figure.update_layout(yaxis2=second, legend={"y": 1.16}, margin={"t": 44, "r": 8})
    figure.update_yaxes(nticks=5)
    shown = [f"{value:,}" for value in values]
    figure.update_xaxes(tickvals=places, ticktext=shown)
    marked_line(figure, palette, place, mark)
    rows = tuple(zip(shown, left.texts, right.texts, strict=True))
    label = f"{mark}: {left.title} {left.texts[place]}, {right.title} {right.texts[place]}"
    return Chart(figure, (x_title, left.title, right.title), rows, label)
