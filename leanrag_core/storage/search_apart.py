"""Writing a search index by a process without this one's secrets, and what is left and told when writing one fails.

Chroma's files carry whatever lay in the unused memory of the process that wrote them. A process that holds secrets
therefore lets another one write them, which never held any.
"""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leanrag_core.atomic import refused_by_the_disk, storage_failed
from leanrag_core.environment import without_secrets
from leanrag_core.errors import LeanRAGError, SearchIndexFailed, StorageFailed
from leanrag_core.storage.layout import CHROMA

_WRITER = "leanrag_core.storage.search_index"
_FULL = ("disk is full", "No space left on device")
_DISK_REFUSES = 3  # exit code of the writer


def write_search_index_apart(directory: Path) -> None:
    """write_search_index() of the index that stands in the directory, by a process without this one's secrets."""
    clean = without_secrets()
    here = str(Path(__file__).resolve().parents[2])
    clean["PYTHONPATH"] = os.pathsep.join(part for part in (here, clean.get("PYTHONPATH", "")) if part)
    done = subprocess.run(
        [sys.executable, "-m", _WRITER, str(directory)], env=clean, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or [f"its process ended with {done.returncode}"])[-1]
        kind = StorageFailed if done.returncode == _DISK_REFUSES else SearchIndexFailed
        raise kind(said)


def exit_code_of(error: LeanRAGError) -> int:
    """How the writer ends, so that who called it can tell a full disk from another failure. The error is told."""
    print(error, file=sys.stderr)
    return _DISK_REFUSES if isinstance(error, StorageFailed) else 1


@contextmanager
def written_or_nothing(directory: Path) -> Iterator[None]:
    """The search index of the directory is written in the block, or nothing of it stays: half of one would be searched.

    Raises StorageFailed where the disk takes no more, SearchIndexFailed for all else that Chroma says.
    """
    if (directory / CHROMA).is_symlink():
        raise SearchIndexFailed(f"{directory / CHROMA} is a link, and what it points to stays as it is: remove it")
    shutil.rmtree(directory / CHROMA, ignore_errors=True)
    try:
        yield
    except BaseException as error:
        chroma_failed = isinstance(error, SearchIndexFailed) or not isinstance(error, LeanRAGError)
        refused = _refusal(error, directory) if chroma_failed and isinstance(error, Exception) else None
        shutil.rmtree(directory / CHROMA, ignore_errors=True)  # after the look at the disk, since it makes room
        what = f"a search index in {directory.parent}"
        if refused is not None:
            raise storage_failed(what, refused) from error
        if isinstance(error, LeanRAGError) or not isinstance(error, Exception):
            raise
        raise SearchIndexFailed(f"{what} could not be written: {error}") from error


def _refusal(error: BaseException, directory: Path) -> OSError | None:
    """What the disk refused, where that is behind the error; Chroma and SQLite tell it in words of their own."""
    if isinstance(error, OSError):
        return error
    if any(words in str(error) for words in _FULL):
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return refused_by_the_disk(directory)
