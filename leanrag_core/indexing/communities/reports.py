"""Reports of communities: written by the built-in rules, or by a language model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leanrag_core.errors import ReplyError
from leanrag_core.indexing.aggregation.summary_reply import FINDINGS, finding_of, whole
from leanrag_core.indexing.communities.elements import ElementGraph, Material, element_lines, fitted, tokens_of
from leanrag_core.indexing.part_base import PartTools
from leanrag_core.models.asking import read_json
from leanrag_core.models.base import Completion, LanguageModel
from leanrag_core.text.sentences import split_sentences
from leanrag_core.text.tokens import count_tokens, trim_to_tokens
from leanrag_core.types.calls import JSON_NUMBER, JSON_TEXT, json_object
from leanrag_core.types.communities import report_text
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
    sentences = [_first_sentence(graph.descriptions[node]) for node in order[:_SUMMARISED]]
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
    return Report(title, " ".join(dict.fromkeys(filter(None, sentences))), rating, reason, tuple(findings.values()))


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


TASK = "community_report"
_MOST_MODEL_FINDINGS = 10
_KEYS = (("title",), ("summary",), ("rating",), ("findings",))
REPORT_REPLY = json_object(title=JSON_TEXT, summary=JSON_TEXT, rating=JSON_NUMBER, reason=JSON_TEXT, findings=FINDINGS)


def material(
    graph: ElementGraph, nodes: np.ndarray, parts: Sequence[tuple[np.ndarray, Report]], max_tokens: int
) -> Material:
    """Return the text about a community that goes into the prompt: all its elements where they fit.

    Otherwise reports on its parts replace the parts' elements, the part with most tokens first, until all fits; what
    still does not fit is left out. nodes: (k,) int. parts: nodes, (q,) int, and report of each community that it was
    split into.
    """
    lines = element_lines(graph, nodes)
    if not parts or tokens_of(lines) <= max_tokens:
        return fitted(lines, max_tokens)
    lines_of_parts = [element_lines(graph, part) for part, _ in parts]
    sizes = [tokens_of(part) for part in lines_of_parts]
    texts: list[list[str]] = list(lines_of_parts)
    for place in sorted(range(len(parts)), key=lambda place: (-sizes[place], place)):
        report = parts[place][1]
        lines_of_report = report_text(
            f"- Report on {report.title}: {report.summary}",
            [(finding.summary, finding.explanation) for finding in report.findings],
        ).split("\n")
        report_tokens = tokens_of(lines_of_report)
        if report_tokens < sizes[place]:
            texts[place], sizes[place] = lines_of_report, report_tokens
        if sum(sizes) <= max_tokens:
            break
    reports_first = sorted(range(len(parts)), key=lambda place: (texts[place] is lines_of_parts[place], place))
    return fitted([line for place in reports_first for line in texts[place]], max_tokens)


def llm_report(language: LanguageModel, tools: PartTools, elements: Material) -> Report:
    """Return the model's report, asked for again once where it cannot be read. Raises ReplyError, BudgetSpent."""
    return tools.ask(language, TASK, _read, form=REPORT_REPLY, elements=elements.text)


def _read(completion: Completion) -> Report:
    reply = read_json(whole(completion), _KEYS)
    if reply.breaks_off:
        raise ReplyError("reply.broken_off")
    cells = {str(key).strip().lower(): value for key, value in reply.cells.items()}
    title, summary = (" ".join(str(cells.get(key) or "").split()) for key in ("title", "summary"))
    listed = cells.get("findings")
    findings = tuple(filter(None, map(_finding, listed if isinstance(listed, list) else ())))
    if not title or not summary or not findings:
        raise ReplyError("reply.no_report")
    reason = " ".join(str(cells.get("reason") or "").split())
    return Report(title, summary, _rating(cells.get("rating")), reason, findings[:_MOST_MODEL_FINDINGS], by_model=True)


def _rating(value: Any) -> float:
    try:
        rating = float(value)
    except (TypeError, ValueError):
        raise ReplyError("reply.no_rating") from None
    if not 0 <= rating <= HIGHEST_RATING:
        raise ReplyError("reply.no_rating")
    return rating


def _finding(entry: Any) -> Finding | None:
    if isinstance(entry, str):
        return finding_of(entry.strip(), "")
    if not isinstance(entry, dict):
        return None
    return finding_of(*(str(entry.get(key) or "").strip() for key in ("summary", "explanation")))
