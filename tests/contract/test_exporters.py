"""What holds for every export format, on every kind of index."""

from pathlib import Path

import pytest

from leanrag_core.__main__ import main
from leanrag_core.exporting.base import Exporter, broken_exporters, export_index, exporters
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.index import Index
from tests.contract.indexes import INDEXES, stored

EXPORTERS = [pytest.param(exporter, id=exporter.name) for exporter in exporters()]


@pytest.fixture(params=list(INDEXES))
def any_index(request: pytest.FixtureRequest, tmp_path: Path) -> Index:
    return stored(request.param, tmp_path / "index")


@pytest.fixture(params=("tiny", "one chunk"))
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Index:
    """Return an index for what does not depend on the texts: one with relations, and the smallest."""
    return stored(request.param, tmp_path / "index")


def test_every_file_of_formats_can_be_used() -> None:
    assert broken_exporters() == ()
    assert {exporter.name for exporter in exporters()} >= {"csv", "graphml", "json"}


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_a_format_is_named_as_its_file_and_says_what_it_is(exporter: Exporter) -> None:
    assert type(exporter).__module__.rsplit(".", 1)[-1] == exporter.name
    assert sentence(exporter.title)
    assert sentence(exporter.help)
    assert exporter.suffix.startswith(".")
    assert "/" in exporter.media_type


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_an_export_counts_what_the_index_has_and_is_the_same_again(
    exporter: Exporter, any_index: Index, tmp_path: Path
) -> None:
    first = export_index(any_index, exporter.name, tmp_path / f"first{exporter.suffix}")
    counts = any_index.manifest.counts
    assert (first.entities, first.relations) == (sum(counts.entities), sum(counts.relations))
    assert first.parent_links == first.entities - 1  # all but the root
    assert first.bytes == first.path.stat().st_size > 0
    second = export_index(any_index, exporter.name, tmp_path / f"second{exporter.suffix}")
    assert first.path.read_bytes() == second.path.read_bytes()


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_an_export_does_not_change_the_index(exporter: Exporter, index: Index, tmp_path: Path) -> None:
    assert index.path is not None
    before = {path.name: path.read_bytes() for path in index.path.iterdir()}
    export_index(index, exporter.name, tmp_path / "out")
    assert {path.name: path.read_bytes() for path in index.path.iterdir()} == before


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_the_command_line_exports(
    exporter: Exporter, index: Index, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"out{exporter.suffix}"
    assert main(["export", str(index.path), "--format", exporter.name, "--out", str(out)]) == 0
    n = sum(index.manifest.counts.entities)
    assert f"{out}: {n:,} entit{'y' if n == 1 else 'ies'}, " in capsys.readouterr().out
    assert out.stat().st_size > 0
