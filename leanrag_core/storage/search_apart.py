"""Writing a search index in a process that has no secrets, and cleaning up when writing fails.

Chroma's files contain whatever was in the unused memory of the process that wrote them. A process whose environment
holds secrets therefore lets another process write them, which never had any.
"""

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from leanrag_core.errors import LeanRAGError, SearchIndexFailed, StorageFailed
from leanrag_core.files.atomic import refused_by_the_disk, storage_failed
from leanrag_core.messages.message import message
from leanrag_core.storage.search_connection import SearchPlace
from leanrag_core.system.environment import PACKAGES, without_secrets

_WRITER = "leanrag_core.storage.search_writer"
_DISK_FULL = ("disk is full", "No space left on device")  # as SQLite and Chroma say it
_DISK_REFUSED = 3  # exit code of the writer


def write_search_index_apart(place: SearchPlace, report: Callable[[int, int], None], *, recall: float) -> None:
    """write_search_index() of the index in place.index, in a process without this one's secrets.

    The process ends with this one: what report() raises ends it, and so does a closed pipe.
    """
    environment = without_secrets()
    paths = (str(PACKAGES), environment.get("PYTHONPATH", ""))
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    command = [sys.executable, "-m", _WRITER, str(place.index), str(place.folder), str(recall)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        reason = ""
        try:
            for line in writer.stdout:
                values = json.loads(line)
                if "error" in values:
                    reason = values["error"]
                else:
                    report(values["done"], values["total"])
        except BaseException:
            writer.kill()
            raise
    if writer.returncode == 0:
        return
    if not reason:
        raise SearchIndexFailed("search.writer_ended", code=writer.returncode)
    raise (StorageFailed if writer.returncode == _DISK_REFUSED else SearchIndexFailed)("search.writer", reason=reason)


def tell(**values: object) -> None:
    """One line for the process that started the writer."""
    print(json.dumps(values), flush=True)


def exit_code_of(error: LeanRAGError) -> int:
    """Return the exit code of the writer, so that a full disk can be distinguished from another failure; prints the
    error."""
    tell(error=str(error))
    return _DISK_REFUSED if isinstance(error, StorageFailed) else 1


@contextmanager
def written_or_nothing(folder: Path) -> Iterator[None]:
    """The search index in the folder is written in the block, or the folder is deleted: half of one would be searched.

    Raises StorageFailed when the disk takes no more, SearchIndexFailed for every other error of Chroma.
    """
    if folder.is_symlink():
        raise SearchIndexFailed("search.link", folder=str(folder))
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield
    except BaseException as error:
        by_chroma = isinstance(error, SearchIndexFailed) or not isinstance(error, LeanRAGError)
        refused = _disk_error(error, folder.parent) if by_chroma and isinstance(error, Exception) else None
        shutil.rmtree(folder, ignore_errors=True)  # after the look at the disk, since it makes room
        if refused is not None:
            raise storage_failed(message("what.search_index", folder=str(folder.parent)), refused) from error
        if isinstance(error, LeanRAGError) or not isinstance(error, Exception):
            raise
        raise SearchIndexFailed("search.not_written", folder=str(folder.parent), reason=str(error)) from error


def _disk_error(error: BaseException, folder: Path) -> OSError | None:
    """Return the error of the disk that caused this one, if there is one; Chroma and SQLite put it in words of their
    own."""
    if isinstance(error, OSError):
        return error
    if any(words in str(error) for words in _DISK_FULL):
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return refused_by_the_disk(folder)
