"""How clusters become a layer: tau, and where the released LeanRAG code aggregates otherwise than the paper says.

Each is a setting of the index of the same name, so that its effect can be measured; docs/as_released.md has figures.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from leanrag_core.errors import InvalidConfig
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.graph import Finding

_LLM_DEFAULT = "3"
_HEURISTIC_DEFAULT = "3,q0.75"  # bare co-occurrence makes nearly every pair of the upper layers exceed 3


@dataclass(frozen=True)
class TauRule:
    """tau of each layer. steps: one for each layer from layer 1 on, the last one repeats; each a number, or
    ("q", share) for a quantile of that layer's connectivity."""

    steps: tuple[float | tuple[str, float], ...]

    def threshold(self, layer_number: int, lambdas: np.ndarray) -> float:
        """Return tau_i of layer `layer_number` (1 is the first above the base graph).

        lambdas: (pairs,) connectivity strengths of that layer; only positive ones count towards a quantile.
        """
        step = self.step(layer_number)
        if not isinstance(step, tuple):
            return step
        positive = np.asarray(lambdas)[np.asarray(lambdas) > 0]
        return float(np.quantile(positive, step[1])) if len(positive) else 0.0

    def step(self, layer_number: int) -> float | tuple[str, float]:
        """Return the number, or ("q", share), of layer `layer_number`."""
        return self.steps[min(max(layer_number, 1), len(self.steps)) - 1]

    def step_text(self, layer_number: int) -> str:
        """Return the step of that layer, as a setting writes it."""
        return str(TauRule((self.step(layer_number),)))

    def __str__(self) -> str:
        return ",".join(f"q{step[1]:g}" if isinstance(step, tuple) else f"{step:g}" for step in self.steps)


PAPER_TAU = TauRule((3.0,))


def parse_tau(value: str | int | float | None, heuristic: bool) -> TauRule:
    """Read the rule from a setting of tau: a number, a list by layer ("3,5"), a quantile ("q0.75"), or a mix.

    None or an empty text chooses the paper's 3 for graphs that a language model extracted, and "3,q0.75" for heuristic
    ones. Raises InvalidConfig for anything else.
    """
    if value is None or not str(value).strip():
        value = _HEURISTIC_DEFAULT if heuristic else _LLM_DEFAULT
    return TauRule(tuple(_step(part.strip(), value) for part in str(value).split(",")))


def _step(part: str, whole: str | int | float) -> float | tuple[str, float]:
    quantile = part[:1].lower() == "q"
    try:
        number = float(part[1:] if quantile else part)
    except ValueError:
        number = float("nan")
    if not (0 <= number <= 1 if quantile else 0 <= number < float("inf")):
        raise InvalidConfig("option.tau_not_understood", whole=whole, part=part)
    return ("q", number) if quantile else number


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
    """Return the number of layers above n_base entities, as the released code computes it before it makes the first
    one.
    """
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
