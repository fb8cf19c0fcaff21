"""What each format holds of an index worked out by hand, and texts that are hostile to a format."""

import csv
import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import networkx
import pytest

from leanrag_core.errors import FolderRefused, InvalidConfig, StorageFailed
from leanrag_core.exporting import formats
from leanrag_core.exporting.base import broken_exporters, export_index, exporter, exporters
from leanrag_core.storage.layout import write_index
from leanrag_core.types.index import Index
from tests.small_index import entity, layer, relation, small_index, unit

NAMES = ["archive", "csv", "cypher", "gexf", "graphml", "html", "json", "parquet", "site"]
PARENT_OF = {
    "id-queen": "id-bees",
    "id-honey": "id-bees",
    "id-mite": "id-bees",
    "id-rape": "id-fields",
    "id-clover": "id-fields",
    "id-seed coat": "id-fields",
    "id-bees": "id-farm",
    "id-fields": "id-farm",
}
LAYERS = {**dict.fromkeys(PARENT_OF, 0), "id-bees": 1, "id-fields": 1, "id-farm": 2}
RELATED = {  # ends: kind, strength, weight, layer
    frozenset({"id-queen", "id-honey"}): ("verb", 1, 4.0, 0),
    frozenset({"id-honey", "id-mite"}): ("verb", 1, 1.0, 0),
    frozenset({"id-honey", "id-rape"}): ("verb", 1, 1.0, 0),
    frozenset({"id-rape", "id-clover"}): ("verb", 1, 2.0, 0),
    frozenset({"id-mite", "id-seed coat"}): ("verb", 1, 1.0, 0),
    frozenset({"id-bees", "id-fields"}): ("concatenated", 2, 1.0, 1),
}


def with_texts(name: str, description: str) -> Index:
    """Return an index with one entity below a root, related to another one; its name and description are those
    texts."""
    base = layer(
        0,
        [entity(name, [0], description, id="id-0"), entity("other", [0], id="id-1")],
        [relation(0, 1, id="rel-0", description=description, keywords=[name])],
        unit([[1, 0, 0, 0], [0, 1, 0, 0]]),
        [0, 0],
    )
    return replace(small_index(), layers=(base, layer(1, [entity("root", [0])], [], unit([[1, 1, 0, 0]]), [])))


def tables(path: Path) -> dict[str, list[dict[str, str]]]:
    with zipfile.ZipFile(path) as archive:
        return {
            name: list(csv.DictReader(io.StringIO(archive.read(name).decode("utf-8-sig"), newline="")))
            for name in archive.namelist()
        }


def assert_is_the_small_graph(graph: networkx.Graph) -> None:
    assert dict(graph.nodes(data="layer")) == LAYERS
    assert graph.nodes["id-seed coat"] == {
        "layer": 0,
        "name": "seed coat",
        "type": "concept",
        "description": "About seed coat.",
    }
    edges = list(graph.edges(data=True))
    parents = [(source, target) for source, target, values in edges if values["kind"] == "parent"]
    assert {frozenset(pair) for pair in parents} == {frozenset(pair) for pair in PARENT_OF.items()}
    relations = {
        frozenset({source, target}): tuple(values[name] for name in ("kind", "strength", "weight", "layer"))
        for source, target, values in edges
        if values["kind"] != "parent"
    }
    assert relations == RELATED
    assert len(edges) == len(PARENT_OF) + len(RELATED)
    assert graph.edges["id-bees", "id-fields", *((0,) if graph.is_multigraph() else ())]


def test_networkx_reads_the_graphml_of_the_small_index(index: Index, tmp_path: Path) -> None:
    exported = export_index(index, "graphml", tmp_path / "small.graphml")
    assert (exported.entities, exported.relations, exported.parent_links) == (9, 6, 8)
    assert (exported.replaced, exported.bytes) == (0, (tmp_path / "small.graphml").stat().st_size)
    assert_is_the_small_graph(networkx.read_graphml(tmp_path / "small.graphml"))


def test_networkx_reads_the_json_of_the_small_index(index: Index, tmp_path: Path) -> None:
    export_index(index, "json", tmp_path / "small.json")
    graph = networkx.node_link_graph(json.loads((tmp_path / "small.json").read_text(encoding="utf-8")))
    assert graph.graph == {"name": "small", "layers": 3}
    assert sorted(key for *_, key in graph.edges(keys=True))[:2] == ["parent-id-bees", "parent-id-clover"]
    assert_is_the_small_graph(networkx.Graph(graph))


def test_the_tables_of_the_small_index(index: Index, tmp_path: Path) -> None:
    export_index(index, "csv", tmp_path / "small.zip")
    rows = tables(tmp_path / "small.zip")
    assert {row["id"]: row["parent"] for row in rows["entities.csv"]} == {**PARENT_OF, "id-farm": ""}
    assert {row["id"]: int(row["layer"]) for row in rows["entities.csv"]} == LAYERS
    assert {
        frozenset({row["source"], row["target"]}): (
            row["kind"],
            int(row["strength"]),
            float(row["weight"]),
            int(row["layer"]),
        )
        for row in rows["relations.csv"]
    } == RELATED


def test_characters_that_xml_does_not_allow_are_replaced_and_counted(tmp_path: Path) -> None:
    name = "a\x00b\x1b\ufffe<&\"'>\t\r\n]]>蜂🐝\x85"
    index = with_texts(name, "\x07\x07")
    assert export_index(index, "graphml", tmp_path / "x.graphml").replaced == 3 + 2 + 2 + 3  # keywords hold the name
    graph = networkx.read_graphml(tmp_path / "x.graphml")
    assert graph.nodes["id-0"]["name"] == name.replace("\x00", "�").replace("\x1b", "�").replace("\ufffe", "�")
    assert graph.edges["id-0", "id-1"]["description"] == "��"
    assert export_index(index, "json", tmp_path / "x.json").replaced == 0
    assert json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["nodes"][0]["name"] == name


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", '=HYPERLINK("http://a","b")']
)
def test_a_spreadsheet_takes_no_text_for_a_formula(text: str, tmp_path: Path) -> None:
    export_index(with_texts(text, text), "csv", tmp_path / "x.zip")
    rows = tables(tmp_path / "x.zip")
    assert [rows["entities.csv"][0][column] for column in ("name", "description")] == [f"'{text}"] * 2
    assert [rows["relations.csv"][0][column] for column in ("description", "keywords")] == [f"'{text}"] * 2


def test_a_negative_number_stays_a_number(tmp_path: Path) -> None:
    index = with_texts("a", "b")
    weights = index.layers[0].relations.schema.get_field_index("weight")
    relations = index.layers[0].relations.set_column(weights, "weight", [[-1.5]])
    export_index(
        replace(index, layers=(replace(index.layers[0], relations=relations), index.layers[1])), "csv", tmp_path / "x"
    )
    assert tables(tmp_path / "x")["relations.csv"][0]["weight"] == "-1.5"


def test_text_of_a_cell_cannot_end_the_cell(tmp_path: Path) -> None:
    name = 'a",b\r\nc,"d'
    export_index(with_texts(name, "蜂王在蜂巢中产卵。"), "csv", tmp_path / "x.zip")
    rows = tables(tmp_path / "x.zip")["entities.csv"]
    assert [row["name"] for row in rows] == [name, "other", "root"]
    assert rows[0]["description"] == "蜂王在蜂巢中产卵。"


def test_a_failure_leaves_the_file_as_it_was(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kept.json").write_text("before")

    def full(self: object, index: Index, path: Path) -> int:
        path.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("leanrag_core.exporting.formats.json.Exporter.write", full)
    with pytest.raises(StorageFailed) as failed:
        export_index(index, "json", tmp_path / "kept.json")
    assert failed.value.message.code == "disk.not_written"
    assert [path.name for path in tmp_path.iterdir()] == ["kept.json"]
    assert (tmp_path / "kept.json").read_text() == "before"


def test_an_export_never_takes_the_place_of_a_folder_or_of_a_file_of_the_index(index: Index, tmp_path: Path) -> None:
    directory = tmp_path / "index"
    directory.mkdir()
    write_index(directory, index)
    stored = replace(index, path=directory)
    for out, code in ((directory, "export.is_folder"), (directory / "manifest.json", "export.inside_index")):
        with pytest.raises(FolderRefused) as refused:
            export_index(stored, "json", out)
        assert refused.value.message.code == code


def test_a_broken_file_is_reported_and_hides_none_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "zz_dot.py").write_text("class Exporter:\n    name = 'dot'\n")
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path)])
    assert [each.name for each in exporters()] == NAMES
    [broken] = broken_exporters()
    assert (broken.file, broken.message.code) == ("zz_dot.py", "extension.lacks")
    with pytest.raises(InvalidConfig) as unknown:
        exporter("dot")
    assert unknown.value.message.code == "export.unknown_format_or_broken"
    assert "zz_dot.py" in str(unknown.value)
