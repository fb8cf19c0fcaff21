"""Small multiples as one picture: a row of cards, each with its head, its drawing and what it costs and finds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from leanrag_core.figures.drawing import Drawing, Shape, rect, text, text_width

GAP, MARGIN = 22, 16
_HEAD, _FACT, _TITLE = 34, 19, 48  # px of a card's head, of a fact, of the title and the finding


@dataclass(frozen=True)
class Card:
    """A card as a picture. title, tag: of its head. facts: names and values below the drawing. is_used: it is the one
    in use."""

    title: str
    tag: str
    drawing: Drawing
    facts: tuple[tuple[str, str], ...]
    is_used: bool = False


def card_row(cards: Sequence[Card], *, title: str, finding: str) -> Drawing:
    """Return the cards beside each other, below the title and the finding, which are cut where they are too long."""
    card_width = max((card.drawing.width for card in cards), default=0)
    width = 2 * MARGIN + len(cards) * card_width + GAP * max(0, len(cards) - 1)
    below = _TITLE + _HEAD + max((card.drawing.height for card in cards), default=0)
    n_facts = max((len(card.facts) for card in cards), default=0)
    room = width - 2 * MARGIN
    shapes: list[Shape] = [
        text(MARGIN, 22, _cut(title, room, 14), size=14, fill="text", font_weight="600"),
        text(MARGIN, 41, _cut(finding, room, 12.5), size=12.5, fill="text"),
    ]
    for place, card in enumerate(cards):
        left = MARGIN + place * (card_width + GAP)
        edge, ink = ("prim", "prim") if card.is_used else ("line", "text")
        shapes.append(rect(left, _TITLE + 4, card_width, 4, radius=0, fill=edge))
        shapes.append(text(left, _TITLE + 25, card.title, size=13, fill=ink, font_weight="600"))
        if card.tag:
            shapes.append(text(left + card_width, _TITLE + 25, card.tag, size=11, anchor="end", fill="mute"))
        top = below - card.drawing.height
        shapes += [_moved(shape, left, top) for shape in card.drawing.shapes]
        for number, (name, value) in enumerate(card.facts):
            y = below + 18 + _FACT * number
            shapes.append(rect(left, y - 14, card_width, 1, radius=0, fill="line"))
            shapes.append(text(left, y, name, size=11.5, fill="mute"))
            shapes.append(text(left + card_width, y, value, size=11.5, anchor="end", fill="text", font_weight="600"))
    height = below + _FACT * n_facts + MARGIN
    return Drawing(width, height, f"{title}. {finding}", tuple(shapes))


def _moved(shape: Shape, x: float, y: float) -> Shape:
    return replace(shape, attributes={**shape.attributes, "transform": f"translate({x:g} {y:g})"}, pick="")


def _cut(words: str, room: float, size: float) -> str:
    if text_width(words, size) <= room:
        return words
    while words and text_width(f"{words}…", size) > room:
        words = words[:-1]
    return f"{words.rstrip()}…"
