import threading
from collections.abc import Callable

import pytest

from leanrag_core.execution.background import LatestWork, ReadAhead, StreamedCalls
from tests.sharing import SlowKey, errors_at_once


def test_what_is_read_ahead_is_read_by_one_thread_at_a_time_and_again_a_minute_later() -> None:
    now, begun, go_on = [1000.0], [], threading.Event()

    def read() -> None:
        begun.append(now[0])
        assert go_on.wait(60)

    ahead = ReadAhead(lambda: now[0])
    first = ahead.begin("a", read)
    now[0] = 1100.0
    assert ahead.begin("a", read) is first  # it still reads
    go_on.set()
    first.join(60)
    second = ahead.begin("a", read)
    second.join(60)
    now[0] = 1159.0
    assert ahead.begin("a", read) is second
    ahead.begin("b", read).join(60)
    now[0] = 1160.0
    ahead.begin("a", read).join(60)
    assert begun == [1000.0, 1100.0, 1159.0, 1160.0]


def test_a_call_that_is_begun_twice_is_made_once_and_can_be_followed_by_both() -> None:
    calls: StreamedCalls[str, str] = StreamedCalls()
    made, go_on = [], threading.Event()

    def call(write: Callable[[str], None]) -> str:
        made.append("call")
        write("Oxalic ")
        assert go_on.wait(60)
        write("acid.")
        return "done"

    first = calls.begin("key", call)
    second = calls.begin("key", call)
    assert second is first
    assert "key" in calls
    assert not first.wait(0)
    go_on.set()
    assert (first.result(), first.text, made) == ("done", "Oxalic acid.", ["call"])
    assert "key" not in calls


def test_a_call_that_failed_raises_its_error_to_who_waits_and_is_made_anew_the_next_time() -> None:
    calls: StreamedCalls[str, str] = StreamedCalls()

    def fail(write: Callable[[str], None]) -> str:
        write("Half a")
        raise ConnectionError("cut off")

    failed = calls.begin("key", fail)
    with pytest.raises(ConnectionError, match="cut off"):
        failed.result()
    assert failed.text == "Half a"
    assert calls.begin("key", lambda write: "whole").result() == "whole"


def test_a_call_that_is_kept_is_not_made_again_however_its_end_and_the_next_beginning_meet() -> None:
    calls: StreamedCalls[str, str] = StreamedCalls(keep=2)
    made: list[str] = []

    def call(write: Callable[[str], None]) -> str:
        write("step")
        made.append("call")
        return "done"

    results: list[str] = []
    sessions = [threading.Thread(target=lambda: results.append(calls.begin("key", call).result())) for _ in range(20)]
    for session in sessions:
        session.start()
    for session in sessions:
        session.join(60)
    assert (made, results) == (["call"], ["done"] * 20)
    assert (calls.kept("key"), calls.pieces("key")) == ("done", ("step",))
    for other in ("a", "b"):
        calls.begin(other, call).result()
    assert (calls.kept("key"), calls.pieces("key"), "key" in calls) == (None, (), False)


def test_what_a_call_writes_is_read_by_others_while_calls_begin_end_and_are_dropped() -> None:
    calls: StreamedCalls[int, int] = StreamedCalls(keep=1)

    def step(n: int) -> None:
        key = SlowKey(n % 3)

        def call(write: Callable[[int], None]) -> int:
            write(key.number)
            return key.number

        assert calls.begin(key, call).result() == key.number
        assert set(calls.pieces(key)) <= {key.number}
        assert calls.kept(key) in (None, key.number)

    assert errors_at_once(step, threads=6, steps=60) == []


def test_newer_work_ends_the_older_at_its_next_look() -> None:
    latest, looking, superseded, done = LatestWork(), threading.Event(), threading.Event(), list[str]()

    def older(look: Callable[[], None]) -> None:
        looking.set()
        superseded.wait(10)
        look()
        done.append("older")

    first = latest.begin(older)
    assert looking.wait(10)
    second = latest.begin(lambda look: done.append("newer"))
    superseded.set()
    first.join(10)
    second.join(10)
    assert done == ["newer"]
    latest.begin(lambda look: done.append("too late"), after_seconds=30)
    latest.end()
    assert done == ["newer"]
