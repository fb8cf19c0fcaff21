"""PathRAG: paths between the nodes nearest to the question, pruned by flow, the most reliable one last."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import COSINE, Options, Query, StrategyBase, published
from leanrag_core.retrieval.base_graph import chunks_by_entity, end_rows, entity_items, relation_items
from leanrag_core.retrieval.budgets import Candidate, affordable, choose, scaled, section, section_form, text_line
from leanrag_core.retrieval.flow_paths import FlowPath, flow_paths
from leanrag_core.retrieval.graph_traces import (
    BETWEEN,
    ON_PATH,
    GraphContext,
    GraphStep,
    RankedGraph,
    asked_keywords,
    by_row,
    graph_context,
    graph_trace,
)
from leanrag_core.retrieval.passages import cosines_of
from leanrag_core.retrieval.question_terms import query_keywords
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import nearest_entities, nearest_rows
from leanrag_core.types.config import option
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Style, Trace, TraceItem, TraceRelation

_PATHS = section_form("paths", "P", "path", "## Paths\n", {"path": "count.paths"})
_STYLES = (Style("path", message("style.path"), "path", "box"), BETWEEN, ON_PATH)


@dataclass(frozen=True)
class Config(Options):
    """Options of PathRAG; the defaults are the release's."""

    top_k: int = option(40, low=1, high=60, paper=40, help=message("pathrag.option.top_k"), in_row=True, scale=60)
    n_paths: int = option(15, low=0, high=100, paper=15, help=message("pathrag.option.n_paths"), in_row=True)
    decay: float = option(0.8, low=0.0, high=1.0, paper=0.8, help=message("pathrag.option.decay"))
    threshold: float = option(0.3, low=0.0, high=1.0, help=message("pathrag.option.threshold"))
    top_c: int = option(20, low=0, high=50, help=message("vector.option.top_c"), link="c", scale=20)
    entity_tokens: int = option(5000, low=0, high=32000, help=message("lightrag.option.entity_tokens"))
    relation_tokens: int = option(3000, low=0, high=32000, help=message("lightrag.option.relation_tokens"))
    path_tokens: int = option(5000, low=0, high=32000, help=message("pathrag.option.path_tokens"))
    chunk_tokens: int = option(8000, low=0, high=64000, help=message("leanrag.option.chunk_tokens"))
    max_tokens: int = option(21000, low=0, high=64000, help=message("option.max_tokens"))


class Strategy(StrategyBase[Config]):
    """Nodes by the details of the question, paths between them, relations by its themes."""

    name = "pathrag"
    badge = "faithful"
    score = COSINE
    calls_model = True
    parts = ("relation_vectors",)
    presets = (published("released"),)

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval: keywords, nodes and relations, paths, chunks."""
        config, run, base = self.config, Retrieval(self, query, index, tools), index.layers[0]
        keywords = query_keywords(query.text, tools)
        run.note(keywords.note)
        words = keywords.joined
        vectors = dict(zip(words, tools.embed(list(words.values())), strict=True))
        run.lap("keywords")
        nearest = self._found(index, vectors, tools)
        run.lap("nodes")
        paths = flow_paths(
            base.adjacency, nearest.entities, most=config.n_paths, decay=config.decay, threshold=config.threshold
        )
        run.lap("paths")
        themes = end_rows(index, nearest.relations)
        ranked = replace(nearest, entities=list(dict.fromkeys([*nearest.entities, *themes])))
        budgets = {name: getattr(config, f"{name}_tokens") for name in ("entity", "relation", "path", "chunk")}
        room = scaled(budgets, config.max_tokens)
        plural = {"entities": room["entity"], "relations": room["relation"], "chunks": room["chunk"]}
        filled = _with_paths(index, graph_context(run, ranked, plural, flowing=False), paths, room["path"])
        chunks = self._chunk_rows(index, nearest)
        chosen_rows = chunks[: config.top_c]
        ids = [f"keywords-{level}" for level in words]
        on_paths = list(dict.fromkeys(node for path in paths for node in path.nodes))
        n_words = message("lightrag.keywords", n=len(keywords.low) + len(keywords.high))
        n_entities = message("count.entities", n=len(nearest.entities))
        n_relations = message("count.relations", n=len(nearest.relations))
        nodes = message("pathrag.nodes", entities=n_entities, relations=n_relations)
        path_ids = [item.id for item in filled.drawn if item.kind == "path"]
        links = [each.id for each in filled.drawn_relations if each.role == "on-path"]
        steps = [
            GraphStep("keywords", n_words, asked=ids, title=message("lightrag.step.keywords")),
            GraphStep("nodes", nodes, ranked.entities, nearest.relations, ids),
            GraphStep("paths", message("pathrag.paths", n=len(paths)), on_paths, asked=path_ids, links=links),
        ]
        return graph_trace(
            run,
            replace(ranked, chunks=chunks, chunk_scores=cosines_of(index, query.vector, chosen_rows)),
            filled,
            steps=steps,
            chunk_caption=message("lightrag.chunks", n=len(chosen_rows)),
            asked=asked_keywords(words, {"low": nearest.entities, "high": themes}),
        )

    def _found(self, index: Index, vectors: dict[str, np.ndarray], tools: Tools) -> RankedGraph:
        """Return the entities nearest to the details, and the relations nearest to the themes by the degrees of their
        ends, then by weight, as many as the budget holds. vectors: (d,) by level."""
        base, k = index.layers[0], self.config.top_k
        entities, relations = list[int](), list[int]()
        entity_scores, relation_scores = dict[int, float](), dict[int, float]()
        if "low" in vectors:
            near = nearest_entities(index, vectors["low"], k, tools)
            entities, entity_scores = near.rows.tolist(), by_row(near.rows, near.scores)
        if "high" in vectors:
            related = nearest_rows(tools.part("relation_vectors"), vectors["high"], k, tools=tools)
            degrees = base.degrees[base.ends[related.rows]].sum(axis=1)
            order = np.lexsort((related.rows, -base.weights[related.rows], -degrees))
            relations, relation_scores = related.rows[order].tolist(), by_row(related.rows, related.scores)
        return RankedGraph(entities, relations, (), entity_scores, relation_scores, {}, "passage.near")

    def _chunk_rows(self, index: Index, nearest: RankedGraph) -> list[int]:
        """Return the chunks of the relations, then those of the entities, each as many as half of the budget holds;
        then the others."""
        of_relations = [row for each in nearest.relations for row in np.sort(index.chunks_of_relation(each)).tolist()]
        of_entities = [chunk.row for chunk in chunks_by_entity(index.layers[0], nearest.entities)]
        lists = [list(dict.fromkeys(rows)) for rows in (of_relations, of_entities)]
        tokens, room = index.chunks["tokens"], self.config.chunk_tokens // 2
        first = [row for rows in lists for row in affordable(tokens, rows, room)]
        return list(dict.fromkeys([*first, *(row for rows in lists for row in rows)]))


def _with_paths(index: Index, filled: GraphContext, paths: Sequence[FlowPath], budget: int) -> GraphContext:
    """Return the context with a section of paths after the chunks, the most reliable one last, and with the paths
    drawn."""
    base = index.layers[0]
    nodes = list(dict.fromkeys(node for path in paths for node in path.nodes))
    known, drawn = {item.row for item in filled.drawn}, {each.id for each in filled.drawn_relations}
    others = entity_items(index, [node for node in nodes if node not in known], role="between")
    others = tuple(replace(item, rank=None) for item in others)
    item_of = {item.row: item for item in (*filled.drawn, *others) if item.row is not None}
    rows = {path.nodes: [relation_between(base, *edge) for edge in pairwise(path.nodes)] for path in paths}
    on_paths = relation_items(index, list(dict.fromkeys(row for each in rows.values() for row in each)), role="on-path")
    by_relation = {each.row: each for each in on_paths}
    items, lines, links = [], [], []
    for rank, path in enumerate(paths, start=1):
        name = " – ".join(item_of[node].name for node in path.nodes)
        text = " ".join(by_relation[row].description.strip() for row in rows[path.nodes])
        score, reason = path.reliability, message("pathrag.reason", score=path.reliability)
        item = TraceItem(f"path-{rank}", "path", name, ("path",), score=score, rank=rank, reason=reason, text=text)
        items.append(item)
        lines.append(text_line("path", item.id, f"{name}:", text))
        links += [
            TraceRelation(f"{item.id}-{place}", item.id, item_of[node].id, "on-path", None, "path", 1.0, "")
            for place, node in enumerate(path.nodes)
        ]
    # The budget goes to the most reliable ones, the order of the prompt is the other way round.
    after = section(_PATHS, lines[::-1], budget, choice=_choose_last)
    return replace(
        filled,
        drawn=(*filled.drawn, *others, *items),
        drawn_relations=(*filled.drawn_relations, *(each for each in on_paths if each.id not in drawn), *links),
        styles=_STYLES,
        after=(after,),
    )


def _choose_last(candidates: Sequence[Candidate], marks: Sequence[str], budget: int) -> dict[int, Candidate]:
    """Return choose() with the last candidate first in turn, by place."""
    chosen = choose(candidates[::-1], marks[::-1], budget)
    return {len(candidates) - 1 - place: candidate for place, candidate in chosen.items()}


def relation_between(base: Layer, source: int, target: int) -> int:
    """Return the row of the strongest relation between two entities that are related, ties by row."""
    rows = base.relations_of(source)
    rows = rows[(base.ends[rows] == target).any(axis=1)]
    return int(rows[np.argmax(base.weights[rows])])
