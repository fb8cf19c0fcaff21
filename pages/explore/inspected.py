"""What the inspector's component draws: a head, tabs of blocks, and the line that says what made it."""

from collections.abc import Sequence
from typing import Any

from leanrag_core.figures.palette import known_colour
from leanrag_core.figures.passages import Piece
from leanrag_core.queries.hits import Mark
from pages.common.messages import say

Values = dict[str, Any]
DESCRIPTION = 260  # characters of a description in a list; the whole is one click away


def tab(key: str, title: str, blocks: Sequence[Values], count: int | None = None) -> Values:
    """A tab. key: stays the same in every language, so that a tab stays open."""
    return {"key": key, "title": title, "count": "" if count is None else f"{count:,}", "blocks": list(blocks)}


def text(body: str, *, muted: bool = False) -> Values:
    """A paragraph to read. muted: a remark of ours."""
    return {"kind": "text", "text": body, "muted": muted}


def label(title: str, note: str = "") -> Values:
    """A small heading."""
    return {"kind": "label", "text": title, "note": note}


def runs(parts: Sequence[Values]) -> Values:
    """A line of text in parts, some of which lead on."""
    return {"kind": "runs", "parts": list(parts)}


def run(body: str, *, do: str = "", id_: str = "", strong: bool = False) -> Values:
    """A part of a line. do: what a click does, with that id."""
    return {"text": body, "do": do, "id": id_, "strong": strong}


def marks(cited: Sequence[Mark]) -> list[Values]:
    """Citation marks as parts of a line."""
    return [{"mark": mark.name, "colour": known_colour(mark.colour)} for mark in cited]


def finding(summary: str, explanation: str) -> Values:
    """A finding of a summary."""
    return {"kind": "finding", "summary": summary, "text": explanation}


def rows(listed: Sequence[Values], *, note: str = "", more: str = "", more_id: str = "") -> Values:
    """A list whose rows lead on or unfold. more: text of the button that lists more of them."""
    return {"kind": "rows", "rows": list(listed), "note": note, "more": more, "moreId": more_id}


def row(
    name: str,
    *,
    do: str,
    id_: str,
    layer: int | None = None,
    sub: str = "",
    value: str = "",
    bar: float | None = None,
    unfolds: Sequence[Values] = (),
) -> Values:
    """A row of a list. bar: 0 to 1. unfolds: blocks that a click shows below it; the row itself then leads on from
    there."""
    return {
        "name": name,
        "do": do,
        "id": id_,
        "layer": layer,
        "sub": sub,
        "value": value,
        "bar": bar,
        "unfolds": list(unfolds),
    }


def passage(title: str, sub: str, parts: Sequence[Piece], *, id_: str, row_number: int) -> Values:
    """A piece of a chunk with the mentions marked; it opens in its document, and the chunk itself can be inspected."""
    pieces = [{"text": piece.text, "marked": "name" in piece.marks} for piece in parts]
    return {"kind": "passage", "title": title, "sub": sub, "pieces": pieces, "id": id_, "row": row_number}


def shortened(body: str, most: int = DESCRIPTION) -> str:
    """The beginning of a long text."""
    return body if len(body) <= most else f"{body[: most - 1].rstrip()}…"


def count_note(shown: int, total: int, order: str) -> str:
    """What is said above a list that does not hold all; nothing above one that does."""
    return say(f"explore.inspect.first.{order}", shown=shown, rest=total - shown) if shown < total else ""
