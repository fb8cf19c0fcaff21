"""HippoRAG 1 (style): PageRank from the entities that the question names; chunks by the mass of their entities."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import Options, Query, StrategyBase, chunks_option, published
from leanrag_core.retrieval.graph_traces import DRAWN, Asked, GraphStep, graph_picture, graph_trace, walked_graph
from leanrag_core.retrieval.graph_walks import stationary
from leanrag_core.retrieval.question_terms import QueryEntities, query_entities
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import best_positive_rows, nearest_entities, positive_first
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace

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


@dataclass(frozen=True)
class Config(Options):
    """Options of HippoRAG 1."""

    top_c: int = chunks_option(5, paper=5)
    damping: float = option(0.1, low=0.0, high=0.99, paper=0.5, help=message("walk.option.damping"))
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))


class Strategy(StrategyBase[Config]):
    """Each entity of the question is linked to its nearest node, with weight 1 / number of the node's chunks."""

    name = "hipporag"
    badge = "style-of"
    calls_model = True
    parts = ("synonyms",)
    presets = (published("released"), published("paper", damping=0.5))

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval: entities of the question, their nodes, the walk, chunks."""
        config, run = self.config, Retrieval(self, query, index, tools)
        wanted = query_entities(query.text, tools)
        run.note(wanted.note)
        run.lap("entities")
        linked = link_names(index, searched_names(wanted, query.text), tools)
        run.lap("linked")
        mass = stationary(tools.part("synonyms").over_entities, linked.restart, damping=config.damping)
        entities = best_positive_rows(mass, DRAWN)
        run.lap("walk")
        scores = index.entity_chunks.T @ mass
        chunks = positive_first(scores)
        ranked = walked_graph(run, entities, mass, chunks, scores, "walk.reason.entities")
        ids = [each.id for each in linked.asked]
        named = message("hipporag.entities", n=len(ids))
        n_linked = message("walk.linked", n=len(linked.rows))
        steps = [
            GraphStep("entities", named, asked=ids, title=message("query_entities.step")),
            GraphStep("linked", n_linked, linked.rows, asked=ids, title=message("walk.step.linked")),
            GraphStep("walk", message("walk.walk", n=len(entities)), ranked.entities, title=message("walk.step.walk")),
        ]
        picture, caption = graph_picture(index, ranked), message("walk.chunks", n=len(ranked.chunk_scores))
        return graph_trace(run, ranked, picture, steps=steps, chunk_caption=caption, asked=linked.asked)
