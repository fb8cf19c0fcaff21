"""A drawing as a list of shapes: a page's script makes them with textContent, an exported file holds them as SVG. And
the axes of such drawings.
"""

import math
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from leanrag_core.figures.palette import palette
from leanrag_core.types.visible import escape, visible

Number = int | float
_TAGS = ("rect", "circle", "path", "text")
_STEPS = (1.0, 2.0, 5.0, 10.0)
_INKS = {name.removeprefix("--lr-"): f"var({name})" for name in palette(dark=False).variables()}


@dataclass(frozen=True)
class Shape:
    """An element of SVG. attributes: written by the program alone. text, title: what a reader sees of it, and its
    tooltip; they may come from documents. pick: what the page is told when a person picks the shape, "" where it cannot
    be picked; is_picked: it was picked before."""

    tag: str
    attributes: Mapping[str, str | Number]
    text: str = ""
    title: str = ""
    pick: str = ""
    is_picked: bool = False

    def __post_init__(self) -> None:
        if self.tag not in _TAGS:
            raise ValueError(self.tag)


@dataclass(frozen=True)
class Drawing:
    """Shapes on a ground of width times height pixels. label: what it shows, for those who do not see it."""

    width: int
    height: int
    label: str
    shapes: tuple[Shape, ...] = field(default=())

    def with_selected(self, picks: Collection[str]) -> "Drawing":
        """Return the drawing with those of its shapes selected that report one of the picks, and the others that can
        be picked faded; unchanged where nothing is selected."""
        if not picks:
            return self
        return replace(self, shapes=tuple(_marked(shape, picks) if shape.pick else shape for shape in self.shapes))

    def as_svg(self) -> str:
        """Return the drawing as an element of an HTML page."""
        body = "".join(map(_element, self.shapes))
        return (
            f'<svg viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}" role="img" '
            f'aria-label="{escape(self.label)}">{body}</svg>'
        )


def _marked(shape: Shape, picks: Collection[str]) -> Shape:
    if shape.pick in picks:
        return replace(shape, is_picked=True)
    faded = {**shape.attributes, "style": f"{shape.attributes.get('style', '')};opacity:.22"}
    return replace(shape, attributes=faded, is_picked=False)


def _element(shape: Shape) -> str:
    attributes = "".join(f' {name}="{escape(str(value))}"' for name, value in shape.attributes.items())
    title = f"<title>{escape(shape.title)}</title>" if shape.title else ""
    return f"<{shape.tag}{attributes}>{title}{escape(shape.text)}</{shape.tag}>"


def rect(
    x: Number, y: Number, width: Number, height: Number, *, radius: Number = 2, title: str = "", **style: str
) -> Shape:
    """Return a rectangle. style: properties of CSS, _ for -; a colour by its name in the palette."""
    place = {"x": _short(x), "y": _short(y), "width": _short(max(width, 0)), "height": _short(max(height, 0))}
    return Shape("rect", {**place, "rx": _short(radius), **_style(style)}, title=title)


def circle(x: Number, y: Number, radius: Number, *, title: str = "", **style: str) -> Shape:
    """Return a circle."""
    return Shape("circle", {"cx": _short(x), "cy": _short(y), "r": _short(radius), **_style(style)}, title=title)


def path(d: str, *, title: str = "", **style: str) -> Shape:
    """Return a path of SVG's path language; not filled unless the style says so."""
    return Shape("path", {"d": d, **_style({"fill": "none", **style})}, title=title)


def stem(upper: tuple[float, float], lower: tuple[float, float], gap: float = 0.0) -> str:
    """Return a curve from one place to a lower one, vertical at both, as path() takes it. gap: px that it leaves at
    each."""
    (x0, y0), (x1, y1) = upper, lower
    middle = (y0 + y1) / 2
    return f"M{x0:.1f} {y0 + gap:.1f}C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1 - gap:.1f}"


def text(
    x: Number, y: Number, content: str, *, size: Number = 11, anchor: str = "start", title: str = "", **style: str
) -> Shape:
    """Return a line of text."""
    place = {"x": _short(x), "y": _short(y), "font-size": _short(size), "text-anchor": anchor}
    return Shape("text", {**place, **_style({"fill": "var(--lr-text)", **style})}, visible(content), title)


def marker(letter: str, x: Number, y: Number, size: Number, **style: str) -> Shape:
    """Return the sign of a column: A a disc, B a diamond, C a triangle, D a square; others a ring."""
    fill = {"fill": column_colour(letter), **style}
    if letter == "A":
        return circle(x, y, size, **fill)
    wide = size * 1.2
    paths = {
        "B": f"M{_short(x)} {_short(y - wide)}L{_short(x + wide)} {_short(y)}L{_short(x)} {_short(y + wide)}"
        f"L{_short(x - wide)} {_short(y)}Z",
        "C": f"M{_short(x)} {_short(y - wide)}L{_short(x + wide)} {_short(y + size)}L{_short(x - wide)} "
        f"{_short(y + size)}Z",
        "D": f"M{_short(x - size)} {_short(y - size)}h{_short(2 * size)}v{_short(2 * size)}h{_short(-2 * size)}Z",
    }
    if letter in paths:
        return path(paths[letter], **fill)
    return circle(x, y, size, fill="bg", stroke="base", stroke_width="2")


def column_colour(letter: str) -> str:
    """Return the colour of a column, as CSS writes it."""
    return f"var(--lr-column-{letter.lower()})" if letter in ("A", "B", "C", "D") else "var(--lr-base)"


DASHES = {"A": "", "B": "8 4", "C": "2 3", "D": "8 3 2 3"}  # of the columns' lines


def fitted(content: str, width: Number, size: Number) -> str:
    """Return the text, cut to about that many pixels with an ellipsis. Wide characters of CJK count double."""
    room, kept = float(width), ""
    for character in content:
        room -= text_width(character, size)
        if room < 0:
            return kept[:-1].rstrip() + "…"
        kept += character
    return kept


def text_width(content: str, size: Number) -> float:
    """Return about how wide the text is in pixels."""
    return sum(size * (1.0 if unicodedata.east_asian_width(character) in "WF" else 0.52) for character in content)


def spread(middles: Sequence[float], widths: Sequence[float], left: float, right: float, *, gap: float) -> list[float]:
    """Return the left edges of boxes between two bounds, none over another, each as near to its middle as that allows.

    middles, widths: of each box, from left to right. gap: between two boxes.
    """
    edges: list[float] = []
    for middle, width in zip(middles, widths, strict=True):
        least = edges[-1] + widths[len(edges) - 1] + gap if edges else left
        edges.append(max(least, middle - width / 2))
    for place in reversed(range(len(edges))):  # pushed back from the right bound
        edges[place] = min(edges[place], right - widths[place])
        right = edges[place] - gap
    return edges


def boxes_overlap(box: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    """Tell whether two boxes overlap. Each: left, top, right, bottom, px."""
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


def plain_values(drawings: Sequence[Drawing]) -> list[dict[str, object]]:
    """Return the drawings as JSON values for the page's script."""
    return [
        {
            "width": drawing.width,
            "height": drawing.height,
            "label": visible(drawing.label),
            "shapes": [
                {
                    "tag": shape.tag,
                    "attributes": dict(shape.attributes),
                    "text": shape.text,
                    "title": visible(shape.title),
                    "pick": shape.pick,
                    "isPicked": shape.is_picked,
                }
                for shape in drawing.shapes
            ],
        }
        for drawing in drawings
    ]


def _style(style: Mapping[str, str]) -> dict[str, str]:
    return {"style": ";".join(f"{name.replace('_', '-')}:{_INKS.get(value, value)}" for name, value in style.items())}


def _short(number: Number) -> Number:
    return round(number, 1)


@dataclass(frozen=True)
class Axis:
    """Values from low to high along pixels from start to end. ticks: round values between the ends."""

    low: float
    high: float
    start: Number
    end: Number
    ticks: tuple[float, ...] = ()

    def at(self, value: float) -> float:
        """Return the pixel of a value; one beyond an end lies at that end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Tell whether the value lies between the ends."""
        return self.low <= value <= self.high


def round_axis(values: Iterable[float], start: Number, end: Number, *, most_ticks: int = 6) -> Axis:
    """Return the shortest axis with round ends that holds all values. Values of one height get a step around them."""
    kept = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(kept), max(kept)
    if high - low < 1e-9:
        pad = abs(low) * 0.1 or 0.1
        low, high = low - pad, high + pad
    step = _step((high - low) / max(1, most_ticks - 1))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(place * step, 10) for place in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], start, end, ticks)


def _step(least: float) -> float:
    """Return the smallest round number that is not below."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in _STEPS if step * power >= least * (1 - 1e-9))


_FIRST_STRONG, _POP = "\u2068", "\u2069"


def isolated(name: str) -> str:
    """Return the name as it is written in plain text: one written from the right cannot reorder the figures around it.

    Names from left to right stay as they are. In HTML `<bdi>` does the same.
    """
    if not name.isascii() and any(unicodedata.bidirectional(sign) in ("R", "AL", "AN") for sign in name):
        return f"{_FIRST_STRONG}{name}{_POP}"
    return name
