"""The documents of a large corpus in one SQLite file: rows in the order of their names, and each document's text.

A list asks for the rows of one page, a search runs inside the file, and adding writes one document after another, so
that memory holds neither the rows nor the texts of a corpus. Small corpora: storage.corpus_files.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

from leanrag_core.errors import CorpusDamaged
from leanrag_core.files import private
from leanrag_core.files.atomic import sync_file
from leanrag_core.files.records import to_json
from leanrag_core.types.corpus import Document
from leanrag_core.types.summary import DocumentSummary

DATABASE = "documents.db"
BEFORE, FIRST_UPLOAD = 0, 1  # of documents that the corpus had, and of those with which it got this file
_TIMEOUT_SECONDS = 60.0  # for another session that writes
_BLOCK = 2_000  # rows that are read at a time
_KEYS_A_QUERY = 500
_COLUMNS = "id, name, title, media_type, language, characters, tokens, pages, notes, read_as, tags, date"
_TABLES = """
CREATE TABLE documents (
    name TEXT NOT NULL, id TEXT NOT NULL, title TEXT NOT NULL, media_type TEXT NOT NULL, language TEXT NOT NULL,
    characters INTEGER NOT NULL, tokens INTEGER NOT NULL, pages INTEGER NOT NULL, notes TEXT NOT NULL,
    read_as TEXT NOT NULL, tags TEXT NOT NULL, date TEXT NOT NULL, sought TEXT NOT NULL, upload INTEGER NOT NULL,
    PRIMARY KEY (name, id)
) WITHOUT ROWID;
CREATE TABLE texts (id TEXT PRIMARY KEY, name TEXT NOT NULL, content BLOB NOT NULL);
CREATE TABLE state (version INTEGER NOT NULL, upload INTEGER NOT NULL);
INSERT INTO state VALUES (0, 1);
"""
# Made after the rows of a new file: in one go each of them takes a tenth of the time.
_INDEXES = """
CREATE UNIQUE INDEX IF NOT EXISTS documents_by_id ON documents (id);
CREATE INDEX IF NOT EXISTS documents_by_language ON documents (language, tokens);
CREATE INDEX IF NOT EXISTS documents_by_upload ON documents (upload);
CREATE INDEX IF NOT EXISTS documents_read_as ON documents (read_as) WHERE read_as <> '';
CREATE INDEX IF NOT EXISTS documents_described ON documents (id) WHERE tags <> '[]' OR date <> '';
"""
_INSERT = "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class DocumentRows(Sequence[DocumentSummary]):
    """Rows of a corpus's documents by name, read when they are looked at. Its length is fixed when it is made.

    wanted: a piece of the title or the name, in small letters. upload: number of the upload that brought the documents;
    None for all.
    """

    def __init__(self, database: "CorpusDatabase", *, wanted: str = "", upload: int | None = None) -> None:
        self._database = database
        terms: list[tuple[str, Any]] = []
        if wanted:
            terms.append(("instr(sought, ?) > 0", wanted))
        if upload is not None:
            terms.append(("upload = ?", upload))
        self._where = " AND ".join(term for term, _ in terms) or "1"
        self._values = tuple(value for _, value in terms)
        self._n = int(database.ask(f"SELECT COUNT(*) FROM documents WHERE {self._where}", self._values)[0][0])

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, place: int) -> DocumentSummary: ...

    @overload
    def __getitem__(self, place: slice) -> list[DocumentSummary]: ...

    def __getitem__(self, place: int | slice) -> DocumentSummary | list[DocumentSummary]:
        if isinstance(place, slice):
            start, stop, step = place.indices(self._n)
            if step == 1:
                return self._from("1", (), stop - start, start)
            return self._every(start, stop, step)
        row = place + self._n if place < 0 else place
        rows = self._from("1", (), 1, row) if 0 <= row < self._n else []
        if not rows:
            raise IndexError(place)
        return rows[0]

    def __iter__(self) -> Iterator[DocumentSummary]:
        last = ("", "")
        while rows := self._from("(name, id) > (?, ?)", last, _BLOCK):
            yield from rows
            last = (rows[-1].name, rows[-1].id)

    def _every(self, start: int, stop: int, step: int) -> list[DocumentSummary]:
        """Return the rows of range(start, stop, step), in one pass."""
        wanted = range(start, stop, step)
        if not wanted:
            return []
        numbered = f"SELECT *, ROW_NUMBER() OVER (ORDER BY name, id) - 1 AS place FROM documents WHERE {self._where}"
        query = (
            f"SELECT {_COLUMNS} FROM ({numbered}) WHERE place BETWEEN ? AND ? AND (place - ?) % ? = 0 ORDER BY place"
        )
        low, high = min(wanted), max(wanted)
        rows = [_row(cells) for cells in self._database.ask(query, (*self._values, low, high, low, abs(step)))]
        return rows if step > 0 else rows[::-1]

    def _from(self, where: str, values: tuple[Any, ...], limit: int, offset: int = 0) -> list[DocumentSummary]:
        if limit <= 0:
            return []
        query = f"SELECT {_COLUMNS} FROM documents WHERE {self._where} AND {where} ORDER BY name, id LIMIT ? OFFSET ?"
        return [_row(cells) for cells in self._database.ask(query, (*self._values, *values, limit, offset))]


class CorpusDatabase:
    """The documents of one corpus. Every method that reads raises CorpusDamaged, every one that writes OSError."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        # A file that is not there would be made, empty.
        with closing(sqlite3.connect(f"{self.path.as_uri()}?mode=rw", _TIMEOUT_SECONDS, uri=True)) as opened:
            opened.isolation_level = None
            opened.execute("PRAGMA synchronous = FULL")
            yield opened

    def ask(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of the query."""
        try:
            with self._open() as opened:
                return opened.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise CorpusDamaged("corpus.disk_refuses", path=str(self.path), reason=str(error)) from error

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """Change the file in one transaction."""
        try:
            with self._open() as opened:
                opened.execute("BEGIN IMMEDIATE")
                yield opened
                opened.execute("UPDATE state SET version = version + 1")
                opened.execute("COMMIT")
        except sqlite3.Error as error:
            raise OSError(str(error)) from error

    def path_of(self, document_id: str) -> Path:
        """Return the file that holds the document."""
        return self.path

    def delete(self) -> None:
        """Delete the file, with what SQLite keeps beside it."""
        for ending in ("", "-wal", "-shm"):
            self.path.with_name(f"{self.path.name}{ending}").unlink(missing_ok=True)

    @property
    def version(self) -> int:
        """The number of changes so far."""
        return int(self.ask("SELECT version FROM state")[0][0])

    def counts(self) -> tuple[int, int]:
        """Return how many documents and how many tokens there are."""
        n, tokens = self.ask("SELECT COUNT(*), COALESCE(SUM(tokens), 0) FROM documents")[0]
        return int(n), int(tokens)

    def rows(self, *, wanted: str = "", upload: int | None = None) -> DocumentRows:
        """Return the documents' rows; see DocumentRows."""
        return DocumentRows(self, wanted=wanted.casefold(), upload=upload)

    def row(self, document_id: str) -> DocumentSummary | None:
        """Return the document's row; None where there is none."""
        rows = self.ask(f"SELECT {_COLUMNS} FROM documents WHERE id = ?", (document_id,))
        return _row(rows[0]) if rows else None

    def rows_of(self, ids: Sequence[str]) -> dict[str, DocumentSummary]:
        """Return the rows of those of the documents that are there, by id."""
        rows: dict[str, DocumentSummary] = {}
        for start in range(0, len(ids), _KEYS_A_QUERY):
            part = ids[start : start + _KEYS_A_QUERY]
            query = f"SELECT {_COLUMNS} FROM documents WHERE id IN ({','.join('?' * len(part))})"
            rows |= {row.id: row for row in map(_row, self.ask(query, part))}
        return rows

    def name_of(self, document_id: str) -> str:
        """Return the name of the document that has that id, or whose file gave it; "" where there is none."""
        by_read_as = "SELECT name FROM documents WHERE read_as = ?1 AND read_as <> ''"  # so that its index is used
        query = f"SELECT name FROM documents WHERE id = ?1 UNION ALL {by_read_as} LIMIT 1"
        rows = self.ask(query, (document_id,))
        return str(rows[0][0]) if rows else ""

    def has_name(self, name: str, upload: int) -> bool:
        """Tell whether that upload had a document of that name."""
        return bool(self.ask("SELECT 1 FROM documents WHERE name = ? AND upload = ? LIMIT 1", (name, upload)))

    def content(self, document_id: str) -> bytes | None:
        """Return the stored document; None where there is none."""
        rows = self.ask("SELECT content FROM texts WHERE id = ?", (document_id,))
        return bytes(rows[0][0]) if rows else None

    def contents(self) -> Iterator[bytes]:
        """Yield every stored document, by name."""
        last = ("", "")
        query = (
            "SELECT documents.name, documents.id, content FROM documents JOIN texts ON texts.id = documents.id "
            "WHERE (documents.name, documents.id) > (?, ?) ORDER BY documents.name, documents.id LIMIT ?"
        )
        while block := self.ask(query, (*last, _BLOCK)):
            yield from (bytes(content) for *_, content in block)
            last = (block[-1][0], block[-1][1])

    def languages(self) -> dict[str, int]:
        """Return the tokens of each language."""
        return dict(self.ask("SELECT language, SUM(tokens) FROM documents GROUP BY language"))

    def described(self) -> list[DocumentSummary]:
        """Return the rows that have tags or a date."""
        return [_row(row) for row in self.ask(f"SELECT {_COLUMNS} FROM documents WHERE tags <> '[]' OR date <> ''")]

    def remove(self, document_id: str) -> None:
        """Remove the document; an unknown id changes nothing."""
        with self._changing() as opened:
            opened.execute("DELETE FROM documents WHERE id = ?", (document_id,))
            opened.execute("DELETE FROM texts WHERE id = ?", (document_id,))

    def replace(self, document_id: str, document: Document, row: DocumentSummary) -> None:
        """Put the document and its row in the place of that one."""
        with self._changing() as opened:
            upload = opened.execute("SELECT upload FROM documents WHERE id = ?", (document_id,)).fetchone()[0]
            opened.execute("DELETE FROM documents WHERE id = ?", (document_id,))
            opened.execute("DELETE FROM texts WHERE id = ?", (document_id,))
            opened.execute(_INSERT, _cells(row, upload))
            opened.execute("INSERT INTO texts VALUES (?, ?, ?)", (document.id, document.name, to_json(document)))

    def set_rows(self, rows: Iterable[DocumentSummary]) -> None:
        """Put tags and dates of these rows in the place of those of their ids."""
        with self._changing() as opened:
            opened.executemany(
                "UPDATE documents SET tags = ?, date = ? WHERE id = ?",
                ((_listed(row.tags), row.date, row.id) for row in rows),
            )

    def take(self, added: Path) -> tuple[int, list[DocumentSummary]]:
        """Add what StagedDocuments has written to that file; returns the number of the upload, and the rows whose
        documents were there already."""
        known = "id IN (SELECT id FROM documents) OR id IN (SELECT read_as FROM documents WHERE read_as <> '')"
        try:
            with self._open() as opened:
                opened.execute("ATTACH ? AS added", (str(added),))
                opened.execute("BEGIN IMMEDIATE")
                twice = opened.execute(f"SELECT {_COLUMNS} FROM added.documents WHERE {known}").fetchall()
                upload = opened.execute("SELECT upload + 1 FROM state").fetchone()[0]
                columns = f"{_COLUMNS}, sought, upload"
                opened.execute(
                    f"INSERT INTO documents ({columns}) SELECT {_COLUMNS}, sought, ? FROM added.documents "
                    f"WHERE NOT ({known})",
                    (upload,),
                )
                opened.execute(
                    "INSERT OR IGNORE INTO texts SELECT id, name, content FROM added.texts "
                    "WHERE id IN (SELECT id FROM documents)"
                )
                opened.execute("UPDATE state SET version = version + 1, upload = upload + 1")
                opened.execute("COMMIT")
        except sqlite3.Error as error:
            raise OSError(str(error)) from error
        return int(upload), [_row(cells) for cells in twice]


class StagedDocuments:
    """Documents on their way into a corpus, in a file beside its own that is not synced before it is complete."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch(mode=private.FILE)
        self._opened = sqlite3.connect(path, check_same_thread=False)
        self._opened.isolation_level = None
        self._opened.execute("PRAGMA journal_mode = OFF")  # a file that is cut short is deleted
        self._opened.execute("PRAGMA synchronous = OFF")
        self._opened.execute("PRAGMA cache_size = -65536")
        self._opened.executescript(_TABLES)
        self._opened.execute("BEGIN")

    def put(self, document_id: str, content: bytes, row: DocumentSummary, upload: int = FIRST_UPLOAD) -> None:
        """Write the document, of an id that was not written yet."""
        try:
            self._opened.execute("INSERT INTO texts VALUES (?, ?, ?)", (document_id, row.name, content))
            self._opened.execute(_INSERT, _cells(row, upload))
        except sqlite3.Error as error:
            raise OSError(str(error)) from error

    def name_of(self, document_id: str) -> str:
        """Return the name of a document that was written; "" for any other."""
        name_row = self._opened.execute("SELECT name FROM texts WHERE id = ?", (document_id,)).fetchone()
        return str(name_row[0]) if name_row else ""

    def drop(self, document_id: str) -> None:
        """Remove a document that was written."""
        self._opened.execute(
            "DELETE FROM documents WHERE name = ? AND id = ?", (self.name_of(document_id), document_id)
        )
        self._opened.execute("DELETE FROM texts WHERE id = ?", (document_id,))

    def complete(self) -> None:
        """Write all to the disk. The file can then take the place of a corpus's own, or be taken in by it."""
        try:
            self._opened.execute("COMMIT")
            self._opened.executescript(_INDEXES)
            self._opened.execute("PRAGMA journal_mode = WAL")  # readers go on while another session writes
            self._opened.close()
        except sqlite3.Error as error:
            raise OSError(str(error)) from error
        sync_file(self.path)

    def close(self) -> None:
        """Close the file."""
        self._opened.close()


def _cells(row: DocumentSummary, upload: int) -> tuple[Any, ...]:
    """Return the row's cells in the order of the table."""
    return (
        row.name,
        row.id,
        row.title,
        row.media_type,
        row.language,
        row.characters,
        row.tokens,
        row.pages,
        _listed(row.notes),
        row.read_as,
        _listed(row.tags),
        row.date,
        f"{row.title} {row.name}".casefold(),
        upload,
    )


def _listed(texts: Sequence[str]) -> str:
    return json.dumps(texts, ensure_ascii=False) if texts else "[]"


def _row(cells: tuple[Any, ...]) -> DocumentSummary:
    row = DocumentSummary(*cells)
    return replace(row, notes=_texts(cells[8]), tags=_texts(cells[10]))


def _texts(listed: str) -> tuple[str, ...]:
    return tuple(json.loads(listed)) if listed != "[]" else ()
