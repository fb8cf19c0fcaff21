"""Work on the disk whose process is killed at one of its steps: what it makes, opens for writing, renames or deletes.

python -m tests.killing MODULE:FUNCTION N FOLDER COPIES [FOLDER COPIES ...]

The function is given a copy of the folder, in COPIES/whole, and does its work there. In further copies its process is
killed after the first N renamings of a folder, and at N steps spread over all. Prints the names of these as JSON, a
list for each folder. What the whole work loaded late is loaded once for all that are killed: their processes are
forked from this one.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from leanrag_core.indexing.extraction.english import english_pipeline

_STEPS = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.truncate")
# Packages that take long to load and start no thread by that.
_LOADED_LATE = frozenset(
    ["chromadb", "leanrag_core", "onnxruntime", "openai", "pandas", "scipy", "sklearn", "spacy", "thinc", "tokenizers"]
)


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
    """Return copies of the folder in which the work was killed; copies/whole is one in which it was not."""
    return killed_copies_of_each(work, {folder: copies}, n_kills)[folder]


def killed_copies_of_each(work: str, copies_of: Mapping[Path, Path], n_kills: int) -> dict[Path, list[Path]]:
    """Return the same for each of these folders, from one process, since starting it takes longest."""
    arguments = [work, str(n_kills), *(str(path) for pair in copies_of.items() for path in pair)]
    ran = subprocess.run([sys.executable, "-m", "tests.killing", *arguments], capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    return {
        folder: [copies / str(step) for step in steps]
        for (folder, copies), steps in zip(copies_of.items(), json.loads(ran.stdout), strict=True)
    }


def main() -> None:
    """See above."""
    named, n_kills, *folders = sys.argv[1:]
    module, _, name = named.partition(":")
    work = getattr(import_module(module), name)
    paths = [Path(folder) for folder in folders]
    pairs = zip(paths[::2], paths[1::2], strict=True)
    print(json.dumps([killed_in(work, folder, copies, int(n_kills)) for folder, copies in pairs]))


def killed_in(work: Callable[[Path], Any], folder: Path, copies: Path, n_kills: int) -> list[int]:
    """Return the steps at which the work was killed, each in a copy that is named for it."""
    ran = run_apart(work, Path(shutil.copytree(folder, copies / "whole")))
    assert ran is not None
    steps = ran.steps
    load(ran.modules)
    after_moves = [place + 1 for place, step in enumerate(steps) if step == "folder"]
    spread = [place * len(steps) // n_kills for place in range(n_kills)]
    return [
        step
        for step in sorted({*after_moves[:n_kills], *spread})
        if run_apart(work, Path(shutil.copytree(folder, copies / str(step))), step) is None
    ]


if __name__ == "__main__":
    main()
