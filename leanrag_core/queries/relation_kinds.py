"""The kind of each base relation: what a text calls it, or how the relation was read from the text.

The kind of a relation that a model or an import states, or that a verb joins, is its first keyword. The keywords of any
other relation are words of its sentence, so its kind is the rule that read it.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.rows import Lists, numbers

RULE_KINDS = ("verb", "apposition", "preposition", "heading", "co-occurrence")  # of the built-in extractor
_STATED = "stated"
_NAMED_BY_KEYWORD = (_STATED, "verb")


@dataclass(frozen=True, eq=False)
class RelationKinds:
    """The kinds of a layer's relations. names: the most frequent first, with their counts. codes: (r,) int64, for each
    relation the position of its kind in names, -1 where it has none."""

    names: tuple[str, ...]
    counts: tuple[int, ...]
    codes: np.ndarray


def relation_kinds(layer: Layer) -> RelationKinds:
    """Return the kinds of the relations of the base layer."""
    import pyarrow.compute as pc

    read = pc.fill_null(layer.relations["kind"].combine_chunks(), "")
    keyword = pc.utf8_trim_whitespace(pc.fill_null(_first_keywords(layer), ""))
    by_keyword = pc.and_(pc.is_in(read, pa.array(_NAMED_BY_KEYWORD)), pc.not_equal(keyword, ""))
    kinds = pc.if_else(by_keyword, keyword, pc.if_else(pc.equal(read, _STATED), "", read))
    words = pc.dictionary_encode(kinds)
    codes = numbers(words.indices).astype(np.int64)
    counts = np.bincount(codes, minlength=len(words.dictionary))
    names = words.dictionary.to_pylist()
    order = sorted((at for at, name in enumerate(names) if name), key=lambda at: (-int(counts[at]), names[at]))
    position = np.full(len(names), -1, dtype=np.int64)
    position[order] = np.arange(len(order))
    ordered = tuple(names[at] for at in order)
    return RelationKinds(ordered, tuple(int(counts[at]) for at in order), position[codes] if len(codes) else codes)


def relations_of_kinds(index: Index, number: int, kinds: frozenset[str]) -> np.ndarray:
    """Return which relations of that layer are of these kinds, or stand for such a base relation; (r,) bool."""
    if number == 0:
        known = relation_kinds(index.layers[0])
        chosen = np.array([name in kinds for name in known.names] + [False])  # the last one: no kind
        return np.asarray(chosen[known.codes])
    below = relations_of_kinds(index, number - 1, kinds)
    members = Lists(index.layers[number].relations["members"])
    sums = np.concatenate([[0], np.cumsum(below[members.values])])
    return np.asarray(sums[members.offsets[1:]] > sums[members.offsets[:-1]])


def entities_of_kinds(index: Index, number: int, kinds: frozenset[str]) -> np.ndarray:
    """Return which entities of that layer are an end of such a base relation, or above such an entity; (n,) bool."""
    mask = np.zeros(len(index.layers[0]), dtype=bool)
    mask[index.layers[0].ends[relations_of_kinds(index, 0, kinds)].ravel()] = True
    for below, above in zip(index.layers[:number], index.layers[1 : number + 1], strict=True):
        mask = np.bincount(below.parent[mask], minlength=len(above)) > 0
    return mask


def _first_keywords(layer: Layer) -> pa.Array:
    """Return the first keyword of each relation, null where there is none; (r,) strings."""
    import pyarrow.compute as pc

    column = layer.relations["keywords"].combine_chunks()
    lengths = numbers(pc.fill_null(pc.list_value_length(column), 0)).astype(np.int64)
    firsts = np.cumsum(lengths) - lengths
    # A mask takes nulls where there is no keyword; pyarrow has no element of a list that may be shorter.
    return pc.list_flatten(column).take(pa.array(firsts, mask=lengths == 0))
