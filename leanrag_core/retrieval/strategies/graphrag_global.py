"""GraphRAG, global search: every report of a level is read, helpful points are gathered, one answer is written."""

from dataclasses import dataclass

import numpy as np

from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import Preset, Query, StrategyBase, UnrankedOptions, published
from leanrag_core.retrieval.communities import COMMUNITY, LEVELS, community_items, community_notes, report_of
from leanrag_core.retrieval.map_reduce import (
    MapStep,
    affordable_points,
    helpfulness,
    mapped_points,
    points_trace,
    reduced_answer,
)
from leanrag_core.retrieval.report_points import BEST_RATING, builtin_points, dynamic_selection
from leanrag_core.retrieval.report_points import Selection as Selected
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.types.communities import Communities
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, Trace

DYNAMIC = "dynamic"


@dataclass(frozen=True)
class Config(UnrankedOptions):
    """Options of the global search."""

    level: str = option("C2", choices=(*LEVELS, DYNAMIC), help=message("graphrag_global.option.level"))
    least_rating: int = option(1, low=1, high=BEST_RATING, help=message("graphrag_global.option.least_rating"))
    map_tokens: int = option(12000, low=16, high=64000, paper=8000, help=message("graphrag_global.option.map_tokens"))
    max_tokens: int = option(12000, low=0, high=64000, paper=8000, help=message("option.max_tokens"))


class Strategy(StrategyBase[Config]):
    """Map-reduce over community reports (section 3.1.6)."""

    name = "graphrag_global"
    badge = "own-part"
    calls_model = True
    parts = ("communities",)
    presets = (
        published("released"),
        published("paper", map_tokens=8000, max_tokens=8000),
        Preset(DYNAMIC, message("graphrag_global.preset.dynamic"), {"level": DYNAMIC}),
    )

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of the map step; its context is what the answer is reduced from."""
        config, run = self.config, Retrieval(self, query, index, tools)
        communities: Communities = tools.part("communities")
        scores = helpfulness(communities.vectors, query.vector, index.across_scale)
        chosen = self._selected(communities, scores, query.text, tools)
        run.lap("select")
        # Not known before the points are: which of the reports they come from.
        selected = self._selection_caption(communities, chosen)
        run.announce(run.step("select", selected))
        mapped = mapped_points(run, _map_step(communities, scores, config.max_tokens), chosen.rows)
        run.lap("map")
        points = affordable_points(mapped.points, config.max_tokens)
        rows = list(dict.fromkeys(row for point in points for row in point.sources))
        reports = community_items(
            communities,
            rows,
            {row: float(scores[row]) for row in rows},
            {row: message("graphrag_global.reason", score=int(scores[row])) for row in rows},
        )
        run.notes += [*community_notes(communities), *chosen.notes, *mapped.notes]
        if tools.language is None:
            run.notes.append(message("strategy.note.built_in", instead=message("graphrag_global.built_in")))
        texts, before = dict(zip(rows, reports, strict=True)), (run.step("select", selected, reports),)
        caption = message("graphrag_global.map", n=len(mapped.points))
        reduced = message("graphrag_global.step.reduce")
        return points_trace(run, points, texts, COMMUNITY, caption, reduced=reduced, before=before)

    def answer(self, trace: Trace, tools: Tools) -> Answer:
        """Return one answer from the points: see reduced_answer()."""
        return reduced_answer(
            trace, tools, task="reduce_points", nothing=sentence(message("graphrag_global.do_not_know"))
        )

    def _selected(self, communities: Communities, scores: np.ndarray, question: str, tools: Tools) -> Selected:
        """Return the communities whose reports are read. scores: (m,) helpfulness()."""
        if self.config.level == DYNAMIC:
            return dynamic_selection(communities, scores, question, tools, least=self.config.least_rating)
        return Selected(tuple(communities.at_level(LEVELS.index(self.config.level)).tolist()), 0)

    def _selection_caption(self, communities: Communities, chosen: Selected) -> Message:
        total = message("count.communities", n=len(communities))
        if self.config.level == DYNAMIC:
            return message("graphrag_global.selected", n=len(chosen.rows), rated=chosen.n_rated, of=total)
        return message("graphrag_global.level", n=len(chosen.rows), level=self.config.level, of=total)


def _map_step(communities: Communities, scores: np.ndarray, max_tokens: int) -> MapStep:
    """Return how reports are mapped. scores: (m,) helpfulness() of all of them."""
    return MapStep(
        "map_reports",
        "reports",
        lambda row: report_of(communities, row),
        lambda rows: builtin_points(communities, rows, scores, max_tokens),
        message("graphrag_global.step.map"),
        message("graphrag_global.built_in_points"),
        batches="graphrag_global.batches",
    )
