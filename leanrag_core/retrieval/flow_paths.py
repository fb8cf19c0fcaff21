"""Paths between nodes of a graph, and how much of a resource that flows from one end gets through each (PathRAG)."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # scipy takes a tenth of a second to import
    from scipy.sparse import csr_array

_DECIMALS = 9  # of a reliability; the next ones depend on the order of a sum


@dataclass(frozen=True)
class FlowPath:
    """nodes: from one end to the other, 2 to 4 of them. reliability: the mean resource on its edges."""

    nodes: tuple[int, ...]
    reliability: float


def flow_paths(
    adjacency: "csr_array", nodes: Sequence[int], *, most: int, decay: float, threshold: float
) -> list[FlowPath]:
    """Return the most reliable paths of at most three edges between two of the nodes, the best first.

    adjacency: (n, n), symmetric; its weights do not count. Of each ordered pair the first node has a resource of 1 and
    shares it among the nodes that follow it on the pair's paths. Each node shares what it gets, times the decay, in
    turn; what comes over an edge and is not above the threshold is not passed on. A path between the same nodes counts
    once.

    Pairs are visited by the upper bound of their best path, so that most need no visit. Source: PathRAG (Chen et al.
    2025), flow-based pruning, as its release counts it (`operate.py`, `bfs_weighted_paths`).
    """
    ends, graph = list(dict.fromkeys(nodes)), _Neighbours(adjacency)
    n_first = _first_steps(adjacency, ends, graph)
    bounds = []
    for source, target in zip(*np.nonzero(n_first), strict=True):
        share = 1.0 / float(n_first[source, target])
        bound = _most_reliable(share, decay, threshold, is_joined=ends[target] in graph.of(ends[source]))
        bounds.append((-round(bound, _DECIMALS), int(source), int(target)))
    best: dict[tuple[int, ...], FlowPath] = {}
    least = 0.0
    for bound, source, target in sorted(bounds):
        if len(best) >= most and -bound <= least:
            break
        pair = _Pair(graph, ends[source], ends[target], int(n_first[source, target]))
        for path in pair.paths(decay, threshold, most, least if len(best) >= most else 0.0):
            key = tuple(sorted(path.nodes))
            if key not in best or best[key].reliability < path.reliability:
                best[key] = path
        if len(best) >= most:
            least = sorted((path.reliability for path in best.values()), reverse=True)[most - 1]
    # The sort is stable: equal paths stay in the order in which they were found.
    return sorted(best.values(), key=lambda path: -path.reliability)[:most]


def _most_reliable(share: float, decay: float, threshold: float, *, is_joined: bool) -> float:
    """Return an upper bound of the reliability of a pair's paths. share: the resource of each node that comes first.
    is_joined: whether an edge joins the pair."""
    if share <= threshold:
        return share if is_joined else share / 2
    # A node that comes first may come second too, and then passes on what the other first ones gave it.
    later = decay * share + (decay**2 * (1 - share) if decay * share > threshold else 0.0)
    return max(share if is_joined else 0.0, (share + later) / 2, (share + 2 * later) / 3)


class _Neighbours:
    """The other nodes that a node is joined to, looked up once each. adjacency: (n, n), symmetric."""

    def __init__(self, adjacency: "csr_array") -> None:
        self._adjacency = adjacency
        self._of: dict[int, frozenset[int]] = {}

    def of(self, node: int) -> frozenset[int]:
        """Return the neighbours of that node."""
        if node not in self._of:
            start, end = self._adjacency.indptr[node : node + 2]
            self._of[node] = frozenset(self._adjacency.indices[start:end].tolist()) - {node}
        return self._of[node]

    def shared(self, node: int, other: int) -> list[int]:
        """Return the nodes that both are joined to, ascending."""
        return sorted(self.of(node) & self.of(other))


def _first_steps(adjacency: "csr_array", ends: list[int], graph: _Neighbours) -> np.ndarray:
    """Return (k, k) int: for a path from end i to end j, how many nodes may come first after i; 0 on the diagonal."""
    from scipy.sparse import csr_array

    lists = [np.array(sorted(graph.of(end)), dtype=np.int64) for end in ends]
    reached = np.unique(np.concatenate([*lists, np.array(ends, dtype=np.int64)]))
    steps = adjacency[reached].astype(np.float32)
    steps.data = np.ones_like(steps.data)
    steps.data[steps.indices == np.repeat(reached, np.diff(steps.indptr))] = 0  # no step from a node to itself
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in lists])])
    columns = np.concatenate([*lists, np.zeros(0, dtype=np.int64)])
    to_ends = csr_array((np.ones(len(columns), dtype=np.float32), columns, offsets), shape=(len(ends), steps.shape[1]))
    to_ends = to_ends.T.tocsr()
    one_hop, two_hops = to_ends[reached].toarray() > 0, (steps @ to_ends).toarray()
    counts = np.zeros((len(ends), len(ends)), dtype=np.int64)
    for place, end in enumerate(ends):
        first = np.searchsorted(reached, lists[place])
        through_end = one_hop[np.searchsorted(reached, end)]  # a path does not come back to its start
        is_target = lists[place][:, None] == np.array(ends)
        counts[place] = (is_target | one_hop[first] | (two_hops[first] - through_end > 0)).sum(axis=0)
    np.fill_diagonal(counts, 0)
    return counts


@dataclass(frozen=True, eq=False)
class _Pair:
    """An ordered pair of nodes. n_first: how many nodes may come first after the source."""

    graph: _Neighbours
    source: int
    target: int
    n_first: int

    def paths(self, decay: float, threshold: float, most: int, least: float) -> list[FlowPath]:
        """Return its paths with a reliability above `least`. Where nothing flows beyond the first edge, paths of a
        length tie, and only the first `most` of three edges are listed."""
        share = 1.0 / self.n_first
        if share > threshold:
            routes = [*self._short(), *self._long()]
            flow = self._flow(routes, decay, threshold)
            reliable = [(nodes, sum(flow[edge] for edge in pairwise(nodes)) / (len(nodes) - 1)) for nodes in routes]
        else:  # nothing flows beyond the first edge
            reliable = [(nodes, share / (len(nodes) - 1)) for nodes in self._short()]
            if share / 3 > least:
                reliable += [(nodes, share / 3) for nodes in islice(self._long(), most)]
        rounded = [FlowPath(nodes, round(mean, _DECIMALS)) for nodes, mean in reliable]
        return [path for path in rounded if path.reliability > least]

    def _short(self) -> list[tuple[int, ...]]:
        """Return the paths of one and two edges."""
        is_joined = self.target in self.graph.of(self.source)
        direct: list[tuple[int, ...]] = [(self.source, self.target)] if is_joined else []
        return direct + [(self.source, node, self.target) for node in self.graph.shared(self.source, self.target)]

    def _long(self) -> Iterator[tuple[int, ...]]:
        """Return the paths of three edges, by their nodes."""
        for first in sorted(self.graph.of(self.source) - {self.target}):
            for second in self.graph.shared(first, self.target):
                if second != self.source:
                    yield self.source, first, second, self.target

    def _flow(
        self, routes: Sequence[tuple[int, ...]], decay: float, threshold: float
    ) -> defaultdict[tuple[int, int], float]:
        """Return the resource on each edge of those paths."""
        following: dict[int, dict[int, None]] = {}
        for nodes in routes:
            for node, after in pairwise(nodes):
                following.setdefault(node, {})[after] = None
        flow: defaultdict[tuple[int, int], float] = defaultdict(float)
        for first in sorted(following[self.source]):
            flow[self.source, first] += 1.0 / len(following[self.source])
            if first == self.target or flow[self.source, first] <= threshold:
                continue
            for second in sorted(following[first]):
                flow[first, second] += flow[self.source, first] * decay / len(following[first])
                if second == self.target or flow[first, second] <= threshold:
                    continue
                for third in sorted(following[second]):
                    flow[second, third] += flow[first, second] * decay / len(following[second])
        return flow
