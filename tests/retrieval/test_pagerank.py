"""Personalised PageRank against the linear system that it solves."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

from leanrag_core.retrieval.graph_walks import pagerank, stationary
from leanrag_core.retrieval.vector_search import best_rows
from leanrag_core.types.walks import Transition, normalised


def test_two_nodes_share_the_mass_as_worked_out_by_hand() -> None:
    # x0 = .5 + .5 x1 and x1 = .5 x0, so x0 = 2/3 and x1 = 1/3.
    both = normalised(csr_array(np.array([[0.0, 3.0], [3.0, 0.0]])))
    mass = pagerank(both, np.array([1.0, 0.0]), damping=0.5, tolerance=1e-12)
    assert mass == pytest.approx([2 / 3, 1 / 3])


def test_a_walk_without_an_edge_restarts() -> None:
    alone = normalised(csr_array((3, 3), dtype=float))
    assert pagerank(alone, np.array([0.0, 2.0, 2.0]), damping=0.85) == pytest.approx([0, 0.5, 0.5])


def test_the_mass_solves_the_linear_system() -> None:
    weights = np.random.default_rng(3).random((6, 6)) + 0.1
    transition = normalised(csr_array(weights + weights.T))
    restart = np.array([1, 0, 0, 2, 0, 1.0])
    expected = np.linalg.solve(np.eye(6) - 0.85 * transition.toarray(), 0.15 * restart / restart.sum())
    assert pagerank(transition, restart, damping=0.85, tolerance=1e-12) == pytest.approx(expected)
    assert expected.sum() == pytest.approx(1)


def large_graph(n: int) -> Transition:
    """Return a ring with chords of weights by chance, and at its end three nodes: two leaves of one neighbour, one
    alone."""
    random = np.random.default_rng(11)
    source = np.arange(n - 3)
    ends = np.concatenate(
        [
            np.stack([source, (source + 1) % (n - 3)]),
            random.integers(0, n - 3, (2, n)),
            np.array([[7, 7], [n - 3, n - 2]]),
        ],
        axis=1,
    )
    weights = np.append(random.random(ends.shape[1] - 2) + 0.1, [1.0, 1.0])
    both = np.concatenate([ends, ends[::-1]], axis=1)
    return Transition(normalised(coo_array((np.append(weights, weights), both), shape=(n, n)).tocsr()))


@pytest.mark.parametrize("damping", [0.0, 0.1, 0.5, 0.85, 0.99])
def test_the_mass_on_a_large_graph_is_that_of_a_long_walk(damping: float) -> None:
    transition, restart = large_graph(12_000), np.zeros(12_000)
    restart[[7, 3000, 11_999]] = [3, 2, 0.5]
    exact = pagerank(transition.matrix, restart, damping=damping, tolerance=1e-12, max_rounds=4000)
    mass = stationary(transition, restart, damping=damping)
    assert mass.dtype == np.float64
    assert mass.sum() == pytest.approx(1)
    assert np.abs(mass - exact).sum() < 2e-5
    n_reached = min(20, int(np.count_nonzero(exact)))
    assert mass[best_rows(exact, n_reached)] == pytest.approx(exact[best_rows(exact, n_reached)], rel=1e-4)
    assert mass[11_997] == mass[11_998]  # nodes that stand alike tie


def test_a_small_graph_is_walked_round_by_round() -> None:
    transition, restart = large_graph(900), np.zeros(900)
    restart[[1, 5]] = 1
    rounds = pagerank(transition.matrix, restart, damping=0.85)
    assert stationary(transition, restart, damping=0.85).tobytes() == rounds.tobytes()


def test_the_packed_matrix_is_the_same_graph_in_another_order() -> None:
    transition = large_graph(2000)
    packed = transition.packed
    assert sorted(packed.place.tolist()) == list(range(2000))
    unpacked = packed.matrix.toarray()[np.ix_(packed.place, packed.place)]
    assert np.allclose(unpacked, transition.matrix.toarray(), rtol=1e-6, atol=1e-12)
