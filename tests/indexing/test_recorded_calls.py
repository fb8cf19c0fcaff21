"""A build with a language model records which call wrote which text, and an index without one stays as it was."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.__main__ import main
from leanrag_core.checking.check import check_index
from leanrag_core.checking.problem import Subject
from leanrag_core.checking.stored import calls_recorded
from leanrag_core.indexing.build import BuildRequest
from leanrag_core.indexing.updating.preview import changes_to
from leanrag_core.queries.made_by import chunk_made_by, made_by
from leanrag_core.storage.layout import read_index, write_index
from leanrag_core.types.index import Index
from leanrag_core.types.settings import Settings
from tests.endpoint.server import EndpointServer

pytestmark = pytest.mark.slow

CONFIG = IndexConfig(model="openai:m", embedding="openai:e", cluster_size=4, tau=1, chunk_tokens=64, overlap_tokens=8)
PEOPLE = ("Ada Thornbury", "Bela Kraus", "Carl Ohm", "Dora Lind", "Edgar Moss")
PLACES = ("Marram Point", "Holm Rock", "Grey Harbour")


def story(number: int) -> bytes:
    lines = [f"{PEOPLE[(number + n) % 5]} met {PEOPLE[(2 * n) % 5]} at {PLACES[n % 3]} in year {n}." for n in range(6)]
    return "\n\n".join(lines).encode()


@pytest.fixture(scope="module")
def server() -> Iterator[EndpointServer]:
    with EndpointServer() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def bench(server: EndpointServer, tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    bench = Workbench.default(tmp_path_factory.mktemp("recorded"))
    bench.settings.save(Settings(base_url=server.url))
    return bench


@pytest.fixture(scope="module")
def built(bench: Workbench) -> Index:
    corpus = bench.add_documents("Coast", [(f"s{n}.txt", story(n)) for n in range(3)]).corpus_id
    return bench.build(corpus, CONFIG)


def calls_of(index: Index) -> pa.Table:
    assert index.calls is not None
    return index.calls


def test_every_text_of_the_model_leads_to_its_call(built: Index, bench: Workbench) -> None:
    top = built.layers[-1].entity(0)
    made = made_by(built, top.id)
    assert made is not None
    assert (made.how, made.engine) == ("by_model", "openai:m")
    [call] = made.calls
    assert call.number <= call.total == calls_of(built).num_rows
    stored = bench.calls.get(call.key)
    assert stored is not None
    assert json.loads(stored.text or "")["name"] == top.name
    members = [built.layers[-2].entities["name"][row].as_py() for row in built.children_of(top.layer, 0).tolist()]
    assert all(name in stored.messages[0].content for name in members)


def test_an_entity_leads_to_the_calls_that_read_its_chunks(built: Index) -> None:
    entity = built.layers[0].entity(0)
    made = made_by(built, entity.id)
    assert made is not None
    assert made.how == "merged"
    assert {call.chunk for call in made.calls} == set(entity.chunks)
    assert {call.kind for call in made.calls} == {"extract"}
    by_chunk = chunk_made_by(built, entity.chunks[0])
    assert set(by_chunk.calls) <= set(made.calls)


def test_a_summarised_relation_leads_to_its_call(built: Index) -> None:
    relation = built.layers[1].relation(0)
    assert relation.kind == "summarised"
    made = made_by(built, relation.id)
    assert made is not None
    assert [call.kind for call in made.calls] == ["relation"]


def test_the_same_build_with_an_empty_store_gives_the_same_bytes(
    built: Index, server: EndpointServer, bench: Workbench, tmp_path: Path
) -> None:
    other = Workbench.default(tmp_path)
    other.settings.save(Settings(base_url=server.url))
    corpus = other.add_documents("Coast", [(f"s{n}.txt", story(n)) for n in range(3)]).corpus_id
    again = other.build(corpus, CONFIG)
    assert built.path is not None
    assert again.path is not None
    assert (again.path / "calls.arrow").read_bytes() == (built.path / "calls.arrow").read_bytes()


def test_an_update_keeps_the_calls_of_texts_that_it_takes_over(built: Index, bench: Workbench, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    corpus = built.manifest.corpus.id
    documents = [bench.corpora.document(corpus, row.id) for row in bench.corpora.documents(corpus)]
    bench.builds.run(BuildRequest(documents, CONFIG, folder, "Coast"), bench.models.context())
    added = bench.add_documents(
        "More", [("more.txt", b"Flora Penn wrote to Gustav Rau about the Tide Mill.")]
    ).corpus_id
    [document] = bench.corpora.documents(added)
    changes = changes_to(read_index(folder), [*documents, bench.corpora.document(added, document.id)])
    updated = bench.updates.update(folder, changes)
    assert all(result.ok for result in check_index(updated) if result.name in ("model calls", "file hashes"))
    before = {row["target"]: row["key"] for row in calls_of(built).to_pylist() if row["kind"] == "extract"}
    after = {row["target"]: row["key"] for row in calls_of(updated).to_pylist() if row["kind"] == "extract"}
    assert before.items() <= after.items()
    for layer in updated.layers[1:]:
        for row in range(len(layer)):
            entity = layer.entity(row)
            made = made_by(updated, entity.id)
            assert made is not None
            assert made.how in ("promoted", "by_model")
            assert bool(made.calls) is not entity.promoted


def test_a_call_of_something_that_is_not_there_is_found(built: Index, tmp_path: Path) -> None:
    assert not [problem for problem in calls_recorded(Subject(built)) if hasattr(problem, "row")]
    row = calls_of(built).slice(0, 1).to_pylist()[0]
    wrong = [{**row, "target": "gone"}, {**row, "kind": "sung"}, {**row, "cost": -1.0}, {**row, "layer": 99}]
    calls = pa.Table.from_pylist(wrong, schema=calls_of(built).schema)
    problems = [str(problem) for problem in calls_recorded(Subject(replace(built, calls=calls)))]
    assert [problem.split(": ")[1] for problem in problems] == [
        "the call is of no known kind",
        "what the call wrote is not there",
        "what the call wrote is not there",
        "a count or cost is below zero",
    ]


def test_the_file_is_recorded_and_its_damage_found(built: Index, tmp_path: Path) -> None:
    write_index(tmp_path, built)
    path = tmp_path / "calls.arrow"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    damaged = read_index(tmp_path, hashes=False)
    [problem] = [result for result in check_index(damaged) if result.name == "file hashes"]
    assert "calls.arrow" in problem.detail


def test_the_built_in_engine_records_no_call(bench: Workbench, tmp_path: Path) -> None:
    corpus = bench.add_documents("Built in", [(f"s{n}.txt", story(n)) for n in range(3)]).corpus_id
    index = bench.build(corpus, replace(CONFIG, model="builtin", tau=99))
    assert index.path is not None
    assert not (index.path / "calls.arrow").exists()
    assert index.calls is None
    base = made_by(index, index.layers[0].entity(0).id)
    assert base is not None
    assert (base.how, base.engine, base.calls) == ("merged", "builtin", ())
    joined = index.layers[1].relation(0)
    made = made_by(index, joined.id)
    assert made is not None
    assert (made.how, made.tau, made.sources) == ("joined", 99.0, len(joined.members))


def test_show_prints_what_made_a_thing(
    built: Index, bench: Workbench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Workbench, "default", lambda: bench)
    top = built.layers[-1].entity(0)
    assert main(["show", str(built.path), "--of", top.id, "--prompts", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["made_by"]["how"] == "by_model"
    [call] = shown["made_by"]["calls"]
    assert call["seconds"] is not None
    assert json.loads(call["reply"])["name"] == top.name
    assert main(["show", str(built.path), "--of", top.name]) == 0
    assert "Written by m." in capsys.readouterr().out
    assert main(["show", str(built.path), "--of", "nobody of that name"]) == 2
