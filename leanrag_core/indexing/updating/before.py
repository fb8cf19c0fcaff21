"""What an update takes over from the index before, clusters, texts and vectors, and what it changed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pyarrow as pa

from leanrag_core.clustering.options import Clustering, ClusterOptions, n_components
from leanrag_core.clustering.refit import PreviousClusters, refit
from leanrag_core.indexing.aggregation.hierarchy import Hierarchy, Start, fresh_clusters, remember_layers
from leanrag_core.indexing.build_models import BuildModels
from leanrag_core.indexing.updating.kept_texts import KeptTexts
from leanrag_core.types.corpus import Chunk
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import HEURISTIC
from leanrag_core.types.rows import RowOf
from leanrag_core.types.settings import Apply
from leanrag_core.types.updating import LayerChange, LineageStep, UpdateReport


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


_MOST_CLUSTERED = 100_000  # nodes; to cluster more of them would take as long as the rest of the update


def clusters_agreement(layers: Sequence[Layer], fresh: Callable[[Layer], np.ndarray]) -> tuple[float | None, ...]:
    """Return the adjusted Rand index of each layer's clusters with fresh ones of the same nodes; None for a layer of
    too many nodes. fresh: labels of a layer, (n,) int."""
    from sklearn.metrics import adjusted_rand_score

    return tuple(
        round(float(adjusted_rand_score(layer.parent, fresh(layer))), 6) if len(layer) <= _MOST_CLUSTERED else None
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
        rows = [
            np.asarray(layer.parent)[layer_rows] for layer, layer_rows in zip((below, below_other), rows, strict=True)
        ]
        scores.append(round(float(adjusted_rand_score(*rows)), 6))
    return tuple(scores)


def _differences(old: pa.Table, new: pa.Table, columns: Sequence[str]) -> tuple[int, int, int]:
    """Return how many rows are new, how many are gone, and how many have other values in these columns; rows are
    matched by their ids.
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
        old_nodes = np.flatnonzero(rows >= 0)
        n_before = len(before[above.number]) if above.number < len(before) else 0
        kept = 0
        if n_before:
            was = before[above.number].entities.select(["id", "name", "description"])
            now = above.entities.select(["id", "name", "description"])
            pairs = zip(now.take(old_nodes).to_pylist(), was.take(rows[old_nodes]).to_pylist(), strict=True)
            kept = sum(now_row == was_row for now_row, was_row in pairs)
        new = len(above) - len(old_nodes)
        changes.append(LayerChange(above.number, kept, len(old_nodes) - kept, new, n_before - len(old_nodes)))
    return changes


_SAME_MEANING = 0.5  # of the built-in model


class Regrouping:
    """Groups each layer of a hierarchy that takes the place of another one; called once a layer, from the base up.

    before: the layers that the index had. rows_before: for each new layer so far, the row that each of its nodes had in
    the same layer before, -1 for a new one. A node above the base has the row of the cluster that it shares most
    members with; two nodes never have the same one.
    """

    def __init__(self, before: Sequence[Layer], same_meaning: float = _SAME_MEANING) -> None:
        """Take the layers of the old index. same_meaning: least cosine of an entity's old and new description; below it
        the entity is grouped like a new one.
        """
        self._before, self._same_meaning = before, same_meaning
        self.rows_before: list[np.ndarray] = []
        self._labels: list[np.ndarray] = []

    def __call__(self, below: Layer, options: ClusterOptions, apply: Apply) -> Clustering:
        rows = self._base_rows(below) if below.number == 0 else self._aggregated_rows(len(below))
        self.rows_before.append(rows)
        clustered = self._clustered(below, rows, options, apply)
        self._labels.append(clustered.labels)
        return clustered

    def finish(self, layers: Sequence[Layer]) -> None:
        """Add the former row of the root, which is not grouped."""
        if len(layers) > 1:
            self._labels[-1] = layers[-2].parent
            self.rows_before.append(self._aggregated_rows(len(layers[-1])))
        else:
            self.rows_before.append(self._base_rows(layers[0]))

    def _clustered(self, below: Layer, rows: np.ndarray, options: ClusterOptions, apply: Apply) -> Clustering:
        """Cluster the layer, from its former clusters where it had any. rows: (n,) int64, former rows, -1 for a new
        node.
        """
        number = below.number
        has_clusters = number + 2 < len(self._before)  # those of the last layer but one are the root alone
        if n_components(len(below), options.cluster_size) == 1 or not has_clusters:
            return fresh_clusters(below, options, apply)
        before = self._before[number]
        known = rows >= 0
        if number == 0:
            cosine = np.einsum("ij,ij->i", below.vectors[known], np.asarray(before.vectors)[rows[known]])
            rows = rows.copy()
            rows[np.flatnonzero(known)[cosine < self._same_meaning]] = -1
        if not (rows >= 0).any():
            return fresh_clusters(below, options, apply)
        previous = PreviousClusters(np.asarray(before.vectors), np.asarray(before.parent))
        return refit(below.vectors, previous, rows, options, below.ends)

    def _base_rows(self, base: Layer) -> np.ndarray:
        """Return the former rows of the base entities, (n,) int64, -1 for a new one."""
        row_of = RowOf(self._before[0].entities["id"])
        return np.array([row_of.get(id_, -1) for id_ in base.entities["id"].to_pylist()], dtype=np.int64)

    def _aggregated_rows(self, n: int) -> np.ndarray:
        """Return the former rows of the nodes over the last grouped layer, (n,) int64, -1 for a new node."""
        number = len(self.rows_before)
        rows = np.full(n, -1, dtype=np.int64)
        if number >= len(self._before):
            return rows
        members, labels = self.rows_before[-1], self._labels[-1]
        known = members >= 0
        n_before = len(self._before[number])
        pairs = labels[known].astype(np.int64) * n_before + np.asarray(self._before[number - 1].parent)[members[known]]
        shared, counts = np.unique(pairs, return_counts=True)
        claimed = np.zeros(n_before, dtype=bool)
        for place in np.argsort(-counts, kind="stable").tolist():
            node, row = divmod(int(shared[place]), n_before)
            if rows[node] < 0 and not claimed[row]:
                rows[node], claimed[row] = row, True
        return rows


@dataclass(frozen=True, eq=False)
class Before:
    """The index that is updated, and the step that makes the new one from it."""

    index: Index
    step: LineageStep

    @property
    def lineage(self) -> tuple[LineageStep, ...]:
        """All steps that lead to the new index."""
        return (*self.index.manifest.lineage, self.step)

    @property
    def takes_away(self) -> bool:
        """Whether documents are changed or removed, or edits applied, so that no text may stay that could rest on what
        goes."""
        return bool(self.step.changed or self.step.removed or self.step.edits)

    def start(self, models: BuildModels) -> Start:
        """Return a start that knows the clusters, texts and vectors of the index before."""
        layers, manifest, report = self.index.layers, self.index.manifest, self.index.report
        embedder = models.embedder()
        remember_layers(embedder, layers)
        # The report lists the first losses alone. A text whose loss it does not list cannot be told from the others.
        listed = manifest.builtin_texts <= report.listed_by_builtin
        writer = KeptTexts(
            models.writer(heuristic=manifest.kind == HEURISTIC),
            layers if listed else layers[:1],
            report,
            relations=models.calls_above,
            exact=self.takes_away,
            calls=self.index.calls,
        )
        return Start(embedder, writer, Regrouping(layers, self.index.passage_scale.own_of(_SAME_MEANING)))

    def chunk_vectors(self, texts: list[str], models: BuildModels, progress: Callable[[int], None]) -> np.ndarray:
        """Return the vectors of the chunks, (n_chunks, d); only texts that the index does not have are embedded.
        progress(done): called with how many of these are done.
        """
        new = sorted({text for text in texts if text not in self._row_of_text})
        vectors = np.empty((len(texts), self.index.chunk_vectors.shape[1]), dtype=np.float32)
        place = {text: row for row, text in enumerate(new)}
        embedded = models.chunk_vectors(new, progress) if new else vectors[:0]
        for row, text in enumerate(texts):
            known = self._row_of_text.get(text)
            vectors[row] = embedded[place[text]] if known is None else self.index.chunk_vectors[known]
        return vectors

    @cached_property
    def _row_of_text(self) -> dict[str, int]:
        return {self.index.chunk(row).text: row for row in range(self.index.chunks.num_rows)}

    def changes(
        self, chunks: Sequence[Chunk], hierarchy: Hierarchy, start: Start, fresh: Callable[[Layer], np.ndarray]
    ) -> UpdateReport:
        """Return the differences between this index and the new one.

        fresh: labels of a fresh clustering of a layer, (n,) int.
        """
        assert isinstance(start.group, Regrouping)
        assert isinstance(start.writer, KeptTexts)
        start.group.finish(hierarchy.layers)
        agreement = clusters_agreement(hierarchy.layers, fresh)
        return changes_between(self.index, chunks, hierarchy.layers, start.group.rows_before, start.writer, agreement)
