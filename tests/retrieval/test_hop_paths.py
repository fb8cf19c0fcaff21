"""Paths of two hops: by hand, and against an enumeration of all paths."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

from leanrag_core.retrieval.hop_paths import HopPath, HopPaths, Mentions, best_chunks, by_cosine, nearest_mentions

LINE = ((0, 1), (1, 2), (2, 3))


def graph(n: int, *edges: tuple[int, int]) -> csr_array:
    joined = np.zeros((n, n), dtype=np.float32)
    for source, target in edges:
        joined[source, target] = joined[target, source] = 0.5  # a weight, which does not count
    return csr_array(joined)


def hop_paths(joined: csr_array, starts: list[int], answers: list[int], *voted: tuple[int, int]) -> HopPaths:
    may_answer = np.isin(np.arange(joined.shape[0]), answers)
    return HopPaths(
        joined, np.array(starts, dtype=np.int64), may_answer, np.array(voted, dtype=np.int32).reshape(-1, 2)
    )


def chunk_scores(paths: HopPaths, mentions: Mentions) -> csr_array:
    """Return the scores of the chunks by the mentions of all nodes."""
    entities, nearest = (matrix[paths.nodes] for matrix in (mentions.entities, mentions.nearest))
    return paths.chunk_scores(Mentions(entities, nearest, mentions.voted))


def one_chunk_each(n: int, n_voted: int = 0) -> Mentions:
    """Return mentions of node i in chunk i, and of vote j in chunk n + j."""
    mentions = csr_array(np.eye(n, n + n_voted))
    return Mentions(mentions, mentions, csr_array(np.eye(n + n_voted)[n:]))


def test_answers_and_votes_raise_the_score_of_a_path() -> None:
    # 0 - 1 - 2 scores 1, and 1 for the answer 2, and 1 for the vote on 1 - 2, whichever end is named first.
    for vote in ((1, 2), (2, 1)):
        paths = hop_paths(graph(4, *LINE), [0], [2, 3], vote)
        assert (len(paths), paths.best(0)) == (1, HopPath((0, 1, 2), 3))
        scores = chunk_scores(paths, one_chunk_each(4, 1)).toarray()
        assert scores.tolist() == [[3, 3, 3, 0, 3]]  # each node, and the edge that was voted for


def test_a_path_does_not_return_and_ends_where_the_first_node_has_no_other_neighbour() -> None:
    # From 1: 1 - 0 ends there, 1 - 2 - 3 goes on.
    paths = hop_paths(graph(4, *LINE), [1], [0], (2, 3))
    assert len(paths) == 2
    # 1 - 0 scores 1 + 1 for the answer, 1 - 2 - 3 scores 1 + 1 for the vote; the start is on both.
    assert chunk_scores(paths, one_chunk_each(4, 1)).toarray().tolist() == [[2, 4, 2, 2, 2]]
    assert paths.best(0) == HopPath((1, 0), 2)  # of equal ones that with the lower rows
    assert hop_paths(graph(4, *LINE), [1], [], (2, 3)).best(0) == HopPath((1, 2, 3), 2)


def test_a_start_without_a_relation_has_its_own_chunks() -> None:
    paths = hop_paths(graph(3, (0, 1)), [2, 0], [2])
    assert paths.has_paths.tolist() == [False, True]
    assert paths.best(0) is None
    assert chunk_scores(paths, one_chunk_each(3)).toarray().tolist() == [[0, 0, 1], [1, 1, 0]]


def test_without_a_start_or_a_relation_there_is_no_path() -> None:
    assert chunk_scores(hop_paths(graph(3), [], []), one_chunk_each(3)).shape == (0, 3)
    assert len(hop_paths(graph(3), [1], [])) == 0


def test_of_more_than_five_chunks_the_nearer_half_is_looked_at_but_five_at_least() -> None:
    mentions = csr_array(np.array([[1] * 8, [1] * 4 + [0] * 4]))
    kept = nearest_mentions(by_cosine(mentions, np.array([7, 6, 5, 4, 3, 2, 1, 0])))
    assert [kept[[row]].indices.tolist() for row in (0, 1)] == [[0, 1, 2, 3, 4], [4, 5, 6, 7]]
    assert nearest_mentions(csr_array(np.ones((1, 12)))).nnz == 6


def test_the_best_chunks_come_first_and_of_equal_ones_the_nearest() -> None:
    scores = csr_array(np.array([[0.0, 2.0, 5.0, 2.0], [0.0, 0.0, 0.0, 1.0]]))
    assert best_chunks(scores, 2) == [[2, 1], [3]]


def by_enumeration(
    joined: np.ndarray, start: int, answers: set[int], voted: list[tuple[int, int]]
) -> dict[tuple[int, ...], int]:
    """Return the score of every path from the start."""
    neighbours = [np.flatnonzero(row).tolist() for row in joined]
    paths: list[tuple[int, ...]] = []
    for first in neighbours[start]:
        onward = [second for second in neighbours[first] if second != start]
        paths += [(start, first, second) for second in onward] or [(start, first)]
    votes = Counter(frozenset(edge) for edge in voted)
    return {
        path: 1 + sum(node in answers for node in path) + sum(votes[frozenset(edge)] for edge in pairwise(path))
        for path in paths
    }


@pytest.mark.parametrize("seed", range(30))
def test_products_of_matrices_count_what_an_enumeration_counts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_chunks = int(rng.integers(2, 14)), 9
    half = np.triu(rng.random((n, n)) < rng.choice([0.1, 0.3, 0.6]), 1)
    joined = half | half.T
    edges = np.argwhere(half)
    picked = edges[rng.random(len(edges)) < 0.3]
    voted = [tuple(edge[:: rng.choice([-1, 1])].tolist()) for edge in (*picked, *picked[:1])]  # the first one twice
    answers = set(np.flatnonzero(rng.random(n) < 0.3).tolist())
    starts = rng.permutation(n)[: max(1, n // 2)].tolist()
    entities = rng.random((n, n_chunks)) < 0.7
    stated = rng.random((len(voted), n_chunks)) < 0.3
    sparse = csr_array(entities.astype(np.float64))
    mentions = Mentions(sparse, nearest_mentions(sparse), csr_array(stated.astype(np.float64)))
    nearest = mentions.nearest.toarray()
    paths = hop_paths(csr_array(joined.astype(np.float32)), starts, sorted(answers), *voted)
    scores, n_paths = chunk_scores(paths, mentions).toarray(), 0
    for place, start in enumerate(starts):
        by_path = by_enumeration(joined, start, answers, voted)
        expected = np.zeros(n_chunks) if by_path else entities[start].astype(float)
        for path, score in by_path.items():
            on_path = {frozenset(edge) for edge in pairwise(path)}
            over = [row for row, edge in enumerate(voted) if frozenset(edge) in on_path]
            expected += score * (entities[start] + nearest[list(path[1:])].sum(axis=0) + stated[over].sum(axis=0))
        assert scores[place].tolist() == expected.tolist()
        n_paths += len(by_path)
        best = paths.best(place)
        assert (best.score if best else 0) == max(by_path.values(), default=0)
        assert best is None or by_path[best.nodes] == best.score
    assert len(paths) == n_paths
