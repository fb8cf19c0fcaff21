"""Semantic islands of a layer: its components, what holds each together, and what another tau would change."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.types.graph import Layer, component_of_each
from leanrag_core.types.index import Index
from leanrag_core.types.rows import place_of_each
from leanrag_core.types.suggestion import TauEvidence


@dataclass(frozen=True, eq=False)
class Components:
    """The connected components of a graph. labels: (n,) int, 0 for the largest component, then by falling size, of
    equal ones the one with the lowest row first. sizes: (k,) nodes of each."""

    labels: np.ndarray
    sizes: np.ndarray

    def __len__(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What each component of a layer rests on in the layer below, all (k,): members: nodes; inside: relations between
    them; dropped: relations to members of other components, which a rule of the build did not lift."""

    members: np.ndarray
    inside: np.ndarray
    dropped: np.ndarray


def components(n_nodes: int, ends: np.ndarray) -> Components:
    """Find the connected components of n_nodes nodes. ends: (r, 2) rows that relations join."""
    labels = component_of_each(n_nodes, ends.reshape(-1, 2))
    sizes = np.bincount(labels)
    _, first = np.unique(labels, return_index=True)
    order = np.lexsort((first, -sizes))
    return Components(place_of_each(order, len(sizes))[labels], sizes[order])


def surroundings(index: Index, number: int, parts: Components) -> Surroundings:
    """Explain why no relation leaves a component of layer `number` (1 or higher): its members' relations end inside it.

    lambda_jk of two clusters is 0 where no relation joins a node of one with a node of the other (eq. 5).
    """
    below = index.layers[number - 1]
    part_of = parts.labels[below.parent]
    return Surroundings(
        np.bincount(part_of, minlength=len(parts)), *inside_and_leaving(below.ends, part_of, len(parts))
    )


def inside_and_leaving(ends: np.ndarray, group_of: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Count for each of k groups the relations inside it, and those with one end in it; (k,) int each.

    ends: (r, 2) rows of nodes. group_of: (n,) of each node. Each relation counts once, whatever its weight, as in
    lambda.
    """
    left, right = group_of[ends].T
    same = left == right
    return (
        np.bincount(left[same], minlength=k),
        np.bincount(left[~same], minlength=k) + np.bincount(right[~same], minlength=k),
    )


def strongest_forest(n_nodes: int, ends: np.ndarray, strengths: np.ndarray) -> np.ndarray:
    """Return the relations of a maximum spanning forest: the fewest and strongest that keep every component whole.

    ends: (r, 2); strengths: (r,). Returns (k,) rows, ascending; of equal strengths the lower row counts.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    if not len(ends):
        return np.zeros(0, dtype=np.int64)
    order = np.argsort(-strengths.astype(np.int64), kind="stable")
    low, high = ends[order].min(axis=1).astype(np.int64), ends[order].max(axis=1).astype(np.int64)
    # Of several relations of a pair the strongest; scipy would add their weights up.
    _, first = np.unique(low * n_nodes + high, return_index=True)
    first = first[low[first] != high[first]]
    # Ranks as weights: no two are alike, so that there is one tree alone. Rank 0 would be no edge.
    links = csr_array((first + 1.0, (low[first], high[first])), shape=(n_nodes, n_nodes))
    ranks = minimum_spanning_tree(links).data.astype(np.int64) - 1
    return np.sort(order[ranks])


PAPER_TAU = 3
CALLS_A_NODE = 2  # summarised relations that are affordable: twice as many calls as the nodes take
CONNECTED_SHARE = 0.9  # of the nodes in the largest part of all relations
_MOST_TRIED = 1000
QUANTILES = (0.5, 0.75, 0.9)


@dataclass(frozen=True, eq=False)
class TauCurve:
    """A layer's relations by lambda. strengths: (k,) int, the lambdas that occur, ascending; all others (k,) too.

    pairs: relations of that lambda. Of the relations of at least that lambda, connected: nodes at an end of one; parts:
    connected components of all nodes; largest: nodes of the largest component.
    """

    layer: int
    n_nodes: int
    strengths: np.ndarray
    pairs: np.ndarray
    connected: np.ndarray
    parts: np.ndarray
    largest: np.ndarray

    def at(self, tau: float) -> "AtTau":
        """Return the point of the curve at that tau; lambda > tau is strict, as the paper has it."""
        first = int(np.searchsorted(self.strengths, tau, side="right"))
        total = int(self.pairs.sum())
        if first == len(self.strengths):
            return AtTau(tau, 0, total, 0, self.n_nodes, min(1, self.n_nodes))
        summarised = int(self.pairs[first:].sum())
        counts = (int(column[first]) for column in (self.connected, self.parts, self.largest))
        return AtTau(tau, summarised, total - summarised, *counts)

    def quantile(self, share: float) -> float:
        """Return the quantile of lambda over the layer's relations, as a setting "q0.75" takes it."""
        return float(np.quantile(np.repeat(self.strengths, self.pairs), share)) if len(self.pairs) else 0.0


@dataclass(frozen=True)
class AtTau:
    """A layer with that tau. connected: nodes with a summarised relation; parts, largest: components of the layer over
    summarised relations alone, and nodes of the largest one."""

    tau: float
    summarised: int
    joined: int
    connected: int
    parts: int
    largest: int


@dataclass(frozen=True)
class TauSuggestion:
    """A tau for a layer and what speaks for it. all_relations: the layer with every relation summarised; affordable:
    summarised relations that are affordable; connects_enough: whether they connect what CONNECTED_SHARE asks for.
    quantiles: (share, lambda) pairs."""

    layer: int
    tau: int
    chosen: AtTau
    all_relations: AtTau
    affordable: int
    connects_enough: bool
    quantiles: tuple[tuple[float, float], ...]


def tau_curve(layer: Layer) -> TauCurve:
    """Return the curve of an aggregated layer; empty arrays where it has no relation."""
    n = len(layer)
    strength = np.asarray(layer.relations["strength"].to_numpy(), dtype=np.int64)
    strengths, pairs = np.unique(strength, return_counts=True)
    best = np.zeros(n, dtype=np.int64)
    np.maximum.at(best, layer.ends.ravel(), np.repeat(strength, 2))
    forest = strongest_forest(n, layer.ends, strength)
    by_strength = [components(n, layer.ends[forest[strength[forest] >= least]]) for least in strengths]
    return TauCurve(
        layer=layer.number,
        n_nodes=n,
        strengths=strengths,
        pairs=pairs,
        connected=np.array([np.count_nonzero(best >= least) for least in strengths], dtype=np.int64),
        parts=np.array([len(parts) for parts in by_strength], dtype=np.int64),
        largest=np.array([parts.sizes[0] for parts in by_strength], dtype=np.int64),
    )


def best_tau(tried: Sequence[TauEvidence], n_nodes: int) -> TauEvidence:
    """Return the paper's tau where it is affordable and its summarised relations still connect nearly all that all
    relations connect; else the nearest tau that is affordable and connects as much; where none is, the lowest that is
    affordable.

    tried: by rising tau from 0 on, the last of which summarises nothing. n_nodes: of the layer.
    """
    affordable = [row for row in tried if row.summarised <= CALLS_A_NODE * n_nodes]
    enough = CONNECTED_SHARE * tried[0].connected
    fitting = [row for row in affordable if row.connected >= enough]
    return min(fitting, key=lambda row: (abs(row.tau - PAPER_TAU), row.tau)) if fitting else affordable[0]


def suggest_tau(curve: TauCurve) -> TauSuggestion | None:
    """Return the tau that best_tau() chooses of all whole numbers; None where the layer has no relation."""
    if not len(curve.strengths):
        return None
    # All taus between two neighbouring lambdas have the same effect.
    whole_taus = {*range(_MOST_TRIED), *curve.strengths.tolist()}
    taus = sorted(tau for tau in whole_taus if tau <= curve.strengths[-1])
    rows = [curve.at(tau) for tau in taus]
    tried = [TauEvidence(tau, row.summarised, row.largest / curve.n_nodes) for tau, row in zip(taus, rows, strict=True)]
    best = best_tau(tried, curve.n_nodes)
    return TauSuggestion(
        layer=curve.layer,
        tau=best.tau,
        chosen=curve.at(best.tau),
        all_relations=rows[0],
        affordable=CALLS_A_NODE * curve.n_nodes,
        connects_enough=best.connected >= CONNECTED_SHARE * tried[0].connected,
        quantiles=tuple((share, curve.quantile(share)) for share in QUANTILES),
    )
