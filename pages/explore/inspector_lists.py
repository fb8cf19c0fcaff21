"""Lists that the inspector shows of more than one kind of thing: relations, chunks, and what unfolds below a row."""

from collections.abc import Mapping, Sequence

import streamlit as st

from leanrag_core.figures import passages
from leanrag_core.figures.drawing import isolated
from leanrag_core.queries import browse
from leanrag_core.queries.browse import forms_by_name, with_forms
from leanrag_core.types.graph import Relation
from leanrag_core.types.index import Index
from leanrag_core.types.summary import IndexSummary
from pages.common.messages import say
from pages.explore import inspected
from pages.explore.inspected import Values
from pages.explore.kind_words import kind_title

_EXCERPT = 260  # characters
_UNFOLDED = 6  # members that a row of a list shows; the relation itself lists all
_ROWS_THAT_UNFOLD = 20  # further ones say what they are and lead on
CHUNKS = 12  # at first, and with every "more"
RELATIONS = 50


@st.cache_resource(max_entries=8, show_spinner=False)
def _forms(index_id: str, created: str, _index: Index) -> Mapping[str, tuple[str, ...]]:
    return forms_by_name(_index.report.aliases)


def names_to_mark(index: Index, summary: IndexSummary, names: Sequence[str]) -> list[str]:
    """The names with the other forms that the documents use."""
    return with_forms(names, _forms(summary.id, summary.created, index))


def strength_of(relation: Relation) -> str:
    """Lambda of an aggregated relation, the weight of a base one."""
    return f"{relation.strength:,}" if relation.layer else f"{relation.weight:g}"


def made_words(relation: Relation) -> str:
    """How a relation came about, in a few words."""
    if relation.layer:
        known = relation.kind in ("summarised", "concatenated")
        return say(f"explore.inspect.made.{relation.kind}", n=len(relation.members)) if known else relation.kind
    return say("explore.inspect.kind_and_chunks", kind=kind_title(relation.kind), n=len(relation.chunks))


def relation_rows(index: Index, related: Sequence[browse.Neighbour]) -> list[Values]:
    """Relations of an entity, strongest first, with bars; each unfolds to what it says and stands for."""
    strongest = max((_number(neighbour.relation) for neighbour in related), default=0.0) or 1.0
    listed = []
    for place, neighbour in enumerate(related):
        relation = neighbour.relation
        unfolds = [inspected.text(inspected.shortened(relation.description))] if relation.description else []
        if relation.layer and place < _ROWS_THAT_UNFOLD:
            members = browse.unfold(index, relation, _UNFOLDED)
            unfolds.append(inspected.rows(member_rows(members)))
        listed.append(
            inspected.row(
                neighbour.name,
                do="relation",
                id_=relation.id,
                sub=made_words(relation),
                value=strength_of(relation),
                bar=_number(relation) / strongest,
                unfolds=unfolds,
            )
        )
    return listed


def member_rows(members: Sequence[browse.MemberRelation]) -> list[Values]:
    """Relations with both ends."""
    return [
        inspected.row(
            say("explore.inspect.ends", source=isolated(member.source), target=isolated(member.target)),
            do="relation",
            id_=member.relation.id,
            layer=member.relation.layer,
            sub=inspected.shortened(member.relation.description, 120),
            value=strength_of(member.relation),
        )
        for member in members
    ]


def chunk_blocks(
    index: Index, summary: IndexSummary, chunks: Sequence[int], names: Sequence[str], *, shown: int
) -> list[Values]:
    """The first `shown` chunks with the names marked, and a button for more."""
    if not chunks:
        return [inspected.text(say("explore.inspect.no_chunk"), muted=True)]
    marked = names_to_mark(index, summary, names)
    blocks = []
    for number in list(chunks)[:shown]:
        chunk = index.chunk(number)
        document = index.document_cells["title"][index.chunk_cells["document"][number].as_py()].as_py()
        parts = passages.excerpt(chunk.text, marked, longest=_EXCERPT)
        sub = say("passage.chunk", n=number + 1)
        blocks.append(inspected.passage(document, sub, parts, id_=chunk.id, row_number=number))
    left = len(chunks) - shown
    if left > 0:
        more = say("explore.inspect.more", n=min(CHUNKS, left), rest=left)
        blocks.append(inspected.rows([], more=more, more_id="chunks"))
    return blocks


def _number(relation: Relation) -> float:
    return float(relation.strength if relation.layer else relation.weight)
