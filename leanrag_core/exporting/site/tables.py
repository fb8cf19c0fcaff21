"""The tables of an index in shards: entities of each layer with their descriptions and relations, and chunks.

An entity is named by its layer and its row, as "1.23": ids of the index would take more room than all else.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leanrag_core.exporting.site.shards import SiteFiles, bytes_each, clipped
from leanrag_core.queries.browse import forms_by_name
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.rows import entries_of, numbers

ENTITIES, CHUNKS = 1_000, 200  # rows of a shard
_RELATIONS, _MENTIONS = 60, 60  # that are listed of an entity and of a chunk
_DESCRIPTIONS, _RELATION_TEXTS, _CHUNK_TEXTS = 13_000_000, 8_000_000, 13_000_000  # bytes before compression
_LEAST = 30  # bytes that every text keeps
_NAME = 200


def with_short_ids(index: Index) -> Index:
    """Return the index with entities that are named by layer and row."""
    layers = []
    for layer in index.layers:
        ids = pa.array([f"{layer.number}.{row}" for row in range(len(layer))], pa.string())
        place = layer.entities.schema.get_field_index("id")
        layers.append(replace(layer, entities=layer.entities.set_column(place, "id", [ids])))
    return replace(index, layers=tuple(layers))


def write_tables(index: Index, files: SiteFiles) -> int:
    """Write all tables; return how many texts are cut."""
    descriptions = _Texts(
        _DESCRIPTIONS, [text for layer in index.layers for text in _cells(layer.entities, "description")]
    )
    relation_texts = _Texts(
        _RELATION_TEXTS, [text for layer in index.layers for text in _cells(layer.relations, "description")]
    )
    forms = forms_by_name(index.report.aliases)
    for layer in index.layers:
        names = [clipped(name, _NAME) for name in _cells(layer.entities, "name")]
        files.add(f"layer-{layer.number}", _columns(index, layer, names))
        _write_about(layer, files, descriptions, relation_texts, forms)
    return descriptions.n_cut + relation_texts.n_cut + _write_chunks(index, files)


class _Texts:
    """Texts of one kind, each cut to the length that all of them have room for. n_cut: how many were."""

    def __init__(self, budget: int, texts: Sequence[str]) -> None:
        sizes = [len(text.encode()) for text in texts]
        self._most = bytes_each(sizes, budget, least=_LEAST)
        self.n_cut = sum(size > self._most for size in sizes)

    def __call__(self, text: str) -> str:
        return clipped(text, self._most)


def _cells(table: pa.Table, name: str) -> list[str]:
    return [text or "" for text in table[name].to_pylist()]


def _columns(index: Index, layer: Layer, names: Sequence[str]) -> dict[str, Any]:
    """Return what is known of all entities of a layer at once. below: base entities inside, of aggregated ones."""
    coded = pc.fill_null(layer.entities["type"].combine_chunks(), "").dictionary_encode()
    return {
        "names": names,
        "typeNames": coded.dictionary.to_pylist(),
        "types": coded.indices.to_pylist(),
        "parents": layer.parent.tolist(),
        "degrees": layer.degrees.tolist(),
        "below": index.leaf_counts[layer.number].tolist() if layer.number else [],
    }


def _write_about(
    layer: Layer, files: SiteFiles, descriptions: _Texts, relation_texts: _Texts, forms: dict[str, tuple[str, ...]]
) -> None:
    """Write descriptions, findings, chunks, other forms of the name, and the strongest relations of each entity."""
    n, relations = len(layer), layer.relations
    strength = numbers(relations["strength"]) if layer.number else layer.weights
    rows, others, offsets = _by_entity(layer, np.asarray(strength, dtype=np.float64))
    kinds = pc.fill_null(relations["kind"].combine_chunks(), "").dictionary_encode()
    kind_names, kind_codes = kinds.dictionary.to_pylist(), numbers(kinds.indices)
    texts = [relation_texts(text) for text in _cells(relations, "description")]
    about = [descriptions(text) for text in _cells(layer.entities, "description")]
    findings, names = layer.entities["findings"].to_pylist(), _cells(layer.entities, "name")
    for start in range(0, n, ENTITIES):
        block = range(start, min(n, start + ENTITIES))
        listed = np.concatenate([np.arange(offsets[row], offsets[row + 1])[:_RELATIONS] for row in block])
        chosen = rows[listed]
        chunks = [layer.chunks_of(row) for row in block]
        files.add(
            f"about-{layer.number}-{start // ENTITIES}",
            {
                "texts": about[block.start : block.stop],
                "findings": [[[each["summary"], each["explanation"]] for each in findings[row] or ()] for row in block],
                "chunks": [each[:_MENTIONS].tolist() for each in chunks],
                "n_chunks": [len(each) for each in chunks],
                "forms": {row - start: list(forms[names[row]]) for row in block if names[row] in forms},
                "kinds": kind_names,
                "listed": [int(min(_RELATIONS, offsets[row + 1] - offsets[row])) for row in block],
                "others": others[listed].tolist(),
                "strengths": [round(float(value), 4) for value in np.asarray(strength)[chosen]],
                "kind": kind_codes[chosen].tolist(),
                "said": [texts[row] for row in chosen.tolist()],
            },
        )


def _by_entity(layer: Layer, strength: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the relations of all entities, the strongest of each first: rows, the entity at the other end, and where
    those of each entity begin, (n + 1,). strength: (r,)."""
    ends = layer.ends.astype(np.int64)
    rows = np.tile(np.arange(len(ends)), 2)
    near_ends, far_ends = np.concatenate([ends[:, 0], ends[:, 1]]), np.concatenate([ends[:, 1], ends[:, 0]])
    order = np.lexsort((rows, -strength[rows], near_ends))
    counts = np.bincount(near_ends, minlength=len(layer))
    return rows[order], far_ends[order], np.concatenate([[0], np.cumsum(counts)])


def _write_chunks(index: Index, files: SiteFiles) -> int:
    """Write documents, and the chunks with what is mentioned in them; return how many texts are cut."""
    titles = _cells(index.documents, "title")
    files.add("documents", [clipped(title, _NAME) for title in titles])
    n, documents = index.chunks.num_rows, numbers(index.chunks["document"])
    spans = index.chunk_bytes
    sizes = (spans[:, 1] - spans[:, 0]).tolist()
    most = bytes_each(sizes, _CHUNK_TEXTS, least=_LEAST)
    mentioned = index.entity_chunks.tocsc()
    for start in range(0, n, CHUNKS):
        block = range(start, min(n, start + CHUNKS))
        texts = [index.chunk(row).text for row in block]
        inside = [np.sort(entries_of(mentioned, row)) for row in block]
        files.add(
            f"chunks-{start // CHUNKS}",
            {
                "texts": [clipped(text, most) for text in texts],
                "documents": documents[block.start : block.stop].tolist(),
                "mentions": [each[:_MENTIONS].tolist() for each in inside],
                "n_mentions": [len(each) for each in inside],
            },
        )
    return sum(size > most for size in sizes)
