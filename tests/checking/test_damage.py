"""Each kind of damage to a stored index is found by what it breaks, with file and row, though all hashes fit again."""

import contextlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leanrag_core.__main__ import main
from leanrag_core.checking.check import CheckResult, check_directory
from leanrag_core.storage.search_connection import SearchPlace, connect_to_files
from tests.checking.stored import Remembered, Stored

Damage = Callable[[Stored], int | None]  # does it, and gives the row that is to be named
DAMAGES: list[Any] = []


def damage(check: str, file: str) -> Callable[[Damage], Damage]:
    """A kind of damage, the check that must find it, and the file that it must name."""

    def register(do: Damage) -> Damage:
        DAMAGES.append(pytest.param(do, check, file, id=do.__name__))
        return do

    return register


def results(stored: Stored, embedding: Remembered) -> dict[str, CheckResult]:
    checked = check_directory(stored.folder, lambda name, fingerprint: embedding)
    return {result.name: result for result in checked}


def row_of(stored: Stored, kind: str, layer: int = 1) -> int:
    return stored.cells(f"relations-{layer}.arrow", "kind").index(kind)


def between(stored: Stored, inside: bool) -> int:
    """A base relation inside a cluster, or between two."""
    base = stored.index().layers[0]
    lifted = base.parent[base.ends]
    return int(np.flatnonzero((lifted[:, 0] == lifted[:, 1]) == inside)[0])


# Texts


@damage("vectors of texts", "vectors-0.npy")
def a_description_changed(stored: Stored) -> int:
    stored.change("entities-0.arrow", "description", 3, "It is made of green cheese and tax law.")
    stored.counted_again()
    return 3


@damage("stored token counts", "entities-0.arrow")
def a_description_made_longer(stored: Stored) -> int:
    stored.change("entities-0.arrow", "description", 3, lambda text: f"{text} Indeed.")
    return 3


@damage("entity texts", "entities-0.arrow")
def a_description_emptied(stored: Stored) -> int:
    stored.change("entities-0.arrow", "description", 4, "")
    stored.counted_again()
    return 4


@damage("vectors of texts", "vectors-1.npy")
def the_description_of_an_aggregated_entity_changed(stored: Stored) -> int:
    stored.change("entities-1.arrow", "description", 2, "On the taxation of green cheese.")
    stored.counted_again()
    return 2


@damage("relation texts", "relations-1.arrow")
def the_description_of_a_base_relation_changed(stored: Stored) -> int:
    row = row_of(stored, "concatenated")
    member = stored.cells("relations-1.arrow", "members")[row][0]
    stored.change("relations-0.arrow", "description", member, "They never met.")
    stored.counted_again()
    return row


@damage("relation texts", "relations-1.arrow")
def a_concatenated_description_changed(stored: Stored) -> int:
    row = row_of(stored, "concatenated")
    stored.change("relations-1.arrow", "description", row, lambda text: f"{text} They never met.")
    stored.counted_again()
    return row


@damage("relation texts", "relations-1.arrow")
def a_summarised_description_emptied(stored: Stored) -> int:
    row = row_of(stored, "summarised")
    stored.change("relations-1.arrow", "description", row, "")
    stored.counted_again()
    return row


@damage("names", "entities-1.arrow")
def an_aggregated_name_that_is_a_members(stored: Stored) -> int:
    index = stored.index()
    name = index.layers[0].entity(int(index.children_of(1, 2)[0])).name
    stored.change("entities-1.arrow", "name", 2, f" {name.upper()} ")
    stored.counted_again()
    return 2


@damage("entity texts", "entities-1.arrow")
def a_name_emptied(stored: Stored) -> int:
    stored.change("entities-1.arrow", "name", 1, " ")
    return 1


@damage("entity texts", "entities-1.arrow")
def the_summary_of_a_finding_emptied(stored: Stored) -> int:
    stored.change("entities-1.arrow", "findings", 0, lambda findings: [{**findings[0], "summary": ""}, *findings[1:]])
    stored.counted_again()
    return 0


@damage("names", "entities-1.arrow")
def a_cluster_said_to_be_promoted(stored: Stored) -> int:
    stored.change("entities-1.arrow", "promoted", 3, True)
    return 3


# Identity


@damage("ids from content", "entities-0.arrow")
def an_entity_renamed(stored: Stored) -> int:
    stored.change("entities-0.arrow", "name", 5, "Somebody Else")
    stored.counted_again()
    return 5


@damage("ids", "entities-0.arrow")
def an_id_twice_in_a_layer(stored: Stored) -> int:
    stored.change("entities-0.arrow", "id", 6, stored.cells("entities-0.arrow", "id")[5])
    return 6


@damage("ids", "entities-1.arrow")
def an_id_twice_in_two_layers(stored: Stored) -> int:
    stored.change("entities-1.arrow", "id", 1, stored.cells("entities-0.arrow", "id")[5])
    return 1


@damage("ids", "relations-1.arrow")
def the_id_of_a_relation_twice_in_two_layers(stored: Stored) -> int:
    stored.change("relations-1.arrow", "id", 1, stored.cells("relations-0.arrow", "id")[5])
    return 1


@damage("ids", "chunks.arrow")
def an_id_emptied(stored: Stored) -> int:
    stored.change("chunks.arrow", "id", 1, "")
    return 1


@damage("ids from content", "documents.arrow")
def the_text_of_a_document_changed(stored: Stored) -> int:
    stored.change("documents.arrow", "text", 0, lambda text: text.replace("Marie", "Maria"))
    return 0


@damage("id of the index", "manifest.json")
def a_document_renamed(stored: Stored) -> None:
    stored.change("documents.arrow", "name", 0, "other.md")


@damage("id of the index", "manifest.json")
def the_id_of_the_index_changed(stored: Stored) -> None:
    stored.record("manifest.json", lambda manifest: manifest.update(id="index-0123456789abcdef"))


@damage("id of the index", "manifest.json")
def the_kind_of_the_graph_falsified(stored: Stored) -> None:
    stored.record("manifest.json", lambda manifest: manifest.update(kind="LLM graph"))


@damage("id of the index", "manifest.json")
def tau_in_the_configuration_falsified(stored: Stored) -> None:
    stored.record("manifest.json", lambda manifest: manifest["config"].update(tau=7))


# Equation 5


@damage("kind and tau", "relations-1.arrow")
def a_summarised_relation_said_to_be_concatenated(stored: Stored) -> int:
    row = row_of(stored, "summarised")
    stored.change("relations-1.arrow", "kind", row, "concatenated")
    return row


@damage("kind and tau", "relations-1.arrow")
def a_concatenated_relation_said_to_be_summarised(stored: Stored) -> int:
    row = row_of(stored, "concatenated")
    stored.change("relations-1.arrow", "kind", row, "summarised")
    return row


@damage("kind and tau", "relations-1.arrow")
def tau_falsified_with_all_that_names_it(stored: Stored) -> int:
    from leanrag_core.indexing.identity import index_id

    def falsify(manifest: dict[str, Any]) -> None:
        manifest["config"]["tau"] = 0
        manifest["id"] = index_id(manifest)

    stored.record("manifest.json", falsify)
    return row_of(stored, "concatenated")


@damage("kind and tau", "relations-0.arrow")
def a_base_relation_said_to_be_summarised(stored: Stored) -> int:
    stored.change("relations-0.arrow", "kind", 2, "summarised")
    return 2


@damage("connectivity", "relations-1.arrow")
def a_lambda_changed(stored: Stored) -> int:
    row = row_of(stored, "summarised")
    stored.change("relations-1.arrow", "strength", row, lambda strength: strength + 1)
    return row


@damage("connectivity", "relations-0.arrow")
def the_strength_of_a_base_relation_changed(stored: Stored) -> int:
    stored.change("relations-0.arrow", "strength", 4, 2)
    return 4


@damage("unfolding", "relations-1.arrow")
def two_relations_that_exchanged_a_member(stored: Stored) -> int:
    cells = stored.cells("relations-1.arrow", "members")
    cells[0], cells[1] = [cells[1][0], *cells[0][1:]], [cells[0][0], *cells[1][1:]]
    stored.put("relations-1.arrow", "members", cells)
    return 0


@damage("unfolding", "relations-0.arrow")
def a_member_lost(stored: Stored) -> int:
    row = row_of(stored, "summarised")
    [*kept, lost] = stored.cells("relations-1.arrow", "members")[row]
    stored.change("relations-1.arrow", "members", row, kept)
    return int(lost)


@damage("ids from content", "relations-0.arrow")
def a_relation_moved_within_its_cluster(stored: Stored) -> int:
    """No lambda changes."""
    index, row = stored.index(), between(stored, inside=False)
    base = index.layers[0]
    source, target = base.ends[row].tolist()
    taken = {tuple(ends) for ends in base.ends.tolist()}
    siblings = index.children_of(1, int(base.parent[target])).tolist()
    stored.change(
        "relations-0.arrow",
        "target",
        row,
        next(other for other in siblings if other > source and (source, other) not in taken),
    )
    return row


@damage("unfolding", "relations-1.arrow")
def a_relation_moved_to_another_cluster(stored: Stored) -> int:
    base = stored.index().layers[0]
    row = between(stored, inside=False)
    source, target = base.ends[row].tolist()
    [owner] = [at for at, members in enumerate(stored.cells("relations-1.arrow", "members")) if row in members]
    inside = np.flatnonzero(base.parent == base.parent[source])
    stored.change("relations-0.arrow", "target", row, int(inside[inside != source].max()))
    assert target not in inside
    return owner


@damage("relation ends", "relations-0.arrow")
def a_relation_turned_round(stored: Stored) -> int:
    source, target = (stored.cells("relations-0.arrow", name)[3] for name in ("source", "target"))
    stored.change("relations-0.arrow", "source", 3, target)
    stored.change("relations-0.arrow", "target", 3, source)
    return 3


@damage("weights", "relations-1.arrow")
def the_weight_of_an_aggregated_relation_changed(stored: Stored) -> int:
    stored.change("relations-1.arrow", "weight", 2, lambda weight: weight + 0.25)
    return 2


@damage("weights", "relations-1.arrow")
def the_weight_of_a_base_relation_changed(stored: Stored) -> int:
    stored.change("relations-0.arrow", "weight", stored.cells("relations-1.arrow", "members")[1][0], 9.5)
    return 1


# The tree


@damage("ids from content", "entities-1.arrow")
def an_entity_moved_to_another_cluster(stored: Stored) -> int:
    parent = stored.cells("hierarchy.arrow", "parent")
    sizes = np.bincount(parent[:20])
    row = parent.index(int(sizes.argmax()))
    to = int(sizes.argmin())
    stored.change("hierarchy.arrow", "parent", row, to)
    return to


@damage("cluster sizes", "entities-1.arrow")
def a_cluster_above_the_cap(stored: Stored) -> int:
    parent = stored.cells("hierarchy.arrow", "parent")
    stored.put("hierarchy.arrow", "parent", [0] * 12 + parent[12:])
    return 0


@damage("one parent", "entities-1.arrow")
def a_cluster_without_members(stored: Stored) -> int:
    parent = stored.cells("hierarchy.arrow", "parent")
    stored.put("hierarchy.arrow", "parent", [3 if cluster == 4 else cluster for cluster in parent[:20]] + parent[20:])
    return 4


@damage("chunks of entities", "entities-1.arrow")
def a_chunk_missing_from_an_entity(stored: Stored) -> int:
    chunk_lists = stored.cells("entities-1.arrow", "chunks")
    row = next(at for at, chunks in enumerate(chunk_lists) if len(chunks) > 1)
    stored.change("entities-1.arrow", "chunks", row, chunk_lists[row][1:])
    return row


@damage("chunks of entities", "entities-0.arrow")
def a_base_entity_without_a_chunk(stored: Stored) -> int:
    stored.change("entities-0.arrow", "chunks", 7, [])
    return 7


# Vectors


@damage("vectors of texts", "vectors-0.npy")
def two_vectors_exchanged(stored: Stored) -> int:
    def exchange(vectors: np.ndarray) -> None:
        vectors[[2, 9]] = vectors[[9, 2]]

    stored.vectors(0, exchange)
    return 9


@damage("vectors of texts", "vectors-chunks.npy")
def two_vectors_of_chunks_exchanged(stored: Stored) -> int:
    def exchange(vectors: np.ndarray) -> None:
        vectors[[0, 1]] = vectors[[1, 0]]

    stored.vectors("chunks", exchange)
    return 1


@pytest.mark.parametrize("value", [np.nan, 0.0, 7.5e38 / 3, -np.inf, 0.5])
def test_a_vector_that_is_none_is_found(stored: Stored, embedding: Remembered, value: float) -> None:
    def spoil(vectors: np.ndarray) -> None:
        vectors[1] = value

    stored.vectors(1, spoil)
    stored.hashed_again()
    assert named(results(stored, embedding)["unit vectors"]) == [("vectors-1.npy", 1)]


# Stored counts and places


@damage("stored token counts", "entities-1.arrow")
def a_token_column_of_entities_changed(stored: Stored) -> int:
    stored.change("entities-1.arrow", "findings_tokens", 1, 3)
    return 1


@damage("stored token counts", "relations-0.arrow")
def a_token_column_of_relations_changed(stored: Stored) -> int:
    stored.change("relations-0.arrow", "relation_tokens", 11, lambda count: count + 1)
    return 11


@damage("stored places", "chunks.arrow")
def the_context_tokens_of_a_chunk_changed(stored: Stored) -> int:
    stored.change("chunks.arrow", "context_tokens", 2, 5)
    return 2


@damage("chunk spans", "chunks.arrow")
def the_tokens_of_a_chunk_changed(stored: Stored) -> int:
    stored.change("chunks.arrow", "tokens", 1, lambda count: count - 1)
    return 1


@damage("stored places", "chunks.arrow")
def the_bytes_of_a_chunk_moved(stored: Stored) -> int:
    """The wrong text would be shown."""
    stored.change("chunks.arrow", "start_byte", 1, lambda at: at + 4)
    return 1


@damage("ids from content", "chunks.arrow")
def a_chunk_moved_with_all_that_counts_it(stored: Stored) -> int:
    for column in ("start", "start_byte"):
        stored.change("chunks.arrow", column, 0, lambda at: at + 1)
    return 0


# Records


@damage("counts", "manifest.json")
def a_count_of_the_manifest_changed(stored: Stored) -> None:
    stored.record("manifest.json", lambda manifest: manifest["counts"].update(documents=3))


@damage("counts", "manifest.json")
def a_count_of_a_layer_changed(stored: Stored) -> None:
    stored.record("manifest.json", lambda manifest: manifest["layers"][1].update(components=1, summarised=4))


@damage("clusters in the report", "report.json")
def tau_in_the_report_falsified(stored: Stored) -> None:
    stored.record("report.json", lambda report: report["clustering"][0].update(tau=3.0))


@damage("clusters in the report", "report.json")
def the_clusters_in_the_report_miscounted(stored: Stored) -> None:
    stored.record("report.json", lambda report: report["clustering"][1].update(relations_inside=40))


@damage("build report", "report.json")
def more_drops_listed_than_counted(stored: Stored) -> None:
    stored.record("report.json", lambda report: report.update(dropped={"parse": [{"item": "a", "reason": "b"}]}))


@damage("build report", "report.json")
def an_empty_chunk_that_is_none(stored: Stored) -> None:
    stored.record("report.json", lambda report: report.update(empty_chunks=["chunk-0000000000000000"]))


# The search index


@damage("search index", "parts/chroma/*/chroma.sqlite3")
def a_row_of_chroma_changed(stored: Stored) -> int:
    with_chroma(stored, lambda client: client.upsert(ids=["4"], embeddings=[np.eye(384)[0].tolist()]))
    return 4


@damage("search index", "parts/chroma/*/chroma.sqlite3")
def a_row_of_chroma_deleted(stored: Stored) -> int:
    with_chroma(stored, lambda client: client.delete(ids=["5"]))
    return 5


@damage("search index", "parts/chroma/*/chroma.sqlite3")
def a_row_more_in_chroma(stored: Stored) -> None:
    with_chroma(stored, lambda client: client.upsert(ids=["99"], embeddings=[np.eye(384)[0].tolist()]))


@damage("search index", "parts/chroma/*/search.json")
def the_rows_of_the_search_index_miscounted(stored: Stored) -> None:
    stored.record(stored.search_file("search.json"), lambda search: search["layers"][0].update(rows=21))


def with_chroma(stored: Stored, do: Callable[[Any], None]) -> None:
    connection = connect_to_files(SearchPlace(stored.folder, stored.search_folder))
    do(connection.client.get_collection("entities-0", embedding_function=None))
    connection.client.close()


def named(result: CheckResult) -> list[tuple[str, int | None]]:
    return [(problem.file, problem.row) for problem in result.problems]


@pytest.mark.parametrize(("do", "check", "file"), DAMAGES)
def test_damage_is_found_by_what_it_breaks(
    stored: Stored, embedding: Remembered, do: Damage, check: str, file: str
) -> None:
    row = do(stored)
    stored.hashed_again()
    file = file.replace("*", stored.search_folder.name)
    check_results = results(stored, embedding)
    assert check_results["index parts"].ok
    assert check_results["file hashes"].ok
    assert (file, row) in named(check_results[check])
    assert file in check_results[check].detail


def test_nothing_is_written_into_the_folder(stored: Stored, embedding: Remembered) -> None:
    """The app may have it open, and Chroma allows no second process."""
    before = {path: path.read_bytes() for path in stored.folder.rglob("*") if path.is_file()}
    results(stored, embedding)
    assert before == {path: path.read_bytes() for path in stored.folder.rglob("*") if path.is_file()}


def test_there_are_forty_kinds_and_more() -> None:
    assert len(DAMAGES) >= 40


def test_a_sound_index_passes_every_check_and_nothing_is_left_out(stored: Stored, embedding: Remembered) -> None:
    check_results = results(stored, embedding)
    assert [result.detail for result in check_results.values() if not result.ok] == []
    assert not any(
        "not checked" in result.detail or "hashes are missing" in result.detail for result in check_results.values()
    )


# What follows from nothing else that is stored is found by its hash alone.


@pytest.mark.parametrize(
    ("name", "column", "value"),
    [
        ("entities-0.arrow", "type", "mineral"),
        ("documents.arrow", "title", "Another title"),
        ("relations-0.arrow", "keywords", ["word"]),
        ("relations-1.arrow", "keywords", []),
        ("documents.arrow", "language", "xx"),
    ],
)
def test_a_changed_cell_that_nothing_depends_on_is_found_by_the_hash(
    stored: Stored, embedding: Remembered, name: str, column: str, value: Any
) -> None:
    stored.change(name, column, 0, value)
    assert named(results(stored, embedding)["file hashes"]) == [(name, None)]


def test_a_changed_summary_is_found_by_the_hash(stored: Stored, embedding: Remembered) -> None:
    stored.change("relations-1.arrow", "description", row_of(stored, "summarised"), "They never met.")
    stored.counted_again()
    assert ("relations-1.arrow", None) in named(results(stored, embedding)["file hashes"])


def test_a_changed_bit_of_the_search_indexes_rows_is_found(stored: Stored, embedding: Remembered) -> None:
    with contextlib.closing(sqlite3.connect(stored.search_folder / "chroma.sqlite3")) as database:
        database.execute("UPDATE embeddings_queue SET vector = zeroblob(1536) WHERE id = '3'")
        database.commit()
    assert named(results(stored, embedding)["search index"]) == [(stored.search_file("chroma.sqlite3"), None)]


def test_a_part_with_a_changed_file_is_found(stored: Stored, embedding: Remembered) -> None:
    path = stored.search_folder / "search.json"
    path.write_bytes(path.read_bytes().replace(b'"recall": 1.0', b'"recall": 0.9', 1))
    assert (stored.search_file("search.json"), None) in named(results(stored, embedding)["index parts"])


def test_a_part_that_was_made_of_other_vectors_is_found(stored: Stored, embedding: Remembered) -> None:
    other = {"vectors": "0" * 32}
    stored.record(stored.search_file("part.json"), lambda part: part.update(rests_on=other))
    assert named(results(stored, embedding)["index parts"]) == [(stored.search_file("part.json"), None)]


@pytest.mark.parametrize("name", ["entities-1.arrow", "report.json", "vectors-0.npy"])
def test_a_missing_file_is_named(stored: Stored, embedding: Remembered, name: str) -> None:
    (stored.folder / name).unlink()
    [result] = results(stored, embedding).values()
    assert (result.name, result.ok) == ("the index opens", False)
    assert named(result) == [(name, None)]


def test_an_index_without_hashes_passes_and_says_that_they_are_missing(stored: Stored, embedding: Remembered) -> None:
    def forget(manifest: dict[str, Any]) -> None:
        del manifest["files"]

    stored.record("manifest.json", forget)
    check_results = results(stored, embedding)
    assert all(result.ok for result in check_results.values())
    assert "hashes are missing" in check_results["file hashes"].detail


def test_the_command_names_file_and_row_and_ends_with_1(
    stored: Stored, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path / "home"))
    assert main(["check", str(stored.folder)]) == 0
    capsys.readouterr()
    stored.change("relations-1.arrow", "weight", 2, 77.0)
    assert main(["check", str(stored.folder)]) == 1
    assert "FAIL weights: relations-1.arrow row 2: the weight is not the sum" in capsys.readouterr().out
    assert main(["check", str(stored.folder), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is False
    [weights] = [check for check in report["checks"] if check["name"] == "weights"]
    text = "the weight is not the sum of its members' weights"
    assert weights["problems"][0] == {"file": "relations-1.arrow", "row": 2, "text": text}
