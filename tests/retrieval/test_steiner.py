"""Prize-collecting trees, against all connected subgraphs of small graphs."""

import itertools
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

from leanrag_core.retrieval.graph_walks import Hops, prize_collecting_tree


def path_graph(n: int) -> csr_array:
    return csr_array(nx.to_scipy_sparse_array(nx.path_graph(n), dtype=float).tocsr())


def test_a_far_prize_is_joined_when_it_pays_its_way() -> None:
    near = prize_collecting_tree(path_graph(4), {0: 3.0, 3: 2.0}, edge_cost=0.5)
    assert (near.nodes, near.edges, near.worth) == ((0, 1, 2, 3), ((0, 1), (1, 2), (2, 3)), 3.5)


def test_a_far_prize_is_left_out_when_it_does_not() -> None:
    alone = prize_collecting_tree(path_graph(4), {0: 3.0, 3: 1.0}, edge_cost=0.5)
    assert (alone.nodes, alone.edges, alone.worth) == ((0,), (), 3.0)


def test_nodes_that_no_path_joins_stay_apart() -> None:
    apart = csr_array((3, 3), dtype=float)
    assert prize_collecting_tree(apart, {0: 1.0, 2: 2.0}, edge_cost=0.1).nodes == (2,)
    assert prize_collecting_tree(apart, {}, edge_cost=0.1).nodes == ()


def test_distances_are_edges_and_end_at_the_reach() -> None:
    hops = Hops(path_graph(5), np.array([0, 2]), 2)
    assert [hops.row(node) for node in range(5)] == [[0, 2], [1, 1], [2, 0], [-1, 1], [-1, 2]]


@pytest.mark.parametrize("seed", range(4))
def test_distances_and_paths_are_those_of_a_search_from_each_source(seed: int) -> None:
    graph = nx.gnm_random_graph(400, 700, seed=seed)  # with frontiers of few and of many nodes, and nodes apart
    adjacency = csr_array(nx.to_scipy_sparse_array(graph, dtype=float))
    sources = np.random.default_rng(seed).choice(400, 6, replace=False)
    hops = Hops(adjacency, sources, 30)
    for place, source in enumerate(sources.tolist()):
        lengths = nx.single_source_shortest_path_length(graph, source)
        assert [hops.row(node)[place] for node in range(400)] == [lengths.get(node, -1) for node in range(400)]
        for node in lengths:
            path = hops.path(place, node)
            assert (path[0], path[-1], len(path)) == (source, node, lengths[node] + 1)
            for nearer, farther in itertools.pairwise(path):
                assert nearer == min(each for each in graph[farther] if lengths[each] == lengths[farther] - 1)


@pytest.mark.parametrize("seed", range(8))
def test_on_trees_the_best_tree_is_found(seed: int) -> None:
    random = np.random.default_rng(seed)
    graph = nx.random_labeled_tree(9, seed=seed)
    prizes = {int(node): float(random.integers(1, 5)) for node in random.choice(9, size=4, replace=False)}
    best = 0.0
    for size in range(1, 10):
        for nodes in combinations(range(9), size):
            if nx.is_connected(graph.subgraph(nodes)):
                best = max(best, sum(prizes.get(node, 0.0) for node in nodes) - 0.75 * (size - 1))
    tree = prize_collecting_tree(csr_array(nx.to_scipy_sparse_array(graph, dtype=float)), prizes, edge_cost=0.75)
    assert tree.worth == pytest.approx(best)
    assert len(tree.edges) == len(tree.nodes) - 1
