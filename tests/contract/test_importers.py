"""What holds for every importer: it leaves the files of others alone, and says why it cannot read one."""

from contextlib import suppress
from pathlib import Path

import pytest

from leanrag_core.errors import ImportFailed, LeanRAGError
from leanrag_core.importing.base import Importer, broken_importers, importers
from leanrag_core.importing.formats import plain
from leanrag_core.messages.catalog import sentence
from tests.reading import read_graph

IMPORTERS = [pytest.param(importer, id=importer.name) for importer in importers()]
of_every_importer = pytest.mark.parametrize("importer", IMPORTERS)


def test_every_file_of_formats_can_be_used() -> None:
    assert broken_importers() == ()


@of_every_importer
def test_an_importer_is_named_as_its_file_and_says_what_it_reads(importer: Importer) -> None:
    assert type(importer).__module__.rsplit(".", 1)[-1] == importer.name.replace("-", "_")
    assert sentence(importer.title).strip()
    assert sentence(importer.help).strip()


@of_every_importer
@pytest.mark.parametrize("content", [b"", b"\0\xff\xfe\x80", b"Bees.\n\n\n#\n1\n", b'{"nodes": 1}'])
def test_a_file_of_another_kind_is_not_recognised_and_raises_nothing_but_a_reason(
    importer: Importer, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "bees.xyz"
    path.write_bytes(content)
    assert not importer.recognises(path)
    with suppress(LeanRAGError):  # a lax format of text may find a graph in anything
        importer.read(path)


@of_every_importer
def test_an_empty_folder_is_not_recognised_and_refused_with_a_reason(importer: Importer, tmp_path: Path) -> None:
    assert not importer.recognises(tmp_path)
    with pytest.raises(LeanRAGError):
        importer.read(tmp_path)


def test_an_importer_that_fails_at_a_row_is_named_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain.Importer, "read", lambda importer, path: [].pop())
    with pytest.raises(ImportFailed, match=r"the importer plain fails on .*: pop from empty list"):
        read_graph(tmp_path, "plain")
