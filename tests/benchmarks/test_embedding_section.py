"""The embedding section measures texts of stated lengths, and says whether its ways agree."""

import pytest

from benchmarks import embedding
from benchmarks.embedding import WAYS, descriptions, measure


def test_descriptions_are_different_and_always_the_same_and_as_long_as_said() -> None:
    texts = descriptions(400)
    assert texts == descriptions(400)
    assert len(set(texts)) == 400
    words = sorted(len(text.split()) for text in texts)
    assert words[0] >= 8
    assert words[-1] <= 70
    assert 23 <= words[200] <= 29


@pytest.mark.slow
def test_figures_name_every_way_and_all_ways_of_one_arithmetic_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_ROUNDS", 1)
    figures = measure(12)
    assert set(WAYS) <= set(figures)
    assert figures["same_bytes"] is True
    assert 0.995 < float(figures["cosine_least"]) <= float(figures["cosine"]) < 1
    assert 0 < float(figures["filled"]) <= 1
