"""Folders of other systems to graphs: what is kept, what is counted, how each is recognised."""

from collections.abc import Callable
from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.errors import ImportFailed
from leanrag_core.importing import base
from leanrag_core.importing.base import importer, preview_of, recognised
from leanrag_core.indexing.names import entity_id, name_key, relation_id
from leanrag_core.messages.catalog import sentence
from leanrag_core.storage.layout import read_imported
from leanrag_core.types.graph import Finding
from leanrag_core.types.imported import ForeignId, ImportedGraph
from tests.importing import folders
from tests.importing.test_plain import CHUNKS, ENTITIES, RELATIONS, by_stage, tables
from tests.reading import read_graph

pytestmark = pytest.mark.slow

MAKERS: dict[str, Callable[[Path], Path]] = {
    "lightrag": folders.lightrag,
    "nano-graphrag": folders.nano_graphrag,
    "graphrag": folders.graphrag,
    "leanrag": folders.leanrag,
    "hipporag": folders.hipporag,
    "plain": lambda folder: tables(folder, entities=ENTITIES, relations=RELATIONS, chunks=CHUNKS),
}


def rows(imported: ImportedGraph) -> dict[str, dict[str, object]]:
    return {row["name"]: row for row in imported.graph.entities.to_pylist()}


def texts(imported: ImportedGraph, places: list[int]) -> list[str]:
    return [imported.chunks[place].text for place in places]


def own_id(name: str) -> str:
    return entity_id(name_key(name))


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_each_folder_is_recognised_as_its_own_format_alone(tmp_path: Path, name: str) -> None:
    folder = MAKERS[name](tmp_path / "any name")
    chosen = recognised(folder)
    assert chosen is not None
    assert chosen.name == name
    assert read_graph(folder, "").extras.format == name
    assert [other for other in MAKERS if other != name and importer(other).recognises(folder)] == []


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_an_index_of_each_format_passes_every_check_and_answers(tmp_path: Path, name: str) -> None:
    bench = Workbench.default(tmp_path / "home")
    index = bench.import_graph(MAKERS[name](tmp_path / "folder"), out=tmp_path / "out")
    assert [result for result in bench.check(tmp_path / "out") if not result.ok] == []
    for strategy in ("leanrag", "vector"):
        assert "mite" in bench.ask(index, "What weakens honey bees?", strategy).text


def test_lightrag_keeps_descriptions_keywords_weights_sources_and_documents(tmp_path: Path) -> None:
    imported = read_graph(folders.lightrag(tmp_path / "work"), "lightrag")
    entities = rows(imported)
    assert entities["Honey bee"]["description"] == "Honey bees live in colonies. They make honey."
    assert entities["Honey bee"]["type"] == "animal"
    assert texts(imported, entities["Honey bee"]["chunks"]) == [folders.BEE_TEXT, folders.MITE_TEXT]
    assert texts(imported, entities["Varroa mite"]["chunks"]) == [folders.MITE_TEXT]
    [document] = imported.documents
    assert (document.name, document.text) == ("bees.md", folders.TEXT)
    visits, weakens = imported.graph.relations.to_pylist()
    assert (visits["weight"], visits["keywords"]) == (4.0, ["nectar", "visit"])
    assert (weakens["weight"], weakens["description"]) == (2.5, "Mites weaken bees.")
    assert imported.counts.unknown_chunks == 1, "chunk-9 is not there; the store of LightRAG names chunk-2"
    assert [note.code for note in imported.notes] == ["import.recorded_replies"]
    assert "2 of them that are extractions" in sentence(imported.notes[0])
    assert ForeignId("document", document.id, "doc-1") in imported.extras.foreign_ids
    assert ForeignId("chunk", imported.chunks[1].id, "chunk-2") in imported.extras.foreign_ids


def test_a_workspace_of_lightrag_is_read_from_the_folder_above_it(tmp_path: Path) -> None:
    folders.lightrag(tmp_path / "storage" / "space")
    assert read_graph(tmp_path / "storage", "").extras.format == "lightrag"
    folders.lightrag(tmp_path / "storage" / "another")
    with pytest.raises(ImportFailed, match="of no known format"):
        read_graph(tmp_path / "storage", "")


def test_missing_texts_of_chunks_are_said_and_descriptions_take_their_place(tmp_path: Path) -> None:
    folder = folders.lightrag(tmp_path / "work")
    (folder / "kv_store_text_chunks.json").unlink()
    (folder / "kv_store_full_docs.json").unlink()
    imported = read_graph(folder, "")
    codes = [note.code for note in imported.notes]
    assert codes == ["import.no_chunk_texts", "import.recorded_replies", "import.described"]
    assert "Honey bee: Honey bees live in colonies." in imported.chunks[0].text
    assert imported.counts.unknown_chunks == 0, "one note says it for all"


def test_communities_and_reports_of_nano_graphrag_are_kept_in_the_index(tmp_path: Path) -> None:
    imported = read_graph(folders.nano_graphrag(tmp_path / "work"), "")
    bee = rows(imported)["HONEY BEE"]
    assert (bee["type"], bee["description"]) == ("animal", "Bees make honey.")
    root, below = imported.extras.communities
    assert (root.id, root.level, root.parent) == ("0", 0, "")
    assert root.entities == tuple(sorted(map(own_id, (folders.BEE, folders.CLOVER, folders.MITE))))
    assert (below.id, below.parent, below.title, below.report) == ("1", "0", "Cluster 1", None)
    assert below.entities == tuple(sorted(map(own_id, (folders.BEE, folders.CLOVER))))
    assert root.report is not None
    assert (root.report.title, root.report.rating) == ("Bees and their enemies", 7.5)
    assert root.report.findings == (Finding("Bees visit clover", "They take nectar."),)
    assert imported.counts.self_loops == 1
    bench = Workbench.default(tmp_path / "home")
    bench.import_graph(tmp_path / "work", out=tmp_path / "out")
    stored = read_imported(tmp_path / "out")
    assert stored.communities == imported.extras.communities
    assert {each.foreign_id for each in stored.foreign_ids} == {"doc-1", "chunk-1", "chunk-2"}
    assert sorted(each.foreign_id for each in stored.foreign_ids if each.kind == "chunk") == ["chunk-1", "chunk-2"]


@pytest.mark.parametrize("old", [True, False])
def test_tables_of_graphrag_of_both_kinds_give_the_same_graph(tmp_path: Path, old: bool) -> None:
    imported = read_graph(folders.graphrag(tmp_path / "output", old=old), "")
    assert imported.extras.format == "graphrag"
    entities = rows(imported)
    assert sorted(entities) == [folders.BEE, folders.MITE, folders.CLOVER]
    assert entities[folders.BEE]["description"] == "About honey bee."
    assert [document.name for document in imported.documents] == ["bees.txt"]
    assert imported.graph.relations["weight"].to_pylist() == [3.0, 2.0]
    assert (imported.counts.dangling, imported.counts.relation_rows) == (1, 3)
    ids = relation_id(own_id(folders.BEE), own_id(folders.CLOVER))
    assert ForeignId("relation", ids, "r1") in imported.extras.foreign_ids
    assert ForeignId("entity", own_id(folders.MITE), "e3") in imported.extras.foreign_ids
    first = imported.extras.communities[0]
    assert (first.id, first.level, len(first.entities)) == ("0", 0, 3)
    assert first.report is not None
    assert (first.report.title, first.report.summary, first.report.rating) == ("Bees", "Bees and mites.", 6.0)
    assert first.report.findings == (Finding("Bees visit clover", "They take nectar."),)


def test_communities_and_claims_without_entities_of_the_graph_are_counted(tmp_path: Path) -> None:
    imported = read_graph(folders.graphrag(tmp_path / "output"), "")
    assert [(each.id, each.parent) for each in imported.extras.communities] == [("0", ""), ("1", "0")]
    [claim] = imported.extras.claims
    assert (claim.subject, claim.object, claim.type) == (own_id(folders.MITE), folders.BEE, "HARM")
    assert claim.chunk == imported.chunks[1].id
    assert by_stage(imported)["import"] == ["relationships.parquet row 3", "community 1", "community 2", "claim 2"]


def test_an_importer_that_fails_hides_no_other_and_is_named_where_none_recognises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing:
        name = "a failing one"

        def recognises(self, path: Path) -> bool:
            raise TypeError("no such thing")

    known, folder = base.importers(), folders.lightrag(tmp_path / "light")
    (tmp_path / "nothing.xyz").write_text("nothing")
    assert recognised(tmp_path / "nothing.xyz") is None
    monkeypatch.setattr(base, "importers", lambda: (Failing(), *known))
    chosen = recognised(folder)
    assert chosen is not None
    assert chosen.name == "lightrag"
    with pytest.raises(ImportFailed, match="a failing one fails on"):
        recognised(tmp_path / "nothing.xyz")


@pytest.mark.parametrize("below", ["output", "artifacts", "output/20240101-120000/artifacts", "20240101/artifacts"])
def test_the_folders_of_older_versions_of_graphrag_are_found(tmp_path: Path, below: str) -> None:
    folders.graphrag(tmp_path / below, old=True)
    chosen = recognised(tmp_path)
    assert chosen is not None
    assert chosen.name == "graphrag"


def test_the_published_files_of_leanrag_are_merged_and_their_hierarchy_is_counted(tmp_path: Path) -> None:
    imported = read_graph(folders.leanrag(tmp_path / "mix"), "")
    bee = rows(imported)["Honey bee"]
    assert bee["description"] == "Makes honey. Lives in colonies."
    assert imported.graph.relations["keywords"].to_pylist() == [["weakens"]]
    assert len(imported.chunks) == 2
    counts = imported.counts
    assert (counts.entity_rows, counts.duplicate_entities, counts.other_spellings) == (3, 1, 1)
    assert "2 layers (2, 1 entities) and 2 relations between clusters" in sentence(imported.notes[0])


def test_triples_of_hipporag_describe_their_ends(tmp_path: Path) -> None:
    imported = read_graph(folders.hipporag(tmp_path / "run"), "")
    entities = rows(imported)
    assert entities["honey bees"]["description"] == "honey bees visit white clover. Varroa mite weakens honey bees."
    assert len(entities["honey bees"]["chunks"]) == 2
    assert imported.graph.relations["keywords"].to_pylist() == [["visit"], ["weakens"]]
    items = by_stage(imported)["import"]
    assert items == [f"openie_results_ner_model.json row {n}" for n in (1, 3)], "a broken triple, and no object"


def test_each_passage_of_hipporag_is_a_document(tmp_path: Path) -> None:
    folder = folders.hipporag(tmp_path / "run")
    docs = [
        {"idx": "chunk-3", "passage": "Varroa\nA mite.", "extracted_entities": ["Varroa"], "extracted_triples": []},
        {"idx": "chunk-4", "passage": "A****\nA name.", "extracted_entities": ["A****", "A"], "extracted_triples": []},
    ]
    folders.write_json(folder / "openie_results_ner_other.json", {"docs": docs})
    imported = read_graph(folder, "")
    assert sorted(document.name for document in imported.documents) == ["A****", "Varroa", "chunk-1", "chunk-2"]
    assert len({chunk.document_id for chunk in imported.chunks}) == len(imported.chunks) == 4
    assert {"A****", "A"} <= set(rows(imported))


def test_recorded_replies_become_a_graph_with_their_chunks(tmp_path: Path) -> None:
    folder = folders.lightrag(tmp_path / "work")
    (folder / "graph_chunk_entity_relation.graphml").unlink()
    imported = read_graph(folder, "")
    assert imported.extras.format == "recorded-replies"
    entities = rows(imported)
    assert sorted(entities) == ["Honey bee", "Varroa mite", "White clover"]
    assert texts(imported, entities["Varroa mite"]["chunks"]) == [folders.MITE_TEXT]
    assert imported.graph.relations["weight"].to_pylist() == [7.0]
    assert sentence(imported.notes[0]).startswith("2 recorded replies of extraction were read; 2 went to")


def test_a_preview_has_the_counts_and_a_part_of_the_drops(tmp_path: Path) -> None:
    preview = preview_of(read_graph(folders.graphrag(tmp_path / "output"), ""), "graphrag")
    made = (preview.entities, preview.relations, preview.chunks, preview.communities, preview.reports, preview.claims)
    assert made == (3, 2, 2, 2, 1, 1)
    assert (preview.n_drops, len(preview.drops)) == (4, 4)
