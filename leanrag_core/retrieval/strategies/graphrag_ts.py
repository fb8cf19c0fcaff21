"""TS, map-reduce over source texts: the baseline of the GraphRAG paper (Edge et al. 2024, section 4.1.2)."""

from dataclasses import dataclass

import numpy as np

from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import Options, Query, StrategyBase, published
from leanrag_core.retrieval.map_reduce import (
    MapStep,
    affordable_points,
    builtin_chunk_points,
    helpfulness,
    mapped_points,
    points_trace,
    reduced_answer,
)
from leanrag_core.retrieval.passages import PASSAGE, PassageReason, document_title, passage_items
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, Trace


@dataclass(frozen=True)
class Config(Options):
    """Options of map-reduce over source texts."""

    map_tokens: int = option(8000, low=16, high=64000, paper=8000, help=message("graphrag_ts.option.map_tokens"))
    max_tokens: int = option(8000, low=0, high=64000, paper=8000, help=message("option.max_tokens"))


class Strategy(StrategyBase[Config]):
    """The method of section 3.1.6 over chunks in the place of community reports; every chunk is read."""

    name = "graphrag_ts"
    badge = "faithful"
    calls_model = True
    presets = (published("paper"),)

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of the map step; its context is what the answer is reduced from."""
        config, run = self.config, Retrieval(self, query, index, tools)
        scores = helpfulness(index.chunk_vectors, query.vector, index.across_scale)
        mapped = mapped_points(run, _map_step(run, scores), range(index.chunks.num_rows))
        run.lap("map")
        points = affordable_points(mapped.points, config.max_tokens)
        rows = list(dict.fromkeys(row for point in points for row in point.sources))
        reasons = {row: PassageReason(message("graphrag_ts.reason", score=int(scores[row]))) for row in rows}
        passages = passage_items(index, rows, {row: float(scores[row]) for row in rows}, reasons)
        run.notes += mapped.notes
        if tools.language is None:
            run.notes.append(message("strategy.note.built_in", instead=message("graphrag_ts.built_in")))
        texts, caption = dict(zip(rows, passages, strict=True)), message("graphrag_ts.map", n=len(mapped.points))
        return points_trace(run, points, texts, PASSAGE, caption, reduced=message("graphrag_ts.step.reduce"))

    def answer(self, trace: Trace, tools: Tools) -> Answer:
        """Return one answer from the points: see reduced_answer()."""
        nothing = sentence(message("graphrag_ts.do_not_know"))
        return reduced_answer(trace, tools, task="reduce_text_points", nothing=nothing)


def _map_step(run: Retrieval, scores: np.ndarray) -> MapStep:
    """Return how chunks are mapped. scores: (n_chunks,) helpfulness()."""
    index = run.index
    return MapStep(
        "map_texts",
        "texts",
        lambda row: f"{document_title(index, row)}\n{index.chunk(row).text.strip()}",
        lambda rows: builtin_chunk_points(index, run.query.text, rows, scores, run.options.max_tokens),
        message("graphrag_ts.step.map"),
        message("graphrag_ts.built_in_points"),
        batches="graphrag_ts.batches",
    )
