"""Every question as a dot at the difference of two runs, dots of one place piled up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from leanrag_core.figures.drawing import Drawing, Shape, circle, path, round_axis, text

_TOP, _PILE, _BOTTOM, _SIDE = 10, 132, 26, 16  # px
_RADII = (5.5, 4.6, 3.8, 3.0, 2.4, 1.9, 1.5)


@dataclass(frozen=True)
class QuestionDot:
    """A question. change: of its score; gain: the same, negative where it is worse whichever way the measure goes.
    title: in words; pick: what a click on the dot reports."""

    change: float
    gain: float
    title: str
    pick: str


def question_dots(dots: Sequence[QuestionDot], *, width: int, label: str, tick: Callable[[float], str]) -> Drawing:
    """Return the dots in piles, the better ones filled, the worse ones rings, those without a difference grey.

    Dots are as large as the highest pile lets them be. tick: how a difference is written.
    """
    axis = round_axis(
        [0.0, *(dot.change for dot in dots)], _SIDE, width - _SIDE, most_ticks=max(3, min(7, width // 80))
    )
    base = _TOP + _PILE
    zero = axis.at(0.0)
    radius, piles = _piles([axis.at(dot.change) - zero for dot in dots])
    shapes: list[Shape] = [path(f"M{_SIDE} {base}H{width - _SIDE}", stroke="line", stroke_width="1")]
    shapes.append(path(f"M{zero:.1f} {_TOP}V{base + 4}", stroke="mute", stroke_width="1.2"))
    for value in axis.ticks:
        anchor = "end" if axis.at(value) > width - 30 else "start" if axis.at(value) < 30 else "middle"
        shapes.append(text(axis.at(value), base + 18, tick(value), size=12, anchor=anchor, fill="mute"))
    step = min(2 * radius + 1.2, _PILE / max(map(len, piles.values()), default=1))
    for across, pile in piles.items():
        for height, place in enumerate(pile):
            shapes.append(_dot(dots[place], zero + across, base - 3 - radius - step * height, radius))
    return Drawing(width, base + _BOTTOM, label, tuple(shapes))


def _piles(places: Sequence[float]) -> tuple[float, dict[float, list[int]]]:
    """Return the largest radius at which the highest pile fits, and by pixel from zero on the dots of each pile."""
    piles: dict[float, list[int]] = {}
    for radius in _RADII:
        wide = 2 * radius + 1.2
        piles = {}
        for number, place in enumerate(places):
            piles.setdefault(round(round(place / wide) * wide, 1), []).append(number)
        if max(map(len, piles.values()), default=0) * wide <= _PILE:
            return radius, piles
    return _RADII[-1], piles


def _dot(dot: QuestionDot, x: float, y: float, radius: float) -> Shape:
    style = {"fill": "tree"}
    if dot.gain > 0:
        style = {"fill": "entered"}
    elif dot.gain < 0:
        style = {"fill": "bg", "stroke": "left", "stroke_width": "2"}
        radius = max(1.0, radius - 0.8)
    return replace(circle(x, y, radius, title=dot.title, **style), pick=dot.pick)
