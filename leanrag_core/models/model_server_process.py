"""The process that serves a model file by llama.cpp, and ends when nobody uses it: see model_server.py.

python -m leanrag_core.models.model_server_process < ORDER
"""

import os
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from filelock import FileLock, Timeout

from leanrag_core.files import private
from leanrag_core.files.atomic import write_json
from leanrag_core.files.records import from_json
from leanrag_core.models.model_server import ALIVE, RECORD, USERS, Order, Server

_POLL_SECONDS = 0.5
_IDLE_SECONDS = 900  # after which llama.cpp drops the weights until the next call


def serve(order: Order) -> None:
    """Load the file, write the record, and return when nobody uses the server or its record is gone."""
    import xllamacpp

    folder, plan = Path(order.folder), order.plan
    parameters = xllamacpp.CommonParams()
    parameters.model.path = order.path
    parameters.model_alias = {order.name}
    parameters.n_ctx = plan.window * plan.n_slots
    parameters.n_parallel = plan.n_slots
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = plan.n_threads
    parameters.fit_params = False  # the plan has looked at the machine
    parameters.cache_ram_mib = 0  # 8 GB of old prompts otherwise
    parameters.sleep_idle_seconds = _IDLE_SECONDS
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [order.key]
    parameters.ui = False
    parameters.verbosity = 1  # errors: prompts stay out of the log
    server = xllamacpp.Server(parameters)
    record = Server(f"{server.listening_address}/v1", order.key, os.getpid())
    write_json(folder / RECORD, asdict(record), private=True)
    while has_users(folder / USERS) and _is_ours(folder / RECORD, record):
        time.sleep(_POLL_SECONDS)


def has_users(folder: Path) -> bool:
    """Return whether a process holds a lock in the folder; locks of processes that are gone are deleted."""
    for path in sorted(folder.glob("*.lock")):
        lock = FileLock(str(path), mode=private.FILE)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            return True
        path.unlink(missing_ok=True)
        lock.release()
    return False


def _is_ours(path: Path, record: Server) -> bool:
    with suppress(OSError):
        return from_json(Server, path.read_bytes(), name=path.name) == record
    return False


def main() -> None:
    """Serve what standard input orders."""
    order = from_json(Order, sys.stdin.buffer.read(), name="order")
    folder = Path(order.folder)
    alive = FileLock(str(folder / ALIVE), mode=private.FILE)
    alive.acquire(timeout=10)
    try:
        serve(order)
    finally:
        with suppress(OSError):
            (folder / RECORD).unlink(missing_ok=True)
    os._exit(0)  # llama.cpp's threads need not be waited for


if __name__ == "__main__":
    main()
