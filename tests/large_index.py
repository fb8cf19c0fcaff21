"""A large index made by arithmetic: no model, no clustering; the same size gives the same index.

Entity r of layer i lies under entity r * above // here of the next layer, each layer being a twentieth of the one
below. Every entity has relations to its neighbours in row order, and entity 0 (the hub) one to every second entity.
"""

from itertools import pairwise

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.manifest import count_layers, counts_of
from leanrag_core.storage.layout import FORMAT_VERSION
from leanrag_core.types.graph import ENTITY_SCHEMA, RELATION_SCHEMA, Layer
from leanrag_core.types.index import CHUNK_SCHEMA, DOCUMENT_SCHEMA, Index
from leanrag_core.types.manifest import CorpusName, EmbeddingRecord, Manifest
from tests.small_index import EMPTY_REPORT, recorded

CLUSTER = 20
_IN_CHUNK = 10
_CHUNKS_IN_DOCUMENT = 500
_FIRST = ("Amber", "Copper", "Ivory", "Linen", "Marble", "Ochre", "Paper", "Salt", "Timber", "Wool")
_SECOND = ("harbour", "ledger", "mill", "orchard", "quarry", "road", "school", "tariff", "weaver")
_THIRD = ("of the north coast", "in the old town", "under the second charter", "", "", "", "")
_SAID = "It is told of in the records of the valley, with what was paid for it and by whom, year by year."


def large_index(n: int, *, dimension: int = 32, hub: bool = True, embedding: EmbeddingRecord | None = None) -> Index:
    """Return an index of n entities in layers of n, n / 20, ... 1, some 3 n relations (5 n / 2 when hub), n / 10
    chunks.

    embedding: what the manifest says of the embedding model.
    """
    sizes = [n]
    while sizes[-1] > 1:
        sizes.append(max(1, sizes[-1] // CLUSTER))
    parents = [np.arange(a) * b // a for a, b in pairwise(sizes)]
    n_chunks = max(1, n // _IN_CHUNK)
    layers: list[Layer] = []
    for number, size in enumerate(sizes):
        parent = parents[number].astype(np.int32) if number < len(parents) else np.zeros(0, np.int32)
        relations = _base_relations(n, hub) if number == 0 else _relations_above(layers[-1], number)
        vectors = np.random.default_rng([number, n]).normal(size=(size, dimension)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        layers.append(Layer(_entities(number, size, n_chunks), relations, number, vectors, parent))
    documents, chunks = _passages(n_chunks)
    rows = count_layers(layers)
    manifest = Manifest(
        format_version=FORMAT_VERSION,
        id=f"index-large-{n}",
        name=f"Large, {n:,} entities",
        kind="heuristic graph",
        corpus=CorpusName("", "Large"),
        config=recorded(cluster_size=CLUSTER, model="builtin", embedding="builtin"),
        embedding=embedding or EmbeddingRecord("builtin", "none", dimension),
        counts=counts_of(rows, documents.num_rows, n_chunks),
        layers=rows,
    )
    vectors = layers[0].vectors[:: max(1, n // n_chunks)][:n_chunks]
    return Index(manifest, documents, chunks, tuple(layers), vectors, EMPTY_REPORT)


def name_of(layer: int, row: int) -> str:
    """Return the name of the entity in that row."""
    words = (_FIRST[row % 10], _SECOND[row % 9], _THIRD[row % 7])
    name = " ".join(word for word in words if word)
    if layer:
        return f"Group {layer}.{row}: {name}"
    return f"{name} {row}"


def _entities(number: int, size: int, n_chunks: int) -> pa.Table:
    names = [name_of(number, row) for row in range(size)]
    bounds = np.arange(size + 1, dtype=np.int64) * n_chunks // size
    if number == 0:
        offsets, rows = np.arange(size + 1), np.arange(size) * n_chunks // size
    else:
        offsets, rows = bounds, np.arange(n_chunks)
    return pa.table(
        {
            "id": [f"ent-{number}-{row:x}" for row in range(size)],
            "name": names,
            "type": ["concept" if number == 0 else "aggregated"] * size,
            "description": [f"{name}. {_SAID}" * (1 + min(number, 3)) for name in names],
            "findings": pa.array([[]] * size, ENTITY_SCHEMA.field("findings").type),
            "chunks": pa.ListArray.from_arrays(offsets.astype(np.int32), rows.astype(np.int32)),
            "promoted": np.zeros(size, dtype=bool),
        },
        schema=ENTITY_SCHEMA,
    )


def _base_relations(n: int, hub: bool) -> pa.Table:
    row = np.arange(n)
    steps = [np.stack([row, row + step], axis=1) for step in (1, 7) if n > step]
    ends = np.concatenate([pairs[pairs[:, 1] < n] for pairs in steps] or [np.zeros((0, 2), dtype=int)])
    if hub:
        spokes = np.arange(2, n, 2)
        ends = np.concatenate([ends, np.stack([np.zeros_like(spokes), spokes], axis=1)])
    ends = np.unique(ends, axis=0)
    weight = (1 + (ends.sum(axis=1) % 9)).astype(np.float32)
    return _relations(0, ends, np.ones(len(ends)), weight, np.zeros(len(ends) + 1), np.zeros(0))


def _relations_above(below: Layer, number: int) -> pa.Table:
    ends = np.sort(below.parent[below.ends], axis=1).astype(np.int64)
    rows = np.flatnonzero(ends[:, 0] != ends[:, 1])
    pairs, group = np.unique(ends[rows], axis=0, return_inverse=True)
    members = rows[np.argsort(group.ravel(), kind="stable")]
    counts = np.bincount(group.ravel(), minlength=len(pairs))
    return _relations(number, pairs, counts, counts, np.concatenate([[0], np.cumsum(counts)]), members)


def _relations(
    number: int, ends: np.ndarray, strength: np.ndarray, weight: np.ndarray, offsets: np.ndarray, members: np.ndarray
) -> pa.Table:
    count = len(ends)
    none = pa.ListArray.from_arrays(np.zeros(count + 1, dtype=np.int32), np.zeros(0, dtype=np.int32))
    return pa.table(
        {
            "id": [f"rel-{number}-{row:x}" for row in range(count)],
            "source": ends[:, 0].astype(np.int32),
            "target": ends[:, 1].astype(np.int32),
            "weight": weight.astype(np.float32),
            "strength": strength.astype(np.int32),
            "kind": ["co-occurrence" if number == 0 else "concatenated"] * count,
            "description": ["Both are named in one entry of the records."] * count,
            "keywords": pa.array([[]] * count, pa.list_(pa.string())),
            "chunks": none,
            "members": pa.ListArray.from_arrays(offsets.astype(np.int32), members.astype(np.int32)),
        },
        schema=RELATION_SCHEMA,
    )


def _passages(n_chunks: int) -> tuple[pa.Table, pa.Table]:
    documents, chunks = [], []
    for start in range(0, n_chunks, _CHUNKS_IN_DOCUMENT):
        number, at, parts = start // _CHUNKS_IN_DOCUMENT, 0, []
        for row in range(start, min(n_chunks, start + _CHUNKS_IN_DOCUMENT)):
            text = " ".join(f"{name_of(0, _IN_CHUNK * row + k)} stands in entry {row}." for k in range(_IN_CHUNK))
            chunks.append({"id": f"chunk-{row}", "document": number, "start": at, "end": at + len(text), "tokens": 90})
            parts.append(text)
            at += len(text) + 1
        documents.append(
            {
                "id": f"doc-{number}",
                "name": f"records-{number}.txt",
                "title": f"Records, volume {number + 1}",
                "media_type": "text",
                "text": " ".join(parts),
                "language": "en",
                "pages": [],
                "headings": [],
                "boilerplate": [],
                "notes": [],
            }
        )
    return pa.Table.from_pylist(documents, DOCUMENT_SCHEMA), pa.Table.from_pylist(chunks, CHUNK_SCHEMA)
