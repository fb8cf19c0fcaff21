"""A hierarchy small enough to check by hand.

    layer 2            farm (0)
    layer 1      bees (0)      fields (1)
    layer 0  queen honey mite   rape clover seed-coat
             (0)   (1)   (2)    (3)  (4)    (5)

Chunks: 0 queen honey, 1 honey mite, 2 rape clover honey, 3 seed-coat.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.manifest import count_layers
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.build_report import BuildReport, Spent
from leanrag_core.types.graph import ENTITY_SCHEMA, RELATION_SCHEMA, Layer
from leanrag_core.types.index import CHUNK_SCHEMA, DOCUMENT_SCHEMA, Index
from leanrag_core.types.manifest import CorpusName, EmbeddingRecord, IndexCounts, Manifest
from leanrag_core.types.summary import RecordedConfig

EMPTY_REPORT = BuildReport({}, (), Spent())
TEXTS = (
    "The queen lays eggs. The workers store honey. A mite drinks from the bee and spoils the honey.",
    "Oilseed rape and clover give honey. The seed coat keeps beetles away.",
)
SPANS = ((0, 0, 45), (0, 46, 94), (1, 0, 35), (1, 36, 69))
NAMES = ("queen", "honey", "mite", "rape", "clover", "seed coat")
CHUNKS = ([0], [0, 1, 2], [1], [2], [2], [3])


def entity(name: str, chunks: list[int], description: str = "", **more: object) -> dict[str, object]:
    return {
        "id": f"id-{name}",
        "name": name,
        "type": "concept",
        "description": description or f"About {name}.",
        "findings": [],
        "chunks": chunks,
        "promoted": False,
        **more,
    }


def relation(source: int, target: int, **more: object) -> dict[str, object]:
    return {
        "id": f"rel-{source}-{target}-{more.get('kind', 'verb')}",
        "source": source,
        "target": target,
        "weight": 1.0,
        "strength": 1,
        "kind": "verb",
        "description": f"{source} meets {target}.",
        "keywords": [],
        "chunks": [],
        "members": [],
        **more,
    }


def unit(rows: list[list[float]]) -> np.ndarray:
    vectors = np.array(rows, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def layer(
    number: int,
    entities: list[dict[str, object]],
    relations: list[dict[str, object]],
    vectors: np.ndarray,
    parent: list[int],
) -> Layer:
    return Layer(
        entities=pa.Table.from_pylist(entities, schema=ENTITY_SCHEMA),
        relations=pa.Table.from_pylist(relations, schema=RELATION_SCHEMA),
        number=number,
        vectors=vectors,
        parent=np.array(parent, dtype=np.int32),
    )


def small_index() -> Index:
    base = layer(
        0,
        [entity(name, chunks) for name, chunks in zip(NAMES, CHUNKS, strict=True)],
        [relation(0, 1, weight=4.0), relation(1, 2), relation(1, 3), relation(3, 4, weight=2.0), relation(2, 5)],
        unit([[1, 0, 0, 0], [0.8, 0.6, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0.8, 0.6], [0, 0, 0, 1]]),
        [0, 0, 0, 1, 1, 1],
    )
    middle = layer(
        1,
        [entity("bees", [0, 1, 2]), entity("fields", [2, 3])],
        [relation(0, 1, kind="concatenated", strength=2, members=[2, 4], description="Bees meet fields.")],
        unit([[1, 1, 0, 0], [0, 0, 1, 1]]),
        [0, 0],
    )
    root = layer(2, [entity("farm", [0, 1, 2, 3])], [], unit([[1, 1, 1, 1]]), [])
    documents = [
        {
            "id": f"doc-{row}",
            "name": f"{row}.txt",
            "title": f"Document {row}",
            "media_type": "text",
            "text": text,
            "language": "en",
            "pages": [],
            "headings": [],
            "boilerplate": [],
            "notes": [],
        }
        for row, text in enumerate(TEXTS)
    ]
    chunks = [
        {
            "id": f"chunk-{row}",
            "document": document,
            "start": start,
            "end": end,
            "tokens": count_tokens(TEXTS[document][start:end]),
        }
        for row, (document, start, end) in enumerate(SPANS)
    ]
    layers = (base, middle, root)
    manifest = Manifest(
        format_version=1,
        id="index-small",
        name="small",
        kind="heuristic graph",
        corpus=CorpusName("c", "c"),
        config=recorded(cluster_size=3, size_cap=True, model="builtin"),
        embedding=EmbeddingRecord("builtin", "x", 4),
        counts=IndexCounts(documents=2, chunks=4, layers=3, entities=(6, 2, 1), relations=(5, 1, 0)),
        layers=count_layers(layers),
    )
    return Index(
        manifest=manifest,
        documents=pa.Table.from_pylist(documents, schema=DOCUMENT_SCHEMA),
        chunks=pa.Table.from_pylist(chunks, schema=CHUNK_SCHEMA),
        layers=layers,
        chunk_vectors=unit([[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]),
        report=EMPTY_REPORT,
    )


def recorded(**settings: Any) -> RecordedConfig:
    """Return the record of a config that has those settings alone."""
    return RecordedConfig(**settings).noting(settings)
