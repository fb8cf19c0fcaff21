"""Communities of an index, made from its graph, an import or its layers, with their reports, claims and vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.clustering.leiden import CommunityTree
from leanrag_core.errors import ReplyError
from leanrag_core.execution.executors import ThreadMap
from leanrag_core.indexing.aggregation.summary_reply import whole
from leanrag_core.indexing.communities.elements import ElementGraph, graph_of_layer
from leanrag_core.indexing.communities.reports import (
    HIGHEST_RATING,
    Report,
    builtin_report,
    llm_report,
    material,
    ratings,
)
from leanrag_core.indexing.communities.reports import TASK as REPORT_TASK
from leanrag_core.indexing.part_base import PartTools
from leanrag_core.models.asking import read_json
from leanrag_core.models.base import Completion, LanguageModel
from leanrag_core.models.window import count_cut, room_in
from leanrag_core.text.tokens import count_many, rest_of_line
from leanrag_core.types.calls import JSON_TEXT, json_list, json_object
from leanrag_core.types.communities import (
    BY_MODEL,
    BY_RULE,
    CLAIM_SCHEMA,
    COMMUNITY_SCHEMA,
    IMPORTED,
    Communities,
    report_text,
)
from leanrag_core.types.graph import Layer
from leanrag_core.types.imported import ImportedClaim, ImportedCommunity, ImportedExtras
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.rows import RowOf, entries_of

TASK = "extract_claims"
CLAIMS_REPLY = json_object(claims=json_list(json_object(entity=JSON_TEXT, claim=JSON_TEXT)))


def extract_claims(index: Index, language: LanguageModel, tools: PartTools) -> pa.Table:
    """Extract the claims that each chunk makes about the entities in it, by entity; a table of CLAIM_SCHEMA. A chunk
    whose reply cannot be used has none. Raises BudgetSpent, Cancelled.
    """
    names = index.layers[0].entities["name"].to_pylist()
    entities_in = index.entity_chunks.tocsc()
    n_chunks = index.chunks.num_rows
    claims: list[tuple[int, int, str]] = []
    for chunk in range(n_chunks):
        tools.report(Progress("make", chunk, n_chunks, "chunks"))
        rows = entries_of(entities_in, chunk).tolist()
        if not rows:
            continue
        row_of = {names[row].casefold(): row for row in rows}
        listed = "\n".join(f"- {names[row]}" for row in rows)
        text = index.chunk(chunk).text
        try:
            answer = tools.ask(language, TASK, _read, form=CLAIMS_REPLY, entities=listed, text=text)
        except ReplyError as error:
            tools.meter.add_fault(str(error))
            continue
        claims += [(row_of[entity], chunk, claim) for entity, claim in answer if entity in row_of]
    return _claim_table(claims)


def _claim_table(claims: Sequence[tuple[int, int, str]]) -> pa.Table:
    """Return the table of claims, sorted: entity, chunk and text of each."""
    columns = list(zip(*sorted(claims), strict=True)) if claims else [(), (), ()]
    return pa.table(dict(zip(CLAIM_SCHEMA.names, columns, strict=True)), schema=CLAIM_SCHEMA)


def _read(completion: Completion) -> list[tuple[str, str]]:
    listed = read_json(whole(completion), (("claims",),)).list_of("claims")
    return [claim for entry in listed if (claim := _claim(entry)) is not None]


def _claim(entry: Any) -> tuple[str, str] | None:
    if not isinstance(entry, dict):
        return None
    entity, claim = (" ".join(str(entry.get(key) or "").split()) for key in ("entity", "claim"))
    return (entity.casefold(), claim) if entity and claim else None


CALLS_AT_ONCE = 8  # the pace of the settings decides how many of them the endpoint gets


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
            budget = room_in(tools.language, tools.prompts.of(REPORT_TASK), wanted=max_tokens, elements="")
            elements = material(graph, nodes[row], [(nodes[part], reports[part]) for part in parts[row]], budget)
            if elements.left_out and budget < max_tokens:
                count_cut(tools.language)
            try:
                return llm_report(tools.language, tools, elements)
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
    """Make the table of communities, of COMMUNITY_SCHEMA.

    titles: of imported communities, whose report may be None; the title is then the whole report.
    """
    all_reports = [
        report or Report(title, "", 0.0, "", ())
        for report, title in zip(reports, titles or [""] * len(tree), strict=True)
    ]
    findings = [[(finding.summary, finding.explanation) for finding in report.findings] for report in all_reports]
    texts = [
        report_text(report.summary, report_findings)
        for report, report_findings in zip(all_reports, findings, strict=True)
    ]
    starts = np.searchsorted(tree.level, tree.level)  # levels ascend
    columns = {
        "id": [
            f"community-{level}-{row - start}"
            for row, (level, start) in enumerate(zip(tree.level.tolist(), starts.tolist(), strict=True))
        ],
        "level": tree.level,
        "parent": tree.parent,
        "nodes": pa.ListArray.from_arrays(pa.array(tree.offsets), pa.array(tree.nodes)),
        "title": [report.title for report in all_reports],
        "summary": [report.summary for report in all_reports],
        "rating": np.array([report.rating for report in all_reports], dtype=np.float32),
        "reason": [report.reason for report in all_reports],
        "findings": [[{"summary": a, "explanation": b} for a, b in report_findings] for report_findings in findings],
        "made": [IMPORTED if titles else BY_MODEL if report.by_model else BY_RULE for report in all_reports],
        "tokens": count_many([rest_of_line(text) for text in texts]),
    }
    return pa.table(columns, schema=COMMUNITY_SCHEMA)


def embedded(table: pa.Table, dimension: int, tools: PartTools) -> np.ndarray:
    """Embed title and summary of each report, (m, d) float32 unit rows; with dimension 0 nothing is embedded."""
    if not dimension:
        return np.zeros((table.num_rows, 0), dtype=np.float32)
    titles, summaries = table["title"].to_pylist(), table["summary"].to_pylist()
    texts = [f"{title}: {summary}" for title, summary in zip(titles, summaries, strict=True)]
    return tools.embed_all(texts, dimension)


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
    all_claims = CLAIM_SCHEMA.empty_table() if claims is None else claims
    return Communities(table, embedded(table, dimension, tools), all_claims, len(graph))


def given_communities(index: Index, imported: ImportedExtras, tools: PartTools) -> Communities:
    """Return the communities and claims of an import as the index part holds them; entities that the index does not
    have are left out, and communities without any. Levels are counted from the coarsest that there is.
    """
    communities = imported.communities
    row_of = index.layers[0].row_of
    with_nodes = [
        (sorted({row_of[id_] for id_ in community.entities if id_ in row_of}), community) for community in communities
    ]
    ordered = sorted(
        ((nodes, community) for nodes, community in with_nodes if nodes),
        key=lambda pair: (pair[1].level, pair[0][0], pair[1].id),
    )
    place_of = {community.id: place for place, (_, community) in enumerate(ordered)}
    first = min((community.level for _, community in ordered), default=0)
    tree = CommunityTree(
        np.array([community.level - first for _, community in ordered], dtype=np.int32),
        np.array([place_of.get(community.parent, -1) for _, community in ordered], dtype=np.int32),
        np.cumsum([0, *(len(nodes) for nodes, _ in ordered)]).astype(np.int32),
        np.array([node for nodes, _ in ordered for node in nodes], dtype=np.int32),
    )
    table = community_table(
        tree,
        [_report(community) for _, community in ordered],
        [community.title or community.id for _, community in ordered],
    )
    vectors = embedded(table, int(index.layers[0].vectors.shape[1]), tools)
    return Communities(table, vectors, _claims(index, imported.claims), len(index.layers[0]))


def _claims(index: Index, claims: Sequence[ImportedClaim]) -> pa.Table:
    row_of, chunk_of = index.layers[0].row_of, RowOf(index.chunks["id"])
    return _claim_table(
        [
            (row_of[claim.subject], chunk_of.get(claim.chunk, -1), claim.description)
            for claim in claims
            if claim.subject in row_of and claim.description
        ]
    )


def _report(community: ImportedCommunity) -> Report | None:
    report = community.report
    if report is None:
        return None
    rating = min(max(report.rating or 0.0, 0.0), HIGHEST_RATING)
    return Report(report.title or community.title, report.summary, rating, "", tuple(report.findings), by_model=True)


LINK_WEIGHT = 1.0


@dataclass(frozen=True, eq=False)
class JoinedEdges:
    """starts: (layers + 1,) the first node of each layer. ends: (r + links, 2), relations before links. weights: (r +
    links,)."""

    starts: np.ndarray
    ends: np.ndarray
    weights: np.ndarray


def joined_layers(index: Index) -> tuple[Layer, ...]:
    """Return all layers below the root, which would lie between any two entities; the base layer at least."""
    return index.layers[: max(1, len(index.layers) - 1)]


def joined_edges(layers: Sequence[Layer]) -> JoinedEdges:
    """Return the edges of the joined graph."""
    starts = np.cumsum([0, *(len(layer) for layer in layers)])
    relations = [layer.ends + start for layer, start in zip(layers, starts[:-1], strict=True)]
    links = [
        np.stack([np.arange(len(layer)) + starts[number], layer.parent + starts[number + 1]], axis=1)
        for number, layer in enumerate(layers[:-1])
    ]
    weights = [layer.weights for layer in layers]
    n_links = sum(map(len, links))
    return JoinedEdges(
        starts,
        np.concatenate([*relations, *links]).astype(np.int64),
        np.concatenate([*weights, np.full(n_links, LINK_WEIGHT)]).astype(np.float32),
    )


def joined_graph(layers: Sequence[Layer]) -> ElementGraph:
    """Return the joined graph with the texts of its nodes and edges."""
    graphs, edges = [graph_of_layer(layer) for layer in layers], joined_edges(layers)
    names = [name for graph in graphs for name in graph.names]
    n_relations = sum(len(graph.edge_texts) for graph in graphs)
    links = edges.ends[n_relations:].tolist()
    return ElementGraph(
        names=names,
        types=[type_ for graph in graphs for type_ in graph.types],
        descriptions=[text for graph in graphs for text in graph.descriptions],
        ends=edges.ends,
        weights=edges.weights,
        edge_texts=[
            *(text for graph in graphs for text in graph.edge_texts),
            *(f"{names[child]} belongs to {names[parent]}." for child, parent in links),
        ],
    )
