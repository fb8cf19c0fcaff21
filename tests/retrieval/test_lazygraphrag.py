"""LazyGraphRAG on the small index (tests/small_index.py), worked out by hand."""

import json
from dataclasses import replace

import numpy as np

from leanrag_core.indexing.parts.noun_graph import noun_graph
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message
from leanrag_core.models.pacing import Meter
from leanrag_core.retrieval.base import Query, equal_budget, strategies, strategy
from leanrag_core.retrieval.strategies.lazygraphrag import Config, Strategy
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.calls import Budget
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from tests.retrieval.hand_concepts import HIVE, concept_communities
from tests.retrieval.scripted import ScriptedLanguage
from tests.retrieval.tools import TOOLS, with_parts
from tests.small_index import small_index, unit

QUESTION = "What spoils the honey, and where does it come from?"
MITE, CROPS = "Which mite spoils the honey?", "Which crops give honey?"
EXPANDED = "Which mite spoils the honey, and which crops give it?"
VECTORS = dict(zip((MITE, CROPS), unit([[0, 1, 0, 0], [0, 0, 1, 0]]), strict=True))
SPOILS, GIVES = "The mite spoils the honey.", "Rape and clover give honey."


def tools(model: ScriptedLanguage | None = None) -> Tools:
    index = small_index()
    nouns = noun_graph(index, lambda done, total: None)
    made = with_parts(TOOLS, noun_graph=nouns, noun_communities=concept_communities(HIVE, 6, 4))
    made = replace(made, embed=lambda texts: np.array([VECTORS[text] for text in texts]))
    return made if model is None else replace(made, language=model, meter=model.meter)


def trace(index: Index, model: ScriptedLanguage | None = None, **options: int) -> Trace:
    query = Query(QUESTION, unit([[0, 1, 0.2, 0]])[0])
    return strategy("lazygraphrag", options).retrieve(query, index, tools(model))


def reply(prompt: str) -> str:
    """Read as a model that finds the mite in chunk 1, the crops in chunk 2, and a claim in each."""
    if prompt.startswith("A question is to be answered"):
        return json.dumps({"subqueries": [MITE, CROPS, MITE.upper()], "expanded": EXPANDED})
    about_crops = f"Question: {CROPS}" in prompt
    lines = prompt.partition("<<<")[2].splitlines()
    if "numbered sentences" in prompt:
        word = "clover" if about_crops else "mite"
        numbers = [int(line[1 : line.index("]")]) for line in lines if line.startswith("[") and word in line]
        return json.dumps({"sentences": [{"number": number, "rating": 4 + about_crops} for number in numbers]})
    if prompt.startswith("Several readers"):
        assert f"Question: {EXPANDED}" in prompt
        return "Rape and clover [N1]. A mite spoils it [N2]."
    claim = (GIVES, 90) if about_crops else (SPOILS, 60)
    return json.dumps({"points": [{"description": claim[0], "score": claim[1], "texts": [1]}]})


def test_each_subquery_finds_its_chunks_and_the_claims_answer_the_expanded_query(index: Index) -> None:
    model = ScriptedLanguage(reply)
    made = trace(index, model)
    assert [item.text for item in made.with_role("sub-question")] == [MITE, CROPS, EXPANDED]
    # The best sentences are rated 5 and 4.
    assert made.ranked_chunks == (2, 1)
    assert [(item.score, item.text) for item in made.with_role("point")] == [(90.0, GIVES), (60.0, SPOILS)]
    searched = {(each.source, each.target) for each in made.relations if each.role == "searched"}
    assert searched == {("search-1", index.chunk(1).id), ("search-2", index.chunk(2).id)}
    given = {(each.source, each.target) for each in made.relations if each.role == "gives"}
    assert given == {(index.chunk(2).id, "point-1"), (index.chunk(1).id, "point-2")}
    answer = Strategy(Config()).answer(made, tools(model))
    assert (answer.text, answer.citations) == ("Rape and clover. [N1] A mite spoils it. [N2]", ("N1", "N2"))


def test_the_subgraph_has_the_concepts_of_the_relevant_chunks_and_their_communities(index: Index) -> None:
    made = trace(index, ScriptedLanguage(reply))
    assert [(item.name, item.score) for item in made.with_role("entity")] == [
        ("honey", 2.0),
        ("mite", 1.0),
        ("rape", 1.0),
        ("clover", 1.0),
    ]
    # The root and the community of honey hold both relevant chunks, that of the crops one.
    assert [(item.name, item.type, item.score) for item in made.with_role("community")] == [
        ("honey, rape, clover", "C0", 2.0),
        ("honey, mite", "C1", 2.0),
    ]
    members = [each for each in made.relations if each.role == "member"]
    assert len(members) == 4 + 2
    assert len([each for each in made.relations if each.role == "together"]) == 4


def test_each_subquery_has_an_equal_share_of_the_tests(index: Index) -> None:
    # Five tests for two: two each. The nearest two of the crops are chunk 2 and, of equals, the first one.
    model = ScriptedLanguage(reply)
    made = trace(index, model, relevance_tests=5)
    step = next(step for step in made.steps if step.name == "match")
    assert sentence(step.caption) == "2 relevant chunks, found by 4 relevance tests in 1 community."
    rating = [prompt for prompt in model.prompts if "numbered sentences" in prompt]
    assert len(rating) == 2  # a call for each community


def test_texts_of_a_group_stand_together_below_their_subject(index: Index) -> None:
    model = ScriptedLanguage(reply)
    trace(index, model)
    mapped = [prompt for prompt in model.prompts if "List the claims" in prompt]
    assert len(mapped) == 2
    assert all("(honey, mite)" in prompt for prompt in mapped)


def test_without_a_model_the_question_alone_is_searched_for(index: Index) -> None:
    made = trace(index)
    assert [item.text for item in made.with_role("sub-question")] == [QUESTION]
    # Cosines .69, .98, .2 and 0: the mean is .47, the deviation .38.
    assert made.ranked_chunks == (1,)
    assert [item.text for item in made.with_role("point")] == [index.chunk(1).text.strip()]
    assert [note.code for note in made.notes] == ["strategy.note.built_in"]
    answer = Strategy(Config()).answer(made, tools())
    assert (answer.extractive, answer.parts[0].marks) == (True, ("N1",))


def test_nothing_relevant_is_said_to_be_not_known(index: Index) -> None:
    nothing = ScriptedLanguage(lambda prompt: '{"sentences": []}' if "numbered sentences" in prompt else reply(prompt))
    made = trace(index, nothing)
    assert (made.context.tokens, made.ranked_chunks, made.with_role("entity")) == (0, (), ())
    assert Strategy(Config()).answer(made, tools(nothing)).text.startswith("I do not know: no relevant text")


def test_chunks_stand_beside_the_claims_where_they_are_wanted(index: Index) -> None:
    made = trace(index, ScriptedLanguage(reply), sources=True)
    assert [section.name for section in made.context.sections] == ["points", "chunks"]
    assert [item.ref for item in made.context.sections[1].items] == [index.chunk(2).id, index.chunk(1).id]
    assert equal_budget(strategies().named("lazygraphrag"), 4000) == {"max_tokens": 4000, "top_c": 50, "sources": True}


def test_what_the_model_did_not_do_is_said(index: Index) -> None:
    unusable = trace(index, ScriptedLanguage(lambda prompt: "no"))
    assert {note.code for note in unusable.notes} == {"strategy.note.reply_unusable"}
    steps = [note.values["step"] for note in unusable.notes]
    assert [sentence(step) for step in steps if isinstance(step, Message)] == ["Subqueries", "Relevance tests", "Map"]
    assert unusable.ranked_chunks == (1,)
    spent = trace(index, ScriptedLanguage(reply, Meter(Budget(calls=2))))
    assert {note.code for note in spent.notes} == {"strategy.note.budget_spent"}
    assert len(spent.ranked_chunks) < 2


def test_the_presets_are_the_three_budgets_of_the_description() -> None:
    presets = strategies().named("lazygraphrag").presets
    budgets = {preset.name: Config(**preset.options).relevance_tests for preset in presets}
    assert budgets == {"z100": 100, "z500": 500, "z1500": 1500}
