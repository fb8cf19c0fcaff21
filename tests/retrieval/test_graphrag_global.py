"""GraphRAG's global search, worked out by hand on the small index, with and without a language model."""

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from leanrag_core.errors import Cancelled
from leanrag_core.messages.catalog import sentence
from leanrag_core.models.pacing import Meter
from leanrag_core.retrieval import map_reduce
from leanrag_core.retrieval.base import Query
from leanrag_core.retrieval.map_reduce import Batch, helpfulness, packed
from leanrag_core.retrieval.report_points import builtin_rating
from leanrag_core.retrieval.strategies.graphrag_global import Config, Strategy
from leanrag_core.retrieval.tools import Tools
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.calls import Budget
from leanrag_core.types.communities import Communities
from leanrag_core.types.trace import Trace, TraceStep
from tests.retrieval.hand_communities import hand_communities
from tests.retrieval.scripted import ScriptedLanguage
from tests.retrieval.tools import TOOLS, with_parts
from tests.small_index import small_index, unit

# Cosines of the reports (1 1 0 0), (0 0 1 1), (1 0 0 0), (0 1 0 0) to (1 0 0 0): .707, 0, 1, 0.
QUERY = Query("What are the themes?", unit([[1, 0, 0, 0]])[0])
REPORTS = hand_communities()


def trace(tools: Tools | None = None, communities: Communities = REPORTS, **options: object) -> Trace:
    config = Config(**options)
    return Strategy(config).retrieve(QUERY, small_index(), with_parts(tools or TOOLS, communities=communities))


def points(*listed: tuple[str, int, list[int]]) -> str:
    return json.dumps({"points": [{"description": d, "score": s, "reports": r} for d, s, r in listed]})


def by_task(**replies: Callable[[str], str]) -> Callable[[str], str]:
    """Return a model that replies by the beginning of the prompt."""
    starts = {"rate": "Below is a report on one", "map": "Below are numbered reports", "reduce": "Several readers"}

    def reply(prompt: str) -> str:
        return next(replies[task] for task, start in starts.items() if prompt.startswith(start))(prompt)

    return reply


def tools_of(model: ScriptedLanguage, **more: object) -> Tools:
    return replace(TOOLS, language=model, meter=model.meter, **more)


def test_helpfulness_is_the_cosine_scaled_from_a_fifth_to_one() -> None:
    # (.7071 - .2) / .8 = .634
    assert helpfulness(REPORTS.vectors, QUERY.vector).tolist() == [63, 0, 100, 0]
    assert [builtin_rating(score) for score in (0, 1, 20, 21, 100)] == [0, 1, 1, 2, 5]


def test_without_a_model_the_sentences_of_the_most_helpful_reports_are_the_points() -> None:
    made = trace(level="C1")  # Fields, Honey, Mite
    assert [(item.name, item.score, item.text) for item in made.with_role("point")] == [
        ("Honey", 100.0, "About the honey."),
        ("Honey", 100.0, "Honey point. Because."),
    ]
    assert [(item.name, item.score) for item in made.with_role("community")] == [("Honey", 100.0)]
    assert [note.code for note in made.notes] == ["strategy.note.built_in"]
    answer = Strategy(Config()).answer(made, TOOLS)
    assert (answer.text, answer.grounded, answer.extractive) == ("About the honey. [N1]", True, True)


def test_dynamic_selection_descends_below_helpful_reports_and_takes_their_parts_instead() -> None:
    made = trace(level="dynamic")
    # Hive is rated 4 of 5, Fields 0; below Hive, Honey is rated 5 and Mite 0, so Honey alone is read.
    assert made.steps[0].caption.values["n"] == 1
    assert made.steps[0].caption.values["rated"] == 4
    assert {item.name for item in made.with_role("community")} == {"Honey"}


def test_dynamic_selection_rates_the_next_level_when_no_root_is_helpful() -> None:
    made = trace(level="dynamic", least_rating=5)  # Hive is rated 4 of 5, Honey 5
    assert made.steps[0].caption.values["rated"] == 4
    assert {item.name for item in made.with_role("community")} == {"Honey"}


def test_reports_are_shuffled_alike_each_time_and_packed_by_tokens() -> None:
    def batches(rows: list[int], max_tokens: int) -> list[Batch]:
        return packed(rows, lambda row: f"{REPORTS.cells['title'][row].as_py()}\n{REPORTS.report(row)}", max_tokens)

    whole = batches([0, 1, 2, 3], 1000)
    assert len(whole) == 1
    assert sorted(whole[0].rows) == [0, 1, 2, 3] != list(whole[0].rows)
    single = batches([0, 1, 2, 3], 25)
    assert [batch.rows for batch in single] == [(row,) for row in whole[0].rows]
    assert count_tokens(batches([0], 16)[0].text) <= 16
    assert batches([0, 1, 2, 3], 25) == single


def test_a_model_maps_each_batch_and_points_with_score_zero_are_dropped() -> None:
    def mapped(prompt: str) -> str:
        name = prompt.split("[1] ")[1].split("\n")[0]
        return points((f"{name} matters.", {"Hive": 40, "Fields": 90}.get(name, 0), [1, 7]), ("Nothing.", 0, []))

    model = ScriptedLanguage(by_task(map=mapped, reduce=lambda prompt: "Fields matter [N1]. The hive too [N2][N9]."))
    heard: list[TraceStep] = []
    made = trace(tools_of(model, on_step=heard.append), level="C0", map_tokens=25)
    assert [(item.name, item.score, item.text) for item in made.with_role("point")] == [
        ("Fields", 90.0, "Fields matters."),
        ("Hive", 40.0, "Hive matters."),
    ]
    assert made.usage.calls == made.steps[1].usage.calls == 2
    assert [step.caption.values.get("total") for step in heard] == [None, 2, 2]
    assert made.notes == ()
    answer = Strategy(Config()).answer(made, tools_of(model))
    assert answer.text == "Fields matter. [N1] The hive too. [N2]"
    assert (answer.grounded, answer.extractive, answer.usage.calls) == (True, False, 1)
    assert "[N1] Fields (90): Fields matters." in model.prompts[-1]


def test_points_that_do_not_fit_are_left_out_the_least_helpful_first() -> None:
    model = ScriptedLanguage(
        by_task(map=lambda prompt: points(*((f"Point {n} of many.", n, [1]) for n in range(1, 9))))
    )
    made = trace(tools_of(model), level="C0", max_tokens=60)
    kept = made.context.sections[0].items
    assert [item.ref for item in kept] == [f"point-{rank}" for rank in range(1, len(kept) + 1)]
    assert made.context.tokens <= 60
    assert "Point 8" in kept[0].text


def test_nothing_helpful_is_said_to_be_not_known() -> None:
    model = ScriptedLanguage(by_task(map=lambda prompt: points(("", 0, []))))
    made = trace(tools_of(model), level="C0")
    answer = Strategy(Config()).answer(made, tools_of(model))
    assert answer.text.startswith("I do not know")
    assert (answer.grounded, answer.citations, made.context.tokens) == (False, (), 0)


@pytest.mark.parametrize("reply", ["no", '{"points": 3}', points(("Too high.", 101, []))])
def test_a_batch_without_a_usable_reply_gives_its_reports_sentences_and_a_note(reply: str) -> None:
    made = trace(tools_of(ScriptedLanguage(by_task(map=lambda prompt: reply))), level="C0")
    assert [item.name for item in made.with_role("point")] == ["Hive", "Hive"]
    [note] = made.notes
    assert note.code == "strategy.note.reply_unusable"
    assert sentence(note)


def test_a_spent_budget_ends_the_map_step_with_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_reduce, "CALLS_AT_ONCE", 1)
    model = ScriptedLanguage(by_task(map=lambda prompt: points(("A point.", 50, [1]))), Meter(Budget(calls=1)))
    made = trace(tools_of(model), level="C1", map_tokens=25)
    assert [item.text for item in made.with_role("point")] == ["A point."]
    assert [note.code for note in made.notes] == ["strategy.note.budget_spent"]


def test_ratings_by_a_model_and_their_fallback() -> None:
    def rated(prompt: str) -> str:
        return json.dumps({"rating": 5 if "Fields" in prompt else 9 if "Hive" in prompt else 0})

    model = ScriptedLanguage(by_task(rate=rated, map=lambda prompt: points(("A point.", 50, [1, 2]))))
    made = trace(tools_of(model), level="dynamic")
    # 9 of 5 is refused twice, so Hive is rated by likeness, 4; its parts are then rated 0 by the model.
    assert {item.name for item in made.with_role("community")} == {"Fields", "Hive"}
    assert [note.code for note in made.notes] == ["strategy.note.reply_unusable"]


def test_a_question_that_was_taken_back_makes_no_call() -> None:
    def taken_back() -> None:
        raise Cancelled("job.cancelled")

    model = ScriptedLanguage(lambda prompt: "")
    with pytest.raises(Cancelled):
        trace(tools_of(model, cancelled=taken_back), level="C0")
    assert model.prompts == []


def test_an_index_without_communities_answers_that_it_does_not_know() -> None:
    empty = Communities(REPORTS.table.slice(0, 0), np.zeros((0, 4), dtype=np.float32), REPORTS.claims, 6)
    for level in ("C2", "dynamic"):
        assert trace(communities=empty, level=level).items == ()
