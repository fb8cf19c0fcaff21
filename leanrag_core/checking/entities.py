"""Checks of entities: texts, names, chunks, token counts, and ids that follow from content."""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa

from leanrag_core.checking.problem import Note, Problem, Subject, at_rows, flat, texts_differ
from leanrag_core.indexing.aggregation import tables as aggregated
from leanrag_core.indexing.manifest import edits_fingerprint, fingerprint_of, index_id
from leanrag_core.indexing.names import entity_id, name_key, relation_id
from leanrag_core.storage.layout import read_edits
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import HEURISTIC, IMPORTED, REFERENCE_GRAPH
from leanrag_core.types.rows import numbers

_CARRIED = ("name", "type", "description", "findings")


def texts(subject: Subject) -> Iterator[Problem | Note]:
    """Check that every entity has a name and a description, every finding a summary."""
    for layer in subject.index.layers:
        file = subject.table(f"entities-{layer.number}")
        for name in ("name", "description"):
            empty = [row for row, text in enumerate(layer.entities[name].to_pylist()) if not (text and text.strip())]
            yield from at_rows(file, empty, f"the {name} is empty")
        lists = layer.entities["findings"].to_pylist()
        without_summary = [
            row
            for row, findings in enumerate(lists)
            if any(not (finding["summary"] or "").strip() for finding in findings or ())
        ]
        yield from at_rows(file, without_summary, "a finding has no summary")


def entity_names(subject: Subject) -> Iterator[Problem | Note]:
    """Check that an aggregated entity's name differs from its members'; with a single child it has that child's
    texts."""
    base = subject.index.layers[0]
    promoted = np.flatnonzero(base.entities["promoted"].to_numpy(zero_copy_only=False))
    yield from at_rows(subject.table("entities-0"), promoted, "a base entity cannot be promoted")
    for place, (below, above) in enumerate(pairwise(subject.index.layers)):
        offsets, order = subject.index.children[place]
        yield from _layer_names(subject.table(f"entities-{above.number}"), below, above, np.asarray(offsets), order)


def _layer_names(file: str, below: Layer, above: Layer, offsets: np.ndarray, order: np.ndarray) -> Iterator[Problem]:
    """Yield the faulty names of one layer. offsets: (n above + 1,). order: (n below,) children by parent."""
    folded = [_folded(name) for name in below.entities["name"].to_pylist()]
    names_above = [_folded(name) for name in above.entities["name"].to_pylist()]
    promoted = above.entities["promoted"].to_pylist()
    single = np.diff(offsets) == 1
    wrong = np.flatnonzero(np.array(promoted, dtype=bool) != single)
    yield from at_rows(file, wrong, "promoted says otherwise than its number of members")
    alike = [
        row
        for row in range(len(above))
        if not single[row] and names_above[row] in {folded[child] for child in order[offsets[row] : offsets[row + 1]]}
    ]
    yield from at_rows(file, alike, "the name is a member's")
    for row in np.flatnonzero(single).tolist():
        child = int(order[offsets[row]])
        for name in _CARRIED:
            if above.entities[name][row].as_py() != below.entities[name][child].as_py():
                yield Problem(file, row, f"it has a single member, but its {name} is not that of the member")


def _folded(name: str) -> str:
    return " ".join((name or "").split()).casefold()


def chunks(subject: Subject) -> Iterator[Problem | Note]:
    """Check that an entity's chunks are the sorted union of its children's; base entities and relations name chunks
    that exist."""
    index = subject.index
    span, base = index.chunks.num_rows, index.layers[0]
    for name, table in (("entities-0", base.entities), ("relations-0", base.relations)):
        owner, rows = flat(table["chunks"])
        outside = (rows < 0) | (rows >= span)
        yield from at_rows(subject.table(name), np.unique(owner[outside]), "it names a chunk that is not there")
        unsorted = np.flatnonzero((np.diff(rows) <= 0) & (np.diff(owner) == 0))
        yield from at_rows(subject.table(name), np.unique(owner[unsorted]), "its chunks are not in order, each once")
        without_chunk = np.flatnonzero(np.bincount(owner, minlength=table.num_rows) == 0)
        # Imported graphs may have no sources of relations at all; that is no damage.
        if name == "entities-0" or len(rows):
            yield from at_rows(subject.table(name), without_chunk, "it has no chunk")
    for below, above in pairwise(index.layers):
        owner, rows = flat(below.entities["chunks"])
        expected = np.unique(np.asarray(below.parent, dtype=np.int64)[owner] * (span + 1) + rows)
        owner, rows = flat(above.entities["chunks"])
        stored = owner * (span + 1) + rows
        if not np.array_equal(stored, expected):
            different = np.setxor1d(stored, expected) // (span + 1)
            unsorted = owner[np.flatnonzero(np.diff(stored) <= 0)]
            file = subject.table(f"entities-{above.number}")
            text = "its chunks are not the sorted union of its children's"
            yield from at_rows(file, np.unique(np.concatenate([different, unsorted])), text)


def tokens(subject: Subject) -> Iterator[Problem | Note]:
    """Check that the stored token counts of entities and relations are those of their texts."""
    from leanrag_core.storage.counted_columns import entities_with_tokens, relations_with_tokens

    for layer in subject.index.layers:
        entities, relations = entities_with_tokens(layer.entities), relations_with_tokens(layer.relations)
        for kind, table in (("entities", entities), ("relations", relations)):
            for column in (name for name in table.column_names if name in layer.token_counts):
                wrong = np.flatnonzero(numbers(table[column]) != layer.token_counts[column])
                file = subject.table(f"{kind}-{layer.number}")
                yield from at_rows(file, wrong, f"{column} is not the number of tokens of its text")


_NO_BUILD = "the index was not built from documents by this program, so its ids do not follow from its content"


def once(subject: Subject) -> Iterator[Problem | Note]:
    """Check that no id is missing, or there twice: in its table, or in another layer's."""
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
        table_codes = codes[start : start + table.num_rows]
        start += table.num_rows
        ids = table["id"].to_pylist() if (counts > 1).any() or (table_codes < 0).any() else ()
        wrong = [row for row, code in enumerate(table_codes) if code < 0 or counts[code] > 1] if ids else []
        yield from at_rows(subject.table(name), [row for row in wrong if ids[row] is None], "it has no id")
        for row in [row for row in wrong if ids[row] is not None][:20]:
            yield Problem(subject.table(name), row, f"the id {ids[row]!r} is there {counts[table_codes[row]]} times")
        empty = [row for row, id_ in enumerate(table["id"].to_pylist()) if id_ == ""]
        yield from at_rows(subject.table(name), empty, "its id is empty")


def recomputed(subject: Subject) -> Iterator[Problem | Note]:
    """Check that ids of documents, chunks, entities and relations follow from their content."""
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
    entity_ids = [entity_id(name_key(name)) for name in base.entities["name"].to_pylist()]
    yield from _compared(subject, "entities-0", base.entities, entity_ids, "its name")
    ids = base.entities["id"].to_pylist()
    relation_ids = [relation_id(ids[left], ids[right]) for left, right in base.ends.tolist()]
    yield from _compared(subject, "relations-0", base.relations, relation_ids, "its ends")
    yield from _aggregated(subject, index)


def _aggregated(subject: Subject, index: Index) -> Iterator[Problem]:
    for place, (below, above) in enumerate(pairwise(index.layers)):
        number, below_ids = above.number, below.entities["id"].to_pylist()
        offsets, order = index.children[place]
        children = (
            [below_ids[row] for row in order[offsets[parent] : offsets[parent + 1]]] for parent in range(len(above))
        )
        entity_ids = [aggregated.entity_id(number, ids) for ids in children]
        yield from _compared(subject, f"entities-{number}", above.entities, entity_ids, "its layer and children")
        ids = above.entities["id"].to_pylist()
        ends = above.ends.reshape(-1, 2).tolist()
        relation_ids = [aggregated.relation_id(number, ids[left], ids[right]) for left, right in ends]
        yield from _compared(subject, f"relations-{number}", above.relations, relation_ids, "its layer and ends")


def _compared(subject: Subject, name: str, table: pa.Table, expected: Iterable[str], origin: str) -> Iterator[Problem]:
    rows = texts_differ(table["id"].to_pylist(), expected)
    yield from at_rows(subject.table(name), rows, f"its id does not follow from {origin}")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def of_the_index(subject: Subject) -> Iterator[Problem | Note]:
    """Check that the index's id follows from its corpus, configuration and models; its kind from its model, unless
    imported."""
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
