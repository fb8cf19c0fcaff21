"""GEXF, Parquet, Cypher and the HTML picture of an index worked out by hand, and texts that are hostile to a format."""

import io
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import networkx
import numpy as np
import pyarrow.parquet as pq
import pytest

from leanrag_core.exporting.base import export_index
from leanrag_core.figures import index_picture
from leanrag_core.figures.chart import as_csv
from leanrag_core.figures.drawing import text_width
from leanrag_core.figures.palette import palette
from leanrag_core.types.index import Index
from tests.exporting.test_formats import LAYERS, PARENT_OF, RELATED, with_texts
from tests.small_index import entity, layer, small_index, unit

HOSTILE = "x'; MATCH (n) DETACH DELETE n;//\\' \\u0027 \n\r\t\"`</script><script>alert(1)</script><img src=x onerror=a>"


def test_networkx_reads_the_gexf_of_the_small_index(index: Index, tmp_path: Path) -> None:
    export_index(index, "gexf", tmp_path / "small.gexf")
    graph = networkx.read_gexf(tmp_path / "small.gexf")
    assert dict(graph.nodes(data="layer")) == LAYERS
    assert graph.nodes["id-mite"]["label"] == "mite"
    edges = list(graph.edges(data=True))
    assert {frozenset(pair[:2]) for pair in edges if pair[2]["kind"] == "parent"} == {
        frozenset(pair) for pair in PARENT_OF.items()
    }
    assert {
        frozenset(pair[:2]): tuple(pair[2][name] for name in ("kind", "strength", "weight", "layer"))
        for pair in edges
        if pair[2]["kind"] != "parent"
    } == RELATED


def test_gexf_replaces_what_xml_cannot_hold_and_counts_it(tmp_path: Path) -> None:
    assert export_index(with_texts("a\x00<&\"'>", "\x07"), "gexf", tmp_path / "x.gexf").replaced == 4
    graph = networkx.read_gexf(tmp_path / "x.gexf")
    assert graph.nodes["id-0"]["label"] == "a\N{REPLACEMENT CHARACTER}<&\"'>"


def test_the_parquet_tables_hold_rows_texts_and_sources(index: Index, tmp_path: Path) -> None:
    for name in ("a", "b"):
        export_index(index, "parquet", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with zipfile.ZipFile(tmp_path / "a") as archive:
        tables = {
            name.removesuffix(".parquet"): pq.read_table(io.BytesIO(archive.read(name))).to_pylist()
            for name in archive.namelist()
        }
    assert {row["id"]: row["layer"] for row in tables["entities"]} == LAYERS
    assert {row["id"]: row["parent"] for row in tables["entities"]} == {**PARENT_OF, "id-farm": ""}
    assert {frozenset({row["source"], row["target"]}) for row in tables["relations"]} == set(RELATED)
    chunk, document = tables["chunks"][0], tables["documents"][0]
    assert chunk["text"] == document["text"][chunk["start"] : chunk["end"]]
    assert chunk["document"] == document["id"]


def literals(script: str) -> list[str]:
    """Return the string literals of a Cypher script, read character by character as its grammar says."""
    read, place = [], 0
    while (place := script.find("'", place)) >= 0:
        characters, place = [], place + 1
        while script[place] != "'":
            if script[place] == "\\":
                place += 1
                characters.append({"n": "\n", "r": "\r", "t": "\t"}.get(script[place], script[place]))
            else:
                characters.append(script[place])
            place += 1
        read.append("".join(characters))
        place += 1
    return read


def test_no_text_ends_a_literal_of_cypher(tmp_path: Path) -> None:
    export_index(with_texts(HOSTILE, "plain"), "cypher", tmp_path / "x.cypher")
    script = (tmp_path / "x.cypher").read_text(encoding="utf-8")
    before_u, after_u = HOSTILE.split("u0027")
    assert [text for text in literals(script) if text == before_u], "the literal is joined again before the u"
    assert [text for text in literals(script) if text == f"u0027{after_u}"]
    assert "\\u" not in script
    outside = re.sub(r"'(?:[^'\\]|\\.)*'", "''", script)
    assert "DELETE" not in outside
    assert outside.count(";\n") == 1 + 3, "a constraint; entities, relations, parent links; nothing more"


def test_cypher_holds_every_entity_relation_and_parent_once(index: Index, tmp_path: Path) -> None:
    export_index(index, "cypher", tmp_path / "x.cypher")
    script = (tmp_path / "x.cypher").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\{id: '([^']+)', name", script)) == sorted(LAYERS)
    assert {frozenset(pair) for pair in re.findall(r"source: '([^']+)', target: '([^']+)'", script)} == set(RELATED)
    assert dict(re.findall(r"\{id: '([^']+)', parent: '([^']+)'\}", script)) == PARENT_OF


def test_the_page_asks_no_network_and_shows_texts_as_text(tmp_path: Path) -> None:
    export_index(with_texts(HOSTILE, HOSTILE), "html", tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "default-src &#39;none&#39;" in page
    assert not re.search(r"<(?:script|link|img)\b[^>]*\b(?:src|href)=\"?https?:", page)
    assert "<img src=x" not in page
    assert page.count("</script><script>alert(1)") == 0
    assert "3 of 3 entities, aggregated ones among them, and 1 relations are drawn." in page


def test_of_a_large_index_the_page_draws_the_top_and_what_is_related_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leanrag_core.exporting.formats.html.MAX_NODES", 5)
    index = small_index()
    export_index(index, "html", tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "5 of 9 entities" in page
    assert '"id-farm"' in page
    assert "Layer 0: 2 of 6 entities" in page
    assert '"id-honey"' in page, "it has most relations"
    assert '"id-seed coat"' not in page


def test_layers_are_on_rings_around_the_root() -> None:
    nodes = [index_picture.DrawnNode("r", "r", "", 2, None)]
    nodes += [index_picture.DrawnNode(f"m{n}", "m", "", 1, 0) for n in range(2)]
    nodes += [index_picture.DrawnNode(f"l{n}", "l", "", 0, 1 + n % 2) for n in range(6)]
    drawn = index_picture.index_graph(nodes, [], palette(dark=False))
    radii = [round(float(np.hypot(node["x"], node["y"]))) for node in drawn.nodes]
    assert radii[0] == 0
    assert len(set(radii[1:3])) == len(set(radii[3:])) == 1
    assert radii[3] > radii[1] > radii[3] / 2 > 0
    assert len({(node["x"], node["y"]) for node in drawn.nodes}) == 9


def test_names_on_the_picture_cover_no_other_name_and_no_node_above_the_base() -> None:
    nodes = [index_picture.DrawnNode("r", "the root of all", "", 2, None)]
    nodes += [index_picture.DrawnNode(f"m{n}", f"a cluster with a long name {n}", "", 1, 0) for n in range(40)]
    nodes += [index_picture.DrawnNode(f"l{n}", f"entity {n}", "", 0, 1 + n % 40) for n in range(120)]
    drawn = index_picture.index_graph(nodes, [], palette(dark=False)).nodes
    boxes = [
        (node["x"], node["y"] + node["size"] + node["font"]["size"] * 0.625 + node["font"]["vadjust"], node)
        for node in drawn
        if node["label"].strip()
    ]
    assert 20 < len(boxes) < len(nodes)
    assert boxes[0][2]["id"] == "r"
    for place, (x, y, node) in enumerate(boxes):
        wide, high = text_width(node["label"], node["font"]["size"]), 1.25 * node["font"]["size"]
        for other_x, other_y, other in boxes[:place]:
            apart_x = (wide + text_width(other["label"], other["font"]["size"])) / 2 - 0.2
            apart_y = (high + 1.25 * other["font"]["size"]) / 2 - 0.2
            assert abs(x - other_x) > apart_x or abs(y - other_y) > apart_y, (node["id"], other["id"])
        for dot in drawn[:41]:
            beside = abs(x - dot["x"]) > wide / 2 + dot["size"] - 0.2
            assert beside or abs(y - dot["y"]) > high / 2 + dot["size"] - 0.2, (node["id"], dot["id"])


def test_a_table_of_a_chart_has_no_formula_in_it() -> None:
    assert as_csv(["=A", "n"], [["@SUM(A1)", "-1.5"], ["-cmd|' /C calc'!A0", "+3"]]) == (
        "'=A,n\n'@SUM(A1),-1.5\n'-cmd|' /C calc'!A0,+3\n"
    )


def test_a_layer_without_relations_is_exported_by_every_format(tmp_path: Path) -> None:
    lone = replace(small_index(), layers=(layer(0, [entity("bee", [0])], [], unit([[1, 0, 0, 0]]), []),))
    for name in ("cypher", "gexf", "html", "parquet"):
        assert export_index(lone, name, tmp_path / name).entities == 1
