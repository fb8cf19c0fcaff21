"""LinearRAG: entities activate others through sentences near to the question; PageRank over entities and passages."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import Options, Preset, Query, StrategyBase, chunks_option, published
from leanrag_core.retrieval.graph_traces import (
    DRAWN,
    Asked,
    GraphContext,
    GraphStep,
    RankedGraph,
    by_row,
    graph_picture,
    graph_trace,
)
from leanrag_core.retrieval.graph_walks import stationary
from leanrag_core.retrieval.passages import ranked_by_vector
from leanrag_core.retrieval.question_terms import question_terms
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import best_first, cosines, nearest_rows, similarity, unit_range
from leanrag_core.storage.layout import CHUNKS
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.statements import Statements, TriGraph
from leanrag_core.types.trace import Style, Trace, TraceItem, TraceRelation

_DRAWN_SENTENCES = 12
_WORD = re.compile(r"\w+")
_SENTENCE = Style("sentence", message("style.sentence"), "path", "box")
_HOLDS = Style("holds", message("style.holds"), "base", "line", on="relation")


@dataclass(frozen=True)
class Config(Options):
    """Options of LinearRAG; the defaults are those of the release's command."""

    top_c: int = chunks_option(5, paper=5)
    # The release counts the start as a round too: its three rounds are two hops.
    most_hops: int = option(2, low=0, high=8, help=message("linearrag.option.most_hops"), in_row=True)
    sentences_each: int = option(3, low=1, high=20, help=message("linearrag.option.sentences_each"))
    least_score: float = option(0.4, low=0.0, high=1.0, help=message("linearrag.option.least_score"))
    passage_ratio: float = option(2.0, low=0.0, high=10.0, help=message("linearrag.option.passage_ratio"))
    passage_weight: float = option(0.05, low=0.0, high=1.0, help=message("hipporag2.option.passage_weight"))
    damping: float = option(0.5, low=0.0, high=0.99, help=message("walk.option.damping"))
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))


@dataclass(frozen=True)
class Bridge:
    """A sentence through which an entity activates others. score: its cosine to the question. reached: their rows."""

    entity: int
    sentence: int
    score: float
    reached: tuple[int, ...]


@dataclass(frozen=True)
class Activation:
    """Entities that are active. weights: with which the walk starts at each. scores, tiers: with which score and at
    which hop each was activated last, hop 1 for the names of the question."""

    weights: Mapping[int, float]
    scores: Mapping[int, float]
    tiers: Mapping[int, int]
    bridges: tuple[Bridge, ...] = field(default=())


class Strategy(StrategyBase[Config]):
    """Local semantic bridging, then global importance; no language model, and no relation."""

    name = "linearrag"
    badge = "own-part"
    parts = ("tri_graph",)
    presets = (
        published("released"),
        Preset("hotpotqa", message("linearrag.preset.hotpotqa"), {"sentences_each": 1, "passage_ratio": 0.05}),
        Preset(
            "musique", message("linearrag.preset.musique"), {"most_hops": 4, "sentences_each": 4, "least_score": 0.1}
        ),
    )

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval: names of the question, bridges, the walk, chunks."""
        config, run = self.config, Retrieval(self, query, index, tools)
        graph: TriGraph = tools.part("tri_graph")
        asked, seeds = _linked(query.text, index, graph, tools)
        run.lap("linked")
        active = activated(graph.sentences, seeds, query.vector, self.config, index)
        run.lap("bridges")
        n_entities = len(index.layers[0])
        mass = np.zeros(n_entities)
        if seeds:
            weights = np.zeros(n_entities)
            weights[list(active.weights)] = list(active.weights.values())
            at_rest = stationary(
                graph.transition,
                np.concatenate([np.maximum(weights, 0), self._passage_weights(query, index, graph, active)]),
                damping=config.damping,
            )
            mass, scores = at_rest[:n_entities], at_rest[n_entities:]
            # Rounded, so that processors which add up in another order rank alike.
            chunks = best_first(np.round(scores, 12))
        else:
            scores = similarity(index, CHUNKS, query.vector)
            chunks = ranked_by_vector(index, query.vector)
        rounded = np.round(mass, 12)
        entities = sorted(active.weights, key=lambda row: (-float(rounded[row]), row))[:DRAWN]
        run.lap("walk")
        rows = chunks[: config.top_c]
        entity_scores, chunk_scores = {row: active.scores[row] for row in entities}, by_row(rows, scores[rows])
        reason = "hipporag2.reason" if seeds else "passage.near"
        ranked = RankedGraph(entities, (), chunks, entity_scores, {}, chunk_scores, reason)
        picture = _with_bridges(graph_picture(index, ranked), graph.sentences, active.bridges)
        ids = [each.id for each in asked]
        walked = message("hipporag2.walk", n=len(chunks)) if seeds else message("linearrag.dense")
        activated_entities = message("linearrag.bridges", n=len(active.weights), sentences=len(active.bridges))
        sentence_ids = [item.id for item in picture.drawn if item.kind == "sentence"]
        links = [each.id for each in picture.drawn_relations]
        n_linked = message("walk.linked", n=len(seeds))
        steps = [
            GraphStep("linked", n_linked, seeds, asked=ids, title=message("walk.step.linked")),
            GraphStep("bridges", activated_entities, active.weights, asked=sentence_ids, links=links),
            GraphStep("walk", walked, entities, title=message("walk.step.walk")),
        ]
        return graph_trace(
            run, ranked, picture, steps=steps, chunk_caption=message("walk.chunks", n=len(rows)), asked=asked
        )

    def _passage_weights(self, query: Query, index: Index, graph: TriGraph, active: Activation) -> np.ndarray:
        """Return (n_chunks,) weights with which the walk starts at the chunks: by their cosine, scaled to [0, 1], and
        by the active entities in them, those that were activated late less."""
        dense = unit_range(similarity(index, CHUNKS, query.vector).astype(np.float64))
        rows = list(active.scores)
        named = graph.occurrences[rows].astype(np.float64)
        named.data = np.log1p(named.data)
        bonus = named.T @ np.array([active.scores[row] / active.tiers[row] for row in rows])
        return np.asarray(
            self.config.passage_weight * (self.config.passage_ratio * dense + np.log1p(np.maximum(bonus, 0)))
        )


def _linked(text: str, index: Index, graph: TriGraph, tools: Tools) -> tuple[list[Asked], dict[int, float]]:
    """Return what the question names, and the entities with the nearest names, with their cosines: 1 for an equal name.

    Where it has no name its phrases are linked, since entities of the index may be things too.
    """
    terms = question_terms(text)
    names = list(terms.names or terms.phrases)
    plain = [" ".join(_WORD.findall(name.lower())) for name in names]  # as Layer.plain_names
    layer = index.layers[0]
    row_of = {layer.plain_names[row].as_py(): row for row in reversed(layer.rows_named(plain).tolist())}
    others = [name for name, key in zip(names, plain, strict=True) if key not in row_of]
    vector_of = dict(zip(others, tools.embed(others), strict=True)) if others else {}
    asked, seeds = [], dict[int, float]()
    for place, (name, key) in enumerate(zip(names, plain, strict=True)):
        row, score = row_of.get(key, -1), 1.0
        if row < 0:
            near = nearest_rows(graph.names, vector_of[name], 1, tools=tools)
            row, score = int(near.rows[0]), float(index.query_scale.plain(near.scores)[0])
        seeds[row] = max(score, seeds.get(row, -1.0))
        asked.append(Asked(f"asked-{place}", name, message("query_entities.reason.named"), {row}))
    return asked, seeds


def activated(
    sentences: Statements, seeds: Mapping[int, float], vector: np.ndarray, config: Config, index: Index
) -> Activation:
    """Return what the seeds activate. At each hop an entity passes its score, times the cosine of the sentence, to the
    entities of its unused sentences nearest to the question; scores below the least score are not passed on.

    vector: (d,) of the question. Source: LinearRAG, relevant entity activation via local semantic bridging.
    """
    weights, scores, tiers = dict(seeds), dict(seeds), dict.fromkeys(seeds, 1)
    used, bridges = set[int](), list[Bridge]()
    current = dict(seeds)
    for tier in range(2, config.most_hops + 2):
        following: dict[int, float] = {}
        for entity, score in current.items():
            if score < config.least_score:
                continue
            rows = np.array([row for row in sentences.of_entity(entity).tolist() if row not in used], dtype=np.int64)
            near = index.query_scale.plain(cosines(np.asarray(sentences.vectors[rows]), vector))
            for place in np.argsort(-near, kind="stable")[: config.sentences_each].tolist():
                row, passed = int(rows[place]), score * float(near[place])
                used.add(row)
                if passed < config.least_score:
                    continue
                reached = sentences.entities[row].tolist()
                for other in reached:
                    weights[other] = weights.get(other, 0.0) + passed
                    following[other] = passed
                bridges.append(Bridge(entity, row, float(near[place]), tuple(reached)))
        scores |= following
        tiers |= dict.fromkeys(following, tier)
        current = following
    return Activation(weights, scores, tiers, tuple(bridges))


def _with_bridges(picture: GraphContext, sentences: Statements, bridges: Sequence[Bridge]) -> GraphContext:
    """Return the picture with the best sentences, each joined to the drawn entities that it holds."""
    item_of = {item.row: item for item in picture.drawn}
    best = sorted(bridges, key=lambda bridge: (-round(bridge.score, 5), bridge.sentence))[:_DRAWN_SENTENCES]
    items, links = [], []
    for bridge in best:
        text = str(sentences.cells.value("text", bridge.sentence))
        id_ = f"sentence-{bridge.sentence}"
        reason = message("passage.near", score=bridge.score)
        items.append(TraceItem(id_, "sentence", text, ("sentence",), score=bridge.score, reason=reason, text=text))
        drawn_entities = [item_of[row] for row in bridge.reached if row in item_of]
        links += [
            TraceRelation(f"{id_}-{each.id}", each.id, id_, "holds", None, "holds", 1.0, "") for each in drawn_entities
        ]
    return replace(
        picture,
        drawn=(*picture.drawn, *items),
        drawn_relations=(*picture.drawn_relations, *links),
        styles=(_SENTENCE, _HOLDS),
    )
