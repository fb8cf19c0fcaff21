"""A site: what its shards hold of a small index, hostile texts, recorded runs, and the folder it becomes."""

import base64
import json
import re
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leanrag_core.errors import FolderRefused, InvalidConfig
from leanrag_core.exporting.base import export_index
from leanrag_core.exporting.site import tables
from leanrag_core.exporting.site.shards import bytes_each
from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.types.index import Index
from leanrag_core.types.trace import RecordedRun
from tests.exporting.test_formats import with_texts
from tests.retrieval.tools import TOOLS
from tests.small_index import layer, unit

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\u202e"


def shard(folder: Path, name: str) -> Any:
    """Return the values of a shard, as a browser inflates them."""
    text = (folder / "data" / f"{name}.js").read_text(encoding="utf-8")
    call = re.fullmatch(r'leanragShard\("([\w-]+)","([A-Za-z0-9+/=]+)"\)\n', text)
    assert call is not None
    assert call[1] == name
    return json.loads(zlib.decompress(base64.b64decode(call[2])))


def test_the_small_index_in_shards(index: Index, tmp_path: Path) -> None:
    exported = export_index(index, "site", tmp_path / "site")
    assert exported.bytes == sum(path.stat().st_size for path in (tmp_path / "site").rglob("*.*"))
    base, above = shard(tmp_path / "site", "layer-0"), shard(tmp_path / "site", "layer-1")
    assert base["names"] == ["queen", "honey", "mite", "rape", "clover", "seed coat"]
    assert base["parents"] == [0, 0, 0, 1, 1, 1]
    assert base["degrees"] == [1, 3, 2, 2, 1, 1]
    assert above["below"] == [3, 3]
    about = shard(tmp_path / "site", "about-0-0")
    honey = slice(about["listed"][0], about["listed"][0] + about["listed"][1])
    assert about["texts"][1] == "About honey."
    assert (about["others"][honey], about["strengths"][honey]) == ([0, 2, 3], [4.0, 1.0, 1.0])  # strongest first
    assert shard(tmp_path / "site", "schema-0")["types"][0]["count"] == 6


def test_entities_of_a_shard_have_texts_findings_chunks_and_their_strongest_relations(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("ENTITIES", 4), ("_RELATIONS", 2), ("_MENTIONS", 2)):
        monkeypatch.setattr(tables, name, value)
    findings = [{"summary": "Sweet.", "explanation": "Bees like it."}]
    base = index.layers[0]
    entities = [row | {"findings": findings if row["name"] == "clover" else []} for row in base.entities.to_pylist()]
    relations = [row | {"weight": row["weight"] + 0.12345} for row in base.relations.to_pylist()]
    base = layer(0, entities, relations, base.vectors, base.parent.tolist())
    report = replace(index.report, aliases={"Trifolium": "clover", "regina": "queen"})
    export_index(replace(index, layers=(base, *index.layers[1:]), report=report), "site", tmp_path / "site")
    first, second = (shard(tmp_path / "site", f"about-0-{number}") for number in (0, 1))
    assert first["texts"] == ["About queen.", "About honey.", "About mite.", "About rape."]
    assert second["texts"] == ["About clover.", "About seed coat."]
    assert (first["findings"], second["findings"]) == ([[]] * 4, [[["Sweet.", "Bees like it."]], []])
    assert (first["forms"], second["forms"]) == ({"0": ["regina"]}, {"0": ["Trifolium"]})
    assert (first["chunks"], first["n_chunks"]) == ([[0], [0, 1], [1], [2]], [1, 3, 1, 1])
    assert (first["listed"], second["listed"]) == ([1, 2, 2, 2], [1, 1])
    assert first["others"] == [1, 0, 2, 1, 5, 4, 1]
    assert first["strengths"][:2] == [4.1234, 4.1234]
    assert (first["kinds"], first["kind"]) == (["verb"], [0] * 7)
    assert second["said"] == ["3 meets 4.", "2 meets 5."]
    assert shard(tmp_path / "site", "about-1-0")["strengths"] == [2.0, 2.0], "how many relations it stands for"


def test_a_site_is_the_same_again(index: Index, tmp_path: Path) -> None:
    for name in ("first", "second"):
        export_index(index, "site", tmp_path / name)
    files = [path.relative_to(tmp_path / "first") for path in sorted((tmp_path / "first").rglob("*.*"))]
    assert Path("index.html") in files
    for file in files:
        assert (tmp_path / "first" / file).read_bytes() == (tmp_path / "second" / file).read_bytes()


def test_hostile_texts_are_data(tmp_path: Path) -> None:
    index = with_texts(HOSTILE, HOSTILE)
    export_index(replace(index, manifest=replace(index.manifest, name=HOSTILE)), "site", tmp_path / "site")
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert page.count("<script") == 2  # values and the script that the policy allows
    assert "<img" not in page
    assert "\u202e" not in page
    shown = HOSTILE.replace("\u202e", "[U+202E]")
    assert shard(tmp_path / "site", "layer-0")["names"][0] == shown
    assert shard(tmp_path / "site", "about-0-0")["texts"][0] == shown


def test_a_site_may_load_its_own_files_alone(index: Index, tmp_path: Path) -> None:
    export_index(index, "site", tmp_path / "site")
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].replace("&#39;", "'").split(";"))
    assert rules["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-[A-Za-z0-9+/=]+' 'self'", rules["script-src"])


def test_the_style_sheet_is_whole(index: Index, tmp_path: Path) -> None:
    export_index(index, "site", tmp_path / "site")
    [sheet] = re.findall(
        r"<style>(.*?)</style>", (tmp_path / "site" / "index.html").read_text(encoding="utf-8"), re.DOTALL
    )
    assert sheet.count("{") == sheet.count("}"), "every rule is closed"
    for name in (".lr-read", ".lr-label", ".lr-muted", ".lr-small", ".lr-site"):
        assert re.search(rf"^{re.escape(name)}\b[^{{]*\{{", sheet, re.MULTILINE), name


def test_a_zip_file_holds_what_the_folder_does(index: Index, tmp_path: Path) -> None:
    export_index(index, "site", tmp_path / "site.zip")
    export_index(index, "site", tmp_path / "site")
    with zipfile.ZipFile(tmp_path / "site.zip") as archive:
        for name in archive.namelist():
            assert archive.read(name) == (tmp_path / "site" / name).read_bytes()


def test_a_folder_with_files_is_not_replaced(index: Index, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FolderRefused, match="files in it"):
        export_index(index, "site", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(FolderRefused, match="files in it"):
        export_index(index, "site", tmp_path / "mine.txt")
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_recorded_runs_come_along_and_those_of_other_indexes_do_not(index: Index, tmp_path: Path) -> None:
    trace = strategy("leanrag", {}).retrieve(Query("What do bees make?", unit([[1, 0, 1, 0]])[0]), index, TOOLS)
    run = RecordedRun(trace)
    export_index(index, "site", tmp_path / "site", runs=(run, run), language="zh")
    assert shard(tmp_path / "site", "run-1")["passages"][0]["text"]
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert '<html lang="zh">' in page
    assert page.count(trace.question) == 1  # both runs under one question
    other = replace(run, trace=replace(trace, index=replace(trace.index, id="index-other")))
    with pytest.raises(InvalidConfig, match="another index"):
        export_index(index, "site", tmp_path / "other", runs=(other,))
    assert not (tmp_path / "other").exists()
    with pytest.raises(InvalidConfig, match="no recorded questions"):
        export_index(index, "csv", tmp_path / "x.zip", runs=(run,))


def test_texts_are_cut_to_a_common_length() -> None:
    assert bytes_each([10, 10], 100, least=5) == 10
    assert bytes_each([100, 10, 100], 70, least=5) == 30  # 30 + 10 + 30
    assert bytes_each([100, 100], 2, least=5) == 5
