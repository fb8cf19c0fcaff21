"""Corpora on disk: one folder a corpus, named by its id, and never a file by the user's file names.

A corpus of up to FILES documents has one JSON file a document, and their rows in its record; a larger one has all
of them in one file (storage.corpus_database), which it keeps when it becomes small again.
"""

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from leanrag_core.errors import (
    CorpusDamaged,
    CorpusNotFound,
    FolderRefused,
    InvalidConfig,
    LeanRAGError,
    RecordDamaged,
    StorageFailed,
)
from leanrag_core.files import private
from leanrag_core.files.atomic import sync_folder, writing
from leanrag_core.files.records import from_json
from leanrag_core.messages.message import Message, message
from leanrag_core.storage.corpus_arrivals import (
    Arrivals,
    TakenIn,
    arriving,
    counted,
    duplicate,
    marked_as_filling,
    summarise,
)
from leanrag_core.storage.corpus_database import DATABASE, CorpusDatabase
from leanrag_core.storage.corpus_files import DocumentFiles
from leanrag_core.storage.corpus_record import (
    ID,
    RECORD,
    CorpusRecord,
    RefusedFile,
    tidy_name,
    tidy_tags,
    write_record,
)
from leanrag_core.system.threads import BoundedCache
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.corpus import Document, Refusal
from leanrag_core.types.scope import DocumentData, is_date
from leanrag_core.types.summary import CorpusSummary, Damaged, DocumentSummary

FILES = 5_000  # documents that have a file each
_FILE = re.compile(  # those with numbers are of a process that was killed
    r"\.?[a-z0-9][a-z0-9-]{0,80}\.json(\.\d+\.\d+)?|documents\.db(-wal|-shm)?|\.adding-[0-9a-f]+\.[a-z0-9.-]+"
)
_DELETED = ".deleted-"
_TIMEOUT_SECONDS = 60  # for another session that writes
_MAX_DOCUMENT_BYTES = 1 << 40  # as much as was parsed is read again; the limit is the parser's
_MAX_RECORD_BYTES = 1 << 30  # earlier versions kept any number of documents in the record
_COUNTS_KEPT = 64


class CorpusStore:
    """Reads and writes corpora below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._records: dict[str, tuple[tuple[int, int, int], CorpusRecord]] = {}  # as they read last, by corpus
        self._counts: BoundedCache[tuple[str, str], tuple[int, int]] = BoundedCache(_COUNTS_KEPT)
        self._found: BoundedCache[tuple[str, str, str], Sequence[DocumentSummary]] = BoundedCache(_COUNTS_KEPT)
        private.tighten(root)

    def _folder(self, corpus_id: str) -> Path:
        if not ID.fullmatch(corpus_id) or not (self.root / corpus_id / RECORD).is_file():
            raise CorpusNotFound("corpus.not_found", corpus=corpus_id)
        return self.root / corpus_id

    def _record(self, corpus_id: str) -> CorpusRecord:
        path = self._folder(corpus_id) / RECORD
        try:
            file_stat = path.stat()
            file_state = file_stat.st_ino, file_stat.st_mtime_ns, file_stat.st_size
            known = self._records.get(corpus_id)
            if known is None or known[0] != file_state:  # lists are drawn again and again
                record = from_json(CorpusRecord, path.read_bytes(), name=path.name, max_bytes=_MAX_RECORD_BYTES)
                known = self._records[corpus_id] = file_state, record
            return known[1]
        except OSError as error:  # the content may well be whole, so the remedy is not to delete it
            raise CorpusDamaged("corpus.disk_refuses", path=str(path), reason=in_words(error)) from error
        except RecordDamaged as error:
            raise CorpusDamaged("corpus.record_damaged", path=str(path), reason=error.reason) from error

    def _documents(self, corpus_id: str) -> DocumentFiles | CorpusDatabase:
        record, folder = self._record(corpus_id), self.root / corpus_id
        return CorpusDatabase(folder / DATABASE) if record.in_database else DocumentFiles(folder, record)

    def version(self, corpus_id: str) -> str:
        """Return a value that changes whenever the documents do. Raises CorpusNotFound, CorpusDamaged."""
        documents = self._documents(corpus_id)
        return f"{self._records[corpus_id][0]}/{documents.version}"

    def create(self, name: str, *, corpus_id: str = "", description: str = "", sample: bool = False) -> str:
        """Make an empty corpus of that name; returns its id. Raises StorageFailed."""
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
        corpus_id = corpus_id or "-".join(part for part in (slug, secrets.token_hex(3)) if part)
        if not ID.fullmatch(corpus_id):
            raise InvalidConfig("corpus.id_invalid", corpus=corpus_id)
        folder = self.root / corpus_id
        record = CorpusRecord(
            id=corpus_id,
            name=name.strip() or "Untitled",
            description=description,
            sample=sample,
            source="",
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            documents=(),
        )
        with writing(message("what.corpus", name=record.name, folder=str(self.root))):
            private.make_folder(self.root)
            private.make_folder(folder)
            try:
                write_record(folder, record)
            except BaseException:
                with contextlib.suppress(OSError):  # a folder that was there before holds files, and stays
                    folder.rmdir()
                raise
        return corpus_id

    def create_with(
        self, name: str, documents: Iterable[Document], *, refused: Sequence[Refusal] = ()
    ) -> tuple[str, tuple[Sequence[DocumentSummary], list[Refusal]]]:
        """Make a corpus of that name with the documents, or none on an error; returns its id and add()'s result."""
        corpus_id = self.create(name)
        try:
            return corpus_id, self.add(corpus_id, documents, refused=refused)
        except BaseException:
            with contextlib.suppress(LeanRAGError):  # the first error is the one to tell
                self.delete(corpus_id)
            raise

    def source(self, corpus_id: str) -> str:
        """Return the fingerprint of what the corpus was read from; empty when there is no such corpus."""
        try:
            return self._record(corpus_id).source
        except (CorpusNotFound, CorpusDamaged):
            return ""

    def add(
        self, corpus_id: str, documents: Iterable[Document], *, source: str = "", refused: Sequence[Refusal] = ()
    ) -> tuple[Sequence[DocumentSummary], list[Refusal]]:
        """Add the documents; those whose content was there already are returned as refusals.

        documents: written one after another, so that their texts need not be in memory together; others may write to
        the corpus meanwhile. source: fingerprint of what the corpus is now read from; it is written together with the
        documents. refused: files that could not be read; they are recorded until one of the same name can. It is read
        after the documents, and may grow while they are added. Raises StorageFailed; then none of the documents is in.
        """
        record, folder, token = self._record(corpus_id), self.root / corpus_id, secrets.token_hex(8)
        room = 0 if record.in_database else max(0, FILES - len(record.documents))
        what, kept = message("what.documents", corpus=corpus_id), message("kept.no_document_added")
        arrivals = Arrivals(folder, token, room=room)
        with marked_as_filling(self.root, corpus_id, token) as progress:
            try:
                with writing(what, kept):
                    duplicates = _put(counted(documents, progress), arrivals, record.names_by_id())
                    arrivals.sync()
                with self._locked(what, kept):
                    record = self._record(corpus_id)
                    with arrivals.taken_in(record) as taken:
                        duplicates += taken.duplicates
                        changed = replace(_with_refusals(taken, duplicates, refused), source=source or record.source)
                        if changed != record:
                            write_record(folder, changed)
                    return taken.added, duplicates
            finally:
                with contextlib.suppress(OSError):  # what came of the documents is told, and not what stays beside them
                    arrivals.discard()

    @contextlib.contextmanager
    def _locked(self, what: Message, kept: Message | None = None) -> Iterator[None]:
        """Lock the records while one is read and written again. what, kept: see atomic.writing."""
        with writing(what, kept):
            try:
                with FileLock(str(self.root / ".lock"), timeout=_TIMEOUT_SECONDS, mode=private.FILE):
                    yield
            except Timeout as error:
                raise StorageFailed("corpus.in_use", what=what, folder=str(self.root)) from error

    @contextlib.contextmanager
    def _changing(self, corpus_id: str) -> Iterator[DocumentFiles | CorpusDatabase]:
        """Lock the records, and give the corpus's documents to be changed."""
        with self._locked(message("what.document_list", corpus=corpus_id), message("kept.document")):
            yield self._documents(corpus_id)

    def rename(self, corpus_id: str, name: str) -> None:
        """Rename the corpus; its id stays. Raises CorpusNotFound, InvalidConfig for an empty or very long name,
        StorageFailed."""
        name = tidy_name(name)
        with self._locked(message("what.document_list", corpus=corpus_id)):
            write_record(self._folder(corpus_id), replace(self._record(corpus_id), name=name))

    def refused(self, corpus_id: str) -> list[Refusal]:
        """Return files that were added to the corpus and could not be read, in the order in which they were."""
        return [row.refusal() for row in self._record(corpus_id).refused]

    def replace(self, corpus_id: str, document_id: str, document: Document) -> None:
        """Put the document in the place of that one, whose file gave it; adding the file again adds nothing.

        Raises CorpusNotFound, StorageFailed, and InvalidConfig where the corpus has a document of the new content.
        """
        with self._changing(corpus_id) as documents:
            former, existing = documents.row(document_id), documents.row(document.id)
            if existing is not None:
                raise InvalidConfig("corpus.document_twice", first=existing.name)
            if former is None:
                raise CorpusNotFound("corpus.document_not_found", document=document_id)
            read_as = former.read_as or document_id
            row = replace(summarise(document), read_as="" if read_as == document.id else read_as)
            documents.replace(document_id, document, replace(row, tags=former.tags, date=former.date))

    def describe(
        self,
        corpus_id: str,
        document_ids: Iterable[str],
        *,
        tags: Sequence[str] | None = None,
        date: str | None = None,
        more_tags: Sequence[str] = (),
    ) -> None:
        """Set tags, date, or both of these documents; None leaves them as they are, and an empty one takes them off.

        more_tags: are added to those that each document has. Indexes stay as they are: a scope looks here. Raises
        InvalidConfig for an invalid date, CorpusNotFound for an unknown document, StorageFailed.
        """
        if date and not is_date(date):
            raise InvalidConfig("scope.no_date", date=date)
        ids = sorted(set(document_ids))
        with self._changing(corpus_id) as documents:
            rows = documents.rows_of(ids)
            unknown = next((id_ for id_ in ids if id_ not in rows), None)
            if unknown is not None:
                raise CorpusNotFound("corpus.document_not_found", document=unknown)
            documents.set_rows(
                replace(
                    row,
                    tags=tidy_tags([*(row.tags if tags is None else tags), *more_tags]),
                    date=row.date if date is None else date,
                )
                for row in rows.values()
            )

    def data(self, corpus_id: str) -> dict[str, DocumentData]:
        """Return the tags and date of each document that has any, by its id. Raises CorpusNotFound, CorpusDamaged."""
        return {row.id: DocumentData(row.tags, row.date) for row in self.described(corpus_id)}

    def described(self, corpus_id: str) -> list[DocumentSummary]:
        """Return the documents that have tags or a date. Raises CorpusNotFound, CorpusDamaged."""
        return self._documents(corpus_id).described()

    def remove(self, corpus_id: str, document_id: str) -> None:
        """Remove the document from the corpus; an unknown id changes nothing."""
        self._folder(corpus_id)
        with self._changing(corpus_id) as documents:
            documents.remove(document_id)

    def delete(self, corpus_id: str) -> None:
        """Delete the corpus and its documents; it is hidden first.

        Raises FolderRefused where its folder is a link, or holds what is not of a corpus; StorageFailed.
        """
        self._folder(corpus_id)
        with self._locked(message("what.corpus_list", folder=str(self.root))):
            self._remove_deleted()
            folder = self._folder(corpus_id)
            _require_ours(folder)
            os.replace(folder, self.root / f"{_DELETED}{corpus_id}")
            sync_folder(self.root)
            self._remove_deleted()

    def _remove_deleted(self) -> None:
        """Delete hidden corpora, also those that a process left when it died."""
        for path in sorted(self.root.glob(f"{_DELETED}*")):
            if ID.fullmatch(path.name.removeprefix(_DELETED)) and not path.is_symlink():
                shutil.rmtree(path)

    def summaries(self) -> list[CorpusSummary]:
        """Return the corpora that read, a person's own ones first, the newest of them at the top."""
        readable, _ = self._read_all()
        by_name = sorted(readable, key=lambda corpus: (corpus.name, corpus.id))
        newest = sorted(by_name, key=lambda corpus: "" if corpus.sample else corpus.created, reverse=True)
        return sorted(newest, key=lambda corpus: corpus.sample)

    def damaged(self) -> list[Damaged]:
        """Return the corpora that do not read, by id."""
        return self._read_all()[1]

    def _read_all(self) -> tuple[list[CorpusSummary], list[Damaged]]:
        readable, damaged, filling = [], [], arriving(self.root)
        for name in sorted(path.parent.name for path in self.root.glob("*/corpus.json")):
            if not ID.fullmatch(name):
                continue  # a copied folder is no corpus
            try:
                readable.append(self._summary(name, filling.get(name)))
            except CorpusDamaged as error:
                damaged.append(Damaged(name, str(error)))
            except CorpusNotFound:
                continue  # deleted just now
        return readable, damaged

    def summary(self, corpus_id: str) -> CorpusSummary:
        """Return the corpus's card. Raises CorpusNotFound or CorpusDamaged."""
        return self._summary(corpus_id, arriving(self.root).get(corpus_id))

    def _summary(self, corpus_id: str, n_arriving: int | None) -> CorpusSummary:
        key = corpus_id, self.version(corpus_id)  # first, so that no older counts are kept under a newer version
        record, documents = self._record(corpus_id), self._documents(corpus_id)
        n_documents, tokens = self._counts.get_or_make(key, documents.counts)
        return CorpusSummary(
            id=record.id,
            name=record.name,
            description=record.description,
            sample=record.sample,
            documents=n_documents,
            tokens=tokens,
            created=record.created,
            arriving=n_arriving,
        )

    def arriving(self) -> dict[str, int]:
        """Return how many documents were read so far for each corpus to which documents are being added."""
        return arriving(self.root)

    def documents(self, corpus_id: str, wanted: str = "") -> Sequence[DocumentSummary]:
        """Return rows of the corpus's documents, by name; those of a large corpus are read when they are looked at.

        wanted: a piece of their title or name, whatever its case.
        """
        key = corpus_id, self.version(corpus_id), wanted.casefold()
        return self._found.get_or_make(key, lambda: self._documents(corpus_id).rows(wanted=wanted))

    def row(self, corpus_id: str, document_id: str) -> DocumentSummary | None:
        """Return the document's row; None where the corpus has no such document."""
        return self._documents(corpus_id).row(document_id)

    def languages(self, corpus_id: str) -> dict[str, int]:
        """Return the tokens of the documents in each language."""
        return self._documents(corpus_id).languages()

    def document(self, corpus_id: str, document_id: str) -> Document:
        """Return the document with its text. Raises CorpusNotFound, or CorpusDamaged when its file does not read."""
        documents = self._documents(corpus_id)
        content = documents.content(document_id)
        if content is None:
            raise CorpusNotFound("corpus.document_not_found", document=document_id)
        return _read(content, documents.path_of(document_id))

    def each_document(self, corpus_id: str) -> Iterator[Document]:
        """Yield the documents with their texts, by name. Raises as document() does."""
        documents = self._documents(corpus_id)
        if isinstance(documents, CorpusDatabase):
            yield from (_read(content, documents.path) for content in documents.contents())
        else:  # each looked up anew: their files may get into a database meanwhile
            yield from (self.document(corpus_id, row.id) for row in documents.rows())


def _put(documents: Iterable[Document], arrivals: Arrivals, known: Mapping[str, str]) -> list[Refusal]:
    """Put each document once; return refusals of the others. known: names of those that the corpus has, by id."""
    duplicates = []
    for document in documents:
        first = known.get(document.id) or arrivals.name_of(document.id)
        if first:
            duplicates.append(duplicate(document.name, first))
        else:
            arrivals.put(document)
    return duplicates


def _with_refusals(taken: TakenIn, duplicates: Sequence[Refusal], refused: Sequence[Refusal]) -> CorpusRecord:
    """Return the corpus's record with the refused files, without earlier ones of the names that came again."""
    names = {refusal.name for refusal in (*duplicates, *refused)}
    still = (row for row in taken.record.refused if row.name not in names and not taken.has_name(row.name))
    return replace(taken.record, refused=(*still, *map(RefusedFile.of, refused)))


def _read(content: bytes, path: Path) -> Document:
    """Read the stored document. path: for errors. Raises CorpusDamaged."""
    try:
        return from_json(Document, content, name=path.name, max_bytes=_MAX_DOCUMENT_BYTES)
    except RecordDamaged as error:
        raise CorpusDamaged("corpus.document_damaged", path=str(path), reason=error.reason) from error


def _require_ours(folder: Path) -> None:
    """Raise FolderRefused where something that is not of a corpus would be deleted with the folder."""
    if folder.is_symlink():
        raise FolderRefused("corpus.folder_is_link", folder=str(folder))
    strange = [path.name for path in sorted(folder.iterdir()) if not _FILE.fullmatch(path.name) or path.is_dir()]
    if strange:
        raise FolderRefused("corpus.folder_not_ours", folder=str(folder), file=strange[0])
