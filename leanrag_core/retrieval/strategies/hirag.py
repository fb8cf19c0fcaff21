"""HiRAG: entities of all layers, their communities, and a bridge of shortest paths between the communities."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import COSINE, Options, Query, StrategyBase
from leanrag_core.retrieval.base_graph import EntityChunk
from leanrag_core.retrieval.budgets import Candidate, affordable, scaled, section, section_form, text_line, until_spent
from leanrag_core.retrieval.communities import (
    COMMUNITIES,
    COMMUNITY,
    MEMBER,
    communities_holding,
    community_line,
    community_notes,
    held_reports,
    member_links,
)
from leanrag_core.retrieval.context import (
    CHUNKS,
    ENTITIES,
    context_caption,
    joined_sections,
    passage_line,
    stored_tokens,
)
from leanrag_core.retrieval.graph_traces import ENTITY
from leanrag_core.retrieval.graph_walks import path_through
from leanrag_core.retrieval.passages import PASSAGE, PassageReason, passage_items
from leanrag_core.retrieval.subgraph import node_item, relation_item, tree_link
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import EXACT, nearest
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.communities import LayeredCommunities
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.rows import entries_of
from leanrag_core.types.trace import Style, Trace, TraceItem, TraceRelation

BRIDGE = section_form(
    "bridge", "P", "inter", "## Reasoning path\n", {"bridge": "count.relations", "tree": "count.relations"}
)
_ENTITIES = replace(ENTITIES, nouns={"entity": "count.entities"})
_STYLES = (
    ENTITY,
    Style("bridge", message("style.bridge"), "lca", "disc"),
    COMMUNITY,
    PASSAGE,
    MEMBER,
    Style("bridge", message("style.bridge_relation"), "inter", "arc", on="relation"),
    Style("tree", message("leanrag.style.tree"), "path", "line", on="relation"),
)
_BUDGETS = {"communities": "community_tokens", "bridge": "bridge_tokens", "entities": "entity_tokens"}
_BUDGETS |= {"chunks": "chunk_tokens"}
_MOST_HOPS = 12


@dataclass(frozen=True)
class Config(Options):
    """Options of HiRAG."""

    top_k: int = option(20, low=1, high=100, paper=20, help=message("hirag.option.top_k"), in_row=True, scale=40)
    candidates: int = option(200, low=1, high=1000, paper=200, help=message("hirag.option.candidates"))
    top_m: int = option(10, low=1, high=50, paper=10, help=message("hirag.option.top_m"))
    level: int = option(2, low=0, high=9, help=message("hirag.option.level"))
    community_tokens: int = option(12500, low=0, high=64000, help=message("hirag.option.community_tokens"))
    bridge_tokens: int = option(12500, low=0, high=64000, help=message("hirag.option.bridge_tokens"))
    entity_tokens: int = option(20000, low=0, high=64000, help=message("leanrag.option.entity_tokens"))
    chunk_tokens: int = option(20000, low=0, high=64000, help=message("leanrag.option.chunk_tokens"))
    max_tokens: int = option(65000, low=0, high=128_000, help=message("option.max_tokens"))


class Strategy(StrategyBase[Config]):
    """Local, bridge and global knowledge."""

    name = "hirag"
    badge = "own-part"
    score = COSINE
    parts = ("hirag_layers",)

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval; no language model is called."""
        config, run = self.config, Retrieval(self, query, index, tools)
        layered: LayeredCommunities = tools.part("hirag_layers")
        budgets = scaled({name: getattr(config, option) for name, option in _BUDGETS.items()}, config.max_tokens)
        scores, kind = self._candidates(query, index, layered, tools)
        near = list(scores)
        seeds = near[: config.top_k]
        run.lap("entities")
        allowed = np.flatnonzero(layered.communities.level <= config.level)
        holding = communities_holding(layered.communities, seeds, allowed)
        reports = held_reports(layered.communities, holding, budgets["communities"])
        run.lap("communities")
        stops = self._stops(layered, near, [item.row or 0 for item in reports])
        bridge_paths = path_through(layered.adjacency, stops, most_hops=_MOST_HOPS)
        on_path = list(dict.fromkeys(node for path in bridge_paths for node in path))
        edges = edges_inside(index, layered, on_path, budgets["bridge"])
        run.lap("bridge")
        chunks = chunks_by_neighbours(index, [layered.place(seed) for seed in seeds])
        fitting = affordable(index.chunks["tokens"], [chunk.row for chunk in chunks], budgets["chunks"])
        run.lap("chunks")
        reasons = {node: message("hirag.reason.bridge") for node in on_path}
        reasons |= {stop: message("hirag.reason.stop") for stop in stops}
        reasons |= {seed: message("hirag.reason.seed", score=scores[seed]) for seed in seeds}
        entities = node_items(index, layered, seeds, "entity", scores, reasons)
        others = [node for node in on_path if node not in set(seeds)]
        bridge = node_items(index, layered, others, "bridge", scores, reasons)
        relations = edge_relations(index, layered, edges, (*entities, *bridge))
        passages = _passages(index, chunks[: len(fitting)], entities)
        names = {item.id: item.name for item in (*entities, *bridge)}
        report_lines = [community_line(layered.communities, each) for each in reports]
        entity_lines = [text_line("entity", each.id, f"{each.name}:", each.text) for each in entities]
        context = joined_sections(
            section(COMMUNITIES, report_lines, budgets["communities"]),
            section(BRIDGE, [_bridge_line(each, names) for each in relations], budgets["bridge"]),
            section(_ENTITIES, entity_lines, budgets["entities"]),
            section(CHUNKS, [passage_line(index, each) for each in passages], budgets["chunks"]),
        )
        run.lap("context")
        kept = context.mark_of
        drawn = tuple(each for each in relations if each.id in kept)
        of_node = dict(zip(seeds, (item.id for item in entities), strict=True))
        members = member_links(layered.communities, reports, of_node)
        run.search = kind
        run.notes += community_notes(layered.communities)
        reached, n_chunks = message("count.communities", n=len(holding)), message("count.chunks", n=len(chunks))
        near_reports = message("graphrag_local.communities", n=len(reports), of=reached)
        bridged = message("hirag.bridge", n=len(stops), paths=len(bridge_paths), entities=len(on_path))
        return run.trace(
            context,
            steps=(
                run.step("entities", message("hirag.entities", n=len(seeds), of=len(near)), entities),
                run.step("communities", near_reports, (*reports, *entities), members),
                run.step("bridge", bridged, (*entities, *bridge), drawn),
                run.step("chunks", message("hirag.chunks", n=len(passages), of=n_chunks), passages),
                run.step("context", context_caption(context), (*reports, *entities, *bridge, *passages), drawn),
            ),
            styles=_STYLES,
            items=(*entities, *bridge, *reports, *passages),
            relations=(*drawn, *members),
            ranked_chunks=[chunk.row for chunk in chunks],
        )

    def _candidates(
        self, query: Query, index: Index, layered: LayeredCommunities, tools: Tools
    ) -> tuple[dict[int, float], str]:
        """Return cosine of the nearest nodes of all joined layers, best first, and how they were searched."""
        scored, kind = [], EXACT
        for layer in index.layers[: len(layered.starts) - 1]:
            near = nearest(index, layer, query.vector, self.config.candidates, searches=tools.searches)
            kind = near.kind if layer.number == 0 else kind
            scored += [
                (-float(score), layered.node(layer.number, int(row)))
                for row, score in zip(near.rows, near.scores, strict=True)
            ]
        return {node: -score for score, node in sorted(scored)[: self.config.candidates]}, kind

    def _stops(self, layered: LayeredCommunities, near: Sequence[int], communities: Sequence[int]) -> list[int]:
        """Return the stops of the bridge: the nearest candidates of each community, together in the order of
        similarity; the nearest candidates of all where there is no community."""
        if not communities:
            return list(near[: self.config.top_m])
        membership = layered.communities.membership[list(near)].tocsc()
        kept: set[int] = set()
        for row in communities:
            places = np.sort(entries_of(membership, row))
            kept |= set(places[: self.config.top_m].tolist())
        return [near[place] for place in sorted(kept)]


def _bridge_line(relation: TraceRelation, names: Mapping[str, str]) -> Candidate:
    lead = f"{names[relation.source]} and {names[relation.target]}:"
    return text_line(relation.role, relation.id, lead, relation.description)


def chunks_by_neighbours(index: Index, seeds: Sequence[tuple[int, int]]) -> list[EntityChunk]:
    """Return chunks by the order of the seeds, and for one seed by how many of its neighbours they mention.

    seeds: layer and row. Those of layer 0 count; where there is none, the chunks of the aggregated ones do.
    """
    base, mentions = index.layers[0], index.entity_chunks
    finest = [(place, row) for place, (layer, row) in enumerate(seeds) if layer == 0]
    listed: dict[int, EntityChunk] = {}
    for place, row in finest:
        chunks = base.chunks_of(row)
        around = entries_of(base.adjacency, row)
        counts = np.bincount(mentions[around].indices, minlength=index.chunks.num_rows)[chunks]
        for at in np.lexsort((chunks, -counts)).tolist():
            listed.setdefault(int(chunks[at]), EntityChunk(int(chunks[at]), place, int(counts[at])))
    if not finest:
        for place, (layer, row) in enumerate(seeds):
            for chunk in index.layers[layer].chunks_of(row).tolist():
                listed.setdefault(chunk, EntityChunk(chunk, place, 0))
    return list(listed.values())


def _passages(index: Index, chunks: Sequence[EntityChunk], entities: Sequence[TraceItem]) -> tuple[TraceItem, ...]:
    by_row = {chunk.row: chunk for chunk in chunks}
    reasons = {
        row: PassageReason(
            message("passage.of_neighbours", name=entities[chunk.place].name, n=chunk.relations),
            (entities[chunk.place].id,),
        )
        for row, chunk in by_row.items()
    }
    return passage_items(index, list(by_row), {row: float(chunk.relations) for row, chunk in by_row.items()}, reasons)


@dataclass(frozen=True)
class Edge:
    """source, target: nodes. layer, row: of the relation; row None for the link of an entity to its parent."""

    source: int
    target: int
    layer: int
    row: int | None
    prominence: int
    weight: float


def node_items(
    index: Index,
    layered: LayeredCommunities,
    nodes: Sequence[int],
    role: str,
    scores: Mapping[int, float],
    reasons: Mapping[int, Message],
) -> tuple[TraceItem, ...]:
    """Return those nodes as items, ranked as they come. scores, reasons: by node."""
    items = []
    for rank, node in enumerate(nodes, start=1):
        number, row = layered.place(node)
        layer, score, reason = index.layers[number], scores.get(node), reasons.get(node)
        items.append(node_item(layer, row, (role,), score=score, rank=rank, reason=reason))
    return tuple(items)


def edges_inside(index: Index, layered: LayeredCommunities, nodes: Sequence[int], max_tokens: int) -> list[Edge]:
    """Return what joins those nodes, relations of each layer and links to parents: by the degrees of both ends, then by
    weight; until their texts hold more tokens than the budget."""
    degrees = np.diff(layered.adjacency.indptr)
    places = [layered.place(node) for node in nodes]
    edges = []
    for layer in index.layers[: len(layered.starts) - 1]:
        rows = [row for number, row in places if number == layer.number]
        for relation in layer.relations_inside(rows).tolist():
            source, target = (layered.node(layer.number, end) for end in layer.ends[relation].tolist())
            prominence = int(degrees[source] + degrees[target])
            edges.append(Edge(source, target, layer.number, relation, prominence, float(layer.weights[relation])))
    on_bridge = set(nodes)
    for node, (number, row) in zip(nodes, places, strict=True):
        if number + 2 < len(layered.starts):
            parent = layered.node(number + 1, int(index.layers[number].parent[row]))
            if parent in on_bridge:
                edges.append(Edge(node, parent, number, None, int(degrees[node] + degrees[parent]), 1.0))
    edges.sort(key=lambda edge: (-edge.prominence, -edge.weight, edge.source, edge.target))
    return until_spent(edges, lambda edge: _edge_tokens(index, edge), max_tokens)


def _edge_tokens(index: Index, edge: Edge) -> int:
    if edge.row is None:
        return 0
    stored = stored_tokens(index, edge.layer, "relation_tokens", edge.row)
    cells = index.layers[edge.layer].relation_cells
    return count_tokens(cells.value("description", edge.row)) if stored is None else stored


def edge_relations(
    index: Index, layered: LayeredCommunities, edges: Sequence[Edge], items: Sequence[TraceItem]
) -> tuple[TraceRelation, ...]:
    """Return those edges as relations of a trace, with the role bridge, or tree for links to parents. items: of their
    ends."""
    item_of = {
        layered.node(item.layer, item.row): item for item in items if item.layer is not None and item.row is not None
    }
    relations = []
    for edge in edges:
        if edge.row is None:
            parent = item_of[edge.target]
            relations.append(tree_link(item_of[edge.source], parent.id, parent.name))
        else:
            # By the weight in aggregated layers too, which decides what is on the bridge.
            relation = relation_item(index.layers[edge.layer], edge.row, "bridge")
            relations.append(replace(relation, strength=edge.weight))
    return tuple(relations)
