"""What a layered graph is drawn from: dots, lines and bands, with the widths that a plot may have.

x is a fraction of the plot's width, y is in pixels.
"""

from dataclasses import dataclass

from leanrag_core.figures.layered_lines import Line

NARROW, MEDIUM, WIDE = 300, 490, 640  # px of the plots that the browser chooses from


@dataclass(frozen=True)
class Dot:
    """A node as it is drawn. kind: dot, disc, box, double, tray, fold. layer: its band.

    x, y: its middle. x, width: fractions of the plot's width; y, height: px. line, room: which of two lines a seed's
    name is on, and the width it may take. names, more, names_y: of a tray, its best names, how many seeds follow, and
    where the names begin. colour: of its role, a name of the palette. filled: with that colour; else outlined.
    """

    id: str
    name: str
    role: str
    kind: str
    layer: int
    rank: int | None
    x: float
    y: float
    width: float
    height: float
    lit: bool
    about: str
    line: int = 0
    room: float = 0.0
    names: tuple[str, ...] = ()
    more: int = 0
    names_y: float = 0.0
    colour: str = ""
    filled: bool = False
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """A band: from top to bottom px, with its label and a second line of facts."""

    layer: int
    top: float
    bottom: float
    label: str
    facts: str


@dataclass(frozen=True)
class LayeredGraph:
    """All that the drawing needs. plot_px: the least width of the plot. height: px. n_seeds: in layer 0. trays: whether
    they are in trays. folded: nodes above layer 0 that a count stands for. hidden: relations that are not drawn."""

    nodes: tuple[Dot, ...]
    edges: tuple[Line, ...]
    rows: tuple[Row, ...]
    height: float
    plot_px: int = WIDE
    n_seeds: int = 0
    trays: bool = False
    folded: int = 0
    hidden: int = 0
