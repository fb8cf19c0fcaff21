"""Charts of a sweep: a heat map of two axes, parallel coordinates of all."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from leanrag_core.figures.drawing import Drawing, Shape, circle, fitted, path, rect, text, text_width

_HIGH, _GAP, _HEAT_TOP = 53, 2, 26  # px
_STEPS = 5
_WIDEST = 110
_RING, _ROOMY = 3.4, 60  # px: radius of the ring; a cell in which a number and the ring have room side by side


@dataclass(frozen=True)
class HeatCell:
    """A setting. value: None where it has not run. shown: the value as written; note: the figure beneath.

    is_close: no worse than the best, by a test. is_off: others are selected. pick: what a click on the cell reports, ""
    for nothing.
    """

    row: str
    column: str
    value: float | None
    shown: str
    note: str = ""
    is_best: bool = False
    is_close: bool = False
    is_chosen: bool = False
    pick: str = ""
    is_off: bool = False


@dataclass(frozen=True)
class HeatAxis:
    """What is set along a side of the grid, and its values in their order."""

    title: str
    names: Sequence[str]


def ramp_step(value: float, low: float, high: float) -> int:
    """Return the step of the ramp, 0 to 4: five equal parts between the lowest and the highest value."""
    if high - low < 1e-12:
        return _STEPS - 1
    return min(_STEPS - 1, int(_STEPS * (value - low) / (high - low) + 1e-9))


def heat_map(
    cells: Sequence[HeatCell],
    row_axis: HeatAxis,
    column_axis: HeatAxis,
    *,
    width: int,
    label: str,
    less_is_better: bool = False,
) -> Drawing:
    """Return the grid: rows downwards, columns to the right. Darker is better. The best is outlined in the colour of
    text, the chosen one in that of a selection; a ring marks those that are no worse than the best."""
    rows, columns = row_axis.names, column_axis.names
    left = max([text_width(name, 13) for name in rows] + [18]) + 30
    step = min(_WIDEST, (width - left) / max(1, len(columns)))
    values = [cell.value for cell in cells if cell.value is not None]
    low, high = min(values, default=0.0), max(values, default=1.0)
    bottom = _HEAT_TOP + len(rows) * _HIGH
    middle = _HEAT_TOP + (bottom - _HEAT_TOP) / 2
    shapes: list[Shape] = [
        text(left + step * len(columns) / 2, 14, column_axis.title, size=12.5, anchor="middle", fill="mute"),
        Shape("text", {"x": 0, "y": 0, "font-size": 12.5, "text-anchor": "middle", "style": "fill:var(--lr-mute)",
                       "transform": f"translate(11 {middle:.0f}) rotate(-90)"}, row_axis.title),
    ]  # fmt: skip
    for place, name in enumerate(rows):
        shapes.append(text(left - 10, _HEAT_TOP + _HIGH * (place + 0.5) + 4.5, name, size=13, anchor="end"))
    for place, name in enumerate(columns):
        x = left + step * (place + 0.5)
        shapes.append(text(x, bottom + 20, fitted(name, step - 4, 13), size=13, anchor="middle", title=name))
    outlines: list[Shape] = []
    for cell in cells:
        x, y = left + step * columns.index(cell.column), _HEAT_TOP + _HIGH * rows.index(cell.row)
        shapes += _cell(cell, x, y, step, low, high, less_is_better=less_is_better)
        for is_drawn, colour in ((cell.is_best, "text"), (cell.is_chosen, "prim")):
            if is_drawn:
                outlines += _outline(x, y, step, colour, inner=cell.is_best and colour == "prim")
    return Drawing(width, bottom + 30, label, (*shapes, *outlines))


def _cell(
    cell: HeatCell, x: float, y: float, step: float, low: float, high: float, *, less_is_better: bool
) -> list[Shape]:
    wide, high_px = step - _GAP, _HIGH - _GAP
    if cell.value is None:
        style = {"fill": "none", "stroke": "line", "stroke_dasharray": "3 3"}
        return [
            rect(x, y, wide, high_px, radius=4, title=f"{cell.row} / {cell.column}", **style),
            text(x + wide / 2, y + high_px / 2 + 5, "–", size=13, anchor="middle", fill="mute"),
        ]
    number = ramp_step(cell.value, low, high)
    number = _STEPS - 1 - number if less_is_better else number
    fill, ink = f"l{number}", f"l{number}k"
    if cell.is_off:
        fill, ink = "surf", "mute"
    title = f"{cell.row} / {cell.column}: {cell.shown}" + (f", {cell.note}" if cell.note else "")
    face = rect(x, y, wide, high_px, radius=4, title=title, fill=fill)
    middle, inside = x + wide / 2, {"pointer_events": "none", "fill": ink}
    from_edge = 10 if wide >= _ROOMY else 7
    # In a narrow cell the number gives way to the ring.
    end = x + wide - from_edge - _RING - 2 if cell.is_close else x + wide
    shown_middle = min(middle, end - text_width(cell.shown, 14.5) / 2)
    shapes = [
        replace(face, pick=cell.pick, is_picked=cell.is_chosen),
        text(shown_middle, y + 22, cell.shown, size=14.5, anchor="middle", **inside, font_weight="650"),
        text(middle, y + 39, cell.note, size=12, anchor="middle", **inside),
    ]
    if cell.is_close:
        ring = {"fill": "none", "stroke": ink, "stroke_width": "1.7", "pointer_events": "none"}
        shapes.append(circle(x + wide - from_edge, y + from_edge + 1, _RING, **ring))
    return shapes


def _outline(x: float, y: float, step: float, colour: str, *, inner: bool) -> list[Shape]:
    inset = 5.5 if inner else 1.0
    wide, high = step - _GAP - 2 * inset, _HIGH - _GAP - 2 * inset
    frame = f"M{x + inset:.1f} {y + inset:.1f}h{wide:.1f}v{high:.1f}h{-wide:.1f}Z"
    look = {"stroke_linejoin": "round", "pointer_events": "none"}
    return [path(frame, stroke=stroke, stroke_width=thick, **look) for stroke, thick in (("bg", "5"), (colour, "2.6"))]


_HEIGHT, _TOP, _BOTTOM = 232, 40, 26  # px


@dataclass(frozen=True)
class ParallelAxis:
    """An axis with the values of its lower and upper end, and how these are written. kept: the part from the first to
    the second value that a filter keeps, None for no filter."""

    title: str
    low: float
    high: float
    low_shown: str
    high_shown: str
    kept: tuple[float, float] | None = None


@dataclass(frozen=True)
class ParallelRun:
    """A run with its value on each axis, in the order of the axes; None: unknown there. pick: what a click on its line
    reports, "" for nothing."""

    name: str
    values: tuple[float | None, ...]
    is_kept: bool = False
    is_chosen: bool = False
    pick: str = ""


def parallel(axes: Sequence[ParallelAxis], runs: Sequence[ParallelRun], *, width: int, label: str) -> Drawing:
    """Return the axes side by side; runs that a filter keeps in colour, the chosen one thick with a dot on each
    axis."""
    margin = 34.0
    step = (width - 2 * margin) / max(1, len(axes) - 1)
    xs = [margin + step * place for place in range(len(axes))]
    shapes: list[Shape] = []
    has_long_titles = any(len(_title_lines(axis.title, step - 6)) > 1 for axis in axes)
    first_y, second_y, value_y = (10, 23, 36) if has_long_titles else (14, 14, 30)
    order = sorted(runs, key=lambda run: (run.is_chosen, run.is_kept))
    for run in order:
        shapes += _line(run, axes, xs)
    for x, axis in zip(xs, axes, strict=True):
        shapes.append(path(f"M{x:.1f} {_TOP}V{_HEIGHT - _BOTTOM}", stroke="mute", stroke_width="1.2"))
        for y, line in zip((first_y, second_y), _title_lines(axis.title, step - 6), strict=False):
            shapes.append(text(x, y, line, size=12.5, anchor="middle", title=axis.title, font_weight="650"))
        shapes.append(text(x, value_y, axis.high_shown, size=12, anchor="middle", fill="mute"))
        shapes.append(text(x, _HEIGHT - 8, axis.low_shown, size=12, anchor="middle", fill="mute"))
        if axis.kept is not None:
            ends = sorted(height_of(end, axis) for end in axis.kept)
            look = {"fill": "color-mix(in srgb,var(--lr-prim) 14%,transparent)", "stroke": "prim"}
            shapes.append(rect(x - 6, ends[0], 12, max(3.0, ends[1] - ends[0]), radius=3, **look))
    for run in order:
        if run.is_chosen:
            shapes += _dots(run, axes, xs)
    return Drawing(width, _HEIGHT, label, tuple(shapes))


def _title_lines(title: str, width: float) -> tuple[str, ...]:
    """Return the title in one line, or in two where it is wider; the second is cut to the width."""
    if text_width(title, 12.5) <= width or " " not in title:
        return (fitted(title, width, 12.5),)
    first, *rest = title.split()
    while len(rest) > 1 and text_width(f"{first} {rest[0]}", 12.5) <= width:
        first, *rest = f"{first} {rest[0]}", *rest[1:]
    return fitted(first, width, 12.5), fitted(" ".join(rest), width, 12.5)


def height_of(value: float, axis: ParallelAxis) -> float:
    """Return the pixel of a value on its axis, from the top; the middle where the axis has one value alone."""
    share = (value - axis.low) / (axis.high - axis.low) if axis.high > axis.low else 0.5
    return _HEIGHT - _BOTTOM - min(1.0, max(0.0, share)) * (_HEIGHT - _BOTTOM - _TOP)


def _line(run: ParallelRun, axes: Sequence[ParallelAxis], xs: Sequence[float]) -> list[Shape]:
    points = [
        (x, height_of(value, axis)) for x, value, axis in zip(xs, run.values, axes, strict=True) if value is not None
    ]
    if len(points) < 2:
        return []
    parts = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (x0, y0), (x1, y1) in pairwise(points):
        middle = (x0 + x1) / 2
        parts.append(f"C{middle:.1f} {y0:.1f} {middle:.1f} {y1:.1f} {x1:.1f} {y1:.1f}")
    colour, thick = ("prim", "3") if run.is_chosen else ("path", "1.6") if run.is_kept else ("line", "1.4")
    line = path("".join(parts), title=run.name, stroke=colour, stroke_width=thick)
    return [replace(line, pick=run.pick, is_picked=run.is_chosen)]


def _dots(run: ParallelRun, axes: Sequence[ParallelAxis], xs: Sequence[float]) -> list[Shape]:
    return [
        circle(x, height_of(value, axis), 5, fill="prim", stroke="bg", stroke_width="1.2")
        for x, value, axis in zip(xs, run.values, axes, strict=True)
        if value is not None
    ]
