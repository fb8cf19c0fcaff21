"""A process that has loaded what others need, and forks one of them for each line of JSON that it reads."""

import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]


class ForkingProcess:
    """`python -m MODULE`, started when it is first asked. It answers each line with a line, and ends when its input
    ends; its forks go on. For several threads."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()  # guards the field above

    def fork(self, wanted: Mapping[str, Any]) -> int:
        """Return the id of a new process. wanted: what the module makes of it, as JSON values."""
        return int(self.answer(wanted))

    def answer(self, wanted: Mapping[str, Any]) -> str:
        """Return what it answers to these JSON values."""
        with self._lock:
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", self._module],
                    cwd=PROJECT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(wanted) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
            if not line:
                ended, self._process = self._process, None
                raise AssertionError(f"{self._module} ended with {ended.wait()}; its messages are on stderr")
            return line

    def close(self) -> None:
        """End the process, which may take a while on a busy machine."""
        if self._process is not None:
            self._process.communicate(timeout=60)
