"""The queue of jobs: so many work at one time, the oldest first."""

import time
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from leanrag_core.files import private
from leanrag_core.jobs.events import is_running

POLL_SECONDS = 0.2
_WAITING = "waiting"  # a file of a job that waits for a slot
_SLOTS = 2  # jobs at work at one time


class Slot:
    """The place of one job among those at work."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: FileLock | None = None

    @property
    def acquired(self) -> bool:
        """Whether the job may work."""
        return self._lock is not None

    def wait(self) -> bool:
        """Wait until the job has a place; returns False when it was cancelled in the meantime."""
        store = self._folder.parent
        locks = [FileLock(str(store / f".slot-{number}"), mode=private.FILE) for number in range(_SLOTS)]
        waiting = self._folder / _WAITING
        waiting.touch(mode=private.FILE)
        try:
            while not (self._folder / "cancel").exists():
                for lock in locks if _is_next(self._folder) else ():
                    with suppress(Timeout):
                        lock.acquire(blocking=False)
                        self._lock = lock
                        return True
                time.sleep(POLL_SECONDS)
            return False
        finally:
            waiting.unlink(missing_ok=True)

    def release(self) -> None:
        """Release the place for another job."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def _is_next(folder: Path) -> bool:
    """Return whether no job that was made earlier still waits. Ids begin with the time."""
    earlier = (path.parent for path in folder.parent.glob(f"*/{_WAITING}") if path.parent.name < folder.name)
    return not any(is_running(other) for other in earlier)
