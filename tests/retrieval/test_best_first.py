"""The order of scores is that of a stable sort, however it is made."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leanrag_core.retrieval.vector_search import best_first, best_first_rounded

SCORES = st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, -1e-30, 3.25]) | st.floats(-2, 2, width=32))


@given(SCORES)
def test_equal_scores_stand_in_the_order_of_rows(values: list[float]) -> None:
    for scores in (np.array(values, dtype=np.float32), np.array(values, dtype=np.float64), np.abs(np.array(values))):
        assert best_first(scores).tolist() == sorted(range(len(values)), key=lambda row: (-scores[row], row))


@given(st.lists(st.sampled_from([0.0, 1.0, 0.25, 0.25 + 4e-13, 0.25 + 6e-13, 1e-12, 4e-13]) | st.floats(0, 1)))
def test_masses_that_are_equal_to_twelve_digits_stand_in_the_order_of_rows(values: list[float]) -> None:
    mass = np.array(values)
    assert best_first_rounded(mass).tolist() == np.argsort(-np.round(mass, 12), kind="stable").tolist()


def test_of_a_walk_that_came_to_few_rows_those_alone_are_sorted() -> None:
    scores = np.zeros(100)
    scores[[70, 3, 50]] = [0.2, 0.1, 0.2]
    assert best_first(scores).tolist()[:5] == [50, 70, 3, 0, 1]
    assert len(best_first(scores)) == 100
