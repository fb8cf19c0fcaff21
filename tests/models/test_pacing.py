from collections.abc import Callable

import pytest

from leanrag_core.errors import CallFailed, EndpointBusy, EndpointError
from leanrag_core.models.pacing import Pacer
from leanrag_core.types.settings import Settings


class Clock:
    """A clock that advances only during sleep()."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def paced(**settings: float) -> tuple[Pacer, Clock]:
    clock = Clock()
    return Pacer(Settings(**settings), clock=clock, sleep=clock.sleep), clock


def failing(times: int, retry_after: float | None = None, *, overloaded: bool = False) -> Callable[[], str]:
    left = [times]

    def work() -> str:
        if left[0]:
            left[0] -= 1
            raise EndpointBusy("not now", retry_after, overloaded=overloaded)
        return "done"

    return work


def test_a_call_that_fails_for_a_while_succeeds_and_waits_longer_each_time() -> None:
    pacer, clock = paced(retries=3)
    faults: list[str] = []
    assert pacer.call(failing(3), on_fault=faults.append) == "done"
    assert faults == ["not now"] * 3
    assert clock.slept[0] < clock.slept[1] < clock.slept[2]


def test_after_the_last_try_the_call_has_failed_and_says_how_often() -> None:
    pacer, _ = paced(retries=2)
    with pytest.raises(CallFailed, match="not now, after 3 tries"):
        pacer.call(failing(3))


def test_a_server_that_fails_every_call_is_down() -> None:
    pacer, _ = paced(retries=0)
    for _ in range(11):
        with pytest.raises(CallFailed):
            pacer.call(failing(1))
    with pytest.raises(EndpointError, match="resume when the server works again"):
        pacer.call(failing(1))


def test_a_wish_to_wait_is_honoured_and_costs_no_try() -> None:
    pacer, clock = paced(retries=0, concurrency=8)
    assert pacer.call(failing(2, retry_after=7.0)) == "done"
    assert clock.slept == [7.0, 7.0]
    assert pacer.limit < 8, "fewer in flight after a wish to slow down"


def test_a_single_call_is_left_in_flight_however_often_the_server_is_busy() -> None:
    pacer, _ = paced(retries=0, concurrency=4)
    assert pacer.call(failing(6, retry_after=1.0, overloaded=True)) == "done"
    assert pacer.limit == 2.0, "one after six halvings, and one more after a good reply"


def test_a_server_that_never_stops_asking_is_given_up() -> None:
    pacer, clock = paced(retries=1)
    with pytest.raises(CallFailed):
        pacer.call(failing(1000, retry_after=60.0))
    assert 900 <= clock.now <= 1100


def test_requests_a_minute_are_kept() -> None:
    pacer, clock = paced(requests_per_minute=60)
    for _ in range(63):
        pacer.call(lambda: None)
    assert 60 <= clock.now <= 61, "one a second, after a burst of two seconds"


def test_tokens_a_minute_are_kept() -> None:
    pacer, clock = paced(tokens_per_minute=6000)
    for _ in range(12):
        pacer.call(lambda: None, tokens=1000)
    assert 100 <= clock.now <= 110


def test_the_pace_recovers_with_good_replies() -> None:
    pacer, _ = paced(concurrency=4)
    pacer.call(failing(2, retry_after=0.1))
    slow = pacer.limit
    for _ in range(30):
        pacer.call(lambda: None)
    assert slow < 4
    assert pacer.limit == 4


def test_a_wish_to_wait_no_time_is_answered_with_longer_and_longer_pauses() -> None:
    pacer, clock = paced(retries=0, concurrency=8)
    asked: list[float] = []

    def work() -> None:
        asked.append(clock.now)
        raise EndpointBusy("not now", 0.0)

    with pytest.raises(CallFailed):
        pacer.call(work)
    assert len([at for at in asked if at < 10]) <= 7, "a quarter of a second, doubled each time"
    assert 900 <= clock.now <= 1100


def test_an_overload_without_a_time_makes_everybody_wait() -> None:
    pacer, clock = paced(retries=3, concurrency=8)
    assert pacer.call(failing(2, overloaded=True)) == "done"
    assert clock.slept[0] < clock.slept[1]
    assert pacer.limit < 8


def test_calls_in_flight_at_an_overload_count_it_once() -> None:
    pacer, clock = paced(retries=3, concurrency=8)
    for _ in range(5):
        pacer._slow_down(EndpointBusy("not now", 0.0), 0)
    assert pacer.limit == 4
    clock.now += 1.0
    pacer._slow_down(EndpointBusy("not now", 0.0), 0)
    assert pacer.limit == 2


def test_two_pacers_wait_alike() -> None:
    slept = []
    for _ in range(2):
        pacer, clock = paced(retries=3)
        pacer.call(failing(3, overloaded=True))
        slept.append(clock.slept)
    assert slept[0] == slept[1]
