"""Paths of two hops from chosen nodes, how they score, and the chunks that they lead to (MiniRAG)."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # scipy takes a tenth of a second to import
    from scipy.sparse import csr_array

_LEAST_MENTIONS = 5  # chunks of an entity that are always looked at; of more only half
# All numbers are whole, in float64, so that sums are exact in whatever order a processor adds them up.


@dataclass(frozen=True)
class HopPath:
    """nodes: two or three rows, the start first. score: see HopPaths."""

    nodes: tuple[int, ...]
    score: int


@dataclass(frozen=True, eq=False)
class Mentions:
    """Which chunks go with what. Chunks are columns, in the order of their cosine to the question, the nearest first.

    entities: (k, c), the chunks that mention each of HopPaths.nodes. nearest: the same, of more than five only the half
    that is nearest to the question. voted: (v, c), the chunks that state each relation that was voted for.
    """

    entities: "csr_array"
    nearest: "csr_array"
    voted: "csr_array"


class HopPaths:
    """The paths start - first - second from each start, over neighbours, without a return; where the first node has no
    other neighbour the path ends there.

    A path scores 1, and 1 for each of its nodes that may be the answer, and 1 for each vote that its edges have. Paths
    are not listed one by one: for a start s, with a, b the nodes that follow, the score is left[s, a] + right[a, b], so
    that all sums over paths are products of sparse matrices. Source: MiniRAG, query-guided reasoning path discovery, as
    its release counts (`utils.py`, `cal_path_score_list` and `edge_vote_path`; `operate.py`, `path2chunk`).

    nodes: (k,) rows, ascending, of all nodes that paths or votes come to; the matrices are over these alone.
    """

    def __init__(
        self, adjacency: "csr_array", starts: np.ndarray, may_answer: np.ndarray, voted_ends: np.ndarray
    ) -> None:
        """Keep the edges around the starts.

        adjacency: (n, n), symmetric, without loops; its weights do not count. starts: (m,) rows. may_answer: (n,) bool.
        voted_ends: (v, 2) rows of the ends of edges, one for each vote.
        """
        from scipy.sparse import coo_array, csr_array

        from_starts = adjacency[starts]
        reached = np.unique(from_starts.indices)
        from_reached = adjacency[reached]
        self.nodes = np.unique(np.concatenate([starts, reached, from_reached.indices, voted_ends.ravel()]))
        # From here on a node is its place in self.nodes.
        starts, self._reached, voted_ends = (
            np.searchsorted(self.nodes, rows) for rows in (starts, reached, voted_ends)
        )
        self._starts, self._voted_ends = starts, voted_ends
        self._answers = may_answer[self.nodes].astype(np.float64)
        both, size = np.concatenate([voted_ends, voted_ends[:, ::-1]]), (len(self.nodes),) * 2
        votes = coo_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=size).tocsr()
        first, self._second = _among(from_starts, self.nodes), _among(from_reached, self.nodes)
        degrees = np.diff(self._second.indptr)
        # 1 + votes on each edge
        first, onward = first + votes[starts], self._second + votes[self._reached]
        self._right = _like(onward, onward.data + self._answers[onward.indices])
        row_of = np.repeat(np.arange(len(starts)), np.diff(first.indptr))
        of_start = self._answers[starts][row_of]
        left = of_start + self._answers[first.indices] + first.data - 1
        place = np.searchsorted(self._reached, first.indices)
        back = of_start + first.data  # right[a, s], of the way back, which no path takes
        forward = np.asarray(self._right.sum(axis=1)).ravel()[place] - back
        alone = degrees[place] == 1
        self._through = _like(first, left * (degrees[place] - 1) + forward + np.where(alone, left + 1, 0))
        self._left = _like(first, left)
        self._returns = np.bincount(row_of, weights=left + back, minlength=len(starts))
        shape = (len(starts), len(self._reached))
        self._to_reached = csr_array((left, place, first.indptr), shape=shape)
        self._n_paths = int((degrees[place] - 1 + alone).sum())

    def __len__(self) -> int:
        """Return the number of paths."""
        return self._n_paths

    @property
    def has_paths(self) -> np.ndarray:
        """(m,) bool: whether a path begins at each start."""
        return np.asarray(np.diff(self._left.indptr) > 0)

    def chunk_scores(self, mentions: Mentions) -> "csr_array":
        """Return (m, c) float64, whole numbers: for each start and chunk the sum of the scores of the start's paths,
        once for each of their nodes and voted edges that the chunk mentions or states.

        The start counts with all its chunks, other nodes with the nearest. A start without a path has its own chunks,
        1 each.
        """
        from scipy.sparse import csr_array, diags_array, hstack, vstack

        nearest, first = mentions.nearest, self._to_reached
        of_start = np.where(self.has_paths, np.asarray(self._through.sum(axis=1)).ravel(), 1)
        # right is 1 at every edge, and more at few of them
        extra = _like(self._right, self._right.data - 1).copy()  # which shares no indices that would be eliminated
        extra.eliminate_zeros()
        # What each start has of a kind of places, and the chunks of these places: one product makes all sums.
        parts = (
            (_like(first, self._through.data), nearest[self._reached]),
            (_like(first, first.data + 1), self._second @ nearest),
            (_with_ones(first), extra @ nearest),
            (diags_array(-self._returns, dtype=np.float64), nearest[self._starts]),
            (diags_array(of_start, dtype=np.float64), mentions.entities[self._starts]),
            (csr_array(self._edge_scores()), mentions.voted),
        )
        factors, chunks = zip(*parts, strict=True)
        return csr_array(hstack(factors, format="csr") @ vstack(chunks, format="csr"))

    def _edge_scores(self) -> np.ndarray:
        """Return (m, v): for each start and vote the sum of the scores of the start's paths over that edge."""
        scores = np.zeros((len(self._starts), len(self._voted_ends)))
        if not scores.size:
            return scores
        _, edge, counts = np.unique(np.sort(self._voted_ends, axis=1), axis=0, return_inverse=True, return_counts=True)
        votes = counts[edge.ravel()]
        for near_ends, far_ends in (self._voted_ends.T, self._voted_ends.T[::-1]):
            # As first hops of paths that start at the near end, then as second hops from the near to the far end.
            scores += (self._starts[:, None] == near_ends) * self._through[:, far_ends].toarray()
            goes_on = _with_ones(self._left)[:, near_ends].toarray() * (self._starts[:, None] != far_ends)
            scores += goes_on * (self._left[:, near_ends].toarray() + 1 + votes + self._answers[far_ends])
        return scores

    def best(self, place: int) -> HopPath | None:
        """Return the path of that start with the highest score, ties by the rows of its nodes; None without one."""
        start, row = int(self._starts[place]), slice(*self._left.indptr[place : place + 2].tolist())
        left, reached = self._left.data[row], self._to_reached.indices[row]
        if not len(reached):
            return None
        right = self._right[reached]
        n_onward = np.diff(right.indptr)
        goes_back = right.indices == start
        ends = np.repeat(np.where(n_onward == 1, left + 1, -1), n_onward)  # of a path that ends at its first node
        scores = np.where(goes_back, ends, np.repeat(left, n_onward) + right.data)
        best = int(np.argmax(scores))
        first = int(self._reached[reached[np.searchsorted(right.indptr, best, side="right") - 1]])
        second = () if goes_back[best] else (int(right.indices[best]),)
        return HopPath(tuple(self.nodes[[start, first, *second]].tolist()), int(scores[best]))


def nearest_mentions(mentions: "csr_array") -> "csr_array":
    """Return the mentions of entities in the nearest chunks alone: of more than five the half that is nearest, but five
    at least. mentions: (n, c), columns in the order of their cosine, sorted within rows."""
    from scipy.sparse import csr_array

    counts = np.diff(mentions.indptr)
    place = np.arange(mentions.nnz) - np.repeat(mentions.indptr[:-1], counts)
    kept = place < np.repeat(np.maximum(_LEAST_MENTIONS, counts // 2), counts)
    offsets = np.concatenate([[0], np.cumsum(np.minimum(counts, np.maximum(_LEAST_MENTIONS, counts // 2)))])
    return csr_array((mentions.data[kept], mentions.indices[kept], offsets), shape=mentions.shape)


def by_cosine(mentions: "csr_array", order: np.ndarray) -> "csr_array":
    """Return the matrix, (k, c), with its chunks in that order and sorted within rows. order: (c,) rows of chunks."""
    from scipy.sparse import csr_array

    place = np.empty(len(order), dtype=mentions.indices.dtype)
    place[order] = np.arange(len(order))
    moved = csr_array((mentions.data.astype(np.float64), place[mentions.indices], mentions.indptr), mentions.shape)
    moved.sort_indices()
    return moved


def best_chunks(scores: "csr_array", n: int) -> list[list[int]]:
    """Return for each start the n chunks with the highest scores, ties by column; none without a score. scores: (m, c)
    float64, columns in any order."""
    lists = []
    for start, end in pairwise(scores.indptr.tolist()):
        columns, values = scores.indices[start:end], scores.data[start:end]
        floor = max(1.0, float(np.partition(values, len(values) - n)[-n])) if n < len(values) else 1.0
        kept = np.flatnonzero(values >= floor)
        order = np.lexsort((columns[kept], -values[kept]))[:n]
        lists.append(columns[kept[order]].tolist())
    return lists


def _among(matrix: "csr_array", nodes: np.ndarray) -> "csr_array":
    """Return the matrix, (r, n), with ones, and those nodes alone as columns, (r, k). nodes: (k,) ascending, all that
    the matrix has."""
    from scipy.sparse import csr_array

    places = np.searchsorted(nodes, matrix.indices).astype(matrix.indices.dtype)
    return csr_array((np.ones(matrix.nnz), places, matrix.indptr), shape=(matrix.shape[0], len(nodes)))


def _with_ones(matrix: "csr_array") -> "csr_array":
    return _like(matrix, np.ones(matrix.nnz))


def _like(matrix: "csr_array", values: np.ndarray) -> "csr_array":
    """Return a matrix of the same shape and places with other numbers. values: (stored numbers,)."""
    from scipy.sparse import csr_array

    return csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
