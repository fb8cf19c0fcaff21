"""What helps to answer a question among community reports: their own sentences as points, and dynamic selection."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leanrag_core.errors import ReplyError
from leanrag_core.execution.executors import ThreadMap
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.communities import report_of
from leanrag_core.retrieval.map_reduce import CALLS_AT_ONCE, Faults, Point
from leanrag_core.retrieval.model_replies import ask_json
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.calls import JSON_WHOLE, json_object
from leanrag_core.types.communities import Communities

BEST_RATING = 5
_DEEPEST_RATED = 2  # level whose reports are rated although none above was relevant
_RATING_REPLY = json_object(rating=JSON_WHOLE)


def builtin_points(communities: Communities, rows: Sequence[int], scores: np.ndarray, max_tokens: int) -> list[Point]:
    """Return the sentences of the most helpful reports: the summary, then each finding, with the report's score; of so
    many reports as the budget may hold. scores: (m,) of all reports."""
    used, points = 0, list[Point]()
    for row in sorted((row for row in rows if scores[row] > 0), key=lambda row: (-scores[row], row)):
        texts = [communities.cells.value("summary", row), *(" ".join(each) for each in communities.findings(row))]
        points += [Point(text.strip(), int(scores[row]), (row,)) for text in texts if text.strip()]
        used += communities.cells.value("tokens", row)
        if used > max_tokens:
            break
    return points


@dataclass(frozen=True)
class Selection:
    """Communities whose reports are read. n_rated: those that were rated on the way down."""

    rows: tuple[int, ...]
    n_rated: int
    notes: tuple[Message, ...] = ()


def dynamic_selection(
    communities: Communities, scores: np.ndarray, question: str, tools: Tools, *, least: int
) -> Selection:
    """Select the reports that are rated `least` of 5 or better, from the roots down. The parts of such a report are
    rated too, and it gives way to those of them that are selected. While none is selected, all reports of the next
    level are rated, down to level 2.

    Without a model the built-in score is the rating. Source: GraphRAG 3.3.0, `select` in
    `query/context_builder/dynamic_community_selection.py`. scores: (m,) helpfulness().
    """
    language, faults = tools.language, Faults()

    def rated(row: int) -> int:
        if language is None:
            return builtin_rating(int(scores[row]))
        report = report_of(communities, row)
        return faults.tried(
            lambda: ask_json(tools, "rate_report", _rating, schema=_RATING_REPLY, question=question, report=report),
            spent=0,
            instead=lambda: builtin_rating(int(scores[row])),
        )

    apply = ThreadMap(CALLS_AT_ONCE if language is not None else 1)
    queue, depth, n_rated = np.flatnonzero(communities.parent < 0).tolist(), 0, 0
    kept: set[int] = set()
    while queue:
        relevant = [row for row, rating in zip(queue, apply(rated, queue), strict=True) if rating >= least]
        n_rated += len(queue)
        kept |= set(relevant)
        kept -= {int(communities.parent[row]) for row in relevant}
        queue, depth = np.flatnonzero(np.isin(communities.parent, relevant)).tolist(), depth + 1
        if not kept and depth <= _DEEPEST_RATED:
            queue = np.flatnonzero(communities.level == depth).tolist()
    notes = faults.notes(message("graphrag_global.step.select"), message("graphrag_global.built_in_ratings"))
    return Selection(tuple(sorted(kept)), n_rated, notes)


def builtin_rating(score: int) -> int:
    """Turn a built-in score from 0 to 100 into a rating from 0 to 5; a score above 0 is rated at least 1."""
    return -(-score * BEST_RATING // 100)


def _rating(cells: dict[str, Any]) -> int:
    rating = cells.get("rating")
    if not isinstance(rating, int | float) or isinstance(rating, bool) or not 0 <= rating <= BEST_RATING:
        raise ReplyError("reply.no_rating_of_five")
    return round(rating)
