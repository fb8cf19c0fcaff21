from pathlib import Path

import pytest

from leanrag_core.indexing.stages.kept import KeptMap
from leanrag_core.storage.stages import StageStore
from tests.execution.work import Doubling, squared


@pytest.fixture
def store(tmp_path: Path) -> StageStore:
    return StageStore(tmp_path / "stages")


def test_what_was_finished_before_the_work_was_cut_off_is_not_done_again(store: StageStore) -> None:
    first = Doubling()
    results = KeptMap(map, store)(first, [[1, 2], [3], [4]])
    assert [next(results).tolist(), next(results).tolist()] == [[2, 4], [6]]
    results.close()
    again = Doubling()
    kept = KeptMap(map, StageStore(store.folder))
    assert [rows.tolist() for rows in kept(again, [[1, 2], [3], [4]])] == [[2, 4], [6], [8]]
    assert again.calls == [[4]]


def test_kept_and_new_batches_come_in_the_items_order(store: StageStore) -> None:
    list(KeptMap(map, store)(Doubling(), [[2], [4]]))
    assert [int(rows[0]) for rows in KeptMap(map, store)(Doubling(), [[1], [2], [3], [4], [5]])] == [2, 4, 6, 8, 10]


def test_content_that_cannot_be_read_is_computed_again(store: StageStore) -> None:
    task = Doubling()
    key = task.key([7])
    store.put("doubles", key, b"not what was written")
    assert next(KeptMap(map, store)(task, [[7]])).tolist() == [14]
    assert store.get(key) == b"14"


def test_functions_whose_results_cannot_be_kept_are_mapped_as_they_are(store: StageStore) -> None:
    assert list(KeptMap(map, store)(squared, [1, 2])) == [1, 4]
    assert not store.folder.exists()


def test_without_a_store_everything_is_computed() -> None:
    task = Doubling()
    assert [rows.tolist() for rows in KeptMap(map, None)(task, [[1], [1]])] == [[2], [2]]
    assert task.calls == [[1], [1]]
