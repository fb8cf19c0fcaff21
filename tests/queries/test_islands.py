"""Components, the strongest forest and the curve of tau, on graphs small enough to count by hand."""

import numpy as np

from leanrag_core.queries.islands import components, strongest_forest, suggest_tau, surroundings, tau_curve
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from tests.small_index import entity, layer, relation, unit


def ends(*pairs: tuple[int, int]) -> np.ndarray:
    return np.array(pairs, dtype=np.int32).reshape(-1, 2)


def aggregated(n: int, *links: tuple[int, int, int]) -> Layer:
    """Return a layer 1 of n nodes; links: source, target, lambda."""
    relations = [relation(a, b, strength=strength, kind="concatenated") for a, b, strength in links]
    return layer(1, [entity(f"n{row}", []) for row in range(n)], relations, unit([[1.0, 0.0]] * n), [0] * n)


def test_the_largest_component_is_number_0_and_equal_ones_follow_by_row() -> None:
    parts = components(6, ends((3, 4), (4, 5)))
    assert parts.labels.tolist() == [1, 2, 3, 0, 0, 0]
    assert parts.sizes.tolist() == [3, 1, 1, 1]


def test_without_relations_every_node_is_an_island() -> None:
    assert components(4, ends()).sizes.tolist() == [1, 1, 1, 1]


def test_the_forest_keeps_the_strongest_relations_and_every_component() -> None:
    #   0 -5- 1 -2- 2, 0 -3- 2 (strong enough to make 1-2 needless); 3 -1- 4; 1 -1- 0 again, weaker
    pairs = ends((0, 1), (1, 2), (0, 2), (3, 4), (1, 0))
    strengths = np.array([5, 2, 3, 1, 1])
    assert strongest_forest(5, pairs, strengths).tolist() == [0, 2, 3]
    assert strongest_forest(3, ends(), np.zeros(0, dtype=int)).tolist() == []


def test_an_island_has_relations_inside_alone(index: Index) -> None:
    # Without the two relations that leave a cluster (1-3 and 2-5) bees keep 0-1 and 1-2, fields 3-4.
    base = index.layers[0]
    inside = Layer(base.entities, base.relations.take([0, 1, 3]), 0, base.vectors, base.parent)
    alone = Index(
        index.manifest, index.documents, index.chunks, (inside, *index.layers[1:]), base.vectors, index.report
    )
    around = surroundings(alone, 1, components(2, ends()))
    assert around.members.tolist() == [3, 3]
    assert around.inside.tolist() == [2, 1]
    assert around.dropped.tolist() == [0, 0]


def test_a_relation_that_was_not_lifted_is_counted(index: Index) -> None:
    around = surroundings(index, 1, components(2, ends()))
    assert around.dropped.tolist() == [2, 2]


# lambda 1: 0-1, 2-3; lambda 3: 1-2; lambda 4: 0-2; node 4 is an island.
LINKS = ((0, 1, 1), (2, 3, 1), (1, 2, 3), (0, 2, 4))


def test_the_curve_counts_what_is_above_each_lambda() -> None:
    curve = tau_curve(aggregated(5, *LINKS))
    assert curve.strengths.tolist() == [1, 3, 4]
    assert curve.pairs.tolist() == [2, 1, 1]
    assert curve.connected.tolist() == [4, 3, 2]
    assert curve.parts.tolist() == [2, 3, 4]
    assert curve.largest.tolist() == [4, 3, 2]


def test_lambda_above_tau_is_strict() -> None:
    curve = tau_curve(aggregated(5, *LINKS))
    assert (curve.at(3).summarised, curve.at(3).joined, curve.at(3).connected) == (1, 3, 2)
    assert (curve.at(2).summarised, curve.at(2).connected) == (2, 3)  # tau 2 adds lambda = 3
    assert curve.at(2.5).summarised == 2
    assert (curve.at(4).summarised, curve.at(4).connected, curve.at(4).parts) == (0, 0, 5)


def ring(n: int, strength: int) -> list[tuple[int, int, int]]:
    return [(row, (row + 1) % n, strength) for row in range(n)]


def test_the_papers_tau_is_suggested_where_it_is_affordable_and_connects() -> None:
    # Ten nodes in a ring of lambda 6, an eleventh by lambda 2: any tau from 2 to 5 leaves 10 of 11 connected.
    suggestion = suggest_tau(tau_curve(aggregated(12, *ring(10, 6), (0, 10, 2))))
    assert suggestion is not None
    assert (suggestion.tau, suggestion.chosen.summarised, suggestion.chosen.largest) == (3, 10, 10)
    assert suggestion.all_relations.largest == 11
    assert suggestion.connects_enough
    assert suggestion.quantiles[0] == (0.5, 6.0)


def test_a_lower_tau_is_suggested_where_the_papers_connects_too_little() -> None:
    # The ring's lambda is 3, which tau 3 does not summarise.
    suggestion = suggest_tau(tau_curve(aggregated(10, *ring(10, 3))))
    assert suggestion is not None
    assert (suggestion.tau, suggestion.connects_enough) == (2, True)


def test_a_tau_that_is_affordable_is_suggested_even_if_it_connects_little() -> None:
    # All 28 pairs of 8 nodes, 20 of them with lambda 9 and 8 with lambda 5: 16 calls are affordable, so none is left.
    pairs = [(a, b) for a in range(8) for b in range(a + 1, 8)]
    links = [(a, b, 9 if place < 20 else 5) for place, (a, b) in enumerate(pairs)]
    suggestion = suggest_tau(tau_curve(aggregated(8, *links)))
    assert suggestion is not None
    assert (suggestion.tau, suggestion.chosen.summarised, suggestion.connects_enough) == (9, 0, False)


def test_a_layer_without_relations_has_no_suggestion() -> None:
    curve = tau_curve(aggregated(3))
    assert suggest_tau(curve) is None
    assert (curve.at(3).summarised, curve.at(3).parts) == (0, 3)
