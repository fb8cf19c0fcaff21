"""Personalised PageRank against the linear system that it solves."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from leanrag_core.retrieval.graph_walks import pagerank
from leanrag_core.types.walks import normalised


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
