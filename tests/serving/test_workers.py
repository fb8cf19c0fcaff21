"""Work of requests: so much at one time, none that waits for another one, none that goes on for nobody."""

import asyncio
import socket
import threading
from typing import Any

import pytest

from leanrag_core.errors import Cancelled, InvalidConfig
from leanrag_core.serving.start import VARIABLE, chosen_token, listening_at
from leanrag_core.serving.workers import Look, Workers, while_connected


def test_no_more_work_runs_at_one_time_than_there_are_places() -> None:
    most, running, lock = 0, 0, threading.Lock()
    together = threading.Barrier(2, timeout=20)

    def work(look: Look) -> None:
        nonlocal most, running
        with lock:
            running += 1
            most = max(most, running)
        together.wait()  # passes only where two run at one time
        with lock:
            running -= 1

    async def run() -> None:
        workers = Workers(2)
        await asyncio.gather(*(workers.run(work) for _ in range(6)))

    asyncio.run(run())
    assert most == 2


def test_what_work_returns_and_raises_reaches_who_waits_for_it() -> None:
    async def run() -> None:
        workers = Workers(1)
        assert await workers.run(lambda look: 3) == 3
        with pytest.raises(ZeroDivisionError):
            await workers.run(lambda look: 1 // 0)
        assert await workers.run(lambda look: 4) == 4, "a failure gives its place back"

    asyncio.run(run())


def test_work_that_was_taken_back_ends_at_its_next_look_and_keeps_its_place_until_then() -> None:
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def work(look: Look) -> None:
        begun.set()
        assert go_on.wait(20)
        try:
            look()
        except Cancelled:
            ended.set()
            raise

    async def run() -> None:
        workers = Workers(1)
        first = asyncio.ensure_future(workers.run(work))
        while not begun.is_set():
            await asyncio.sleep(0.01)
        waiting = asyncio.ensure_future(workers.run(lambda look: pytest.fail("it was taken back while it waited")))
        first.cancel()
        await asyncio.sleep(0)
        waiting.cancel()
        second = asyncio.ensure_future(workers.run(lambda look: ended.is_set()))
        await asyncio.sleep(0.05)
        assert not second.done(), "the place is taken until the work has ended"
        go_on.set()
        assert await second

    asyncio.run(run())


def test_a_client_that_leaves_takes_its_work_back() -> None:
    ended = threading.Event()

    def work(look: Look) -> None:
        try:
            while True:
                look()
        except Cancelled:
            ended.set()
            raise

    async def run() -> None:
        messages: list[dict[str, Any]] = [{"type": "http.request"}, {"type": "http.disconnect"}]

        async def receive() -> dict[str, Any]:
            await asyncio.sleep(0.02)
            return messages.pop(0)

        with pytest.raises(Cancelled):
            await while_connected(receive, Workers().run(work))
        assert await asyncio.to_thread(ended.wait, 20)

    asyncio.run(run())


def test_small_pieces_of_an_answer_are_sent_at_once() -> None:
    with listening_at(0) as listening, socket.create_connection(listening.getsockname()):

        async def accepted() -> int:
            done: asyncio.Future[int] = asyncio.get_running_loop().create_future()

            def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                done.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
                writer.close()

            async with await asyncio.start_server(connected, sock=listening):
                return await asyncio.wait_for(done, 20)

        assert asyncio.run(accepted())


def test_the_token_is_made_unless_the_environment_has_one_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    made = chosen_token()
    assert made.made
    assert len(made.text) >= 40
    assert chosen_token().text != made.text
    monkeypatch.setenv(VARIABLE, "sixteen-letters!")
    assert (chosen_token().text, chosen_token().made) == ("sixteen-letters!", False)
    for unfit in ("short", "with a blank in it", "not-ascii-ü-not-ascii"):
        monkeypatch.setenv(VARIABLE, unfit)
        with pytest.raises(InvalidConfig) as caught:
            chosen_token()
        assert unfit not in str(caught.value)
