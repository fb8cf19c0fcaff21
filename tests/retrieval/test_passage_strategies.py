"""Strategies whose context is passages alone, on a tiny index whose rankings are worked out by hand."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from leanrag_core.messages.catalog import sentence
from leanrag_core.models.base import Completion, Sample
from leanrag_core.models.pacing import Meter
from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import mean_direction
from leanrag_core.text.words import lexical_tokens
from leanrag_core.types.calls import Budget, Usage
from leanrag_core.types.cosines import Cosines, Medians
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace, TraceStep

# The chunks' vectors of the small index: see tests/small_index.py.
QUESTION = "Who treats mites with acid?"


class Model:
    """Gives the scripted replies in turn."""

    name = fingerprint = "scripted"

    def __init__(self, replies: Sequence[str], meter: Meter) -> None:
        self.replies, self.meter = list(replies), meter
        self.asked: list[str] = []
        self.samples: list[Sample | None] = []

    def complete(self, messages: list[dict[str, str]], **options: Any) -> Completion:
        self.samples.append(options.get("sample"))
        self.asked.append(messages[-1]["content"])
        self.meter.add("test", Usage(calls=1, prompt_tokens=10, completion_tokens=2))
        reply = Completion(self.replies[len(self.asked) - 1], "stop", Usage(calls=1))
        options["accept"](reply)
        return reply


@pytest.fixture
def toward(index: Index) -> Callable[[int], np.ndarray]:
    """Return a function that gives the direction of a chunk."""
    return lambda row: np.array(index.chunk_vectors[row])


def retrieve(
    index: Index,
    name: str,
    vector: np.ndarray,
    *,
    texts: dict[str, np.ndarray] | None = None,
    replies: Sequence[str] | None = None,
    calls: int = 0,
    **options: Any,
) -> tuple[Trace, list[str], list[TraceStep]]:
    """Return the trace, what the model was asked, and the steps that were heard. texts: vectors of texts to embed."""
    meter, steps = Meter(Budget(calls=calls)), list[TraceStep]()
    model = Model(replies, meter) if replies is not None else None

    def embed(wanted: Sequence[str]) -> np.ndarray:
        return np.array([(texts or {})[text] for text in wanted])

    tools = Tools(embed=embed, language=model, meter=meter, on_step=steps.append)
    query = Query(QUESTION, vector)
    return strategy(name, options).retrieve(query, index, tools), model.asked if model else [], steps


def rows(trace: Trace) -> list[int | None]:
    return [passage.row for passage in trace.passages]


def test_words_are_lower_case_and_eastern_scripts_go_by_pairs() -> None:
    assert lexical_tokens("Mites' ACID, don't! 草酸治疗 A1") == ["mites", "acid", "don't", "草酸", "酸治", "治疗", "a1"]


@pytest.mark.parametrize("apostrophe", ["'", "’", "＇", "ʼ"])
def test_a_possessive_is_the_word_itself(apostrophe: str) -> None:
    written = f"Charles II{apostrophe}s court, the keepers{apostrophe} bees, it don{apostrophe}t"
    assert lexical_tokens(written)[:5] == ["charles", "ii", "court", "the", "keepers"]
    assert len(lexical_tokens(written)) == 8


def test_naive_rag_leaves_out_chunks_below_the_least_cosine(index: Index, toward: Callable[[int], np.ndarray]) -> None:
    near = np.asarray(index.chunk_vectors) @ toward(2)
    trace, _, _ = retrieve(index, "vector", toward(2), top_c=4, least_cosine=0.99)
    assert rows(trace) == [row for row in np.argsort(-near, kind="stable") if near[row] >= 0.99]
    assert trace.ranked_chunks == tuple(rows(trace))


def test_the_least_cosine_is_told_in_the_numbers_of_the_embedding(
    index: Index, toward: Callable[[int], np.ndarray]
) -> None:
    trace, _, _ = retrieve(index, "vector", toward(2), top_c=4, least_cosine=0.5)
    [note] = [sentence(note) for note in trace.notes if note.code.startswith("vector.note.far")]
    assert "below 0.5 (Least cosine)" in note
    other = Cosines(*([Medians(0.7, 0.8)] * 3))
    embedding = replace(index.manifest.embedding, cosines=other)
    another = replace(index, manifest=replace(index.manifest, embedding=embedding))
    trace, _, _ = retrieve(another, "vector", toward(2), top_c=4, least_cosine=0.5)
    [note] = [sentence(note) for note in trace.notes if note.code.startswith("vector.note.far")]
    assert f"below {another.across_scale.own_of(0.5):.2f}, which is Least cosine 0.5 with this embedding" in note


def test_hyde_ranks_by_the_mean_of_question_and_passages(index: Index, toward: Callable[[int], np.ndarray]) -> None:
    texts = {"one": toward(3), "two": toward(3)}
    trace, _, steps = retrieve(index, "hyde", toward(0), texts=texts, replies=["one", "two"], n_passages=2, top_c=2)
    mean = (toward(0) + 2 * toward(3)) / 3
    assert list(trace.ranked_chunks) == np.argsort(-(np.asarray(index.chunk_vectors) @ mean), kind="stable").tolist()
    assert mean_direction(toward(0), np.array([toward(3)] * 2)) == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)
    assert (trace.usage.calls, trace.steps[0].usage.calls, [step.name for step in steps]) == (2, 2, ["passages"])
    assert trace.notes == ()


def test_hyde_draws_samples_of_one_prompt(index: Index, toward: Callable[[int], np.ndarray]) -> None:
    meter = Meter()
    model = Model(["one", "two"], meter)
    tools = Tools(embed=lambda texts: np.array([toward(3)] * len(texts)), language=model, meter=meter)
    strategy("hyde", {"n_passages": 2}).retrieve(Query(QUESTION, toward(0)), index, tools)
    assert model.asked[0] == model.asked[1]
    assert model.samples == [Sample(1, 0.7), Sample(2, 0.7)]  # or the call store would answer the second


def test_hyde_goes_on_with_what_it_has_when_the_budget_is_spent(
    index: Index, toward: Callable[[int], np.ndarray]
) -> None:
    trace, asked, _ = retrieve(
        index, "hyde", toward(0), texts={"one": toward(3)}, replies=["one"] * 8, calls=1, top_c=2
    )
    assert len(asked) == 1
    assert [note.code for note in trace.notes] == ["strategy.note.budget_spent"]
    assert trace.ranked_chunks[0] in (0, 3)


def test_hyde_without_a_model_takes_the_nearest_chunks_and_says_so(
    index: Index, toward: Callable[[int], np.ndarray]
) -> None:
    trace, _, _ = retrieve(index, "hyde", toward(1), n_passages=1, top_c=1)
    assert rows(trace) == [1]
    assert "no language model was asked" in sentence(trace.notes[0]).lower()


def test_rq_rag_adds_the_queries_of_each_round(index: Index, toward: Callable[[int], np.ndarray]) -> None:
    replies = [
        json.dumps({"way": "decompose", "queries": ["acid", "mites"]}),
        json.dumps({"way": "none", "queries": []}),
    ]
    trace, asked, steps = retrieve(
        index,
        "rq_rag",
        toward(0),
        texts={"acid": toward(2), "mites": toward(3)},
        replies=replies,
        chunks_per_query=1,
    )
    assert rows(trace) == [0, 2, 3]
    assert index.chunk(3).text in asked[1], "the second round sees what was retrieved"
    assert [step.name for step in steps] == ["round-1", "round-2"]
    queries = [item.name for item in trace.items if item.kind == "sub-question"]
    assert queries == [QUESTION, "acid", "mites"]
    assert len(trace.relations) == 3


def test_rq_rag_without_a_model_searches_for_the_phrases(index: Index, toward: Callable[[int], np.ndarray]) -> None:
    texts = {"treats mites": toward(1), "acid": toward(3)}
    trace, _, _ = retrieve(index, "rq_rag", toward(0), texts=texts, chunks_per_query=1)
    assert rows(trace) == [0, 1, 3]
    assert [note.code for note in trace.notes] == ["strategy.note.built_in"]


def test_rq_rag_falls_back_on_the_phrases_when_no_reply_can_be_used(
    index: Index, toward: Callable[[int], np.ndarray]
) -> None:
    texts = {"treats mites": toward(1), "acid": toward(3)}
    trace, asked, _ = retrieve(
        index, "rq_rag", toward(0), texts=texts, replies=['{"queries": 3}'] * 2, chunks_per_query=1, rounds=1
    )
    assert len(asked) == 2, "asked once more after a complaint"
    assert rows(trace) == [0, 1, 3]
    assert trace.notes[0].code == "strategy.note.reply_unusable"


def test_ircot_searches_for_each_sentence_until_the_answer_is_there(
    index: Index, toward: Callable[[int], np.ndarray]
) -> None:
    texts = {"Mites are treated.": toward(3)}
    trace, asked, steps = retrieve(
        index,
        "ircot",
        toward(0),
        texts=texts,
        replies=["Mites are treated. More.", "The answer is: acid."],
        chunks_per_round=1,
    )
    assert rows(trace) == [0, 3]
    assert "Mites are treated." in asked[1]
    assert [step.name for step in steps] == ["round-1", "round-2"]


def test_ircot_ends_at_its_rounds_and_its_passages(index: Index, toward: Callable[[int], np.ndarray]) -> None:
    texts = {f"Thought {number}.": toward(number) for number in range(4)}
    replies = ["Thought 1.", "Thought 2.", "Thought 3."]
    two, asked, _ = retrieve(index, "ircot", toward(0), texts=texts, replies=replies, chunks_per_round=1, rounds=2)
    assert (rows(two), len(asked)) == ([0, 1], 1)
    full, asked, _ = retrieve(index, "ircot", toward(0), texts=texts, replies=replies, chunks_per_round=1, top_c=3)
    assert (rows(full), len(asked)) == ([0, 1, 2], 2)


def test_zero_shot_asks_the_model_alone_and_cites_nothing(index: Index) -> None:
    trace, _, _ = retrieve(index, "zero_shot", np.array(index.chunk_vectors[0]))
    assert (trace.items, trace.context.tokens) == ((), 0)
    meter = Meter()
    model = Model(["Beekeepers."], meter)
    answering: Any = strategy("zero_shot", {})
    tools = Tools(embed=lambda texts: np.zeros((0, 3)), language=model, meter=meter)
    answer = answering.answer(trace, tools)
    assert (answer.text, answer.citations, answer.grounded, answer.usage.calls) == ("Beekeepers.", (), False, 1)
    assert QUESTION in model.asked[0]
