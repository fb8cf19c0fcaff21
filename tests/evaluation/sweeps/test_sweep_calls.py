"""Sweeps with a model at an endpoint: what the call store spares, and what the forecast says of it."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from leanrag_core.errors import BudgetSpent
from leanrag_core.types.calls import Budget
from leanrag_core.types.sweep import Axis, SweepSpec
from tests.endpoint.server import EndpointServer
from tests.evaluation.experiments import BEES, CONFIG, HIVES, QUESTIONS, bench_in
from tests.evaluation.sweeps.small import own_sweeps

pytestmark = pytest.mark.slow


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    with EndpointServer() as endpoint:
        yield endpoint


def test_no_reply_is_asked_for_twice_and_the_forecast_says_so(server: EndpointServer, tmp_path: Path) -> None:
    bench = bench_in(tmp_path, server)
    corpus = bench.add_documents("Bees", [("bees.txt", BEES), ("hives.txt", HIVES)]).corpus_id
    axes = (Axis("cluster_size", (2, 4)), Axis("tau", (1, 8)))
    spec = SweepSpec("Bees", axes, bench.question_sets.add("Bees", QUESTIONS), corpus=corpus, config=CONFIG)
    forecast = bench.sweeps.forecast(spec)
    first, *later = forecast.builds
    assert first.calls.expected > max(build.calls.expected for build in later)
    assert all(build.saved.expected > 0 for build in later)
    assert server.log == [], "a forecast asks nothing"
    with pytest.raises(BudgetSpent):
        bench.sweeps.run(spec, models=bench.models.make(budget=Budget(calls=5)))
    assert not own_sweeps(bench)[0].is_complete
    result = bench.sweeps.run(spec)
    assert result.is_complete
    assert Counter(call.key for call in server.answered()).most_common(1)[0][1] == 1
    calls = [point.build.calls for point in result.points if point.build is not None]
    assert len(calls) == 4
    assert max(calls[1:]) < calls[0] + 5  # the first five were paid by the run that was stopped
    server.clear()
    again = bench.sweeps.run(spec, again=True)
    assert [point.scores for point in again.points] == [point.scores for point in result.points]
    assert server.log == [], "every reply is in the call store"
