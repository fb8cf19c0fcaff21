"""Kept results of builds: shared, sealed, bounded, and never in the way."""

import os
import shutil
import sqlite3
import stat
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from leanrag_core.storage.stages import StageSize, StageStore, stage_key

KEY, OTHER = stage_key("test", "a"), stage_key("test", "b")
LARGE = b"x" * 1_500_000


@pytest.fixture
def store(tmp_path: Path) -> StageStore:
    return StageStore(tmp_path / "stages")


def database(store: StageStore) -> sqlite3.Connection:
    return sqlite3.connect(store.folder / "stages.db", isolation_level=None)


def test_what_one_process_keeps_another_one_reads(store: StageStore) -> None:
    store.put_many("test", {KEY: b"small", OTHER: LARGE})
    other = StageStore(store.folder)
    assert other.get_many([KEY, OTHER, stage_key("test", "none")]) == {KEY: b"small", OTHER: LARGE}
    assert other.stored_keys([KEY, stage_key("test", "none")]) == {KEY}
    assert store.sizes() == [StageSize("test", 2, 1_500_005)]


def test_a_key_depends_on_where_each_part_of_it_ends() -> None:
    keys = {stage_key("s", "a", "b"), stage_key("s", "ab"), stage_key("s", "b", "a"), stage_key("t", "a", "b")}
    assert len(keys) == 4


def test_reading_from_a_folder_that_is_not_there_makes_none(store: StageStore) -> None:
    assert store.get(KEY) is None
    assert store.sizes() == []
    assert store.trim(0) == 0
    store.clear()
    store.forget([KEY])
    assert not store.folder.exists()


def test_a_changed_entry_is_a_missing_one_and_is_counted(store: StageStore, caplog: pytest.LogCaptureFixture) -> None:
    store.put_many("test", {KEY: b"small", OTHER: LARGE})
    with database(store) as changed:
        changed.execute("UPDATE entries SET content = ? WHERE key = ?", (b"smalL", KEY))
    [large] = (store.folder / "large").iterdir()
    large.write_bytes(LARGE[:-1])
    assert store.get_many([KEY, OTHER]) == {}
    assert "2 kept results" in caplog.text
    assert store.sizes() == [], "so that it is computed and kept again"


def test_an_entry_that_was_put_in_the_place_of_another_one_is_not_taken(store: StageStore) -> None:
    store.put("test", KEY, b"small")
    with database(store) as changed:
        changed.execute("UPDATE entries SET key = ?", (OTHER,))
    assert store.get(OTHER) is None


@pytest.mark.parametrize("content", [b"", b"not a database" * 500])
def test_a_file_that_is_no_database_is_replaced(store: StageStore, content: bytes) -> None:
    store.put("test", KEY, b"small")
    store.close()
    for path in store.folder.glob("stages.db*"):
        path.write_bytes(content)
    assert store.get(KEY) is None
    store.put("test", KEY, b"new")
    assert StageStore(store.folder).get(KEY) == b"new"


def test_pages_of_the_database_that_were_overwritten_cost_only_the_saving(store: StageStore) -> None:
    contents = {stage_key("test", str(n)): os.urandom(3000) for n in range(200)}
    store.put_many("test", contents)
    store.close()
    path = store.folder / "stages.db"
    intact = path.read_bytes()
    path.write_bytes(intact[:8192] + os.urandom(len(intact) - 8192))
    taken = store.get_many(list(contents))
    assert all(contents[key] == content for key, content in taken.items())
    store.put_many("test", contents)
    store.put_many("test", contents)  # the first may have found the damage
    assert StageStore(store.folder).get_many(list(contents)) == contents


def test_those_unused_for_longest_go_first(store: StageStore, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    for day, name in enumerate("abcd"):
        monkeypatch.setattr(time, "time", lambda day=day: now + 86_400 * day)
        store.put("test", stage_key("test", name), b"x" * 100)
    monkeypatch.setattr(time, "time", lambda: now + 86_400 * 9)
    assert store.get(stage_key("test", "a")), "this counts as a use"
    assert store.trim(400) == 0
    assert store.trim(300) == 2, "to nine tenths of the limit, so that not every build removes something"
    assert store.stored_keys([stage_key("test", name) for name in "abcd"]) == {stage_key("test", name) for name in "ad"}


def test_removed_contents_leave_the_disk(store: StageStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put_many("test", {stage_key("test", str(n)): os.urandom(500_000) for n in range(8)})
    store.put("test", KEY, LARGE)
    (store.folder / "large" / "00").write_bytes(b"left by a process that was killed")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 86_400)
    store.trim(0)
    assert list((store.folder / "large").iterdir()) == []
    store.put_many("test", {stage_key("test", str(n)): os.urandom(500_000) for n in range(8)})
    store.clear()
    assert store.sizes() == []
    assert sum(path.stat().st_size for path in store.folder.iterdir() if path.is_file()) < 200_000


def full(path: Any) -> Any:
    return shutil._ntuple_diskusage(10**9, 10**9 - 1_000_000, 1_000_000)


def test_a_full_disk_is_left_alone(store: StageStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", full)
    store.put("test", KEY, b"small")
    assert store.get(KEY) is None


def test_an_error_while_writing_costs_only_the_saving(store: StageStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put("test", KEY, b"small")
    tries = []

    def refuse(self: StageStore, stage: str, contents: Any) -> None:
        tries.append(contents)
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(StageStore, "_write", refuse)
        store.put("test", OTHER, b"more")
        store.put("test", OTHER, b"more")
    assert len(tries) == 1, "a disk that is full now is most likely full at the next result, too"
    assert store.get(KEY) == b"small"


def test_several_stores_write_at_once(store: StageStore) -> None:
    def write(part: int) -> None:
        own = StageStore(store.folder)
        for n in range(25):
            own.put("test", stage_key("test", f"{part}.{n}"), f"{part}.{n}".encode())
        own.close()

    threads = [threading.Thread(target=write, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = [f"{part}.{n}" for part in range(4) for n in range(25)]
    assert set(store.get_many([stage_key("test", name) for name in names]).values()) == {n.encode() for n in names}


def test_kept_results_are_for_their_owner_alone(store: StageStore) -> None:
    store.put_many("test", {KEY: b"small", OTHER: LARGE})
    paths = [store.folder, *store.folder.rglob("*")]
    assert len(paths) >= 5
    assert [path for path in paths if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)] == []
