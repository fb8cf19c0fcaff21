"""Builds whose calls go out in files: the same index as by direct calls, whatever the provider does with the files."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.errors import BudgetSpent, EndpointError, EndpointPaused, InvalidConfig
from leanrag_core.models import batching
from leanrag_core.types.calls import Budget, Spending
from leanrag_core.types.job import Progress
from leanrag_core.types.settings import Price, Settings
from tests.endpoint import faults
from tests.endpoint.batches import ScriptedBatches
from tests.endpoint.coast import CONFIG, files_of, story
from tests.endpoint.faults import FaultPlan
from tests.endpoint.server import EndpointServer

pytestmark = pytest.mark.slow

SMALL = replace(CONFIG, embedding="builtin")


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    with EndpointServer() as endpoint:
        endpoint.batches = ScriptedBatches()
        yield endpoint


@pytest.fixture(autouse=True)
def _polls_come_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "_FIRST_WAIT", 0.02)


def bench_in(root: Path, server: EndpointServer, **more: Any) -> tuple[Workbench, str]:
    """A workbench with models at the server, and the id of a corpus of two short documents."""
    bench = Workbench.default(root)
    bench.settings.save(replace(Settings(base_url=server.url, retries=4), **more))
    return bench, bench.add_documents("Coast", [(f"s{n}.txt", story(n)) for n in range(2)]).corpus_id


class Built:
    """A build in this process, with what was told and paid."""

    def __init__(self, bench: Workbench, corpus: str, config: IndexConfig = SMALL, **budget: Any) -> None:
        self.bench, self.corpus, self.config = bench, corpus, config
        self.told: list[Progress] = []
        self.models = bench.models.make(budget=Budget(**budget))

    def run(self, *, as_batches: bool = True) -> dict[str, bytes]:
        """The files of the index."""
        context = replace(self.bench.models.context(self.models, report=self.told.append), as_batches=as_batches)
        self.bench.builds.run(self.bench.builds.of_corpus(self.corpus, self.config), context)
        return files_of(self.bench)

    @property
    def spent(self) -> Spending:
        return self.models.meter.read()


def directly(built: Built, plan: FaultPlan | None = None) -> dict[str, bytes]:
    """The files of the index of the same corpus that direct calls to a like server give."""
    bench = built.bench
    settings = bench.settings.read()
    bench.indexes.delete(bench.indexes.all()[0].id)
    bench.calls.delete()
    with EndpointServer(plan=plan) as server:
        bench.settings.save(replace(settings, base_url=server.url))
        files = Built(bench, built.corpus, built.config).run(as_batches=False)
    bench.settings.save(settings)
    return files


def batches_of(server: EndpointServer) -> ScriptedBatches:
    assert server.batches is not None
    return server.batches


def test_the_index_is_that_of_direct_calls_at_half_the_price(server: EndpointServer, tmp_path: Path) -> None:
    prices = {"m": Price(1000.0, 2000.0)}
    built = Built(*bench_in(tmp_path, server, prices=prices))
    files = built.run()
    batches = batches_of(server)
    chats = [call for call in server.log if call.path.startswith("/v1/chat/")]
    assert len(chats) <= 2, "one call of each form is asked directly, to see that the server takes it"
    asked = Counter(batches.calls)
    assert len(batches.made) >= 4, "extraction, gleaning, clusters, relations"
    assert max(asked.values()) == 1
    assert built.spent.usage.calls == len(asked) + len(chats) == len(built.bench.calls)
    assert built.spent.reused == 0
    direct_cost = sum(1000 * call.prompt_tokens + 2000 * call.completion_tokens for call in chats) / 1e6
    full = sum(1000 * usage.prompt_tokens + 2000 * usage.completion_tokens for usage in [built.spent.usage]) / 1e6
    assert built.spent.usage.cost == pytest.approx(direct_cost + (full - direct_cost) / 2)
    assert built.bench.batches.all() == [], "what was sent for an index goes when it is built"
    assert batches.files == {}, "and so do the files at the provider"
    assert files == directly(built)


def test_a_second_build_asks_nothing(server: EndpointServer, tmp_path: Path) -> None:
    bench, corpus = bench_in(tmp_path, server)
    first = Built(bench, corpus).run()
    n_made = len(batches_of(server).made)
    again = Built(bench, corpus)
    assert again.run() == first
    assert len(batches_of(server).made) == n_made
    assert again.spent.usage.calls == 0
    assert again.spent.reused == len(bench.calls)


def test_late_answers_are_waited_for_and_calls_done_are_told(server: EndpointServer, tmp_path: Path) -> None:
    batches_of(server).polls = 2
    built = Built(*bench_in(tmp_path, server))
    built.run()
    told = [progress.batch for progress in built.told if progress.batch is not None]
    first = [batch for batch in told if batch.since == told[0].since]
    assert sorted({batch.answered for batch in first}) == [first[0].calls // 3, first[0].calls]
    assert {progress.stage for progress in built.told if progress.batch} >= {"extract", "aggregate entities"}


@pytest.mark.parametrize("twice", [False, True])
def test_lines_out_of_order_and_twice_among_junk_are_read_once(
    server: EndpointServer, tmp_path: Path, twice: bool
) -> None:
    batches = batches_of(server)
    batches.twice, batches.reverse, batches.junk = twice, not twice, True
    built = Built(*bench_in(tmp_path, server))
    files = built.run()
    assert built.spent.usage.calls == len(built.bench.calls)
    assert files == directly(built)


def test_calls_without_a_line_go_out_with_the_next_batch(server: EndpointServer, tmp_path: Path) -> None:
    batches = batches_of(server)
    batches.omit = 4
    built = Built(*bench_in(tmp_path, server))
    files = built.run()
    first, second = batches.made[:2]
    omitted = {line["custom_id"] for line in first.lines[:4]}
    assert omitted <= {line["custom_id"] for line in second.lines}
    assert built.spent.usage.calls == len(built.bench.calls)
    assert files == directly(built)


def test_a_call_that_is_never_answered_is_lost_alone(server: EndpointServer, tmp_path: Path) -> None:
    batches = batches_of(server)
    batches.omit, batches.omit_batches = 1, 3
    config = replace(SMALL, gleaning_rounds=0)
    Built(*bench_in(tmp_path, server), config).run()
    bench = Workbench.default(tmp_path)
    index = bench.indexes.open(bench.indexes.all()[0].id)
    assert index.report.drops["extract"] == 1
    assert "no line in the output" in index.report.dropped["extract"][0].reason


def test_error_lines_are_asked_again_or_lost_as_direct_errors_are(server: EndpointServer, tmp_path: Path) -> None:
    batches = batches_of(server)
    batches.errors = {
        "In year 7 Ada": (500, "server_error", "The server had an error."),
        "In year 6 Ada": (429, "rate_limit_exceeded", "Too many requests."),
    }
    built = Built(*bench_in(tmp_path, server))
    files = built.run()
    assert built.spent.faults >= 2
    assert any("Too many requests" in text or "had an error" in text for text in built.spent.last_faults)
    assert files == directly(built)


def test_a_refused_call_is_lost_alone_and_asked_again_by_a_later_build(server: EndpointServer, tmp_path: Path) -> None:
    batches = batches_of(server)
    batches.errors = {"In year 7 Ada": (400, "content_filter", "The response was filtered.")}
    batches.error_batches = 100
    bench, corpus = bench_in(tmp_path, server)
    Built(bench, corpus).run()
    index = bench.indexes.open(bench.indexes.all()[0].id)
    assert index.report.drops["extract"] >= 1
    assert "filtered" in index.report.dropped["extract"][0].reason
    batches.errors = {}
    again = Built(bench, corpus)
    files = again.run()
    assert files == directly(again)


@pytest.mark.parametrize(
    "kind", [faults.WRONG_KEYS, faults.EMPTY_CONTENT, faults.CUT_STOP, faults.FENCED_JSON, faults.CUT_JSON]
)
def test_bad_replies_are_complained_about_in_the_next_batch(server: EndpointServer, tmp_path: Path, kind: str) -> None:
    plan = FaultPlan(share=0.4, kinds=(kind,), recover_after=1, seed=2)
    server.plan = plan
    built = Built(*bench_in(tmp_path, server))
    files = built.run()
    assert (built.spent.faults > 0) == (kind not in faults.USABLE)
    assert max(Counter(batches_of(server).calls).values()) == (2 if kind == faults.EMPTY_CONTENT else 1)
    assert files == directly(built, plan)


def test_what_a_batch_that_expires_has_not_done_is_sent_again(server: EndpointServer, tmp_path: Path) -> None:
    batches = batches_of(server)
    batches.expire = 2
    built = Built(*bench_in(tmp_path, server))
    files = built.run()
    assert [batch.status for batch in batches.made[:3]] == ["expired", "expired", "completed"]
    assert built.spent.usage.calls == len(built.bench.calls), "what was done is not asked again"
    assert files == directly(built)


def test_batches_that_bring_nothing_stop_the_work_resumably(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = batches_of(server)
    batches.expire = 100
    monkeypatch.setattr(ScriptedBatches, "_answer", lambda *_: {"custom_id": "nobody", "error": None})
    bench, corpus = bench_in(tmp_path, server)
    with pytest.raises(EndpointPaused, match="3 batches one after the other"):
        Built(bench, corpus).run()
    assert len(batches.made) == 4, "in the first round a direct call was answered"
    batches.expire = 0
    monkeypatch.undo()
    again = Built(bench, corpus)
    files = again.run()
    assert files == directly(again)


def test_a_file_that_is_refused_fails_the_build_with_the_providers_words(
    server: EndpointServer, tmp_path: Path
) -> None:
    batches = batches_of(server)
    batches.refuse_file = "Billing is not set up for files."
    bench, corpus = bench_in(tmp_path, server)
    with pytest.raises(EndpointError, match="Billing is not set up for files"):
        Built(bench, corpus).run()
    batches.refuse_file, batches.fail = "", ("model_not_found", "This model does no batches.")
    with pytest.raises(EndpointError, match="This model does no batches"):
        Built(bench, corpus).run()
    assert bench.batches.all() == []
    batches.fail = None
    again = Built(bench, corpus)
    files = again.run()
    assert files == directly(again)


def test_more_calls_than_an_account_may_queue_are_sent_in_smaller_files(server: EndpointServer, tmp_path: Path) -> None:
    batches = batches_of(server)
    batches.fail, batches.fail_above = ("token_limit_exceeded", "Enqueued token limit reached."), 5
    built = Built(*bench_in(tmp_path, server))
    files = built.run()
    sizes = [len(batch.lines) for batch in batches.made]
    assert sizes[0] > 5
    assert all(size <= 5 for size in sizes[-4:])
    assert files == directly(built)


def test_a_batch_whose_making_was_not_confirmed_is_found_and_not_made_twice(
    server: EndpointServer, tmp_path: Path
) -> None:
    batches = batches_of(server)
    batches.lose = 1
    built = Built(*bench_in(tmp_path, server))
    files = built.run()
    sent = [batch.file_id for batch in batches.made]
    assert len(sent) == len(set(sent))
    assert max(Counter(batches.calls).values()) == 1
    assert files == directly(built)


class Killed(BaseException):
    """Ends the work as a kill would: nothing is tidied up."""


def interrupted(built: Built, *, at_batch: int) -> None:
    """Run the build until it waits for its batch of that number."""
    report, seen = built.told.append, set[float]()

    def kill(progress: Progress) -> None:
        report(progress)
        if progress.batch is not None:
            seen.add(progress.batch.since)
            if len(seen) == at_batch:
                raise Killed

    context = replace(built.bench.models.context(built.models, report=kill), as_batches=True)
    with pytest.raises(Killed):
        built.bench.builds.run(built.bench.builds.of_corpus(built.corpus, built.config), context)


@pytest.mark.parametrize("at_batch", [1, 2, 3])
def test_a_killed_build_takes_its_batches_up_and_nothing_is_sent_twice(
    server: EndpointServer, tmp_path: Path, at_batch: int
) -> None:
    batches = batches_of(server)
    batches.polls = 1
    bench, corpus = bench_in(tmp_path, server)
    interrupted(Built(bench, corpus), at_batch=at_batch)
    assert [batch.collected for batch in bench.batches.all()] == [True] * (at_batch - 1) + [False]
    resumed = Built(Workbench.default(tmp_path), corpus)
    files = resumed.run()
    assert max(Counter(batches.calls).values()) == 1
    assert resumed.spent.usage.calls > 0
    assert files == directly(resumed)


def test_replies_that_could_not_be_used_are_not_paid_again_after_a_kill(server: EndpointServer, tmp_path: Path) -> None:
    plan = FaultPlan(share=0.4, kinds=(faults.WRONG_KEYS,), recover_after=1, seed=2)
    server.plan = plan
    batches = batches_of(server)
    batches.polls = 1
    bench, corpus = bench_in(tmp_path, server)
    interrupted(Built(bench, corpus), at_batch=2)
    resumed = Built(Workbench.default(tmp_path), corpus)
    files = resumed.run()
    assert max(Counter(batches.calls).values()) == 1
    assert files == directly(resumed, plan)


def test_a_batch_that_the_provider_has_no_more_is_sent_again(server: EndpointServer, tmp_path: Path) -> None:
    batches = batches_of(server)
    batches.polls = 1
    bench, corpus = bench_in(tmp_path, server)
    interrupted(Built(bench, corpus), at_batch=1)
    batches.gone = {batches.made[0].id}
    again = Built(bench, corpus)
    files = again.run()
    assert files == directly(again)


def test_a_budget_bounds_what_is_sent_and_stops_the_build_resumably(server: EndpointServer, tmp_path: Path) -> None:
    batches = batches_of(server)
    bench, corpus = bench_in(tmp_path, server)
    with pytest.raises(BudgetSpent):
        Built(bench, corpus, calls=10).run()
    assert len(batches.calls) + sum(call.path.startswith("/v1/chat/") for call in server.log) == 10
    again = Built(bench, corpus)
    files = again.run()
    assert max(Counter(batches.calls).values()) == 1
    assert files == directly(again)


def test_a_server_that_wants_another_limit_is_asked_in_its_form(tmp_path: Path) -> None:
    with EndpointServer(refused_options=("max_tokens", "temperature")) as server:
        server.batches = ScriptedBatches()
        built = Built(*bench_in(tmp_path, server))
        files = built.run()
        bodies = [line["body"] for batch in server.batches.made for line in batch.lines]
    assert bodies
    assert all("max_completion_tokens" in body and "temperature" not in body for body in bodies)
    assert files == directly(built)


def test_another_model_for_aggregation_has_batches_of_its_own(server: EndpointServer, tmp_path: Path) -> None:
    config = replace(SMALL, aggregation_model="openai:other")
    built = Built(*bench_in(tmp_path, server), config)
    files = built.run()
    models = [{line["body"]["model"] for line in batch.lines} for batch in batches_of(server).made]
    assert {"m"} in models
    assert {"other"} in models
    assert all(len(names) == 1 for names in models)
    assert files == directly(built)


def test_builtin_models_have_no_batches(server: EndpointServer, tmp_path: Path) -> None:
    bench, corpus = bench_in(tmp_path, server)
    with pytest.raises(InvalidConfig, match="Batches are calls of a model at an endpoint"):
        bench.builds.start(corpus, IndexConfig(), as_batches=True)
