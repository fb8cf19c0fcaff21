"""Documents on their way into a corpus: a file each, or all in one file where they are many; and which corpora get some
at the moment."""

import os
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from leanrag_core.files import private
from leanrag_core.files.atomic import sync_all, write_bytes
from leanrag_core.files.records import to_json
from leanrag_core.storage.corpus_database import StagedDocuments
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.corpus import Document
from leanrag_core.types.summary import DocumentSummary

_ADDING = re.compile(r"\.adding-(?P<corpus>[a-z0-9-]+)\.(?P<token>[0-9a-f]{16})")
_COUNT_SECONDS = 0.5  # between two counts on the disk


@contextmanager
def marked_as_filling(root: Path, corpus_id: str) -> Iterator[Callable[[int], None]]:
    """Mark the corpus as one that gets documents while the block lasts, by a lock that ends with the process; yield a
    function that takes the number of documents so far. A disk that takes no lock leaves the corpus unmarked."""
    token, written = secrets.token_hex(8), 0.0
    mark, count = root / f".adding-{corpus_id}.{token}", root / f".count-{token}"
    lock = FileLock(root / f".locking-{token}", mode=private.FILE)

    def count_so_far(n_documents: int) -> None:
        nonlocal written
        if time.monotonic() - written >= _COUNT_SECONDS:
            written = time.monotonic()
            with suppress(OSError):  # the documents themselves say that a disk is full
                count.write_text(str(n_documents), encoding="ascii")

    with suppress(OSError):
        lock.acquire()
        os.replace(lock.lock_file, mark)  # now that it is locked: whoever can lock a mark deletes it
    try:
        yield count_so_far
    finally:
        for path in (mark, count, Path(lock.lock_file)):
            with suppress(OSError):  # a mark that stays is one of a process that has ended
                path.unlink(missing_ok=True)
        lock.release()


def arriving(root: Path) -> dict[str, int]:
    """Return how many documents were read so far for each corpus below the folder that gets some at the moment, from
    any process."""
    corpora: Counter[str] = Counter()
    for path in root.glob(".adding-*"):
        match = _ADDING.fullmatch(path.name)
        if match is None:
            continue
        count = root / f".count-{match['token']}"
        try:
            with FileLock(path, mode=private.FILE).acquire(blocking=False):
                for stale_path in (path, count):  # of a process that was killed
                    stale_path.unlink(missing_ok=True)
        except Timeout:
            corpora[match["corpus"]] += _number(count)
        except OSError:
            continue
    return dict(corpora)


def counted(documents: Iterable[Document], progress: Callable[[int], None]) -> Iterator[Document]:
    """Yield the documents; progress is called with how many there were so far."""
    for n_documents, document in enumerate(documents, start=1):
        yield document
        progress(n_documents)


def _number(path: Path) -> int:
    """Return the number in the file; 0 while it is not there, or half written."""
    try:
        return int(path.read_bytes() or b"0")
    except (OSError, ValueError):
        return 0


def summarise(document: Document) -> DocumentSummary:
    """Return the document's row in a list."""
    return DocumentSummary(
        id=document.id,
        name=document.name,
        title=document.title,
        media_type=document.media_type,
        language=document.language,
        characters=len(document.text),
        tokens=count_tokens(document.text),
        pages=len(document.pages),
        notes=document.notes,
    )


class Arrivals:
    """Writes documents into a corpus's folder before they are part of the corpus.

    room: up to so many documents have a file each; with one more, all are in one file. rows: of those that have a file
    each. staged: the file of all, None while there is none.
    """

    def __init__(self, folder: Path, *, room: int) -> None:
        self.folder, self.room = folder, room
        self.path = folder / f".adding-{secrets.token_hex(8)}.db"
        self.rows: dict[str, DocumentSummary] = {}
        self.staged: StagedDocuments | None = None

    def name_of(self, document_id: str) -> str:
        """Return the name of a document that was put; "" for any other."""
        if document_id in self.rows:
            return self.rows[document_id].name
        return self.staged.name_of(document_id) if self.staged else ""

    def put(self, document: Document) -> None:
        """Write the document, whose id was not put before."""
        row = summarise(document)  # before the file: it is this file's record
        if self.staged is None and len(self.rows) >= self.room:
            self.stage()
        if self.staged is not None:
            self.staged.put(document.id, to_json(document), row)
        else:
            self.rows[document.id] = row
            write_bytes(self._file(document.id), to_json(document), private=True, sync=False)

    def sync(self) -> None:
        """Write the files to the disk, where they stay."""
        if self.staged is None:
            sync_all(map(self._file, self.rows), self.folder)

    def stage(self) -> StagedDocuments:
        """Return the file of all documents; those that have a file each are written to it as well."""
        if self.staged is None:
            self.staged = StagedDocuments(self.path)
            for id_, row in self.rows.items():
                self.staged.put(id_, self._file(id_).read_bytes(), row)
        return self.staged

    def discard(self) -> None:
        """Delete the file of all documents, which were taken into the corpus or are not to be."""
        if self.staged is not None:
            self.staged.discard()

    def _file(self, document_id: str) -> Path:
        return self.folder / f"{document_id}.json"
