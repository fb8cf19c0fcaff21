import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from leanrag_core.errors import ModelMismatch, WorkersLost
from leanrag_core.execution.executors import ProcessMap, ThreadMap, opened
from leanrag_core.types.settings import Execution
from tests.execution import work

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessMap]:
    executor = ProcessMap(2)
    yield executor
    executor.close()


def test_results_keep_the_items_order_though_later_items_end_first(processes: ProcessMap) -> None:
    expected = [number * number for number in range(9)]
    assert list(processes(work.slow_square, range(9))) == expected
    assert list(ThreadMap(3)(work.slow_square, range(9))) == expected


def test_an_error_comes_at_the_place_of_its_item(processes: ProcessMap) -> None:
    results = processes(work.broken, range(6))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ZeroDivisionError, match="the third"):
        next(results)
    assert list(processes(work.squared, [5])) == [25]


def test_work_goes_to_other_processes(processes: ProcessMap) -> None:
    import os

    assert os.getpid() not in set(processes(work.worker_of, range(4)))


def test_a_lost_process_costs_no_result(processes: ProcessMap, tmp_path: Path) -> None:
    marks = [str(tmp_path / f"mark-{number}") for number in range(2)]
    names = list(processes(work.dies_once, [*marks, *marks]))
    assert names == ["mark-0", "mark-1", "mark-0", "mark-1"]


def test_two_callers_that_lose_the_same_pool_both_get_their_results(processes: ProcessMap, tmp_path: Path) -> None:
    results: dict[str, list[str]] = {}

    def call(name: str) -> None:
        mark = str(tmp_path / name)
        results[name] = list(processes(work.dies_once, [mark, mark]))

    threads = [threading.Thread(target=call, args=(name,)) for name in ("left", "right")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == {"left": ["left", "left"], "right": ["right", "right"]}


@pytest.mark.slow
def test_a_batch_that_ends_every_process_ends_the_work_with_what_to_do() -> None:
    executor = ProcessMap(1)
    with pytest.raises(WorkersLost, match=r"out of memory, so take fewer workers; finished batches are kept"):
        list(executor(work.dies, [1]))
    executor.close()


@pytest.mark.slow
def test_worker_processes_end_with_a_program_that_was_killed() -> None:
    code = (
        "import time\n"
        "from leanrag_core.execution.executors import ProcessMap\n"
        "from tests.execution import work\n"
        "if __name__ == '__main__':\n"
        "    print(*set(ProcessMap(2)(work.worker_of, range(8))), flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        workers = [psutil.Process(int(pid)) for pid in program.stdout.readline().split()]
        assert workers
        program.kill()
        _, alive = psutil.wait_procs(workers, timeout=20)
        assert [worker for worker in alive if worker.status() != psutil.STATUS_ZOMBIE] == []


def test_a_pool_that_another_caller_has_shut_down_is_left_for_the_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    mapped = ProcessMap(1)
    assert list(mapped(work.squared, [1])) == [1]
    former = mapped._running()
    running = mapped._running
    given = iter([former])  # it was the pool of all callers a moment ago
    mapped.close()
    monkeypatch.setattr(mapped, "_running", lambda broken=None: next(given, None) or running(broken))
    assert list(mapped(work.squared, [3])) == [9]
    mapped.close()


def test_a_worker_with_another_model_is_refused() -> None:
    from leanrag_core.models.embed_task import EmbedTask

    with pytest.raises(ModelMismatch, match=r"install the same requirements.txt"):
        EmbedTask("another model", "1.0")(["text"])


def test_the_choice_decides_where_work_goes() -> None:
    with opened(Execution("threads", 2)) as here:
        assert not here.apart
        assert list(here.apply(work.squared, [1, 2])) == [1, 4]
    with opened(Execution("processes", 1)) as apart:
        assert apart.apart
        assert list(apart.apply(work.squared, [1, 2])) == [1, 4]
