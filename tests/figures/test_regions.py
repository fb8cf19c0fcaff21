"""Regions of clusters in the plane: around what lies densely, one for each part, without strays."""

import numpy as np
import pytest

from leanrag_core.figures.regions import dense_regions


def square(x: float, y: float, side: int) -> np.ndarray:
    """Return (side * side, 2) points of a grid with steps of .01."""
    steps = np.arange(side) * 0.01
    return np.stack(np.meshgrid(x + steps, y + steps), axis=-1).reshape(-1, 2)


def area(corners: np.ndarray) -> float:
    """Return the area of a polygon, (k, 2)."""
    x, y = corners.T
    return abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1))) / 2


def test_strays_widen_no_region() -> None:
    strays = np.array([[0.9, 0.9], [0.05, 0.95], [0.95, 0.02]])
    [region] = dense_regions(np.concatenate([square(0.4, 0.4, 6), strays]))
    assert area(region) <= 0.05 * 0.05 + 1e-9
    assert (region >= 0.4 - 1e-9).all()
    assert (region <= 0.45 + 1e-9).all()


def test_two_parts_of_a_cluster_have_a_region_each_the_larger_first() -> None:
    larger, smaller = dense_regions(np.concatenate([square(0.7, 0.7, 5), square(0.1, 0.1, 8)]))
    assert larger.max() < 0.2
    assert smaller.min() > 0.6


def test_points_on_a_line_have_its_ends_and_two_points_no_region() -> None:
    [region] = dense_regions(np.array([[0.1, 0.2], [0.2, 0.2], [0.3, 0.2]]))
    assert region.tolist() == pytest.approx(np.array([[0.1, 0.2], [0.3, 0.2]]))
    assert dense_regions(np.array([[0.1, 0.2], [0.2, 0.2]])) == ()


def test_equal_points_are_a_region_of_one_place() -> None:
    [region] = dense_regions(np.full((5, 2), 0.5))
    assert region.tolist() == [[0.5, 0.5], [0.5, 0.5]]
