"""Entities, relations and texts as items of a trace and lines of a context, for strategies without a hierarchy."""

from collections.abc import Mapping, Sequence

import numpy as np

from leanrag_core.messages.message import Message
from leanrag_core.retrieval.filling import Candidate
from leanrag_core.retrieval.token_sums import Piece
from leanrag_core.tokens import count_tokens, rest_of_line
from leanrag_core.types.index import Index
from leanrag_core.types.trace import TraceItem, TraceRelation


def entity_items(
    index: Index,
    rows: Sequence[int] | np.ndarray,
    scores: Mapping[int, float] | None = None,
    *,
    role: str = "entity",
    reasons: Mapping[int, Message] | None = None,
) -> tuple[TraceItem, ...]:
    """Those base entities as items, ranked as they come. scores, reasons: by row."""
    cells = index.layers[0].entity_cells
    return tuple(
        TraceItem(
            id=cells["id"][row].as_py(),
            kind="entity",
            name=cells["name"][row].as_py(),
            roles=(role,),
            layer=0,
            row=row,
            score=None if scores is None else scores.get(row),
            rank=rank,
            reason=None if reasons is None else reasons.get(row),
            type=cells["type"][row].as_py(),
            text=cells["description"][row].as_py(),
        )
        for rank, row in enumerate(map(int, rows), start=1)
    )


def relation_items(
    index: Index,
    rows: Sequence[int] | np.ndarray,
    scores: Mapping[int, float] | None = None,
    *,
    role: str = "base",
    reasons: Mapping[int, Message] | None = None,
) -> tuple[TraceRelation, ...]:
    """Those base relations as relations of a trace, in that order. Their ends have to be items of the trace too
    (end_rows)."""
    layer = index.layers[0]
    cells, ids = layer.relation_cells, layer.entity_cells["id"]
    related = []
    for row in map(int, rows):
        source, target = layer.ends[row].tolist()
        related.append(
            TraceRelation(
                id=cells["id"][row].as_py(),
                source=ids[source].as_py(),
                target=ids[target].as_py(),
                role=role,
                layer=0,
                made=cells["kind"][row].as_py(),
                strength=float(cells["weight"][row].as_py()),
                description=cells["description"][row].as_py(),
                row=row,
                score=None if scores is None else scores.get(row),
                reason=None if reasons is None else reasons.get(row),
            )
        )
    return tuple(related)


def end_rows(index: Index, relation_rows: Sequence[int] | np.ndarray) -> list[int]:
    """Rows of the entities at the ends of those base relations, each once, in the relations' order."""
    if not len(relation_rows):
        return []
    return list(dict.fromkeys(index.layers[0].ends[np.asarray(relation_rows)].ravel().tolist()))


def entity_line(index: Index, entity: TraceItem) -> Candidate:
    """A base entity as a line of a section: its name and type, then its description."""
    typed = f"{entity.name} ({entity.type}):" if entity.type else f"{entity.name}:"
    return text_line(entity.role, entity.id, typed, entity.text, _stored(index, "description_tokens", entity.row))


def relation_line(index: Index, relation: TraceRelation, names: Mapping[str, str]) -> Candidate:
    """A base relation as a line of a section: the names of its ends, then its description. names: by item id."""
    lead = f"{names[relation.source]} and {names[relation.target]}:"
    stored = _stored(index, "relation_tokens", relation.row)
    return text_line(relation.role, relation.id, lead, relation.description, stored)


def text_line(kind: str, ref: str, lead: str, text: str, text_tokens: int | None = None) -> Candidate:
    """A text as a line of a section. lead: ends in ":" or ")". text_tokens: of the text as the index stores them."""
    text = text.strip() if text_tokens is None else text  # stored counts are those of the text as it is
    rest = count_tokens(rest_of_line(text)) if text_tokens is None else text_tokens
    head = f" {lead}"
    return Candidate(kind, ref, lead, text, (Piece(head, count_tokens(head)),), rest)


def _stored(index: Index, column: str, row: int | None) -> int | None:
    counts = index.layers[0].token_counts.get(column)
    return None if counts is None or row is None else int(counts[row])
