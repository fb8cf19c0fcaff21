"""Ids occur once, and follow from the content of what they name."""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa

from leanrag_core.checking.problem import Note, Problem, Subject, at_rows, texts_differ
from leanrag_core.indexing.aggregation import tables as aggregated
from leanrag_core.indexing.identity import fingerprint_of, index_id
from leanrag_core.indexing.manifest import edits_fingerprint
from leanrag_core.indexing.resolution import names
from leanrag_core.storage.layout import read_edits
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import HEURISTIC, IMPORTED, REFERENCE_GRAPH

_NO_BUILD = "the index was not built from documents by this program, so its ids do not follow from its content"


def once(subject: Subject) -> Iterator[Problem | Note]:
    """No id is missing, or there twice: in its table, or in another layer's."""
    index = subject.index
    yield from _once(subject, {"documents": index.documents})
    yield from _once(subject, {"chunks": index.chunks})
    yield from _once(subject, {f"entities-{layer.number}": layer.entities for layer in index.layers})
    yield from _once(subject, {f"relations-{layer.number}": layer.relations for layer in index.layers})


def _once(subject: Subject, tables: dict[str, pa.Table]) -> Iterator[Problem]:
    ids = pa.chunked_array([piece for table in tables.values() for piece in table["id"].chunks], pa.string())
    coded = ids.combine_chunks().dictionary_encode()
    codes = np.asarray(coded.indices.fill_null(-1))
    counts = np.bincount(codes[codes >= 0], minlength=len(coded.dictionary))
    start = 0
    for name, table in tables.items():
        own = codes[start : start + table.num_rows]
        start += table.num_rows
        ids = table["id"].to_pylist() if (counts > 1).any() or (own < 0).any() else ()
        wrong = [row for row, code in enumerate(own) if code < 0 or counts[code] > 1] if ids else []
        yield from at_rows(subject.table(name), [row for row in wrong if ids[row] is None], "it has no id")
        for row in [row for row in wrong if ids[row] is not None][:20]:
            yield Problem(subject.table(name), row, f"the id {ids[row]!r} is there {counts[own[row]]} times")
        empty = [row for row, id_ in enumerate(table["id"].to_pylist()) if id_ == ""]
        yield from at_rows(subject.table(name), empty, "its id is empty")


def recomputed(subject: Subject) -> Iterator[Problem | Note]:
    """Ids of documents, chunks, entities and relations follow from their content."""
    if not subject.is_build:
        yield Note(_NO_BUILD)
        return
    index = subject.index
    documents = index.documents["id"].to_pylist()
    spans = zip(*(index.chunks[name].to_pylist() for name in ("document", "start", "end")), strict=True)
    texts = (f"doc-{_digest(text.as_buffer())}" for text in index.documents["text"])
    yield from _compared(subject, "documents", index.documents, texts, "its text")
    chunk_ids = [f"chunk-{_digest(f'{documents[owner]}:{start}:{end}'.encode())}" for owner, start, end in spans]
    yield from _compared(subject, "chunks", index.chunks, chunk_ids, "its document and span")
    base = index.layers[0]
    entity_ids = [names.entity_id(names.name_key(name)) for name in base.entities["name"].to_pylist()]
    yield from _compared(subject, "entities-0", base.entities, entity_ids, "its name")
    ids = base.entities["id"].to_pylist()
    relation_ids = [names.relation_id(ids[left], ids[right]) for left, right in base.ends.tolist()]
    yield from _compared(subject, "relations-0", base.relations, relation_ids, "its ends")
    yield from _aggregated(subject, index)


def _aggregated(subject: Subject, index: Index) -> Iterator[Problem]:
    for place, (below, above) in enumerate(pairwise(index.layers)):
        number, below_ids = above.number, below.entities["id"].to_pylist()
        offsets, order = index.children[place]
        children = ([below_ids[row] for row in order[offsets[at] : offsets[at + 1]]] for at in range(len(above)))
        entity_ids = [aggregated.entity_id(number, ids) for ids in children]
        yield from _compared(subject, f"entities-{number}", above.entities, entity_ids, "its layer and children")
        ids = above.entities["id"].to_pylist()
        ends = above.ends.reshape(-1, 2).tolist()
        relation_ids = [aggregated.relation_id(number, ids[left], ids[right]) for left, right in ends]
        yield from _compared(subject, f"relations-{number}", above.relations, relation_ids, "its layer and ends")


def _compared(subject: Subject, name: str, table: pa.Table, expected: Iterable[str], of: str) -> Iterator[Problem]:
    rows = texts_differ(table["id"].to_pylist(), expected)
    yield from at_rows(subject.table(name), rows, f"its id does not follow from {of}")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def of_the_index(subject: Subject) -> Iterator[Problem | Note]:
    """The index's id follows from its corpus, configuration and models; its kind from its model, unless imported."""
    if not subject.is_build:
        yield Note(_NO_BUILD)
        return
    manifest, documents = subject.index.manifest, subject.index.documents
    listed = fingerprint_of(zip(documents["id"].to_pylist(), documents["name"].to_pylist(), strict=True))
    if manifest.corpus_fingerprint != listed:
        yield Problem("manifest.json", None, "corpus_fingerprint is not that of the documents")
    if manifest.id != index_id(manifest.values()):
        yield Problem("manifest.json", None, "id does not follow from corpus, configuration and models")
    if subject.folder is not None and manifest.edits != edits_fingerprint(read_edits(subject.folder)):
        yield Problem("edits.json", None, "the manifest speaks of other edits")
    without_model = manifest.kind in (HEURISTIC, REFERENCE_GRAPH)
    if manifest.kind != IMPORTED and without_model != (manifest.language_model == "none"):
        yield Problem("manifest.json", None, f"kind is {manifest.kind!r}, which language_model contradicts")
