"""What the stores of experiments and of sweeps share: a folder for each record, those of the program beside it."""

import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from filelock import FileLock, Timeout

from leanrag_core import private
from leanrag_core.atomic import writing
from leanrag_core.errors import InvalidConfig, LeanRAGError
from leanrag_core.messages.message import Message
from leanrag_core.types.summary import Damaged

SPEC = "spec.json"  # a folder without it holds nothing
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")


class Summary(Protocol):
    """A row in a list of records. changed: when, ISO 8601."""

    @property
    def is_shipped(self) -> bool: ...

    @property
    def changed(self) -> str: ...


S = TypeVar("S", bound=Summary)


class RecordFolders(ABC, Generic[S]):
    """Lists, locks and deletes records. shipped: the folder of those that come with the program."""

    def __init__(self, root: Path, shipped: Path) -> None:
        self.root, self._shipped = root, shipped
        private.tighten_file(root)

    @abstractmethod
    def summary(self, id_: str) -> S:
        """The record's row in a list."""

    @abstractmethod
    def not_found(self, id_: str) -> LeanRAGError:
        """The error for an id that is not in the store."""

    @abstractmethod
    def shipped_stays(self, id_: str) -> InvalidConfig:
        """The error for a change of a record of the program."""

    @abstractmethod
    def runs_elsewhere(self, id_: str) -> InvalidConfig:
        """The error for a record that another process writes to."""

    @abstractmethod
    def what(self, title: str) -> Message:
        """The record in messages about files."""

    def all(self) -> tuple[S, ...]:
        """The records that read: the person's own, the last changed first, then those of the program."""
        summaries = [each for each in map(self._summary_or_damage, self._ids()) if not isinstance(each, Damaged)]
        own = sorted((each for each in summaries if not each.is_shipped), key=lambda each: each.changed, reverse=True)
        return (*own, *(each for each in summaries if each.is_shipped))

    def damaged(self) -> tuple[Damaged, ...]:
        """The records that do not read, and why."""
        return tuple(each for each in map(self._summary_or_damage, self._ids()) if isinstance(each, Damaged))

    def folder(self, id_: str) -> Path:
        """Where the record lies: the person's own before that of the program. Raises not_found()."""
        if _ID.fullmatch(id_):
            for root in (self.root, self._shipped):
                if (root / id_ / SPEC).is_file():
                    return root / id_
        raise self.not_found(id_)

    def is_there(self, id_: str) -> bool:
        """Whether the store, or the program, has a record of that id."""
        return bool(_ID.fullmatch(id_)) and any((root / id_ / SPEC).is_file() for root in (self.root, self._shipped))

    def is_shipped(self, id_: str) -> bool:
        """Whether the record is one of the program, without a copy of the person's own. Raises not_found()."""
        return self.folder(id_).parent == self._shipped

    def delete(self, id_: str) -> None:
        """The record is gone, a damaged one too. Raises not_found(), InvalidConfig for one of the program and for one
        that another process runs, StorageFailed."""
        with self.locked(id_) as folder, writing(self.what(id_)):
            shutil.rmtree(folder)

    @contextmanager
    def locked(self, id_: str) -> Iterator[Path]:
        """The record's folder, which no other process writes to while the block lasts. Raises as delete() does."""
        folder = self.folder(id_)
        if folder.parent == self._shipped:
            raise self.shipped_stays(id_)
        path = self.root / f".{id_}.lock"
        lock = FileLock(path, mode=private.FILE)
        try:
            lock.acquire(blocking=False)
        except Timeout as error:
            raise self.runs_elsewhere(id_) from error
        try:
            yield folder
        finally:
            path.unlink(missing_ok=True)
            lock.release()

    def _ids(self) -> list[str]:
        folders = [path.parent for root in (self.root, self._shipped) for path in root.glob(f"*/{SPEC}")]
        return sorted({folder.name for folder in folders if _ID.fullmatch(folder.name)})

    def _summary_or_damage(self, id_: str) -> S | Damaged:
        try:
            return self.summary(id_)
        except LeanRAGError as error:
            return Damaged(id_, str(error))
