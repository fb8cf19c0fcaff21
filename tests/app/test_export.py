"""Downloading an index on the Build page."""

from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.exporting import formats
from tests.app import drawn

Visit = Callable[..., AppTest]


def test_each_format_of_the_chosen_index_can_be_downloaded(
    home: Workbench, visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = home.indexes.all()[0]
    home.indexes.rename(index.id, "Bees / <b>mites</b>")
    offered: dict[str, tuple[str, Callable[[], bytes]]] = {}

    def download_button(
        label: str, content: Callable[[], bytes], file_name: str, mime: str | None = None, *, key: str, **rest: object
    ) -> None:
        offered[key] = file_name, content

    monkeypatch.setattr(st, "download_button", download_button)
    drawn.assert_sound(visit("build", home))
    assert {key: name for key, (name, _) in offered.items()} == {
        "download_archive": "Bees b mites b.leanrag.zip",
        "download_csv": "Bees b mites b.zip",
        "download_cypher": "Bees b mites b.cypher",
        "download_gexf": "Bees b mites b.gexf",
        "download_graphml": "Bees b mites b.graphml",
        "download_html": "Bees b mites b.html",
        "download_json": "Bees b mites b.json",
        "download_parquet": "Bees b mites b.parquet.zip",
        "download_site": "Bees b mites b.site.zip",
    }
    for key, (_, content) in offered.items():
        name = key.removeprefix("download_")
        exported = home.export(home.indexes.open(index.id), name, tmp_path / offered[key][0])
        assert content() == exported.path.read_bytes()


def test_a_broken_format_is_named_on_the_page(
    home: Workbench, visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "zz_dot.py").write_text("class Exporter:\n    name = 'dot'\n")
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path)])
    assert "The file zz_dot.py has no Exporter.title" in drawn.text(visit("build", home))
