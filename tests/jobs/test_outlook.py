"""What a build will have taken, worked out by hand from a forecast of 100 chunks, 40 of them stored."""

import pytest

from leanrag_core.jobs.kinds import BUILD, REWRITE
from leanrag_core.jobs.state import Amount, Outlook, outlook
from leanrag_core.messages.message import message
from leanrag_core.types.calls import NO_SPENDING, Spending, Usage
from leanrag_core.types.forecast import Forecast, StageForecast, exactly
from leanrag_core.types.job import JobKind, Stage, StageState


def stage(name: str, calls: float, tokens: float) -> StageForecast:
    return StageForecast(name, exactly(calls), exactly(tokens), exactly(0), exactly(tokens / 1000))


FORECAST = Forecast(
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


def states(**known: tuple[str, int, int, float]) -> tuple[StageState, ...]:
    """Return stages by name (spaces as underscores): status, done, total, seconds."""
    states = []
    for name in (stage.name for stage in BUILD.stages):
        status, done, total, seconds = known.get(name.replace(" ", "_"), ("waiting", 0, 0, 0.0))
        states.append(StageState(name, status, done, total, "", seconds))
    return tuple(states)


def spent(**stages: tuple[int, int]) -> Spending:
    """Return calls and tokens by stage; a token costs a thousandth of a dollar."""
    return Spending(
        by_stage={
            name.replace("_", " "): Usage(calls, tokens, cost=tokens / 1000) for name, (calls, tokens) in stages.items()
        }
    )


def of_build(spending: Spending, states: tuple[StageState, ...]) -> Outlook:
    ahead = outlook(BUILD, FORECAST, spending, states)
    assert ahead is not None
    return ahead


def test_without_a_forecast_there_is_no_outlook() -> None:
    assert outlook(BUILD, None, spent(extract=(3, 10)), states()) is None


def test_before_the_first_call_all_is_as_foreseen() -> None:
    ahead = of_build(NO_SPENDING, states(extract=("running", 0, 100, 1.0)))
    assert ahead.at_end == Amount(93, 108_000, 108)
    # 93 calls of 2 s, and 220 texts of 0.02 s that are embedded here
    assert ahead.seconds_left == pytest.approx(186 + 4.4)


def test_chunks_whose_answers_are_stored_foretell_nothing() -> None:
    ahead = of_build(NO_SPENDING, states(extract=("running", 40, 100, 0.5)))
    assert ahead.stages[0].at_end.calls == 60


def test_dearer_calls_make_the_rest_dearer() -> None:
    # 30 of the 60 missing chunks are done by 30 calls of 2,000 tokens each, not 1,000.
    ahead = of_build(spent(extract=(30, 60_000)), states(extract=("running", 70, 100, 30.0)))
    extract = ahead.stages[0]
    assert extract.at_end.calls == 60
    # a call ahead: (60,000 + 3 x 1,000) / 33 tokens
    assert extract.at_end.tokens == pytest.approx(60_000 + 30 * 63_000 / 33)
    assert extract.at_end.dollars == pytest.approx(extract.at_end.tokens / 1000)
    assert extract.expected.tokens == 60_000
    # 63 calls ahead at (30 s + 3 x 2 s) / 33 a call, and the texts
    assert ahead.seconds_left == pytest.approx(63 * 36 / 33 + 4.4)


def test_twice_the_entities_make_twice_the_aggregation() -> None:
    ahead = of_build(
        spent(extract=(60, 60_000), merge=(1, 500)),
        states(extract=("done", 100, 100, 60.0), merge=("done", 400, 400, 2.0), embed=("running", 0, 440, 0.0)),
    )
    extract, merge, entities, relations = ahead.stages
    assert (extract.at_end.calls, merge.at_end.calls) == (60, 1)
    assert (entities.at_end.calls, relations.at_end.calls) == (40, 20)
    assert (merge.at_end.tokens, entities.at_end.tokens) == (500, 80_000)


def test_names_read_so_far_foretell_the_aggregation() -> None:
    read = StageState("extract", "running", 97, 100, "chunks", 50.0, found=400)
    stages = tuple(read if state.name == "extract" else state for state in states())
    ahead = of_build(spent(extract=(57, 57_000)), stages)
    entities = (97 * 400 * (100 / 97) ** 0.82 + 3 * 200) / 100
    assert ahead.stages[2].at_end.calls == pytest.approx(20 * entities / 200)


def test_stored_summaries_are_not_counted_as_calls_ahead() -> None:
    # 27 of 42 clusters are done without a call: (0 + 3) / (27 + 3) of the 15 ahead.
    ahead = of_build(
        NO_SPENDING,
        states(
            extract=("done", 100, 100, 1.0),
            merge=("done", 400, 400, 1.0),
            embed=("done", 440, 440, 9.0),
            aggregate_entities=("running", 27, 42, 1.0),
        ),
    )
    assert ahead.stages[2].at_end.calls == pytest.approx(1.5)


def test_at_the_end_the_outlook_is_what_was_taken() -> None:
    taken = spent(extract=(58, 70_000), merge=(0, 0), aggregate_entities=(25, 30_000), aggregate_relations=(4, 900))
    ahead = of_build(
        taken,
        states(
            extract=("done", 100, 100, 60.0),
            merge=("done", 230, 230, 1.0),
            embed=("done", 260, 260, 4.0),
            index=("running", 0, 0, 1.0),
        ),
    )
    assert ahead.at_end == ahead.so_far == Amount(87, 100_900, pytest.approx(100.9))
    assert ahead.seconds_left == 0


def test_a_stage_of_a_kind_that_is_not_listed_goes_as_forecast() -> None:
    reports = Stage("reports", message("plain", text="Reports"), message("plain", text="Writing reports"))
    kind = JobKind("communities", (Stage("cluster", reports.title, reports.doing), reports))
    forecast = Forecast(0, 0, exactly(0), (stage("reports", 8, 800), stage("dream", 2, 20)), exactly(20))
    running = (StageState("cluster", "done", 1, 1), StageState("reports", "running", 3, 8, "reports", 6.0))
    ahead = outlook(kind, forecast, spent(reports=(3, 300)), running)
    assert ahead is not None
    assert [stage.at_end.calls for stage in ahead.stages] == [8, 2]
    # 7 calls ahead at (6 s + 3 x 2 s) / (3 + 3) a call
    assert ahead.seconds_left == pytest.approx(14)


def test_layers_that_are_written_again_take_the_calls_that_were_counted_beforehand() -> None:
    forecast = Forecast(0, 0, exactly(0), FORECAST.stages[2:], exactly(60))
    running = (
        StageState("aggregate entities", "running", 19, 20, "", 9.0),
        StageState("aggregate relations", "running", 9, 100, "", 3.0),  # most of which are joined, without a call
    )
    ahead = outlook(REWRITE, forecast, spent(aggregate_entities=(19, 30_000), aggregate_relations=(9, 900)), running)
    assert ahead is not None
    assert [stage.at_end.calls for stage in ahead.stages] == [20, 10]
