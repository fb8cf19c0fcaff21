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
    """Take away the document that was added: a state that the index had comes again."""
    bench, folder = Workbench(home), home / "indexes" / "index"
    bench.updates.update(folder, removal(open_index(folder), ["mites.txt"]))


def keep(home: Path) -> None:
    Workbench(home).snapshots.keep(home / "indexes" / "index", "now")


def restore(home: Path) -> None:
    Workbench(home).snapshots.restore(home / "indexes" / "index", "1")


def delete(home: Path) -> None:
    Workbench(home).snapshots.delete(home / "indexes" / "index", "1")


@pytest.fixture(scope="module")
def home(bench: Workbench, built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home whose index has been updated once."""
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
    for folder in (built, home / "indexes" / "index"):  # whose bytes a killed work leaves
        assert [result.detail for result in check_index(open_index(folder)) if not result.ok] == []
    for copy in killed:
        folder = copy / "indexes" / "index"
        [summary] = IndexStore(folder.parent).index_list().indexes
        assert content(folder) in (before, after), copy
        open_index(summary.path)
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


@pytest.mark.parametrize("work", [keep, restore, delete])
def test_a_kill_among_the_states_loses_none_and_leaves_no_half_of_one(
    work: Callable[[Path], None], built: Path, home: Path, tmp_path: Path
) -> None:
    first, second = content(built), content(home / "indexes" / "index")
    killed = killed_copies(f"{__name__}:{work.__name__}", home, tmp_path / "copies", 8)
    assert len(killed) >= 8
    for copy in (tmp_path / "copies" / "whole", *killed):
        folder = copy / "indexes" / "index"
        bench = Workbench(copy)
        [summary] = bench.indexes.all()
        assert content(summary.path) in ([first, second] if work is restore else [second]), copy
        held = [content(bench.snapshots.folder(folder, str(state.number))) for state in bench.snapshots.list(folder)]
        assert all(each in (first, second) for each in held), copy
        assert first in held or work is delete, copy
        if content(summary.path) == first:
            assert second in held, copy
        if work is keep and "now" not in {state.name for state in bench.snapshots.list(folder)}:
            keep(copy)
        if work is delete:
            for _ in bench.snapshots.list(folder):
                delete(copy)
            bench.snapshots.keep(folder, "now")
            bench.snapshots.delete(folder, "now")
            there = [path.name for path in folder.parent.iterdir() if path.is_dir() and any(path.iterdir())]
            assert there == ["index"], copy
