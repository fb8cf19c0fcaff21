"""Upper layers of an index of the built-in models, written again by a model at an endpoint."""

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leanrag_core import IndexConfig, Workbench, open_index
from leanrag_core.__main__ import main
from leanrag_core.checking.check import check_index
from leanrag_core.errors import BudgetSpent, InvalidConfig
from leanrag_core.indexing.build import BuildRequest
from leanrag_core.indexing.updating.preview import changes_to
from leanrag_core.indexing.updating.rewriting import _calls
from leanrag_core.queries.made_by import entity_made_by
from leanrag_core.storage import layout
from leanrag_core.storage.layout import calls_table, read_edits
from leanrag_core.types.build_report import DroppedItem
from leanrag_core.types.calls import Budget, CallMade, Kind, Usage, WrittenCall
from leanrag_core.types.index import Index
from leanrag_core.types.settings import Settings
from leanrag_core.types.updating import Edit, LayerWriter, LineageStep, layer_writers, writer_of
from tests.endpoint import faults
from tests.endpoint.coast import story
from tests.endpoint.faults import FaultPlan
from tests.endpoint.server import EndpointServer
from tests.importing.folders import lightrag
from tests.killing import killed_copies
from tests.small_index import small_index
from tests.updating.conftest import content, read
from tests.waiting import ended

CONFIG = IndexConfig(cluster_size=3, tau=1, chunk_tokens=64, overlap_tokens=8)
MODEL = "openai:m"
UNTOUCHED = ("documents", "chunks", "entities-0", "relations-0", "hierarchy")


@pytest.fixture(scope="module")
def server() -> Iterator[EndpointServer]:
    with EndpointServer() as endpoint:
        yield endpoint


@pytest.fixture(autouse=True)
def healthy(server: EndpointServer) -> None:
    server.plan = FaultPlan()
    server.clear()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with one index of the built-in models, with an edit by hand; copied for each test."""
    home = tmp_path_factory.mktemp("rewriting") / "home"
    bench = Workbench.default(home)
    corpus = bench.add_documents("Coast", [(f"s{n}.txt", story(n)) for n in range(6)]).corpus_id
    index = bench.build(corpus, CONFIG)
    bench.updates.edit(index.path, Edit(1, "rename", "Ada Thornbury", "Ada of Thornbury"))
    return home


@pytest.fixture
def bench(home: Path, tmp_path: Path, server: EndpointServer) -> Workbench:
    bench = Workbench.default(shutil.copytree(home, tmp_path / "home"))
    bench.settings.save(Settings(base_url=server.url, retries=2, concurrency=4))
    return bench


def folder_of(bench: Workbench) -> Path:
    (index,) = bench.indexes.all()
    return index.path


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def written(server: EndpointServer) -> list[str]:
    """Return the kinds of the calls that wrote something; the server was asked for its window besides."""
    return [call.kind for call in server.answered() if call.kind.startswith("aggregate_")]


def faults_in(index: Index) -> list[str]:
    return [check.detail for check in check_index(index) if not check.ok]


def names(index: Index, layer: int) -> list[str]:
    return index.layers[layer].entities["name"].to_pylist()


def test_all_layers_are_written_by_the_model_and_nothing_else_changes_and_it_can_be_undone_and_done_again(
    bench: Workbench, home: Path, tmp_path: Path, server: EndpointServer
) -> None:
    folder = folder_of(bench)
    before, stored = open_index(folder), files(folder)
    expected = bench.rewrites.forecast(before, MODEL)
    assert written(server) == [], "a forecast asks nothing"
    made = bench.rewrites.rewrite(folder, MODEL)

    asked = Counter(written(server))
    assert set(asked) == {"aggregate_entity", "aggregate_relation"}
    assert sum(asked.values()) == expected.calls
    assert asked["aggregate_entity"] == sum(row.clusters for row in expected.layers)
    assert faults_in(made) == []
    now = files(folder)
    for name in UNTOUCHED:
        assert now[f"{name}.arrow"] == stored[f"{name}.arrow"], name
    assert now["vectors-chunks.npy"] == stored["vectors-chunks.npy"]
    assert now["vectors-0.npy"] == stored["vectors-0.npy"]
    assert read_edits(folder).edits
    for was, new in zip(before.layers[1:], made.layers[1:], strict=True):
        assert was.entities["id"].equals(new.entities["id"])
        assert was.ends.tolist() == new.ends.tolist()
        assert was.relations["strength"].equals(new.relations["strength"])
        assert was.relations["kind"].equals(new.relations["kind"])
        of_clusters = [not promoted for promoted in new.entities["promoted"].to_pylist()]
        assert any(
            left != right for left, right in zip(names(before, was.number), names(made, was.number), strict=True)
        )
        assert not np.allclose(np.asarray(was.vectors)[of_clusters], np.asarray(new.vectors)[of_clusters])
        assert {entity_made_by(made, new.entity(row)).how for row in np.flatnonzero(of_clusters).tolist()} == {
            "by_model"
        }
    assert made.manifest.config.aggregation_model == MODEL
    assert made.manifest.lineage[-1] == LineageStep(before.id, rewritten_from=1, written_before="builtin")
    assert made.report.update.texts_written == asked["aggregate_entity"]
    assert made.report.usage.calls == expected.calls

    other = Workbench.default(shutil.copytree(home, tmp_path / "other"))
    other.settings.save(Settings(base_url=server.url, concurrency=1))
    other.rewrites.rewrite(folder_of(other), MODEL)
    assert files(folder_of(other)) == now, "whatever the number of workers"

    bench.updates.undo(folder)
    assert files(folder) == stored
    server.clear()
    assert bench.rewrites.forecast(open_index(folder), MODEL).calls == 0
    bench.rewrites.rewrite(folder, MODEL)
    assert written(server) == []
    assert files(folder) == now
    same = bench.rewrites.rewrite(folder, MODEL)
    assert same.id == open_index(folder).id
    assert files(folder) == now, "the model says what the index has already"


def test_only_the_upper_layers_are_written_where_they_alone_are_chosen(
    bench: Workbench, server: EndpointServer
) -> None:
    folder = folder_of(bench)
    before = open_index(folder)
    top = len(before.layers) - 1
    assert top >= 3
    expected = bench.rewrites.forecast(before, MODEL, top)
    made = bench.rewrites.rewrite(folder, MODEL, top)
    assert expected.calls == len(written(server)) == 1
    assert [names(made, layer) for layer in range(top)] == [names(before, layer) for layer in range(top)]
    assert names(made, top) != names(before, top)
    assert entity_made_by(made, made.layers[1].entity(0)).how in ("by_builtin", "promoted")
    assert faults_in(made) == []

    server.clear()
    again = bench.rewrites.rewrite(folder, MODEL, 1)
    assert names(again, 1) != names(before, 1)
    assert layer_writers(MODEL, again.manifest.lineage) == (LayerWriter(0, "builtin"), LayerWriter(1, MODEL))
    assert faults_in(again) == []


def test_names_that_are_given_while_layers_are_rewritten_stay(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, written_index = folder_of(bench), layout.write_index

    def renamed_meanwhile(*arguments: Any, **more: Any) -> None:
        bench.indexes.rename(folder.name, "Renamed")
        bench.rename_corpus(bench.indexes.all()[0].corpus_id, "Shore")
        written_index(*arguments, **more)

    monkeypatch.setattr(layout, "write_index", renamed_meanwhile)
    made = bench.rewrites.rewrite(folder, MODEL)
    assert (made.manifest.name, made.manifest.corpus.name) == ("Renamed", "Shore")
    assert faults_in(made) == []


def test_it_stops_at_a_budget_of_calls_and_goes_on_without_asking_twice(
    bench: Workbench, server: EndpointServer
) -> None:
    folder = folder_of(bench)
    before = content(folder)
    expected = bench.rewrites.forecast(open_index(folder), MODEL)
    context = bench.models.context(bench.models.make(budget=Budget(calls=3), index=folder.name))
    with pytest.raises(BudgetSpent):
        bench.rewrites.rewrite(folder, MODEL, 1, context)
    assert content(folder) == before
    n_first = len(written(server))
    assert 3 <= n_first < expected.calls
    left = bench.rewrites.forecast(open_index(folder), MODEL)
    assert left.calls == expected.calls - n_first
    bench.rewrites.rewrite(folder, MODEL)
    assert len(written(server)) == expected.calls
    keys = [call.key for call in server.answered() if call.kind.startswith("aggregate_")]
    assert len(keys) == len(set(keys))


def test_a_reply_that_cannot_be_used_is_named_in_the_report_and_the_built_in_writer_stands_in(
    bench: Workbench, server: EndpointServer
) -> None:
    folder = folder_of(bench)
    server.plan = FaultPlan(
        share=0.6, kinds=(faults.CUT_JSON,), recover_after=None, seed=1, tasks=("aggregate_entity",)
    )
    made = bench.rewrites.rewrite(folder, MODEL)
    lost = [item for item in made.report.dropped["aggregate entities"] if item.by_builtin]
    assert lost
    assert made.manifest.builtin_texts == len(lost)
    assert made.manifest.builtin_texts < made.report.update.texts_written
    assert all("the built-in writer wrote" in item.reason for item in lost)
    assert faults_in(made) == []
    server.plan = FaultPlan()
    server.clear()
    mended = bench.rewrites.rewrite(folder, MODEL)
    assert mended.manifest.builtin_texts == 0, "what was lost is asked for again, and what rests on it"
    assert faults_in(mended) == []


def test_an_update_afterwards_keeps_the_texts_and_leaves_lower_layers_to_their_own_writer(
    bench: Workbench, server: EndpointServer
) -> None:
    folder = folder_of(bench)
    top = len(open_index(folder).layers) - 1
    made = bench.rewrites.rewrite(folder, MODEL, top)
    root = names(made, top)
    changes = changes_to(made, [read(bench, "owls.txt", "The Ural Owl hunts voles near the Tide Mill.")])
    server.clear()
    assert bench.updates.preview(made, changes).usage.calls <= 3
    updated = bench.updates.update(folder, changes)
    assert len(written(server)) <= 3, "the root and what joins the layer below it, at most"
    assert faults_in(updated) == []
    assert layer_writers(MODEL, updated.manifest.lineage) == (LayerWriter(0, "builtin"), LayerWriter(top, MODEL))
    bench.updates.undo(folder)
    assert names(open_index(folder), top) == root


def test_a_job_writes_them_and_its_report_has_forecast_and_cost(bench: Workbench, server: EndpointServer) -> None:
    folder = folder_of(bench)
    expected = bench.rewrites.forecast(open_index(folder), MODEL)
    stopped = ended(bench, bench.rewrites.start(folder.name, MODEL, budget=Budget(calls=2)))
    assert stopped.status == "stopped"
    done = ended(bench, bench.resume(stopped.id, budget=Budget()))
    assert done.status == "done"
    assert done.result == folder.name
    assert done.forecast is not None
    assert done.forecast.calls.expected < expected.calls + 1
    assert len(written(server)) == expected.calls
    assert faults_in(open_index(folder)) == []


def test_what_cannot_be_rewritten_is_refused_with_the_reason(bench: Workbench) -> None:
    folder = folder_of(bench)
    index = open_index(folder)
    with pytest.raises(InvalidConfig, match="no layer 9"):
        bench.rewrites.rewrite(folder, MODEL, 9)
    with pytest.raises(InvalidConfig, match="no model at an endpoint"):
        bench.rewrites.forecast(index, "builtin")
    corpus = bench.add_documents("One name", [("one.txt", b"Quito lies high.")]).corpus_id
    documents = [bench.corpora.document(corpus, row.id) for row in bench.corpora.documents(corpus)]
    lone = bench.builds.run(BuildRequest(documents, CONFIG, folder.parent.parent / "lone"), bench.models.context())
    if len(lone.layers) == 1:
        with pytest.raises(InvalidConfig, match="no aggregated layers"):
            bench.rewrites.forecast(lone, MODEL)


def rewrite_in(home: Path) -> None:
    bench = Workbench.default(home)
    bench.rewrites.rewrite(folder_of(bench), MODEL)


@pytest.mark.slow
def test_a_kill_leaves_one_of_the_two_states_and_no_answer_is_asked_for_twice(
    bench: Workbench, tmp_path: Path, server: EndpointServer
) -> None:
    folder = folder_of(bench)
    before = files(folder)
    killed = killed_copies(f"{__name__}:rewrite_in", bench.root, tmp_path / "copies", 3)
    after = files(folder_of(Workbench.default(tmp_path / "copies" / "whole")))
    assert after != before
    assert killed
    sound: list[dict[str, bytes]] = []
    for copy in killed:
        bench_of_copy = Workbench.default(copy)
        own = folder_of(bench_of_copy)
        assert files(own) in (before, after), copy
        if (present := content(own)) not in sound:
            assert faults_in(open_index(own)) == []
            sound.append(present)
        server.clear()
        n_left = bench_of_copy.rewrites.forecast(open_index(own), MODEL).calls
        rewrite_in(copy)
        assert len(written(server)) == n_left
        assert files(own) == after, copy
        bench_of_copy.updates.undo(own)
        assert files(own) == before


def test_who_writes_a_layer_follows_from_the_steps() -> None:
    def step(layer: int, before: str) -> LineageStep:
        return LineageStep("index-1", rewritten_from=layer, written_before=before)

    lineage = (step(2, "builtin"), LineageStep("index-2", added=1), step(3, "openai:a"))
    writers = layer_writers("openai:b", lineage)
    assert [writer_of(writers, layer) for layer in range(5)] == [
        "builtin",
        "builtin",
        "openai:a",
        "openai:b",
        "openai:b",
    ]
    assert layer_writers("openai:b", (*lineage, step(1, "openai:b")))[1:] == (LayerWriter(1, "openai:b"),)
    assert layer_writers("openai:c", ()) == (LayerWriter(0, "openai:c"),)


def test_the_calls_of_layers_that_are_written_again_take_the_place_of_the_former_ones() -> None:
    def call(kind: Kind, layer: int, target: str, key: str) -> WrittenCall:
        return WrittenCall(kind, layer, target, CallMade(key, Usage(1, 10, 5)))

    former = [call("extract", 0, "chunk-0", "a"), call("entity", 1, "id-bees", "b"), call("entity", 2, "id-farm", "c")]
    index = replace(small_index(), calls=calls_table(former))
    for first, keys in ((2, ["a", "b", "new"]), (1, ["a", "new"])):
        calls = _calls(index, first, [call("entity", 2, "id-farm", "new")])
        assert calls is not None
        assert calls["key"].to_pylist() == keys


def test_the_command_says_first_what_it_takes_and_then_writes(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], server: EndpointServer
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(bench.root))
    folder = folder_of(bench)
    command = ["rewrite", str(folder), "--model", MODEL]
    assert main([*command, "--layers", "1", "--preview"]) == 0
    shown = capsys.readouterr().out
    assert ": 1 name and summary, 0 sentences\n" in shown
    assert "m: 1 call, about" in shown
    assert main([*command, "--preview", "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    assert written(server) == []
    assert main([*command, "--budget-calls", "2"]) == 1
    assert "budget" in capsys.readouterr().err
    assert main([*command, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["changed"] is True
    assert made["update"]["rewritten_from"] == 1
    assert len(written(server)) == sum(row["clusters"] + row["sentences"] for row in expected["layers"])
    assert main(command) == 0
    assert "nothing changed" in capsys.readouterr().out
    assert main(["undo", str(folder)]) == 0
    assert main([*command, "--layers", "none"]) == 2


def test_an_imported_graph_is_rewritten_and_keeps_what_came_with_it(bench: Workbench, tmp_path: Path) -> None:
    imported = bench.import_graph(lightrag(tmp_path / "light"), config=IndexConfig(cluster_size=2, tau=1))
    expected = bench.rewrites.forecast(imported, MODEL)
    made = bench.rewrites.rewrite(imported.path, MODEL)
    assert made.report.usage.calls == expected.calls > 0
    assert made.manifest.kind == imported.manifest.kind
    assert made.report.aliases == imported.report.aliases
    assert faults_in(made) == []
    bench.updates.undo(imported.path)
    assert open_index(imported.path).id == imported.id


def test_a_small_window_cuts_prompts_in_the_forecast_as_in_the_work(home: Path, tmp_path: Path) -> None:
    with EndpointServer(num_ctx=2048) as small:
        bench = Workbench.default(shutil.copytree(home, tmp_path / "home"))
        bench.settings.save(Settings(base_url=small.url))
        folder = folder_of(bench)
        expected = bench.rewrites.forecast(open_index(folder), MODEL)
        made = bench.rewrites.rewrite(folder, MODEL)
        assert len(written(small)) == expected.calls
        assert any("did not fit" in lost.reason or "were cut" in lost.reason for lost in lost_of(made))
        bench.updates.undo(folder)
        assert bench.rewrites.forecast(open_index(folder), MODEL).calls == 0


def lost_of(index: Index) -> list[DroppedItem]:
    return [item for listed in index.report.dropped.values() for item in listed]
