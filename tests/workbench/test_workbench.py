"""The door, end to end on two short documents."""

import json
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

from leanrag_core import IndexConfig, Workbench, open_index
from leanrag_core.checking.check import check_index
from leanrag_core.errors import CorpusNotFound, IndexNotFound, InvalidConfig, JobNotFound, ModelMismatch
from leanrag_core.jobs.events import JobSpec, create_job
from leanrag_core.messages.catalog import sentence
from leanrag_core.models.minilm import FORMS, MiniLM
from leanrag_core.storage.corpora import CorpusStore
from leanrag_core.types.corpus import Document
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import EmbeddingRecord
from leanrag_core.types.summary import DocumentSummary

pytestmark = pytest.mark.slow

BEES = b"""# Bees in rape

Marie Curie did not keep bees. Varroa destructor is a mite that weakens honey bee colonies. Beekeepers treat Varroa
destructor with oxalic acid in winter. Honey bees pollinate oilseed rape. Oilseed rape gives honey bees nectar in May.

# Clover

White clover feeds honey bees in summer. White clover fixes nitrogen for the pasture.
"""
HIVES = b"""Langstroth hives hold movable frames. Lorenzo Langstroth patented the hive in 1852. Beekeepers inspect the
movable frames for Varroa destructor. Honey bees build comb in the movable frames.
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench.default(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def corpus_id(bench: Workbench) -> str:
    return bench.add_documents("My bees", [("bees.md", BEES), ("hives.txt", HIVES)]).corpus_id


def test_good_files_go_in_and_bad_ones_are_reported(bench: Workbench) -> None:
    report = bench.add_documents(
        "Mixed", [("bees.md", BEES), ("again.md", BEES), ("empty.txt", b""), ("../../evil.txt", HIVES)]
    )
    assert [document.name for document in report.added] == ["bees.md", "evil.txt"]
    assert [duplicate.name for duplicate in report.duplicates] == ["again.md"]
    assert [refusal.name for refusal in report.refusals] == ["empty.txt"]
    again = bench.add_documents(report.corpus_id, [("bees.md", BEES)])
    assert again.added == ()
    assert "already in as bees.md" in sentence(again.duplicates[0].reason)
    bench.corpora.remove(report.corpus_id, report.added[0].id)
    assert [document.name for document in bench.corpora.documents(report.corpus_id)] == ["evil.txt"]
    bench.corpora.delete(report.corpus_id)
    with pytest.raises(CorpusNotFound):
        bench.corpora.summary(report.corpus_id)


def test_a_document_that_comes_while_an_index_is_compared_with_its_corpus_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, documents = Workbench(tmp_path), CorpusStore.documents
    corpus = bench.add_documents("Growing", [("bees.md", BEES)]).corpus_id
    bench.build(corpus, IndexConfig(cluster_size=4))
    [index] = bench.indexes.all()

    def overtaken(store: CorpusStore, corpus_id: str, wanted: str = "") -> Sequence[DocumentSummary]:
        rows = documents(store, corpus_id, wanted)
        store.add(corpus_id, [Document("doc-new", "ants.txt", "Ants", "text", "Ants walk.")])
        return rows

    with monkeypatch.context() as patch:
        patch.setattr(CorpusStore, "documents", overtaken)
        bench.updates.is_behind(index.path)
    assert bench.updates.is_behind(index.path)


def test_a_build_gives_an_index_that_keeps_every_promise_and_answers(bench: Workbench, corpus_id: str) -> None:
    index = bench.build(corpus_id, IndexConfig(cluster_size=4))
    assert [result.name for result in check_index(index) if not result.ok] == []
    answer = bench.ask(index, "What do beekeepers use against Varroa destructor?", top_n=5)
    assert answer.grounded
    assert "oxalic acid" in answer.text
    assert answer.trace.with_role("lca")
    assert index.manifest.kind == "heuristic graph"
    assert bench.indexes.all()[0].corpus_id == corpus_id


def test_building_twice_gives_the_same_bytes(bench: Workbench, corpus_id: str, tmp_path: Path) -> None:
    index = bench.build(corpus_id, IndexConfig(cluster_size=4))
    assert index.path is not None
    first = {path.name: path.read_bytes() for path in index.path.iterdir() if path.is_file()}
    bench.build(corpus_id, IndexConfig(cluster_size=4))
    assert {path.name: path.read_bytes() for path in index.path.iterdir() if path.is_file()} == first


def test_the_order_of_an_upload_does_not_matter(bench: Workbench, corpus_id: str) -> None:
    turned = bench.add_documents("Turned", [("hives.txt", HIVES), ("bees.md", BEES)]).corpus_id
    left = bench.build(corpus_id, IndexConfig(cluster_size=4))
    right = bench.build(turned, IndexConfig(cluster_size=4))
    assert left.manifest.id == right.manifest.id
    for below, above in zip(left.layers, right.layers, strict=True):
        assert below.entities.equals(above.entities)
        assert np.array_equal(below.vectors, above.vectors)


def test_an_index_of_another_model_is_refused_with_the_remedy(bench: Workbench, corpus_id: str) -> None:
    index = bench.build(corpus_id, IndexConfig(cluster_size=4))
    embedding = replace(index.manifest.embedding, fingerprint="other-model:123")
    index = replace(index, manifest=replace(index.manifest, embedding=embedding))
    with pytest.raises(ModelMismatch, match=r"other-model:123.*build the index again"):
        bench.retrieve(index, "What about bees?")


@pytest.mark.parametrize("form", FORMS[1:])
def test_an_older_index_is_asked_in_the_form_of_the_builtin_model_that_made_it(
    index: Index, tmp_path: Path, form: str
) -> None:
    earlier = MiniLM(form=form)
    embedding = EmbeddingRecord("builtin", earlier.fingerprint, 384)
    older = replace(index, manifest=replace(index.manifest, embedding=embedding))
    asked = Workbench(tmp_path).questions.question_vector(older, " What about bees? ")
    assert np.array_equal(asked, earlier.embed(["What about bees?"])[0])
    assert not np.array_equal(asked, MiniLM().embed(["What about bees?"])[0])


def test_an_index_can_be_renamed_and_deleted(bench: Workbench, corpus_id: str) -> None:
    index = bench.build(corpus_id, IndexConfig(cluster_size=5), name="five")
    assert index.path is not None
    bench.indexes.rename(index.path.name, "better")
    assert bench.indexes.summary(index.path.name).name == "better"
    bench.indexes.delete(index.path.name)
    with pytest.raises(IndexNotFound):
        open_index(index.path)


@pytest.mark.parametrize("bad", ["", "../x", "a/b", ".hidden"])
def test_ids_never_become_paths(bench: Workbench, bad: str) -> None:
    with pytest.raises(IndexNotFound):
        bench.indexes.open(bad)
    with pytest.raises(JobNotFound):
        bench.jobs.job(bad)
    with pytest.raises(CorpusNotFound):
        bench.corpora.documents(bad)


def test_sample_corpora_are_there_and_stay(bench: Workbench) -> None:
    samples = [corpus for corpus in bench.corpora.all() if corpus.sample]
    assert [corpus.id for corpus in samples] == [
        "sample-agriculture",
        "sample-cs",
        "sample-mix",
        "sample-legal",
        "sample-irrigation",
    ]
    assert len(bench.corpora.samples.questions("sample-mix")) >= 25
    with pytest.raises(InvalidConfig, match="belong to the program"):
        bench.corpora.delete("sample-mix")


def test_an_upload_cannot_reach_outside_the_store(bench: Workbench) -> None:
    report = bench.add_documents("Evil", [("..\\..\\x/../y.txt", HIVES)])
    stored = [path.name for path in (bench.root / "corpora" / report.corpus_id).iterdir()]
    assert sorted(stored) == sorted(["corpus.json", f"{report.added[0].id}.json"])
    assert json.loads((bench.root / "corpora" / report.corpus_id / "corpus.json").read_text())["name"] == "Evil"


def test_who_looks_at_the_samples_while_they_are_read_finds_their_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, begun, looking, add = Workbench(tmp_path), Event(), Event(), CorpusStore.add

    def slowly(store: CorpusStore, corpus_id: str, *arguments: Any, **more: Any) -> Any:
        if corpus_id == "sample-mix":  # the last one
            begun.set()
            assert looking.wait(30)
        return add(store, corpus_id, *arguments, **more)

    def documents() -> int:
        if begun.is_set():
            looking.set()
        bench.corpora.all()
        return len(bench.corpora.documents("sample-mix"))

    monkeypatch.setattr(CorpusStore, "add", slowly)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(documents)
        assert begun.wait(30)
        assert (pool.submit(documents).result(), first.result()) == (15, 15)


def test_a_file_that_could_not_be_read_is_in_the_report_of_a_build_from_the_app(bench: Workbench) -> None:
    made = bench.add_documents("Docs", [("bees.txt", BEES), ("scan.xyz", b"\x00\x01"), ("empty.txt", b"")])
    index = bench.build(made.corpus_id)
    assert index.report.drops["parse"] == 2
    reasons = {row.item: row.reason for row in index.report.dropped["parse"]}
    assert reasons == {refusal.name: sentence(refusal.reason) for refusal in made.refusals}


def test_a_build_reports_what_it_finds_and_writes_while_it_runs(bench: Workbench, corpus_id: str) -> None:
    events: list[Progress] = []
    index = bench.build(corpus_id, IndexConfig(cluster_size=3), report=events.append)
    read = [event for event in events if event.stage == "extract"][-1]
    names = index.layers[0].entities["name"].to_pylist()
    assert read.found is not None
    assert read.found >= len(names) - 2
    assert read.relations
    assert set(read.current.split(", ")) & set(names)
    merged = next(event for event in events if event.stage == "merge" and event.total)
    assert (merged.found, merged.relations) == (len(names), index.layers[0].relations.num_rows)
    written = {event.current for event in events if event.stage == "aggregate entities" and event.current}
    assert written & set(index.layers[1].entities["name"].to_pylist())
    ends = {event.stage: event.done for event in events}
    assert ends["aggregate entities"] == sum(len(layer) for layer in index.layers[1:])
    assert ends["aggregate relations"] == sum(layer.relations.num_rows for layer in index.layers[1:])


def test_files_that_come_one_by_one_are_all_read(bench: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "path.txt"
    path.write_bytes(b"White clover feeds honey bees in summer, as the path says.")
    files: list[Path | tuple[str, bytes]] = [("upload.txt", b"Movable frames, as the upload says."), path]
    report = bench.add_documents("One by one", iter(files))
    assert [document.name for document in report.added] == ["upload.txt", "path.txt"]


@pytest.mark.parametrize("arguments", [{"budget": {"euros": 1}}, {"budget": [1]}, {"execution": {"kind": 5, "n": 1}}])
def test_a_job_with_arguments_of_another_version_is_not_resumed(
    arguments: dict[str, Any], bench: Workbench, corpus_id: str
) -> None:
    config = json.loads(json.dumps(asdict(IndexConfig())))
    spec = JobSpec("job-1", "Old", corpus_id, config, arguments, "2026-11-22T00:00:00+00:00")
    create_job(bench.root / "jobs" / "job-1", spec)
    try:
        with pytest.raises(InvalidConfig, match="another version of the program"):
            bench.resume("job-1")
    finally:
        shutil.rmtree(bench.root / "jobs" / "job-1")


def test_no_change_of_a_setting_undoes_another_one_made_at_the_same_time(tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path)

    def change(name: str) -> list[int]:
        """Return what the file held after each change."""
        settings_read = []
        for value in range(1, 21):
            bench.settings.change(lambda settings, value=value: replace(settings, **{name: value}))
            settings_read.append(getattr(bench.settings.read(), name))
        return settings_read

    with ThreadPoolExecutor(3) as pool:
        for snapshot in pool.map(change, ("concurrency", "retries", "requests_per_minute")):
            assert snapshot == list(range(1, 21))


def test_daily_methods_take_an_index_or_its_id_or_its_path(bench: Workbench) -> None:
    corpus = bench.add_documents("Bees", [("bees.md", BEES), ("hives.txt", HIVES)]).corpus_id
    index = bench.build(corpus, IndexConfig(cluster_size=4))
    assert index.path is not None
    wanted = bench.retrieve(index, "What is a mite?").context.text
    for given in (index.path.name, str(index.path), index.path):
        assert bench.retrieve(given, "What is a mite?").context.text == wanted
    with pytest.raises(IndexNotFound, match="nowhere"):
        bench.retrieve("nowhere", "What is a mite?")
    with pytest.raises(TypeError, match="not int"):
        bench.retrieve(7, "What is a mite?")  # type: ignore[arg-type]
