from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

from leanrag_core.retrieval.graph_walks import path_through, shortest_path


def symmetric(edges: list[tuple[int, int]], n: int) -> csr_array:
    ends = np.array([*edges, *((b, a) for a, b in edges)])
    return coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), (n, n)).tocsr()


# 0 - 1 - 2 - 3 - 4, a short cut 0 - 5 - 4, and 6 - 7 apart.
LINE = symmetric([(0, 1), (1, 2), (2, 3), (3, 4), (0, 5), (5, 4), (6, 7)], 8)


@pytest.mark.parametrize(
    ("source", "target", "most_hops", "path"),
    [
        (0, 4, 9, [0, 5, 4]),
        (1, 4, 9, [1, 2, 3, 4]),
        (1, 4, 2, []),
        (2, 2, 0, [2]),
        (0, 6, 9, []),
        (6, 7, 1, [6, 7]),
    ],
)
def test_paths_worked_out_by_hand(source: int, target: int, most_hops: int, path: list[int]) -> None:
    made = shortest_path(LINE, source, target, most_hops=most_hops)
    # Of 1-2-3-4 and 1-0-5-4 either is shortest; which one is fixed.
    assert (len(made), made[:1], made[-1:]) == (len(path), path[:1], path[-1:])
    assert made == shortest_path(LINE, source, target, most_hops=most_hops)


def test_lengths_are_those_of_networkx() -> None:
    random = np.random.default_rng(0)
    for n in (20, 200):
        edges = random.integers(0, n, (int(n * 1.2), 2))
        pairs = [(int(a), int(b)) for a, b in edges if a != b]
        graph = nx.Graph(pairs)
        graph.add_nodes_from(range(n))
        matrix = symmetric(pairs, n)
        for source, target in random.integers(0, n, (200, 2)).tolist():
            path = shortest_path(matrix, source, target, most_hops=n)
            joined = nx.has_path(graph, source, target)
            assert len(path) == (nx.shortest_path_length(graph, source, target) + 1 if joined else 0)
            assert all(graph.has_edge(a, b) for a, b in pairwise(path))


def test_stops_are_joined_one_after_the_other() -> None:
    assert path_through(LINE, [0, 4, 6, 7], most_hops=9) == [[0, 5, 4], [6, 7]]
    assert path_through(LINE, [0], most_hops=9) == []
