"""Triples, attributes and communities of Youtu-GraphRAG as items of a trace and sections of a context."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from leanrag_core.messages.message import message
from leanrag_core.retrieval.budgets import scaled
from leanrag_core.retrieval.community_evidence import (
    COMMUNITIES,
    COMMUNITY,
    MEMBER,
    community_items,
    community_line,
    member_links,
)
from leanrag_core.retrieval.context import RELATIONS
from leanrag_core.retrieval.filling import Candidate, section
from leanrag_core.retrieval.graph_traces import GraphContext
from leanrag_core.retrieval.listed import entity_items, relation_items, relation_line, text_line
from leanrag_core.retrieval.youtu_routes import Space
from leanrag_core.tokens import trim_to_tokens
from leanrag_core.types.trace import Style, TraceItem, TraceRelation
from leanrag_core.types.youtu import ATTRIBUTE, HAS_ATTRIBUTE

_EVIDENCE_TOKENS = 6000  # that the model sees when it judges them
_HAS = "has-attribute"
_TRIPLES = replace(RELATIONS, nouns={**RELATIONS.nouns, _HAS: "count.attributes"})
_ATTRIBUTE = Style("attribute", message("style.attribute"), "seed", "chip")
_HAS_STYLE = Style(_HAS, message("style.has_attribute"), "base", "line", on="relation")


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
    """The triples in their order, attributes among them, and before them the communities.

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
    reports = community_items(space.tree.communities, communities)
    first = section(
        COMMUNITIES, [community_line(space.tree.communities, item) for item in reports], room["communities"]
    )
    left = room["communities"] + room["relations"] - first.tokens
    second = section(_TRIPLES, [by_row[triple] for triple in triples], left)
    refs = {item.ref for part in (first, second) for item in part.items}
    kept_relations = tuple(each for each in relations if each.id in refs)
    kept_links = tuple(link for link in links if link.id in refs)
    kept_reports = tuple(item for item in reports if item.id in refs)
    in_context = [triple for triple in triples if by_row[triple].ref in refs]
    drawn = entity_items(space.index, list(dict.fromkeys([*space.entities_of(in_context), *matched])))
    drawn = tuple(replace(item, rank=None) if item.row not in set(matched) else item for item in drawn)
    targets = {link.target for link in kept_links}
    kept_attributes = tuple(replace(item, row=None) for item in attributes if item.id in targets)
    members = member_links(space.tree.communities, kept_reports, {item.row or 0: item.id for item in drawn})
    # Steps light up entities by their rows, so that rows of other tables are left out.
    beside = (*(replace(item, row=None) for item in kept_reports), *kept_attributes)
    styles = (*((COMMUNITY, MEMBER) if kept_reports else ()), *((_ATTRIBUTE, _HAS_STYLE) if kept_links else ()))
    return YoutuContext(GraphContext((first, second), drawn, kept_relations), beside, (*kept_links, *members), styles)


def evidence_text(space: Space, triples: Sequence[int], chunks: Sequence[int]) -> str:
    """Triples and chunks as a model reads them to judge whether they are enough."""
    n = space.n_relations
    descriptions = space.index.layers[0].relation_cells["description"]
    lines = [descriptions[row].as_py() if row < n else _said(space, row - n) for row in triples]
    passages = [space.index.chunk(row).text.strip() for row in chunks]
    return trim_to_tokens("\n".join([*(f"- {line}" for line in lines), "", *passages]), _EVIDENCE_TOKENS)


def _attributes(
    space: Space, rows: Sequence[int], scores: Mapping[int, float]
) -> tuple[tuple[TraceItem, ...], tuple[TraceRelation, ...]]:
    """Attributes as items, each joined to its entity."""
    ids, cells, types = (
        space.index.layers[0].entity_cells["id"],
        space.schema.attribute_cells,
        space.schema.names(ATTRIBUTE),
    )
    items, links = [], []
    for row in rows:
        owner, type_, value = (cells[name][row].as_py() for name in ("entity", "type", "value"))
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


def _said(space: Space, row: int) -> str:
    cells = space.schema.attribute_cells
    name = space.index.layers[0].entity_cells["name"][cells["entity"][row].as_py()].as_py()
    return f"{name} ({space.schema.names(ATTRIBUTE)[cells['type'][row].as_py()]}): {cells['value'][row].as_py()}"
