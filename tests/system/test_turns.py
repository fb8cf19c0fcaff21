"""Turns of work: few at one time, quick ones first, and nobody holds a turn for ever."""

import threading
import time

from leanrag_core.system.turns import Turns

LONG = 30.0  # seconds that no test takes


def worker(turns: Turns, order: list[str], name: str, *, quick: bool) -> threading.Thread:
    def work() -> None:
        with turns.taken(quick=quick):
            order.append(name)

    n_before = turns.n_waiting
    thread = threading.Thread(target=work)
    thread.start()
    while turns.n_waiting == n_before:
        time.sleep(0.001)
    return thread


def test_a_moved_slider_overtakes_pages_that_wait() -> None:
    turns, order = Turns(1, head_start_seconds=LONG, hold_seconds=LONG), list[str]()
    with turns.taken(quick=False):
        threads = [worker(turns, order, name, quick=name == "slider") for name in ("first page", "second", "slider")]
        assert order == []
    for thread in threads:
        thread.join()
    assert order == ["slider", "first page", "second"]


def test_a_page_that_has_waited_longer_than_the_head_start_goes_first() -> None:
    turns, order = Turns(1, head_start_seconds=0.01, hold_seconds=LONG), list[str]()
    with turns.taken(quick=False):
        threads = [worker(turns, order, "page", quick=False)]
        time.sleep(0.02)
        threads.append(worker(turns, order, "slider", quick=True))
    for thread in threads:
        thread.join()
    assert order == ["page", "slider"]


def test_who_waits_for_a_model_keeps_nobody_waiting() -> None:
    turns = Turns(1, head_start_seconds=LONG, hold_seconds=0.05)
    with turns.taken(quick=False), turns.taken(quick=False):  # the second one begins while the first one holds its turn
        time.sleep(0.06)
        assert turns.is_idle
    with turns.taken(quick=True):
        assert not turns.is_idle


def test_no_more_are_at_work_than_may_be() -> None:
    turns, at_work, most = Turns(2, head_start_seconds=0, hold_seconds=LONG), list[int](), list[int]()

    def work(number: int) -> None:
        with turns.taken(quick=bool(number % 2)):
            at_work.append(number)
            most.append(len(at_work))
            time.sleep(0.002)
            at_work.remove(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 12
    assert max(most) <= 2
