"""What another tau would change in a layer: relations summarised and joined, and what the summarised ones connect.

All of it follows from lambda, which no tau changes: clusters and their relations stay as they are (eq. 5).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.queries.islands import components, strongest_forest
from leanrag_core.types.graph import Layer
from leanrag_core.types.suggestion import TauEvidence

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
        return AtTau(
            tau,
            summarised,
            total - summarised,
            int(self.connected[first]),
            int(self.parts[first]),
            int(self.largest[first]),
        )

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
    kept = [components(n, layer.ends[forest[strength[forest] >= least]]) for least in strengths]
    return TauCurve(
        layer=layer.number,
        n_nodes=n,
        strengths=strengths,
        pairs=pairs,
        connected=np.array([np.count_nonzero(best >= least) for least in strengths], dtype=np.int64),
        parts=np.array([len(parts) for parts in kept], dtype=np.int64),
        largest=np.array([parts.sizes[0] for parts in kept], dtype=np.int64),
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
    """Return the tau that best_tau() chooses of all whole ones; None where the layer has no relation."""
    if not len(curve.strengths):
        return None
    # Between two lambdas that occur all taus are alike.
    whole = {*range(_MOST_TRIED), *curve.strengths.tolist()}
    taus = sorted(tau for tau in whole if tau <= curve.strengths[-1])
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
