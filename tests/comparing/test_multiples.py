"""Values of one setting, and the sentence on what they change."""

from dataclasses import fields
from typing import Any

import pytest

from leanrag_core.comparing.multiples import Cell, depth_of, depth_words, finding, usual_values, values_of
from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.strategies.leanrag import Config
from leanrag_core.retrieval.variants import Setting
from leanrag_core.types.config import SETTINGS, IndexConfig
from leanrag_core.types.index import Index
from tests.figures.small_trace import node, trace_of

INDEX = {spec.name: spec for spec in fields(IndexConfig)}
OPTIONS = {spec.name: spec for spec in fields(Config)}
SIZE = Setting("cluster_size", of_index=True)


def test_five_values_stand_around_the_one_in_use_within_the_bounds() -> None:
    assert usual_values(INDEX["cluster_size"], 20) == (5, 8, 12, 20, 40)
    assert usual_values(INDEX["chunk_tokens"], 512) == (130, 200, 310, 512, 1000)
    for spec in [*(INDEX[name] for name in SETTINGS), *OPTIONS.values()]:
        values = usual_values(spec, spec.default)
        assert len(set(values)) == len(values)
        low, high = spec.metadata.get("low"), spec.metadata.get("high")
        assert all((low is None or value >= low) and (high is None or value <= high) for value in values)
    assert usual_values(INDEX["cluster_size"], 2)[0] == 2
    assert usual_values(OPTIONS["findings"], False) == (False, True)
    assert "3" in usual_values(INDEX["tau"], None)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("8, 20", (8, 20)),
        ("5，7、9；7", (5, 7, 9)),
        ("40,5,5, 8", (5, 8, 40)),
        ("8", None),
        ("1, 8", None),
        ("a, 8", None),
        ("", None),
    ],
)
def test_values_that_a_person_writes(text: str, values: Any) -> None:
    assert values_of(text, INDEX["cluster_size"]) == values
    assert values_of("1, 2, 3, 4, 5, 6, 7, 8", OPTIONS["top_n"]) is None
    assert values_of("q0.5, 3", INDEX["tau"]) == ("q0.5", "3")


def cell(value: int, tokens: int, gold: int | None, *, in_use: bool = False, depth: int | None = 0) -> Cell:
    return Cell(value, in_use, tokens, gold, depth)


def claim(*cells: Cell) -> str:
    found = finding(SIZE, cells)
    return " ".join(sentence(part) for part in (found.claim, found.rest) if part is not None)


def test_the_sentence_names_what_finds_most_and_its_price() -> None:
    used = cell(20, 4000, 1, in_use=True)
    assert claim(cell(8, 5000, 2), used) == (
        "At clustersize 8 more gold is found (+1), on 25 % more tokens. Fewest tokens: clustersize 20, 4,000."
    )
    assert claim(cell(8, 3000, 2), used) == "At clustersize 8 more gold is found (+1), on 25 % fewer tokens."
    equal = claim(cell(8, 5000, 2), cell(12, 3000, 2), used)
    assert equal.startswith("At clustersize 12 more gold is found"), "of those that find most the one of fewest tokens"
    assert "values that find less: 1" in claim(cell(8, 5000, 0), used)
    assert claim(cell(8, 5000, 1), used).startswith("All values find the same gold: 1.")
    assert claim(cell(8, 4000, 1), used) == "Nothing but the shape changes with clustersize here."
    assert "From 4,000 tokens" in claim(cell(8, 5000, None), cell(20, 4000, None, in_use=True))


def test_depth_in_words() -> None:
    assert [sentence(depth_words(depth)) for depth in (0, 2, None)] == ["the root itself", "2 below the root", "none"]


def test_of_several_ancestors_the_highest_says_how_deep_the_seeds_meet(index: Index) -> None:
    assert len(index.layers) == 3
    tops = [node("bees", 1, role="lca"), node("honey", 0, role="lca")]
    assert depth_of(trace_of(tops), index) == 1
    assert depth_of(trace_of([*tops, node("farm", 2, role="lca")]), index) == 0
    assert depth_of(trace_of([node("honey", 0, rank=1)]), index) is None
