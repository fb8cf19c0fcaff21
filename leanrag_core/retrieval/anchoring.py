"""Seeds (eq. 6): the entities whose descriptions are most similar to the question."""

import re
import weakref

import numpy as np

from leanrag_core.storage import search_index
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Seed

EXACT_UP_TO = 50_000  # rows; above, Chroma proposes candidates that are scored exactly
_NAME_BONUS = 0.25
_WORD = re.compile(r"\w+", re.UNICODE)
_names: weakref.WeakKeyDictionary[Layer, dict[str, list[int]]] = weakref.WeakKeyDictionary()


def find_seeds(
    index: Index, query_text: str, vector: np.ndarray, n: int, *, all_layers: bool = False, match_names: bool = False
) -> tuple[Seed, ...]:
    """The n best seeds, best first; ties go to the lower layer and row.

    all_layers searches every layer, the flat search that the paper argues against. match_names (outside the paper)
    adds a bonus to entities whose name stands in the question.
    """
    layers = index.layers if all_layers else index.layers[:1]
    scored: list[tuple[float, int, int]] = []
    for layer in layers:
        rows, scores = _nearest(index, layer, vector, n)
        if match_names:
            rows, scores = _with_name_bonus(layer, query_text, vector, rows, scores, n)
        scored += [(float(score), layer.number, int(row)) for row, score in zip(rows, scores, strict=True)]
    scored.sort(key=lambda one: (-one[0], one[1], one[2]))
    return tuple(
        Seed(
            id=index.layers[number].entities["id"][row].as_py(),
            name=index.layers[number].entities["name"][row].as_py(),
            layer=number,
            row=row,
            score=score,
            rank=rank,
        )
        for rank, (score, number, row) in enumerate(scored[:n], start=1)
    )


def _nearest(index: Index, layer: Layer, vector: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    if len(layer) > EXACT_UP_TO and index.path is not None:
        candidates = search_index.search(index.path, layer.number, vector, max(4 * n, 64))
        rows = np.array(sorted(layer.row_of[id_] for id_ in candidates), dtype=np.int64)
        return rank(rows, np.asarray(layer.vectors[rows]) @ vector, n)
    return rank(np.arange(len(layer)), np.asarray(layer.vectors) @ vector, n)


def rank(rows: np.ndarray, scores: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The n best (row, score), best first, ties by row. rows ascending, both (k,)."""
    if len(rows) > n:
        floor = np.partition(scores, len(scores) - n)[len(scores) - n]
        kept = np.flatnonzero(scores >= floor)
        rows, scores = rows[kept], scores[kept]
    order = np.argsort(-scores, kind="stable")[:n]
    return rows[order], scores[order]


def _with_name_bonus(
    layer: Layer, text: str, vector: np.ndarray, rows: np.ndarray, scores: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    named = sorted(_rows_named_in(layer, text))
    if not named:
        return rows, scores
    all_rows = np.union1d(rows, named)
    all_scores = np.asarray(layer.vectors[all_rows]) @ vector
    all_scores = all_scores + _NAME_BONUS * np.isin(all_rows, named)
    return rank(all_rows, all_scores, n)


def _rows_named_in(layer: Layer, text: str) -> set[int]:
    """Rows of the entities whose whole name is a run of up to six words of the text."""
    if layer not in _names:
        table: dict[str, list[int]] = {}
        for row, name in enumerate(layer.entities["name"].to_pylist()):
            table.setdefault(" ".join(_WORD.findall(name.lower())), []).append(row)
        _names[layer] = table
    words = _WORD.findall(text.lower())
    runs = {" ".join(words[i : i + k]) for i in range(len(words)) for k in range(1, 7) if i + k <= len(words)}
    return {row for run in sorted(runs) for row in _names[layer].get(run, [])}
