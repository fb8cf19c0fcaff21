"""The order of scores is that of a stable sort, however it is made."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leanrag_core.retrieval.vector_search import best_first

SCORES = st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, -1e-30, 3.25]) | st.floats(-2, 2, width=32))


@given(SCORES)
def test_equal_scores_stand_in_the_order_of_rows(values: list[float]) -> None:
    for scores in (np.array(values, dtype=np.float32), np.array(values, dtype=np.float64), np.abs(np.array(values))):
        assert best_first(scores).tolist() == sorted(range(len(values)), key=lambda row: (-scores[row], row))


def test_of_a_walk_that_came_to_few_rows_those_alone_are_sorted() -> None:
    scores = np.zeros(100)
    scores[[70, 3, 50]] = [0.2, 0.1, 0.2]
    assert best_first(scores).tolist()[:5] == [50, 70, 3, 0, 1]
    assert len(best_first(scores)) == 100
