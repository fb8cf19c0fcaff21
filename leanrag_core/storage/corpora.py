"""Corpora on disk: one folder a corpus, one JSON file a document, named by ids and never by the user's file names."""

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

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
from leanrag_core.files.atomic import sync_all, sync_folder, write_bytes, writing
from leanrag_core.files.records import absent_at_default, from_json, to_json
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message, message
from leanrag_core.text.plain_words import in_words
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.corpus import Document, Refusal
from leanrag_core.types.scope import DocumentData, is_date
from leanrag_core.types.summary import CorpusSummary, Damaged, DocumentSummary


@dataclass(frozen=True)
class RefusedFile:
    """A file that could not be read. reason: the English sentence, which is all that earlier versions wrote and read.
    message: the same with its code."""

    name: str
    reason: str
    message: Message | None = absent_at_default()

    @classmethod
    def of(cls, refusal: Refusal) -> Self:
        """Return the record of that refusal."""
        return cls(refusal.name, sentence(refusal.reason), refusal.reason)

    def refusal(self) -> Refusal:
        """Return the refusal that was recorded."""
        return Refusal(self.name, self.message or Message("plain", {"text": self.reason}))


@dataclass(frozen=True)
class CorpusRecord:
    """A corpus without the texts of its documents. source: fingerprint of what it was read from, such as a sample.
    created: ISO 8601, UTC. refused: files that could not be read and have not been added since."""

    id: str
    name: str
    description: str
    sample: bool
    source: str
    created: str
    documents: tuple[DocumentSummary, ...]
    refused: tuple[RefusedFile, ...] = ()


_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,80}")
_FILE = re.compile(r"\.?[a-z0-9][a-z0-9-]{0,80}\.json(\.\d+\.\d+)?")  # the latter of a process that was killed
_DELETED = ".deleted-"
_TIMEOUT_SECONDS = 60  # for another session that writes
_RECORD = "corpus.json"
_MAX_DOCUMENT_BYTES = 1 << 40  # as much as was parsed is read again; the limit is the parser's


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


class CorpusStore:
    """Reads and writes corpora below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._records: dict[str, tuple[tuple[int, int, int], CorpusRecord]] = {}  # as they read last, by corpus
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
            seen = path.stat()
            here = seen.st_ino, seen.st_mtime_ns, seen.st_size
            known = self._records.get(corpus_id)
            if known is None or known[0] != here:  # lists are drawn again and again
                record = from_json(CorpusRecord, path.read_bytes(), name=path.name)
                known = self._records[corpus_id] = here, record
            return known[1]
        except OSError as error:  # the content may well be whole, so the remedy is not to delete it
            raise CorpusDamaged("corpus.disk_refuses", path=str(path), reason=in_words(error)) from error
        except RecordDamaged as error:
            raise CorpusDamaged("corpus.record_damaged", path=str(path), reason=error.reason) from error

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
    ) -> tuple[str, tuple[list[DocumentSummary], list[Refusal]]]:
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
    ) -> tuple[list[DocumentSummary], list[Refusal]]:
        """Add the documents; those whose content was there already are returned as refusals.

        documents: written one after another, so that their texts need not be in memory together; others may write to
        the corpus meanwhile. source: fingerprint of what the corpus is now read from; it is written together with the
        documents. refused: files that could not be read; they are recorded until one of the same name can. It is looked
        at after the documents, and may grow while these are taken. Raises StorageFailed; then none of the documents is
        in.
        """
        folder = self._folder(corpus_id)
        what, kept = message("what.documents", corpus=corpus_id), message("kept.no_document_added")
        written: dict[str, DocumentSummary] = {}
        try:
            with writing(what, kept):
                known = _names_by_id(self._record(corpus_id))
                duplicates = []
                for document in documents:
                    if document.id in known:
                        duplicates.append(_duplicate(document.name, known[document.id]))
                    else:
                        known[document.id] = document.name
                        written[document.id] = summarise(document)  # before the file: it is this file's record
                        write_bytes(folder / f"{document.id}.json", to_json(document), private=True, sync=False)
                sync_all([folder / f"{id_}.json" for id_ in written], folder)
            with self._locked(what, kept):
                return self._record_added(corpus_id, list(written.values()), duplicates, source, refused)
        except BaseException:
            self._remove_unrecorded(corpus_id, list(written))
            raise

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
    ) -> tuple[list[DocumentSummary], list[Refusal]]:
        """Return the documents, whose files are there, are in the record. Needs the lock."""
        folder, record = self._folder(corpus_id), self._record(corpus_id)
        known = _names_by_id(record)  # others may have added some meanwhile
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

    def refused(self, corpus_id: str) -> list[Refusal]:
        """Return files that were added to the corpus and could not be read, in the order in which they were."""
        return [row.refusal() for row in self._record(corpus_id).refused]

    def replace(self, corpus_id: str, document_id: str, document: Document) -> None:
        """Put the document in the place of that one, whose file gave it; adding the file again adds nothing.

        Raises CorpusNotFound, StorageFailed, and InvalidConfig where the corpus has a document of the new content.
        """
        with self._locked(message("what.document_list", corpus=corpus_id), message("kept.document")):
            folder, record = self._folder(corpus_id), self._record(corpus_id)
            before = self._document_file(corpus_id, document_id)
            known = {row.id: row for row in record.documents}
            if document.id in known:
                raise InvalidConfig("corpus.document_twice", first=known[document.id].name)
            former = known[document_id]
            read_as = former.read_as or document_id
            row = replace(summarise(document), read_as="" if read_as == document.id else read_as)
            row = replace(row, tags=former.tags, date=former.date)
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
        InvalidConfig for a date that is none, CorpusNotFound for an unknown document, StorageFailed.
        """
        if date and not is_date(date):
            raise InvalidConfig("scope.no_date", date=date)
        changed = set(document_ids)
        with self._locked(message("what.document_list", corpus=corpus_id), message("kept.document")):
            folder, record = self._folder(corpus_id), self._record(corpus_id)
            unknown = sorted(changed - {row.id for row in record.documents})
            if unknown:
                raise CorpusNotFound("corpus.document_not_found", document=unknown[0])
            rows = []
            for row in record.documents:
                if row.id in changed:
                    row = replace(row, tags=tidy_tags([*(row.tags if tags is None else tags), *more_tags]))
                    row = row if date is None else replace(row, date=date)
                rows.append(row)
            self._write(folder, replace(record, documents=tuple(rows)))

    def data(self, corpus_id: str) -> dict[str, DocumentData]:
        """Return the tags and date of each document that has any, by its id. Raises CorpusNotFound, CorpusDamaged."""
        rows = self._record(corpus_id).documents
        return {row.id: DocumentData(row.tags, row.date) for row in rows if row.tags or row.date}

    def remove(self, corpus_id: str, document_id: str) -> None:
        """Remove the document from the corpus; an unknown id changes nothing."""
        self._folder(corpus_id)
        with self._locked(message("what.document_list", corpus=corpus_id), message("kept.document")):
            folder, record = self._folder(corpus_id), self._record(corpus_id)
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
        readable, damaged = [], []
        for name in sorted(path.parent.name for path in self.root.glob("*/corpus.json")):
            if not _ID.fullmatch(name):
                continue  # a copied folder is no corpus
            try:
                readable.append(self.summary(name))
            except CorpusDamaged as error:
                damaged.append(Damaged(name, str(error)))
            except CorpusNotFound:
                continue  # deleted just now
        return readable, damaged

    def summary(self, corpus_id: str) -> CorpusSummary:
        """Return the corpus's card. Raises CorpusNotFound or CorpusDamaged."""
        record = self._record(corpus_id)
        return CorpusSummary(
            id=record.id,
            name=record.name,
            description=record.description,
            sample=record.sample,
            documents=len(record.documents),
            tokens=sum(row.tokens for row in record.documents),
            created=record.created,
        )

    def documents(self, corpus_id: str) -> list[DocumentSummary]:
        """Return rows of the corpus's documents, by name."""
        return sorted(self._record(corpus_id).documents, key=lambda row: (row.name, row.id))

    def document(self, corpus_id: str, document_id: str) -> Document:
        """Return the document with its text. Raises CorpusNotFound, or CorpusDamaged when its file does not read."""
        path = self._document_file(corpus_id, document_id)
        try:
            return from_json(Document, path.read_bytes(), name=path.name, max_bytes=_MAX_DOCUMENT_BYTES)
        except RecordDamaged as error:
            raise CorpusDamaged("corpus.document_damaged", path=str(path), reason=error.reason) from error


def tidy_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags, white space folded, each once, sorted; a comma parts two of them."""
    words = (" ".join(word.split()) for tag in tags for word in tag.replace("，", ",").split(","))
    return tuple(sorted({word for word in words if word}))


def _names_by_id(record: CorpusRecord) -> dict[str, str]:
    """Return the documents' names by the ids that their texts have, and those that their files gave."""
    read = {row.read_as: row.name for row in record.documents if row.read_as}
    return read | {row.id: row.name for row in record.documents}


def _duplicate(name: str, first: str) -> Refusal:
    return Refusal(name, message("file.already_in_corpus", first=first))


def _require_ours(folder: Path) -> None:
    """Raise FolderRefused where something that is not of a corpus would go with the folder."""
    if folder.is_symlink():
        raise FolderRefused("corpus.folder_is_link", folder=str(folder))
    strange = [path.name for path in sorted(folder.iterdir()) if not _FILE.fullmatch(path.name) or path.is_dir()]
    if strange:
        raise FolderRefused("corpus.folder_not_ours", folder=str(folder), file=strange[0])
