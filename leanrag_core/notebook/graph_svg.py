"""The layered subgraph of a trace as SVG that needs no script: the layout of figures.layered, everything lit."""

from leanrag_core.figures.html import html
from leanrag_core.figures.layered import layered_graph
from leanrag_core.figures.layered_places import Dot, Line, Row
from leanrag_core.figures.palette import Palette, known_colour, palette
from leanrag_core.types.trace import Trace

_LEFT, _WIDTH = 84, 900  # px: room for the names of the bands, and of the whole
_CHARACTER = 6.4  # px of one at 12 px
_LINES, _STEP = 3, 14  # of a name: at most so many lines, and px from one to the next
_MOST_STRENGTHS = 8  # written on arcs, the strongest first


def text(form: str, *values: object) -> str:
    """Fill the form with the values as text."""
    return str(html(form, *values))


def svg(width: int, height: float, label: str) -> str:
    """Return the beginning of a drawing of width by height px. label: what it shows, for those who do not see it."""
    form = '<svg viewBox="0 0 {} {:.0f}" width="{}" role="img" aria-label="{}">'
    return text(form, width, height, width, label)


def graph_svg(trace: Trace) -> str:
    """Return the drawing; nothing where the trace has no nodes."""
    graph = layered_graph(trace, plot_px=_WIDTH - _LEFT)
    if not graph.nodes:
        return ""
    colours = palette(dark=False)
    parts = [svg(_WIDTH, graph.height, f"{trace.question}: {', '.join(dot.name for dot in graph.nodes[:10])}")]
    parts += [_band(row, place, colours) for place, row in enumerate(graph.rows)]
    parts += [_line(line, colours) for line in graph.edges if line.lit]
    parts += [_dot(dot, colours) for dot in graph.nodes]
    arcs = sorted((line for line in graph.edges if line.lit and line.pill), key=lambda line: -line.strength)
    parts += [_strength(line, colours) for line in arcs[:_MOST_STRENGTHS]]
    return "".join(parts) + "</svg>"


def _x(share: float) -> float:
    return _LEFT + share * (_WIDTH - _LEFT)


def _band(row: Row, place: int, colours: Palette) -> str:
    fill = colours["surf"] if place % 2 == 0 else colours["bg"]
    form = '<rect x="0" y="{:.0f}" width="{}" height="{:.0f}" fill="{}"/>'
    ground = text(form, row.top, _WIDTH, row.bottom - row.top, fill)
    form = '<text x="8" y="{:.0f}" font-size="12" font-weight="{}" fill="{}">{}</text>'
    return (
        ground
        + text(form, row.top + 16, 600, colours["text"], row.label)
        + text(form, row.top + 31, 400, colours["mute"], row.facts)
    )


def _line(line: Line, colours: Palette) -> str:
    start, *others = (f"{_x(x):.1f} {y:.1f}" for x, y in line.points)
    d = f"M{start}{'C' if len(line.points) == 4 else 'Q'}{' '.join(others)}"
    dashes = {"arc": "7 5", "dotted": "1.5 4"}.get(line.shape, "")
    width = min(4.5, 1.5 + 0.3 * line.strength) if line.pill else 1.4
    form = '<path d="{}" fill="none" stroke="{}" stroke-width="{:.1f}" stroke-dasharray="{}"><title>{}</title></path>'
    return text(form, d, colours[known_colour(line.colour)], width, dashes, line.about)


def _strength(line: Line, colours: Palette) -> str:
    """Draw lambda in the middle of its arc."""
    (x1, y1), (xc, yc), (x2, y2) = line.points
    x, y = _x((x1 + 2 * xc + x2) / 4), (y1 + 2 * yc + y2) / 4
    form = (
        '<text x="{:.1f}" y="{:.1f}" font-size="11" font-weight="650" text-anchor="middle" fill="{}" stroke="{}" '
        'stroke-width="3" paint-order="stroke">λ {:.0f}</text>'
    )
    return text(form, x, y + 4, colours["text"], colours["bg"], line.strength)


def _dot(dot: Dot, colours: Palette) -> str:
    colour, x = colours[known_colour(dot.colour)], _x(dot.x)
    about = text("<title>{}</title>", dot.about)
    if dot.kind in ("disc", "dot"):
        radius = dot.height / 2 or 12
        mark = text('<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" fill="{}"/>', x, dot.y, radius, colour)
        rank = "" if dot.rank is None else str(dot.rank)
        form = '<text x="{:.1f}" y="{:.1f}" font-size="11" font-weight="650" text-anchor="middle" fill="{}">{}</text>'
        number = text(form, x, dot.y + 4, colours["bg"], rank)
        room, below = dot.room * (_WIDTH - _LEFT) or 90, dot.y + radius + 15 + 28 * dot.line
        name = "" if dot.kind == "disc" else _lines(dot.name, x, below, room, colours["text"])
        return f"<g>{about}{mark}{number}{name}</g>"
    width, height = dot.width * (_WIDTH - _LEFT), dot.height
    filled = dot.kind == "double" or dot.filled
    form = (
        '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="6" fill="{}" stroke="{}" stroke-width="1.5"/>'
    )
    ground = colour if filled else colours["bg"]
    box = text(form, x - width / 2, dot.y - height / 2, width, height, ground, colour)
    ink = colours["bg"] if filled else colours["text"]
    if dot.names:
        more = (f"+{dot.more}",) if dot.more else ()
        drawn = "".join(
            _lines(name, x, dot.names_y + 11 + 15 * dot.name_lines * place, width, ink, most=dot.name_lines)
            for place, name in enumerate((*dot.names, *more))
        )
    else:
        drawn = _lines(dot.name, x, dot.y + 4, width - 8, ink, is_centred=True)
    return f"<g>{about}{box}{drawn}</g>"


def _lines(
    name: str, x: float, y: float, room: float, ink: str, *, most: int = _LINES, is_centred: bool = False
) -> str:
    """Return the name in lines of that width, the last one cut, from y downwards or around it."""
    each = max(int(room / _CHARACTER), 6)
    lines: list[str] = []
    for word in name.split():
        if lines and len(lines[-1]) + len(word) < each:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    if len(lines) > most:
        lines = [*lines[: most - 1], f"{lines[most - 1][: each - 1]}…"]
    top = y - _STEP / 2 * (len(lines) - 1) if is_centred else y
    spans = "".join(
        text('<tspan x="{:.1f}" dy="{}">{}</tspan>', x, 0 if place == 0 else _STEP, line[: each + 2])
        for place, line in enumerate(lines)
    )
    return text('<text y="{:.1f}" font-size="12" text-anchor="middle" fill="{}">', top, ink) + spans + "</text>"
