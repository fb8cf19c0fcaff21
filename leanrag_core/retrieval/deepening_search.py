"""LazyGraphRAG's search for relevant chunks: the nearest of each community in turn, and then those of its parts.

Source: LazyGraphRAG (Microsoft Research 2024), "match query": best first, breadth first, iterative deepening.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.errors import BudgetSpent
from leanrag_core.types.communities import ConceptCommunities

RelevanceTest = Callable[[Sequence[int]], Mapping[int, int]]  # rows of chunks to ratings of those that are relevant


@dataclass(frozen=True)
class Visit:
    """A community whose nearest chunks were tested. depth: 0 for the first round. tested, relevant: rows of chunks."""

    community: int
    depth: int
    tested: tuple[int, ...]
    relevant: tuple[int, ...]


@dataclass(frozen=True)
class SearchResult:
    """ratings: of the relevant chunks, by row. visits: in their order. budget_spent: whether the
    budget for calls of a model ended the search."""

    ratings: Mapping[int, int]
    visits: tuple[Visit, ...]
    budget_spent: bool = False

    @property
    def n_tested(self) -> int:
        """Return how many chunks were tested."""
        return sum(len(visit.tested) for visit in self.visits)


def deepening_search(
    communities: ConceptCommunities,
    ranking: np.ndarray,
    test: RelevanceTest,
    *,
    most_tests: int,
    top_k: int,
    most_misses: int,
) -> SearchResult:
    """Return the relevant chunks that at most most_tests tests find.

    A round takes communities by the mean rank of their top_k nearest chunks, and tests the top_k nearest untested ones
    of each. After most_misses communities in a row without a relevant chunk the next round begins: with the parts of
    each community, or itself where it has none, but for those that gave nothing. The search ends with the tests, with a
    round that gives nothing, or when every chunk is tested. Communities that a round did not reach stay in the next
    one, as in the Intelligence Toolkit (`query_text_data/relevance_assessor.py`).

    ranking: (n_chunks,) rows, best first.
    """
    ranks = np.empty(len(ranking), dtype=np.int64)
    ranks[ranking] = np.arange(len(ranking))
    is_tested = np.zeros(len(ranking), dtype=bool)
    ratings, visits = dict[int, int](), list[Visit]()
    frontier, depth, tests_left = np.flatnonzero(communities.parent < 0), 0, most_tests
    while len(frontier) and tests_left:
        given_up, misses, n_relevant = set[int](), 0, len(ratings)
        means = mean_best_ranks(communities, frontier, ranks, top_k)
        for row in frontier[np.lexsort((frontier, means))].tolist():
            untested = communities.chunks[row]
            untested = untested[~is_tested[untested]]
            if not len(untested):  # its parts have none either
                given_up.add(row)
                continue
            chunks = untested[np.argsort(ranks[untested])[: min(top_k, tests_left)]].tolist()
            try:
                relevant = test(chunks)
            except BudgetSpent:
                return SearchResult(ratings, tuple(visits), budget_spent=True)
            is_tested[chunks] = True
            tests_left -= len(chunks)
            ratings |= relevant
            visits.append(Visit(row, depth, tuple(chunks), tuple(chunk for chunk in chunks if chunk in relevant)))
            misses = 0 if relevant else misses + 1
            if not relevant:
                given_up.add(row)
            if misses == most_misses or not tests_left:
                break
        if len(ratings) == n_relevant:
            break
        frontier, depth = _below(communities, frontier, given_up), depth + 1
    return SearchResult(ratings, tuple(visits))


def mean_best_ranks(communities: ConceptCommunities, rows: np.ndarray, ranks: np.ndarray, k: int) -> np.ndarray:
    """Return (m,) float64: the mean of the k lowest ranks among the chunks of each of those communities, of all where
    it has fewer.

    rows: (m,), of communities with a chunk. ranks: (n_chunks,) int, each once.
    """
    lists = communities.chunks
    sizes = (lists.offsets[rows + 1] - lists.offsets[rows]).astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    within = np.arange(int(sizes.sum())) - np.repeat(starts - lists.offsets[rows], sizes)
    chunk_ranks = ranks[lists.values[within]]
    total, after = np.zeros(len(rows), dtype=np.int64), len(ranks)  # a rank that stands behind all
    for place in range(min(k, int(sizes.max(initial=0)))):
        lowest = np.minimum.reduceat(chunk_ranks, starts)
        total += np.where(sizes > place, lowest, 0)
        chunk_ranks[chunk_ranks == np.repeat(lowest, sizes)] = after
    return np.asarray(total / np.minimum(sizes, k))


def _below(communities: ConceptCommunities, frontier: np.ndarray, given_up: set[int]) -> np.ndarray:
    """Return the parts of those communities, or themselves where they have none, without those that are given up; (k,)
    int64, ascending. frontier: (f,) int rows."""
    kept = frontier[~np.isin(frontier, sorted(given_up))]
    parts = np.flatnonzero(np.isin(communities.parent, kept))
    undivided = kept[~np.isin(kept, communities.parent[parts])]
    return np.union1d(parts, undivided)
