"""HippoRAG 2: PageRank over entities and passages from relations that answer the question (Gutierrez et al. 2025)."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leanrag_core.errors import ReplyError
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import OFFICIAL, Options, Query, StrategyBase, chunks_option, published
from leanrag_core.retrieval.base_graph import end_rows
from leanrag_core.retrieval.graph_traces import DRAWN, GraphStep, graph_picture, graph_trace, walked_graph
from leanrag_core.retrieval.graph_walks import stationary
from leanrag_core.retrieval.model_replies import ask_json, reply_or_note
from leanrag_core.retrieval.passages import ranked_by_vector
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import (
    Ranked,
    best_first,
    best_positive_rows,
    nearest_rows,
    row_cosines,
    similarity,
    unit_range,
)
from leanrag_core.storage.layout import CHUNKS
from leanrag_core.types.calls import JSON_WHOLE, json_list, json_object
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace

_MOST_FACTS = 5
_MOST_ENTITIES = 5  # at which the walk starts; linking_top_k of the release
ONCE, RELEASED = "once", "released"
_REPLY = json_object(chosen=json_list(JSON_WHOLE))


@dataclass(frozen=True)
class Config(Options):
    """Options of HippoRAG 2; the defaults are the release's."""

    n_facts: int = option(5, low=1, high=50, paper=5, help=message("hipporag2.option.n_facts"), in_row=True)
    top_c: int = chunks_option(5, paper=5)
    damping: float = option(0.5, low=0.0, high=0.99, paper=0.5, help=message("walk.option.damping"))
    passage_weight: float = option(0.05, low=0.0, high=1.0, paper=0.05, help=message("hipporag2.option.passage_weight"))
    edges: str = option(ONCE, choices=(ONCE, RELEASED), help=message("hipporag2.option.edges"))
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))


@dataclass(frozen=True)
class _Facts:
    """Relations that were kept, best first, with their scores in [0, 1]. note: how they were kept."""

    rows: tuple[int, ...]
    scores: tuple[float, ...]
    note: Message | None = None


class Strategy(StrategyBase[Config]):
    """Query to triple, recognition memory, and a walk over entities and passages."""

    name = "hipporag2"
    badge = "faithful"
    calls_model = True
    parts = ("relation_vectors", "synonyms")
    presets = (OFFICIAL, published("released", edges=RELEASED))

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval: relations, those that are kept, the walk, chunks."""
        config, run = self.config, Retrieval(self, query, index, tools)
        near = nearest_facts(tools.part("relation_vectors"), query.vector, config.n_facts, tools)
        run.lap("facts")
        facts = self._kept(query, index, near, tools)
        run.note(facts.note)
        run.lap("kept")
        n_entities, n_chunks = len(index.layers[0]), index.chunks.num_rows
        dense = unit_range(similarity(index, CHUNKS, query.vector).astype(np.float64))
        mass = np.zeros(n_entities)
        # The relation that is farthest from the question scores 0: alone, it is no place to start from.
        weights = entity_weights(index, facts.rows, facts.scores) if facts.rows else mass
        restart = np.concatenate([weights, config.passage_weight * dense])
        walks = bool(facts.rows) and bool(restart.any())
        if walks:
            links = tools.part("synonyms")
            graph = links.over_passages if config.edges == ONCE else links.over_passages_released
            at_rest = stationary(graph, restart, damping=config.damping)
            mass, scores = at_rest[:n_entities], at_rest[n_entities:]
            chunks = best_first(scores)
        else:
            scores, chunks = dense, ranked_by_vector(index, query.vector)
        entities = best_positive_rows(mass, DRAWN)
        run.lap("walk")
        reason = "hipporag2.reason" if walks else "passage.near"
        of_facts = dict(zip(facts.rows, facts.scores, strict=True))
        ranked = walked_graph(run, entities, mass, chunks, scores, reason)
        ranked = replace(ranked, relations=near.rows.tolist(), relation_scores=of_facts)
        ends = end_rows(index, facts.rows)
        walked = message("hipporag2.walk", n=n_chunks) if walks else message("hipporag2.dense")
        steps = [
            GraphStep("facts", message("hipporag2.facts", n=len(near.rows)), relations=near.rows.tolist()),
            GraphStep("kept", message("hipporag2.kept", n=len(facts.rows)), ends, facts.rows),
            GraphStep("walk", walked, ranked.entities, title=message("walk.step.walk")),
        ]
        picture, caption = graph_picture(index, ranked), message("walk.chunks", n=len(ranked.chunk_scores))
        return graph_trace(run, ranked, picture, steps=steps, chunk_caption=caption)

    def _kept(self, query: Query, index: Index, near: Ranked, tools: Tools) -> _Facts:
        """Return the relations that the model keeps, none where its reply cannot be used; without one, all that were
        found."""
        rows, scores = near.rows.tolist(), near.scores.tolist()
        if not rows:
            return _Facts((), ())
        names, base = index.layers[0].entity_cells["name"], index.layers[0]
        lines = [
            f"{place}. {names[int(base.ends[row][0])].as_py()} - {names[int(base.ends[row][1])].as_py()}: "
            f"{base.relation_cells.value('description', row)}"
            for place, row in enumerate(rows, start=1)
        ]
        reply = reply_or_note(
            tools,
            lambda: ask_json(
                tools,
                "filter_facts",
                lambda cells: _chosen(cells, len(lines)),
                schema=_REPLY,
                question=query.text,
                facts="\n".join(lines),
            ),
            step=message("hipporag2.step.kept"),
            instead=message("hipporag2.unfiltered"),
            built_in=message("hipporag2.built_in"),
        )
        chosen = reply.value or []
        if tools.language is None:
            chosen = list(range(min(_MOST_FACTS, len(rows))))
        return _Facts(tuple(rows[place] for place in chosen), tuple(scores[place] for place in chosen), reply.note)


def nearest_facts(vectors: np.ndarray, vector: np.ndarray, n: int, tools: Tools) -> Ranked:
    """Return the n relations nearest to the question, with cosines that are scaled to [0, 1] over all relations.

    vectors: (r, d) float32 unit rows. vector: (d,) of the question.
    """
    if not len(vectors):
        return nearest_rows(vectors, vector, n)
    near = row_cosines(vectors, vector[None], tools)[0]
    best, least = near.best(n), near.least()
    scores, highest = best.scores.astype(np.float64), float(best.scores[0])
    if highest == least:
        return Ranked(best.rows, np.ones(len(scores)))
    return Ranked(best.rows, (scores - least) / (highest - least))


def entity_weights(index: Index, relations: tuple[int, ...], scores: tuple[float, ...]) -> np.ndarray:
    """Return (n,) weights of the walk's start, for the five ends of the relations that weigh most.

    The mean of their scores, divided by the number of chunks that mention the entity: what is everywhere weighs little.
    """
    base = index.layers[0]
    total, times = np.zeros(len(base)), np.zeros(len(base))
    ends = base.ends[list(relations)].ravel()
    n_chunks_of = np.maximum(1.0, np.asarray(index.entity_chunks[ends].sum(axis=1)).ravel())
    np.add.at(total, ends, np.repeat(np.asarray(scores), 2) / n_chunks_of)
    np.add.at(times, ends, 1.0)
    weights = np.divide(total, times, out=total, where=times > 0)
    weights[best_first(weights)[_MOST_ENTITIES:]] = 0
    return weights


def _chosen(cells: dict[str, Any], n: int) -> list[int]:
    """Return places of the chosen statements, from 0."""
    chosen = cells.get("chosen")
    if not isinstance(chosen, list) or not all(type(number) is int for number in chosen):
        raise ReplyError("hipporag2.reply")
    return list(dict.fromkeys(number - 1 for number in chosen if 1 <= number <= n))[:_MOST_FACTS]
