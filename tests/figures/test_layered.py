"""Three layers whose places are worked out by hand, and random trees.

farm (the LCA)
bees          fields
queen honey   rape
"""

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise

import pytest

from leanrag_core.figures.layered import layered_graph
from leanrag_core.figures.layered_places import MEDIUM, MOST_ARCS, MOST_SEEDS, NARROW, WIDE, Dot, LayeredGraph
from leanrag_core.types.trace import Source, Trace
from tests.figures.small_trace import node, relation, step, trace_of

PLACE = Source("d", 0, "Bees", 0, 9, None, 3)
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
    step("seeds", ("queen", "honey", "rape"), ("queen>rape",)),
    step("climb", ("bees", "fields"), ("queen>bees",)),
    step("lca", ("farm",)),
]


@pytest.fixture
def trace() -> Trace:
    return trace_of(NODES, RELATIONS, lca=FARM, steps=STEPS)


def places(graph: LayeredGraph) -> dict[str, tuple[float, float, float]]:
    return {dot.id: (dot.x, dot.y, dot.width) for dot in graph.nodes}


def test_rows_go_from_the_top_layer_down_to_the_seeds(trace: Trace) -> None:
    # farm: 22 above, a box of 40, 14 below. bees and fields: an arc that rises 15 with its pill needs 29 above.
    # Seeds: 44 above a disc of 24, 66 below for the names.
    graph = layered_graph(trace)
    assert [(row.layer, row.top, row.bottom) for row in graph.rows] == [(2, 0, 76), (1, 76, 159), (0, 159, 293)]
    assert graph.height == 293
    assert {dot.id: dot.y for dot in graph.nodes} == {
        "farm": 42,
        "bees": 125,
        "fields": 125,
        "queen": 215,
        "honey": 215,
        "rape": 215,
    }


def test_a_row_says_how_many_of_its_layer_are_drawn(trace: Trace) -> None:
    sized = replace(trace, index=replace(trace.index, layer_sizes=(1234, 2, 1)))
    rows = layered_graph(sized).rows
    assert [(row.label, row.facts) for row in rows] == [
        ("Layer 2", "LCA"),
        ("Layer 1", "2 of 2"),
        ("Layer 0", "3 of 1,234"),
    ]


def test_a_parent_is_drawn_above_the_middle_of_its_children(trace: Trace) -> None:
    # Two seeds of 31 px below bees, and fields, whose box needs 60: 122 px in all.
    x = {dot.id: dot.x for dot in layered_graph(trace).nodes}
    assert x["queen"] == pytest.approx(15.5 / 122, abs=1e-5)
    assert x["honey"] == pytest.approx(46.5 / 122, abs=1e-5)
    assert x["bees"] == pytest.approx(31 / 122, abs=1e-5)
    assert x["rape"] == x["fields"] == pytest.approx(92 / 122, abs=1e-5)
    assert x["farm"] == pytest.approx((x["bees"] + x["fields"]) / 2, abs=1e-5)


def test_places_are_the_same_in_every_step_and_for_every_order_of_the_nodes(trace: Trace) -> None:
    expected = places(layered_graph(trace))
    for lit_step in range(len(STEPS) + 1):
        assert places(layered_graph(trace, lit_step)) == expected
    for seed in range(5):
        shuffled = random.Random(seed).sample(NODES, len(NODES))
        assert places(layered_graph(replace(trace, items=tuple(shuffled)))) == expected


def random_trace(seed: int) -> Trace:
    """Return a trace of a root, 1 to 4 nodes below it, 1 to 16 below those, 1 to 50 seeds, and relations between nodes
    of a layer."""
    rng = random.Random(seed)
    upper, middle, n_seeds = rng.randint(1, 4), rng.randint(1, 16), rng.randint(1, 50)
    seeds = [node(f"s{n}", 0, f"m{rng.randrange(middle)}", rank=n + 1) for n in range(n_seeds)]
    parents = {item.parent for item in seeds}
    inner = [node(f"m{n}", 1, f"u{rng.randrange(upper)}") for n in range(middle) if f"m{n}" in parents]
    above = {item.parent for item in inner}
    outer = [node(f"u{n}", 2, "root") for n in range(upper) if f"u{n}" in above]
    nodes = [*seeds, *inner, *outer, node("root", 3, role="lca")]
    links = [relation(item.id, item.parent, item.layer) for item in nodes if item.parent]
    for row, kind in ((seeds, "base"), (inner, "inter-cluster"), (outer, "inter-cluster")):
        pairs = list(combinations(row, 2))
        for a, b in rng.sample(pairs, min(20, len(pairs))):
            links.append(relation(a.id, b.id, a.layer, kind, rng.randint(1, 90)))
    return trace_of(nodes, links, lca=nodes[-1])


Box = tuple[float, float, float, float]


def box_of(dot: Dot, graph: LayeredGraph, width: float) -> Box:
    # A disc keeps its size in a wider plot, a box grows with it.
    half = dot.width * (graph.plot_px if dot.kind in ("dot", "disc") else width) / 2
    return dot.x * width - half, dot.y - dot.height / 2, dot.x * width + half, dot.y + dot.height / 2


def curve(points: tuple[tuple[float, float], ...], width: float, steps: int = 16) -> Iterator[tuple[float, float]]:
    """Yield places on a Bezier curve, by de Casteljau."""
    for number in range(steps + 1):
        t, left = number / steps, list(points)
        while len(left) > 1:
            left = [(a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])) for a, b in pairwise(left)]
        yield left[0][0] * width, left[0][1]


@pytest.mark.parametrize("plot_px", [NARROW, MEDIUM, WIDE])
@pytest.mark.parametrize("seed", range(12))
def test_no_boxes_overlap_and_no_line_passes_through_a_box_of_others(seed: int, plot_px: int) -> None:
    trace = random_trace(seed)
    graph = layered_graph(trace, plot_px=plot_px)
    for width in (plot_px, 1.4 * plot_px):
        boxes = {dot.id: box_of(dot, graph, width) for dot in graph.nodes}
        kind = {dot.id: dot.kind for dot in graph.nodes}
        for (a, left), (b, right) in combinations(boxes.items(), 2):
            meet = left[0] < right[2] and right[0] < left[2] and left[1] < right[3] and right[1] < left[3]
            assert not meet or {kind[a], kind[b]} == {"tray", "disc"}, (a, b)
        for left, top, right, bottom in boxes.values():
            assert -6 < left < right < width + 6
            assert 0 < top < bottom < graph.height
        for edge in graph.edges:
            for x, y in curve(edge.points, width):
                assert 0 <= y <= graph.height
                crossed = [id_ for id_, (x1, y1, x2, y2) in boxes.items() if x1 < x < x2 and y1 < y < y2]
                assert set(crossed) <= {edge.source, edge.target}, edge


@pytest.mark.parametrize("seed", range(12))
def test_each_node_is_drawn_or_counted_once(seed: int) -> None:
    trace = random_trace(seed)
    graph = layered_graph(trace, plot_px=NARROW)
    drawn = {dot.id for dot in graph.nodes}
    above = [each for each in trace.nodes if each.layer]
    assert len([ancestor for ancestor in above if ancestor.id in drawn]) + graph.folded == len(above)
    assert sum(int(dot.name.split()[0]) for dot in graph.nodes if dot.kind == "fold") == graph.folded
    assert all(dot.width * NARROW >= 50 for dot in graph.nodes if dot.kind in ("box", "double", "fold"))


def test_more_parents_than_fit_fold_the_weakest_into_one() -> None:
    # 300 px hold 5 boxes of 60 px: the 4 best and one that folds the other 3.
    nodes = [node(f"s{n}", 0, f"m{n}", rank=n + 1) for n in range(7)]
    nodes += [node(f"m{n}", 1, "root") for n in range(7)]
    graph = layered_graph(trace_of([*nodes, node("root", 2)]), plot_px=NARROW)
    assert [dot.id for dot in graph.nodes if dot.layer == 1] == ["m0", "m1", "m2", "m3", "fold-1"]
    [fold] = [dot for dot in graph.nodes if dot.kind == "fold"]
    assert (fold.name, fold.about) == ("+3 parents", "+3 parents, weaker than those drawn: m4, m5, m6")
    assert [edge.target for edge in graph.edges if edge.id == "tray-fold"] == ["fold-1"]
    assert {dot.id for dot in graph.nodes if dot.kind == "disc"} == {f"s{n}" for n in range(7)}


def test_passages_below_the_layers_leave_the_columns_to_the_tree() -> None:
    seeds = [node(f"s{n}", 0, f"m{n % 2}", rank=n + 1) for n in range(16)]
    passages = [replace(node(f"c{n}", 0, rank=n + 1), layer=None, kind="passage", source=PLACE) for n in range(5)]
    links = [relation(f"s{n}", f"c{n}", 0, "mass") for n in range(5)]
    wide = layered_graph(trace_of([*seeds, node("m0", 1), node("m1", 1), *passages], links), plot_px=WIDE)
    assert [(dot.id, round(dot.x, 2)) for dot in wide.nodes if dot.kind == "tray"] == [
        ("tray-m0", 0.25),
        ("tray-m1", 0.75),
    ]
    assert [round(dot.x, 2) for dot in wide.nodes if dot.layer == -1] == [0.1, 0.3, 0.5, 0.7, 0.9]
    assert wide.folded == 0
    # 300 px hold 5 boxes of 60 px: six passages are 4 and a count.
    six = [*passages, replace(node("c5", 0, rank=6), layer=None, kind="passage", source=PLACE)]
    narrow = layered_graph(trace_of([*seeds, *six], [*links, relation("s5", "c5", 0, "mass")]), plot_px=NARROW)
    assert [dot.name for dot in narrow.nodes if dot.layer == -1] == ["c0", "c1", "c2", "c3", "+2 nodes"]
    assert narrow.folded == 2


def test_names_of_neighbouring_seeds_are_written_on_alternating_lines(trace: Trace) -> None:
    line = {dot.id: dot.line for dot in layered_graph(trace).nodes}
    assert (line["queen"], line["honey"], line["rape"]) == (0, 1, 0)


def many_seeds(n: int) -> Trace:
    seeds = [node(f"s{rank}", 0, "early" if rank <= 12 else "late", rank=rank) for rank in range(1, n + 1)]
    nodes = [*seeds, node("early", 1, "root"), node("late", 1, "root"), node("root", 2)]
    base = relation("s1", "s2", 0, "base")
    return trace_of(nodes, [base, *(relation(seed.id, str(seed.parent), 0) for seed in seeds)])


def test_above_fifteen_seeds_each_parent_has_a_tray_of_discs_by_rank() -> None:
    few, many = (layered_graph(many_seeds(n)) for n in (MOST_SEEDS, MOST_SEEDS + 3))
    assert (few.trays, few.hidden) == (False, 0)
    assert {dot.kind for dot in few.nodes} == {"dot", "box"}
    assert (many.trays, many.hidden) == (True, 1)  # the base relation
    trays = {dot.id: dot for dot in many.nodes if dot.kind == "tray"}
    assert trays.keys() == {"tray-early", "tray-late"}
    assert (trays["tray-early"].names, trays["tray-early"].more) == (("s1", "s2", "s3"), 9)
    assert (trays["tray-late"].names, trays["tray-late"].more) == (("s13", "s14", "s15"), 3)
    assert [edge.id for edge in many.edges] == ["tray-early", "tray-late"]
    discs = [dot for dot in many.nodes if dot.kind == "disc" and dot.rank and dot.rank <= 12]
    assert [dot.rank for dot in sorted(discs, key=lambda dot: (dot.y, dot.x))] == list(range(1, 13))


def test_a_tray_draws_as_many_discs_as_it_holds_and_counts_the_rest() -> None:
    seeds = [node(f"s{rank}", 0, "root", rank=rank) for rank in range(1, 101)]
    graph = layered_graph(trace_of([*seeds, node("root", 1)]))
    [tray] = [dot for dot in graph.nodes if dot.kind == "tray"]
    assert len([dot for dot in graph.nodes if dot.kind == "disc"]) == 5 * 6 - 1  # 150 px hold 6 discs of 22 px
    assert tray.more == 97
    assert "100 s100" in tray.about


def test_a_seed_alone_in_a_narrow_tray_has_its_name_on_as_many_lines_as_three_names_take() -> None:
    names = [*(f"Prctl syscalls and structures {rank}" for rank in range(1, 9)), "bees", "hives"]
    seeds = [replace(node(f"s{n}", 0, f"m{min(n, 8)}", rank=n + 1), name=name) for n, name in enumerate(names)]
    parents = [node(f"m{n}", 1, "root") for n in range(9)]
    graph = layered_graph(trace_of([*seeds, *parents, node("root", 2)]), plot_px=MEDIUM)
    trays = {dot.id: dot for dot in graph.nodes if dot.kind == "tray"}
    assert all(tray.names for tray in trays.values())  # the narrowest too
    assert (trays["tray-m0"].name_lines, trays["tray-m0"].names) == (3, (names[0],))
    folded = trays["tray-fold"]
    assert (folded.names, folded.name_lines) == ((names[7], "bees", "hives"), 1)
    assert all(tray.names_y + 3 * 15 <= tray.y + tray.height / 2 for tray in trays.values())


def test_a_seed_without_a_parent_has_a_tray_too() -> None:
    alone = [node(f"s{rank}", 0, rank=rank) for rank in range(1, 21)]
    graph = layered_graph(trace_of(alone))
    assert len([dot for dot in graph.nodes if dot.kind == "disc"]) == 20
    assert graph.edges == ()


def test_each_step_lights_what_was_found_until_then(trace: Trace) -> None:
    def lit(lit_step: int | None) -> tuple[set[str], set[str]]:
        graph = layered_graph(trace, lit_step)
        return {dot.id for dot in graph.nodes if dot.lit}, {edge.id for edge in graph.edges if edge.lit}

    everything = {item.id for item in NODES}
    assert lit(0) == ({"queen", "honey", "rape"}, {"queen>rape"})
    assert lit(1) == (everything - {"farm"}, {"queen>rape", "queen>bees"})
    assert lit(2)[0] == lit(None)[0] == everything
    assert lit(None)[1] == {item.id for item in RELATIONS}
    assert lit(99) == lit(None)


def test_seeds_are_dots_and_only_the_meeting_point_is_drawn_double(trace: Trace) -> None:
    kind = {dot.id: dot.kind for dot in layered_graph(trace).nodes}
    assert kind == {"queen": "dot", "honey": "dot", "rape": "dot", "bees": "box", "fields": "box", "farm": "double"}


def test_a_node_says_what_it_is(trace: Trace) -> None:
    about = {dot.id: dot.about for dot in layered_graph(trace).nodes}
    assert about["queen"] == "queen: seed, rank 1, cosine 0.50, layer 0"
    assert about["bees"] == "bees: on the path, layer 1"
    assert about["farm"] == "farm: lowest common ancestor, layer 2"


def test_arcs_rise_above_the_boxes_they_join_and_more_above_others() -> None:
    boxes = [node(f"b{n}", 1, "root", rank=n + 1) for n in range(3)]
    arcs = [relation("b0", "b1", 1, "inter-cluster"), relation("b2", "b0", 1, "inter-cluster")]
    graph = layered_graph(trace_of([*boxes, node("root", 2)], arcs))
    top = next(dot.y - dot.height / 2 for dot in graph.nodes if dot.id == "b0")
    near, far = sorted(graph.edges, key=lambda edge: edge.id)
    assert [point[1] for point in near.points] == [top, top - 2 * 15, top]
    assert [point[1] for point in far.points] == [top, top - 2 * 30, top]
    assert near.about == "b0 and b1: 1 relations, joined texts. They meet."


def test_the_strongest_arcs_of_a_layer_are_drawn_and_the_others_counted() -> None:
    boxes = [node(f"b{n}", 1, "root", rank=n + 1) for n in range(7)]
    pairs = list(combinations(range(7), 2))
    arcs = [relation(f"b{a}", f"b{b}", 1, "inter-cluster", 10.0 * a + b) for a, b in pairs]
    graph = layered_graph(trace_of([*boxes, node("root", 2)], arcs))
    strongest = sorted((10 * a + b for a, b in pairs), reverse=True)[:MOST_ARCS]
    assert [edge.strength for edge in graph.edges] == strongest
    assert graph.hidden == len(pairs) - MOST_ARCS


def test_nothing_retrieved_gives_an_empty_graph() -> None:
    assert layered_graph(trace_of([])) == LayeredGraph((), (), (), 0.0)


def test_a_single_seed_is_a_dot_in_the_middle() -> None:
    only = node("queen", 0, rank=1)
    [dot] = layered_graph(trace_of([only], lca=only)).nodes
    assert (dot.x, dot.kind) == (0.5, "dot")
