"""The subtree of one retrieval in a narrow card."""

from itertools import pairwise

from leanrag_core.figures.tree_card import seed_places, tree_card
from leanrag_core.types.index import Index
from tests.figures.small_trace import node, trace_of


def test_trays_of_many_seeds_lie_beside_each_other_and_within_the_card(index: Index) -> None:
    parents = [node(f"parent-{n}", 1, "root") for n in range(14)]
    seeds = [node(f"seed-{n}", 0, f"parent-{n // 2}", rank=n + 1) for n in range(28)]
    trace = trace_of([node("root", 2, role="lca"), *parents, *seeds])
    for width in (148, 206, 480):
        drawing = tree_card(trace, index, seed_places([trace]), n_layers=3, width=width)
        trays = sorted(
            (float(shape.attributes["x"]), float(shape.attributes["width"]))
            for shape in drawing.shapes
            if shape.tag == "rect" and "var(--lr-seed)" in str(shape.attributes.get("style"))
        )
        assert len(trays) == 14, width
        assert all(left + size <= right for (left, size), (right, _) in pairwise(trays)), width
        assert trays[-1][0] + trays[-1][1] <= width
        numbers = [shape for shape in drawing.shapes if shape.text == "2" and "lr-bg" in str(shape.attributes)]
        assert len(numbers) == 14, "a digit has room in the narrowest card"
