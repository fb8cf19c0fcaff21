"""Names of a question linked to their nodes in the graph, where a walk then starts (HippoRAG)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.graph_traces import Asked
from leanrag_core.retrieval.question_terms import QueryEntities
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import nearest_entities
from leanrag_core.types.index import Index

_NAMED = message("query_entities.reason.named")


@dataclass(frozen=True, eq=False)
class LinkedNames:
    """restart: (n_entities,), weights with which the walk starts. asked: each name with its node."""

    restart: np.ndarray
    asked: tuple[Asked, ...]

    @property
    def rows(self) -> list[int]:
        """Return rows of the nodes, ascending."""
        return np.flatnonzero(self.restart).tolist()


def searched_names(entities: QueryEntities, text: str) -> list[str]:
    """Return the named entities, else the generic ones, else the text that they were read from."""
    return [*entities.named] or [*entities.generic] or [text]


def link_names(
    index: Index, names: Sequence[str], tools: Tools, *, prefix: str = "asked", reason: Message = _NAMED
) -> LinkedNames:
    """Return each name's nearest entity, with a weight of 1 over the number of chunks that mention it.

    prefix, reason: of the items that the names become. Source: HippoRAG, section 2.3, node specificity.
    """
    base = index.layers[0]
    restart, asked = np.zeros(len(base)), []
    for place, (name, vector) in enumerate(zip(names, tools.embed(names), strict=True)):
        row = int(nearest_entities(index, vector, 1, tools).rows[0])
        # In float32, as the mentions of an entity are counted everywhere else.
        restart[row] = np.float32(1) / max(1, len(base.chunks_of(row)))
        asked.append(Asked(f"{prefix}-{place}", name, reason, {row}))
    return LinkedNames(restart, tuple(asked))
