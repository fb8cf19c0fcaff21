"""Aggregated relations are those of equation 5: their ends, members, lambda, weight and kind (section 5, 5 and 7)."""

from collections.abc import Collection, Iterator
from itertools import pairwise

import numpy as np

from leanrag_core.checking.problem import Note, Problem, Subject, at_rows, flat, where_not
from leanrag_core.indexing.aggregation.rules import TauRule, parse_tau
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.rows import numbers

SUMMARISED, CONCATENATED = "summarised", "concatenated"
_WEIGHT_TOLERANCE = 1e-4  # relative; sums of 32-bit numbers


def ends(subject: Subject) -> Iterator[Problem | Note]:
    """Check that relation ends exist, source before target, no pair twice."""
    for layer in subject.index.layers:
        file, pairs = subject.table(f"relations-{layer.number}"), layer.ends.reshape(-1, 2).astype(np.int64)
        outside = ((pairs < 0) | (pairs >= len(layer))).any(axis=1)
        yield from at_rows(file, np.flatnonzero(outside), "an end is not there")
        turned = ~outside & (pairs[:, 0] >= pairs[:, 1])
        yield from at_rows(file, np.flatnonzero(turned), "its source does not come before its target")
        _, first = np.unique(pairs[:, 0] * len(layer) + pairs[:, 1], return_index=True)
        repeated = np.setdiff1d(np.arange(len(pairs)), first)
        yield from at_rows(file, repeated, "another relation joins the same entities")


def strengths(subject: Subject) -> Iterator[Problem | Note]:
    """Check that lambda is the number of members, 1 in layer 0; lambdas and inside relations add up to the layer
    below."""
    base = subject.index.layers[0]
    wrong = np.flatnonzero(numbers(base.relations["strength"]) != 1)
    yield from at_rows(subject.table("relations-0"), wrong, "the strength of a base relation is not 1")
    for below, above in pairwise(subject.index.layers):
        file, strength = subject.table(f"relations-{above.number}"), numbers(above.relations["strength"])
        owner, _ = flat(above.relations["members"])
        n_members = np.bincount(owner, minlength=len(strength))
        yield from at_rows(file, np.flatnonzero(n_members != strength), "lambda is not the number of its members")
        lifted = np.asarray(below.parent)[below.ends.reshape(-1, 2)]
        inside = int((lifted[:, 0] == lifted[:, 1]).sum())
        dropped = int(_dropped(subject.index, below).sum())
        if int(strength.sum()) + inside + dropped != below.relations.num_rows:
            text = f"lambdas add up to {int(strength.sum())}, inside are {inside}, below are {below.relations.num_rows}"
            yield Problem(file, None, text)


def _dropped(index: Index, below: Layer) -> np.ndarray:
    """Return which relations of a layer are left out above it, an end being alone in its cluster (as released); (r,)
    bool.
    """
    if index.manifest.config.singleton_relations == "lifted" or not len(below.ends):
        return np.zeros(below.relations.num_rows, dtype=bool)
    parent = np.asarray(below.parent)
    alone = np.bincount(parent)[parent] == 1
    return np.asarray(alone[below.ends.reshape(-1, 2)].any(axis=1))


def members(subject: Subject) -> Iterator[Problem | Note]:
    """Check that every relation between two clusters is a member of their aggregated relation, and of no other."""
    for below, above in pairwise(subject.index.layers):
        file = subject.table(f"relations-{above.number}")
        owner, rows = flat(above.relations["members"])
        outside = (rows < 0) | (rows >= below.relations.num_rows)
        yield from at_rows(file, np.unique(owner[outside]), "a member of it is no relation")
        owner, rows = owner[~outside], rows[~outside]
        lifted = np.sort(np.asarray(below.parent)[below.ends.reshape(-1, 2)], axis=1)
        elsewhere = (lifted[rows] != np.sort(above.ends.reshape(-1, 2), axis=1)[owner]).any(axis=1)
        yield from at_rows(file, np.unique(owner[elsewhere]), "a member of it is between other clusters")
        _, first = np.unique(rows, return_index=True)
        repeated = np.setdiff1d(np.arange(len(rows)), first)
        yield from at_rows(
            file, np.unique(owner[repeated]), "a member of it is a member of another aggregated relation too"
        )
        between = np.flatnonzero((lifted[:, 0] != lifted[:, 1]) & ~_dropped(subject.index, below))
        below_file = subject.table(f"relations-{below.number}")
        text = "it joins two clusters and is a member of no aggregated relation"
        yield from at_rows(below_file, np.setdiff1d(between, rows), text)
        empty = np.bincount(owner, minlength=above.relations.num_rows) == 0
        yield from at_rows(file, np.flatnonzero(empty), "it has no members")


def weights(subject: Subject) -> Iterator[Problem | Note]:
    """Check that the weight of an aggregated relation is the sum of its members' weights; a base relation's is above
    0."""
    base = numbers(subject.index.layers[0].relations["weight"])
    wrong = np.flatnonzero(~(np.isfinite(base) & (base >= 0)))
    yield from at_rows(subject.table("relations-0"), wrong, "the weight is negative or no number")
    for below, above in pairwise(subject.index.layers):
        owner, rows = flat(above.relations["members"])
        weight = numbers(above.relations["weight"]).astype(np.float64)
        below_weight = numbers(below.relations["weight"]).astype(np.float64)
        expected = np.bincount(owner, weights=below_weight[rows], minlength=len(weight))
        far = ~(np.abs(weight - expected) <= _WEIGHT_TOLERANCE * np.maximum(1, expected))
        file = subject.table(f"relations-{above.number}")
        yield from at_rows(file, np.flatnonzero(far), "the weight is not the sum of its members' weights")


def kinds(subject: Subject) -> Iterator[Problem | Note]:
    """Check that a relation is summarised where lambda is above tau, else concatenated (eq. 5)."""
    if subject.index.manifest.config.relation_rule != "lambda":
        yield Note("relations are summarised by their length, not by lambda")
        return
    for layer in subject.index.layers:
        file = subject.table(f"relations-{layer.number}")
        named = np.array(layer.relations["kind"].to_pylist(), dtype=object)
        if layer.number == 0:
            above = [row for row, kind in enumerate(named) if not kind or kind in (SUMMARISED, CONCATENATED)]
            yield from at_rows(file, above, "a base relation is of no base kind")
            continue
        tau, strength = tau_of(subject.index, layer), numbers(layer.relations["strength"])
        expected = np.where(strength > tau, SUMMARISED, CONCATENATED).astype(object)
        for row in where_not(named, expected)[:20]:
            text = f"it is {named[row]!r}, but lambda {strength[row]} against tau {tau:g} makes it {expected[row]!r}"
            yield Problem(file, int(row), text)


def rule_of(index: Index) -> TauRule:
    """Return the rule of tau that the manifest's configuration names."""
    return parse_tau(index.manifest.config.tau, heuristic=index.manifest.heuristic)


def tau_of(index: Index, layer: Layer) -> float:
    """Return tau of a layer above the base graph."""
    return rule_of(index).threshold(layer.number, numbers(layer.relations["strength"]))


def descriptions(subject: Subject) -> Iterator[Problem | Note]:
    """Check that a summarised relation has a description; that of a concatenated relation is made of its members'."""
    config = subject.index.manifest.config
    if config.concatenation != "clean":
        yield Note("joined relations are records with delimiters, not their members' descriptions")
        return
    limit = 0 if "concatenation_tokens" in config.lacking else config.concatenation_tokens
    for below, above in pairwise(subject.index.layers):
        file = subject.table(f"relations-{above.number}")
        kind, texts = above.relations["kind"].to_pylist(), above.relations["description"].to_pylist()
        owner, rows = flat(above.relations["members"])
        starts = np.searchsorted(owner, np.arange(len(texts) + 1))
        silent = [row for row, text in enumerate(texts) if kind[row] == SUMMARISED and not text.strip()]
        yield from at_rows(file, silent, "the description is empty")
        below_texts = below.relations["description"]
        foreign, short = [], []
        for row in range(len(texts)):
            if kind[row] == CONCATENATED:
                of_row = rows[starts[row] : starts[row + 1]]
                parts = {below_texts[int(member)].as_py().strip() for member in of_row} - {""}
                if not made_of(texts[row], parts):
                    foreign.append(row)
                # A token is a byte or more: these fit whole.
                elif len(" ".join(parts).encode()) <= limit and not all(part in texts[row] for part in parts):
                    short.append(row)
        yield from at_rows(file, foreign, "the description is not made of its members' descriptions")
        yield from at_rows(file, short, "the description lacks a member's, though all of them fit")


def made_of(text: str, parts: Collection[str]) -> bool:
    """Return whether the text joins some of the parts, in any order, the last one perhaps cut; an empty text needs no
    parts.
    """
    remaining = text.strip()
    if not remaining:
        return not parts
    for part in sorted(parts, key=len, reverse=True):
        remaining = remaining.replace(part, "\n")
    pieces = (piece.strip().rstrip("…").rstrip() for piece in remaining.split("\n"))
    return all(any(piece in part for part in parts) for piece in pieces if piece)
