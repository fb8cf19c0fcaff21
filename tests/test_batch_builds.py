"""Builds whose calls go out in files: the same index as by direct calls, whatever the provider does with the files."""

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
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
    """Return a workbench with models at the server, and the id of a corpus of two short documents, the same id each
    time."""
    prepared, corpus = _prepared()
    bench = Workbench.default(Path(shutil.copytree(prepared, root, dirs_exist_ok=True)))
    bench.settings.save(replace(Settings(base_url=server.url, retries=4), **more))
    return bench, corpus


@cache
def _prepared() -> tuple[Path, str]:
    """Return a home that has the corpus, and the corpus's id."""
    home = Path(mkdtemp(dir=os.environ["LEANRAG_HOME"]))
    bench = Workbench.default(home)
    return home, bench.add_documents("Coast", [(f"s{n}.txt", story(n)) for n in range(2)]).corpus_id


class Built:
    """A build in this process, with what was told and paid."""

    def __init__(self, bench: Workbench, corpus: str, config: IndexConfig = SMALL, **budget: Any) -> None:
        self.bench, self.corpus, self.config = bench, corpus, config
        self.told: list[Progress] = []
        self.models = bench.models.make(budget=Budget(**budget))

    def run(self, *, as_batches: bool = True) -> dict[str, bytes]:
        """Build, and return the files of the index."""
        context = replace(self.bench.models.context(self.models, report=self.told.append), as_batches=as_batches)
        self.bench.builds.run(self.bench.builds.of_corpus(self.corpus, self.config), context)
        return files_of(self.bench)

    @property
    def spent(self) -> Spending:
        return self.models.meter.read()


@cache
def directly(
    config: IndexConfig = SMALL, plan: FaultPlan | None = None, price: Price | None = None
) -> dict[str, bytes]:
    """Return the files of the index of the same corpus that direct calls to a like server give. price: of the model."""
    with EndpointServer(plan=plan) as server:
        home = Path(mkdtemp(dir=os.environ["LEANRAG_HOME"]))
        bench, corpus = bench_in(home, server, prices={"m": price} if price else {})
        return Built(bench, corpus, config).run(as_batches=False)


def batches_of(server: EndpointServer) -> ScriptedBatches:
    assert server.batches is not None
    return server.batches


def test_the_index_is_that_of_direct_calls_at_half_the_price_and_a_second_build_asks_nothing(
    server: EndpointServer, tmp_path: Path
) -> None:
    price = Price(1000.0, 2000.0)
    built = Built(*bench_in(tmp_path, server, prices={"m": price}))
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
    assert files == directly(price=price)

    n_made = len(batches.made)
    again = Built(built.bench, built.corpus)
    assert again.run() == files
    assert len(batches.made) == n_made
    assert again.spent.usage.calls == 0
    assert again.spent.reused == len(built.bench.calls)


def test_late_answers_out_of_order_among_junk_are_read_and_no_batch_is_made_twice(
    server: EndpointServer, tmp_path: Path
) -> None:
    batches = batches_of(server)
    batches.polls, batches.reverse, batches.junk, batches.lose = 2, True, True, 1
    built = Built(*bench_in(tmp_path, server))
    files = built.run()
    assert batches.lose == 0, "the making of one batch was not confirmed"
    sent = [batch.file_id for batch in batches.made]
    assert len(sent) == len(set(sent))
    assert max(Counter(batches.calls).values()) == 1
    told = [progress.batch for progress in built.told if progress.batch is not None]
    first = [batch for batch in told if batch.since == told[0].since]
    assert sorted({batch.answered for batch in first}) == [first[0].calls // 3, first[0].calls]
    assert {progress.stage for progress in built.told if progress.batch} >= {"extract", "aggregate entities"}
    assert built.spent.usage.calls == len(built.bench.calls)
    assert files == directly()


def test_a_line_that_comes_twice_is_read_once_and_calls_without_a_line_go_out_with_the_next_batch(
    server: EndpointServer, tmp_path: Path
) -> None:
    batches = batches_of(server)
    batches.twice, batches.junk, batches.omit = True, True, 4
    built = Built(*bench_in(tmp_path, server))
    files = built.run()
    first, second = batches.made[:2]
    omitted = {line["custom_id"] for line in first.lines[:4]}
    assert omitted <= {line["custom_id"] for line in second.lines}
    assert built.spent.usage.calls == len(built.bench.calls)
    assert files == directly()


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
    assert files == directly()


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
    assert again.run() == directly()


@pytest.mark.parametrize(
    "kinds", [(faults.WRONG_KEYS, faults.CUT_STOP, faults.CUT_JSON), (faults.EMPTY_CONTENT,), (faults.FENCED_JSON,)]
)
def test_bad_replies_are_complained_about_in_the_next_batch(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kinds: tuple[str, ...]
) -> None:
    met, decide = set[str | None](), FaultPlan.decide

    def noted(plan: FaultPlan, key: str, seen: int, task: str) -> str | None:
        fault = decide(plan, key, seen, task)
        met.add(fault)
        return fault

    monkeypatch.setattr(FaultPlan, "decide", noted)
    plan = FaultPlan(share=0.4, kinds=kinds, recover_after=1, seed=2)
    server.plan = plan
    built = Built(*bench_in(tmp_path, server))
    files = built.run()
    assert (built.spent.faults > 0) == (faults.FENCED_JSON not in kinds)
    assert met == {*kinds, None}
    assert max(Counter(batches_of(server).calls).values()) == (2 if faults.EMPTY_CONTENT in kinds else 1)
    assert files == directly(plan=plan)


def test_what_a_batch_that_expires_has_not_done_is_sent_again(server: EndpointServer, tmp_path: Path) -> None:
    batches = batches_of(server)
    batches.expire = 2
    built = Built(*bench_in(tmp_path, server))
    files = built.run()
    assert [batch.status for batch in batches.made[:3]] == ["expired", "expired", "completed"]
    assert built.spent.usage.calls == len(built.bench.calls), "what was done is not asked again"
    assert files == directly()


def test_batches_that_bring_nothing_stop_the_work_and_a_refusal_fails_it_in_the_providers_words(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = batches_of(server)
    bench, corpus = bench_in(tmp_path, server)
    batches.refuse_file = "Billing is not set up for files."
    with pytest.raises(EndpointError, match="Billing is not set up for files"):
        Built(bench, corpus).run()
    batches.refuse_file, batches.fail = "", ("model_not_found", "This model does no batches.")
    with pytest.raises(EndpointError, match="This model does no batches"):
        Built(bench, corpus).run()
    assert bench.batches.all() == []
    assert batches.files == {}, "texts of a refused batch do not stay at the provider"
    batches.fail, batches.expire = None, 100
    n_refused = len(batches.made)
    with monkeypatch.context() as patch:
        patch.setattr(ScriptedBatches, "_answer", lambda *_: {"custom_id": "nobody", "error": None})
        with pytest.raises(EndpointPaused, match="3 batches one after the other"):
            Built(bench, corpus).run()
    assert len(batches.made) - n_refused == 3
    batches.expire = 0
    again = Built(bench, corpus)
    assert again.run() == directly()


def test_more_calls_than_an_account_may_queue_are_sent_in_smaller_files(server: EndpointServer, tmp_path: Path) -> None:
    batches = batches_of(server)
    batches.fail, batches.fail_above = ("token_limit_exceeded", "Enqueued token limit reached."), 5
    built = Built(*bench_in(tmp_path, server))
    files = built.run()
    sizes = [len(batch.lines) for batch in batches.made]
    assert sizes[0] > 5
    assert all(size <= 5 for size in sizes[-4:])
    assert batches.files == {}
    assert files == directly()


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


@pytest.mark.parametrize("at_batch", [1, 3])
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
    assert files == directly()


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
    assert files == directly(plan=plan)


def test_a_batch_that_the_provider_has_no_more_is_sent_again(server: EndpointServer, tmp_path: Path) -> None:
    batches = batches_of(server)
    batches.polls = 1
    bench, corpus = bench_in(tmp_path, server)
    interrupted(Built(bench, corpus), at_batch=1)
    batches.gone = {batches.made[0].id}
    again = Built(bench, corpus)
    assert again.run() == directly()


def test_a_budget_bounds_what_is_sent_and_stops_the_build_resumably(server: EndpointServer, tmp_path: Path) -> None:
    batches = batches_of(server)
    bench, corpus = bench_in(tmp_path, server)
    with pytest.raises(BudgetSpent):
        Built(bench, corpus, calls=10).run()
    assert len(batches.calls) + sum(call.path.startswith("/v1/chat/") for call in server.log) == 10
    again = Built(bench, corpus)
    files = again.run()
    assert max(Counter(batches.calls).values()) == 1
    assert files == directly()


def test_another_model_for_aggregation_has_batches_of_its_own_in_the_form_that_the_server_takes(tmp_path: Path) -> None:
    config = replace(SMALL, aggregation_model="openai:other")
    with EndpointServer(refused_options=("max_tokens", "temperature")) as server:
        server.batches = ScriptedBatches()
        files = Built(*bench_in(tmp_path, server), config).run()
        batches = server.batches.made
    bodies = [line["body"] for batch in batches for line in batch.lines]
    assert all("max_completion_tokens" in body and "temperature" not in body for body in bodies)
    models = [{line["body"]["model"] for line in batch.lines} for batch in batches]
    assert {"m"} in models
    assert {"other"} in models
    assert all(len(names) == 1 for names in models)
    assert files == directly(config)


def test_builtin_models_have_no_batches(server: EndpointServer, tmp_path: Path) -> None:
    bench, corpus = bench_in(tmp_path, server)
    with pytest.raises(InvalidConfig, match="Batches are calls of a model at an endpoint"):
        bench.builds.start(corpus, IndexConfig(), as_batches=True)
