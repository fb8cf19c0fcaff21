import json
import pickle
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from leanrag_core.errors import IndexDamaged
from leanrag_core.storage.calls import CallStore
from leanrag_core.types.calls import CallRecord


@pytest.fixture
def store(tmp_path: Path) -> CallStore:
    return CallStore(tmp_path / "calls")


def test_what_was_put_is_there_for_every_other_process(store: CallStore) -> None:
    store.put("k", CallRecord(text="é 蜂", index="a", model="m", task="t"))
    other = CallStore(store.folder)
    record = other.get("k")
    assert record is not None
    assert record.text == "é 蜂"
    assert other.get("other") is None
    assert other.get_many(["other", "k"])[0] is None


def test_a_list_says_what_was_asked_and_for_which_index(store: CallStore) -> None:
    store.put("k", CallRecord(text="x", index="a", model="m", task="t"))
    (entry,) = store.entries()
    assert (entry.key, entry.model, entry.task, entry.index) == ("k", "m", "t", "a")
    assert entry.size_bytes > 0
    assert store.size_bytes() > 0


def test_calls_are_deleted_by_index_or_age(store: CallStore) -> None:
    store.put_many({f"{name}{n}": CallRecord(text="x", index=name) for name in "ab" for n in range(3)})
    assert store.delete(index="a") == 3
    assert sorted(entry.index for entry in store.entries()) == ["b"] * 3
    assert store.delete(before=0.0) == 0
    assert store.delete() == 3
    assert len(store) == 0


def test_an_export_holds_every_call(store: CallStore, tmp_path: Path) -> None:
    store.put_many({f"k{n}": CallRecord(text=str(n)) for n in range(5)})
    assert store.export(tmp_path / "calls.jsonl") == 5
    lines = [json.loads(line) for line in (tmp_path / "calls.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sorted((line["key"], line["text"]) for line in lines) == [(f"k{n}", str(n)) for n in range(5)]


def test_many_threads_and_handles_lose_nothing(store: CallStore) -> None:
    handles = [store, CallStore(store.folder)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: handles[n % 2].put(f"k{n}", CallRecord(text=str(n))), range(200)))
    assert {entry.key for entry in store.entries()} == {f"k{n}" for n in range(200)}


def test_a_pickle_planted_in_the_file_is_never_loaded(store: CallStore, tmp_path: Path) -> None:
    store.put("k", CallRecord(text="x"))
    store.close()
    marker = tmp_path / "bomb"

    class Planted:
        def __reduce__(self) -> tuple[object, tuple[Path, str]]:
            return (Path.write_text, (marker, "ran"))

    payload = sqlite3.Binary(pickle.dumps(Planted()))
    with sqlite3.connect(store.folder / "cache.db") as database:
        database.execute("UPDATE Cache SET mode = 4, value = ?", (payload,))
    assert store.get("k") is None
    assert list(store.entries()) == []
    with sqlite3.connect(store.folder / "cache.db") as database:
        database.execute("UPDATE Cache SET key = ?, raw = 0", (payload,))
    assert list(store.entries()) == []
    assert not marker.exists()


@pytest.mark.parametrize("value", ["not json", "[1]", "7", "", '{"text": 7}', '{"seconds": NaN}'])
def test_a_value_of_another_hand_counts_as_missing(store: CallStore, value: str) -> None:
    store.put("k", CallRecord(text="x"))
    store.close()
    with sqlite3.connect(store.folder / "cache.db") as database:
        database.execute("UPDATE Cache SET value = ?", (value,))
    assert store.get("k") is None


def test_a_damaged_file_is_reported_with_what_to_do(store: CallStore) -> None:
    store.folder.mkdir(parents=True)
    (store.folder / "cache.db").write_bytes(b"not a database, but long enough to look like one" * 50)
    with pytest.raises(IndexDamaged, match="move it away"):
        store.get("k")


def test_a_file_of_sqlites_that_goes_away_while_sizes_are_added_up_counts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = CallStore(tmp_path)
    store.put("key", CallRecord(text="an answer"))
    store.close()
    there = sum(path.stat().st_size for path in tmp_path.iterdir() if path.is_file())
    leaving = tmp_path / "cache.db-wal"
    leaving.write_bytes(b"x" * 1000)
    is_file = Path.is_file

    def and_gone(path: Path) -> bool:
        was = is_file(path)
        if path == leaving:
            path.unlink()
        return was

    monkeypatch.setattr(Path, "is_file", and_gone)
    assert store.size_bytes() == there
