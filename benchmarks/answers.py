"""Storing the answers of models: on the disk before they count, by so many calls in flight at a time."""

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

from leanrag_core.storage import calls
from leanrag_core.storage.calls import CallStore
from leanrag_core.types.calls import CallRecord

TITLE = "Answers stored a second by the calls in flight, on the disk (FULL) and handed to the system (NORMAL)"
SIZES = (1, 8, 32)

_ANSWERS = 1000
_TEXT = "A relation between two entities, as a model writes it. " * 55  # 3 kB
_NORMAL = 1


def measure(size: int) -> dict[str, float | int | str]:
    """Return answers a second with `size` threads: stored, without the wait for the disk, and with the lock at each."""
    full = _rate(size, lambda store, key: store.put(key, CallRecord(text=_TEXT)))
    with mock.patch.object(calls, "_FULL", _NORMAL):
        normal = _rate(size, lambda store, key: store.put(key, CallRecord(text=_TEXT)))
    return {
        "answers": _ANSWERS,
        "full_a_second": round(full),
        "normal_a_second": round(normal),
        "with_lock_a_second": round(_rate(size, _locked)),
    }


def _locked(store: CallStore, key: str) -> None:
    with store.locked(key):
        store.get(key)
        store.put(key, CallRecord(text=_TEXT))


def _rate(threads: int, store_one: Callable[[CallStore, str], None]) -> float:
    with tempfile.TemporaryDirectory(prefix="leanrag-answers-") as folder:
        store = CallStore(Path(folder) / "calls")
        store.put("opened", CallRecord(text=_TEXT))
        started = time.perf_counter()
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda number: store_one(store, f"{number:064x}"), range(_ANSWERS)))
        seconds = time.perf_counter() - started
        if len(store) != _ANSWERS + 1:
            raise RuntimeError(f"{len(store)} answers are stored, not {_ANSWERS + 1}")
        store.close()
    return _ANSWERS / seconds
