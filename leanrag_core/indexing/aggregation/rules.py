"""How clusters become a layer: tau, and where the released LeanRAG code aggregates otherwise than the paper says.

Each is a setting of the index of the same name, so that its effect can be measured; docs/as_released.md has figures.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from leanrag_core.indexing.aggregation.threshold import PAPER_TAU, TauRule, parse_tau
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.graph import Finding

RELEASED = "released"
TOKENS_A_LAYER = 80  # of the released rule for relations
CLUSTERS_AT_STOP = 4  # of the released rule for the end of the recursion
_KIND, _FIELD, _RECORD = "relationship", "<|>", " \n"  # first field and delimiters of the released records


@dataclass(frozen=True)
class AggregationRules:
    """tau: of each layer. concatenation_tokens: the longest joined description. relation_rule: "lambda" summarises
    relations with lambda > tau; "released" those whose joined records are longer than (depth - layer) x 80 tokens, the
    base graph being layer 0 and depth released_depth(). stop_rule: "root" goes on until one node is left; "released"
    puts the root over a layer that has at most four clusters. relation_input: what a writer is given of both ends,
    "descriptions" or "findings". concatenation: "clean" text, or "records" with delimiters. singleton_relations:
    relations of nodes that are alone in their cluster are "lifted" or "dropped". max_layers: "root" makes as many
    layers as it takes; "released" makes depth layers at most, and the root over them.
    """

    tau: TauRule = PAPER_TAU
    concatenation_tokens: int = 1000
    relation_rule: str = "lambda"
    stop_rule: str = "root"
    relation_input: str = "descriptions"
    concatenation: str = "clean"
    singleton_relations: str = "lifted"
    max_layers: str = "root"

    def stopped(self, labels: np.ndarray, layer: int, depth: int) -> np.ndarray:
        """Return the labels of the clusters of layer number `layer`, all 0 where the recursion ends there; (n,) int32,
        as given.
        """
        few = self.stop_rule == RELEASED and len(labels) and int(labels.max()) + 1 <= CLUSTERS_AT_STOP
        deep = self.max_layers == RELEASED and layer >= depth
        return np.zeros_like(labels) if few or deep else labels

    def allowed_tokens(self, layer: int, depth: int) -> int:
        """Return the length up to which the released rule leaves the records of relations of layer `layer` joined."""
        return max(0, depth - layer) * TOKENS_A_LAYER

    def dropped(self, ends: np.ndarray, parent: np.ndarray) -> np.ndarray:
        """Return which relations go no higher, (r,) bool. ends: (r, 2) rows; parent: (n,) row in the new layer."""
        if self.singleton_relations == "lifted" or not len(ends):
            return np.zeros(len(ends), dtype=bool)
        alone = np.bincount(parent)[parent] == 1
        return np.asarray(alone[ends].any(axis=1))


def aggregation_rules(config: IndexConfig, *, heuristic: bool) -> AggregationRules:
    """Return the rules that the settings ask for. heuristic: whether a rule extracted the graph. Raises InvalidConfig
    for tau."""
    named = {spec.name: getattr(config, spec.name) for spec in fields(AggregationRules)}
    return AggregationRules(**{**named, "tau": parse_tau(config.tau, heuristic)})


def released_depth(n_base: int, cluster_size: int) -> int:
    """Return the layers above n_base entities, as the released code reckons before it makes the first one."""
    return round(math.log(n_base, cluster_size)) + 1


def records_of(
    rows: np.ndarray, ends: np.ndarray, names: Callable[[np.ndarray], list[str]], texts: Sequence[str]
) -> str:
    """Join the relations as records with delimiters, a blank after each.

    rows: (k,) int. ends: (r, 2) int. texts: the descriptions of those rows.
    """
    sources, targets = (names(side) for side in ends[rows].T.copy())
    records = zip(sources, targets, texts, strict=True)
    return _RECORD.join(_FIELD.join((_KIND, *record)) for record in records) + " "


def findings_text(description: str, findings: Sequence[Finding]) -> str:
    """Join the findings of an entity to a text; its description where it has none."""
    return " ".join(f"{finding.summary} {finding.explanation}".strip() for finding in findings) or description
