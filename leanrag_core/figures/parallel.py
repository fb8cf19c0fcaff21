"""All runs as lines over parallel axes: what was set, and what came out."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from leanrag_core.figures.drawing import Drawing, Shape, circle, fitted, path, rect, text

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
    """A run with its value on each axis, in the order of the axes; None: unknown there."""

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
    order = sorted(runs, key=lambda run: (run.is_chosen, run.is_kept))
    for run in order:
        shapes += _line(run, axes, xs)
    for x, axis in zip(xs, axes, strict=True):
        shapes.append(path(f"M{x:.1f} {_TOP}V{_HEIGHT - _BOTTOM}", stroke="var(--lr-mute)", stroke_width="1.2"))
        short = fitted(axis.title, step - 6, 12.5)
        shapes.append(text(x, 14, short, size=12.5, anchor="middle", title=axis.title, font_weight="650"))
        shapes.append(text(x, 30, axis.high_shown, size=12, anchor="middle", fill="var(--lr-mute)"))
        shapes.append(text(x, _HEIGHT - 8, axis.low_shown, size=12, anchor="middle", fill="var(--lr-mute)"))
        if axis.kept is not None:
            ends = sorted(height_of(end, axis) for end in axis.kept)
            shapes.append(
                rect(
                    x - 6,
                    ends[0],
                    12,
                    max(3.0, ends[1] - ends[0]),
                    radius=3,
                    fill="color-mix(in srgb,var(--lr-prim) 14%,transparent)",
                    stroke="var(--lr-prim)",
                )
            )
    for run in order:
        if run.is_chosen:
            shapes += _dots(run, axes, xs)
    return Drawing(width, _HEIGHT, label, tuple(shapes))


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
    return [path("".join(parts), title=run.name, stroke=f"var(--lr-{colour})", stroke_width=thick)]


def _dots(run: ParallelRun, axes: Sequence[ParallelAxis], xs: Sequence[float]) -> list[Shape]:
    return [
        circle(x, height_of(value, axis), 5, fill="var(--lr-prim)", stroke="var(--lr-bg)", stroke_width="1.2")
        for x, value, axis in zip(xs, run.values, axes, strict=True)
        if value is not None
    ]
