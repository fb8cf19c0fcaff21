"""What a build will have taken, worked out by hand from a forecast of 100 chunks, 40 of them stored."""

from dataclasses import asdict
from typing import Any

import pytest

from leanrag_core.jobs.outlook import Amount, outlook
from leanrag_core.types.forecast import Forecast, Range, StageForecast
from leanrag_core.types.summary import STAGES, StageState


def exactly(value: float) -> Range:
    return Range(value, value, value)


def stage(name: str, calls: float, tokens: float) -> StageForecast:
    return StageForecast(name, exactly(calls), exactly(tokens), exactly(0), exactly(tokens / 1000))


FORECAST = asdict(
    Forecast(
        chunks=100,
        sampled=40,
        entities=exactly(200),
        stages=(
            stage("extract", 60, 60_000),
            stage("merge", 3, 3_000),
            stage("aggregate entities", 20, 40_000),
            stage("aggregate relations", 10, 5_000),
        ),
        seconds=exactly(186),  # two seconds a call
    )
)


def states(**known: tuple[str, int, int, float]) -> tuple[StageState, ...]:
    """Stages by name (spaces as underscores): status, done, total, seconds."""
    found = []
    for name in STAGES:
        status, done, total, seconds = known.get(name.replace(" ", "_"), ("waiting", 0, 0, 0.0))
        found.append(StageState(name, status, done, total, "", seconds))
    return tuple(found)


def spent(**stages: tuple[int, int]) -> dict[str, Any]:
    """Calls and tokens by stage; a token costs a thousandth of a dollar."""
    by_stage = {
        name.replace("_", " "): {"calls": calls, "prompt_tokens": tokens, "completion_tokens": 0, "cost": tokens / 1000}
        for name, (calls, tokens) in stages.items()
    }
    return {"by_stage": by_stage}


def test_without_a_forecast_there_is_no_outlook() -> None:
    assert outlook({}, spent(extract=(3, 10)), states()) is None


def test_before_the_first_call_all_is_as_foreseen() -> None:
    found = outlook(FORECAST, {}, states(extract=("running", 0, 100, 1.0)))
    assert found is not None
    assert found.at_end == Amount(93, 108_000, 108)
    # 93 calls of 2 s, and 220 texts of 0.02 s that are embedded here
    assert found.seconds_left == pytest.approx(186 + 4.4)


def test_chunks_whose_answers_are_stored_foretell_nothing() -> None:
    found = outlook(FORECAST, {}, states(extract=("running", 40, 100, 0.5)))
    assert found is not None
    assert found.stages[0].at_end.calls == 60


def test_dearer_calls_make_the_rest_dearer() -> None:
    # 30 of the 60 missing chunks are done by 30 calls of 2,000 tokens each, not 1,000.
    found = outlook(FORECAST, spent(extract=(30, 60_000)), states(extract=("running", 70, 100, 30.0)))
    assert found is not None
    extract = found.stages[0]
    assert extract.at_end.calls == 60
    # a call ahead: (60,000 + 3 x 1,000) / 33 tokens
    assert extract.at_end.tokens == pytest.approx(60_000 + 30 * 63_000 / 33)
    assert extract.at_end.dollars == pytest.approx(extract.at_end.tokens / 1000)
    assert extract.foreseen.tokens == 60_000
    # 63 calls ahead at (30 s + 3 x 2 s) / 33 a call, and the texts
    assert found.seconds_left == pytest.approx(63 * 36 / 33 + 4.4)


def test_twice_the_entities_make_twice_the_aggregation() -> None:
    found = outlook(
        FORECAST,
        spent(extract=(60, 60_000), merge=(1, 500)),
        states(extract=("done", 100, 100, 60.0), merge=("done", 400, 400, 2.0), embed=("running", 0, 440, 0.0)),
    )
    assert found is not None
    extract, merge, entities, relations = found.stages
    assert (extract.at_end.calls, merge.at_end.calls) == (60, 1)
    assert (entities.at_end.calls, relations.at_end.calls) == (40, 20)
    assert (merge.at_end.tokens, entities.at_end.tokens) == (500, 80_000)


def test_names_read_so_far_foretell_the_aggregation() -> None:
    read = StageState("extract", "running", 97, 100, "chunks", 50.0, found=400)
    stages = tuple(read if one.name == "extract" else one for one in states())
    found = outlook(FORECAST, spent(extract=(57, 57_000)), stages)
    assert found is not None
    entities = (97 * 400 * (100 / 97) ** 0.82 + 3 * 200) / 100
    assert found.stages[2].at_end.calls == pytest.approx(20 * entities / 200)


def test_stored_summaries_are_not_counted_as_calls_ahead() -> None:
    # 27 of 42 clusters are done without a call: (0 + 3) / (27 + 3) of the 15 ahead.
    found = outlook(
        FORECAST,
        {},
        states(
            extract=("done", 100, 100, 1.0),
            merge=("done", 400, 400, 1.0),
            embed=("done", 440, 440, 9.0),
            aggregate_entities=("running", 27, 42, 1.0),
        ),
    )
    assert found is not None
    assert found.stages[2].at_end.calls == pytest.approx(1.5)


def test_at_the_end_the_outlook_is_what_was_taken() -> None:
    taken = spent(extract=(58, 70_000), merge=(0, 0), aggregate_entities=(25, 30_000), aggregate_relations=(4, 900))
    found = outlook(
        FORECAST,
        taken,
        states(
            extract=("done", 100, 100, 60.0),
            merge=("done", 230, 230, 1.0),
            embed=("done", 260, 260, 4.0),
            index=("running", 0, 0, 1.0),
        ),
    )
    assert found is not None
    assert found.at_end == found.so_far == Amount(87, 100_900, pytest.approx(100.9))
    assert found.seconds_left == 0
