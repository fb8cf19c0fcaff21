"""An update of an index in parts writes those that it changes."""

from pathlib import Path

import pytest

from leanrag_core import Workbench, open_index
from leanrag_core.checking.check import check_index
from leanrag_core.indexing.updating.preview import changes_to
from leanrag_core.storage import table_parts
from tests.updating.conftest import content, read
from tests.updating.texts import MITES, OWLS

pytestmark = pytest.mark.slow


def test_a_document_more_leaves_parts_that_are_one_file_with_those_of_before(
    bench: Workbench, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_parts, "PART_ROWS", 4)
    bench.updates.update(folder, changes_to(open_index(folder), [read(bench, "yaks.txt", OWLS)]))
    before, bytes_before = {path.name: path.stat().st_ino for path in folder.iterdir()}, content(folder)
    index = bench.updates.update(folder, changes_to(open_index(folder), [read(bench, "zebras.txt", MITES)]))
    after = {path.name: path.stat().st_ino for path in folder.iterdir()}
    shared = {name for name, inode in after.items() if before.get(name) == inode}
    assert {"documents-00000.arrow", "chunks-00000.arrow"} <= shared
    assert not {"documents-00001.arrow", "vectors-0.npy", "hierarchy.arrow"} & shared, sorted(shared)
    assert [result.detail for result in check_index(index) if not result.ok] == []
    assert content(bench.snapshots.folder(folder, "2")) == bytes_before
    bench.updates.undo(folder)
    assert content(folder) == bytes_before
