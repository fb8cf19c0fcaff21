"""Work on the disk whose process is killed at one of its steps: what it makes, opens for writing, renames or deletes.

`python -m tests.killing` is the process whose forks are killed: one for all tests of a process, since loading what they
need takes longer than their work. It has no threads. It reads a line of JSON for each call of a function and answers
with what that returns.
"""

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from leanrag_core.indexing.extraction.english import english_pipeline
from tests.forking import ForkingProcess

_STEPS = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.truncate")
# Packages that take long to load and start no thread by that.
_LOADED_LATE = frozenset(
    ["chromadb", "leanrag_core", "onnxruntime", "openai", "pandas", "scipy", "sklearn", "spacy", "thinc", "tokenizers"]
)

_forking = ForkingProcess("tests.killing")
close = _forking.close


def call_where_forks_are_killed(function: str, *arguments: Any) -> Any:
    """Return what MODULE:FUNCTION returns in that process. arguments: JSON values."""
    wanted = {"function": function, "arguments": arguments, "cwd": os.getcwd(), "environment": dict(os.environ)}
    return json.loads(_forking.answer(wanted))


@dataclass(frozen=True)
class Ran:
    """Work that ended by itself: its steps, and the modules that were there at its end."""

    steps: tuple[str, ...]
    modules: tuple[str, ...]


def steps_listed(folder: Path, kill_at: int | None) -> list[str]:
    """List the steps of this process from now on, which ends before the step of that number."""
    steps: list[str] = []

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        writes = (
            event == "open" and str(arguments[0]).startswith(str(folder)) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        )
        if writes or event in _STEPS:
            if len(steps) == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            moves_folder = event == "os.rename" and Path(os.fsdecode(arguments[0])).is_dir()
            steps.append("folder" if moves_folder else event)

    sys.addaudithook(hook)
    return steps


def run_apart(work: Callable[[Path], Any], folder: Path, kill_at: int | None = None) -> Ran | None:
    """Do the work in a process of its own; return what it did, None when it was killed."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            steps = steps_listed(folder, kill_at)
            work(folder)
            with open(writer, "w", encoding="ascii") as told:
                json.dump((steps, sorted(sys.modules)), told)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writer)
    with open(reader, encoding="ascii") as told:
        listed = told.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code not in (0, -signal.SIGKILL):
        raise SystemExit(f"the work failed by itself in {folder}")
    return Ran(*map(tuple, json.loads(listed))) if code == 0 else None


def load(modules: Sequence[str]) -> None:
    """Load those of the modules that take long, and with spaCy the model of English."""
    for name in modules:
        if name.partition(".")[0] in _LOADED_LATE:
            import_module(name)
    if "spacy" in modules:
        english_pipeline()


def killed_copies(work: str, folder: Path, copies: Path, n_kills: int) -> list[Path]:
    """Return copies of the folder in which MODULE:FUNCTION, which is given the copy, was killed at its work: after the
    first N renamings of a folder, and at N steps spread over all. copies/whole is one in which it was not."""
    steps = call_where_forks_are_killed("tests.killing:killed_in", work, str(folder), str(copies), n_kills)
    return [copies / str(step) for step in steps]


def killed_in(work_name: str, folder: str, copies: str, n_kills: int) -> list[int]:
    """Return the steps at which the work was killed, each in a copy that is named for it. What the whole work loaded
    late is loaded once for all that are killed."""
    work = _named(work_name)
    ran = run_apart(work, Path(shutil.copytree(folder, Path(copies) / "whole")))
    assert ran is not None
    steps = ran.steps
    load(ran.modules)
    after_moves = [place + 1 for place, step in enumerate(steps) if step == "folder"]
    spread = [place * len(steps) // n_kills for place in range(n_kills)]
    return [
        step
        for step in sorted({*after_moves[:n_kills], *spread})
        if run_apart(work, Path(shutil.copytree(folder, Path(copies) / str(step))), step) is None
    ]


def _named(function: str) -> Callable[..., Any]:
    module, _, name = function.partition(":")
    called: Callable[..., Any] = getattr(import_module(module), name)
    return called


def main() -> None:
    """See above."""
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # what work prints is no answer
        # By readline: a fork must not have read what is meant for its parent.
        while line := sys.stdin.readline():
            wanted = json.loads(line)
            os.environ.clear()
            os.environ.update(wanted["environment"])
            os.chdir(wanted["cwd"])
            print(json.dumps(_named(wanted["function"])(*wanted["arguments"])), file=answers, flush=True)


if __name__ == "__main__":
    main()
