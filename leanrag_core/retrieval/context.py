"""The context: sections with token budgets of their own, filled in rank order or cut as a whole; in full or compact."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.budgets import (
    LEAST_TOKENS,
    TRIMMED,
    Candidate,
    Piece,
    choose_until_full,
    fixed,
    scaled,
    section,
    section_form,
    text_line,
)
from leanrag_core.retrieval.repeats import SeenSentences
from leanrag_core.retrieval.subgraph import nodes_by_layer
from leanrag_core.retrieval.vector_search import similarity
from leanrag_core.text.sentences import up_to_last_sentence
from leanrag_core.text.tokens import count_tokens, finding_lines, rest_of_line, trim_to_tokens
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Context, ContextItem, ContextSection, Lost, Trace, TraceItem, TraceRelation

ENTITIES = section_form(
    "entities", "E", "seed", "## Entities\n", {"seed": "count.seed_entities", "entity": "count.entities"}
)
_OF_AGGREGATED = {"aggregated": "count.aggregated_entities", "findings": "count.findings"}
AGGREGATED = section_form("aggregated", "A", "path", "## Aggregated entities\n", _OF_AGGREGATED)
_OF_RELATIONS = {"inter-cluster": "count.inter_cluster_relations", "base": "count.base_relations"}
RELATIONS = section_form("relations", "R", "inter", "## Relations\n", _OF_RELATIONS)
CHUNKS = section_form("chunks", "C", "chunk", "## Source chunks\n", {"chunk": "count.source_chunks"})
STRONGEST = 5  # relations of each kind
MOST_SENTENCES = 2  # of a relation: joined ones go on for long


@dataclass(frozen=True)
class Budgets:
    """Tokens that each section may take. inter_cluster_share: percent of the relations' that is kept for inter-cluster
    relations; the rest is kept for base relations, and room that one kind does not use goes to the other. max_tokens:
    of the whole context; None for the sum of the sections'."""

    entities: int = 9000
    aggregated: int = 8000
    relations: int = 8000
    chunks: int = 12000
    inter_cluster_share: int = 60
    max_tokens: int | None = None


@dataclass(frozen=True)
class Lines:
    """What may become a line of the context, section by section, each in the order in which it is taken."""

    entities: Sequence[Candidate]
    aggregated: Sequence[Candidate]
    relations: Sequence[Candidate]
    chunks: Sequence[Candidate]


def context_lines(
    index: Index,
    nodes: Sequence[TraceItem],
    relations: Sequence[TraceRelation],
    passages: Sequence[TraceItem],
    *,
    findings: bool,
    vector: np.ndarray | None = None,
    named: Sequence[TraceItem] = (),
) -> Lines:
    """Return the lines of a retrieval. Entities come by rank, aggregated ones from the lowest common ancestor down,
    their findings after all of them, relations of each kind by strength and then by the likeness of their ends to the
    question. Parent links are written as "(part of ...)". Tokens are those of the finished text, added up from the
    counts that the index holds (retrieval.budgets); what an index does not hold is counted now. vector: (d,) of the
    question. named: other items at the ends of relations, whose names are needed."""
    names = {node.id: _name(index, node) for node in (*nodes, *named)}
    above = _downward(nodes)
    findings_lines = [_findings(index, node, names) for node in above] if findings else []
    ordered = _strongest_first(index, (*nodes, *named), relations, vector)
    return Lines(
        entities=[_entity(index, node, names, "seed") for node in nodes if node.layer == 0],
        aggregated=[
            *(_entity(index, node, names, "aggregated") for node in above),
            *(line for line in findings_lines if line),
        ],
        relations=[_relation(index, relation, names) for relation in ordered],
        chunks=[passage_line(index, passage) for passage in passages],
    )


def filled(lines: Lines, budgets: Budgets) -> Context:
    """Return the lines within the budgets. Tokens never exceed them; what did not fit, or was trimmed, is counted.

    Where the sum of the sections' budgets is above max_tokens, they are made smaller in proportion, and the chunks take
    the room that the others leave.
    """
    sections = _before_chunks(budgets, lines.entities, lines.aggregated, lines.relations)
    return joined_sections(*sections, section(CHUNKS, lines.chunks, chunk_budget(budgets, sections)))


def _before_chunks(
    budgets: Budgets, entities: Sequence[Candidate], aggregated: Sequence[Candidate], relations: Sequence[Candidate]
) -> tuple[ContextSection, ...]:
    """Return the sections that come before the chunks, each within its budget."""
    budget_of, shares = section_budgets(budgets), {"inter-cluster": budgets.inter_cluster_share / 100}
    return (
        section(ENTITIES, entities, budget_of["entities"]),
        section(AGGREGATED, aggregated, budget_of["aggregated"]),
        section(RELATIONS, relations, budget_of["relations"], shares),
    )


def filled_until_full(lines: Lines, max_tokens: int) -> Context:
    """Return the lines without budgets of sections, cut from the end, where the chunks are."""
    sections: list[ContextSection] = []
    room = max_tokens
    offered = (lines.entities, lines.aggregated, lines.relations, lines.chunks)
    for form, of_form in zip((ENTITIES, AGGREGATED, RELATIONS, CHUNKS), offered, strict=True):
        filled_section = section(form, of_form, room, choice=choose_until_full)
        sections.append(filled_section)
        room = 0 if filled_section.lost else room - filled_section.tokens
    return joined_sections(*sections)


def section_budgets(budgets: Budgets) -> dict[str, int]:
    """Return the budget of each section, within that of the whole context."""
    budget_of = {name: int(getattr(budgets, name)) for name in ("entities", "aggregated", "relations", "chunks")}
    return budget_of if budgets.max_tokens is None else scaled(budget_of, budgets.max_tokens)


def chunk_budget(budgets: Budgets, others: Sequence[ContextSection]) -> int:
    """Return what the chunks may take beside the other sections."""
    total = budgets.entities + budgets.aggregated + budgets.relations + budgets.chunks
    if budgets.max_tokens is None or budgets.max_tokens >= total:
        return budgets.chunks
    return budgets.max_tokens - sum(other.tokens for other in others)


def joined_sections(*sections: ContextSection) -> Context:
    """Return the context that those sections make, in that order."""
    # Sections end in an empty line and begin with "##": the tokenizer's pattern always cuts there.
    return Context(
        text="".join(part.text for part in sections), tokens=sum(part.tokens for part in sections), sections=sections
    )


def within(context: Context, max_tokens: int) -> Context:
    """Return the context cut to at most max_tokens, unchanged where it fits: each section is made smaller in
    proportion, and keeps its first items, the last of them trimmed. Marks stay those of the items.
    """
    if context.tokens <= max_tokens:
        return context
    room = scaled({section.name: section.tokens for section in context.sections}, max_tokens)
    return joined_sections(*(_shortened(section, room[section.name]) for section in context.sections))


def _shortened(section: ContextSection, max_tokens: int) -> ContextSection:
    """Return the section with its first items, as many as fit, and what the last of them keeps."""
    if section.tokens <= max_tokens:
        return section
    heading = section.text.partition("\n")[0] + "\n" if section.text else ""
    kept: list[ContextItem] = []
    room = max_tokens - count_tokens(heading) - 1
    for item in section.items:
        line = f"[{item.mark}] {item.text}\n"
        tokens = count_tokens(line)
        if tokens <= room:
            kept.append(item)
            room -= tokens
            continue
        text_room = room - count_tokens(f"[{item.mark}] {item.text[: item.lead]} {TRIMMED}\n")
        text = (
            up_to_last_sentence(trim_to_tokens(item.text[item.lead :], text_room)) if text_room >= LEAST_TOKENS else ""
        )
        if text:
            cut = f"{item.text[: item.lead]}{text} {TRIMMED}"
            used = count_tokens(f"[{item.mark}] {cut}\n")
            if used <= room:
                kept.append(replace(item, text=cut, tokens=used, trimmed=True))
        break
    body = "".join(f"[{item.mark}] {item.text}\n" for item in kept)
    text = f"{heading}{body}\n" if kept else ""
    return replace(
        section,
        items=tuple(kept),
        text=text,
        tokens=count_tokens(text),
        budget=max_tokens,
        left_out=section.left_out + len(section.items) - len(kept),
        trimmed=sum(item.trimmed for item in kept),
        lost=_lost_in_all(section, kept),
    )


def _lost_in_all(section: ContextSection, kept: Sequence[ContextItem]) -> tuple[Lost, ...]:
    """Return the losses of a section by kind, those from before it was made smaller included."""
    before = {lost.kind: lost for lost in section.lost}
    lost = []
    for kind in dict.fromkeys([*before, *(item.kind for item in section.items)]):
        previous = before.get(kind, Lost(kind, sum(item.kind == kind for item in section.items), 0, 0))
        kept_of_kind = [item for item in kept if item.kind == kind]
        trimmed = sum(item.trimmed for item in kept_of_kind)
        if trimmed or len(kept_of_kind) < previous.offered:
            lost.append(replace(previous, left_out=previous.offered - len(kept_of_kind), trimmed=trimmed))
    return tuple(lost)


def _downward(nodes: Sequence[TraceItem]) -> list[TraceItem]:
    """Return the nodes above layer 0 from the top down, in a layer those above the best seeds first."""
    best: dict[str, int] = {}
    for layer in nodes_by_layer(tuple(nodes)).values():
        for node in layer:
            rank = min(node.rank or len(nodes), best.get(node.id, len(nodes)))
            best[node.id] = rank
            if node.parent:
                best[node.parent] = min(rank, best.get(node.parent, rank))
    above = (node for node in nodes if node.layer)
    return sorted(above, key=lambda node: (-(node.layer or 0), best[node.id], node.row or 0))


def _strongest_first(
    index: Index, nodes: Sequence[TraceItem], relations: Sequence[TraceRelation], vector: np.ndarray | None
) -> list[TraceRelation]:
    """Return inter-cluster relations, then base ones; each kind by strength, ties by the mean cosine of the ends to
    the question. vector: (d,) of the question."""
    likeness: dict[str, float] = {}
    if vector is not None:
        for number, layer in nodes_by_layer(tuple(nodes)).items():
            near = similarity(index, number, vector, [node.row or 0 for node in layer])
            likeness |= zip((node.id for node in layer), near.tolist(), strict=True)

    def order(relation: TraceRelation) -> tuple[bool, float, float, str]:
        near = likeness.get(relation.source, 0.0) + likeness.get(relation.target, 0.0)
        # Rounded, so that processors which add up in another order rank alike.
        return relation.role == "base", -relation.strength, -round(near, 5), relation.id

    return sorted((relation for relation in relations if relation.role != "tree"), key=order)


def stored_tokens(index: Index, layer: int | None, column: str, row: int | None) -> int | None:
    """Return the count that the index holds for a text of that entity or relation; None where it holds none."""
    if layer is None or row is None:
        return None
    counts = index.layers[layer].token_counts.get(column)
    return None if counts is None else int(counts[row])


def _rest(text: str, stored: int | None) -> int:
    return count_tokens(rest_of_line(text)) if stored is None else stored


def _name(index: Index, node: TraceItem) -> Piece:
    text, stored = f" {node.name}", stored_tokens(index, node.layer, "name_tokens", node.row)
    return Piece(text, count_tokens(text) if stored is None else stored)


def _entity(index: Index, node: TraceItem, names: Mapping[str, Piece], kind: str) -> Candidate:
    lead = f"{node.name}:"
    head: tuple[Piece, ...] = (names[node.id], fixed(":"))
    if node.parent:
        lead = f"{node.name} (part of {names[node.parent].text[1:]}):"
        head = (names[node.id], fixed(" (part of"), names[node.parent], fixed("):"))
    rest = _rest(node.text, stored_tokens(index, node.layer, "description_tokens", node.row))
    return Candidate(kind, node.id, lead, node.text, head, rest)


def _findings(index: Index, node: TraceItem, names: Mapping[str, Piece]) -> Candidate | None:
    findings = index.layers[node.layer or 0].entity_cells.value("findings", node.row or 0) or ()
    lines = finding_lines([(finding["summary"], finding["explanation"]) for finding in findings])
    if not lines:
        return None
    stored = stored_tokens(index, node.layer, "findings_tokens", node.row)
    rest = count_tokens(lines) if stored is None else stored
    head = (names[node.id], fixed(" (findings):\n"))
    lead = f"{node.name} (findings):\n"
    return Candidate("findings", node.id, lead, lines.removesuffix("\n"), head, rest, joint="")


def _relation(index: Index, relation: TraceRelation, names: Mapping[str, Piece]) -> Candidate:
    source, target = names[relation.source], names[relation.target]
    suffix = f" ({relation.strength:.0f} relations, {relation.made}):" if relation.role != "base" else ":"
    head = (source, fixed(" and"), target, fixed(suffix))
    rest = _rest(relation.description, stored_tokens(index, relation.layer, "relation_tokens", relation.row))
    lead = f"{source.text[1:]} and{target.text}{suffix}"
    return Candidate(relation.role, relation.id, lead, relation.description, head, rest)


def passage_line(index: Index, passage: TraceItem) -> Candidate:
    """Return a passage as a line of a section: its document's title and page, then its text."""
    stored = None if index.chunk_tokens is None or passage.row is None else int(index.chunk_tokens[passage.row])
    return text_line("chunk", passage.id, passage_lead(passage), passage.text.strip(), stored)


def passage_lead(passage: TraceItem) -> str:
    """Return what stands before a passage in its line: its document's title, and its page."""
    page = f", page {passage.source.page}" if passage.source and passage.source.page else ""
    return f"({passage.name}{page})"


@dataclass(frozen=True)
class CompactContext:
    """n_dropped: sentences of entities and relations that were dropped because another section says them, or because a
    relation says more."""

    context: Context
    n_dropped: int


def compact_context(lines: Lines, tops: Sequence[str], budgets: Budgets) -> CompactContext:
    """Return the compact context: of aggregated entities the lowest common ancestors alone, of relations the STRONGEST
    of each kind; sentences that the chunks, or an earlier section, say are dropped.

    The chunks come first, since their text is evidence and stays whole. An entity keeps its name; a relation has
    MOST_SENTENCES at most, and without a new one it is dropped. tops: ids of the lowest common ancestors.
    """
    seen, chunks = SeenSentences(), section(CHUNKS, lines.chunks, section_budgets(budgets)["chunks"])
    seen.add(item.text[item.lead :] for item in chunks.items)
    entities = [_new_sentences(line, seen) or _name_alone(line) for line in lines.entities]
    tops_alone = [line for line in lines.aggregated if line.ref in tops]
    aggregated = [_new_sentences(line, seen) or (_name_alone(line) if line.joint else None) for line in tops_alone]
    relations = [_new_sentences(line, seen, MOST_SENTENCES) for line in _strongest(lines.relations)]
    kept = ([line for line in lines_of_section if line] for lines_of_section in (aggregated, relations))
    sections = _before_chunks(budgets, entities, *kept)
    room = chunk_budget(budgets, sections)
    if room != chunks.budget:
        chunks = section(CHUNKS, lines.chunks, room)
    return CompactContext(joined_sections(*sections, chunks), seen.n_dropped)


def _strongest(relations: Sequence[Candidate]) -> list[Candidate]:
    kinds = dict.fromkeys(line.kind for line in relations)
    return [line for kind in kinds for line in [each for each in relations if each.kind == kind][:STRONGEST]]


def _new_sentences(line: Candidate, seen: SeenSentences, most: int | None = None) -> Candidate | None:
    """Return the line with its new sentences, as many at most; None where it has none."""
    text = seen.new(line.text, lines=not line.joint, most=most)
    if text == line.text:
        return line if text.strip() else None
    return replace(line, text=text, rest=count_tokens(f"{line.joint}{text}\n")) if text else None


def _name_alone(line: Candidate) -> Candidate:
    name = line.lead.removesuffix(":")
    return Candidate(line.kind, line.ref, "", name, (), count_tokens(f" {name}\n"), joint="")


def losses(context: Context) -> tuple[Message, ...]:
    """Return what the context lacks for want of room, a message for each kind; none when everything is in it whole."""
    return tuple(_loss(section, lost) for section in context.sections for lost in section.lost)


def _loss(section: ContextSection, lost: Lost) -> Message:
    if not lost.trimmed:
        code = "context.loss.left_out"
    else:
        code = "context.loss.both" if lost.left_out else "context.loss.trimmed"
    return message(
        code,
        n=lost.trimmed,
        left_out=lost.left_out,
        offered=message(lost.noun or "count.items", n=lost.offered),
        budget=section.budget,
        section=section.phrase or section.title,
    )


def context_caption(context: Context) -> Message:
    """Return how much is in the context, and what did not fit."""
    n_filled = sum(bool(section.items) for section in context.sections)
    return message(
        "context.filled",
        tokens=context.tokens,
        sections=message("count.sections", n=n_filled),
        fitted=in_order(losses(context)) or message("context.fitted"),
    )


def in_order(messages: tuple[Message, ...]) -> Message | None:
    """Return the messages as one, sentence after sentence; None when there is none."""
    if not messages:
        return None
    first, rest = messages[0], in_order(messages[1:])
    return message("text.then", first=first, rest=rest) if rest else first


_NODE_SHAPES = ("disc", "box", "double")  # of what the graph draws; passages have others


def passage_section(trace: Trace) -> ContextSection | None:
    """Return the section of the context that holds the passages; where the context has none left, the one in their
    colour."""
    ids = {passage.id for passage in trace.passages}
    colours = {style.colour for style in trace.styles if style.on == "item" and style.shape not in _NODE_SHAPES}
    sections = trace.context.sections
    holding = [section for section in sections if any(item.ref in ids for item in section.items)]
    holding += [section for section in sections if section.colour in colours]
    return holding[0] if holding else None
