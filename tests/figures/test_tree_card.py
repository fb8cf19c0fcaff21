"""Subtrees in cards: the same seed at the same place, counts in boxes, the way above the common ancestor."""

from dataclasses import replace

from leanrag_core.figures.tree_card import ROW, seed_places, tree_card
from leanrag_core.types.trace import Trace, TraceItem
from tests.comparing.test_sharing import A
from tests.small_index import small_index


def trace(*items: TraceItem) -> Trace:
    return replace(A, items=items, relations=())


def seed(name: str, row: int, rank: int, parent: str) -> TraceItem:
    return TraceItem(f"id-{name}", "entity", name, ("seed",), 0, row, rank=rank, parent=parent)


BEES = TraceItem("id-bees", "aggregated-entity", "bees", ("lca",), 1, 0)


def test_seeds_have_one_place_in_all_cards() -> None:
    first = trace(seed("queen", 0, 2, "id-bees"), seed("mite", 2, 1, "id-bees"))
    second = trace(seed("mite", 2, 1, "id-bees"), seed("honey", 1, 2, "id-bees"))
    assert seed_places([first, second]) == {"id-mite": 0, "id-queen": 1, "id-honey": 2}


def test_boxes_hold_the_entities_below_them_and_the_root_above_is_dotted() -> None:
    shown = trace(seed("queen", 0, 1, "id-bees"), seed("mite", 2, 2, "id-bees"), BEES)
    drawing = tree_card(shown, small_index(), seed_places([shown]), n_layers=4, width=206)
    assert drawing.height == 4 * ROW + 8
    texts = [shape.text for shape in drawing.shapes if shape.tag == "text"]
    assert texts[:3] == ["L0", "L1", "L2"]
    assert {"3", "6"} <= set(texts), "three entities below the bees, six below the root"
    assert any("stroke-dasharray" in shape.attributes["style"] for shape in drawing.shapes if shape.tag == "rect")


def test_many_seeds_are_counted_in_their_parent() -> None:
    shown = trace(*(seed(f"s{n}", 0, n + 1, "id-bees") for n in range(16)), BEES)
    drawing = tree_card(shown, small_index(), seed_places([shown]), n_layers=3, width=206)
    assert not [shape for shape in drawing.shapes if shape.tag == "circle"]
    assert "16" in [shape.text for shape in drawing.shapes]
