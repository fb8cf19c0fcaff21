"""Documents on their way into a corpus: a file each, or all in one file where they are many; and which corpora get some
at the moment.

Nobody else touches the files of an upload, and they get their names in the corpus, or their place in its database,
under the lock of the corpora. Those of a process that was killed go with its mark.
"""

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from leanrag_core.files import private
from leanrag_core.files.atomic import sync_all, sync_folder
from leanrag_core.files.records import to_json
from leanrag_core.messages.message import message
from leanrag_core.storage.corpus_database import BEFORE, DATABASE, FIRST_UPLOAD, CorpusDatabase, StagedDocuments
from leanrag_core.storage.corpus_record import CorpusRecord
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.corpus import Document, Refusal
from leanrag_core.types.summary import DocumentSummary

_ADDING = re.compile(r"\.adding-(?P<corpus>[a-z0-9-]+)\.(?P<token>[0-9a-f]{16})")
_COUNT_SECONDS = 0.5  # between two counts on the disk


@contextmanager
def marked_as_filling(root: Path, corpus_id: str, token: str) -> Iterator[Callable[[int], None]]:
    """Mark the corpus as one that gets documents while the block lasts, by a lock that ends with the process; yield a
    function that takes the number of documents so far. A disk that takes no lock leaves the corpus unmarked.

    token: 16 hexadecimal digits of these arrivals alone.
    """
    written = 0.0
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
                delete_arrivals(root / match["corpus"], match["token"])  # of a process that was killed
                for stale_path in (count, path):
                    stale_path.unlink(missing_ok=True)
        except Timeout:
            corpora[match["corpus"]] += _number(count)
        except OSError:
            continue
    return dict(corpora)


def delete_arrivals(folder: Path, token: str) -> None:
    """Delete the files of those arrivals in a corpus's folder."""
    for path in folder.glob(f".adding-{token}.*"):
        path.unlink(missing_ok=True)


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


def duplicate(name: str, first: str) -> Refusal:
    """Return the refusal of a document whose content the corpus has. first: its name there."""
    return Refusal(name, message("file.already_in_corpus", first=first))


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


@dataclass(frozen=True)
class TakenIn:
    """What came of arrivals. added: the rows of those that are new. duplicates: of what others have added meanwhile.
    record: of the corpus, with them. has_name: tells whether one of them has that name."""

    added: Sequence[DocumentSummary]
    duplicates: list[Refusal]
    record: CorpusRecord
    has_name: Callable[[str], bool]


class Arrivals:
    """Documents in a corpus's folder that are not part of the corpus yet, in files of their own.

    token: in the files' names, and in that of the mark. room: up to so many documents have a file each; with one more,
    all are in one file.
    """

    def __init__(self, folder: Path, token: str, *, room: int) -> None:
        self._folder, self._token, self._room = folder, token, room
        self._rows: dict[str, DocumentSummary] = {}  # of those that have a file each
        self._staged: StagedDocuments | None = None  # the file of all

    def _file(self, name: str) -> Path:
        return self._folder / f".adding-{self._token}.{name}"

    def name_of(self, document_id: str) -> str:
        """Return the name of a document that was put; "" for any other."""
        if document_id in self._rows:
            return self._rows[document_id].name
        return self._staged.name_of(document_id) if self._staged else ""

    def put(self, document: Document) -> None:
        """Write the document, whose id was not put before."""
        row = summarise(document)
        if self._staged is None and len(self._rows) >= self._room:
            self._stage()
        if self._staged is not None:
            self._staged.put(document.id, to_json(document), row)
        else:
            self._rows[document.id] = row
            with open(self._file(f"{document.id}.json"), "wb", opener=private.opener) as file:
                file.write(to_json(document))

    def sync(self) -> None:
        """Write the files to the disk; the file of all is when it is complete."""
        if self._staged is None:
            sync_all((self._file(f"{id_}.json") for id_ in self._rows), self._folder)

    def _stage(self) -> StagedDocuments:
        """Return the file of all documents; those that have a file each are written to it as well."""
        if self._staged is None:
            self._staged = StagedDocuments(self._file("db"))
            for id_, row in self._rows.items():
                self._staged.put(id_, self._file(f"{id_}.json").read_bytes(), row)
        return self._staged

    def taken_in(self, record: CorpusRecord) -> AbstractContextManager[TakenIn]:
        """Make the documents part of the corpus of that record while the block writes the changed one; where that
        fails, they are not. Needs the lock. Raises OSError."""
        in_files = self._staged is None and not record.in_database
        return self._into_files(record) if in_files else self._into_database(record)

    @contextmanager
    def _into_files(self, record: CorpusRecord) -> Iterator[TakenIn]:
        known = record.names_by_id()
        added = [row for row in self._rows.values() if row.id not in known]
        duplicates = [duplicate(row.name, known[row.id]) for row in self._rows.values() if row.id in known]
        paths = [self._folder / f"{row.id}.json" for row in added]
        try:
            for path in paths:
                os.replace(self._file(path.name), path)
            sync_folder(self._folder)
            changed = replace(record, documents=(*record.documents, *added))
            yield TakenIn(added, duplicates, changed, {row.name for row in added}.__contains__)
        except Exception:
            for path in paths:
                path.unlink(missing_ok=True)
            raise

    @contextmanager
    def _into_database(self, record: CorpusRecord) -> Iterator[TakenIn]:
        staged, database = self._stage(), CorpusDatabase(self._folder / DATABASE)
        if record.in_database:
            staged.complete()
            upload, twice = database.take(staged.path)
            duplicates = [duplicate(row.name, database.name_of(row.id)) for row in twice]
        else:
            upload, duplicates = FIRST_UPLOAD, list(self._put_before(record, staged))
            staged.complete()
            database.delete()  # that of such a change that was cut short
            os.replace(staged.path, database.path)
            sync_folder(self._folder)
        changed = replace(record, documents=(), in_database=True)
        added = database.rows(upload=upload)
        try:
            yield TakenIn(added, duplicates, changed, lambda name: database.has_name(name, upload))
        except Exception:
            if not record.in_database:
                database.delete()
            raise
        for row in record.documents:
            (self._folder / f"{row.id}.json").unlink(missing_ok=True)

    def _put_before(self, record: CorpusRecord, staged: StagedDocuments) -> Iterator[Refusal]:
        """Add the documents that have a file each; yield refusals of staged ones that others have added meanwhile."""
        for row in record.documents:
            for id_ in {row.id, row.read_as} - {""}:
                name = staged.name_of(id_)
                if name:
                    staged.drop(id_)
                    yield duplicate(name, row.name)
            staged.put(row.id, (self._folder / f"{row.id}.json").read_bytes(), row, BEFORE)

    def discard(self) -> None:
        """Delete what is not part of the corpus."""
        if self._staged is not None:
            self._staged.close()
        delete_arrivals(self._folder, self._token)
