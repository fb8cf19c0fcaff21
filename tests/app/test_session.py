import threading
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.errors import SearchIndexFailed
from leanrag_core.types.index import Index
from pages._shared.common import session
from pages._shared.common.session import OpenIndexes, Readers, table_bytes
from tests.small_index import small_index


def opener(opened: list[str], name: str):
    def open_it() -> Index:
        opened.append(name)
        return small_index()

    return open_it


def test_an_index_is_opened_once_and_again_when_it_was_rebuilt() -> None:
    held, opened = OpenIndexes(10**9), []
    first = held.get(("a", "1"), opener(opened, "a1"))
    assert held.get(("a", "1"), opener(opened, "a1 again")) is first
    assert held.get(("a", "2"), opener(opened, "a2")) is not first
    assert opened == ["a1", "a2"]


def test_the_indexes_last_used_stay_open_as_long_as_they_fit() -> None:
    one = table_bytes(small_index())
    held, opened = OpenIndexes(2 * one), []
    for name in ("a", "b", "a", "c", "a", "b"):  # c drives b out, b drives c out
        held.get((name, "1"), opener(opened, name))
    assert opened == ["a", "b", "c", "b"]


def test_the_index_in_use_stays_open_however_large_it_is() -> None:
    held, opened = OpenIndexes(0), []
    for name in ("a", "a", "b", "b"):
        held.get((name, "1"), opener(opened, name))
    assert opened == ["a", "b"]


def test_an_index_that_does_not_open_leaves_the_others_open() -> None:
    held, opened = OpenIndexes(10**9), []
    held.get(("a", "1"), opener(opened, "a"))
    try:
        held.get(("b", "1"), lambda: [][0])
    except IndexError:
        opened.append("failed")
    held.get(("a", "1"), opener(opened, "a"))
    assert opened == ["a", "failed"]


def test_what_is_read_ahead_is_read_by_one_thread_at_a_time_and_again_a_minute_later() -> None:
    now, begun, go_on = [1000.0], [], threading.Event()

    def read() -> None:
        begun.append(now[0])
        assert go_on.wait(60)

    readers = Readers(lambda: now[0])
    first = readers.begin("a", read)
    now[0] = 1100.0
    assert readers.begin("a", read) is first  # it still reads
    go_on.set()
    first.join(60)
    second = readers.begin("a", read)
    second.join(60)
    now[0] = 1159.0
    assert readers.begin("a", read) is second
    readers.begin("b", read).join(60)
    now[0] = 1160.0
    readers.begin("a", read).join(60)
    assert begun == [1000.0, 1100.0, 1159.0, 1160.0]


def test_ask_reads_ahead_while_there_is_no_question_and_again_after_a_failure(
    home: Workbench, visit: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    read, readers = [], Readers(lambda: 61.0 * len(read))

    def fail(bench: Workbench, index: Index) -> None:
        read.append(index.manifest["name"])
        raise SearchIndexFailed("nobody there")

    monkeypatch.setattr(Workbench, "read_ahead", fail)
    monkeypatch.setattr(session, "_readers", lambda: readers)

    def wait() -> None:
        for _, thread in readers._begun.values():
            thread.join(60)

    visit("ask", home, q="What do beekeepers use?")
    wait()
    assert read == []
    app = visit("ask", home)
    wait()
    app.run()
    wait()
    assert read == ["Bees", "Bees"]
    assert not app.exception
