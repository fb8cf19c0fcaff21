"""GraphRAG's DRIFT search, worked out by hand on the small index, with and without a language model."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from leanrag_core.errors import Cancelled
from leanrag_core.messages.catalog import sentence
from leanrag_core.models.pacing import Meter
from leanrag_core.retrieval.base import PromptingStrategy, Query, equal_budget, strategies
from leanrag_core.retrieval.strategies.graphrag_drift import Config, Strategy
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.calls import Budget
from leanrag_core.types.communities import Communities
from leanrag_core.types.trace import Trace
from tests.retrieval.hand_communities import hand_communities, index_with_chunks_of_relations
from tests.retrieval.scripted import ScriptedLanguage
from tests.retrieval.tools import TOOLS, with_parts
from tests.small_index import unit

# Cosines of the reports Hive, Fields, Honey, Mite to (1 0 0 0): .707, 0, 1, 0.
QUESTION = "What are the themes?"
QUERY = Query(QUESTION, unit([[1, 0, 0, 0]])[0])
REPORTS = hand_communities()
INDEX = index_with_chunks_of_relations()


def embed(texts: Sequence[str]) -> np.ndarray:
    """Return the mite's direction, whatever the text."""
    return unit([[0, 1, 0, 0]] * len(texts))


def trace(tools: Tools = TOOLS, communities: Communities = REPORTS, **options: object) -> Trace:
    made = with_parts(replace(tools, embed=embed), communities=communities)
    return Strategy(Config(**options)).retrieve(QUERY, INDEX, made)


def step(answer: str, score: int, *follow_ups: str) -> str:
    return json.dumps({"answer": answer, "score": score, "follow_ups": list(follow_ups)})


def by_task(expand: str, primer: Callable[[str], str], local: Callable[[str], str]) -> Callable[[str], str]:
    """Return a model that replies by the beginning of the prompt; local gets the step's question."""

    def reply(prompt: str) -> str:
        if prompt.startswith("Write what a report"):
            return expand
        if prompt.startswith("Below are reports on parts"):
            return primer(prompt)
        assert prompt.startswith("A larger question")
        return local(prompt.split("This step's question: ")[1].split("\n")[0])

    return reply


def tools_of(model: ScriptedLanguage, **more: object) -> Tools:
    return replace(TOOLS, language=model, meter=model.meter, **more)


def asked(made: Trace) -> list[str]:
    return [item.name for item in made.items if item.kind == "sub-question"]


def test_without_a_model_titles_of_the_nearest_reports_are_searched_for_and_chunks_stand_for_answers() -> None:
    made = trace(level="C1", top_reports=2)  # Honey, then Mite or Fields: those of C1 and roots that were not split
    assert next(item.name for item in made.with_role("community")) == "Honey"
    assert asked(made)[:2] == [QUESTION, "Honey"]
    assert [part.name for part in made.context.sections] == ["chunks"]
    assert [step.name for step in made.steps] == ["primer", "round-1", "chunks", "context"]
    assert [note.code for note in made.notes] == ["strategy.note.built_in"]
    assert made.ranked_chunks[0] in (0, 1)
    assert all(item.source and item.source.items for item in made.passages)


def test_answers_lead_to_questions_until_the_rounds_end_and_the_best_comes_first() -> None:
    local = {
        "Who lays eggs?": step("The queen does.", 20, "How many eggs?"),
        "Who drinks?": step("A mite does.", 80, "What does it spoil?", "WHO LAYS EGGS?"),
        "What does it spoil?": step("Honey.", 60, "Why?"),
        "How many eggs?": step("Many.", 10),
    }
    model = ScriptedLanguage(
        by_task("A report.", lambda _: step("Bees.", 40, "Who lays eggs?", "Who drinks?"), local.__getitem__)
    )
    made = trace(tools_of(model), rounds=2, folds=1)
    # Round 1: both questions of the primer; round 2: that of the better answer first; "Why?" would be the third.
    assert asked(made) == [QUESTION, "Who lays eggs?", "Who drinks?", "What does it spoil?", "How many eggs?"]
    assert made.usage.calls == 6
    assert [(item.mark, item.ref) for item in made.context.section("answers").items] == [
        ("N1", "question-2"),
        ("N2", "question-3"),
        ("N3", "question-0"),
        ("N4", "question-1"),
        ("N5", "question-4"),
    ]
    assert [part.name for part in made.context.sections] == ["answers"]
    assert {(each.source, each.target) for each in made.relations if each.role == "follows"} == {
        ("question-0", "question-1"),
        ("question-0", "question-2"),
        ("question-2", "question-3"),
        ("question-1", "question-4"),
    }
    assert made.notes == ()


def test_a_round_takes_so_many_questions_and_the_others_wait_for_the_next() -> None:
    model = ScriptedLanguage(
        by_task("A report.", lambda _: step("Bees.", 40, "One?", "Two?", "Three?"), lambda text: step(text, 50))
    )
    made = trace(tools_of(model), rounds=2, folds=1, follow_ups=2)
    assert [item.name for item in made.items if item.id in made.steps[1].items and item.kind == "sub-question"] == [
        QUESTION,
        "One?",
        "Two?",
    ]
    assert asked(made) == [QUESTION, "One?", "Two?", "Three?"]


def test_reports_are_divided_among_the_folds_whose_answers_are_joined() -> None:
    def primer(prompt: str) -> str:
        return step("Of the hive." if "About the hive" in prompt else "Of the fields.", 30, "Same?")

    model = ScriptedLanguage(by_task("A report.", primer, lambda text: step("", 0)))
    made = trace(tools_of(model), level="C0", folds=2)
    first = next(item for item in made.items if item.id == "question-0")
    assert {*first.text.split(". ")} == {"Of the hive", "Of the fields."} or first.text.count("Of the") == 2
    assert asked(made) == [QUESTION, "Same?"]  # asked by both, looked into once
    # The question without an answer is in no section.
    assert [item.ref for item in made.context.section("answers").items] == ["question-0"]


def test_an_equal_budget_fills_up_with_chunks_and_answers_have_a_prompt_of_their_own() -> None:
    model = ScriptedLanguage(by_task("A report.", lambda _: step("Bees.", 40, "One?"), lambda text: step(text, 50)))
    options = equal_budget(strategies().named("graphrag_drift"), 400)
    made = trace(tools_of(model), **options)
    assert [part.name for part in made.context.sections] == ["answers", "chunks"]
    assert made.context.section("chunks").items
    assert made.context.tokens <= 400
    assert isinstance(Strategy(Config()), PromptingStrategy)
    assert Strategy(Config()).answer_task == "answer_from_steps"


@pytest.mark.parametrize("reply", ["no", step("Too high.", 101), '{"answer": 3, "score": 1, "follow_ups": []}'])
def test_a_step_without_a_usable_reply_has_no_answer_and_a_note(reply: str) -> None:
    model = ScriptedLanguage(by_task("A report.", lambda _: step("Bees.", 40, "One?"), lambda text: reply))
    made = trace(tools_of(model), folds=1)
    [note] = made.notes
    assert note.code == "strategy.note.reply_unusable"
    assert sentence(note)
    assert [item.ref for item in made.context.section("answers").items] == ["question-0"]


def test_a_spent_budget_ends_with_the_chunks_that_were_found() -> None:
    model = ScriptedLanguage(lambda prompt: "A report.", Meter(Budget(calls=1)))
    made = trace(tools_of(model))
    assert {note.code for note in made.notes} == {"strategy.note.budget_spent"}
    assert [part.name for part in made.context.sections] == ["chunks"]
    assert made.context.tokens > 0


def test_without_reports_the_question_itself_is_searched_for() -> None:
    empty = Communities(REPORTS.table.slice(0, 0), np.zeros((0, 4), dtype=np.float32), REPORTS.claims, 6)
    made = trace(communities=empty)
    assert asked(made) == [QUESTION, QUESTION]
    assert [note.code for note in made.notes] == ["communities.note.none"]
    assert made.ranked_chunks


def test_a_question_that_was_taken_back_makes_no_call() -> None:
    def taken_back() -> None:
        raise Cancelled("job.cancelled")

    model = ScriptedLanguage(lambda prompt: "")
    with pytest.raises(Cancelled):
        trace(tools_of(model, cancelled=taken_back))
    assert model.prompts == []
