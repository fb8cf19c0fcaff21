"""Two states of an index beside each other: what changed in documents, graph and clusters, and what questions show."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.evaluation.statistics import Interval, difference_interval, mean_interval, paired_test
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.updating import LayerChange

RECALL = "evidence-recall"
_PLACES = 12  # scores that are equal on paper may differ in the last bit


@dataclass(frozen=True)
class Changes:
    """Names of what only one state has, and of what differs between both; each in the order of names."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


@dataclass(frozen=True)
class LayerMoves:
    """The clusters of a layer. clusters: how many are kept, changed in members or text, new and gone; a cluster of each
    state count as the same where each shares most base entities with the other. moved: base entities of both states
    that are in another cluster. adjusted_rand: of both clusterings over the shared base entities; None without any."""

    clusters: LayerChange
    moved: int
    adjusted_rand: float | None


@dataclass(frozen=True)
class StateDifferences:
    """How the later state differs from the earlier one. shared: base entities of both. texts: names of aggregated
    entities whose name or description is another one; clusters that are new or gone are not among them."""

    documents: Changes
    entities: Changes
    relations: Changes
    shared: int
    layers: tuple[LayerMoves, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class QuestionDifferences:
    """What a question set shows. before, after: the mean of the measure; difference: of the pairs, after minus before,
    with p of the signed-rank test. won, lost: questions with a higher and a lower score."""

    measure: str
    before: Interval
    after: Interval
    difference: Interval
    p: float
    won: tuple[str, ...]
    lost: tuple[str, ...]


def state_differences(before: Index, after: Index) -> StateDifferences:
    """Compare two states of an index; entities and relations are known by their ids, documents by their names."""
    old, new = before.layers[0], after.layers[0]
    common = sorted(set(old.row_of) & set(new.row_of))
    rows_before = np.array([old.row_of[id_] for id_ in common], dtype=np.int64)
    rows_after = np.array([new.row_of[id_] for id_ in common], dtype=np.int64)
    layers, texts = [], []
    for number in range(1, max(len(before.layers), len(after.layers))):
        old_layer = before.layers[number] if number < len(before.layers) else None
        new_layer = after.layers[number] if number < len(after.layers) else None
        if old_layer is not None:
            rows_before = np.asarray(before.layers[number - 1].parent)[rows_before]
        if new_layer is not None:
            rows_after = np.asarray(after.layers[number - 1].parent)[rows_after]
        if old_layer is None or new_layer is None:
            n_new, n_gone = (0 if layer is None else len(layer) for layer in (new_layer, old_layer))
            layers.append(LayerMoves(LayerChange(number, 0, 0, n_new, n_gone), 0, None))
            continue
        counterpart = _counterparts(rows_before, rows_after, len(old_layer), len(new_layer))
        moves, changed = _layer_moves(old_layer, new_layer, counterpart, rows_before, rows_after)
        layers.append(moves)
        texts += changed
    return StateDifferences(
        documents=_changes(_documents(before), _documents(after)),
        entities=_changes(_entities(old), _entities(new)),
        relations=_changes(_relations(old), _relations(new)),
        shared=len(common),
        layers=tuple(layers),
        texts=tuple(texts),
    )


def _counterparts(before: np.ndarray, after: np.ndarray, n_before: int, n_after: int) -> np.ndarray:
    """Return the cluster of the state before that each cluster shares most base entities with, where that holds the
    other way round as well; (n_after,) int64, -1 for none.

    before, after: (k,) int, clusters of the shared base entities. Of equal overlaps the first cluster counts.
    """
    counterpart = np.full(n_after, -1, dtype=np.int64)
    pairs, shared = np.unique(np.stack([before, after], axis=1), axis=0, return_counts=True)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -shared))
    best_after, best_before = np.full(n_before, -1, dtype=np.int64), np.full(n_after, -1, dtype=np.int64)
    for old_cluster, new_cluster in pairs[order].tolist():
        if best_after[old_cluster] < 0:
            best_after[old_cluster] = new_cluster
        if best_before[new_cluster] < 0:
            best_before[new_cluster] = old_cluster
    mutual = [
        new_cluster
        for new_cluster in range(n_after)
        if best_before[new_cluster] >= 0 and best_after[best_before[new_cluster]] == new_cluster
    ]
    counterpart[mutual] = best_before[mutual]
    return counterpart


def _layer_moves(
    old_layer: Layer, new_layer: Layer, counterpart: np.ndarray, rows_before: np.ndarray, rows_after: np.ndarray
) -> tuple[LayerMoves, list[str]]:
    """Return how a layer changed, and the names of its entities whose text changed. counterpart: (n,) int64, see
    _counterparts; rows_before, rows_after: (k,) int, clusters of the shared base entities."""
    from sklearn.metrics import adjusted_rand_score

    old_texts, new_texts = _texts(old_layer), _texts(new_layer)
    kept, changed = 0, []
    for row, other in enumerate(counterpart.tolist()):
        if other < 0:
            continue
        if new_texts[row] == old_texts[other]:  # the id is derived from the members
            kept += 1
        elif new_texts[row][1:] != old_texts[other][1:]:
            changed.append(new_texts[row][1])
    n_known = int((counterpart >= 0).sum())
    clusters = LayerChange(new_layer.number, kept, n_known - kept, len(new_layer) - n_known, len(old_layer) - n_known)
    moved = int((counterpart[rows_after] != rows_before).sum())
    rand = round(float(adjusted_rand_score(rows_before, rows_after)), 6) if len(rows_after) else None
    return LayerMoves(clusters, moved, rand), changed


def _texts(layer: Layer) -> list[tuple[str, str, str]]:
    """Return id, name and description of each entity."""
    columns = (layer.entities[name].to_pylist() for name in ("id", "name", "description"))
    return list(zip(*columns, strict=True))


def _changes(before: Mapping[str, tuple[str, object]], after: Mapping[str, tuple[str, object]]) -> Changes:
    """Compare things by their ids. Values: a name, and what is compared."""
    return Changes(
        _names(after[id_] for id_ in after.keys() - before.keys()),
        _names(before[id_] for id_ in before.keys() - after.keys()),
        _names(after[id_] for id_ in after.keys() & before.keys() if after[id_] != before[id_]),
    )


def _names(named: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    return tuple(sorted(name for name, _ in named))


def _documents(index: Index) -> dict[str, tuple[str, object]]:
    names, ids = (index.documents[column].to_pylist() for column in ("name", "id"))
    return {name: (name, id_) for name, id_ in zip(names, ids, strict=True)}


def _entities(layer: Layer) -> dict[str, tuple[str, object]]:
    columns = (layer.entities[name].to_pylist() for name in ("id", "name", "type", "description"))
    return {id_: (name, compared) for id_, name, *compared in zip(*columns, strict=True)}


def _relations(layer: Layer) -> dict[str, tuple[str, object]]:
    names = layer.entities["name"].to_pylist()
    columns = (layer.relations[name].to_pylist() for name in ("id", "description", "weight", "kind"))
    ends = [f"{names[left]} – {names[right]}" for left, right in layer.ends.tolist()]
    return {id_: (name, compared) for name, id_, *compared in zip(ends, *columns, strict=True)}


def question_differences(
    before: Mapping[str, Mapping[str, float | None]], after: Mapping[str, Mapping[str, float | None]]
) -> QuestionDifferences | None:
    """Compare the recall of the same questions, by their texts, in both states; None where no question has one in
    both."""
    asked: Sequence[str] = [text for text in after if before.get(text, {}).get(RECALL) is not None]
    asked = [text for text in asked if after[text].get(RECALL) is not None]
    scores_before = [before[text].get(RECALL) for text in asked]
    scores_after = [after[text].get(RECALL) for text in asked]
    mean_before, mean_after = mean_interval(scores_before), mean_interval(scores_after)
    difference = difference_interval(scores_after, scores_before)
    if mean_before is None or mean_after is None or difference is None:
        return None
    gained = {
        text: round((new or 0.0) - (old or 0.0), _PLACES)
        for text, new, old in zip(asked, scores_after, scores_before, strict=True)
    }
    return QuestionDifferences(
        RECALL,
        mean_before,
        mean_after,
        difference,
        paired_test(scores_after, scores_before),
        tuple(text for text, gain in gained.items() if gain > 0),
        tuple(text for text, gain in gained.items() if gain < 0),
    )
