"""Turns of work: few at one time, quick ones first, and nobody holds a turn for ever."""

import threading
import time

from leanrag_core.system.turns import Turns

LONG = 30.0  # seconds that no test takes


class Clock:
    """A clock that goes on when it is told to. n_asked: how often it was looked at, as whoever comes does."""

    def __init__(self) -> None:
        self.now, self.n_asked = 0.0, 0

    def __call__(self) -> float:
        now = self.now  # first: whoever sees that it was asked may set it
        self.n_asked += 1
        return now


def worker(turns: Turns, clock: Clock, order: list[str], name: str, *, quick: bool) -> threading.Thread:
    def work() -> None:
        with turns.taken(quick=quick):
            order.append(name)

    n_before = clock.n_asked
    thread = threading.Thread(target=work)
    thread.start()
    while clock.n_asked == n_before:
        time.sleep(0.001)
    return thread


def test_a_moved_slider_overtakes_pages_that_wait() -> None:
    clock, order = Clock(), list[str]()
    turns = Turns(1, head_start_seconds=LONG, hold_seconds=LONG, clock=clock)
    with turns.taken(quick=False):
        names = ("first page", "second", "slider")
        threads = [worker(turns, clock, order, name, quick=name == "slider") for name in names]
        assert order == []
    for thread in threads:
        thread.join()
    assert order == ["slider", "first page", "second"]


def test_a_page_that_has_waited_longer_than_the_head_start_goes_first() -> None:
    clock, order = Clock(), list[str]()
    turns = Turns(1, head_start_seconds=1, hold_seconds=LONG, clock=clock)
    with turns.taken(quick=False):
        threads = [worker(turns, clock, order, "page", quick=False)]
        clock.now = 1.5
        threads.append(worker(turns, clock, order, "slider", quick=True))
    for thread in threads:
        thread.join()
    assert order == ["page", "slider"]


def test_who_waits_for_a_model_keeps_nobody_waiting() -> None:
    clock, order = Clock(), list[str]()
    turns = Turns(1, head_start_seconds=LONG, hold_seconds=0.01, clock=clock)
    with turns.taken(quick=False):
        thread = worker(turns, clock, order, "page", quick=False)
        assert order == []
        clock.now = 0.01
        thread.join()  # it begins while the first one holds its turn
        assert order == ["page"]
        assert turns.is_idle
    with turns.taken(quick=True):
        assert not turns.is_idle


def test_no_more_are_at_work_than_may_be() -> None:
    turns, at_work, most = Turns(2, head_start_seconds=0, hold_seconds=LONG), list[int](), list[int]()
    both = threading.Barrier(2, timeout=LONG)

    def work(number: int) -> None:
        with turns.taken(quick=bool(number % 2)):
            at_work.append(number)
            both.wait()
            most.append(len(at_work))
            both.wait()
            at_work.remove(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [2] * 12
