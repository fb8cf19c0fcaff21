"""A map in this process that others help with."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from leanrag_core.execution import executors
from leanrag_core.execution.executors import HelpedMap, may_have_helpers, opened
from leanrag_core.types.settings import Execution
from tests.execution import work

ROOT = Path(__file__).parents[2]


@pytest.fixture
def helped(monkeypatch: pytest.MonkeyPatch) -> Iterator[HelpedMap]:
    """Let helpers come after the first item, however short the work is."""
    monkeypatch.setattr(executors, "_ALONE_SECONDS", 0.0)
    monkeypatch.setattr(executors, "_WORTH_SECONDS", 0.0)
    made = HelpedMap(2)
    yield made
    made.close()


def test_both_do_the_work_and_results_keep_the_items_order(helped: HelpedMap) -> None:
    for _ in range(2):  # the second time the helper is there already
        results = list(helped(work.long_square, range(120)))
        assert [square for square, _ in results] == [number * number for number in range(120)]
    workers = {worker for _, worker in results}
    assert os.getpid() in workers
    assert len(workers) == 2


def test_an_error_comes_at_the_place_of_its_item_whoever_met_it(helped: HelpedMap) -> None:
    for _ in range(2):
        results = helped(work.broken, [*range(10, 90), 3, 4])
        assert [next(results) for _ in range(80)] == list(range(10, 90))
        with pytest.raises(ZeroDivisionError, match="the third"):
            next(results)


def test_a_helper_that_is_lost_is_done_without(helped: HelpedMap) -> None:
    assert list(helped(work.dies_elsewhere, [(number, os.getpid()) for number in range(60)])) == list(range(60))
    assert helped.helpers == 0
    assert list(helped(work.squared, range(9))) == [number * number for number in range(9)]


def test_short_work_is_done_alone() -> None:
    made = HelpedMap(2)
    assert {worker for _, worker in made(work.long_square, range(20))} == {os.getpid()}


def test_nobody_helps_one_worker_nor_a_program_that_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    assert HelpedMap(1).helpers == 0
    monkeypatch.setattr(executors.os, "cpu_count", lambda: 64)
    assert HelpedMap().helpers == 3
    assert not may_have_helpers()
    with opened(Execution()) as executor:
        assert isinstance(executor.reading, HelpedMap)
        assert executor.reading.helpers == 0


def test_the_command_line_and_its_jobs_may_have_helpers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, sys\natexit.register(lambda: print('main', sys.modules['__main__'].__spec__.name))\n"
    )
    command = [sys.executable, "-m", "leanrag_core", "--help"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    name = done.stdout.splitlines()[-1].removeprefix("main ")
    main = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    main.__spec__ = importlib.util.find_spec(name)
    assert may_have_helpers()
    main.__spec__ = None
    assert not may_have_helpers()  # typed in, or under a debugger
    main.__file__ = str(tmp_path / "leanrag")
    assert not may_have_helpers()  # somebody's own program
    main.__file__ = str(Path(sys.executable).with_name("leanrag"))
    assert may_have_helpers()
