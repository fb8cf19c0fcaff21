"""GraphRAG, global search: every report of a level is read, helpful points are gathered, one answer is written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import Preset, Query, StrategyBase, UnrankedOptions, published
from leanrag_core.retrieval.budgets import SectionForm, section, text_line
from leanrag_core.retrieval.communities import COMMUNITY, LEVELS, community_items, community_notes
from leanrag_core.retrieval.context import context_caption, joined_sections
from leanrag_core.retrieval.marks import cited_parts, distinct, with_marks
from leanrag_core.retrieval.model_replies import ask_text
from leanrag_core.retrieval.report_points import BEST_RATING, Point, dynamic_selection, helpfulness, mapped_points
from leanrag_core.retrieval.report_points import Selection as Selected
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.communities import Communities
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, AnswerPart, Style, Trace, TraceItem, TraceRelation

DYNAMIC = "dynamic"
_ANSWERED_WITH = 4  # points whose first sentences are the built-in answer
POINTS = SectionForm(
    name="points",
    title=message("section.points.title"),
    phrase=message("section.points.phrase"),
    noun=message("section.points.noun"),
    letter="N",
    colour="seed",
    heading="## Points\n",
    nouns={"point": "count.points"},
)
_STYLES = (
    Style("point", message("style.point"), "seed", "disc"),
    COMMUNITY,
    Style("gives", message("style.gives"), "path", "line", on="relation"),
)


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
        scores = helpfulness(communities, query.vector, index.across_scale)
        chosen = self._selected(communities, scores, query.text, tools)
        run.lap("select")
        # Not known before the points are: which of the reports they come from.
        selected = self._selection_caption(communities, chosen)
        run.announce(run.step("select", selected))

        def on_batch(done: int, total: int) -> None:
            run.lap("map")
            run.announce(run.step("map", message("graphrag_global.batches", n=done, total=total)))

        mapped = mapped_points(run, communities, chosen.rows, scores, on_batch)
        run.lap("map")
        points = _affordable(mapped.points, config.max_tokens)
        rows = list(dict.fromkeys(row for point in points for row in point.communities))
        reports = community_items(
            communities,
            rows,
            {row: float(scores[row]) for row in rows},
            {row: message("graphrag_global.reason", score=int(scores[row])) for row in rows},
        )
        items, links = _point_items(communities, points)
        lines = [text_line("point", item.id, f"{item.name} ({item.score:.0f}):", item.text) for item in items]
        context = joined_sections(section(POINTS, lines, config.max_tokens))
        run.lap("reduce")
        run.notes += [*community_notes(communities), *chosen.notes, *mapped.notes]
        if tools.language is None:
            run.notes.append(message("strategy.note.built_in", instead=message("graphrag_global.built_in")))
        return run.trace(
            context,
            steps=(
                run.step("select", selected, reports),
                run.step("map", message("graphrag_global.map", n=len(mapped.points)), (*reports, *items), links),
                run.step("reduce", context_caption(context), items),
            ),
            styles=_STYLES,
            items=(*items, *reports),
            relations=links,
        )

    def answer(self, trace: Trace, tools: Tools) -> Answer:
        """Return one answer from the points, in the order of their helpfulness; that nothing is known when none is
        left.

        Without a language model the first sentences of the best points are the answer, one of each report.
        """
        if not trace.context.tokens:
            text = sentence(message("graphrag_global.do_not_know"))
            return Answer(text, (AnswerPart(text, ()),), (), False, tools.language is None, _model(tools), trace)
        if tools.language is None:
            return _answer(trace, _builtin_parts(trace), tools, extractive=True)
        before = tools.meter.read().usage
        text = ask_text(tools.language, tools, "reduce_points", question=trace.question, points=trace.context.text)
        answer = _answer(trace, cited_parts(text, trace.context), tools, extractive=False)
        return replace(answer, usage=tools.meter.read().usage - before)

    def _selected(self, communities: Communities, scores: np.ndarray, question: str, tools: Tools) -> Selected:
        """Return the communities whose reports are read. scores: (m,) helpfulness()."""
        if self.config.level == DYNAMIC:
            return dynamic_selection(communities, scores, question, tools, least=self.config.least_rating)
        return Selected(tuple(communities.at_level(int(self.config.level[1])).tolist()), 0)

    def _selection_caption(self, communities: Communities, chosen: Selected) -> Message:
        total = message("count.communities", n=len(communities))
        if self.config.level == DYNAMIC:
            return message("graphrag_global.selected", n=len(chosen.rows), rated=chosen.n_rated, of=total)
        return message("graphrag_global.level", n=len(chosen.rows), level=self.config.level, of=total)


def _affordable(points: Sequence[Point], max_tokens: int) -> list[Point]:
    """Return the first points, until they hold more tokens than the budget, and one more."""
    used = 0
    for place, point in enumerate(points, start=1):
        used += count_tokens(point.text)
        if used > max_tokens:
            return list(points[:place])
    return list(points)


def _point_items(
    communities: Communities, points: Sequence[Point]
) -> tuple[tuple[TraceItem, ...], tuple[TraceRelation, ...]]:
    items, links = [], []
    ids, titles = communities.cells["id"], communities.cells["title"]
    for rank, point in enumerate(points, start=1):
        items.append(
            TraceItem(
                id=f"point-{rank}",
                kind="point",
                name=titles[point.communities[0]].as_py() if point.communities else f"Point {rank}",
                roles=("point",),
                score=float(point.score),
                rank=rank,
                reason=message("graphrag_global.point", score=point.score),
                text=point.text,
            )
        )
        for row in point.communities:
            source = ids[row].as_py()
            links.append(
                TraceRelation(f"{source}-point-{rank}", source, f"point-{rank}", "gives", None, "map", 1.0, "")
            )
    return tuple(items), tuple(links)


def _model(tools: Tools) -> str:
    return "builtin" if tools.language is None else tools.language.name


def _builtin_parts(trace: Trace) -> list[AnswerPart]:
    given = {link.target: link.source for link in trace.relations if link.role == "gives"}
    parts: dict[str, AnswerPart] = {}
    for item in trace.context.sections[0].items:
        if len(parts) < _ANSWERED_WITH:
            parts.setdefault(given[item.ref], AnswerPart(item.text[item.lead :], (item.mark,), "points"))
    return list(parts.values())


def _answer(trace: Trace, parts: Sequence[AnswerPart], tools: Tools, *, extractive: bool) -> Answer:
    citations = distinct(mark for part in parts for mark in part.marks)
    return Answer(
        text=" ".join(with_marks(part.text, part.marks) for part in parts),
        parts=tuple(parts),
        citations=citations,
        grounded=bool(citations),
        extractive=extractive,
        model=_model(tools),
        trace=trace,
    )
