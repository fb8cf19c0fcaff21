"""Three layers whose places are worked out by hand, and random trees.

farm (the LCA)
bees          fields
queen honey   rape
"""

import random
from dataclasses import replace
from itertools import combinations

import pytest

from leanrag_core.figures.layered import MOST_NAMES, MOST_SEEDS, LayeredGraph, layered_graph
from leanrag_core.types.trace import Trace, TraceNode, TraceStep
from tests.figures.small_trace import node, relation, trace_of

FARM = node("farm", 2, role="lca")
NODES = [
    node("queen", 0, "bees", rank=1),
    node("honey", 0, "bees", rank=3),
    node("rape", 0, "fields", rank=2),
    node("bees", 1, "farm"),
    node("fields", 1, "farm"),
    FARM,
]
RELATIONS = [
    relation("queen", "bees", 0),
    relation("bees", "farm", 1),
    relation("queen", "rape", 0, "base", 3.0),
    relation("bees", "fields", 1, "inter-cluster", 4.0),
]
STEPS = [
    TraceStep("seeds", "Three seeds.", ("queen", "honey", "rape"), ("queen>rape",)),
    TraceStep("climb", "Up.", ("bees", "fields"), ("queen>bees",)),
    TraceStep("lca", "They meet.", ("farm",)),
]
SIZES = [6, 2, 1]


@pytest.fixture
def trace() -> Trace:
    return trace_of(NODES, RELATIONS, lca=FARM, steps=STEPS)


def places(graph: LayeredGraph) -> dict[str, tuple[float, float, float]]:
    return {dot.id: (dot.x, dot.y, dot.width) for dot in graph.nodes}


def test_rows_go_from_the_top_layer_down_to_the_seeds(trace: Trace) -> None:
    graph = layered_graph(trace, SIZES)
    assert [(row.layer, row.top, row.bottom) for row in graph.rows] == [(2, 0, 72), (1, 72, 159), (0, 159, 287)]
    assert graph.height == 287
    assert {dot.id: dot.y for dot in graph.nodes} == {
        "farm": 37,
        "bees": 124,
        "fields": 124,
        "queen": 199,
        "honey": 199,
        "rape": 199,
    }


def test_a_row_says_how_many_of_its_layer_are_drawn(trace: Trace) -> None:
    rows = layered_graph(trace, [1234, 2, 1]).rows
    assert [(row.label, row.facts) for row in rows] == [
        ("Layer 2", "LCA"),
        ("Layer 1", "2 of 2"),
        ("Layer 0", "3 of 1,234"),
    ]


def test_a_parent_stands_above_the_middle_of_its_children(trace: Trace) -> None:
    # bees is 2 seeds wide, fields 1.5 boxes, so the whole is 3.5 units.
    x = {dot.id: dot.x for dot in layered_graph(trace, SIZES).nodes}
    assert x["queen"] == pytest.approx(0.5 / 3.5, abs=1e-5)
    assert x["honey"] == pytest.approx(1.5 / 3.5, abs=1e-5)
    assert x["bees"] == pytest.approx(1.0 / 3.5, abs=1e-5)
    assert x["rape"] == x["fields"] == pytest.approx(2.75 / 3.5, abs=1e-5)
    assert x["farm"] == pytest.approx((x["bees"] + x["fields"]) / 2, abs=1e-5)


def test_places_are_the_same_in_every_step_and_for_every_order_of_the_nodes(trace: Trace) -> None:
    expected = places(layered_graph(trace, SIZES))
    for step in range(len(STEPS) + 1):
        assert places(layered_graph(trace, SIZES, step)) == expected
    for seed in range(5):
        shuffled = random.Random(seed).sample(NODES, len(NODES))
        assert places(layered_graph(replace(trace, nodes=tuple(shuffled)), SIZES)) == expected


def random_tree(seed: int) -> list[TraceNode]:
    """One root, 1 to 12 nodes below it, 1 to 30 seeds; some seeds stand in layer 1 without children."""
    rng = random.Random(seed)
    middle, n_seeds = rng.randint(1, 12), rng.randint(1, 30)
    seeds = [node(f"s{n}", 0, f"m{rng.randrange(middle)}", rank=n + 1) for n in range(n_seeds)]
    held = {one.parent_id for one in seeds}
    inner = [
        node(f"m{n}", 1, "root", rank=None if f"m{n}" in held else n_seeds + n + 1, role="") for n in range(middle)
    ]
    return [*seeds, *inner, node("root", 2, role="lca")]


@pytest.mark.parametrize("seed", range(25))
def test_no_two_nodes_of_a_row_overlap(seed: int) -> None:
    nodes = random_tree(seed)
    graph = layered_graph(trace_of(nodes, lca=nodes[-1]), [40, 12, 1])
    assert len(graph.nodes) == len(nodes)
    for left, right in combinations(sorted(graph.nodes, key=lambda dot: dot.x), 2):
        if left.y != right.y:
            continue
        apart = right.x - left.x
        assert apart > (left.width + right.width) / 2 if left.layer else apart > 0.9 / 42, (left.id, right.id)
    bands = {row.layer: row for row in graph.rows}
    for dot in graph.nodes:
        assert 0 < dot.x < 1
        assert dot.x - dot.width / 2 > -0.04
        assert dot.x + dot.width / 2 < 1.04
        assert bands[dot.layer].top < dot.y < bands[dot.layer].bottom


def test_six_boxes_stand_in_two_staggered_lines_and_five_in_one() -> None:
    def lines(n: int) -> list[float]:
        nodes = [node(f"b{place}", 1, "root", rank=place + 1) for place in range(n)]
        graph = layered_graph(trace_of([*nodes, node("root", 2)]), [9, n, 1])
        return [dot.y for dot in sorted(graph.nodes, key=lambda dot: dot.x) if dot.layer == 1]

    assert lines(5) == [72.0 + 12 + 25] * 5
    assert lines(6) == [109.0, 169.0] * 3


def test_names_of_neighbouring_seeds_stand_on_alternating_lines(trace: Trace) -> None:
    line = {dot.id: dot.line for dot in layered_graph(trace, SIZES).nodes}
    assert (line["queen"], line["honey"], line["rape"]) == (0, 1, 0)


def many_seeds(n: int) -> Trace:
    seeds = [node(f"s{rank}", 0, "early" if rank <= MOST_SEEDS else "late", rank=rank) for rank in range(1, n + 1)]
    nodes = [*seeds, node("early", 1, "root"), node("late", 1, "root"), node("root", 2)]
    return trace_of(nodes, [relation(one.id, str(one.parent_id), 0) for one in seeds])


def test_seeds_beyond_forty_fold_into_one_dot_with_what_only_they_led_to() -> None:
    graph = layered_graph(many_seeds(43), [99, 2, 1])
    assert (graph.n_seeds, graph.folded) == (40, 3)
    [fold] = [dot for dot in graph.nodes if dot.kind == "fold"]
    assert (fold.name, fold.about) == ("+3", "3 more seeds: see the table")
    drawn = {dot.id for dot in graph.nodes}
    assert {"s40", "early", "root"} <= drawn
    assert not drawn & {"s41", "s42", "s43", "late"}
    assert {edge.source for edge in graph.edges} == {f"s{rank}" for rank in range(1, 41)}


def test_forty_seeds_are_all_drawn() -> None:
    graph = layered_graph(many_seeds(40), [99, 2, 1])
    assert (graph.n_seeds, graph.folded) == (40, 0)
    assert all(dot.kind != "fold" for dot in graph.nodes)


def test_seed_names_are_cut_to_ranks_when_they_are_many() -> None:
    few, many = (layered_graph(many_seeds(n), [99, 2, 1]) for n in (MOST_NAMES, MOST_NAMES + 1))
    assert all(dot.named for dot in few.nodes)
    assert {dot.named for dot in many.nodes if dot.layer == 0} == {False}
    assert all(dot.named for dot in many.nodes if dot.layer > 0)
    assert few.rows[-1].bottom - few.rows[-1].top > many.rows[-1].bottom - many.rows[-1].top


def test_each_step_lights_what_was_found_until_then(trace: Trace) -> None:
    def lit(step: int | None) -> tuple[set[str], set[str]]:
        graph = layered_graph(trace, SIZES, step)
        return {dot.id for dot in graph.nodes if dot.lit}, {edge.id for edge in graph.edges if edge.lit}

    everything = {one.id for one in NODES}
    assert lit(0) == ({"queen", "honey", "rape"}, {"queen>rape"})
    assert lit(1) == (everything - {"farm"}, {"queen>rape", "queen>bees"})
    assert lit(2)[0] == lit(None)[0] == everything
    assert lit(None)[1] == {one.id for one in RELATIONS}
    assert lit(99) == lit(None)


def test_seeds_are_dots_and_only_the_meeting_point_is_drawn_double(trace: Trace) -> None:
    kind = {dot.id: dot.kind for dot in layered_graph(trace, SIZES).nodes}
    assert kind == {"queen": "dot", "honey": "dot", "rape": "dot", "bees": "box", "fields": "box", "farm": "double"}


def test_a_node_says_what_it_is(trace: Trace) -> None:
    about = {dot.id: dot.about for dot in layered_graph(trace, SIZES).nodes}
    assert about["queen"] == "queen: seed, rank 1, cosine 0.50, layer 0"
    assert about["bees"] == "bees: on the path, layer 1"
    assert about["farm"] == "farm: lowest common ancestor, layer 2"


def test_arcs_rise_with_their_span_and_tree_links_do_not(trace: Trace) -> None:
    edges = {edge.id: edge for edge in layered_graph(trace, SIZES).edges}
    assert edges["queen>bees"].rise == 0
    assert edges["queen>rape"].rise == pytest.approx(10 + 16 * 2.25 / 3.5, abs=0.01)
    assert edges["bees>fields"].rise == pytest.approx(16 + 34 * 1.75 / 3.5, abs=0.01)
    assert edges["bees>fields"].about == "bees and fields: 4 relations, concatenated. They meet."


def test_lambda_is_written_on_the_nine_strongest_arcs() -> None:
    boxes = [node(f"b{n}", 1, "root", rank=n + 1) for n in range(12)]
    arcs = [relation("b0", f"b{n}", 1, "inter-cluster", float(n)) for n in range(1, 12)]
    graph = layered_graph(trace_of([*boxes, node("root", 2)], arcs), [9, 12, 1])
    assert {edge.target for edge in graph.edges if edge.pill} == {f"b{n}" for n in range(3, 12)}


def test_nothing_retrieved_gives_an_empty_graph() -> None:
    assert layered_graph(trace_of([]), [6, 2, 1]) == LayeredGraph((), (), (), 0.0, 0, 0)


def test_a_single_seed_is_a_dot_in_the_middle() -> None:
    only = node("queen", 0, rank=1)
    [dot] = layered_graph(trace_of([only], lca=only), [1]).nodes
    assert (dot.x, dot.kind) == (0.5, "dot")
