"""What an index holds, in numbers."""

from typing import Any

import numpy as np

from leanrag_core.storage.indexes import layer_summaries
from leanrag_core.types.index import Index


def describe(index: Index) -> dict[str, Any]:
    """The result of `show`: counts by layer, how each was clustered, drops, usage."""
    manifest = index.manifest
    return {
        "format_version": manifest["format_version"],
        "id": manifest["id"],
        "name": manifest["name"],
        "kind": manifest["kind"],
        "builtin_texts": manifest.get("builtin_texts", 0),
        "config": manifest["config"],
        "embedding": manifest["embedding"],
        "documents": manifest["counts"]["documents"],
        "chunks": manifest["counts"]["chunks"],
        "layers": [row.__dict__ for row in layer_summaries(manifest)],
        "clustering": index.report.get("clustering", []),
        "drops": index.report["drops"],
        "empty_chunks": len(index.report["empty_chunks"]),
        "usage": index.report["usage"],
    }


def count_layers(index: Index) -> list[dict[str, int]]:
    """Counts of every layer, computed from the layers; `build` stores them in the manifest."""
    rows = []
    for number, layer in enumerate(index.layers):
        counted = layer.relations["kind"].value_counts()
        kinds = dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True))
        sizes = np.bincount(layer.parent) if len(layer.parent) else np.zeros(0, dtype=int)
        rows.append(
            {
                "layer": number,
                "entities": len(layer),
                "relations": layer.relations.num_rows,
                "summarised": kinds.get("summarised", 0),
                "concatenated": kinds.get("concatenated", 0),
                "clusters": len(sizes),
                "largest_cluster": int(sizes.max()) if len(sizes) else 0,
                "components": connected_components(len(layer), layer.ends),
            }
        )
    return rows


def connected_components(n_nodes: int, ends: np.ndarray) -> int:
    """Number of connected components of an undirected graph. ends: (r, 2) int rows."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components as components

    links = coo_array((np.ones(len(ends), dtype=np.int8), (ends[:, 0], ends[:, 1])), shape=(n_nodes, n_nodes))
    return int(components(links, directed=False, return_labels=False))
