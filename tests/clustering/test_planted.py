import numpy as np
import pytest

from benchmarks.clustering import broken_up
from benchmarks.planted import planted, spectrum


def test_sixty_four_components_explain_six_tenths() -> None:
    shares = spectrum()
    assert shares.sum() == pytest.approx(1.0)
    assert (np.diff(shares) <= 0).all()
    assert shares[:64].sum() == pytest.approx(0.6, abs=0.02)


def test_planted_vectors_are_unit_rows_that_repeat_and_are_as_near_to_each_other_as_descriptions() -> None:
    given = planted(1500, seed=3)
    assert np.array_equal(given.vectors, planted(1500, seed=3).vectors)
    assert np.allclose(np.linalg.norm(given.vectors, axis=1), 1, atol=1e-5)
    products = given.vectors @ given.vectors.T
    np.fill_diagonal(products, -1)
    assert products.max(axis=1).mean() == pytest.approx(0.55, abs=0.03)
    sizes = np.bincount(given.leaf)
    assert len(sizes) == pytest.approx(75, abs=3)
    assert sizes.max() > 40


def test_a_leaf_above_the_cap_is_broken_up() -> None:
    parts = broken_up(np.array([0] * 5 + [1] * 2), 2)
    assert np.bincount(parts).tolist() == [2, 2, 1, 2]
