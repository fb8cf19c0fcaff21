"""What an index holds, in numbers."""

from collections.abc import Sequence

import numpy as np

from leanrag_core.storage.part_store import PartStore, StoredPart
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import IndexDescription, PartDescription
from leanrag_core.types.summary import LayerSummary


def describe(index: Index) -> IndexDescription:
    """Return the result of `show`: counts by layer, how each was clustered, drops, usage."""
    manifest, report = index.manifest, index.report
    return IndexDescription(
        format_version=manifest.format_version,
        id=manifest.id,
        name=manifest.name,
        kind=manifest.kind,
        builtin_texts=manifest.builtin_texts,
        config=manifest.config.values(),
        embedding=manifest.embedding,
        documents=manifest.counts.documents,
        chunks=manifest.counts.chunks,
        layers=manifest.layers,
        clustering=report.clustering,
        drops=report.drops,
        empty_chunks=len(report.empty_chunks),
        usage=report.usage,
        lineage=manifest.lineage,
        parts=tuple(map(_described_part, PartStore(index.path).all())) if index.path is not None else (),
    )


def _described_part(part: StoredPart) -> PartDescription:
    record = part.record
    return PartDescription(
        name=part.name,
        status=part.status,
        fingerprint=part.fingerprint,
        bytes=part.size_bytes,
        seconds=record.seconds if record is not None else 0.0,
        usage=record.usage if record is not None else None,
    )


def count_layers(layers: Sequence[Layer]) -> tuple[LayerSummary, ...]:
    """Count entities, relations and clusters of every layer; a build stores the counts in the manifest."""
    rows = []
    for number, layer in enumerate(layers):
        counted = layer.relations["kind"].value_counts()
        kinds = dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True))
        sizes = np.bincount(layer.parent) if len(layer.parent) else np.zeros(0, dtype=int)
        rows.append(
            LayerSummary(
                layer=number,
                entities=len(layer),
                relations=layer.relations.num_rows,
                summarised=kinds.get("summarised", 0),
                concatenated=kinds.get("concatenated", 0),
                clusters=len(sizes),
                largest_cluster=int(sizes.max()) if len(sizes) else 0,
                components=connected_components(len(layer), layer.ends),
            )
        )
    return tuple(rows)


def connected_components(n_nodes: int, ends: np.ndarray) -> int:
    """Count the connected components of an undirected graph. ends: (r, 2) int rows."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components as components

    links = coo_array((np.ones(len(ends), dtype=np.int8), (ends[:, 0], ends[:, 1])), shape=(n_nodes, n_nodes))
    return int(components(links, directed=False, return_labels=False))
