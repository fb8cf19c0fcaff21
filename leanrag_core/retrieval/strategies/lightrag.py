"""LightRAG: entities by the details of the question, relations by its themes, then their chunks (section 3.2)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import COSINE, Options, Preset, Query, StrategyBase, chunks_option, published
from leanrag_core.retrieval.graph_traces import (
    GraphStep,
    RankedGraph,
    asked_keywords,
    by_row,
    graph_context,
    graph_trace,
)
from leanrag_core.retrieval.passages import cosines_of, ranked_by_vector
from leanrag_core.retrieval.question_terms import QueryKeywords, query_keywords
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import nearest_entities, nearest_rows, similarity
from leanrag_core.storage.layout import CHUNKS as CHUNK_VECTORS
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.rows import entries_of
from leanrag_core.types.trace import Parameter, Trace

LOW, HIGH, HYBRID, MIX = "low", "high", "hybrid", "mix"
_CHUNKS_EACH = 5  # related_chunk_number of the release, for an entity or a relation; half of them are kept
_LEAST_COSINE = 0.2  # of entities, relations and chunks that are searched for; COSINE_THRESHOLD of the release
_SPARE = 2  # relations are looked at until their tokens are twice the budget
_PAPER: Mapping[str, Parameter] = {
    "mode": HYBRID,
    "top_k": 60,
    "chunk_order": "rank",
    "fill_up": False,
    "entity_tokens": 4000,
    "relation_tokens": 4000,
    "chunk_tokens": 4000,
    "max_tokens": 12000,
}


@dataclass(frozen=True)
class Config(Options):
    """Options of LightRAG."""

    mode: str = option(MIX, choices=(LOW, HIGH, HYBRID, MIX), help=message("lightrag.option.mode"))
    top_k: int = option(40, low=1, high=200, paper=60, help=message("lightrag.option.top_k"), in_row=True, scale=60)
    top_c: int = chunks_option(20, low=0)
    chunk_order: str = option("cosine", choices=("cosine", "rank"), help=message("lightrag.option.chunk_order"))
    fill_up: bool = option(True, help=message("lightrag.option.fill_up"))
    entity_tokens: int = option(6000, low=0, high=32000, paper=4000, help=message("lightrag.option.entity_tokens"))
    relation_tokens: int = option(8000, low=0, high=32000, paper=4000, help=message("lightrag.option.relation_tokens"))
    chunk_tokens: int = option(16000, low=0, high=64000, paper=4000, help=message("leanrag.option.chunk_tokens"))
    max_tokens: int = option(30000, low=0, high=64000, paper=12000, help=message("option.max_tokens"))


class Strategy(StrategyBase[Config]):
    """Dual-level retrieval."""

    name = "lightrag"
    badge = "faithful"
    score = COSINE
    calls_model = True
    parts = ("relation_vectors",)
    presets = (
        published("released"),
        published("paper", **_PAPER),
        # The ablations of table 2, each named for what it lacks: -High, -Low and -Origin there.
        Preset("without-high", message("lightrag.preset.without_high"), {**_PAPER, "mode": LOW}),
        Preset("without-low", message("lightrag.preset.without_low"), {**_PAPER, "mode": HIGH}),
        Preset(
            "without-text", message("lightrag.preset.without_text"), {**_PAPER, "chunk_tokens": 0, "max_tokens": 8000}
        ),
    )

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval: keywords, both levels, chunks."""
        config, run = self.config, Retrieval(self, query, index, tools)
        keywords = query_keywords(query.text, tools)
        run.note(keywords.note)
        run.title = message(f"strategy.lightrag.{config.mode}")
        words = _searched(config.mode, keywords)
        vectors = tools.embed(list(words.values()))
        run.lap("keywords")
        levels: dict[str, RankedGraph] = {}
        for level, vector in zip(words, vectors, strict=True):
            levels[level] = (self._low if level == LOW else self._high)(index, vector, tools)
            run.lap(level)
        entity_rows = round_robin(*(level.entities for level in levels.values()))
        relation_rows = round_robin(*(level.relations for level in levels.values()))
        ranked = RankedGraph(
            entity_rows,
            relation_rows,
            entity_scores={row: score for level in levels.values() for row, score in level.entity_scores.items()},
            relation_scores={row: score for level in levels.values() for row, score in level.relation_scores.items()},
            chunk_reason="passage.near",
        )
        filled = graph_context(run, ranked, flowing=False)
        has_text = config.fill_up or config.chunk_tokens > 0
        chunks = self._chunk_rows(query, index, filled.rows("entities"), filled.rows("relations")) if has_text else []
        chosen_rows = chunks[: config.top_c]
        return graph_trace(
            run,
            replace(ranked, chunks=chunks, chunk_scores=cosines_of(index, query.vector, chosen_rows)),
            filled,
            chunk_tokens=None if config.fill_up else config.chunk_tokens,
            steps=_steps(keywords, levels),
            chunk_caption=message("lightrag.chunks", n=len(chosen_rows)),
            asked=asked_keywords(words, {name: level.entities for name, level in levels.items()}),
        )

    def _low(self, index: Index, vector: np.ndarray, tools: Tools) -> RankedGraph:
        """Return entities near to the details; all their relations by the degrees of both ends, then by weight, then
        by the first of the entities. vector: (d,) of the details."""
        near = nearest_entities(index, vector, self.config.top_k, tools)
        kept = index.across_scale.plain(near.scores) >= _LEAST_COSINE
        entities = near.rows[kept].tolist()
        base = index.layers[0]
        listed = np.concatenate([base.relations_of(row) for row in entities] or [np.zeros(0, dtype=int)])
        rows, first = np.unique(listed, return_index=True)
        degrees = base.degrees[base.ends[rows]].sum(axis=1)
        order = np.lexsort((first, -base.weights[rows], -degrees))
        related = self._affordable(index, rows[order])
        return RankedGraph(entities, related, entity_scores=by_row(near.rows[kept], near.scores[kept]))

    def _high(self, index: Index, vector: np.ndarray, tools: Tools) -> RankedGraph:
        """Return relations near to the themes, and the entities at their ends, of each relation by name. vector: (d,)
        of the themes."""
        least = index.across_scale.own_of(_LEAST_COSINE)
        near = nearest_rows(tools.part("relation_vectors"), vector, self.config.top_k, at_least=least, tools=tools)
        rows = near.rows.tolist()
        scores = by_row(near.rows, near.scores)
        base = index.layers[0]
        ends = [sorted(base.ends[row].tolist(), key=lambda end: str(base.entity_cells["name"][end])) for row in rows]
        return RankedGraph(list(dict.fromkeys(end for pair in ends for end in pair)), rows, relation_scores=scores)

    def _affordable(self, index: Index, rows: np.ndarray) -> list[int]:
        """Return the first rows, until their descriptions are more than the budget can hold: a hub has thousands.
        rows: (k,)."""
        stored = index.layers[0].token_counts.get("relation_tokens")
        if stored is None:
            return [int(row) for row in rows]
        total = np.cumsum(stored[rows])
        return [int(row) for row in rows[total <= _SPARE * self.config.relation_tokens]]

    def _chunk_rows(self, query: Query, index: Index, entities: list[int], relations: list[int]) -> list[int]:
        """Return chunks of the kept entities, and others of the kept relations; in mix, the nearest chunks come in turn
        with them."""
        base = index.layers[0]
        of_entities = self._ordered(query, index, entities)
        known, of_relations, n_adding = set(of_entities), list[int](), 0
        for row in relations:
            added = [chunk for chunk in base.relation_cells.value("chunks", row) or [] if chunk not in known]
            known.update(added)
            of_relations += added
            n_adding += bool(added)
        if self.config.chunk_order == "cosine":
            of_relations = _by_cosine(query, index, of_relations)[: _CHUNKS_EACH * n_adding // 2]
        nearest: list[int] = []
        if self.config.mode == MIX:
            near = ranked_by_vector(index, query.vector)[: self.config.top_c]
            scores = index.across_scale.plain(similarity(index, CHUNK_VECTORS, query.vector, near))
            nearest = near[scores >= _LEAST_COSINE].tolist()
        return round_robin(nearest, of_entities, of_relations)

    def _ordered(self, query: Query, index: Index, entities: list[int]) -> list[int]:
        """Return the chunks that mention the entities: by cosine, half of five for each, or by the entities' rank and
        then by how many of the entities a chunk mentions."""
        if not entities:
            return []
        mentions = index.entity_chunks[entities]
        if self.config.chunk_order == "cosine":
            rows = np.unique(mentions.indices).tolist()
            return _by_cosine(query, index, rows)[: _CHUNKS_EACH * len(entities) // 2]
        counts = np.asarray(mentions.sum(axis=0)).ravel()
        first = dict[int, int]()
        for place in range(len(entities)):
            for row in entries_of(mentions, place).tolist():
                first.setdefault(row, place)
        return sorted(first, key=lambda row: (first[row], -counts[row], row))


def _by_cosine(query: Query, index: Index, rows: Sequence[int]) -> list[int]:
    if not rows:
        return []
    near = similarity(index, CHUNK_VECTORS, query.vector, list(rows))
    return [rows[place] for place in np.argsort(-near, kind="stable").tolist()]


def round_robin(*lists: Iterable[int]) -> list[int]:
    """Return the lists' rows in turn, each row once."""
    turns = [row for turn in zip_longest(*lists) for row in turn if row is not None]
    return list(dict.fromkeys(turns))


def _searched(mode: str, keywords: QueryKeywords) -> dict[str, str]:
    """Return the keywords of each level that is searched, joined. A level without one is skipped, and where the mode
    has no other, the other one is searched, as in the release (`operate.py`, `_perform_kg_search`)."""
    joined = keywords.joined
    return {level: text for level, text in joined.items() if mode not in (LOW, HIGH) or level == mode} or joined


def _steps(keywords: QueryKeywords, levels: Mapping[str, RankedGraph]) -> list[GraphStep]:
    """Return a step for the keywords, and one for each level that was searched."""
    n_words = len(keywords.low) * (LOW in levels) + len(keywords.high) * (HIGH in levels)
    ids = {level: f"keywords-{level}" for level in levels}
    steps = [GraphStep("keywords", message("lightrag.keywords", n=n_words), asked=tuple(ids.values()))]
    for name, level in levels.items():
        caption = message(
            f"lightrag.{name}",
            entities=message("count.entities", n=len(level.entities)),
            relations=message("count.relations", n=len(level.relations)),
        )
        steps.append(GraphStep(name, caption, level.entities, level.relations, (ids[name],)))
    return steps
