"""Where the released LeanRAG code aggregates otherwise than the paper says; the defaults are the paper's rules.

Each is an option of the index, so that its effect can be measured; docs/as_released.md has figures.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.indexing.aggregation.relations import RelationGroups
from leanrag_core.tokens import count_many, trim_to_tokens
from leanrag_core.types.graph import Finding

RELEASED = "released"
TOKENS_A_LAYER = 80  # of the released rule for relations
CLUSTERS_AT_STOP = 4  # of the released rule for the end of the recursion
_FIELD, _RECORD = "<|>", "<SEP>"  # delimiters of the released records


@dataclass(frozen=True)
class AggregationRules:
    """relation_rule: "lambda" summarises relations with lambda > tau; "released" those whose joined descriptions are
    longer than (depth - layer) x 80 tokens. stop_rule: "root" goes on until one node is left; "released" puts the root
    over a layer that has at most four clusters. relation_input: what a writer is given of both ends, "descriptions" or
    "findings". concatenation: "clean" text, or "records" with delimiters. singleton_relations: relations of nodes that
    are alone in their cluster are "lifted" or "dropped".
    """

    relation_rule: str = "lambda"
    stop_rule: str = "root"
    relation_input: str = "descriptions"
    concatenation: str = "clean"
    singleton_relations: str = "lifted"

    def stopped(self, labels: np.ndarray) -> np.ndarray:
        """(n,) int32 labels of a layer's clusters; all 0 where the recursion ends here."""
        if self.stop_rule == RELEASED and len(labels) and int(labels.max()) + 1 <= CLUSTERS_AT_STOP:
            return np.zeros_like(labels)
        return labels

    def dropped(self, ends: np.ndarray, parent: np.ndarray) -> np.ndarray:
        """(r,) bool, the relations that go no higher. ends: (r, 2) rows; parent: (n,) row in the new layer."""
        if self.singleton_relations == "lifted" or not len(ends):
            return np.zeros(len(ends), dtype=bool)
        alone = np.bincount(parent)[parent] == 1
        return np.asarray(alone[ends].any(axis=1))


def expected_depth(n_base: int, cluster_size: int) -> int:
    """Layers above the base graph when each has n / clustersize nodes.

    The released rule takes the depth of the finished hierarchy, which is not known while the lower layers are made.
    """
    return max(1, math.ceil(math.log(max(n_base, 2)) / math.log(max(cluster_size, 2))))


def long_groups(groups: RelationGroups, descriptions: Iterable[str], max_tokens: int) -> np.ndarray:
    """(p,) bool, the groups whose descriptions have more than max_tokens together. descriptions: of all relations."""
    tokens = count_many(list(descriptions))
    total = np.concatenate([[0], np.cumsum(tokens[groups.rows])])
    return np.asarray(total[groups.offsets[1:]] - total[groups.offsets[:-1]] > max_tokens)


def records_of(
    rows: np.ndarray, ends: np.ndarray, names: Callable[[np.ndarray], list[str]], texts: Sequence[str], max_tokens: int
) -> str:
    """The relations as records with delimiters, cut at max_tokens. texts: the descriptions of those rows."""
    sources, targets = (names(side) for side in ends[rows].T.copy())
    records = [_FIELD.join(record) for record in zip(sources, targets, texts, strict=True)]
    return trim_to_tokens(_RECORD.join(records), max_tokens)


def findings_text(description: str, findings: Sequence[Finding]) -> str:
    """The findings of an entity as a text; its description where it has none."""
    return " ".join(f"{finding.summary} {finding.explanation}".strip() for finding in findings) or description
