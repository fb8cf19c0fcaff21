"""Work on the disk whose process is killed at one of its steps: what it makes, opens for writing, renames or deletes.

python -m tests.killing MODULE:FUNCTION FOLDER COPIES N

The function is given a copy of the folder, in COPIES/whole, and does its work there. In further copies its process is
killed after the first N renamings of a folder, and at N steps spread over all. Prints the names of these as JSON.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

_STEPS = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.truncate")


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


def run_apart(work: Callable[[Path], Any], folder: Path, kill_at: int | None = None) -> list[str] | None:
    """Do the work in a process of its own; return its steps, None when it was killed."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            steps = steps_listed(folder, kill_at)
            work(folder)
            with open(writer, "w", encoding="ascii") as told:
                json.dump(steps, told)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writer)
    with open(reader, encoding="ascii") as told:
        listed = told.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code not in (0, -signal.SIGKILL):
        raise SystemExit(f"the work failed by itself in {folder}")
    return json.loads(listed) if code == 0 else None


def killed_copies(work: str, folder: Path, copies: Path, n_kills: int) -> list[Path]:
    """Return copies of the folder in which the work was killed; copies/whole is one in which it was not."""
    arguments = [work, str(folder), str(copies), str(n_kills)]
    ran = subprocess.run([sys.executable, "-m", "tests.killing", *arguments], capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    return [copies / str(step) for step in json.loads(ran.stdout)]


def main() -> None:
    """See above."""
    named, folder, copies, n_kills = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
    module, _, name = named.partition(":")
    work = getattr(import_module(module), name)
    steps = run_apart(work, Path(shutil.copytree(folder, copies / "whole")))
    assert steps is not None
    after_moves = [place + 1 for place, step in enumerate(steps) if step == "folder"]
    spread = [place * len(steps) // n_kills for place in range(n_kills)]
    killed = []
    for step in sorted({*after_moves[:n_kills], *spread}):
        if run_apart(work, Path(shutil.copytree(folder, copies / str(step))), step) is None:
            killed.append(step)
    print(json.dumps(killed))


if __name__ == "__main__":
    main()
