"""One holder of a lock works while others wait: threads, processes, and waiters of a process that was killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from leanrag_core.errors import StorageFailed
from leanrag_core.storage import calls, staging
from leanrag_core.storage.calls import CallStore, KeyLocks

KEY = "a" * 64
HOLD = """
import sys, time
from pathlib import Path
from leanrag_core.storage.calls import KeyLocks
with KeyLocks(Path(sys.argv[1])).locked(sys.argv[2]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_no_two_threads_have_a_turn_at_the_same_key(tmp_path: Path) -> None:
    stores = [KeyLocks(tmp_path / "turns"), KeyLocks(tmp_path / "turns")]
    inside, most = [0], [0]
    guard = threading.Lock()

    def work(number: int) -> None:
        with stores[number % 2].locked(KEY):
            with guard:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            time.sleep(0.002)  # so that others come while this one works
            with guard:
                inside[0] -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(40)))
    assert most[0] == 1
    assert list((tmp_path / "turns").iterdir()) == [], "no file of a lock is left"


def test_other_keys_do_not_wait_for_each_other(tmp_path: Path) -> None:
    locks, together = KeyLocks(tmp_path / "turns"), threading.Barrier(4, timeout=20)

    def work(key: str) -> int:
        with locks.locked(key):
            return together.wait()  # all four are inside at once, or this fails

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(work, "abcd")) == [0, 1, 2, 3]


def test_who_fails_lets_the_next_one_try(tmp_path: Path) -> None:
    locks = KeyLocks(tmp_path / "turns")
    with pytest.raises(ZeroDivisionError), locks.locked(KEY):
        raise ZeroDivisionError
    with locks.locked(KEY):
        assert (tmp_path / "turns" / KEY).exists()


def test_a_turn_ends_with_the_process_that_has_it(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "turns"), KEY], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    reached = threading.Event()

    def wait() -> None:
        with KeyLocks(tmp_path / "turns").locked(KEY):
            reached.set()

    waiter = threading.Thread(target=wait)
    waiter.start()
    assert not reached.wait(0.3), "while the other process lives it waits"
    os.kill(child.pid, signal.SIGKILL)
    assert reached.wait(20)
    waiter.join()
    child.wait()
    child.stdout.close()


def test_a_key_that_could_leave_the_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no key"), KeyLocks(tmp_path).locked("../a"):
        pass


def test_no_question_is_asked_whose_answer_could_not_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "_ROOM_BYTES", 1 << 60)
    with pytest.raises(StorageFailed, match="the disk is full"), CallStore(tmp_path / "calls").locked(KEY):
        pytest.fail("the question would be asked")


def test_a_build_that_waits_says_so_and_can_be_stopped(tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    def stop() -> None:
        raise Stopped

    with staging.build_lock(tmp_path / "one", waiting=stop) as waited:
        assert not waited
        with pytest.raises(Stopped), staging.build_lock(tmp_path / "one", waiting=stop):
            pytest.fail("two build at once")
        with staging.build_lock(tmp_path / "two", waiting=stop) as waited:
            assert not waited
    assert list(tmp_path.iterdir()) == []


def test_parts_of_one_index_are_made_at_once_but_not_while_it_is_built(tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    def stop() -> None:
        raise Stopped

    index = tmp_path / "one"
    with staging.part_lock(index, "relation_vectors", waiting=stop) as waited:
        assert not waited
        with staging.part_lock(index, "lexical", waiting=stop) as waited:
            assert not waited
        with staging.part_lock(tmp_path / "two", "relation_vectors", waiting=stop) as waited:
            assert not waited
        with pytest.raises(Stopped), staging.part_lock(index, "relation_vectors", waiting=stop):
            pytest.fail("one part is made twice at once")
        with pytest.raises(Stopped), staging.build_lock(index, waiting=stop):
            pytest.fail("an index is built while a part of it is made")
    with (
        staging.build_lock(index, waiting=stop),
        pytest.raises(Stopped),
        staging.part_lock(index, "lexical", waiting=stop),
    ):
        pytest.fail("a part is made while its index is built")
    assert list(tmp_path.iterdir()) == []


def test_a_part_that_waited_for_the_same_one_says_so(tmp_path: Path) -> None:
    held, waits = threading.Event(), threading.Event()

    def hold() -> None:
        with staging.part_lock(tmp_path / "one", "lexical", waiting=waits.set):
            held.set()
            assert waits.wait(20)

    other = threading.Thread(target=hold)
    other.start()
    assert held.wait(20)
    with staging.part_lock(tmp_path / "one", "lexical", waiting=waits.set) as waited:
        assert waited
    other.join()
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_a_process_left_behind_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / ".building-one.part-lexical.lock").touch()
    with staging.build_lock(tmp_path / "one", waiting=lambda: pytest.fail("it waits for nobody")):
        assert [path.name for path in tmp_path.iterdir()] == [".building-one.lock"]


def test_who_gives_up_waiting_leaves_the_lock_to_whom_it_is(tmp_path: Path) -> None:
    target, lock = tmp_path / "one", tmp_path / ".building-one.lock"
    with staging.build_lock(target, waiting=lambda: None):
        staging.give_up_staging(target)  # as another process would that waits
        assert lock.exists()
        (tmp_path / f".building-one-{os.getpid()}").mkdir()
        staging.give_up_staging(target)
        assert list(tmp_path.iterdir()) == []
