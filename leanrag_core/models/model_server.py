"""One server of llama.cpp for each model file, shared by all processes of a workbench through a folder of its home.

A folder of a served file holds:

users/      a lock for each process that uses the server; the server ends when nobody holds one any more, so a kill of
            the app leaves nothing behind, and a build that outlives the app keeps its server
alive       held by the server's process as long as it lives
starting    held by whoever starts it: the others wait
server.json address and key, for their owner alone; the server ends when it is deleted
log.txt     what llama.cpp prints, without prompts

The key goes to the server by its standard input: no process list shows it.
"""

import json
import os
import secrets
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from filelock import FileLock, Timeout

from leanrag_core.errors import ModelUnavailable, RecordDamaged
from leanrag_core.files import private
from leanrag_core.files.records import from_json
from leanrag_core.models.gguf import ModelFile
from leanrag_core.system.environment import PACKAGES, without_secrets

PACKAGE = "xllamacpp"
INSTALL = "pip install -r requirements-local.txt"
USERS, ALIVE, RECORD = "users", "alive", "server.json"
_LOG = "log.txt"
_POLL_SECONDS = 0.05
_LOAD_SECONDS = 900.0  # of a large file from a slow disk
_SHARE = 0.9  # of the machine's memory that a model may take
_BESIDE_BYTES = 400_000_000  # that llama.cpp takes besides weights and windows
_WINDOW, _LEAST_WINDOW = 8192, 2048  # tokens: enough for every prompt of this program; the least that is of use
_WINDOWS_SHARE = 0.25  # of the machine's memory for the windows of all slots


@dataclass(frozen=True)
class Plan:
    """How a file is served on this machine. window: tokens of each slot. n_bytes: of memory that it takes."""

    window: int
    n_slots: int
    n_threads: int
    n_bytes: int


@dataclass(frozen=True)
class Server:
    """A server that answers. address: up to /v1."""

    address: str
    key: str
    pid: int


@dataclass(frozen=True)
class Order:
    """What the server's process is told by its standard input."""

    path: str
    name: str
    folder: str
    key: str
    plan: Plan


def plan_for(file: ModelFile, *, n_cores: int | None = None, total_bytes: int | None = None) -> Plan:
    """Choose window, slots and threads for a file on this machine, or on one of so many cores and so much memory.

    It depends on nothing that changes from one hour to the next, so a question is put the same way tomorrow. Raises
    ModelUnavailable where the file is too large for the machine.
    """
    import psutil

    n_cores = n_cores or psutil.cpu_count(logical=False) or os.cpu_count() or 1
    total = total_bytes or psutil.virtual_memory().total
    most = int(total * _SHARE) - file.n_bytes - _BESIDE_BYTES
    window = min(_WINDOW, file.context_tokens or _WINDOW)
    n_slots = 4 if n_cores >= 8 else 2 if n_cores > 1 else 1
    room = min(most, int(total * _WINDOWS_SHARE))
    while n_slots > 1 and n_slots * window * file.kv_bytes > room:
        n_slots -= 1
    while window > _LEAST_WINDOW and window * file.kv_bytes > room:
        window = max(_LEAST_WINDOW, window // 2)
    needed = file.n_bytes + _BESIDE_BYTES + n_slots * window * file.kv_bytes
    if most <= 0 or needed > total * _SHARE:
        raise ModelUnavailable(
            "model_file.too_big", name=file.name, needed=f"{needed / 1e9:.1f}", total=f"{total / 1e9:.1f}"
        )
    # llama.cpp's threads wait for each other in a loop: with one more than there are free cores, each token takes ten
    # times as long. One core is the app's.
    return Plan(window, n_slots, max(1, n_cores - 1), needed)


def is_installed() -> bool:
    """Return whether the package that serves model files is there."""
    return find_spec(PACKAGE) is not None


class ModelServers:
    """Starts, finds and stops the servers of model files. root: the folder of all of them. For several threads."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()  # guards the field below
        self._held: dict[str, FileLock] = {}

    def running(self, file: ModelFile) -> Server | None:
        """Return the server of the file, None where none runs."""
        folder = self._folder(file)
        with suppress(OSError, RecordDamaged):
            record = from_json(Server, (folder / RECORD).read_bytes(), name=RECORD)
            if is_held(folder / ALIVE):
                return record
        return None

    def ensure(self, file: ModelFile) -> Server:
        """Return the server of the file, which this process uses from now on; start it where none runs.

        Raises ModelUnavailable where the package is missing, the file is too large, or the server does not start.
        """
        self._use(file)
        known = self.running(file)
        if known is not None:
            return known
        plan = plan_for(file)
        if not is_installed():
            raise ModelUnavailable("model_file.no_package", package=PACKAGE, command=INSTALL)
        with FileLock(str(self._folder(file) / "starting"), mode=private.FILE):
            return self.running(file) or self._start(file, plan)

    def stop(self, file: ModelFile) -> None:
        """End the server of the file, whoever uses it; one that is used later is started again."""
        (self._folder(file) / RECORD).unlink(missing_ok=True)

    def close(self) -> None:
        """Use no server any more: those that nobody else uses end."""
        with self._lock:
            while self._held:
                self._held.popitem()[1].release()

    def _folder(self, file: ModelFile) -> Path:
        return self._root / file.digest

    def _use(self, file: ModelFile) -> None:
        users = self._folder(file) / USERS
        with self._lock:
            if file.digest in self._held:
                return
            private.make_folder(self._root)
            private.make_folder(users.parent)
            private.make_folder(users)
            while True:
                path = users / f"{os.getpid()}-{secrets.token_hex(4)}.lock"
                lock = FileLock(str(path), mode=private.FILE, thread_local=False)
                lock.acquire()
                if path.exists():  # a server deletes files that nobody holds, which this one was for a moment
                    break
                lock.release()
            self._held[file.digest] = lock

    def _start(self, file: ModelFile, plan: Plan) -> Server:
        folder = self._folder(file)
        (folder / RECORD).unlink(missing_ok=True)
        deadline = time.monotonic() + _LOAD_SECONDS
        while is_held(folder / ALIVE) and time.monotonic() < deadline:  # the one before is about to end
            time.sleep(_POLL_SECONDS)
        order = Order(str(file.path), file.name, str(folder), secrets.token_urlsafe(24), plan)
        with open(folder / _LOG, "wb", opener=private.opener) as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "leanrag_core.models.model_server_process"],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl+C ends the command, which ends the server in its own way
                env={**without_secrets(), "PYTHONPATH": str(PACKAGES)},
            )
        # Nobody waits for its end otherwise, and it would stay in the list of processes until ours ends.
        threading.Thread(target=process.wait, daemon=True, name=f"end of {file.name}").start()
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin as pipe:  # it ended at once: its log says why
            pipe.write(json.dumps(asdict(order)).encode())
        while process.poll() is None and time.monotonic() < deadline:
            server = self.running(file)
            if server is not None and server.pid == process.pid:
                return server
            time.sleep(_POLL_SECONDS)
        process.kill()
        raise ModelUnavailable("model_file.not_served", name=file.name, reason=_last_error(folder / _LOG, file))


def is_held(path: Path) -> bool:
    """Return whether a process holds the lock at that path."""
    if not path.exists():
        return False
    lock = FileLock(str(path), mode=private.FILE)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return True
    lock.release()
    return False


def _last_error(log: Path, file: ModelFile) -> str:
    """Return the last line of the log that tells of an error, with the file's name in the place of its path."""
    lines = log.read_text(encoding="utf-8", errors="replace").replace(str(file.path), file.name).splitlines()
    error_lines = [line.strip() for line in lines if " E " in line or "rror" in line] or lines or [""]
    return error_lines[-1][-300:]
