"""The documents of a small corpus: their rows in its record, and a file each.

Large corpora have them in one database (storage.corpus_database), whose methods have the same names.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from leanrag_core.files.atomic import write_bytes
from leanrag_core.files.records import to_json
from leanrag_core.storage.corpus_record import ID, RECORD, CorpusRecord, write_record
from leanrag_core.types.corpus import Document
from leanrag_core.types.summary import DocumentSummary


class DocumentFiles:
    """The documents of one corpus, as they are when it is made. Every method that writes raises OSError."""

    version = 0  # it is the record that changes

    def __init__(self, folder: Path, record: CorpusRecord) -> None:
        self._folder, self._record = folder, record

    def path_of(self, document_id: str) -> Path:
        """Return the file that holds the document."""
        return self._folder / f"{document_id}.json"

    def _write(self, rows: Iterable[DocumentSummary]) -> None:
        write_record(self._folder, replace(self._record, documents=tuple(rows)))

    def counts(self) -> tuple[int, int]:
        """Return how many documents and how many tokens there are."""
        return len(self._record.documents), sum(row.tokens for row in self._record.documents)

    def rows(self, *, wanted: str = "") -> list[DocumentSummary]:
        """Return the documents' rows by name. wanted: a piece of the title or the name, whatever its case."""
        sought = wanted.casefold()
        rows = (row for row in self._record.documents if sought in f"{row.title} {row.name}".casefold())
        return sorted(rows, key=lambda row: (row.name, row.id))

    def row(self, document_id: str) -> DocumentSummary | None:
        """Return the document's row; None where there is none."""
        return self.rows_of([document_id]).get(document_id)

    def rows_of(self, ids: Iterable[str]) -> dict[str, DocumentSummary]:
        """Return the rows of those of the documents that are there, by id."""
        wanted = set(ids)
        return {row.id: row for row in self._record.documents if row.id in wanted}

    def described(self) -> list[DocumentSummary]:
        """Return the rows that have tags or a date."""
        return [row for row in self._record.documents if row.tags or row.date]

    def languages(self) -> dict[str, int]:
        """Return the tokens of each language."""
        tokens_of: Counter[str] = Counter()
        for row in self._record.documents:
            tokens_of[row.language] += row.tokens
        return dict(tokens_of)

    def content(self, document_id: str) -> bytes | None:
        """Return the stored document; None where there is none."""
        path = self.path_of(document_id)
        if not ID.fullmatch(document_id) or path.name == RECORD or not path.is_file():
            return None
        return path.read_bytes()

    def set_rows(self, rows: Iterable[DocumentSummary]) -> None:
        """Put these rows in the place of those of their ids."""
        changed = {row.id: row for row in rows}
        self._write(changed.get(row.id, row) for row in self._record.documents)

    def replace(self, document_id: str, document: Document, row: DocumentSummary) -> None:
        """Put the document and its row in the place of that one."""
        write_bytes(self.path_of(document.id), to_json(document), private=True)
        self._write(row if each.id == document_id else each for each in self._record.documents)
        self.path_of(document_id).unlink(missing_ok=True)

    def remove(self, document_id: str) -> None:
        """Remove the document; an unknown id changes nothing."""
        if self.row(document_id) is not None:
            self._write(row for row in self._record.documents if row.id != document_id)
            self.path_of(document_id).unlink(missing_ok=True)
