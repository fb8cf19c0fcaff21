"""LightRAG on the small index (tests/small_index.py), worked out by hand."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from leanrag_core.messages.catalog import sentence
from leanrag_core.models.base import Completion
from leanrag_core.models.pacing import Meter
from leanrag_core.retrieval.base import Query, equal_budget, strategies, strategy
from leanrag_core.retrieval.question_terms import query_keywords
from leanrag_core.retrieval.strategies.lightrag import round_robin
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.calls import Usage
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from tests.small_index import unit

# Degrees: queen 1, honey 3, mite 2, rape 2, clover 1, seed coat 1.
# Near to the details [1, 0, 0, 0]: queen (1), honey (.8). Their relations by the sum of degrees: honey - mite and
# honey - rape (5), queen - honey (4).
# Near to the themes [0, 1, 0, 0] by the vectors below: relation 4 (mite - seed coat), then 1 (honey - mite).
LOW, HIGH = unit([[1, 0, 0, 0], [0, 1, 0, 0]])
RELATION_VECTORS = unit([[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]])
REPLY = json.dumps({"low_level": ["queen"], "high_level": ["harm"]})


class Model:
    name = fingerprint = "scripted"

    def __init__(self, meter: Meter, *replies: str) -> None:
        self.meter, self.replies = meter, list(replies)

    def complete(self, messages: list[dict[str, str]], **options: Any) -> Completion:
        self.meter.add("test", Usage(calls=1, prompt_tokens=7, completion_tokens=3))
        reply = Completion(self.replies.pop(0), "stop", Usage(calls=1))
        options["accept"](reply)
        return reply


def tools(*replies: str) -> Tools:
    meter = Meter()
    vectors = {"queen": LOW, "harm": HIGH}

    def embed(texts: Sequence[str]) -> np.ndarray:
        return np.array([vectors.get(text, LOW) for text in texts])

    return Tools(
        embed=embed,
        language=Model(meter, *replies) if replies else None,
        meter=meter,
        part=lambda name: {"relation_vectors": RELATION_VECTORS}[name],
    )


def retrieve(index: Index, **options: Any) -> Trace:
    settings = {"top_k": 2, "top_c": 4, "chunk_order": "rank"} | options
    return strategy("lightrag", settings).retrieve(Query("What harms the queen?", LOW), index, tools(REPLY))


def entities(trace: Trace) -> list[str]:
    return [item.text.split(":")[0] for item in trace.context.section("entities").items]


def relations(trace: Trace) -> list[int | None]:
    rows = {relation.id: relation.row for relation in trace.relations}
    return [rows[item.ref] for item in trace.context.section("relations").items]


def test_low_takes_entities_and_their_relations_by_degree(index: Index) -> None:
    trace = retrieve(index, mode="low")
    assert entities(trace) == ["queen (concept)", "honey (concept)"]
    assert relations(trace) == [1, 2, 0]
    assert [step.name for step in trace.steps] == ["keywords", "low", "chunks", "context"]


def test_high_takes_relations_and_the_entities_at_their_ends(index: Index) -> None:
    trace = retrieve(index, mode="high")
    assert relations(trace) == [4, 1]
    assert entities(trace) == ["mite (concept)", "seed coat (concept)", "honey (concept)"]


def test_hybrid_takes_both_in_turn_without_repeats(index: Index) -> None:
    trace = retrieve(index, mode="hybrid")
    assert entities(trace) == ["queen (concept)", "mite (concept)", "honey (concept)", "seed coat (concept)"]
    assert relations(trace) == [1, 4, 2, 0]
    # Chunks by the first of the entities that they mention: queen 0, mite 1, honey 2, seed coat 3.
    assert [passage.row for passage in trace.passages] == [0, 1, 2, 3]
    assert (trace.usage.calls, trace.steps[0].usage.prompt_tokens) == (1, 7)


def test_mix_begins_with_the_nearest_chunk(index: Index) -> None:
    other = Query("What harms the queen?", unit([[0, 0, 0, 1]])[0])
    options = {"mode": "mix", "top_k": 2, "top_c": 4, "chunk_order": "rank"}
    trace = strategy("lightrag", options).retrieve(other, index, tools(REPLY))
    assert trace.ranked_chunks[:2] == (3, 0)


def test_chunks_by_cosine_are_half_of_five_for_each_entity(index: Index) -> None:
    trace = retrieve(index, mode="low", top_k=1, chunk_order="cosine")
    assert trace.ranked_chunks == (0,)


def test_what_is_searched_for_has_a_cosine_of_a_fifth(index: Index) -> None:
    trace = retrieve(index, mode="low", top_k=6)
    assert entities(trace) == ["queen (concept)", "honey (concept)"]  # the others have 0


def test_half_of_five_chunks_for_each_relation_are_kept(index: Index) -> None:
    base = index.layers[0]
    place = base.relations.schema.get_field_index("chunks")
    chunks = pa.array([[0, 1, 2, 3], [0], [0], [0], [0]], pa.list_(pa.int32()))
    base = replace(base, relations=base.relations.set_column(place, "chunks", chunks))
    stated = replace(index, layers=(base, *index.layers[1:]))
    # No entity is in the context, so that all chunks are those of queen - honey.
    trace = retrieve(stated, mode="low", top_k=1, chunk_order="cosine", entity_tokens=0)
    cosines = index.chunk_vectors @ LOW
    assert trace.ranked_chunks == tuple(np.argsort(-cosines, kind="stable")[:2].tolist())


def test_room_of_the_entities_is_not_for_relations(index: Index) -> None:
    assert len(retrieve(index, mode="low").context.section("relations").items) == 3
    assert retrieve(index, mode="low", relation_tokens=30).context.section("relations").tokens <= 30


def test_the_whole_context_keeps_the_budget(index: Index) -> None:
    full, small = retrieve(index), retrieve(index, max_tokens=60)
    assert small.context.tokens <= 60 < full.context.tokens
    assert sum(part.left_out + part.trimmed for part in small.context.sections) > 0


def test_chunks_fill_what_is_left_or_their_own_tokens(index: Index) -> None:
    options = {"entity_tokens": 40, "relation_tokens": 60, "chunk_tokens": 30, "max_tokens": 200}
    assert len(retrieve(index, **options).context.section("chunks").items) == 3
    kept = retrieve(index, **options, fill_up=False).context.section("chunks")
    assert 0 < kept.tokens <= 30
    assert strategies().named("lightrag").preset("paper").options["fill_up"] is False


@pytest.mark.parametrize(
    ("mode", "low_level", "high_level", "steps"),
    [
        ("hybrid", ["queen"], [], ["low"]),
        ("hybrid", [], ["harm"], ["high"]),
        ("high", ["queen"], [], ["low"]),  # the release searches the other level then
        ("mix", [], [], ["low"]),  # for the question
    ],
)
def test_a_level_without_a_keyword_is_skipped(
    index: Index, mode: str, low_level: list[str], high_level: list[str], steps: list[str]
) -> None:
    reply = json.dumps({"low_level": low_level, "high_level": high_level})
    info = strategy("lightrag", {"mode": mode, "top_k": 2, "top_c": 4})
    trace = info.retrieve(Query("What harms the queen?", LOW), index, tools(reply))
    assert [step.name for step in trace.steps] == ["keywords", *steps, "chunks", "context"]
    asked = [item.name for item in trace.items if item.id.startswith("keywords-")]
    assert asked == ([*low_level, *high_level] or ["What harms the queen?"])


def test_without_a_model_the_words_of_the_question_are_the_keywords() -> None:
    keywords = query_keywords("Which mites harm the colonies of Lorenzo Langstroth?", tools())
    assert keywords.low == ("Lorenzo Langstroth", "mites harm", "colonies")
    assert keywords.high == ("mites harm", "colonies")
    assert keywords.note is not None
    assert "themes it does not name" in sentence(keywords.note)


def test_a_reply_that_cannot_be_used_twice_is_noted() -> None:
    keywords = query_keywords("Which mites harm bees?", tools("{}", '{"low_level": 3}'))
    assert keywords.low == ("mites harm bees",)
    assert keywords.note is not None
    assert keywords.note.code == "strategy.note.reply_unusable"


def test_the_preset_of_the_paper_is_another_one_than_the_release() -> None:
    info = strategies().named("lightrag")
    assert info.preset("paper").options["top_k"] == 60
    assert info.preset("released").options == {}


@pytest.mark.parametrize(
    ("lists", "turns"), [(([1, 2], [3]), [1, 3, 2]), (([], [5, 5]), [5]), (([1], [1], [2]), [1, 2])]
)
def test_round_robin(lists: tuple[list[int], ...], turns: list[int]) -> None:
    assert round_robin(*lists) == turns


def test_a_small_budget_leaves_chunks_their_share(index: Index) -> None:
    # 6,000, 8,000 and 16,000 tokens as the release has them; entities and relations alone would take all of 4,000.
    assert retrieve(index, max_tokens=4000).context.section("entities").budget == 801
    assert retrieve(index, max_tokens=90).context.section("chunks").items


def test_the_ablations_of_the_paper_lack_a_level_or_the_text(index: Index) -> None:
    """Check Table 2: -High has no high level, -Low no low level, -Origin no source text, also at an equal budget."""
    info = strategies().named("lightrag")

    def ablated(name: str, **more: object) -> Trace:
        chosen = {**info.preset(name).options, "top_k": 2} | more
        return strategy("lightrag", chosen).retrieve(Query("What harms the queen?", LOW), index, tools(REPLY))

    steps = {name: [step.name for step in ablated(name).steps] for name in ("without-high", "without-low")}
    assert steps == {
        "without-high": ["keywords", "low", "chunks", "context"],
        "without-low": ["keywords", "high", "chunks", "context"],
    }
    for more in ({}, equal_budget(info, 4000)):
        trace = ablated("without-text", **more)
        assert [step.name for step in trace.steps] == ["keywords", "low", "high", "chunks", "context"]
        assert (trace.passages, trace.ranked_chunks, trace.context.section("chunks").tokens) == ((), (), 0)
        assert trace.context.section("relations").items
