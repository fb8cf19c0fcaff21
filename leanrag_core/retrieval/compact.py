"""The compact context: seeds, lowest common ancestors and the strongest relations, without what the chunks say."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from leanrag_core.retrieval.context import (
    AGGREGATED,
    CHUNKS,
    ENTITIES,
    RELATIONS,
    Budgets,
    Lines,
    chunk_budget,
    joined_sections,
    section_budgets,
)
from leanrag_core.retrieval.filling import Candidate, section
from leanrag_core.retrieval.repeats import Said
from leanrag_core.tokens import count_tokens
from leanrag_core.types.trace import Context

STRONGEST = 5  # relations of each kind
MOST_SENTENCES = 2  # of a relation: joined ones go on for long


@dataclass(frozen=True)
class CompactContext:
    """n_dropped: sentences of entities and relations that were dropped because another section says them, or because a
    relation says more."""

    context: Context
    n_dropped: int


def compact_context(lines: Lines, tops: Sequence[str], budgets: Budgets) -> CompactContext:
    """Of aggregated entities the lowest common ancestors alone, of relations the STRONGEST of each kind; sentences that
    the chunks, or an earlier section, have said are dropped.

    The chunks come first, since their text is evidence and stays whole. An entity keeps its name; a relation has
    MOST_SENTENCES at most, and without a new one it is dropped. tops: ids of the lowest common ancestors.
    """
    own, said = section_budgets(budgets), Said()
    said.add(item.text[item.lead :] for item in section(CHUNKS, lines.chunks, own["chunks"]).items)
    entities = [_new(line, said) or _name_alone(line) for line in lines.entities]
    tops_alone = [line for line in lines.aggregated if line.ref in tops]
    aggregated = [_new(line, said) or (None if line.joint == "" else _name_alone(line)) for line in tops_alone]
    relations = [_new(line, said, MOST_SENTENCES) for line in _strongest(lines.relations)]
    shares = {"inter-cluster": budgets.inter_cluster_share / 100}
    sections = (
        section(ENTITIES, entities, own["entities"]),
        section(AGGREGATED, [line for line in aggregated if line], own["aggregated"]),
        section(RELATIONS, [line for line in relations if line], own["relations"], shares),
    )
    chunks = section(CHUNKS, lines.chunks, chunk_budget(budgets, sections))
    return CompactContext(joined_sections(*sections, chunks), said.n_dropped)


def _strongest(relations: Sequence[Candidate]) -> list[Candidate]:
    kinds = dict.fromkeys(line.kind for line in relations)
    return [line for kind in kinds for line in [each for each in relations if each.kind == kind][:STRONGEST]]


def _new(line: Candidate, said: Said, most: int | None = None) -> Candidate | None:
    """The line with its new sentences, as many at most; None where it has none."""
    text = said.new(line.said, lines=not line.joint, most=most)
    if text == line.said:
        return line if text.strip() else None
    return replace(line, said=text, rest=count_tokens(f"{line.joint}{text}\n")) if text else None


def _name_alone(line: Candidate) -> Candidate:
    name = line.lead.removesuffix(":")
    return Candidate(line.kind, line.ref, "", name, (), count_tokens(f" {name}\n"), joint="")
