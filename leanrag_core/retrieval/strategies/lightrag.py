"""LightRAG: entities by the details of the question, relations by its themes, then their chunks (section 3.2)."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval import evidence
from leanrag_core.retrieval.base import Query, published, trace_index
from leanrag_core.retrieval.budgets import scaled
from leanrag_core.retrieval.captions import context_caption
from leanrag_core.retrieval.context import CHUNKS, ENTITIES, RELATIONS, joined_sections, passage_line
from leanrag_core.retrieval.filling import section
from leanrag_core.retrieval.laps import Laps
from leanrag_core.retrieval.listed import end_rows, entity_items, entity_line, relation_items, relation_line
from leanrag_core.retrieval.query_keywords import QueryKeywords, query_keywords
from leanrag_core.retrieval.ranking import nearest_entities, nearest_rows
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import similarity
from leanrag_core.storage.layout import CHUNKS as CHUNK_VECTORS
from leanrag_core.types.config import option, validate
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Context, Style, Trace, TraceItem, TraceRelation, TraceStep

LOW, HIGH, HYBRID, MIX = "low", "high", "hybrid", "mix"
_CHUNKS_AN_ENTITY = 5  # related_chunk_number of the release; half of them are kept
_SPARE = 2  # relations are looked at until their tokens are twice the budget
_STYLES = (
    Style("keywords", message("lightrag.style.keywords"), "path", "box"),
    Style("entity", message("style.entity"), "seed", "disc"),
    Style("passage", message("style.passage"), "chunk", "chip"),
    Style("base", message("style.base"), "base", "dotted", on="relation"),
    Style("searched", message("style.searched"), "tree", "line", on="relation"),
)


@dataclass(frozen=True)
class Config:
    """Options of LightRAG."""

    mode: str = option(MIX, choices=(LOW, HIGH, HYBRID, MIX), help=message("lightrag.option.mode"))
    top_k: int = option(40, low=1, high=200, paper=60, help=message("lightrag.option.top_k"), in_row=True, scale=60)
    top_c: int = option(20, low=0, high=50, help=message("vector.option.top_c"), in_row=True, link="c", scale=20)
    chunk_order: str = option("cosine", choices=("cosine", "rank"), help=message("lightrag.option.chunk_order"))
    entity_tokens: int = option(6000, low=0, high=32000, paper=4000, help=message("lightrag.option.entity_tokens"))
    relation_tokens: int = option(8000, low=0, high=32000, paper=4000, help=message("lightrag.option.relation_tokens"))
    max_tokens: int = option(30000, low=0, high=64000, paper=12000, help=message("option.max_tokens"))

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True, eq=False)
class _Level:
    """What a level led to. entities, relations: rows, best first. scores: cosines of those that were searched for."""

    entities: Sequence[int] = ()
    relations: Sequence[int] = ()
    entity_scores: tuple[tuple[int, float], ...] = ()
    relation_scores: tuple[tuple[int, float], ...] = ()


class Strategy:
    """Dual-level retrieval."""

    name = "lightrag"
    title = message("strategy.lightrag.title")
    help = message("strategy.lightrag.help")
    badge = "faithful"
    differs = message("strategy.lightrag.differs")
    calls_model = True
    parts = ("relation_vectors",)
    presets = (
        published("released"),
        published(
            "paper",
            mode=HYBRID,
            top_k=60,
            chunk_order="rank",
            entity_tokens=4000,
            relation_tokens=4000,
            max_tokens=12000,
        ),
    )

    def __init__(self, config: Config) -> None:
        self.config = config

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """The trace of one retrieval: keywords, both levels, chunks."""
        config, laps = self.config, Laps(tools.meter)
        keywords = query_keywords(query.text, tools)
        low_vector, high_vector = tools.embed([", ".join(keywords.low), ", ".join(keywords.high)])
        laps.lap("keywords")
        low = self._low(index, low_vector, tools) if config.mode != HIGH else _Level()
        laps.lap("low")
        high = self._high(index, high_vector, tools) if config.mode != LOW else _Level()
        entity_rows = round_robin(low.entities, high.entities)
        relation_rows = round_robin(low.relations, high.relations)
        laps.lap("high")
        budgets = scaled(
            {"entities": config.entity_tokens, "relations": config.relation_tokens, "chunks": self._chunk_tokens()},
            config.max_tokens,
        )
        entities = entity_items(index, entity_rows, dict(low.entity_scores))
        relations = relation_items(index, relation_rows, dict(high.relation_scores))
        others = entity_items(index, [row for row in end_rows(index, relation_rows) if row not in set(entity_rows)])
        names = {item.id: item.name for item in (*entities, *others)}
        entity_section = section(ENTITIES, [entity_line(index, each) for each in entities], budgets["entities"])
        relation_section = section(
            RELATIONS, [relation_line(index, each, names) for each in relations], budgets["relations"]
        )
        kept = {item.ref for part in (entity_section, relation_section) for item in part.items}
        kept_entities = [item.row for item in entities if item.id in kept and item.row is not None]
        kept_relations = [each.row for each in relations if each.id in kept and each.row is not None]
        ranking = self._chunk_rows(query, index, kept_entities, kept_relations)
        rows = ranking[: config.top_c].tolist()
        near = similarity(index, CHUNK_VECTORS, query.vector, rows) if rows else np.zeros(0)
        passages = evidence.passages(index, rows, scores=dict(zip(rows, near.tolist(), strict=True)))
        laps.lap("chunks")
        room = config.max_tokens - entity_section.tokens - relation_section.tokens  # unused room goes to the chunks
        chunk_section = section(CHUNKS, [passage_line(index, passage) for passage in passages], room)
        context = joined_sections(entity_section, relation_section, chunk_section)
        laps.lap("context")
        # What no longer fits is counted by its section; the picture shows what is in the context.
        drawn_relations = tuple(each for each in relations if each.id in kept)
        ends = {end for each in drawn_relations for end in (each.source, each.target)}
        drawn = tuple(item for item in (*entities, *others) if item.id in kept | ends)
        questions, links = _keyword_items(config.mode, keywords, low, high, index, drawn)
        return Trace(
            question=query.text,
            strategy=self.name,
            title=message(f"strategy.lightrag.{config.mode}"),
            parameters=asdict(config),
            items=(*drawn, *questions, *passages),
            relations=(*drawn_relations, *links),
            context=context,
            steps=_steps(config.mode, keywords, low, high, drawn, drawn_relations, links, passages, context, laps),
            styles=_STYLES,
            index=trace_index(index),
            notes=() if keywords.note is None else (keywords.note,),
            usage=laps.usage["keywords"],
            ranked_chunks=tuple(ranking.tolist()),
        )

    def _chunk_tokens(self) -> int:
        config = self.config
        return max(0, config.max_tokens - config.entity_tokens - config.relation_tokens)

    def _low(self, index: Index, vector: np.ndarray, tools: Tools) -> _Level:
        """Entities near to the details; all their relations by the degrees of both ends, then by weight."""
        near = nearest_entities(index, vector, self.config.top_k, tools)
        base = index.layers[0]
        rows = np.unique(np.concatenate([base.relations_of(row) for row in near.rows] or [np.zeros(0, dtype=int)]))
        degrees = base.degrees[base.ends[rows]].sum(axis=1)
        order = np.lexsort((rows, -base.weights[rows], -degrees))
        related = self._affordable(index, rows[order])
        scores = tuple(zip(near.rows.tolist(), near.scores.tolist(), strict=True))
        return _Level(near.rows.tolist(), related, entity_scores=scores)

    def _high(self, index: Index, vector: np.ndarray, tools: Tools) -> _Level:
        """Relations near to the themes, and the entities at their ends."""
        near = nearest_rows(tools.part("relation_vectors"), vector, self.config.top_k)
        rows = near.rows.tolist()
        scores = tuple(zip(rows, near.scores.tolist(), strict=True))
        return _Level(end_rows(index, rows), rows, relation_scores=scores)

    def _affordable(self, index: Index, rows: np.ndarray) -> list[int]:
        """The first rows, until their descriptions are more than the budget can hold: a hub has thousands."""
        stored = index.layers[0].token_counts.get("relation_tokens")
        if stored is None:
            return [int(row) for row in rows]
        total = np.cumsum(stored[rows])
        return [int(row) for row in rows[total <= _SPARE * self.config.relation_tokens]]

    def _chunk_rows(self, query: Query, index: Index, entities: list[int], relations: list[int]) -> np.ndarray:
        """Chunks of the kept entities and relations; in mix, the nearest chunks come in turn with them."""
        of_entities = self._ordered(query, index, entities)
        base = index.layers[0]
        listed = [base.relation_cells["chunks"][row].as_py() or [] for row in relations]
        of_relations = list(dict.fromkeys(row for rows in listed for row in rows))
        if self.config.chunk_order == "cosine":
            of_relations = _by_cosine(query, index, of_relations)
        nearest = evidence.ranked_by_vector(index, query.vector)[: self.config.top_c].tolist()
        return np.array(
            round_robin(nearest if self.config.mode == MIX else (), of_entities, of_relations), dtype=np.int64
        )

    def _ordered(self, query: Query, index: Index, entities: list[int]) -> list[int]:
        """The chunks that mention the entities: by cosine, half of five for each, or by the entities' rank and then by
        how many of the entities a chunk mentions."""
        if not entities:
            return []
        mentions = index.entity_chunks[entities]
        if self.config.chunk_order == "cosine":
            rows = np.unique(mentions.indices).tolist()
            return _by_cosine(query, index, rows)[: _CHUNKS_AN_ENTITY * len(entities) // 2]
        counts = np.asarray(mentions.sum(axis=0)).ravel()
        first = dict[int, int]()
        for place in range(len(entities)):
            for row in mentions.indices[mentions.indptr[place] : mentions.indptr[place + 1]].tolist():
                first.setdefault(row, place)
        return sorted(first, key=lambda row: (first[row], -counts[row], row))


def _by_cosine(query: Query, index: Index, rows: Sequence[int]) -> list[int]:
    if not rows:
        return []
    near = similarity(index, CHUNK_VECTORS, query.vector, list(rows))
    return [rows[place] for place in np.argsort(-near, kind="stable").tolist()]


def round_robin(*lists: Iterable[int]) -> list[int]:
    """The lists' rows in turn, each row once."""
    turns = [row for turn in zip_longest(*lists) for row in turn if row is not None]
    return list(dict.fromkeys(turns))


def _keyword_items(
    mode: str, keywords: QueryKeywords, low: _Level, high: _Level, index: Index, drawn: Sequence[TraceItem]
) -> tuple[tuple[TraceItem, ...], tuple[TraceRelation, ...]]:
    """The keywords of each level that was searched, joined to the entities of the context that they led to."""
    levels: list[tuple[str, tuple[str, ...], set[int], Message]] = []
    if mode != HIGH:
        levels.append((LOW, keywords.low, set(low.entities), message("lightrag.reason.low")))
    if mode != LOW:
        levels.append((HIGH, keywords.high, set(high.entities), message("lightrag.reason.high")))
    items, links = [], []
    for name, words, rows, reason in levels:
        text = ", ".join(words)
        items.append(TraceItem(f"keywords-{name}", "keyword", text, ("keywords",), reason=reason, text=text))
        links += [
            TraceRelation(f"{name}-{item.id}", f"keywords-{name}", item.id, "searched", None, "search", 1.0, "")
            for item in drawn
            if item.row in rows
        ]
    return tuple(items), tuple(links)


def _steps(
    mode: str,
    keywords: QueryKeywords,
    low: _Level,
    high: _Level,
    drawn: Sequence[TraceItem],
    relations: Sequence[TraceRelation],
    links: Sequence[TraceRelation],
    passages: Sequence[TraceItem],
    context: Context,
    laps: Laps,
) -> tuple[TraceStep, ...]:
    milliseconds = laps.milliseconds
    n_words = len(keywords.low) * (mode != HIGH) + len(keywords.high) * (mode != LOW)
    levels = tuple(f"keywords-{name}" for name in (LOW, HIGH) if mode not in ({LOW, HIGH} - {name}))
    steps = [
        TraceStep(
            "keywords",
            message("lightrag.step.keywords"),
            message("lightrag.keywords", n=n_words),
            levels,
            usage=laps.usage["keywords"],
            milliseconds=milliseconds["keywords"],
        )
    ]
    for name, level in ((LOW, low), (HIGH, high)):
        if mode == (HIGH if name == LOW else LOW):
            continue
        rows, related = set(level.entities), set(level.relations)
        steps.append(
            TraceStep(
                name,
                message(f"lightrag.step.{name}"),
                message(
                    f"lightrag.{name}",
                    entities=message("count.entities", n=len(rows)),
                    relations=message("count.relations", n=len(related)),
                ),
                tuple(item.id for item in drawn if item.row in rows),
                tuple(each.id for each in relations if each.row in related)
                + tuple(link.id for link in links if link.source == f"keywords-{name}"),
                milliseconds=milliseconds[name],
            )
        )
    ids, related_ids = tuple(passage.id for passage in passages), tuple(each.id for each in relations)
    steps += [
        TraceStep(
            "chunks",
            message("passages.step.chunks"),
            message("lightrag.chunks", n=len(ids)),
            ids,
            milliseconds=milliseconds["chunks"],
        ),
        TraceStep(
            "context",
            message("passages.step.context"),
            context_caption(context),
            tuple(item.ref for part in context.sections for item in part.items if item.ref not in set(related_ids)),
            related_ids,
            milliseconds=milliseconds["context"],
        ),
    ]
    return tuple(steps)
