"""Reports without a language model: sentences of the community's own descriptions, chosen by how connected they are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.indexing.communities.elements import ElementGraph
from leanrag_core.text.sentences import split_sentences
from leanrag_core.text.tokens import count_tokens, trim_to_tokens
from leanrag_core.types.graph import Finding

_NAMES_IN_TITLE = 3
_SUMMARISED = 5  # entities whose first sentence is in the summary
_FEWEST_FINDINGS, _MOST_FINDINGS = 5, 10
_SENTENCE_TOKENS = 60
HIGHEST_RATING = 10.0


@dataclass(frozen=True)
class Report:
    """A community report. rating: 0 to 10. by_model: whether a language model wrote it."""

    title: str
    summary: str
    rating: float
    reason: str
    findings: tuple[Finding, ...]
    by_model: bool = False


def builtin_report(graph: ElementGraph, nodes: np.ndarray, parts: Sequence[np.ndarray], rating: float) -> Report:
    """Write a report in the members' own words, without a language model.

    It has the first sentences of the most connected entities, then five to ten findings from the relations whose ends
    are most connected, or from entities where these do not suffice. nodes: (k,) int. parts: nodes of the communities
    that it was split into, (q,) int each; the summary then takes the entities from each in turn.
    """
    order = _in_turn([graph.by_degree(part) for part in parts]) if len(parts) else graph.by_degree(nodes).tolist()
    edges = graph.edges_inside(nodes)
    title = ", ".join(graph.names[node] for node in order[:_NAMES_IN_TITLE])
    said = [_first_sentence(graph.descriptions[node]) for node in order[:_SUMMARISED]]
    findings: dict[str, Finding] = {}
    for edge in edges.tolist():
        if len(findings) >= _MOST_FINDINGS:
            break
        source, target = (graph.names[node] for node in graph.ends[edge])
        explanation = _first_sentence(graph.edge_texts[edge])
        findings.setdefault(explanation, Finding(f"{source} and {target}:", explanation))
    for node in order:
        if len(findings) >= _FEWEST_FINDINGS:
            break
        explanation = _first_sentence(graph.descriptions[node])
        findings.setdefault(explanation, Finding(f"{graph.names[node]}:", explanation))
    reason = f"{len(nodes)} entities with {len(edges)} relations among them."
    return Report(title, " ".join(dict.fromkeys(filter(None, said))), rating, reason, tuple(findings.values()))


def ratings(graph: ElementGraph, communities: Sequence[np.ndarray]) -> list[float]:
    """Rate each community from 0 to 10 by the logarithm of its nodes' summed degrees; the largest has 10.

    communities: (k,) int nodes of each.
    """
    sums = np.array([graph.degrees[nodes].sum() for nodes in communities], dtype=np.float64)
    if not len(sums):
        return []
    scaled = HIGHEST_RATING * np.log1p(sums) / max(float(np.log1p(sums.max())), 1e-12)
    return [float(value) for value in np.round(scaled, 1)]


def _in_turn(lists: Sequence[np.ndarray]) -> list[int]:
    """Return the first node of each list, (k,) int, then the second of each, as far as a report needs them."""
    longest = sorted(lists, key=len, reverse=True)
    turns = (nodes[place] for place in range(_FEWEST_FINDINGS) for nodes in longest if place < len(nodes))
    return [int(node) for node, _ in zip(turns, range(_FEWEST_FINDINGS + _SUMMARISED), strict=False)]


def _first_sentence(text: str) -> str:
    first = next(iter(split_sentences(text[:2000])), "")
    return first if count_tokens(first) <= _SENTENCE_TOKENS else trim_to_tokens(first, _SENTENCE_TOKENS)
