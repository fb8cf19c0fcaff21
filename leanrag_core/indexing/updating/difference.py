"""What an update changed: chunks, entities, relations, clusters and their texts."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.updating.kept_texts import KeptTexts
from leanrag_core.types.corpus import Chunk
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.updating import LayerChange, UpdateReport


def changes_between(
    before: Index,
    chunks: Sequence[Chunk],
    layers: Sequence[Layer],
    rows_before: Sequence[np.ndarray],
    texts: KeptTexts,
    agreement: tuple[float | None, ...],
) -> UpdateReport:
    """Return the report of an update. rows_before: by layer, (n,) int64, see Regrouping."""
    chunks_before, chunks_now = set(before.chunks["id"].to_pylist()), {chunk.id for chunk in chunks}
    old, new = before.layers[0], layers[0]
    entities = _differences(old.entities, new.entities, ("name", "type", "description"))
    relations = _differences(old.relations, new.relations, ("description", "weight", "kind"))
    return UpdateReport(
        chunks_added=len(chunks_now - chunks_before),
        chunks_removed=len(chunks_before - chunks_now),
        entities_added=entities[0],
        entities_removed=entities[1],
        entities_changed=entities[2],
        relations_added=relations[0],
        relations_removed=relations[1],
        relations_changed=relations[2],
        layers=tuple(_layer_changes(before.layers, layers, rows_before)),
        texts_kept=texts.entities_kept,
        texts_written=texts.entities_written,
        sentences_kept=texts.relations_kept,
        sentences_written=texts.relations_written,
        outdated=_outdated(layers, texts),
        agreement=agreement,
    )


def _outdated(layers: Sequence[Layer], texts: KeptTexts) -> tuple[str, ...]:
    """Return ids of the aggregated entities and relations whose texts are outdated."""
    ids = [layers[number].entities["id"][label].as_py() for number, label in sorted(texts.outdated)]
    for number in sorted({layer for layer, _ in texts.outdated_pairs}):
        layer = layers[number]
        names = layer.entities["name"].to_pylist()
        relations = zip(layer.relations["id"].to_pylist(), layer.ends.tolist(), strict=True)
        ids += [
            id_ for id_, ends in relations if (number, frozenset(names[end] for end in ends)) in texts.outdated_pairs
        ]
    return tuple(ids)


def clusters_agreement(
    layers: Sequence[Layer], fresh: Callable[[Layer], np.ndarray], *, most_nodes: int = 100_000
) -> tuple[float | None, ...]:
    """Return the adjusted Rand index of each layer's clusters with fresh ones of the same nodes.

    It is None for a layer of more than most_nodes, whose clustering would take as long as the rest of the update.
    fresh: labels of a layer, (n,) int.
    """
    from sklearn.metrics import adjusted_rand_score

    return tuple(
        round(float(adjusted_rand_score(layer.parent, fresh(layer))), 6) if len(layer) <= most_nodes else None
        for layer in layers[:-1]
    )


def agreement_of_bases(index: Index, other: Index) -> tuple[float, ...]:
    """Return the adjusted Rand index of two hierarchies, layer by layer: of the clusters that their common base
    entities are in.
    """
    from sklearn.metrics import adjusted_rand_score

    common = sorted(set(index.layers[0].row_of) & set(other.layers[0].row_of))
    rows = [np.array([each.layers[0].row_of[id_] for id_ in common], dtype=np.int64) for each in (index, other)]
    scores = []
    for below, below_other in zip(index.layers[:-1], other.layers[:-1], strict=False):
        rows = [np.asarray(layer.parent)[of] for layer, of in zip((below, below_other), rows, strict=True)]
        scores.append(round(float(adjusted_rand_score(*rows)), 6))
    return tuple(scores)


def _differences(old: pa.Table, new: pa.Table, columns: Sequence[str]) -> tuple[int, int, int]:
    """Return how many rows are new, gone, and there before with other values in these columns; rows are known by their
    ids.
    """
    was, now = _by_id(old, columns), _by_id(new, columns)
    changed = sum(was[id_] != now[id_] for id_ in was.keys() & now.keys())
    return len(now.keys() - was.keys()), len(was.keys() - now.keys()), changed


def _by_id(table: pa.Table, columns: Sequence[str]) -> dict[str, tuple[object, ...]]:
    rows = zip(*(table[name].to_pylist() for name in columns), strict=True)
    return dict(zip(table["id"].to_pylist(), rows, strict=True))


def _layer_changes(
    before: Sequence[Layer], layers: Sequence[Layer], rows_before: Sequence[np.ndarray]
) -> list[LayerChange]:
    """Count kept, changed, new and removed entities of each aggregated layer. rows_before: by layer, (n,) int64."""
    changes = []
    for (_, above), rows in zip(pairwise(layers), rows_before[1:], strict=True):
        known = np.flatnonzero(rows >= 0)
        n_before = len(before[above.number]) if above.number < len(before) else 0
        kept = 0
        if n_before:
            was = before[above.number].entities.select(["id", "name", "description"])
            now = above.entities.select(["id", "name", "description"])
            pairs = zip(now.take(known).to_pylist(), was.take(rows[known]).to_pylist(), strict=True)
            kept = sum(left == right for left, right in pairs)
        new = len(above) - len(known)
        changes.append(LayerChange(above.number, kept, len(known) - kept, new, n_before - len(known)))
    return changes
