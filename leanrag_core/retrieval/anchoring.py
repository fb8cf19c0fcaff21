"""Seeds (eq. 6): the entities whose descriptions are most similar to the question, and how many of them are taken."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from leanrag_core.errors import InvalidConfig
from leanrag_core.messages.message import Message
from leanrag_core.retrieval.base import Query
from leanrag_core.retrieval.vector_search import EXACT, nearest, rank, similarity
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.types.graph import Layer, Place
from leanrag_core.types.index import Index

SEED_LAYERS = ("base", "aggregated", "all")
MAX_SEEDS = 100  # of an adaptive N
_NAME_BONUS = 0.25
_WORD = re.compile(r"\w+", re.UNICODE)


@dataclass(frozen=True)
class Seed:
    """A seed entity v of eq. 6. row: in layer `layer` (0 but for variants). score: cosine. rank: 1 is best."""

    id: str
    name: str
    layer: int
    row: int
    score: float
    rank: int


@dataclass(frozen=True)
class Anchors:
    """seeds: best first. search: exact or approximate, as layer 0 was searched. recall: of an approximate search, None
    when it is not known. instead: why a search index could not be asked."""

    seeds: tuple[Seed, ...]
    search: str = EXACT
    recall: float | None = 1.0
    instead: Message | None = None


def find_seeds(
    index: Index,
    query: Query,
    n: int,
    *,
    layers: str = SEED_LAYERS[0],
    match_names: bool = False,
    search: str = "auto",
    searches: SearchStore | None = None,
) -> Anchors:
    """Return the n best seeds, best first; ties go to the lower layer and row.

    layers: base, the paper's; aggregated, those above, as released; or all, the flat search that the paper argues
    against. match_names (outside the paper) adds a bonus to entities whose name occurs in the question. search,
    searches: see vector_search.nearest().
    """
    chosen = {"base": index.layers[:1], "aggregated": index.layers[1:], "all": index.layers}[layers]
    scored: list[tuple[float, int, int]] = []
    searched = [nearest(index, layer, query.vector, n, search, searches=searches) for layer in chosen]
    for layer, near in zip(chosen, searched, strict=True):
        rows, scores = near.rows, near.scores
        if match_names:
            rows, scores = _with_name_bonus(index, layer, query.text, query.vector, rows, scores, n)
        scored += [(float(score), layer.number, int(row)) for row, score in zip(rows, scores, strict=True)]
    scored.sort(key=lambda entry: (-entry[0], entry[1], entry[2]))
    seeds = []
    for place, (score, number, row) in enumerate(scored[:n], start=1):
        id_, name = (index.layers[number].entity_cells.value(column, row) for column in ("id", "name"))
        seeds.append(Seed(id_, name, number, row, score, place))
    instead = next((near.instead for near in searched if near.instead), None)
    return Anchors(tuple(seeds), searched[0].kind, searched[0].recall, instead)


@dataclass(frozen=True)
class AdaptedN:
    """How N was chosen. asked: the N to begin with. n: seeds taken. before, touched: chunks that the first `asked`
    seeds, and the n seeds, occur in. wanted: chunks."""

    asked: int
    n: int
    before: int
    touched: int
    wanted: int


def adapted(chunks_of: Sequence[np.ndarray], asked: int, wanted: int) -> AdaptedN:
    """Return the smallest N from `asked` on whose seeds occur in at least `wanted` chunks; all seeds where none does.

    chunks_of: the (k,) chunk rows of each seed, best seed first.
    """
    touched: set[int] = set()
    before = 0
    for n, rows in enumerate(chunks_of, start=1):
        touched.update(rows.tolist())
        before = len(touched) if n <= asked else before
        if n >= asked and len(touched) >= wanted:
            return AdaptedN(asked, n, before, len(touched), wanted)
    return AdaptedN(asked, len(chunks_of), before, len(touched), wanted)


@dataclass(frozen=True)
class SeedRank:
    """Where an entity stands among all that could be seeds. of: how many these are. rank: 1 is best."""

    place: Place
    score: float
    rank: int
    of: int


def seed_rank(
    index: Index,
    query_text: str,
    vector: np.ndarray,
    rows: Sequence[int],
    *,
    layers: str = SEED_LAYERS[0],
    match_names: bool = False,
) -> SeedRank | None:
    """Return the rank of the best of those base entities among all entities that could be seeds, compared exactly; None
    without rows, and where seeds are aggregated entities alone. layers, match_names: see find_seeds(). vector: (d,) of
    the question."""
    if not len(rows) or layers == "aggregated":
        return None
    compared = []
    for layer in index.layers[:1] if layers == SEED_LAYERS[0] else index.layers:
        scores = similarity(index, layer.number, vector)
        if match_names:
            named = _rows_named_in(layer, query_text)
            scores = scores + _NAME_BONUS * np.isin(np.arange(len(layer)), named)
        compared.append(scores)
    base = compared[0]
    row = min((int(each) for each in rows), key=lambda each: (-base[each], each))
    score = base[row]
    better = sum(int(np.count_nonzero(scores > score)) for scores in compared)
    equal_before = int(np.count_nonzero(base[:row] == score))
    return SeedRank(Place(0, row), float(score), better + equal_before + 1, sum(map(len, compared)))


def _with_name_bonus(
    index: Index, layer: Layer, text: str, vector: np.ndarray, rows: np.ndarray, scores: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the n best rows and scores, where named entities have a bonus. vector: (d,). rows, scores: (k,)."""
    named = _rows_named_in(layer, text)
    if not len(named):
        return rows, scores
    all_rows = np.union1d(rows, named)
    all_scores = similarity(index, layer.number, vector, all_rows)
    bonus = _NAME_BONUS * np.isin(all_rows, named)
    scale = index.query_scale
    all_scores = all_scores + bonus if scale.is_same else scale.own_of(scale.plain(all_scores) + bonus)
    return rank(all_rows, all_scores, n)


def _rows_named_in(layer: Layer, text: str) -> np.ndarray:
    """Return the (k,) int rows, ascending, of the entities whose whole name is a run of up to six words of the text."""
    words = _WORD.findall(text.lower())
    runs = {" ".join(words[i : i + k]) for i in range(len(words)) for k in range(1, 7) if i + k <= len(words)}
    return layer.rows_named(runs)


def seeds_without(seeds: Sequence[Seed], without: frozenset[str], n: int) -> tuple[Seed, ...]:
    """Return the n best seeds whose ids are not in `without`, ranked anew. seeds: n and as many more as may be left
    out. Raises InvalidConfig when none is left."""
    if not without:
        return tuple(seeds[:n])
    kept = [seed for seed in seeds if seed.id not in without][:n]
    if not kept:
        raise InvalidConfig("without.no_seed")
    return tuple(replace(seed, rank=place) for place, seed in enumerate(kept, start=1))
