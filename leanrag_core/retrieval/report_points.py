"""Points that help to answer a question, from community reports: the map step of GraphRAG's global search."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from leanrag_core.errors import BudgetSpent, ReplyError
from leanrag_core.execution.executors import ThreadMap
from leanrag_core.messages.message import Message, message
from leanrag_core.models.window import room_in
from leanrag_core.retrieval.model_replies import ask_json
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import cosines
from leanrag_core.text.tokens import count_tokens, trim_to_tokens
from leanrag_core.types.calls import JsonSchema
from leanrag_core.types.communities import Communities
from leanrag_core.types.cosines import SAME_SCALE, CosineScale

SHUFFLE_SEED = 86  # any number will do, as long as it stays
CALLS_AT_ONCE = 8  # the pace of the settings decides how many of them the endpoint gets
BEST_RATING = 5
_DEEPEST_RATED = 2  # level whose reports are rated although none above was relevant
_LEAST_COSINE = 0.2  # below, a report says nothing about the question (the threshold of naive RAG)
_POINTS_REPLY: JsonSchema = {
    "type": "object",
    "properties": {
        "points": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "description": {"type": "string"},
                    "score": {"type": "integer"},
                    "reports": {"type": "array", "items": {"type": "integer"}},
                },
                "required": ["description", "score", "reports"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["points"],
    "additionalProperties": False,
}
_RATING_REPLY: JsonSchema = {
    "type": "object",
    "properties": {"rating": {"type": "integer"}},
    "required": ["rating"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Point:
    """text: one to three sentences. score: 0 to 100. communities: rows of those that it rests on."""

    text: str
    score: int
    communities: tuple[int, ...]


@dataclass(frozen=True)
class Points:
    """points: with a score above 0, the most helpful first. notes: what the reader should know."""

    points: tuple[Point, ...]
    notes: tuple[Message, ...] = ()


@dataclass
class _Faults:
    """What went wrong in calls that run at the same time."""

    spent: int = 0
    errors: list[Message] = field(default_factory=list)

    def notes(self, step: Message, instead: Message) -> tuple[Message, ...]:
        notes = [message("strategy.note.budget_spent", step=step)] if self.spent else []
        if self.errors:
            reason = self.errors[0]
            notes.append(message("strategy.note.reply_unusable", step=step, reason=reason, instead=instead))
        return tuple(notes)


def helpfulness(communities: Communities, vector: np.ndarray, scale: CosineScale = SAME_SCALE) -> np.ndarray:
    """Return (m,) int, 0 to 100: the cosine of each report to the question, scaled from .2 to 1; the built-in score."""
    near = scale.plain(cosines(communities.vectors, vector)) if len(communities) else np.zeros(0)
    return np.rint(100 * np.clip((near - _LEAST_COSINE) / (1 - _LEAST_COSINE), 0, 1)).astype(np.int64)


def builtin_points(communities: Communities, rows: Sequence[int], scores: np.ndarray, max_tokens: int) -> list[Point]:
    """Return the sentences of the most helpful reports: the summary, then each finding, with the report's score; of so
    many reports as the budget may hold. scores: (m,) of all reports."""
    used, points = 0, list[Point]()
    for row in sorted((row for row in rows if scores[row] > 0), key=lambda row: (-scores[row], row)):
        said = [communities.cells["summary"][row].as_py(), *(" ".join(each) for each in communities.findings(row))]
        points += [Point(text.strip(), int(scores[row]), (row,)) for text in said if text.strip()]
        used += communities.cells["tokens"][row].as_py()
        if used > max_tokens:
            break
    return points


def packed(communities: Communities, rows: Sequence[int], max_tokens: int) -> list[tuple[tuple[int, ...], str]]:
    """Return the reports, shuffled by a fixed seed and divided into batches of at most so many tokens: rows and text of
    each.

    A report that is longer than a batch is cut. Numbers in the text are places in the batch, from 1.
    """
    batches: list[tuple[tuple[int, ...], str]] = []
    held: list[int] = []
    texts: list[str] = []
    used = 0
    for place in np.random.default_rng(SHUFFLE_SEED).permutation(len(rows)).tolist():
        row = rows[place]
        title, report = communities.cells["title"][row].as_py(), communities.report(row)
        text = trim_to_tokens(f"{title}\n{report}", max_tokens - 8)  # room for the number
        n_tokens = count_tokens(f"[{len(held) + 1}] {text}\n\n")
        if held and used + n_tokens > max_tokens:
            batches.append((tuple(held), "\n\n".join(texts)))
            held, texts, used = [], [], 0
        held.append(row)
        texts.append(f"[{len(held)}] {text}")
        used += n_tokens
    if held:
        batches.append((tuple(held), "\n\n".join(texts)))
    return batches


def mapped_points(
    run: Retrieval,
    communities: Communities,
    rows: Sequence[int],
    scores: np.ndarray,
    on_batch: Callable[[int, int], None],
) -> Points:
    """Return points of those reports by the language model, a call for each batch, several at once; without a model,
    and for a reply that cannot be used twice, the sentences of the reports with the built-in score.

    scores: (m,) helpfulness(). on_batch: hears how many of the batches are done.
    """
    language, tools, max_tokens = run.tools.language, run.tools, run.options.max_tokens
    if language is None:
        return _best(builtin_points(communities, rows, scores, max_tokens))
    faults = _Faults()

    def points_of(batch: tuple[tuple[int, ...], str]) -> list[Point]:
        held, text = batch
        try:
            return ask_json(
                language,
                tools,
                "map_reports",
                lambda cells: _points(cells, held),
                keys=("points",),
                schema=_POINTS_REPLY,
                question=run.query.text,
                reports=text,
            )
        except BudgetSpent:
            faults.spent += 1
            return []
        except ReplyError as error:
            faults.errors.append(error.message)
            return builtin_points(communities, held, scores, max_tokens)

    prompt, wanted = tools.prompts.of("map_reports"), run.options.map_tokens
    batches = packed(communities, rows, room_in(language, prompt, wanted=wanted, question=run.query.text, reports=""))
    points: list[Point] = []
    for done, of_batch in enumerate(ThreadMap(CALLS_AT_ONCE)(points_of, batches), start=1):
        points += of_batch
        on_batch(done, len(batches))
    notes = faults.notes(message("graphrag_global.step.map"), message("graphrag_global.built_in_points"))
    return _best(points, notes)


def _best(points: Sequence[Point], notes: tuple[Message, ...] = ()) -> Points:
    helping = [point for point in points if point.score > 0]
    return Points(tuple(sorted(helping, key=lambda point: -point.score)), notes)


def _points(cells: dict[str, Any], held: Sequence[int]) -> list[Point]:
    listed = cells.get("points")
    if not isinstance(listed, list):
        raise ReplyError("reply.no_points")
    return [_point(entry, held) for entry in listed]


def _point(entry: Any, held: Sequence[int]) -> Point:
    if not isinstance(entry, dict):
        raise ReplyError("reply.no_points")
    text, score = " ".join(str(entry.get("description") or "").split()), entry.get("score")
    if not isinstance(score, int | float) or isinstance(score, bool) or not 0 <= score <= 100 or (score and not text):
        raise ReplyError("reply.no_points")
    numbers = entry.get("reports")
    cited = [number for number in numbers if isinstance(number, int)] if isinstance(numbers, list) else []
    return Point(text, round(score), tuple(dict.fromkeys(held[n - 1] for n in cited if 1 <= n <= len(held))))


@dataclass(frozen=True)
class Selection:
    """Communities whose reports are read. n_rated: those that were rated on the way down."""

    rows: tuple[int, ...]
    n_rated: int
    notes: tuple[Message, ...] = ()


def dynamic_selection(
    communities: Communities, scores: np.ndarray, question: str, tools: Tools, *, least: int
) -> Selection:
    """Return reports that were rated `least` of 5 or better, from the roots down: below one that was, its parts are
    rated, and one with a part that was gives way to that part. While none was, all reports of the next level are
    rated, down to level 2.

    Without a model the built-in score is the rating. Source: GraphRAG 3.3.0, `select` in
    `query/context_builder/dynamic_community_selection.py`. scores: (m,) helpfulness().
    """
    language, faults = tools.language, _Faults()

    def rated(row: int) -> int:
        if language is None:
            return builtin_rating(int(scores[row]))
        try:
            return ask_json(
                language,
                tools,
                "rate_report",
                _rating,
                keys=("rating",),
                schema=_RATING_REPLY,
                question=question,
                report=f"{communities.cells['title'][row].as_py()}\n{communities.report(row)}",
            )
        except BudgetSpent:
            faults.spent += 1
            return 0
        except ReplyError as error:
            faults.errors.append(error.message)
            return builtin_rating(int(scores[row]))

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
    """Return 0 to 5 of a built-in score: 1 from a hundredth of it up."""
    return -(-score * BEST_RATING // 100)


def _rating(cells: dict[str, Any]) -> int:
    rating = cells.get("rating")
    if not isinstance(rating, int | float) or isinstance(rating, bool) or not 0 <= rating <= BEST_RATING:
        raise ReplyError("reply.no_rating_of_five")
    return round(rating)
