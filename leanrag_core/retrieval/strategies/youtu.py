"""Youtu-GraphRAG: sub-questions bounded by a schema, four routes, and rounds of reflection (Dong et al. 2025)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import Options, Preset, Query, StrategyBase, chunks_option, published
from leanrag_core.retrieval.base_graph import entity_items, relation_items, relation_line
from leanrag_core.retrieval.budgets import Candidate, scaled, section, text_line
from leanrag_core.retrieval.communities import (
    COMMUNITIES,
    COMMUNITY,
    MEMBER,
    community_items,
    community_line,
    member_links,
)
from leanrag_core.retrieval.context import RELATIONS
from leanrag_core.retrieval.graph_traces import Asked, GraphContext, GraphStep, RankedGraph, announce, graph_trace
from leanrag_core.retrieval.passages import cosines_of
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.youtu_routes import (
    Routed,
    Space,
    SubQuery,
    decomposed,
    merged,
    ranked_chunks,
    reflected,
    routed,
)
from leanrag_core.text.tokens import trim_to_tokens
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Style, Trace, TraceItem, TraceRelation
from leanrag_core.types.youtu import ATTRIBUTE, HAS_ATTRIBUTE, unbounded_schema

OPEN, REJECT = "open", "reject"
_EVIDENCE_TOKENS = 6000  # that the model sees when it judges them
_HAS = "has-attribute"
_TRIPLES = replace(RELATIONS, nouns={**RELATIONS.nouns, _HAS: "count.attributes"})
_ATTRIBUTE = Style("attribute", message("style.attribute"), "seed", "chip")
_HAS_STYLE = Style(_HAS, message("style.has_attribute"), "base", "line", on="relation")


@dataclass(frozen=True)
class Config(Options):
    """Options of Youtu-GraphRAG."""

    agent: bool = option(False, help=message("youtu.option.agent"), in_row=True)
    mode: str = option(REJECT, choices=(REJECT, OPEN), help=message("youtu.option.mode"))
    top_k: int = option(20, low=1, high=200, paper=20, help=message("youtu.option.top_k"), in_row=True, scale=40)
    top_c: int = chunks_option(10, low=0, paper=20)
    sub_questions: int = option(3, low=1, high=6, paper=3, help=message("youtu.option.sub_questions"))
    rounds: int = option(5, low=1, high=5, paper=5, help=message("youtu.option.rounds"))
    depth: int = option(5, low=1, high=8, help=message("youtu.option.depth"))
    communities: bool = option(True, absent=True, help=message("youtu.option.communities"))
    schema: bool = option(True, absent=True, help=message("youtu.option.schema"))
    relation_tokens: int = option(3000, low=0, high=32000, help=message("youtu.option.relation_tokens"))
    community_tokens: int = option(500, low=0, high=32000, help=message("youtu.option.community_tokens"))
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))


class Strategy(StrategyBase[Config]):
    """Entity match, triple match, community filter and path walk for each sub-question."""

    name = "youtu"
    badge = "own-part"
    calls_model = True
    parts = ("relation_vectors", "schema", "youtu_tree")
    presets = (
        published("official"),
        published("paper", agent=True, top_c=20),
        Preset("top-10", message("youtu.preset.top_10"), {"agent": True, "top_c": 10}),
        Preset("open", message("youtu.preset.open"), {"agent": True, "top_c": 20, "mode": OPEN}),
        # The ablations of table 3; the one without the agent has the options of "official" but for the chunks.
        Preset("without-agent", message("youtu.preset.without_agent"), {"top_c": 20}),
        Preset(
            "without-communities",
            message("youtu.preset.without_communities"),
            {"agent": True, "top_c": 20, "communities": False},
        ),
        Preset("without-schema", message("youtu.preset.without_schema"), {"agent": True, "top_c": 20, "schema": False}),
    )

    @property
    def needed_parts(self) -> tuple[str, ...]:
        """Return the vectors of the relations, the schema, and the tree that was made with it or without."""
        tree = (self._tree_part,) if self.config.communities else ()
        return ("relation_vectors", *(("schema",) if self.config.schema else ()), *tree)

    @property
    def _tree_part(self) -> str:
        return "youtu_tree" if self.config.schema else "youtu_plain_tree"

    @property
    def answer_task(self) -> str:
        """Return the prompt's task: in the open mode the answer may rest on what the model knows; else on the context
        alone, and it declines where that does not suffice."""
        return "answer_open" if self.config.mode == OPEN else "answer"

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval: sub-questions, a step for each round, chunks."""
        config, run = self.config, Retrieval(self, query, index, tools)
        vectors = np.asarray(tools.part("relation_vectors"))
        schema = tools.part("schema") if config.schema else unbounded_schema(index.layers[0])
        space = Space(index, schema, tools.part(self._tree_part) if config.communities else None, vectors)
        plan = decomposed(
            query.text, query.vector, space.schema, tools, most=config.sub_questions, scale=index.query_scale
        )
        run.lap("plan")
        run.note(plan.note)
        steps = [GraphStep("plan", message("youtu.plan", n=len(plan.queries)))]
        announce(run, steps[0])
        parts: list[Routed] = []
        earlier: list[str] = []
        queries: Sequence[SubQuery] = plan.queries
        triples, chunks = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        for number in range(1, config.rounds + 1 if config.agent else 2):
            asked = tuple(f"question-{len(parts) + place}" for place in range(1, len(queries) + 1))
            new = self._routed(space, queries, query, tools)
            parts += new
            triples = merged(parts)[: config.top_k]
            chunks = ranked_chunks(space, triples.tolist(), parts)
            name = f"round-{number}"
            run.lap(name)
            steps.append(announce(run, _round(space, number, new, asked)))
            earlier += [f"{number}. asked: {each.text}" for each in queries]
            if not config.agent or number == config.rounds:
                break
            evidence = evidence_text(space, triples.tolist(), chunks[: config.top_c].tolist())
            reflection = reflected(query.text, evidence, earlier, tools)
            run.lap(name)
            run.notes += [reflection.note] if reflection.note is not None else []
            known = {part.query.text.casefold() for part in parts}
            if not reflection.question or reflection.question.casefold() in known:
                break
            earlier.append(f"{number}. missing: {reflection.missing}")
            queries = (SubQuery(reflection.question),)
        return self._trace(run, space, parts, triples, chunks, steps)

    def _routed(self, space: Space, queries: Sequence[SubQuery], query: Query, tools: Tools) -> list[Routed]:
        """Return the routes of each sub-question; all are embedded, and compared with the triples, together."""
        new = [each.text for each in queries if each.text != query.text]
        embedded = dict(zip(new, tools.embed(new), strict=True)) if new else {}
        vectors = np.array([embedded.get(each.text, query.vector) for each in queries], dtype=np.float32)
        scores = space.scores(vectors, tools)
        return [
            routed(space, each, vectors[place], scores[place], tools, k=self.config.top_k, depth=self.config.depth)
            for place, each in enumerate(queries)
        ]

    def _trace(
        self,
        run: Retrieval,
        space: Space,
        parts: Sequence[Routed],
        triples: np.ndarray,
        chunks: np.ndarray,
        steps: Sequence[GraphStep],
    ) -> Trace:
        """Return the trace. triples, chunks: (k,) rows, best first."""
        config, query, index = self.config, run.query, run.index
        budgets = {
            "communities": config.community_tokens,
            "relations": config.relation_tokens,
            "chunks": max(0, config.max_tokens - config.community_tokens - config.relation_tokens),
        }
        scores = space.scores_of(triples.tolist(), query.vector)
        communities = list(dict.fromkeys(row for part in parts for row in part.communities[:1]))
        context = youtu_context(
            space, triples.tolist(), scores, communities, parts[0].entities, budgets, config.max_tokens
        )
        rows = chunks[: config.top_c].tolist()
        asked = [
            Asked(f"question-{place}", part.query.text, _reason(part), set(part.entities), "sub-question")
            for place, part in enumerate(parts, start=1)
        ]
        trace = graph_trace(
            run,
            RankedGraph(chunks=chunks, chunk_scores=cosines_of(index, query.vector, rows), chunk_reason="passage.near"),
            context.graph,
            steps=steps,
            chunk_caption=message("youtu.chunks", n=len(rows)),
            asked=asked,
        )
        return replace(
            trace,
            items=(*trace.items, *context.items),
            relations=(*trace.relations, *context.relations),
            styles=(*trace.styles, *context.styles),
        )


def _round(space: Space, number: int, parts: Sequence[Routed], asked: tuple[str, ...]) -> GraphStep:
    triples = merged(parts)
    caption = message(
        "youtu.round",
        n=len(triples),
        questions=message("count.sub_questions", n=len(parts)),
        entities=message("count.entities", n=len({row for part in parts for row in part.entities})),
    )
    title = message("youtu.step.round", number=number)
    rows = set(triples.tolist())
    return GraphStep(f"round-{number}", caption, set(space.entities_of(sorted(rows))), rows, asked, title=title)


def _reason(part: Routed) -> Message:
    return message("youtu.reason", n=len(part.entities))


@dataclass(frozen=True)
class YoutuContext:
    """graph: the sections before the chunks, and the entities and relations in them. items, relations, styles: of the
    communities and attributes beside these."""

    graph: GraphContext
    items: tuple[TraceItem, ...]
    relations: tuple[TraceRelation, ...]
    styles: tuple[Style, ...]


def youtu_context(
    space: Space,
    triples: Sequence[int],
    scores: Mapping[int, float],
    communities: Sequence[int],
    matched: Sequence[int],
    budgets: Mapping[str, int],
    max_tokens: int,
) -> YoutuContext:
    """Return the triples in their order, attributes among them, and before them the communities.

    scores: of each triple, its cosine to the question. matched: entities that are drawn beside those of the triples.
    """
    room = scaled(budgets, max_tokens)
    n = space.n_relations
    rows = [triple for triple in triples if triple < n]
    relations = relation_items(space.index, rows, {row: scores[row] for row in rows})
    attributes, links = _attributes(space, [triple - n for triple in triples if triple >= n], scores)
    named = {item.id: item.name for item in entity_items(space.index, space.entities_of(triples))}
    by_row = {each.row: relation_line(space.index, each, named) for each in relations}
    by_row |= {
        n + (item.row or 0): _attribute_line(link, item, named) for item, link in zip(attributes, links, strict=True)
    }
    known = None if space.tree is None else space.tree.communities
    reports = () if known is None else community_items(known, communities)
    lines = () if known is None else [community_line(known, item) for item in reports]
    first = section(COMMUNITIES, lines, room["communities"])
    triple_room = room["communities"] + room["relations"] - first.tokens
    second = section(_TRIPLES, [by_row[triple] for triple in triples], triple_room)
    refs = {item.ref for part in (first, second) for item in part.items}
    kept_relations = tuple(each for each in relations if each.id in refs)
    kept_links = tuple(link for link in links if link.id in refs)
    kept_reports = tuple(item for item in reports if item.id in refs)
    in_context = [triple for triple in triples if by_row[triple].ref in refs]
    drawn = entity_items(space.index, list(dict.fromkeys([*space.entities_of(in_context), *matched])))
    drawn = tuple(replace(item, rank=None) if item.row not in set(matched) else item for item in drawn)
    targets = {link.target for link in kept_links}
    kept_attributes = tuple(replace(item, row=None) for item in attributes if item.id in targets)
    ids = {item.row or 0: item.id for item in drawn}
    members = () if known is None else member_links(known, kept_reports, ids)
    # Steps light up entities by their rows, so that rows of other tables are left out.
    beside = (*(replace(item, row=None) for item in kept_reports), *kept_attributes)
    styles = (*((COMMUNITY, MEMBER) if kept_reports else ()), *((_ATTRIBUTE, _HAS_STYLE) if kept_links else ()))
    return YoutuContext(GraphContext((first, second), drawn, kept_relations), beside, (*kept_links, *members), styles)


def evidence_text(space: Space, triples: Sequence[int], chunks: Sequence[int]) -> str:
    """Return triples and chunks as a model reads them to judge whether they are enough."""
    n = space.n_relations
    descriptions = space.index.layers[0].relation_cells["description"]
    lines = [descriptions[row].as_py() if row < n else _attribute_text(space, row - n) for row in triples]
    passages = [space.index.chunk(row).text.strip() for row in chunks]
    return trim_to_tokens("\n".join([*(f"- {line}" for line in lines), "", *passages]), _EVIDENCE_TOKENS)


def _attributes(
    space: Space, rows: Sequence[int], scores: Mapping[int, float]
) -> tuple[tuple[TraceItem, ...], tuple[TraceRelation, ...]]:
    """Return attributes as items, each joined to its entity."""
    ids, cells = space.index.layers[0].entity_cells["id"], space.schema.attribute_cells
    types = space.schema.names(ATTRIBUTE)
    items, links = [], []
    for row in rows:
        owner, type_, value = (cells.value(name, row) for name in ("entity", "type", "value"))
        score = scores[space.n_relations + row]
        item = TraceItem(
            f"attribute-{row}", "attribute", value, ("attribute",), row=row, score=score, type=types[type_], text=value
        )
        items.append(item)
        source = ids[owner].as_py()
        description = f"{types[type_]}: {value}"
        links.append(
            TraceRelation(f"has-{item.id}", source, item.id, _HAS, None, HAS_ATTRIBUTE, 1.0, description, score=score)
        )
    return tuple(items), tuple(links)


def _attribute_line(link: TraceRelation, item: TraceItem, names: Mapping[str, str]) -> Candidate:
    return text_line(_HAS, link.id, f"{names[link.source]} ({item.type}):", item.text)


def _attribute_text(space: Space, row: int) -> str:
    cells = space.schema.attribute_cells
    name = space.index.layers[0].entity_cells.value("name", cells.value("entity", row))
    return f"{name} ({space.schema.names(ATTRIBUTE)[cells.value('type', row)]}): {cells.value('value', row)}"
