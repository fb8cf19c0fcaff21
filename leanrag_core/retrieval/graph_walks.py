"""Walks and paths on sparse graphs: PageRank, the walk over entities and passages, shortest paths, Steiner trees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

from leanrag_core.errors import PartMissing
from leanrag_core.retrieval.anchoring import Seed
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import similarity
from leanrag_core.storage.layout import CHUNKS
from leanrag_core.types.index import Index
from leanrag_core.types.walks import WalkOperator, walk_operator

if TYPE_CHECKING:  # scipy takes a tenth of a second to import
    from scipy.sparse import csr_array

PAGERANK_ROUNDS = 100
PART = "passage_walk"
_TOLERANCE = 1e-7  # change of the whole mass in a round, at which the walk rests
_WALK_ROUNDS = 200
CARRIERS = 3  # entities that are shown of each passage
_MOST_TERMINALS = 10
_LONGEST_WAY = 12  # edges


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


@dataclass(frozen=True, eq=False)
class Walk:
    """Where a walk came to rest. entity_mass: (n_entities,), chunk_mass: (n_chunks,); together they sum to 1.
    damping: see walk()."""

    operator: WalkOperator
    entity_mass: np.ndarray
    chunk_mass: np.ndarray
    damping: float

    def ranked(self, candidates: np.ndarray | None = None) -> np.ndarray:
        """Return chunk rows by mass, the most first, ties by row: all of them, or those candidates (ascending)."""
        rows = np.arange(len(self.chunk_mass)) if candidates is None else candidates
        # Rounded, so that processors which add up in another order rank alike.
        return np.asarray(rows[np.argsort(-np.round(self.chunk_mass[rows], 12), kind="stable")])

    def carriers(self, chunk: int, n: int = CARRIERS) -> list[tuple[int, float]]:
        """Return the n entities that carry most mass to the chunk at each step of the walk at rest, and how much."""
        steps = self.operator.to_chunks
        start, end = steps.indptr[chunk : chunk + 2]
        entities = steps.indices[start:end]
        flow = self.damping * steps.data[start:end] * self.entity_mass[entities]
        best = np.lexsort((entities, -np.round(flow, 12)))[:n]
        return [(int(entities[place]), float(flow[place])) for place in best]


def operator_of(index: Index, tools: Tools) -> WalkOperator:
    """Return the walk's operator: the index part where it was made, else computed."""
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
    from_entities, from_chunks = np.zeros(len(index.layers[0])), np.zeros(index.chunks.num_rows)
    scale = index.query_scale
    for seed in seeds:
        n_chunks = len(index.layers[0].chunks_of(seed.row))
        from_entities[seed.row] = max(scale.plain(seed.score), 0.0) / max(1, n_chunks)
    from_chunks += passage_weight * np.maximum(scale.plain(similarity(index, CHUNKS, vector)), 0.0)
    if not from_entities.sum() + from_chunks.sum():
        from_chunks += 1.0
    return _at_rest(operator, from_entities, from_chunks, damping)


def _at_rest(operator: WalkOperator, from_entities: np.ndarray, from_chunks: np.ndarray, damping: float) -> Walk:
    """Return the mass x of x = damping T x + (1 - damping) restart, scaled to sum 1.

    Every second step of the walk is at a chunk, so that the rounds go over chunks alone, two steps each: half as many
    rounds, and fewer chunks than entities. A walk that comes to a node without an edge restarts, which changes the
    solution by a factor alone (pagerank() gives the same).
    """
    started = from_chunks + damping * (operator.to_chunks @ from_entities)
    chunks = started
    for _ in range(_WALK_ROUNDS):
        following = started + damping**2 * (operator.to_chunks @ (operator.to_entities @ chunks))
        change, chunks = np.abs(following - chunks).sum(), following
        if change < _TOLERANCE * chunks.sum():
            break
    entities = from_entities + damping * (operator.to_entities @ chunks)
    total = entities.sum() + chunks.sum()
    return Walk(operator, entities / total, chunks / total, damping)


def shortest_path(adjacency: "csr_array", source: int, target: int, *, most_hops: int) -> list[int]:
    """Return the nodes of a path with the fewest edges, source first; empty when there is none of at most so many
    edges.

    adjacency: (n, n), symmetric. Of several shortest paths the same one is taken each time. From both ends in turn, so
    that a few hundred nodes are looked at where all nodes would be from one end (scipy.sparse.csgraph visits them all).
    """
    if source == target:
        return [source]
    parents = [np.full(adjacency.shape[0], -1, dtype=np.int64) for _ in range(2)]
    frontiers = [np.array([source]), np.array([target])]
    for side, node in enumerate((source, target)):
        parents[side][node] = node
    for _ in range(most_hops):
        side = int(len(frontiers[1]) < len(frontiers[0]))
        own, other = parents[side], parents[1 - side]
        nodes, origins = _neighbours(adjacency, frontiers[side])
        new = own[nodes] < 0
        nodes, origins = nodes[new], origins[new]
        reached, first = np.unique(nodes, return_index=True)
        own[reached] = origins[first]
        meeting = reached[other[reached] >= 0]
        if len(meeting):
            node = int(meeting[0])
            ways = [_path_to_start(parents[end], node) for end in range(2)]
            return [*reversed(ways[0]), *ways[1][1:]]
        frontiers[side] = reached
        if not len(reached):
            return []
    return []


def _neighbours(adjacency: "csr_array", frontier: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the neighbours of those nodes, and from which of them each is reached. frontier: (k,) int, nodes."""
    starts = adjacency.indptr[frontier].astype(np.int64)
    counts = adjacency.indptr[frontier + 1] - starts
    places = np.arange(int(counts.sum())) + np.repeat(starts - np.cumsum(counts) + counts, counts)
    return adjacency.indices[places].astype(np.int64), np.repeat(frontier, counts)


def _path_to_start(parents: np.ndarray, node: int) -> list[int]:
    """Return the nodes from that one back to the start of its side. parents: (n,) int, -1 where not reached."""
    way = [node]
    while parents[way[-1]] != way[-1]:
        way.append(int(parents[way[-1]]))
    return way


def path_through(adjacency: "csr_array", stops: list[int], *, most_hops: int) -> list[list[int]]:
    """Return shortest paths from each stop to the next, in that order; none where two stops are too far apart. A stop
    that an earlier path has crossed is not left out, since the next path begins there."""
    ways = (shortest_path(adjacency, stop, following, most_hops=most_hops) for stop, following in pairwise(stops))
    return [way for way in ways if way]


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
    distances = hop_distances(adjacency, np.array(terminals), reach)
    best: tuple[float, float, tuple[int, ...], _Tree] | None = None
    for size in range(1, len(terminals) + 1):
        for chosen in combinations(range(len(terminals)), size):
            tree = _joining_tree(adjacency, distances, terminals, chosen)
            if tree is None:
                continue
            prize = sum(prizes.get(node, 0.0) for node in tree.nodes)
            key = (prize - edge_cost * len(tree.edges), prize, tuple(-terminals[place] for place in chosen))
            if best is None or key > best[:3]:
                best = (*key, tree)
    assert best is not None  # each terminal alone is a tree
    return Steiner(tuple(sorted(best[3].nodes)), tuple(sorted(best[3].edges)), best[0])


def hop_distances(adjacency: "csr_array", sources: np.ndarray, reach: int) -> np.ndarray:
    """Return (len(sources), n) int32: edges from each source to each node, -1 beyond the reach.

    All sources go a hop at a time, by one sparse product.
    """
    n, k = adjacency.shape[0], len(sources)
    distances = np.full((k, n), -1, dtype=np.int32)
    distances[np.arange(k), sources] = 0
    pattern = adjacency.copy()
    pattern.data = np.ones_like(pattern.data)
    frontier = (distances == 0).T.astype(np.float32)
    for hop in range(1, reach + 1):
        reached = ((pattern @ frontier) > 0).T & (distances < 0)
        if not reached.any():
            break
        distances[reached] = hop
        frontier = reached.T.astype(np.float32)
    return distances


def _joining_tree(
    adjacency: "csr_array", distances: np.ndarray, terminals: list[int], chosen: tuple[int, ...]
) -> _Tree | None:
    """Return the chosen terminals, each joined by a shortest path to the nearest node of the tree so far, the nearest
    terminal first; None when they are not joined within the reach. distances: (k, n) int hops from each terminal."""
    nodes, edges = {terminals[chosen[0]]}, set[tuple[int, int]]()
    outside = list(chosen[1:])
    while outside:
        ways = [(int(distances[place, node]), place, node) for place in outside for node in sorted(nodes)]
        reached = [way for way in ways if way[0] >= 0]
        if not reached:
            return None
        _, place, node = min(reached)
        path = _path_to_source(adjacency, distances[place], node)
        nodes |= set(path)
        edges |= {(min(pair), max(pair)) for pair in pairwise(path)}
        outside.remove(place)
    return _Tree(frozenset(nodes), frozenset(edges))


def _path_to_source(adjacency: "csr_array", distances: np.ndarray, target: int) -> list[int]:
    """Return a shortest path from the source of the distances, (n,) int hops, to the target, by the smallest node at
    each step back."""
    path = [target]
    while distances[path[-1]] > 0:
        node = path[-1]
        neighbours = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
        nearer = neighbours[distances[neighbours] == distances[node] - 1]
        path.append(int(nearer.min()))
    return path[::-1]
