"""Every file is the one that was written, and every table can be read to its last cell."""

import re
from collections.abc import Iterator

import pyarrow as pa

from leanrag_core.checking.problem import Note, Problem, Subject
from leanrag_core.messages.catalog import sentence
from leanrag_core.storage.digests import differing


def hashes(subject: Subject) -> Iterator[Problem | Note]:
    """Size and sha256 of every file are those that the manifest records."""
    recorded = subject.index.manifest.files
    if subject.folder is None:
        yield Note("the index is in memory alone")
        return
    if not recorded:
        yield Note("hashes are missing: the index was written before they were kept. Build it again to have them")
        return
    for name, problem in differing(subject.folder, recorded):
        yield Problem(name, None, sentence(problem))


def tables(subject: Subject) -> Iterator[Problem | Note]:
    """Every cell of every table reads: offsets ascend, texts are UTF-8."""
    index = subject.index
    tables_by_name = {"documents": index.documents, "chunks": index.chunks}
    for layer in index.layers:
        tables_by_name |= {f"entities-{layer.number}": layer.entities, f"relations-{layer.number}": layer.relations}
    if index.calls is not None:
        tables_by_name["calls"] = index.calls
    for name, table in tables_by_name.items():
        for column in table.column_names:
            try:
                table[column].validate(full=True)
            except pa.ArrowException as error:
                at = re.search(r"(?:index|slot|at) (\d+)", str(error))
                yield Problem(subject.table(name), int(at[1]) if at else None, f"column {column!r}: {error}")
