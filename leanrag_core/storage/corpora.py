"""Corpora on disk: one folder a corpus, named by its id, and never a file by the user's file names.

A corpus of up to FILES documents has one JSON file a document, and their rows in its record; a larger one has all
of them in one file (storage.corpus_database), which it keeps when it becomes small again.
"""

import contextlib
import os
import re
import secrets
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from leanrag_core.errors import (
    CorpusDamaged,
    CorpusNotFound,
    FolderRefused,
    InvalidConfig,
    RecordDamaged,
    StorageFailed,
)
from leanrag_core.files import private
from leanrag_core.files.atomic import sync_folder, write_bytes, writing
from leanrag_core.files.records import from_json, to_json
from leanrag_core.messages.message import Message, message
from leanrag_core.storage.corpus_arrivals import Arrivals, arriving, counted, marked_as_filling, summarise
from leanrag_core.storage.corpus_database import (
    BEFORE,
    DATABASE,
    FIRST_UPLOAD,
    CorpusDatabase,
    DocumentRows,
    StagedDocuments,
)
from leanrag_core.storage.corpus_record import CorpusRecord, RefusedFile, tidy_name, tidy_tags
from leanrag_core.system.threads import BoundedCache
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.corpus import Document, Refusal
from leanrag_core.types.scope import DocumentData, is_date
from leanrag_core.types.summary import CorpusSummary, Damaged, DocumentSummary

FILES = 5_000  # documents that have a file each
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,80}")
_FILE = re.compile(  # those with numbers are of a process that was killed
    r"\.?[a-z0-9][a-z0-9-]{0,80}\.json(\.\d+\.\d+)?|documents\.db(-wal|-shm)?|\.adding-[0-9a-f]+\.db(-wal|-shm|-journal)?"
)
_DELETED = ".deleted-"
_TIMEOUT_SECONDS = 60  # for another session that writes
_RECORD = "corpus.json"
_MAX_DOCUMENT_BYTES = 1 << 40  # as much as was parsed is read again; the limit is the parser's
_MAX_RECORD_BYTES = 1 << 30  # earlier versions kept any number of documents in the record
_COUNTS_KEPT = 64


class CorpusStore:
    """Reads and writes corpora below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._records: dict[str, tuple[tuple[int, int, int], CorpusRecord]] = {}  # as they read last, by corpus
        self._counts: BoundedCache[tuple[str, int], tuple[int, int]] = BoundedCache(_COUNTS_KEPT)
        self._found: BoundedCache[tuple[str, int, str], DocumentRows] = BoundedCache(_COUNTS_KEPT)
        private.tighten(root)

    def _folder(self, corpus_id: str) -> Path:
        if not _ID.fullmatch(corpus_id) or not (self.root / corpus_id / _RECORD).is_file():
            raise CorpusNotFound("corpus.not_found", corpus=corpus_id)
        return self.root / corpus_id

    def _document_file(self, corpus_id: str, document_id: str) -> Path:
        path = self._folder(corpus_id) / f"{document_id}.json"
        if not _ID.fullmatch(document_id) or path.name == _RECORD or not path.is_file():
            raise CorpusNotFound("corpus.document_not_found", document=document_id)
        return path

    def _record(self, corpus_id: str) -> CorpusRecord:
        path = self._folder(corpus_id) / _RECORD
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

    def _database(self, corpus_id: str) -> CorpusDatabase | None:
        """Return the file of the corpus's documents; None where they have a file each."""
        return CorpusDatabase(self.root / corpus_id / DATABASE) if self._record(corpus_id).in_database else None

    def version(self, corpus_id: str) -> str:
        """Return a value that changes whenever the documents do. Raises CorpusNotFound, CorpusDamaged."""
        database = self._database(corpus_id)
        return f"{self._records[corpus_id][0]}/{database.version if database else ''}"

    def _write(self, folder: Path, record: CorpusRecord) -> None:
        write_bytes(folder / _RECORD, to_json(record, indent=1), private=True)

    def create(self, name: str, *, corpus_id: str = "", description: str = "", sample: bool = False) -> str:
        """Make an empty corpus of that name; returns its id. Raises StorageFailed."""
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
        corpus_id = corpus_id or "-".join(part for part in (slug, secrets.token_hex(3)) if part)
        if not _ID.fullmatch(corpus_id):
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
                self._write(folder, record)
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
        folder = self._folder(corpus_id)
        record, database = self._record(corpus_id), self._database(corpus_id)
        arrivals = Arrivals(folder, room=0 if database else max(0, FILES - len(record.documents)))
        with marked_as_filling(self.root, corpus_id) as progress:
            try:
                return self._added(corpus_id, counted(documents, progress), arrivals, source, refused)
            except BaseException:
                self._remove_unrecorded(corpus_id, list(arrivals.rows))
                raise
            finally:
                arrivals.discard()

    def _added(
        self, corpus_id: str, documents: Iterable[Document], arrivals: Arrivals, source: str, refused: Sequence[Refusal]
    ) -> tuple[Sequence[DocumentSummary], list[Refusal]]:
        what, kept = message("what.documents", corpus=corpus_id), message("kept.no_document_added")
        with writing(what, kept):
            known = self._record(corpus_id).names_by_id()
            duplicates = []
            for document in documents:
                first = known.get(document.id) or arrivals.name_of(document.id)
                if first:
                    duplicates.append(_duplicate(document.name, first))
                else:
                    arrivals.put(document)
            arrivals.sync()
        with self._locked(what, kept):
            if arrivals.staged is None and not self._record(corpus_id).in_database:
                return self._record_added(corpus_id, list(arrivals.rows.values()), duplicates, source, refused)
            return self._take_in(corpus_id, arrivals, duplicates, source, refused)

    def _take_in(
        self,
        corpus_id: str,
        arrivals: Arrivals,
        duplicates: list[Refusal],
        source: str,
        refused: Sequence[Refusal],
    ) -> tuple[Sequence[DocumentSummary], list[Refusal]]:
        """Put the documents into the corpus's own file, and return them. Needs the lock."""
        folder, record = self._folder(corpus_id), self._record(corpus_id)
        staged, database = arrivals.stage(), CorpusDatabase(folder / DATABASE)
        if record.in_database:
            staged.complete()
            upload, twice = database.take(staged.path)
            duplicates = [*duplicates, *(_duplicate(row.name, database.name_of(row.id)) for row in twice)]
        else:
            upload = FIRST_UPLOAD
            duplicates = [*duplicates, *self._take_before(folder, record, staged)]
            staged.complete()
            for ending in ("", "-wal", "-shm"):  # of such a change that was cut short
                database.path.with_name(f"{DATABASE}{ending}").unlink(missing_ok=True)
            os.replace(staged.path, database.path)
        added = database.rows(upload=upload)
        names = {refusal.name for refusal in (*duplicates, *refused)}
        still = [row for row in record.refused if row.name not in names and not database.has_name(row.name, upload)]
        changed = replace(
            record,
            documents=(),
            in_database=True,
            source=source or record.source,
            refused=(*still, *map(RefusedFile.of, refused)),
        )
        if changed != record:
            self._write(folder, changed)
        sync_folder(folder)
        for id_ in {row.id for row in record.documents} | set(arrivals.rows):
            (folder / f"{id_}.json").unlink(missing_ok=True)
        return added, duplicates

    def _take_before(self, folder: Path, record: CorpusRecord, staged: StagedDocuments) -> Iterator[Refusal]:
        """Add the documents that have a file each; yield refusals of staged ones that others have added meanwhile."""
        for row in record.documents:
            for id_ in {row.id, row.read_as} - {""}:
                name = staged.name_of(id_)
                if name:
                    staged.drop(id_)
                    yield _duplicate(name, row.name)
            staged.put(row.id, (folder / f"{row.id}.json").read_bytes(), row, BEFORE)

    @contextlib.contextmanager
    def _locked(self, what: Message, kept: Message | None = None) -> Iterator[None]:
        """Lock the records while one is read and written again. what, kept: see atomic.writing."""
        with writing(what, kept):
            try:
                with FileLock(str(self.root / ".lock"), timeout=_TIMEOUT_SECONDS, mode=private.FILE):
                    yield
            except Timeout as error:
                raise StorageFailed("corpus.in_use", what=what, folder=str(self.root)) from error

    def _record_added(
        self,
        corpus_id: str,
        written: list[DocumentSummary],
        duplicates: list[Refusal],
        source: str,
        refused: Sequence[Refusal],
    ) -> tuple[Sequence[DocumentSummary], list[Refusal]]:
        """Put the documents, whose files are there, into the record, and return them. Needs the lock."""
        folder, record = self._folder(corpus_id), self._record(corpus_id)
        known = record.names_by_id()  # others may have added some meanwhile
        added = [row for row in written if row.id not in known]
        duplicates = [*duplicates, *(_duplicate(row.name, known[row.id]) for row in written if row.id in known)]
        names = {row.name for row in written} | {refusal.name for refusal in (*duplicates, *refused)}
        still_refused = [row for row in record.refused if row.name not in names]
        record = replace(
            record,
            documents=(*record.documents, *added),
            source=source or record.source,
            refused=(*still_refused, *map(RefusedFile.of, refused)),
        )
        self._write(folder, record)
        return added, duplicates

    def _remove_unrecorded(self, corpus_id: str, ids: list[str]) -> None:
        """Delete files of documents that did not get into the record; what cannot be looked at stays."""
        refusals = contextlib.suppress(CorpusNotFound, CorpusDamaged, StorageFailed)
        with refusals, self._locked(message("what.document_list", corpus=corpus_id)):
            recorded = {row.id for row in self._record(corpus_id).documents}
            for id_ in ids:
                if id_ not in recorded:
                    (self._folder(corpus_id) / f"{id_}.json").unlink(missing_ok=True)

    def rename(self, corpus_id: str, name: str) -> None:
        """Rename the corpus; its id stays. Raises CorpusNotFound, InvalidConfig for an empty or very long name,
        StorageFailed."""
        name = tidy_name(name)
        with self._locked(message("what.document_list", corpus=corpus_id)):
            self._write(self._folder(corpus_id), replace(self._record(corpus_id), name=name))

    def refused(self, corpus_id: str) -> list[Refusal]:
        """Return files that were added to the corpus and could not be read, in the order in which they were."""
        return [row.refusal() for row in self._record(corpus_id).refused]

    def replace(self, corpus_id: str, document_id: str, document: Document) -> None:
        """Put the document in the place of that one, whose file gave it; adding the file again adds nothing.

        Raises CorpusNotFound, StorageFailed, and InvalidConfig where the corpus has a document of the new content.
        """
        with self._locked(message("what.document_list", corpus=corpus_id), message("kept.document")):
            folder, record = self._folder(corpus_id), self._record(corpus_id)
            former, existing = self.row(corpus_id, document_id), self.row(corpus_id, document.id)
            if existing is not None:
                raise InvalidConfig("corpus.document_twice", first=existing.name)
            if former is None:
                raise CorpusNotFound("corpus.document_not_found", document=document_id)
            read_as = former.read_as or document_id
            row = replace(summarise(document), read_as="" if read_as == document.id else read_as)
            row = replace(row, tags=former.tags, date=former.date)
            database = self._database(corpus_id)
            if database:
                database.replace(document_id, document, row)
                return
            before = self._document_file(corpus_id, document_id)
            write_bytes(folder / f"{document.id}.json", to_json(document), private=True)
            rows = tuple(row if each.id == document_id else each for each in record.documents)
            self._write(folder, replace(record, documents=rows))
            before.unlink()

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
        changed = set(document_ids)
        with self._locked(message("what.document_list", corpus=corpus_id), message("kept.document")):
            folder, record, database = self._folder(corpus_id), self._record(corpus_id), self._database(corpus_id)
            rows = database.rows_of(sorted(changed)) if database else {row.id: row for row in record.documents}
            unknown = sorted(changed - rows.keys())
            if unknown:
                raise CorpusNotFound("corpus.document_not_found", document=unknown[0])

            def described(row: DocumentSummary) -> DocumentSummary:
                row = replace(row, tags=tidy_tags([*(row.tags if tags is None else tags), *more_tags]))
                return row if date is None else replace(row, date=date)

            if database:
                database.set_rows(described(row) for row in rows.values())
                return
            documents = tuple(described(row) if row.id in changed else row for row in record.documents)
            self._write(folder, replace(record, documents=documents))

    def data(self, corpus_id: str) -> dict[str, DocumentData]:
        """Return the tags and date of each document that has any, by its id. Raises CorpusNotFound, CorpusDamaged."""
        return {row.id: DocumentData(row.tags, row.date) for row in self.described(corpus_id)}

    def described(self, corpus_id: str) -> list[DocumentSummary]:
        """Return the documents that have tags or a date. Raises CorpusNotFound, CorpusDamaged."""
        database = self._database(corpus_id)
        rows = database.described() if database else self._record(corpus_id).documents
        return [row for row in rows if row.tags or row.date]

    def remove(self, corpus_id: str, document_id: str) -> None:
        """Remove the document from the corpus; an unknown id changes nothing."""
        self._folder(corpus_id)
        with self._locked(message("what.document_list", corpus=corpus_id), message("kept.document")):
            folder, record, database = self._folder(corpus_id), self._record(corpus_id), self._database(corpus_id)
            if database:
                database.remove(document_id)
                return
            kept = tuple(row for row in record.documents if row.id != document_id)
            if len(kept) == len(record.documents):
                return
            self._write(folder, replace(record, documents=kept))
            self._document_file(corpus_id, document_id).unlink()

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
            if _ID.fullmatch(path.name.removeprefix(_DELETED)) and not path.is_symlink():
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
            if not _ID.fullmatch(name):
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
        record, database = self._record(corpus_id), self._database(corpus_id)
        if database:
            n_documents, tokens = self._counts.get_or_make((corpus_id, database.version), database.counts)
        else:
            n_documents, tokens = len(record.documents), sum(row.tokens for row in record.documents)
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
        wanted, database = wanted.casefold(), self._database(corpus_id)
        if database:
            key = (corpus_id, database.version, wanted)
            return self._found.get_or_make(key, lambda: database.rows(wanted=wanted))
        rows = self._record(corpus_id).documents
        fitting = (row for row in rows if wanted in f"{row.title} {row.name}".casefold()) if wanted else rows
        return sorted(fitting, key=lambda row: (row.name, row.id))

    def row(self, corpus_id: str, document_id: str) -> DocumentSummary | None:
        """Return the document's row; None where the corpus has no such document."""
        database = self._database(corpus_id)
        if database:
            return database.row(document_id)
        return next((row for row in self._record(corpus_id).documents if row.id == document_id), None)

    def languages(self, corpus_id: str) -> dict[str, int]:
        """Return the tokens of the documents in each language."""
        database = self._database(corpus_id)
        if database:
            return database.languages()
        tokens_of: Counter[str] = Counter()
        for row in self._record(corpus_id).documents:
            tokens_of[row.language] += row.tokens
        return dict(tokens_of)

    def document(self, corpus_id: str, document_id: str) -> Document:
        """Return the document with its text. Raises CorpusNotFound, or CorpusDamaged when its file does not read."""
        database = self._database(corpus_id)
        if database is None:
            path = self._document_file(corpus_id, document_id)
            return _read(path.read_bytes(), path)
        content = database.content(document_id)
        if content is None:
            raise CorpusNotFound("corpus.document_not_found", document=document_id)
        return _read(content, database.path)

    def each_document(self, corpus_id: str) -> Iterator[Document]:
        """Yield the documents with their texts, by name. Raises as document() does."""
        database = self._database(corpus_id)
        if database is None:
            yield from (self.document(corpus_id, row.id) for row in self.documents(corpus_id))
        else:
            yield from (_read(content, database.path) for _, content in database.contents())


def _read(content: bytes, path: Path) -> Document:
    """Read the stored document. path: for errors. Raises CorpusDamaged."""
    try:
        return from_json(Document, content, name=path.name, max_bytes=_MAX_DOCUMENT_BYTES)
    except RecordDamaged as error:
        raise CorpusDamaged("corpus.document_damaged", path=str(path), reason=error.reason) from error


def _duplicate(name: str, first: str) -> Refusal:
    return Refusal(name, message("file.already_in_corpus", first=first))


def _require_ours(folder: Path) -> None:
    """Raise FolderRefused where something that is not of a corpus would be deleted with the folder."""
    if folder.is_symlink():
        raise FolderRefused("corpus.folder_is_link", folder=str(folder))
    strange = [path.name for path in sorted(folder.iterdir()) if not _FILE.fullmatch(path.name) or path.is_dir()]
    if strange:
        raise FolderRefused("corpus.folder_not_ours", folder=str(folder), file=strange[0])
