"""Flow-based pruning: by hand, and against an enumeration of all paths."""

from collections import defaultdict
from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy.sparse import csr_array

from leanrag_core.retrieval.strategies.pathrag import FlowPath, flow_paths


def graph(n: int, *edges: tuple[int, int]) -> csr_array:
    joined = np.zeros((n, n), dtype=np.float32)
    for source, target in edges:
        joined[source, target] = joined[target, source] = 1
    return csr_array(joined)


def test_the_resource_is_shared_and_decays_as_worked_out_by_hand() -> None:
    # 0 - 1 - 3 and 0 - 2 - 3: from 0 each first edge has 1/2, each second .8 x 1/2 = .4; the mean is .45.
    both = flow_paths(graph(4, (0, 1), (1, 3), (0, 2), (2, 3)), [0, 3], most=5, decay=0.8, threshold=0.3)
    assert both == [FlowPath((0, 1, 3), 0.45), FlowPath((0, 2, 3), 0.45)]


def test_nothing_flows_on_from_an_edge_that_has_no_more_than_the_threshold() -> None:
    fan = graph(6, *((0, node) for node in range(1, 5)), *((node, 5) for node in range(1, 5)))
    # Each of four first edges has 1/4, not above .3: the mean of 1/4 and 0 is .125.
    assert [path.reliability for path in flow_paths(fan, [0, 5], most=4, decay=0.8, threshold=0.3)] == [0.125] * 4
    # Above .2 it flows on: (1/4 + .8 x 1/4) / 2.
    assert [path.reliability for path in flow_paths(fan, [0, 5], most=1, decay=0.8, threshold=0.2)] == [0.225]


def test_a_direct_relation_has_the_whole_resource_and_a_path_has_three_edges_at_most() -> None:
    line = graph(5, (0, 1), (1, 2), (2, 3), (3, 4))
    assert flow_paths(line, [0, 1], most=5, decay=0.8, threshold=0.3) == [FlowPath((0, 1), 1.0)]
    [path] = flow_paths(line, [0, 3], most=5, decay=0.8, threshold=0.3)
    assert path == FlowPath((0, 1, 2, 3), round((1 + 0.8 + 0.64) / 3, 9))
    assert flow_paths(line, [0, 4], most=5, decay=0.8, threshold=0.3) == []


def test_no_path_is_found_without_a_relation_or_a_second_node() -> None:
    assert flow_paths(csr_array((3, 3), dtype=np.float32), [0, 1, 2], most=5, decay=0.8, threshold=0.3) == []
    assert flow_paths(graph(3, (0, 1), (2, 2)), [0], most=5, decay=0.8, threshold=0.3) == []


def by_enumeration(joined: np.ndarray, ends: list[int], decay: float, threshold: float) -> dict[tuple[int, ...], float]:
    """Return the reliability of every path of each ordered pair, of paths between the same nodes the best."""
    best: dict[tuple[int, ...], float] = {}
    for source, target in permutations(ends, 2):
        inner = [node for node in range(len(joined)) if node not in (source, target)]
        routes = [(source, *middle, target) for length in range(3) for middle in permutations(inner, length)]
        routes = [route for route in routes if all(joined[edge] for edge in pairwise(route))]
        after: defaultdict[int, set[int]] = defaultdict(set)
        for route in routes:
            for node, following in pairwise(route):
                after[node].add(following)
        flow: defaultdict[tuple[int, int], float] = defaultdict(float)
        for first in sorted(after[source]):
            flow[source, first] = 1 / len(after[source])
            if first != target and flow[source, first] > threshold:
                for second in sorted(after[first]):
                    flow[first, second] += flow[source, first] * decay / len(after[first])
                    if second != target and flow[first, second] > threshold:
                        for third in sorted(after[second]):
                            flow[second, third] += flow[first, second] * decay / len(after[second])
        for route in routes:
            mean = sum(flow[edge] for edge in pairwise(route)) / (len(route) - 1)
            key = tuple(sorted(route))
            best[key] = max(mean, best.get(key, 0.0))
    return best


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("threshold", [0.3, 0.05])
def test_the_best_paths_are_those_of_a_full_enumeration(seed: int, threshold: float) -> None:
    random = np.random.default_rng(seed)
    joined = np.triu(random.random((12, 12)) < (0.15 + 0.02 * seed), k=1)
    joined = joined | joined.T
    ends = random.permutation(12)[:5].tolist()
    expected = by_enumeration(joined, ends, 0.8, threshold)
    found = flow_paths(csr_array(joined.astype(np.float32)), ends, most=8, decay=0.8, threshold=threshold)
    reliable = sorted((round(value, 9) for value in expected.values()), reverse=True)[:8]
    assert [path.reliability for path in found] == pytest.approx(reliable)
    assert all(expected[tuple(sorted(path.nodes))] == pytest.approx(path.reliability) for path in found)
