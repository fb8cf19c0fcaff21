"""HyperGraphRAG: facts of several entities as hyperedges; entities of the question lead to facts, near facts to
entities, and chunks join them (Luo et al. 2025, section 4; the orders of its release, `operate.py`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import COSINE, Options, Preset, Query, StrategyBase, chunks_option, published
from leanrag_core.retrieval.base_graph import entity_items, entity_line
from leanrag_core.retrieval.budgets import affordable, scaled, section, section_form, text_line, until_spent
from leanrag_core.retrieval.context import ENTITIES
from leanrag_core.retrieval.graph_traces import Asked, GraphContext, GraphStep, RankedGraph, by_row, graph_trace
from leanrag_core.retrieval.passages import cosines_of
from leanrag_core.retrieval.question_terms import QueryEntities, query_entities
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import Ranked, best_first, nearest_entities, nearest_rows, similarity
from leanrag_core.storage.layout import CHUNKS
from leanrag_core.text.tokens import count_tokens, rest_of_line
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.statements import Statements
from leanrag_core.types.trace import Parameter, Style, Trace, TraceItem, TraceRelation


def facts_near(facts: Statements, vector: np.ndarray, k: int, *, at_least: float, tools: Tools) -> Ranked:
    """Return the k facts nearest to the vector, of those with that cosine or a higher one; of equally near ones those
    that more chunks state come first. vector: (d,) float32, unit length."""
    near = nearest_rows(facts.vectors, vector, k, at_least=at_least, tools=tools)
    # Rounded, so that the last bit does not decide before the chunks do.
    order = np.lexsort((near.rows, -_stated(facts, near.rows), -np.round(near.scores, 5)))
    return Ranked(near.rows[order], near.scores[order])


def facts_of_entities(facts: Statements, entities: Sequence[int]) -> np.ndarray:
    """Return the facts that tie one of these entities, (k,) rows: by the degrees of both in the bipartite graph, of the
    entity with most facts where a fact ties several; then by the chunks that state a fact, then by row.

    entities: rows. Source: equation of section 4.3.1, expansion from entities to hyperedges.
    """
    n_facts = np.diff(facts.by_entity.indptr)
    tied = facts.by_entity[_rows(entities)]
    degrees = np.repeat(n_facts[_rows(entities)], np.diff(tied.indptr))
    by_fact = np.lexsort((-degrees, tied.indices))
    rows, first = np.unique(tied.indices[by_fact], return_index=True)
    both = degrees[by_fact][first] + np.diff(facts.entities.offsets)[rows]
    return np.asarray(rows[np.lexsort((rows, -_stated(facts, rows), -both))], dtype=np.int64)


def entities_of_facts(facts: Statements, rows: Sequence[int]) -> list[int]:
    """Return rows of the entities that these facts tie, each once, in the facts' order."""
    return list(dict.fromkeys(facts.entities.joined(_rows(rows)).tolist()))


def chunks_of_facts(facts: Statements, rows: Sequence[int]) -> list[int]:
    """Return rows of the chunks that state these facts, each once, in the facts' order."""
    return list(dict.fromkeys(facts.chunks.joined(_rows(rows)).tolist()))


def chunks_of_entities(index: Index, facts: Statements, entities: Sequence[int]) -> list[int]:
    """Return rows of the chunks that mention these entities: by the first entity of a chunk, then by how many facts of
    these entities it states, one that ties two of them twice; then by row."""
    mentioned = index.entity_chunks[_rows(entities)]
    chunks, first = np.unique(mentioned.indices, return_index=True)
    place = np.searchsorted(mentioned.indptr, first, side="right")
    tied_facts = facts.by_entity[_rows(entities)].indices
    n_stated = np.bincount(facts.chunks.joined(tied_facts), minlength=index.chunks.num_rows)
    return [int(row) for row in chunks[np.lexsort((chunks, -n_stated[chunks], place))]]


def _stated(facts: Statements, rows: np.ndarray) -> np.ndarray:
    """Return how many chunks state each fact, (k,). rows: (k,)."""
    return np.asarray(np.diff(facts.chunks.offsets)[rows])


def _rows(values: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return the row numbers as an array, (k,) int64."""
    return np.asarray(values, dtype=np.int64)


BOTH, BY_ENTITIES, BY_FACTS = "both", "entities", "facts"
NEAREST, STATING, NONE = "nearest", "stating", "none"
_ASKED = "asked-entities"
_FACTS = section_form("facts", "F", "path", "## Facts\n", {"fact": "count.facts"})
_STYLES = (
    Style("fact", message("style.fact"), "path", "box"),
    Style("ties", message("style.ties"), "path", "line", on="relation"),
)
_RELEASED: Mapping[str, Parameter] = {"chunk_source": STATING, "top_c": 50}


@dataclass(frozen=True)
class Config(Options):
    """Options of HyperGraphRAG."""

    mode: str = option(BOTH, choices=(BOTH, BY_ENTITIES, BY_FACTS), help=message("hypergraphrag.option.mode"))
    top_k: int = option(60, low=1, high=200, paper=60, help=message("hypergraphrag.option.top_k"), in_row=True)
    # The paper's bounds are 50 of 100 for entities and 5 of 10 for facts: .5 where every extraction is certain.
    least_cosine: float = option(0.2, low=0.0, high=1.0, paper=0.5, help=message("hypergraphrag.option.least_cosine"))
    top_c: int = chunks_option(6, paper=6)
    chunk_source: str = option(
        NEAREST, choices=(NEAREST, STATING, NONE), help=message("hypergraphrag.option.chunk_source")
    )
    entity_tokens: int = option(8000, low=0, high=32000, help=message("lightrag.option.entity_tokens"))
    fact_tokens: int = option(8000, low=0, high=32000, help=message("hypergraphrag.option.fact_tokens"))
    chunk_tokens: int = option(8000, low=0, high=64000, help=message("leanrag.option.chunk_tokens"))
    max_tokens: int = option(24000, low=0, high=64000, help=message("option.max_tokens"))


@dataclass(frozen=True, eq=False)
class _Found:
    """Rows, best first, with cosines by row. named: entities near to those of the question. near: facts near to the
    question. tied: facts of the named entities. members: entities of the near facts. fact_tokens: by row, of the facts'
    texts as they end a line of the context."""

    named: list[int]
    near: list[int]
    tied: list[int]
    members: list[int]
    entity_scores: dict[int, float]
    fact_scores: dict[int, float]
    fact_tokens: Mapping[int, int]

    @property
    def entities(self) -> list[int]:
        """What the facts led to comes first, as in the release (`utils.py`, `process_combine_contexts`)."""
        return list(dict.fromkeys([*self.members, *self.named]))

    @property
    def facts(self) -> list[int]:
        """Facts near to the question, then others of the named entities."""
        return list(dict.fromkeys([*self.near, *self.tied]))


class Strategy(StrategyBase[Config]):
    """Entity retrieval, hyperedge retrieval, expansion in both directions, chunks."""

    name = "hypergraphrag"
    badge = "own-part"
    score = COSINE
    calls_model = True
    parts = ("hyperedges",)
    presets = (
        published("official"),
        published("paper", least_cosine=0.5),
        published("released", **_RELEASED),
        # The ablations of figure 4: w/o ER, w/o HR and w/o CR there.
        Preset("without-entities", message("hypergraphrag.preset.without_entities"), {"mode": BY_FACTS}),
        Preset("without-facts", message("hypergraphrag.preset.without_facts"), {"mode": BY_ENTITIES}),
        Preset("without-chunks", message("hypergraphrag.preset.without_chunks"), {"chunk_source": NONE}),
    )

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval: entities, facts, what they lead to, chunks."""
        config, run = self.config, Retrieval(self, query, index, tools)
        facts: Statements = tools.part("hyperedges")
        named = query_entities(query.text, tools) if config.mode != BY_FACTS else QueryEntities((), ())
        run.note(named.note)
        asked = ", ".join((*named.named, *named.generic))
        entity_scores = self._entities(query, index, asked, tools) if config.mode != BY_FACTS else {}
        run.lap("entities")
        least = index.across_scale.own_of(config.least_cosine)
        fact_scores = dict[int, float]()
        if config.mode != BY_ENTITIES:
            near = facts_near(facts, query.vector, config.top_k, at_least=least, tools=tools)
            fact_scores = by_row(near.rows, near.scores)
        run.lap("facts")
        budgets = {"entities": config.entity_tokens, "facts": config.fact_tokens, "chunks": config.chunk_tokens}
        room = scaled(budgets, config.max_tokens)
        expansion = _expanded(index, facts, entity_scores, fact_scores, room)
        run.lap("expansion")
        filled = _filled(index, facts, expansion, room)
        run.lap("context")
        chunks, scores = self._chunks(query, index, facts, expansion, room["chunks"])
        ranked = RankedGraph(chunks=chunks, chunk_scores=scores, chunk_reason="passage.near")
        n_taken = len(chunks[: config.top_c])
        return graph_trace(
            run,
            ranked,
            filled,
            steps=_steps(expansion, filled, asked),
            chunk_caption=message(f"hypergraphrag.chunks.{config.chunk_source}", n=n_taken),
            asked=[Asked(_ASKED, asked, message("hypergraphrag.reason.asked"), set(expansion.named))] if asked else (),
        )

    def _entities(self, query: Query, index: Index, asked: str, tools: Tools) -> dict[int, float]:
        """Return cosines of the entities near to those of the question, which are one text; to the question itself
        where it has none."""
        vector = tools.embed([asked])[0] if asked else query.vector
        near = nearest_entities(index, vector, self.config.top_k, tools)
        kept = index.across_scale.plain(near.scores) >= self.config.least_cosine
        return by_row(near.rows[kept], near.scores[kept])

    def _chunks(
        self, query: Query, index: Index, facts: Statements, expansion: _Found, max_tokens: int
    ) -> tuple[list[int], dict[int, float]]:
        """Return rows of chunks, best first, and the cosines of those that are taken: the nearest to the question, or
        those that state the near facts and then those that mention the named entities, each as many as half of the
        budget holds before the others."""
        config = self.config
        if config.chunk_source == NONE:
            return [], {}
        if config.chunk_source == NEAREST:
            scores = similarity(index, CHUNKS, query.vector)
            order = best_first(scores)
            rows = order[index.across_scale.plain(scores)[order] >= config.least_cosine].tolist()
        else:
            lists = [chunks_of_facts(facts, expansion.near), chunks_of_entities(index, facts, expansion.named)]
            tokens = index.chunks["tokens"]
            first = [row for listed in lists for row in affordable(tokens, listed, max_tokens // 2)]
            rows = list(dict.fromkeys([*first, *(row for listed in lists for row in listed)]))
        chosen_rows = rows[: config.top_c]
        return rows, cosines_of(index, query.vector, chosen_rows)


def _expanded(
    index: Index,
    facts: Statements,
    entity_scores: dict[int, float],
    fact_scores: dict[int, float],
    room: Mapping[str, int],
) -> _Found:
    """Return what was found and what it leads to on the other side, each direction within half of a section.

    room: tokens of each section. Source: section 4.3.1, bidirectional expansion.
    """
    descriptions = index.layers[0].entity_cells["description"]
    stored = index.layers[0].token_counts.get("description_tokens")
    counted = dict[int, int]()

    def fact_tokens(row: int) -> int:
        if row not in counted:
            counted[row] = count_tokens(rest_of_line(facts.cells.value("text", row)))
        return counted[row]

    def entity_tokens(row: int) -> int:
        return count_tokens(descriptions[row].as_py()) if stored is None else int(stored[row])

    named = list(entity_scores)
    near = until_spent(list(fact_scores), fact_tokens, room["facts"] // 2)
    tied = until_spent(facts_of_entities(facts, named).tolist(), fact_tokens, room["facts"] // 2)
    members = until_spent(entities_of_facts(facts, near), entity_tokens, room["entities"] // 2)
    return _Found(named, near, tied, members, entity_scores, fact_scores, counted)


def _filled(index: Index, facts: Statements, expansion: _Found, room: Mapping[str, int]) -> GraphContext:
    """Return the sections of entities and facts, and a picture of both."""
    reasons = dict.fromkeys(expansion.members, message("hypergraphrag.reason.member"))
    reasons |= {
        row: message("hypergraphrag.reason.named", score=expansion.entity_scores[row]) for row in expansion.named
    }
    entities = entity_items(index, expansion.entities, expansion.entity_scores, reasons=reasons)
    statements = _fact_items(index, facts, expansion)
    sections = (
        section(ENTITIES, [entity_line(index, each) for each in entities], room["entities"]),
        section(
            _FACTS,
            [
                text_line("fact", each.id, f"{each.name}:", each.text, expansion.fact_tokens[row])
                for row, each in statements.items()
            ],
            room["facts"],
        ),
    )
    refs = {item.ref for part in sections for item in part.items}
    drawn = [item for item in entities if item.id in refs]
    id_of = {item.row: item.id for item in drawn}
    drawn_facts = {row: item for row, item in statements.items() if item.id in refs}
    links = [
        TraceRelation(f"{fact.id}-{id_of[entity]}", id_of[entity], fact.id, "ties", None, "ties", 1.0, "")
        for row, fact in drawn_facts.items()
        for entity in facts.entities[row].tolist()
        if entity in id_of
    ]
    return GraphContext(sections, (*drawn, *drawn_facts.values()), tuple(links), _STYLES)


def _fact_items(index: Index, facts: Statements, expansion: _Found) -> dict[int, TraceItem]:
    """Return the facts as items by row, each named for its entities."""
    names = index.layers[0].entity_cells["name"]
    tied = message("hypergraphrag.reason.tied")
    items = {}
    for rank, row in enumerate(expansion.facts, start=1):
        score = expansion.fact_scores.get(row)
        items[row] = TraceItem(
            f"fact-{row}",
            "fact",
            ", ".join(names[entity].as_py() for entity in facts.entities[row].tolist()),
            ("fact",),
            score=score,
            rank=rank,
            reason=tied if score is None else message("passage.near", score=score),
            text=facts.cells.value("text", row),
        )
    return items


def _steps(expansion: _Found, filled: GraphContext, asked: str) -> list[GraphStep]:
    """Return the steps of both retrievals and of the expansion; each lights up those of its items that are drawn."""
    drawn = {item.id for item in filled.drawn}
    near, every = (
        [id_ for row in rows if (id_ := f"fact-{row}") in drawn] for rows in (expansion.near, expansion.facts)
    )
    expanded = message(
        "hypergraphrag.expansion",
        facts=message("count.facts", n=len(expansion.facts)),
        entities=message("count.entities", n=len(expansion.entities)),
    )
    named = message("hypergraphrag.entities", n=len(expansion.named))
    links = [each.id for each in filled.drawn_relations]
    return [
        GraphStep("entities", named, expansion.named, asked=[_ASKED] if asked else ()),
        GraphStep("facts", message("hypergraphrag.facts", n=len(expansion.near)), asked=near),
        GraphStep("expansion", expanded, expansion.entities, asked=every, links=links),
    ]
