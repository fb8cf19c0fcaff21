import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leanrag_core.retrieval.anchoring import Seed
from leanrag_core.retrieval.passages import chunks_by_seeds, reciprocal_rank_fusion
from tests.small_index import entity, layer, small_index, unit


@settings(max_examples=80)
@given(
    st.lists(st.lists(st.integers(0, 6), unique=True).map(sorted), min_size=1, max_size=6),
    st.randoms(use_true_random=False),
)
def test_chunks_are_ranked_by_seeds_then_best_rank_then_row(chunks: list[list[int]], order: random.Random) -> None:
    base = layer(0, [entity(f"e{row}", rows) for row, rows in enumerate(chunks)], [], unit([[1.0]] * len(chunks)), [])
    index = replace(small_index(), layers=(base,))
    seeds = [Seed(f"id-e{row}", f"e{row}", 0, row, 1.0, place) for place, row in enumerate(range(len(chunks)), 1)]
    order.shuffle(seeds)
    made = chunks_by_seeds(index, seeds)
    of_chunk = {row: sorted(seed.rank for seed in seeds if row in chunks[seed.row]) for row in range(7)}
    expected = sorted(
        (row for row in of_chunk if of_chunk[row]), key=lambda row: (-len(of_chunk[row]), of_chunk[row][0], row)
    )
    assert made.rows.tolist() == expected
    assert [[seed.rank for seed in mentioned] for mentioned in made.seeds_in(range(7))] == list(of_chunk.values())


def test_of_chunks_with_as_many_seeds_the_one_nearer_to_the_question_comes_first() -> None:
    seeds = [Seed("id-queen", "queen", 0, 0, 1.0, 1), Seed("id-rape", "rape", 0, 3, 1.0, 2)]  # of chunks 0 and 2
    vector = np.array([0, 0, 1, 0], dtype=np.float32)  # that of chunk 2
    assert chunks_by_seeds(small_index(), seeds, vector).rows.tolist() == [2, 0]
    assert chunks_by_seeds(small_index(), seeds).rows.tolist() == [0, 2], "without a vector by the best seed's rank"


@pytest.mark.parametrize(
    ("rankings", "expected"),
    [
        # 1/61 + 1/62 for 4 and 7 alike, so that the row decides; 9 is in one list only.
        ([[4, 7], [7, 4, 9]], [4, 7, 9]),
        ([[], [2, 1]], [2, 1]),
        ([[5], [6]], [5, 6]),
    ],
)
def test_fused_rankings_add_reciprocal_ranks(rankings: Sequence[Sequence[int]], expected: list[int]) -> None:
    fused = reciprocal_rank_fusion([np.array(ranking, dtype=int) for ranking in rankings])
    assert fused.rows.tolist() == expected
    first = sum(1 / (61 + ranking.index(expected[0])) for ranking in rankings if expected[0] in ranking)
    assert fused.scores[0] == pytest.approx(first)
