"""A deleted index can be taken back for a while, whole, and is gone from the disk afterwards."""

import os
import shutil
import time
from pathlib import Path

import pytest

from leanrag_core.errors import IndexNotFound, InvalidConfig
from leanrag_core.storage import indexes, layout, staging
from leanrag_core.storage.indexes import IndexStore
from tests.small_index import small_index

ID = "bees-1"


def put_index(folder: Path) -> None:
    with staging.staged(folder) as beside:
        layout.write_index(beside, small_index())


@pytest.fixture
def store(tmp_path: Path) -> IndexStore:
    root = tmp_path / "indexes"
    put_index(root / ID)
    return IndexStore(root)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the time to take an index back be over."""
    now = time.time() + indexes.HELD_SECONDS + 1
    monkeypatch.setattr(indexes.time, "time", lambda: now)


def test_a_deleted_index_is_in_no_list_and_comes_back_byte_for_byte(store: IndexStore) -> None:
    before = contents(store.root / ID)
    store.hold(ID)
    assert store.index_list().indexes == ()
    assert [held.id for held in store.held()] == [ID]
    store.take_back(ID)
    assert contents(store.root / ID) == before
    assert [path.name for path in store.root.iterdir()] == [ID]


def test_a_process_that_died_loses_nothing(store: IndexStore) -> None:
    store.hold(ID)
    opened_again = IndexStore(store.root)
    opened_again.take_back(ID)
    assert [index.id for index in opened_again.index_list().indexes] == [ID]


def test_earlier_states_come_back_with_the_index(store: IndexStore) -> None:
    earlier = store.root / f".earlier-{ID}" / "1"
    shutil.copytree(store.root / ID, earlier)
    store.hold(ID)
    assert not earlier.exists()
    store.take_back(ID)
    assert (earlier / "manifest.json").is_file()


def test_after_its_time_the_disk_is_free(store: IndexStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.hold(ID)
    assert store.overdue() == []
    later(monkeypatch)
    [held] = store.overdue()
    ids = store.delete_held(held)
    assert len(ids) == 1
    assert list(store.root.iterdir()) == []
    with pytest.raises(IndexNotFound, match="time is over"):
        store.take_back(ID)


def test_a_death_during_the_final_deletion_leaves_nothing_to_take_back(
    store: IndexStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.hold(ID)

    def die(path: Path) -> None:
        raise KeyboardInterrupt

    [held] = store.held()
    with monkeypatch.context() as patch:
        patch.setattr(indexes.shutil, "rmtree", die)
        with pytest.raises(KeyboardInterrupt):
            store.delete_held(held)
    assert store.held() == []
    [rest] = store.root.glob(".deleted-*")
    rest.rename(rest.with_name(f".deleted-{ID}-999999999"))  # as a process that is no more would have left it
    assert list(IndexStore(store.root).root.iterdir()) == []


def test_what_was_built_in_its_place_is_not_replaced(store: IndexStore) -> None:
    store.hold(ID)
    put_index(store.root / ID)
    with pytest.raises(InvalidConfig, match="built meanwhile"):
        store.take_back(ID)
    assert len(store.held()) == 1, "and what was deleted stays, until its time is over"


def test_of_an_index_deleted_twice_the_later_state_is_held(store: IndexStore) -> None:
    store.hold(ID)
    put_index(store.root / ID)
    store.rename(ID, "second")
    store.hold(ID)
    assert [held.name for held in store.held()] == ["second"]


def test_a_link_beside_the_indexes_is_no_held_index(store: IndexStore, tmp_path: Path) -> None:
    outside = tmp_path / "outside" / "x"
    shutil.copytree(store.root / ID, outside)
    os.symlink(outside.parent, store.root / ".held-1-x")
    assert store.held() == []
