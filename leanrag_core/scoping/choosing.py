"""Which documents of an index a scope holds, and what is known of each."""

from dataclasses import replace

import numpy as np

from leanrag_core.errors import InvalidConfig
from leanrag_core.text.dates import date_of_text
from leanrag_core.types.index import FOLDER, Index
from leanrag_core.types.scope import Data, DocumentData, Scope, ScopedDocument

_HEAD = 2_000  # characters of a text in which its date is looked for


def documents_of(index: Index) -> tuple[ScopedDocument, ...]:
    """Return what the index itself knows of each document, by row: its folder, and the date that its text gives."""
    import pyarrow.compute as pc

    table = index.documents
    heads = pc.utf8_slice_codeunits(table["text"], 0, _HEAD).to_pylist()
    folders = table[FOLDER].to_pylist() if FOLDER in table.column_names else [""] * table.num_rows
    rows = zip(table["id"].to_pylist(), table["name"].to_pylist(), folders, heads, strict=True)
    return tuple(ScopedDocument(id_, name, folder or "", date=date_of_text(head)) for id_, name, folder, head in rows)


def with_data(documents: tuple[ScopedDocument, ...], data: Data) -> tuple[ScopedDocument, ...]:
    """Return the documents with their tags and dates set by hand or read from files. data: by document id."""
    if not data:
        return documents
    none = DocumentData()
    known = ((document, data.get(document.id, none)) for document in documents)
    return tuple(replace(document, tags=each.tags, date=each.date or document.date) for document, each in known)


def rows_in(scope: Scope, documents: tuple[ScopedDocument, ...]) -> np.ndarray:
    """Return the rows of the documents that the scope holds, ascending, (k,) int64; documents: of all rows.

    Raises InvalidConfig for a document, folder or tag that none of them has, and for a scope that holds none.
    """
    names = {name for document in documents for name in (document.id, document.name)}
    folders = {part for document in documents for part in _folders_of(document)}
    tags = {tag for document in documents for tag in document.tags}
    asked = (
        ("scope.unknown_document", scope.documents, names),
        ("scope.unknown_folder", tuple(folder.strip("/") for folder in scope.folders), folders),
        ("scope.unknown_tag", scope.tags, tags),
    )
    for code, wanted, known in asked:
        unknown = [name for name in wanted if name not in known]
        if unknown:
            raise InvalidConfig(code, name=unknown[0])
    rows = [row for row, document in enumerate(documents) if scope.holds(document)]
    if not rows:
        undated = sum(not document.date for document in documents)
        raise InvalidConfig("scope.holds_nothing", undated=undated, total=len(documents))
    return np.array(rows, dtype=np.int64)


def _folders_of(document: ScopedDocument) -> list[str]:
    """Return the document's folder and those above it."""
    parts = document.folder.split("/") if document.folder else []
    return ["/".join(parts[:n]) for n in range(len(parts) + 1)]
