"""TS, map-reduce over source texts, worked out by hand on the small index (tests/small_index.py)."""

import json
from dataclasses import replace

from leanrag_core.messages.catalog import sentence
from leanrag_core.models.pacing import Meter
from leanrag_core.retrieval.base import Query
from leanrag_core.retrieval.strategies.graphrag_ts import Config, Strategy
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.calls import Budget
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from tests.retrieval.scripted import ScriptedLanguage
from tests.retrieval.tools import TOOLS
from tests.small_index import unit

QUESTION = "What spoils the honey?"


def query(index: Index) -> Query:
    """Return a query as near to the second chunk as can be."""
    return Query(QUESTION, index.chunk_vectors[1])


def trace(index: Index, tools: Tools = TOOLS, **options: object) -> Trace:
    return Strategy(Config(**options)).retrieve(query(index), index, tools)


def points(*listed: tuple[str, int, list[int]]) -> str:
    return json.dumps({"points": [{"description": d, "score": s, "texts": n} for d, s, n in listed]})


def tools_of(model: ScriptedLanguage) -> Tools:
    return replace(TOOLS, language=model, meter=model.meter)


def test_every_chunk_is_read_in_batches_and_points_name_their_chunks(index: Index) -> None:
    def reply(prompt: str) -> str:
        if prompt.startswith("Several readers"):
            return "The mite spoils it [N1]. A guess [N9]."
        spoils = "spoils the honey" in prompt.split("Texts:")[1]
        return points(("The mite spoils the honey.", 90, [1, 7]) if spoils else ("", 0, []))

    model = ScriptedLanguage(reply)
    made = trace(index, tools_of(model), map_tokens=30)
    assert len(model.prompts) == index.chunks.num_rows == 4
    assert [(item.score, item.text) for item in made.with_role("point")] == [(90.0, "The mite spoils the honey.")]
    assert (made.ranked_chunks, [item.row for item in made.passages]) == ((1,), [1])
    [link] = made.relations
    assert (link.source, link.target) == (made.passages[0].id, "point-1")
    answer = Strategy(Config()).answer(made, tools_of(model))
    assert (answer.text, answer.citations) == ("The mite spoils it. [N1] A guess.", ("N1",))


def test_a_window_holds_several_chunks_in_the_shuffled_order(index: Index) -> None:
    model = ScriptedLanguage(lambda prompt: points(("A point.", 10, [1, 2, 3, 4])))
    made = trace(index, tools_of(model))
    assert len(model.prompts) == 1
    assert sorted(made.ranked_chunks) == [0, 1, 2, 3] != list(made.ranked_chunks)


def test_without_a_model_the_nearest_chunks_sentences_with_words_of_the_question_are_the_points(index: Index) -> None:
    made = trace(index)
    best = made.with_role("point")[0]
    assert (best.score, best.text) == (100.0, index.chunk(1).text.strip())
    assert made.ranked_chunks[0] == 1
    assert [note.code for note in made.notes] == ["strategy.note.built_in"]
    answer = Strategy(Config()).answer(made, TOOLS)
    assert (answer.extractive, answer.parts[0].marks) == (True, ("N1",))


def test_nothing_helpful_is_said_to_be_not_known(index: Index) -> None:
    far = Query(QUESTION, -unit([index.chunk_vectors.sum(axis=0).tolist()])[0])
    made = Strategy(Config()).retrieve(far, index, TOOLS)
    assert (made.context.tokens, made.ranked_chunks) == (0, ())
    assert Strategy(Config()).answer(made, TOOLS).text.startswith("I do not know: no text")


def test_a_reply_that_cannot_be_used_and_a_spent_budget_are_said(index: Index) -> None:
    made = trace(index, tools_of(ScriptedLanguage(lambda prompt: "no")))
    assert [note.code for note in made.notes] == ["strategy.note.reply_unusable"]
    assert sentence(made.notes[0])
    assert made.ranked_chunks[0] == 1  # the built-in points
    spent = ScriptedLanguage(lambda prompt: points(("A point.", 50, [1])), Meter(Budget(calls=1)))
    less = trace(index, tools_of(spent), map_tokens=30)
    assert [note.code for note in less.notes] == ["strategy.note.budget_spent"]
    assert len(less.with_role("point")) == 1
