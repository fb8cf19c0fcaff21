"""Passages that relations lead to are drawn below the layers, with a line from each entity that leads to them."""

from leanrag_core.figures.layered import layered_graph
from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.types.index import Index
from tests.retrieval.tools import TOOLS
from tests.small_index import unit


def test_lines_of_a_walk_run_from_entities_down_to_their_passages(index: Index) -> None:
    query = Query("what?", unit([[1, 0.1, 0, 0]])[0])
    trace = strategy("leanrag_walk", {"top_n": 2, "top_c": 2}).retrieve(query, index, TOOLS)
    graph = layered_graph(trace)
    dots = {dot.id: dot for dot in graph.nodes}
    assert [row.layer for row in graph.rows] == [1, 0, -1]
    assert {dot.name for dot in graph.nodes if dot.layer == -1} == {"Document 0"}
    mass = [line for line in graph.edges if line.kind == "mass"]
    assert {(line.source, line.target) for line in mass} == {
        ("id-queen", "chunk-0"),
        ("id-honey", "chunk-0"),
        ("id-honey", "chunk-1"),
        ("id-mite", "chunk-1"),
    }
    for line in mass:
        assert line.points[0][1] < line.points[-1][1] <= dots[line.target].y


def test_lines_begin_at_the_tray_of_an_entity_without_a_place_of_its_own(index: Index) -> None:
    query = Query("what?", unit([[1, 0.1, 0, 0]])[0])
    trace = strategy("leanrag_walk", {"top_n": 6, "top_c": 4}).retrieve(query, index, TOOLS)
    graph = layered_graph(trace, plot_px=60)
    assert graph.trays
    assert [line for line in graph.edges if line.kind == "mass"]
