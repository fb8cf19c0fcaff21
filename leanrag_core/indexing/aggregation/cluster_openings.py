"""The first sentence of a cluster's text: how many entities it has, of which kinds, and which are the most central."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from leanrag_core.indexing.aggregation.cluster_names import (
    BaseNames,
    centrality,
    inside_degrees,
    shared_heads,
    suits_many,
)
from leanrag_core.indexing.extraction.language_neutral import is_latin
from leanrag_core.text.chinese import is_chinese
from leanrag_core.types.graph import Layer, children_offsets

_SAY_LITTLE = frozenset(["", "aggregated", "concept", "heading", "title", "unknown"])  # types
_KINDS, _LEAST_SHARE = 2, 0.15  # kinds that are named, and the least share of the members that each has
_CENTRAL = 4  # members that are named, chosen from twice as many
_LONGEST_NAME = 60  # characters
_PLURALS = {"person": "persons", "location": "places"}
_KINDS_IN_CHINESE = {
    "person": "人物",
    "persons": "人物",
    "location": "地点",
    "places": "地点",
    "organization": "机构",
    "organizations": "机构",
    "work": "作品",
    "works": "作品",
}


def openings(base: Layer, entities: BaseNames, cluster_of: np.ndarray, n_clusters: int) -> list[str]:
    """Return "84 entities, mostly treatments and pests; the most central are Varroa (organism), ..." of each cluster.

    cluster_of: (n_base,) int, the cluster of each base entity. In Chinese where the names are; "" for names of other
    scripts.
    """
    degrees = inside_degrees(base, cluster_of)
    offsets, order = children_offsets(cluster_of, n_clusters)
    return [_opening(base, entities, order[start:end], degrees) for start, end in pairwise(offsets)]


def _opening(base: Layer, entities: BaseNames, rows: np.ndarray, degrees: np.ndarray) -> str:
    """Return the opening of a cluster. rows: (k,) int, its base entities. degrees: (n_base,), see inside_degrees()."""
    ranked = np.argsort(-np.round(centrality(base.vectors[rows], degrees[rows]), 6), kind="stable")
    ranked_rows = [int(rows[place]) for place in ranked if len(entities.names[rows[place]]) <= _LONGEST_NAME]
    central = sorted(ranked_rows[: 2 * _CENTRAL], key=lambda row: suits_many(entities.folded[row]))[:_CENTRAL]
    central_names = "".join(entities.names[row] for row in central)
    if is_chinese(central_names):
        return _in_chinese(entities, rows, central, among=central != ranked_rows[:_CENTRAL])
    if not central or not is_latin(central_names):
        return ""
    kinds = _kinds(entities, rows)
    mostly = f", mostly {' and '.join(kinds)}" if kinds else ""
    members = listed([_named(entities, row) for row in central])
    verb = "the most central are" if len(central) > 1 else "the most central is"
    if central != ranked_rows[:_CENTRAL]:
        verb = f"among {verb}"  # names that would suit any cluster are passed over
    return f"{len(rows):,} entities{mostly}; {verb} {members}."


def _in_chinese(entities: BaseNames, rows: np.ndarray, central: list[int], *, among: bool) -> str:
    """Return the opening in Chinese. rows: (k,) int, the cluster's base entities. central: those that are named. among:
    whether more central ones were passed over."""
    kinds = [_KINDS_IN_CHINESE.get(kind, kind) for kind in _kinds(entities, rows)]
    mostly = f"，多为{'和'.join(kinds)}" if kinds else ""
    types = [entities.types[row] for row in central]
    members = "、".join(
        entities.names[row] if kind in _SAY_LITTLE else f"{entities.names[row]}（{_KINDS_IN_CHINESE.get(kind, kind)}）"
        for row, kind in zip(central, types, strict=True)
    )
    return f"{len(rows):,}个实体{mostly}；最核心的{'包括' if among else '是'}{members}。"


def _named(entities: BaseNames, row: int) -> str:
    kind = entities.types[row]
    return entities.names[row] if kind in _SAY_LITTLE else f"{entities.names[row]} ({kind})"


def _kinds(entities: BaseNames, rows: np.ndarray) -> list[str]:
    """Return what most members are, the most frequent first: their types, or the noun that ends their names. rows:
    (members,)."""
    counted = Counter(_plural(entities.types[row]) for row in rows.tolist() if entities.types[row] not in _SAY_LITTLE)
    for head in shared_heads(entities, rows):
        counted[_plural(head.surface)] += head.n
    fewest = max(2.0, _LEAST_SHARE * len(rows))
    ranked = sorted((kind for kind in counted if counted[kind] >= fewest), key=lambda kind: (-counted[kind], kind))
    return ranked[:_KINDS]


def _plural(noun: str) -> str:
    if noun in _PLURALS or noun.endswith("s") or not noun.isascii() or noun.isupper():
        return _PLURALS.get(noun, noun)
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("x", "z", "ch", "sh")) else f"{noun}s"


def listed(items: Sequence[str]) -> str:
    """Return the items, one or more, as a sentence lists them."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
