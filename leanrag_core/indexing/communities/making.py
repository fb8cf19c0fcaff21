"""From a graph and its communities to their reports and vectors."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from leanrag_core.clustering.leiden import CommunityTree
from leanrag_core.errors import ReplyError
from leanrag_core.execution.executors import ThreadMap
from leanrag_core.indexing.communities.elements import ElementGraph
from leanrag_core.indexing.communities.reports import Report, builtin_report, llm_report, material, ratings
from leanrag_core.indexing.part_base import PartTools
from leanrag_core.text.tokens import count_many, rest_of_line
from leanrag_core.types.communities import (
    BY_MODEL,
    BY_RULE,
    CLAIM_SCHEMA,
    COMMUNITY_SCHEMA,
    IMPORTED,
    Communities,
    report_text,
)
from leanrag_core.types.job import Progress

CALLS_AT_ONCE = 8  # the pace of the settings decides how many of them the endpoint gets
_TEXTS_AT_ONCE = 256


def written_reports(graph: ElementGraph, tree: CommunityTree, tools: PartTools, *, max_tokens: int) -> list[Report]:
    """Return a report on each community, those of the lowest level first: by the language model where there is one, and
    by the built-in writer where there is none or its reply cannot be used twice.

    max_tokens: of the material in a prompt. Replies come from the store of calls where they were given before. Raises
    BudgetSpent, Cancelled.
    """
    reports: dict[int, Report] = {}
    nodes = [tree.nodes_of(row) for row in range(len(tree))]
    rating = ratings(graph, nodes)
    parts: list[list[int]] = [[] for _ in nodes]
    for row, parent in enumerate(tree.parent.tolist()):
        if parent >= 0:
            parts[parent].append(row)

    def write(row: int) -> Report:
        if tools.language is not None:
            tools.meter.require_budget()
            given = material(graph, nodes[row], [(nodes[part], reports[part]) for part in parts[row]], max_tokens)
            try:
                return llm_report(tools.language, tools.prompts, given)
            except ReplyError as error:
                tools.meter.add_fault(str(error))
        return builtin_report(graph, nodes[row], [nodes[part] for part in parts[row]], rating[row])

    apply = ThreadMap(CALLS_AT_ONCE if tools.language is not None else 1)
    for level in range(int(tree.level.max(initial=-1)), -1, -1):
        rows = np.flatnonzero(tree.level == level).tolist()
        for row, report in zip(rows, apply(write, rows), strict=True):
            tools.report(Progress("make", len(reports), len(tree), "reports", current=report.title))
            reports[row] = report
    return [reports[row] for row in range(len(tree))]


def community_table(tree: CommunityTree, reports: Sequence[Report | None], titles: Sequence[str] = ()) -> pa.Table:
    """Make the table of communities that were made here, of COMMUNITY_SCHEMA.

    Of imported ones (titles given) a report may be None; the title then is the whole report.
    """
    written = [
        report or Report(title, "", 0.0, "", ())
        for report, title in zip(reports, titles or [""] * len(tree), strict=True)
    ]
    findings = [[(finding.summary, finding.explanation) for finding in report.findings] for report in written]
    texts = [report_text(report.summary, of) for report, of in zip(written, findings, strict=True)]
    starts = np.searchsorted(tree.level, tree.level)  # levels ascend
    columns = {
        "id": [
            f"community-{level}-{row - start}"
            for row, (level, start) in enumerate(zip(tree.level.tolist(), starts.tolist(), strict=True))
        ],
        "level": tree.level,
        "parent": tree.parent,
        "nodes": pa.ListArray.from_arrays(pa.array(tree.offsets), pa.array(tree.nodes)),
        "title": [report.title for report in written],
        "summary": [report.summary for report in written],
        "rating": np.array([report.rating for report in written], dtype=np.float32),
        "reason": [report.reason for report in written],
        "findings": [[{"summary": a, "explanation": b} for a, b in of] for of in findings],
        "made": [IMPORTED if titles else BY_MODEL if report.by_model else BY_RULE for report in written],
        "tokens": count_many([rest_of_line(text) for text in texts]),
    }
    return pa.table(columns, schema=COMMUNITY_SCHEMA)


def embedded(table: pa.Table, dimension: int, tools: PartTools) -> np.ndarray:
    """Embed title and summary of each report, (m, d) float32 unit rows; with dimension 0 nothing is embedded."""
    if not dimension:
        return np.zeros((table.num_rows, 0), dtype=np.float32)
    titles, summaries = table["title"].to_pylist(), table["summary"].to_pylist()
    texts = [f"{title}: {summary}" for title, summary in zip(titles, summaries, strict=True)]
    vectors = [np.zeros((0, dimension), dtype=np.float32)]
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        tools.report(Progress("make", start, len(texts), "vectors"))
        vectors.append(tools.embed(texts[start : start + _TEXTS_AT_ONCE]))
    return np.concatenate(vectors)


def communities_of(
    graph: ElementGraph,
    tree: CommunityTree,
    tools: PartTools,
    *,
    max_tokens: int,
    dimension: int,
    claims: pa.Table | None = None,
) -> Communities:
    """Return the communities with their reports and vectors. claims: CLAIM_SCHEMA, None for none."""
    tools.report(Progress("make", 0, len(tree), "reports"))
    table = community_table(tree, written_reports(graph, tree, tools, max_tokens=max_tokens))
    return Communities(table, embedded(table, dimension, tools), no_claims() if claims is None else claims, len(graph))


def no_claims() -> pa.Table:
    """Return a table of CLAIM_SCHEMA without rows."""
    return CLAIM_SCHEMA.empty_table()
