"""Plain tables of another program, good and hostile, to an index that checks and answers."""

import json
from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.errors import ImportFailed, InvalidConfig
from leanrag_core.importing.base import importer, importers
from leanrag_core.importing.graph import communities_of
from leanrag_core.importing.rows import Drops
from leanrag_core.types.imported import ImportedCommunity, ImportedGraph

ENTITIES = """id,name,type,description,chunks
1,Honey bee,animal,Honey bees live in colonies.,c1|c2
2,White clover,plant,White clover gives nectar.,c1
3,Varroa mite,animal,The Varroa mite feeds on honey bees.,c2
"""
RELATIONS = """source,target,description,weight,keywords,chunks
1,2,Honey bees visit white clover for nectar.,4,pollination;nectar,c1
3,1,The mite weakens honey bees.,2.5,parasite,c2
"""
CHUNKS = """id,text,document
c1,"Honey bees visit white clover.
Its nectar feeds the colony.",bees.md
c2,The Varroa mite weakens honey bees.,mites.md
"""


def tables(folder: Path, **contents: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        table, _, suffix = name.partition("_")
        (folder / f"{table}.{suffix or 'csv'}").write_text(content, encoding="utf-8")
    return folder


def read(folder: Path, **contents: str) -> ImportedGraph:
    return importer("plain").read(tables(folder, **contents))


def reasons(imported: ImportedGraph) -> dict[str, str]:
    return {drop.item: drop.reason for drop in imported.drops if drop.stage == "import"}


def by_stage(imported: ImportedGraph) -> dict[str, list[str]]:
    stages: dict[str, list[str]] = {}
    for drop in imported.drops:
        stages.setdefault(drop.stage, []).append(drop.item)
    return stages


def test_tables_become_a_graph_with_exact_sources(tmp_path: Path) -> None:
    imported = read(tmp_path, entities=ENTITIES, relations=RELATIONS, chunks=CHUNKS)
    assert [document.name for document in imported.documents] == ["bees.md", "mites.md"]
    texts = {document.id: document.text for document in imported.documents}
    assert all(texts[chunk.document_id][chunk.start : chunk.end] == chunk.text for chunk in imported.chunks)
    graph = imported.graph
    assert graph.entities["name"].to_pylist() == ["Honey bee", "White clover", "Varroa mite"]
    assert graph.entities["chunks"].to_pylist() == [[0, 1], [0], [1]]
    assert graph.relations["weight"].to_pylist() == [4.0, 2.5]
    assert graph.relations["keywords"].to_pylist() == [["pollination", "nectar"], ["parasite"]]
    assert (imported.drops, imported.notes) == ((), ())


def test_json_lines_give_the_same_graph_as_csv(tmp_path: Path) -> None:
    lines = [
        {"ID": "1", "Name": "Honey bee", "type": "animal", "description": "Bees.", "chunks": ["c1"]},
        {"ID": "2", "Name": "White clover", "type": "plant", "description": "Clover.", "chunks": ["c1"]},
    ]
    relation = {"source": "honey BEE", "target": "2", "weight": 4, "description": "They visit it.", "chunks": ["c1"]}
    passage = {"id": "c1", "content": "Honey bees visit white clover."}
    written = read(
        tmp_path / "jsonl",
        entities_jsonl="\n".join(map(json.dumps, lines)),
        relations_jsonl=json.dumps(relation),
        chunks_jsonl=json.dumps(passage),
    )
    table = read(
        tmp_path / "jsonl2" / "jsonl",
        entities_csv="name,type,description,chunks\nHoney bee,animal,Bees.,c1\nWhite clover,plant,Clover.,c1\n",
        relations_csv="from,to,weight,description,chunks\nHoney bee,White clover,4,They visit it.,c1\n",
        chunks_csv="id,text\nc1,Honey bees visit white clover.\n",
    )
    assert written.graph.entities.equals(table.graph.entities)
    assert written.graph.relations.equals(table.graph.relations)
    assert written.chunks == table.chunks
    assert written.drops == table.drops == ()


def test_a_document_that_holds_its_passages_keeps_its_own_text(tmp_path: Path) -> None:
    documents = json.dumps({"id": "d", "title": "Bees", "text": "Before. Bees fly. Bees fly. After."})
    passages = "\n".join(json.dumps({"id": f"c{n}", "document": "d", "text": "Bees fly."}) for n in range(2))
    imported = read(tmp_path, entities="name,chunks\nBees,c0|c1\n", documents_jsonl=documents, chunks_jsonl=passages)
    assert [(chunk.start, chunk.end) for chunk in imported.chunks] == [(8, 17), (18, 27)]
    assert imported.documents[0].title == "Bees"


def test_what_names_no_source_has_its_description_as_one(tmp_path: Path) -> None:
    entities = "name,description\n" + "".join(f"Bee {n},Bee number {n} is busy.\n" for n in range(300))
    relations = "source,target,description\nBee 1,Bee 299,They meet.\nBee 2,Bee 3,\n"
    imported = read(tmp_path / "bees", entities=entities, relations=relations)
    assert [document.name for document in imported.documents] == ["Descriptions in bees"]
    assert len(imported.chunks) > 3
    by_name = dict(
        zip(imported.graph.entities["name"].to_pylist(), imported.graph.entities["chunks"].to_pylist(), strict=True)
    )
    for name, [row] in by_name.items():
        assert f"{name}:" in imported.chunks[row].text
    assert imported.graph.relations["description"].to_pylist() == ["They meet.", "Bee 2 – Bee 3"]
    assert [(note.code, note.values["n"]) for note in imported.notes] == [("import.described", 302)]


HOSTILE = {
    "entities": "id,name,description,chunks\n"
    "1,Bee,Bees fly.,c1\n"
    "2,,Nameless.,c1\n"
    '3,"  ...  ",Punctuation.,c1\n'
    "1,Wasp,The id of the bee.,c1\n"
    f"4,{'x' * 5000},Long.,c1\n"
    f"5,Ant,{'long ' * 200_000},c1|c9\n"
    "6,BEE,The bee again.,c1\n"
    "7,short\n"
    "8,<script>alert(1)</script>,<img src=x onerror=alert(1)>,c1\n",
    "relations": "source,target,weight\n1,99,1\n1,,1\n1,5,nan\n1,5,-3\n1,6,1\n1,5,2\n",
    "chunks": 'id,text\nc1,Bees fly.\nc1,Again.\nc2,""\n',
}


def test_rows_that_cannot_be_used_are_left_out_and_counted(tmp_path: Path) -> None:
    imported = read(tmp_path, **HOSTILE)
    names = imported.graph.entities["name"].to_pylist()
    assert sorted(names) == ["<script>alert(1)</script>", "Ant", "Bee"]
    reasons_given = reasons(imported)
    assert len(by_stage(imported)["import"]) == 14, "7 of entities, 4 and a self-loop of relations, 2 of chunks"
    assert by_stage(imported)["duplicates"] == ["entities.csv row 8", "relations.csv row 5", "relations.csv row 7"]
    assert by_stage(imported)["empty descriptions"] == ["relations.csv row 4"]
    counts = imported.counts
    assert (counts.entity_rows, counts.relation_rows, counts.left_out) == (8, 6, 10)
    assert (counts.duplicate_entities, counts.other_spellings, counts.duplicate_relations) == (1, 1, 2)
    assert (counts.dangling, counts.self_loops, counts.unknown_chunks) == (2, 1, 1)
    assert (
        reasons_given["entities.csv row 3"] == "its name is empty or holds nothing but punctuation, so it was left out"
    )
    assert reasons_given["entities.csv row 5"] == "its id belongs to a row before it, so it was left out"
    assert "longer than 300 characters" in reasons_given["entities.csv row 6"]
    assert (
        reasons_given["relations.csv row 2"] == "its end '99' is not among the entities, so the relation was left out"
    )
    assert reasons_given["relations.csv row 3"] == "an end of it is empty, so the relation was left out"
    assert "1 was taken" in reasons_given["relations.csv row 4"]
    assert reasons_given["chunks.csv row 4"] == "it has no text, so it was left out"
    [relation] = imported.graph.relations.to_pylist()
    assert relation["weight"] == 1 + 1 + 2, "the weights of one pair of ends add up"


@pytest.mark.parametrize(
    ("contents", "expected_text"),
    [
        ({}, r"has no entities\.csv"),
        ({"entities": ""}, "has no rows"),
        ({"entities": "name\n"}, "has no rows"),
        ({"entities": "nom,text\nBee,x\n"}, r"has no column name or entity .*; its columns are nom, text"),
        ({"entities": "name,name\nBee,x\n"}, "has the column name twice"),
        ({"entities": "name\n...\n"}, "no row of the entities can be used"),
        ({"entities": "name\nBee\n", "entities_jsonl": "{}"}, r"both entities\.csv and entities\.jsonl"),
        ({"entities_jsonl": "[1]\nnull\n{\n" + "[" * 5000}, "has no rows"),
        ({"entities": "name\nBee\n", "relations": "a,b\n1,2\n"}, "has no column source"),
        ({"entities": "name\nBee\n", "chunks": "id\nc1\n"}, "has no column text or content"),
    ],
)
def test_tables_that_cannot_be_read_are_refused_with_what_to_do(
    tmp_path: Path, contents: dict[str, str], expected_text: str
) -> None:
    with pytest.raises(ImportFailed, match=expected_text):
        read(tmp_path, **contents)


def test_characters_that_no_file_can_hold_reach_no_report(tmp_path: Path) -> None:
    half = "\\ud800"
    entity = f'{{"name": "Bee{half}", "description": "Flies{half}.", "chunks": ["{half}"], "type": "{half}"}}'
    relation = f'{{"source": "Bee{half}", "target": "gone{half}"}}'
    imported = read(tmp_path, entities_jsonl=entity, relations_jsonl=relation)
    texts = [drop.item + drop.reason for drop in imported.drops]
    texts += [cell for row in imported.graph.entities.to_pylist() for cell in row.values() if isinstance(cell, str)]
    assert list(by_stage(imported)) == ["import"]
    for text in texts:
        text.encode()


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "entities.csv").write_bytes(bytes(range(256)) * 20)
    with pytest.raises(ImportFailed, match=r"entities\.csv"):
        importer("plain").read(tmp_path)
    with pytest.raises(ImportFailed, match="is no folder"):
        importer("plain").read(tmp_path / "none")


def test_every_importer_has_a_name_and_a_title_and_others_are_refused() -> None:
    assert "plain" in [each.name for each in importers()]
    assert all(each.title.code and each.help.code for each in importers())
    with pytest.raises(InvalidConfig, match=r"there is no importer 'gephi'; there are: .*plain"):
        importer("gephi")


def test_an_imported_index_passes_every_check_and_answers(tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path / "home")
    folder = tables(tmp_path / "bees", entities=ENTITIES, relations=RELATIONS, chunks=CHUNKS)
    index = bench.import_graph(folder)
    assert index.path is not None
    assert [result for result in bench.check(index.path) if not result.ok] == []
    assert [summary.kind for summary in bench.indexes.all()] == ["imported graph"]
    answer = bench.ask(index, "What weakens honey bees?")
    assert "mite" in answer.text
    again = bench.import_graph(folder)
    assert again.id == index.id
    (folder / "relations.csv").write_text(RELATIONS.replace("2.5", "3.5"), encoding="utf-8")
    assert bench.import_graph(folder).id != index.id, "what was imported decides the id"


def test_a_hostile_graph_makes_a_sound_index_that_lists_what_was_left_out(tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path / "home")
    index = bench.import_graph(tables(tmp_path / "hostile", **HOSTILE), out=tmp_path / "out")
    assert [result for result in bench.check(tmp_path / "out") if not result.ok] == []
    assert index.report.drops == {"import": 14, "merge": 1, "duplicates": 3, "empty descriptions": 1}


@pytest.mark.parametrize("weight", ["inf", "nan", "-1", "2000000", "heavy"])
def test_a_weight_that_no_relation_can_have_is_told_and_counts_one(tmp_path: Path, weight: str) -> None:
    imported = read(tmp_path, entities=ENTITIES, relations=f"source,target,weight\n1,2,{weight}\n1,3,1000000\n")
    weights = {row["target"]: row["weight"] for row in imported.graph.relations.to_pylist()}
    assert sorted(weights.values()) == [1.0, 1_000_000.0]
    [reason] = [reason for item, reason in reasons(imported).items() if item.startswith("relations.csv")]
    assert reason == "its weight is no number from 0 to 1,000,000; 1 was taken"


def test_the_parent_of_a_community_is_on_a_coarser_level() -> None:
    given = [
        ImportedCommunity("root", 0, "below", "Root", ("bee", "mite")),
        ImportedCommunity("below", 1, "root", "Below", ("bee",)),
        ImportedCommunity("beside", 1, "below", "Beside", ("mite",)),
    ]
    made = communities_of(given, lambda name: f"id-{name}", Drops())
    assert {each.id: each.parent for each in made} == {"root": "", "below": "root", "beside": ""}
