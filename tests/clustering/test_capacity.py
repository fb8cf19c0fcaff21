import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from leanrag_core.clustering.sizes import assign_within_capacity


def first_open(rows: np.ndarray, components: np.ndarray) -> np.ndarray:
    return np.full(len(rows), components[0])


def one_after_another(candidates: np.ndarray, margin: np.ndarray, capacity: int, m: int) -> np.ndarray:
    """Assign each point in turn to its best candidate below the capacity; -1 without any. This is the reference."""
    labels, sizes = np.full(len(margin), -1), np.zeros(m, dtype=int)
    for row in np.argsort(-margin, kind="stable"):
        for component in candidates[row]:
            if sizes[component] < capacity:
                labels[row] = component
                sizes[component] += 1
                break
    return labels


def test_points_with_the_surest_choice_keep_it_when_a_component_is_full() -> None:
    candidates = np.array([[0, 1], [0, 1], [0, 1], [1, 0]])
    labels = assign_within_capacity(candidates, np.array([1.0, 9.0, 5.0, 3.0]), 2, 2, first_open)
    assert labels.tolist() == [1, 0, 0, 1]


def test_points_without_free_capacity_form_a_cluster_in_an_empty_component() -> None:
    labels = assign_within_capacity(np.zeros((4, 1), dtype=int), np.arange(4.0), 2, 3, first_open)
    assert labels.tolist() == [1, 1, 0, 0]


def test_points_that_no_empty_component_is_left_for_go_to_components_with_free_capacity() -> None:
    candidates = np.array([[0], [0], [0], [1]])
    labels = assign_within_capacity(candidates, np.array([3.0, 2.0, 1.0, 0.0]), 2, 2, first_open)
    assert labels.tolist() == [0, 0, 1, 1]


def test_ties_in_margin_go_by_row() -> None:
    labels = assign_within_capacity(np.array([[0, 1]] * 3), np.zeros(3), 2, 2, first_open)
    assert labels.tolist() == [0, 0, 1]


@settings(max_examples=80)
@given(st.integers(1, 60), st.integers(1, 8), st.integers(1, 5), st.integers(0, 999))
def test_asking_all_at_once_ends_where_choosing_one_after_another_does(n: int, m: int, c: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    capacity = -(-n // m) + int(random.integers(0, 3))
    candidates = np.stack([random.permutation(m)[: min(c, m)] for _ in range(n)])
    margin = random.integers(0, 6, size=n).astype(float)  # many ties
    labels = assign_within_capacity(candidates, margin, capacity, m, first_open)
    expected = one_after_another(candidates, margin, capacity, m)
    assert np.array_equal(labels[expected >= 0], expected[expected >= 0])
    assert np.bincount(labels, minlength=m).max() <= capacity
    assert (labels >= 0).all()


def test_a_horde_of_points_with_one_wish_is_spread_within_capacity() -> None:
    n, m = 120_000, 4000
    candidates = np.tile(np.arange(2), (n, 1))
    candidates[:m, 0] = np.arange(m)
    labels = assign_within_capacity(candidates, np.zeros(n), 40, m, first_open)
    assert np.bincount(labels, minlength=m).max() <= 40
    assert len(labels) == n
