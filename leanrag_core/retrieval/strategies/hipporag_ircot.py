"""HippoRAG with IRCoT (style): each sentence of the reasoning is searched for by its own walk on the graph."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import Options, Preset, Query, StrategyBase, chunks_option, published
from leanrag_core.retrieval.graph_traces import (
    DRAWN,
    GraphStep,
    RankedGraph,
    announce,
    by_row,
    graph_picture,
    graph_trace,
)
from leanrag_core.retrieval.graph_walks import stationary
from leanrag_core.retrieval.question_terms import query_entities
from leanrag_core.retrieval.strategies.hipporag import LinkedNames, link_names, searched_names
from leanrag_core.retrieval.strategies.ircot import is_answered, next_thought
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import best_positive_rows, unit_range
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace


@dataclass(frozen=True)
class Config(Options):
    """Options of HippoRAG with IRCoT; the defaults are the paper's for HotpotQA and 2WikiMultiHopQA."""

    rounds: int = option(2, low=1, high=8, paper=2, help=message("ircot.option.rounds"), in_row=True)
    chunks_per_round: int = option(10, low=1, high=50, paper=10, help=message("ircot.option.chunks_per_round"))
    top_c: int = chunks_option(5, paper=5)
    damping: float = option(0.5, low=0.0, high=0.99, paper=0.5, help=message("walk.option.damping"))
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))


@dataclass(frozen=True, eq=False)
class _Round:
    """A walk from what a sentence names. mass: (n_entities,). scores: of the chunks that it leads to, by row, the best
    first and from 0 to 1 over all chunks."""

    linked: LinkedNames
    mass: np.ndarray
    scores: Mapping[int, float]


class Strategy(StrategyBase[Config]):
    """Walks from the names of the question, then from those of each sentence of the reasoning; chunks by the best of
    their scores."""

    name = "hipporag_ircot"
    badge = "style-of"
    calls_model = True
    parts = ("synonyms",)
    presets = (published("paper"), Preset("four-rounds", message("hipporag_ircot.preset.four_rounds"), {"rounds": 4}))

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace: rounds of walk and reasoning, then the chunks of all rounds."""
        config, run = self.config, Retrieval(self, query, index, tools)
        texts, near, best = [query.text], dict[str, float](), dict[int, float]()
        rounds: list[_Round] = []
        steps: list[GraphStep] = []
        for number in range(1, config.rounds + 1):
            walk_round = self._round(run, texts[-1], number)
            rounds.append(walk_round)
            for row, score in walk_round.scores.items():
                best[row] = max(score, best.get(row, 0.0))
            ranking = ranked_rows(best)
            thought = ""
            if number < config.rounds:
                shown_rows = ranking[: config.chunks_per_round]
                thought = next_thought(run, texts, shown_rows, list(walk_round.scores), near)
            run.lap(f"round-{number}")
            steps.append(announce(run, _step(number, texts[-1], walk_round)))
            if not thought or is_answered(thought):
                break
            texts.append(thought)
        mass = np.max([walk_round.mass for walk_round in rounds], axis=0)
        entities = best_positive_rows(mass, DRAWN)
        chosen_rows = ranking[: config.top_c]
        scores, chunk_scores = by_row(entities, mass[entities]), {row: best[row] for row in chosen_rows}
        ranked = RankedGraph(entities.tolist(), (), ranking, scores, {}, chunk_scores, "hipporag_ircot.reason")
        return graph_trace(
            run,
            ranked,
            graph_picture(index, ranked),
            steps=steps,
            chunk_caption=message("ircot.chunks", n=len(chosen_rows), searches=len(rounds)),
            asked=[each for walk_round in rounds for each in walk_round.linked.asked],
        )

    def _round(self, run: Retrieval, text: str, number: int) -> _Round:
        """Return the walk from the names in the text, and the first chunks by the mass of their entities."""
        wanted = query_entities(text, run.tools)
        run.note(wanted.note)
        reason = message("query_entities.reason.named" if number == 1 else "hipporag_ircot.reason.thought")
        names = searched_names(wanted, text)
        linked = link_names(run.index, names, run.tools, prefix=f"round-{number}", reason=reason)
        transition = run.tools.part("synonyms").over_entities
        mass = stationary(transition, linked.restart, damping=self.config.damping)
        scores = run.index.entity_chunks.T @ mass
        rows = best_positive_rows(scores, self.config.chunks_per_round)
        return _Round(linked, mass, by_row(rows, unit_range(scores)[rows]))


def ranked_rows(scores: Mapping[int, float]) -> list[int]:
    """Return the rows by score, the best first, ties by row."""
    # Rounded, so that processors which add up in another order rank alike.
    return sorted(scores, key=lambda row: (-round(scores[row], 9), row))


def _step(number: int, text: str, walk_round: _Round) -> GraphStep:
    return GraphStep(
        f"round-{number}",
        message("ircot.round", n=len(walk_round.scores), query=text),
        walk_round.linked.rows,
        asked=[each.id for each in walk_round.linked.asked],
        title=message("ircot.step.round", number=number),
    )
