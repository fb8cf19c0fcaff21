"""An undo or update whose process is killed at any of its steps: the index opens, and nothing is lost."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from leanrag_core import Workbench, open_index
from leanrag_core.checking.check import check_index
from leanrag_core.errors import InvalidConfig
from leanrag_core.indexing.updating.preview import changes_to, removal
from leanrag_core.storage.indexes import IndexStore
from tests.killing import killed_copies
from tests.updating.conftest import content, read
from tests.updating.texts import MITES

pytestmark = pytest.mark.slow


def undo(home: Path) -> None:
    Workbench(home).updates.undo(home / "indexes" / "index")


def replace_again(home: Path) -> None:
    """The document that was added goes: a state that the index had comes again."""
    bench, folder = Workbench(home), home / "indexes" / "index"
    bench.updates.update(folder, removal(open_index(folder), ["mites.txt"]))


@pytest.fixture(scope="module")
def home(bench: Workbench, built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose index has been updated once."""
    home = tmp_path_factory.mktemp("killed") / "home"
    folder = Path(shutil.copytree(built, home / "indexes" / "index"))
    bench.updates.update(folder, changes_to(open_index(folder), [read(bench, "mites.txt", MITES)]))
    return home


@pytest.mark.parametrize("work", [undo, replace_again])
def test_a_kill_leaves_one_of_the_two_states_and_the_work_can_be_done_again(
    work: Callable[[Path], None], built: Path, home: Path, tmp_path: Path
) -> None:
    before, after = content(built), content(home / "indexes" / "index")
    killed = killed_copies(f"{__name__}:{work.__name__}", home, tmp_path / "copies", 8)
    assert content(tmp_path / "copies" / "whole" / "indexes" / "index") == before
    assert len(killed) >= 8
    for copy in killed:
        folder = copy / "indexes" / "index"
        [summary] = IndexStore(folder.parent).index_list().indexes
        assert content(folder) in (before, after), copy
        assert [result.detail for result in check_index(open_index(summary.path)) if not result.ok] == []
        if content(folder) == after:
            work(copy)
        assert content(folder) == before
        if work is replace_again:  # two changes were made, and each is undone
            for expected in (after, before):
                undo(copy)
                assert content(folder) == expected, copy
        with pytest.raises(InvalidConfig, match="no earlier state"):
            undo(copy)
        assert [path.name for path in folder.parent.iterdir() if path.is_dir() and any(path.iterdir())] == ["index"], (
            copy
        )
