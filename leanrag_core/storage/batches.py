"""The batches that were sent, each in a folder: its record, and what came back.

record.json     what was sent, and under which ids the provider has it
output.jsonl    the provider's lines with replies and errors, once they were fetched

A job that is killed, or a machine that is off, loses none of it: the next build that asks one of its questions waits
for the batch, or reads what came. A record goes when the index that it was sent for is built, or when no provider has
its files any more.
"""

import shutil
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

from filelock import FileLock

from leanrag_core.errors import RecordDamaged
from leanrag_core.files import private
from leanrag_core.files.atomic import write_bytes, writing
from leanrag_core.files.records import from_json, to_json
from leanrag_core.messages.message import message
from leanrag_core.types.batches import SentBatch

_RECORD, _OUTPUT = "record.json", "output.jsonl"
_KEPT_SECONDS = 30 * 86_400.0  # as long as providers keep a batch's files


class BatchStore:
    """Records of sent batches below one folder. Every method that writes raises StorageFailed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _writing(self) -> AbstractContextManager[None]:
        return writing(message("what.batches", folder=str(self.folder)), message("kept.answers"))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the batches for all processes while the block lasts."""
        with self._writing():
            private.make_folder(self.folder)
        with FileLock(str(self.folder / ".lock"), mode=private.FILE):
            yield

    def all(self) -> list[SentBatch]:
        """Return the batches, the oldest first; a record that does not read is left out."""
        batches = []
        for path in sorted(self.folder.glob(f"*/{_RECORD}")):
            try:
                batches.append(from_json(SentBatch, path.read_bytes(), name=_RECORD))
            except (RecordDamaged, OSError):  # of another version, or deleted meanwhile
                continue
        return sorted(batches, key=lambda batch: (batch.at, batch.id))

    def put(self, batch: SentBatch) -> None:
        """Write the batch's record to the disk."""
        folder = self.folder / batch.id
        with self._writing():
            private.make_folder(self.folder)
            private.make_folder(folder)
            write_bytes(folder / _RECORD, to_json(batch), private=True)

    def collect(self, batch: SentBatch, output: bytes) -> None:
        """Write what came back to the disk, then mark the batch as collected."""
        with self._writing():
            write_bytes(self.folder / batch.id / _OUTPUT, output, private=True)
        self.put(replace(batch, collected=True))

    def output(self, batch: SentBatch) -> bytes:
        """Return what came back; nothing before it was collected."""
        try:
            return (self.folder / batch.id / _OUTPUT).read_bytes()
        except OSError:
            return b""

    def delete(self, batch: SentBatch) -> None:
        """Delete the batch's record and what came back."""
        shutil.rmtree(self.folder / batch.id, ignore_errors=True)

    def delete_old(self) -> None:
        """Delete the batches whose files no provider has any more."""
        for batch in self.all():
            if time.time() - batch.at > _KEPT_SECONDS:
                self.delete(batch)
