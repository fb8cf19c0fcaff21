"""TS, map-reduce over source texts: the baseline of the GraphRAG paper (Edge et al. 2024, section 4.1.2)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import Options, Query, StrategyBase, published
from leanrag_core.retrieval.budgets import section
from leanrag_core.retrieval.context import context_caption, joined_sections
from leanrag_core.retrieval.map_reduce import (
    GIVES,
    POINT,
    POINTS,
    MapStep,
    Point,
    affordable_points,
    drawn_points,
    helpfulness,
    mapped_points,
    reduced_answer,
)
from leanrag_core.retrieval.passages import PASSAGE, PassageReason, passage_items
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.text.sentences import split_sentences
from leanrag_core.text.words import FUNCTION_WORDS, lexical_tokens
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, Trace

_STYLES = (POINT, PASSAGE, GIVES)
_SENTENCES = 3  # of a chunk that are its built-in point


@dataclass(frozen=True)
class Config(Options):
    """Options of TS."""

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

        def on_batch(done: int, total: int) -> None:
            run.lap("map")
            run.announce(run.step("map", message("graphrag_ts.batches", n=done, total=total)))

        mapped = mapped_points(run, _map_step(run, scores), range(index.chunks.num_rows), on_batch)
        run.lap("map")
        points = affordable_points(mapped.points, config.max_tokens)
        rows = list(dict.fromkeys(row for point in points for row in point.sources))
        reasons = {row: PassageReason(message("graphrag_ts.reason", score=int(scores[row]))) for row in rows}
        passages = passage_items(index, rows, {row: float(scores[row]) for row in rows}, reasons)
        ids = {row: item.id for row, item in zip(rows, passages, strict=True)}
        names = {row: item.name for row, item in zip(rows, passages, strict=True)}
        drawn = drawn_points(points, ids, names)
        context = joined_sections(section(POINTS, drawn.lines, config.max_tokens))
        run.lap("reduce")
        run.notes += mapped.notes
        if tools.language is None:
            run.notes.append(message("strategy.note.built_in", instead=message("graphrag_ts.built_in")))
        return run.trace(
            context,
            steps=(
                run.step(
                    "map", message("graphrag_ts.map", n=len(mapped.points)), (*passages, *drawn.items), drawn.links
                ),
                run.step("reduce", context_caption(context), drawn.items),
            ),
            styles=_STYLES,
            items=(*drawn.items, *passages),
            relations=drawn.links,
            ranked_chunks=rows,
        )

    def answer(self, trace: Trace, tools: Tools) -> Answer:
        """Return one answer from the points: see reduced_answer()."""
        nothing = sentence(message("graphrag_ts.do_not_know"))
        return reduced_answer(trace, tools, task="reduce_text_points", nothing=nothing)


def _map_step(run: Retrieval, scores: np.ndarray) -> MapStep:
    """Return how chunks are mapped. scores: (n_chunks,) helpfulness()."""
    index, titles = run.index, run.index.document_cells["title"]

    def text_of(row: int) -> str:
        return f"{titles[index.chunk_cells['document'][row].as_py()].as_py()}\n{index.chunk(row).text.strip()}"

    return MapStep(
        "map_texts",
        "texts",
        text_of,
        lambda rows: _builtin_points(run, rows, scores),
        message("graphrag_ts.step.map"),
        message("graphrag_ts.built_in_points"),
    )


def _builtin_points(run: Retrieval, rows: Sequence[int], scores: np.ndarray) -> list[Point]:
    """Return a point for each of the most helpful of those chunks, as many as the budget may hold: its sentences with
    most words of the question. scores: (n_chunks,)."""
    chosen = np.asarray(rows, dtype=np.int64)
    chosen = chosen[scores[chosen] > 0]
    wanted = set(lexical_tokens(run.query.text)) - FUNCTION_WORDS
    used, points = 0, list[Point]()
    for row in chosen[np.argsort(-scores[chosen], kind="stable")].tolist():
        text = _best_sentences(run.index.chunk(row).text, wanted)
        points.append(Point(text, int(scores[row]), (row,)))
        used += len(text) // 8  # no token has so many letters on average
        if used > run.options.max_tokens:
            break
    return points


def _best_sentences(text: str, wanted: set[str]) -> str:
    """Return the sentences of a chunk with most of those words, in their order; of equals the first."""
    sentences = split_sentences(text) or [text.strip()]
    shared = [len(wanted & set(lexical_tokens(each))) for each in sentences]
    best = sorted(range(len(sentences)), key=lambda place: (-shared[place], place))[:_SENTENCES]
    return " ".join(" ".join(sentences[place].split()) for place in sorted(best))
