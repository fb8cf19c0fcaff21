"""Walks and paths on sparse graphs: PageRank, the walk over entities and passages, shortest paths, Steiner trees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

from leanrag_core.errors import PartMissing
from leanrag_core.retrieval.anchoring import Seed
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import best_first_rounded, similarity
from leanrag_core.storage.layout import CHUNKS
from leanrag_core.types.index import Index
from leanrag_core.types.rows import entries_of, places_of_runs, starts_of_runs
from leanrag_core.types.walks import Transition, WalkOperator, walk_operator

if TYPE_CHECKING:  # scipy takes a tenth of a second to import
    from scipy.sparse import csr_array

PAGERANK_ROUNDS = 100
_BY_ROUNDS_UP_TO = 10_000  # nodes
_LEFT = 5e-7  # of the first error, after which polynomials end
_DIGITS_LEFT_OUT = 5  # binary digits of a float32, which sums in float32 do not settle
PART = "passage_walk"
_TOLERANCE = 1e-7  # change of the whole mass in a round, at which the walk rests
_WALK_ROUNDS = 200
_CARRIERS = 3  # entities that are shown of each passage
_MOST_TERMINALS = 10
_LONGEST_WAY = 12  # edges
_FEW = 16  # a frontier of less than this part of all nodes goes edge by edge


def pagerank(
    transition: "csr_array",
    restart: np.ndarray,
    *,
    damping: float,
    tolerance: float = 1e-6,
    max_rounds: int = PAGERANK_ROUNDS,
) -> np.ndarray:
    """Return (n,) stationary mass of a walk that follows an edge with probability `damping` and else restarts; sums to
    1.

    transition: (n, n), see transition.normalised(). restart: (n,), not negative, with a sum above 0. A walk that comes
    to a node without an edge restarts. The rounds end when the mass changes by less than the tolerance in all.
    Source: Haveliwala 2002, Topic-sensitive PageRank.
    """
    start = np.asarray(restart, dtype=np.float64)
    start = start / start.sum()
    mass = start
    for _ in range(max_rounds):
        moved = damping * (transition @ mass)
        following = moved + (1.0 - moved.sum()) * start
        if np.abs(following - mass).sum() < tolerance:
            return np.asarray(following)
        mass = following
    return np.asarray(mass)


def stationary(transition: Transition, restart: np.ndarray, *, damping: float) -> np.ndarray:
    """Return pagerank() of a walk on an undirected graph, (n,) float64: by its rounds up to 10,000 nodes, above by the
    faster by_polynomials(). restart: (n,), not negative, with a sum above 0."""
    if len(transition) <= _BY_ROUNDS_UP_TO:
        return pagerank(transition.matrix, restart, damping=damping)
    return by_polynomials(transition, restart, damping=damping)


def by_polynomials(transition: Transition, restart: np.ndarray, *, damping: float) -> np.ndarray:
    """Return (n,) float64, the stationary mass of the walk, which sums to 1, by Chebyshev polynomials.

    They solve the walk's equation x = damping T x + restart: T has real eigenvalues in [-1, 1], since the weights are
    symmetric, and so k products leave at most 2 r^k of the first error (squares over the nodes' weights), r = damping /
    (1 + sqrt(1 - damping^2)), where k rounds of pagerank() leave damping^k: 26 products in the place of 80 at .85.
    Every sum has a fixed order, so that each processor gives the same numbers, and masses are rounded to 18 binary
    digits, so that nodes which stand alike tie. restart: (n,), see stationary().
    Source: Golub and Varga 1961, Chebyshev semi-iterative methods.
    """
    packed, single = transition.packed, np.float32
    nodes = np.flatnonzero(restart)
    places = packed.place[nodes]
    starts = (restart[nodes] / restart[nodes].sum()).astype(single)
    rate = damping / (1.0 + np.sqrt(1.0 - damping**2))
    n_products = 1 if damping == 0 else int(np.ceil(np.log(2.0 / _LEFT) / -np.log(rate)))
    before, mass = np.zeros(len(transition), dtype=single), np.zeros(len(transition), dtype=single)
    mass[places] = starts
    weight = 2.0 / (2.0 - damping**2)
    for _ in range(n_products - 1):
        following = packed.matrix @ mass
        following *= single(weight * damping)
        following[places] += single(weight) * starts
        before *= single(1.0 - weight)
        following += before
        before, mass = mass, following
        weight = 1.0 / (1.0 - damping**2 * weight / 4.0)
    last = packed.matrix @ mass
    last *= single(damping)
    last[places] += starts
    rounded = _rounded(last)[packed.place].astype(np.float64)
    return np.asarray(rounded / rounded.sum())


def _rounded(mass: np.ndarray) -> np.ndarray:
    """Return the masses, (n,) float32, to 18 binary digits; what sank below 0 by rounding is 0."""
    bits = np.maximum(mass, 0).view(np.uint32)
    half, kept = np.uint32(1 << (_DIGITS_LEFT_OUT - 1)), np.uint32(0xFFFFFFFF << _DIGITS_LEFT_OUT & 0xFFFFFFFF)
    return np.asarray(((bits + half) & kept).view(np.float32))


@dataclass(frozen=True, eq=False)
class Walk:
    """Where a walk came to rest. entity_mass: (n_entities,), chunk_mass: (n_chunks,); together they sum to 1.
    damping: see walk()."""

    operator: WalkOperator
    entity_mass: np.ndarray
    chunk_mass: np.ndarray
    damping: float

    def ranked(self, candidates: np.ndarray | None = None) -> np.ndarray:
        """Return chunk rows by mass, the most first, ties by row, (k,) int64: all of them, or those candidates, (k,)
        int, ascending."""
        if candidates is None:
            return best_first_rounded(self.chunk_mass)
        return np.asarray(candidates[best_first_rounded(self.chunk_mass[candidates])])

    def carriers(self, chunk: int) -> list[tuple[int, float]]:
        """Return the entities that carry most mass to the chunk at each step of the walk at rest, and how much."""
        steps = self.operator.to_chunks
        start, end = steps.indptr[chunk : chunk + 2]
        entities = steps.indices[start:end]
        flow = self.damping * steps.data[start:end] * self.entity_mass[entities]
        best = np.lexsort((entities, -np.round(flow, 12)))[:_CARRIERS]
        return [(int(entities[place]), float(flow[place])) for place in best]


def operator_of(index: Index, tools: Tools) -> WalkOperator:
    """Return the walk's operator: the index part where it is stored, else computed now."""
    try:
        stored: WalkOperator = tools.part(PART)
    except PartMissing:
        return walk_operator(index.entity_chunks)
    return stored


def walk(
    index: Index,
    operator: WalkOperator,
    seeds: Sequence[Seed],
    vector: np.ndarray,
    *,
    passage_weight: float,
    damping: float,
) -> Walk:
    """Return the walk at rest: at each step it follows an edge with probability `damping`, else it starts again.

    It starts at the seeds (base entities), each with its cosine to the question over the number of chunks that mention
    it, and at all chunks, each with its cosine times passage_weight; cosines on the built-in model's scale. Negative
    ones count as 0; where nothing is left, it starts at all chunks alike. vector: (d,) of the question.
    """
    scale, from_entities = index.query_scale, dict[int, float]()
    for seed in seeds:
        n_chunks = len(index.layers[0].chunks_of(seed.row))
        from_entities[seed.row] = float(max(scale.plain(seed.score), 0.0) / max(1, n_chunks))
    cosines = np.maximum(scale.plain(similarity(index, CHUNKS, vector)), 0.0)
    from_chunks = (passage_weight * cosines).astype(np.float64)
    if not any(from_entities.values()) and not from_chunks.any():
        from_chunks += 1.0
    return _at_rest(operator, from_entities, from_chunks, damping)


def _at_rest(
    operator: WalkOperator, from_entities: Mapping[int, float], from_chunks: np.ndarray, damping: float
) -> Walk:
    """Return the mass x of x = damping T x + (1 - damping) restart, scaled to sum 1.

    from_entities: by row, and from_chunks, (c,): where the walk restarts. Every second step of the walk is at a chunk,
    so that the rounds go over chunks alone, two steps each: half as many rounds, and fewer chunks than entities. A walk
    that comes to a node without an edge restarts, which changes the solution by a factor alone (pagerank() gives the
    same).
    """
    both = operator.between_chunks
    started = from_chunks + damping * _one_step(operator, from_entities, len(from_chunks))
    if both is not None:
        in_order, started = started, np.empty_like(started)
        started[both.place] = in_order
    chunks = started
    for _ in range(_WALK_ROUNDS):
        following = operator.to_chunks @ (operator.to_entities @ chunks) if both is None else both.matrix @ chunks
        following *= damping**2
        following += started
        change, chunks = np.abs(following - chunks).sum(), following
        if change < _TOLERANCE * chunks.sum():
            break
    if both is not None:
        chunks = chunks[both.place]
    entities = operator.to_entities @ chunks
    entities *= damping
    for row, mass in from_entities.items():
        entities[row] += mass
    total = entities.sum() + chunks.sum()
    entities /= total
    return Walk(operator, entities, chunks / total, damping)


def _one_step(operator: WalkOperator, masses: Mapping[int, float], n_chunks: int) -> np.ndarray:
    """Return what one step from few entities brings to each chunk, (n_chunks,): each entity's mass goes to its chunks
    alike. masses: by row."""
    brought, lists = np.zeros(n_chunks), operator.to_entities
    for row in sorted(masses):
        chunks = entries_of(lists, row)
        if len(chunks):
            np.add.at(brought, chunks, 1.0 / len(chunks) * masses[row])
    return brought


def shortest_path(adjacency: "csr_array", source: int, target: int, *, most_hops: int) -> list[int]:
    """Return the nodes of a path with the fewest edges, source first; empty when there is none of at most most_hops
    edges.

    adjacency: (n, n), symmetric. Of several shortest paths the same one is taken each time. The search goes from both
    ends in turn and visits a few hundred nodes; from one end it would visit all, as scipy.sparse.csgraph does.
    """
    if source == target:
        return [source]
    parents = [np.full(adjacency.shape[0], -1, dtype=np.int64) for _ in range(2)]
    frontiers = [np.array([source]), np.array([target])]
    for side, node in enumerate((source, target)):
        parents[side][node] = node
    for _ in range(most_hops):
        side = int(len(frontiers[1]) < len(frontiers[0]))
        own_parents, other_parents = parents[side], parents[1 - side]
        nodes, origins = _neighbours(adjacency, frontiers[side])
        new = own_parents[nodes] < 0
        nodes, origins = nodes[new], origins[new]
        reached, first = np.unique(nodes, return_index=True)
        own_parents[reached] = origins[first]
        meeting = reached[other_parents[reached] >= 0]
        if len(meeting):
            node = int(meeting[0])
            halves = [_path_to_start(parents[end], node) for end in range(2)]
            return [*reversed(halves[0]), *halves[1][1:]]
        frontiers[side] = reached
        if not len(reached):
            return []
    return []


def _neighbours(adjacency: "csr_array", frontier: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the neighbours of those nodes, and the node from which each is reached, (m,) int each. frontier: (k,) int,
    nodes."""
    starts = adjacency.indptr[frontier].astype(np.int64)
    counts = adjacency.indptr[frontier + 1] - starts
    return adjacency.indices[places_of_runs(starts, counts)].astype(np.int64), np.repeat(frontier, counts)


def _path_to_start(parents: np.ndarray, node: int) -> list[int]:
    """Return the nodes from that one back to the start of its side. parents: (n,) int, -1 where not reached."""
    path = [node]
    while parents[path[-1]] != path[-1]:
        path.append(int(parents[path[-1]]))
    return path


def path_through(adjacency: "csr_array", stops: list[int], *, most_hops: int) -> list[list[int]]:
    """Return shortest paths from each stop to the next, in that order; none where two stops are too far apart. A stop
    that an earlier path has crossed is not left out, since the next path begins there."""
    paths = (shortest_path(adjacency, stop, following, most_hops=most_hops) for stop, following in pairwise(stops))
    return [path for path in paths if path]


@dataclass(frozen=True)
class Steiner:
    """nodes: of the tree, ascending. edges: pairs of nodes, ascending. worth: prizes of its nodes less its cost."""

    nodes: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    worth: float


@dataclass(frozen=True)
class _Tree:
    nodes: frozenset[int]
    edges: frozenset[tuple[int, int]]


def prize_collecting_tree(adjacency: "csr_array", prizes: Mapping[int, float], *, edge_cost: float) -> Steiner:
    """Return a tree with nearly the largest sum of prizes less edge_cost for each edge; of equal ones that with more
    prizes.

    adjacency: (n, n) sparse and symmetric; its weights do not count. prizes: of nodes, above 0; the ten largest count.
    """
    terminals = sorted(prizes, key=lambda node: (-prizes[node], node))[:_MOST_TERMINALS]
    if not terminals:
        return Steiner((), (), 0.0)
    # A way that costs more than all prizes but the largest is never worth it.
    others = sum(prizes[node] for node in terminals[1:])
    reach = min(_LONGEST_WAY, int(others / edge_cost))
    hops = Hops(adjacency, np.array(terminals), reach, only_between=True)
    best: tuple[float, float, tuple[int, ...], _Tree] | None = None
    for size in range(1, len(terminals) + 1):
        for chosen in combinations(range(len(terminals)), size):
            tree = _joining_tree(hops, terminals, chosen)
            if tree is None:
                continue
            prize = sum(prizes.get(node, 0.0) for node in tree.nodes)
            key = (prize - edge_cost * len(tree.edges), prize, tuple(-terminals[place] for place in chosen))
            if best is None or key > best[:3]:
                best = (*key, tree)
    assert best is not None  # each terminal alone is a tree
    return Steiner(tuple(sorted(best[3].nodes)), tuple(sorted(best[3].edges)), best[0])


class Hops:
    """The number of edges from up to 64 sources to each node of a graph.

    All sources advance a hop at a time; the sources that reach a node with a hop are the bits of one number.
    """

    def __init__(self, adjacency: "csr_array", sources: np.ndarray, reach: int, *, only_between: bool = False) -> None:
        """Advance up to `reach` hops. adjacency: (n, n), symmetric. sources: (k,) int nodes.

        only_between: end at the hop by which every source has reached every other one. No node between two of them is
        farther from either, and neither is a source from the nearest node of a tree that holds another one.
        """
        n, k = adjacency.shape[0], len(sources)
        self._adjacency, self._n_sources = adjacency, k
        self._rows: dict[int, list[int]] = {}
        self._paths: dict[tuple[int, int], tuple[int, ...]] = {}
        source_bits = np.uint64(1) << np.arange(k, dtype=np.uint64)
        every = np.bitwise_or.reduce(source_bits) if k else np.uint64(0)
        bits = np.uint16 if k <= 16 else np.uint64
        first = np.zeros(n, dtype=bits)
        np.bitwise_or.at(first, sources, source_bits.astype(bits))
        self._newly, arrived = [first], first.copy()  # newly[h]: sources that come to a node with hop h
        frontier = np.unique(sources)
        for _ in range(reach):
            if only_between and (arrived[sources] == every).all():
                break
            newly = self._spread(self._newly[-1], frontier)
            newly &= ~arrived
            frontier = np.flatnonzero(newly)
            if not len(frontier):
                break
            arrived |= newly
            self._newly.append(newly)

    def _spread(self, bits: np.ndarray, frontier: np.ndarray) -> np.ndarray:
        """Join the bits of the neighbours of each node, (n,). bits: (n,), 0 outside of the frontier, (m,) nodes."""
        joined = np.zeros_like(bits)
        indptr, indices = self._adjacency.indptr, self._adjacency.indices
        if len(frontier) * _FEW < len(bits):
            nodes, origins = _neighbours(self._adjacency, frontier)
            order = np.argsort(nodes, kind="stable")
            nodes, neighbour_bits = nodes[order], bits[origins[order]]
            starts = starts_of_runs(nodes)
            if len(starts):
                joined[nodes[starts]] = np.bitwise_or.reduceat(neighbour_bits, starts)
            return joined
        with_edges = np.flatnonzero(indptr[1:] > indptr[:-1])
        joined[with_edges] = np.bitwise_or.reduceat(bits[indices], indptr[with_edges])
        return joined

    def row(self, node: int) -> list[int]:
        """Return the hops from each source to the node, -1 beyond the reach."""
        known = self._rows.get(node)
        if known is None:
            known = self._rows[node] = [-1] * self._n_sources
            for hop, newly in enumerate(self._newly):
                bits = int(newly[node])
                while bits:
                    lowest = bits & -bits
                    known[lowest.bit_length() - 1] = hop
                    bits ^= lowest
        return known

    def path(self, place: int, node: int) -> tuple[int, ...]:
        """Return a shortest path from that source to a node that it reaches, by the smallest node at each step back."""
        known = self._paths.get((place, node))
        if known is None:
            path, indptr, indices = [node], self._adjacency.indptr, self._adjacency.indices
            for hop in range(self.row(node)[place] - 1, -1, -1):
                neighbours = indices[indptr[path[-1]] : indptr[path[-1] + 1]]
                nearer = neighbours[(self._newly[hop][neighbours] >> place & 1).astype(bool)]
                path.append(int(nearer.min()))
            known = self._paths[place, node] = tuple(reversed(path))
        return known


def _joining_tree(hops: Hops, terminals: list[int], chosen: tuple[int, ...]) -> _Tree | None:
    """Return the chosen terminals, each joined by a shortest path to the nearest node of the tree so far, the nearest
    terminal first; None when they are not joined within the reach."""
    nodes, edges = {terminals[chosen[0]]}, set[tuple[int, int]]()
    # Of each terminal outside the tree: hops to its nearest node, and that one.
    nearest: dict[int, tuple[int, int]] = {}
    outside, new = list(chosen[1:]), sorted(nodes)
    while outside:
        for node in new:
            row = hops.row(node)
            for place in outside:
                if row[place] >= 0 and (place not in nearest or (row[place], node) < nearest[place]):
                    nearest[place] = (row[place], node)
        candidates = [(*nearest[place], place) for place in outside if place in nearest]
        if not candidates:
            return None
        _, node, place = min(candidates, key=lambda candidate: (candidate[0], candidate[2]))
        path = hops.path(place, node)
        new = [each for each in path if each not in nodes]
        nodes |= set(path)
        edges |= {(min(pair), max(pair)) for pair in pairwise(path)}
        outside.remove(place)
    return _Tree(frozenset(nodes), frozenset(edges))
