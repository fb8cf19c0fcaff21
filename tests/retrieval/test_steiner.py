"""Prize-collecting trees, against all connected subgraphs of small graphs."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

from leanrag_core.retrieval.graph_walks import hop_distances, prize_collecting_tree


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
    assert hop_distances(path_graph(5), np.array([0, 2]), 2).tolist() == [[0, 1, 2, -1, -1], [2, 1, 0, 1, 2]]


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
