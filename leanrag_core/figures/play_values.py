"""A play for the scripts: as JSON values, short enough to be sent with every step of a slider, and as a file that holds
values and scripts.

Lists of records are columns, ids and titles are places in one list of strings, and of a curve only its ends are held;
scripts/play_values.js makes records of them again.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from leanrag_core.figures.html import html, html_file
from leanrag_core.figures.layered_places import LayeredGraph, Point
from leanrag_core.figures.play import Play, play, play_words
from leanrag_core.figures.play_cards import Cards
from leanrag_core.figures.scripts import PLAY, scripts, styles
from leanrag_core.messages.catalog import ENGLISH
from leanrag_core.types.trace import Trace
from leanrag_core.types.visible import visible_values

_ITEM = (
    *("id", "name", "about", "kind", "role", "layer", "rank", "score", "parent", "text", "mark", "place"),
    *("n", "taken", "change", "is_card"),
)
_NODE = (
    *("id", "role", "kind", "rank", "x", "y", "width", "height", "line", "room", "names", "more", "names_y"),
    *("name_lines", "colour", "filled", "members"),
)
_EDGE = ("id", "source", "target", "kind", "colour", "shape", "points", "pill")
_CARD = ("id", "x", "y", "width", "height", "more", "members")
_STRINGS = frozenset(("id", "role", "kind", "colour", "shape", "source", "target", "card", "parent", "change"))
_STRING_LISTS = frozenset(("members", "items", "relations", "focus"))
_FILE_STYLE = (
    "body{margin:0;background:var(--lr-bg);color:var(--lr-text);font-family:'Source Sans','Source Sans Pro',system-ui,"
    "sans-serif;font-size:17px}h1{font:500 1.35rem/1.4 'Source Serif','Source Serif Pro',Georgia,serif;margin:0 0 1rem;"
    "overflow-wrap:anywhere}.page{max-width:1160px;margin:0 auto;padding:1.6rem 1rem}"
)


def play_page(trace: Trace, *, language: str = ENGLISH) -> str:
    """Return a play as an HTML file, which can be stepped through without a server. It begins at the first frame."""
    shown = play(trace, language=language)
    start = "playRetrieval(document.querySelector('main'),values.play,values.words,{start:values.start});"
    return html_file(
        html('<div class="page"><h1 dir="auto">{}</h1><main></main></div>', trace.question),
        title=trace.question,
        language=language,
        styles=styles(PLAY) + _FILE_STYLE,
        script=f"{scripts(PLAY)}\n{start}",
        values={"play": play_values(shown), "words": play_words(language), "start": f"{shown.segments[0].name}.1"},
    )


def play_values(play: Play) -> dict[str, Any]:
    """Return what playRetrieval() of the scripts takes."""
    strings = _Strings()
    table = strings.table
    frames = ("step", "lead", "rest", "items", "relations", "focus", "tokens")
    values = {
        "question": play.question,
        "items": table(play.items, _ITEM),
        "lines": table([{"id": id_, "about": about} for id_, about in play.lines.items()], ("id", "about")),
        "layouts": [_layout(graph, strings) for graph in play.layouts],
        "cards": [_cards(cards, strings) for cards in play.cards],
        "frames": table(play.frames, frames),
        "segments": table(play.segments, ("name", "title", "count", "first", "last")),
        "sections": table(play.sections, ("letter", "title", "colour", "tokens", "budget", "note")),
        "signs": table(play.signs, ("title", "shape", "colour")),
        "holding": table([{"id": id_, "items": ids} for id_, ids in play.holding.items()], ("id", "items")),
        "spans": table(play.spans, ("id", "layer", "left", "right", "colour")),
        "notes": list(play.notes),
        "layers": list(play.layers),
        "n_anchors": play.n_anchors,
        "budget": play.budget,
        "entered": strings.places(play.entered),
        "left": strings.places(play.left),
        "marks": table([{"id": id_, "mark": mark} for id_, mark in play.marks.items()], ("id", "mark")),
    }
    shown: dict[str, Any] = visible_values({**values, "strings": strings.listed})
    return shown


class _Strings:
    """Strings in the order of their first use; a record names them by their place."""

    def __init__(self) -> None:
        self.place_of: dict[str, int] = {}

    @property
    def listed(self) -> list[str]:
        """Return all of them."""
        return list(self.place_of)

    def places(self, texts: Sequence[str]) -> list[int]:
        """Return the places of those strings."""
        return [self.place_of.setdefault(text, len(self.place_of)) for text in texts]

    def table(self, records: Sequence[Any], names: Sequence[str]) -> dict[str, list[Any]]:
        """Return a column for each of those names that some record has a value for. records: dataclasses or
        mappings."""
        columns = {}
        for name in names:
            column = [self._value(name, _of(record, name)) for record in records]
            if any(value is not None for value in column):
                columns[name] = column
        return columns

    def _value(self, name: str, value: Any) -> Any:
        if value is None or value == "" or value == ():
            return None
        if name in _STRINGS:
            return self.places((value,))[0]
        if name in _STRING_LISTS:
            return self.places(value)
        if name == "points":
            return _ends(value)
        return int(value) if isinstance(value, bool) else list(value) if isinstance(value, tuple) else value


def _of(record: Any, name: str) -> Any:
    return record[name] if isinstance(record, Mapping) else getattr(record, name)


def _layout(graph: LayeredGraph, strings: _Strings) -> dict[str, Any]:
    """Return a layout. An arc's strength is sent where it may be written on it; names of nodes are those of the
    items."""
    edges = strings.table(graph.edges, _EDGE)
    return {
        "nodes": strings.table(graph.nodes, _NODE),
        "edges": edges | {"strength": [round(edge.strength, 2) if edge.pill else None for edge in graph.edges]},
        "rows": strings.table(graph.rows, ("layer", "top", "bottom", "label", "facts")),
        "height": graph.height,
        "plot_px": graph.plot_px,
        "trays": graph.trays,
    }


def _cards(cards: Cards, strings: _Strings) -> dict[str, Any]:
    return {
        "cards": strings.table(cards.cards, _CARD),
        "threads": strings.table(cards.threads, ("source", "card", "points", "n")),
        "top": cards.top,
        "bottom": cards.bottom,
        "label": cards.label,
        "facts": cards.facts,
    }


def _ends(points: Sequence[Point]) -> list[float]:
    """Return x and y of both ends, then the height of a curve's middle: the rest of a link or a curve follows from
    these."""
    (x1, y1), (_, middle), (x2, y2) = points[0], points[1], points[-1]
    ends = [round(x1, 4), round(y1, 1), round(x2, 4), round(y2, 1)]
    return ends if len(points) == 4 else [*ends, round(middle, 1)]
