import threading

from leanrag_core.storage.indexes import OpenIndexes, table_bytes
from leanrag_core.types.index import Index
from tests.small_index import small_index


def opener(opened: list[str], name: str):
    def open_it() -> Index:
        opened.append(name)
        return small_index()

    return open_it


def test_an_index_is_opened_once_and_again_when_it_was_rebuilt() -> None:
    open_indexes, opened = OpenIndexes(10**9), []
    first = open_indexes.get(("a", "1"), opener(opened, "a1"))
    assert open_indexes.get(("a", "1"), opener(opened, "a1 again")) is first
    assert open_indexes.get(("a", "2"), opener(opened, "a2")) is not first
    assert opened == ["a1", "a2"]


def test_the_indexes_last_used_stay_open_as_long_as_they_fit() -> None:
    index_bytes = table_bytes(small_index())
    open_indexes, opened = OpenIndexes(2 * index_bytes), []
    for name in ("a", "b", "a", "c", "a", "b"):  # c drives b out, b drives c out
        open_indexes.get((name, "1"), opener(opened, name))
    assert opened == ["a", "b", "c", "b"]


def test_the_index_in_use_stays_open_however_large_it_is() -> None:
    open_indexes, opened = OpenIndexes(0), []
    for name in ("a", "a", "b", "b"):
        open_indexes.get((name, "1"), opener(opened, name))
    assert opened == ["a", "b"]


def test_an_index_that_does_not_open_leaves_the_others_open() -> None:
    open_indexes, opened = OpenIndexes(10**9), []
    open_indexes.get(("a", "1"), opener(opened, "a"))
    try:
        open_indexes.get(("b", "1"), lambda: [][0])
    except IndexError:
        opened.append("failed")
    open_indexes.get(("a", "1"), opener(opened, "a"))
    assert opened == ["a", "failed"]


def test_nobody_waits_for_another_index_to_open_and_the_same_one_is_opened_once() -> None:
    open_indexes, opened, may_go_on, began = OpenIndexes(10**9), [], threading.Event(), threading.Event()

    def slowly() -> Index:
        began.set()
        assert may_go_on.wait(30)
        return opener(opened, "a")()

    found: list[Index] = []
    threads = [threading.Thread(target=lambda: found.append(open_indexes.get(("a", "1"), slowly))) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert began.wait(30)
    open_indexes.get(("b", "1"), opener(opened, "b"))
    assert opened == ["b"]
    may_go_on.set()
    for thread in threads:
        thread.join(30)
    assert opened == ["b", "a"]
    assert found[0] is found[1]
