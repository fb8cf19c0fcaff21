"""FastGraphRAG: PageRank from the entities of the question over the graph; relations and chunks by its mass."""

from dataclasses import dataclass, replace

import numpy as np

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import Options, Query, StrategyBase, chunks_option
from leanrag_core.retrieval.graph_traces import Asked, GraphStep, by_row, graph_context, graph_trace, walked_graph
from leanrag_core.retrieval.graph_walks import stationary
from leanrag_core.retrieval.question_terms import QueryEntities, query_entities
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import best_rows, nearest_entities, positive_first, rank
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace

_NAMED_SCORE, _GENERIC_SCORE = 0.7, 0.5  # of (1 + cosine) / 2, which the release calls similarity
_GENERIC_NEAREST = 20


@dataclass(frozen=True)
class Config(Options):
    """Options of FastGraphRAG; the defaults are the release's."""

    most_entities: int = option(128, low=1, high=512, help=message("fastgraphrag.option.most_entities"))
    most_relations: int = option(64, low=0, high=512, help=message("fastgraphrag.option.most_relations"))
    top_c: int = chunks_option(8)
    damping: float = option(0.85, low=0.0, high=0.99, help=message("walk.option.damping"))
    least_score: float = option(0.005, low=0.0, high=1.0, help=message("fastgraphrag.option.least_score"))
    entity_tokens: int = option(4000, low=0, high=32000, help=message("lightrag.option.entity_tokens"))
    relation_tokens: int = option(3000, low=0, high=32000, help=message("lightrag.option.relation_tokens"))
    chunk_tokens: int = option(9000, low=0, high=64000, help=message("leanrag.option.chunk_tokens"))
    max_tokens: int = option(16000, low=0, high=64000, help=message("option.max_tokens"))


class Strategy(StrategyBase[Config]):
    """Named entities with their nearest one, generic ones and the question with their nearest twenty; then the walk."""

    name = "fastgraphrag"
    badge = "faithful"
    calls_model = True
    parts = ("near_duplicates",)

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval: entities of the question, walk, relations, chunks."""
        config, run = self.config, Retrieval(self, query, index, tools)
        wanted = query_entities(query.text, tools)
        run.note(wanted.note)
        run.lap("entities")
        restart, asked = self._restart(query, wanted, index, tools)
        run.lap("linked")
        base = index.layers[0]
        mass = np.zeros(len(base))
        if restart.any():
            mass = stationary(tools.part("near_duplicates"), restart, damping=config.damping)
        order = best_rows(mass, config.most_entities)
        entities = order[mass[order] >= max(config.least_score, 1e-12)]
        # A relation is worth what both of its ends are worth, a chunk what its relations are worth.
        kept = np.zeros(len(base))
        kept[entities] = mass[entities]
        touching = [base.relations_of(int(row)) for row in entities]
        touched = np.unique(np.concatenate([*touching, np.zeros(0, dtype=np.int32)])).astype(np.int64)
        relations, worths = rank(touched, kept[base.ends[touched]].sum(axis=1), config.most_relations)
        run.lap("walk")
        # Added up in the order of the relations' rows.
        by_rows = np.argsort(relations)
        chunk_scores = index.relation_chunks[relations[by_rows]].T @ worths[by_rows]
        chunks = positive_first(chunk_scores)
        ranked = walked_graph(run, entities, mass, chunks, chunk_scores, "walk.reason.relations")
        ranked = replace(ranked, relations=relations.tolist(), relation_scores=by_row(relations, worths))
        filled = graph_context(run, ranked)
        linked = sorted({row for each in asked for row in each.rows})
        n_asked = len(wanted.named) + len(wanted.generic)
        asked_ids = [each.id for each in asked]
        n_relations = message("count.relations", n=len(relations))
        n_wanted = message("fastgraphrag.entities", n=n_asked)
        walked = message("fastgraphrag.walk", n=len(entities), relations=n_relations)
        n_linked = message("walk.linked", n=len(linked))
        steps = [
            GraphStep("entities", n_wanted, asked=asked_ids, title=message("query_entities.step")),
            GraphStep("linked", n_linked, linked, asked=asked_ids, title=message("walk.step.linked")),
            GraphStep("walk", walked, ranked.entities, ranked.relations, title=message("walk.step.walk")),
        ]
        caption = message("walk.chunks", n=len(ranked.chunk_scores))
        return graph_trace(run, ranked, filled, steps=steps, chunk_caption=caption, asked=asked)

    def _restart(
        self, query: Query, wanted: QueryEntities, index: Index, tools: Tools
    ) -> tuple[np.ndarray, list[Asked]]:
        """Return (n,) restart weights of the walk, and what was asked for. Each search gives its entities their share
        of its scores; an entity keeps its largest share."""
        texts = [*wanted.named, *wanted.generic]
        vectors = [*tools.embed(texts), query.vector] if texts else [query.vector]
        restart, asked = np.zeros(len(index.layers[0])), []
        for place, vector in enumerate(vectors):
            is_named = place < len(wanted.named)
            near = nearest_entities(index, vector, 1 if is_named else _GENERIC_NEAREST, tools)
            scores = (1.0 + index.query_scale.plain(near.scores).astype(np.float64)) / 2
            kept = scores >= (_NAMED_SCORE if is_named else _GENERIC_SCORE)
            rows, scores = near.rows[kept], scores[kept]
            if len(rows):
                restart[rows] = np.maximum(restart[rows], scores / scores.sum())
            id_, text, reason = "asked-question", query.text, message("query_entities.reason.question")
            if place < len(texts):
                reason = message("query_entities.reason.named" if is_named else "query_entities.reason.generic")
                id_, text = f"asked-{place}", texts[place]
            asked.append(Asked(id_, text, reason, set(rows.tolist())))
        return restart, asked
