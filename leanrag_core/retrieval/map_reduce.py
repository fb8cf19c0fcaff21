"""Map-reduce over numbered texts (GraphRAG, section 3.1.6): batches of a window, points with a score of their
helpfulness, and one answer from the most helpful of them."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from leanrag_core.errors import BudgetSpent, ReplyError
from leanrag_core.execution.executors import ThreadMap
from leanrag_core.messages.message import Message, message
from leanrag_core.models.window import room_in
from leanrag_core.retrieval.budgets import Candidate, section, section_form, text_line, until_spent
from leanrag_core.retrieval.context import context_caption, joined_sections
from leanrag_core.retrieval.marks import cited_answer, cited_parts
from leanrag_core.retrieval.model_replies import ask_json, ask_text
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval, link
from leanrag_core.retrieval.vector_search import cosines
from leanrag_core.text.sentences import split_sentences
from leanrag_core.text.tokens import count_tokens, trim_to_tokens
from leanrag_core.text.words import FUNCTION_WORDS, lexical_tokens
from leanrag_core.types.calls import JSON_TEXT, JSON_WHOLE, JsonSchema, json_list, json_object
from leanrag_core.types.cosines import SAME_SCALE, CosineScale
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, AnswerPart, Style, Trace, TraceItem, TraceRelation, TraceStep

T = TypeVar("T")
SHUFFLE_SEED = 86  # any number will do, as long as it stays
CALLS_AT_ONCE = 8  # the pace of the settings decides how many of them the endpoint gets
_LEAST_COSINE = 0.2  # below, a text says nothing about the question (the threshold of naive RAG)
_ANSWERED_WITH = 4  # points whose first sentences are the built-in answer
POINTS = section_form("points", "N", "seed", "## Points\n", {"point": "count.points"})
POINT = Style("point", message("style.point"), "seed", "disc")
GIVES = Style("gives", message("style.gives"), "path", "line", on="relation")


@dataclass(frozen=True)
class Point:
    """text: one to three sentences. score: 0 to 100. sources: rows of the texts that it rests on."""

    text: str
    score: int
    sources: tuple[int, ...]


@dataclass(frozen=True)
class Points:
    """points: with a score above 0, the most helpful first. notes: what the reader should know."""

    points: tuple[Point, ...]
    notes: tuple[Message, ...] = ()


@dataclass
class Faults:
    """What went wrong in calls that run at the same time."""

    spent: int = 0
    errors: list[Message] = field(default_factory=list)

    def tried(self, call: Callable[[], T], *, spent: T, instead: Callable[[], T]) -> T:
        """Return what the call gives; `spent` beyond the budget, and what `instead` gives where its reply cannot be
        used."""
        try:
            return call()
        except BudgetSpent:
            self.spent += 1
            return spent
        except ReplyError as error:
            self.errors.append(error.message)
            return instead()

    def notes(self, step: Message, instead: Message) -> tuple[Message, ...]:
        """Return a note where the budget was spent, and one where a reply could not be used. step: of the calls.
        instead: what is done in place of a reply."""
        notes = [message("strategy.note.budget_spent", step=step)] if self.spent else []
        if self.errors:
            reason = self.errors[0]
            notes.append(message("strategy.note.reply_unusable", step=step, reason=reason, instead=instead))
        return tuple(notes)


@dataclass(frozen=True, eq=False)
class MapStep:
    """How texts are mapped to points.

    task: of the prompt. texts: its field that holds a batch; in the reply, the numbers of the texts that a point rests
    on. text_of: a row's text. built_in: points of those rows without a model. title: of the step. instead: what is
    done in place of a reply that cannot be used. question: which the points help to answer, else that of the retrieval.
    shuffled: whether the texts are read in a random order; else in that of the rows. batches: code of the message that
    announces how many batches are done, with the values n and total; "" where they are not announced.
    """

    task: str
    texts: str
    text_of: Callable[[int], str]
    built_in: Callable[[Sequence[int]], list[Point]]
    title: Message
    instead: Message
    question: str = ""
    shuffled: bool = True
    batches: str = ""

    @property
    def schema(self) -> JsonSchema:
        """Return the form of the reply."""
        point = json_object(description=JSON_TEXT, score=JSON_WHOLE, **{self.texts: json_list(JSON_WHOLE)})
        return json_object(points=json_list(point))


@dataclass(frozen=True)
class Batch:
    """Texts of one call, or sentences of texts. rows: of the text of each, in the order of their numbers from 1."""

    rows: tuple[int, ...]
    text: str


def helpfulness(vectors: np.ndarray, vector: np.ndarray, scale: CosineScale = SAME_SCALE) -> np.ndarray:
    """Return (n,) int, 0 to 100: the cosine of each text to the question, scaled from .2 to 1; the built-in score.

    vectors: (n, d), of the texts. vector: (d,), of the question.
    """
    return helpfulness_of(cosines(vectors, vector), scale) if len(vectors) else np.zeros(0, dtype=np.int64)


def helpfulness_of(near: np.ndarray, scale: CosineScale) -> np.ndarray:
    """Return helpfulness() of texts with those cosines, (n,)."""
    plain = scale.plain(near)
    return np.rint(100 * np.clip((plain - _LEAST_COSINE) / (1 - _LEAST_COSINE), 0, 1)).astype(np.int64)


def packed(
    rows: Sequence[int], text_of: Callable[[int], str], max_tokens: int, *, shuffled: bool = True
) -> list[Batch]:
    """Return the texts of those rows, divided into batches of at most so many tokens. shuffled: by a fixed seed; else
    in the order of the rows.

    A text that is longer than a batch is cut. Numbers are places in the batch, from 1.
    """
    batches: list[Batch] = []
    batch_rows: list[int] = []
    texts: list[str] = []
    used = 0
    order = np.random.default_rng(SHUFFLE_SEED).permutation(len(rows)) if shuffled else np.arange(len(rows))
    for place in order.tolist():
        row = rows[place]
        text = trim_to_tokens(text_of(row), max_tokens - 8)  # room for the number
        n_tokens = count_tokens(f"[{len(batch_rows) + 1}] {text}\n\n")
        if batch_rows and used + n_tokens > max_tokens:
            batches.append(Batch(tuple(batch_rows), "\n\n".join(texts)))
            batch_rows, texts, used = [], [], 0
        batch_rows.append(row)
        texts.append(f"[{len(batch_rows)}] {text}")
        used += n_tokens
    if batch_rows:
        batches.append(Batch(tuple(batch_rows), "\n\n".join(texts)))
    return batches


def mapped_points(run: Retrieval, step: MapStep, rows: Sequence[int]) -> Points:
    """Return points of those texts by the language model, a call for each batch of at most map_tokens, several at once;
    without a model, and for a reply that cannot be used twice, the built-in ones."""
    language, tools = run.tools.language, run.tools
    if language is None:
        return _best(step.built_in(rows))
    faults, schema, question = Faults(), step.schema, step.question or run.query.text

    def points_of(batch: Batch) -> list[Point]:
        return faults.tried(
            lambda: ask_json(
                tools,
                step.task,
                lambda cells: _points(cells, step.texts, batch.rows),
                schema=schema,
                question=question,
                **{step.texts: batch.text},
            ),
            spent=[],
            instead=lambda: step.built_in(batch.rows),
        )

    prompt, wanted = tools.prompts.of(step.task), run.options.map_tokens
    room = room_in(language, prompt, wanted=wanted, question=question, **{step.texts: ""})
    batches = packed(rows, step.text_of, room, shuffled=step.shuffled)
    points: list[Point] = []
    for done, of_batch in enumerate(ThreadMap(CALLS_AT_ONCE)(points_of, batches), start=1):
        points += of_batch
        if step.batches:
            run.lap("map")
            run.announce(run.step("map", message(step.batches, n=done, total=len(batches))))
    return _best(points, faults.notes(step.title, step.instead))


def _best(points: Sequence[Point], notes: tuple[Message, ...] = ()) -> Points:
    helping = [point for point in points if point.score > 0]
    return Points(tuple(sorted(helping, key=lambda point: -point.score)), notes)


def _points(cells: dict[str, Any], numbers: str, rows: Sequence[int]) -> list[Point]:
    listed = cells.get("points")
    if not isinstance(listed, list):
        raise ReplyError("reply.no_points")
    return [_point(entry, numbers, rows) for entry in listed]


def _point(entry: Any, numbers: str, rows: Sequence[int]) -> Point:
    if not isinstance(entry, dict):
        raise ReplyError("reply.no_points")
    text, score = " ".join(str(entry.get("description") or "").split()), entry.get("score")
    if not isinstance(score, int | float) or isinstance(score, bool) or not 0 <= score <= 100 or (score and not text):
        raise ReplyError("reply.no_points")
    listed = entry.get(numbers)
    cited = [number for number in listed if isinstance(number, int)] if isinstance(listed, list) else []
    return Point(text, round(score), tuple(dict.fromkeys(rows[n - 1] for n in cited if 1 <= n <= len(rows))))


def affordable_points(points: Sequence[Point], max_tokens: int) -> list[Point]:
    """Return until_spent() of the points' texts."""
    return until_spent(points, lambda point: count_tokens(point.text), max_tokens)


@dataclass(frozen=True)
class DrawnPoints:
    """Points as items, a link to each from the items of the texts that it rests on, and lines of the context."""

    items: tuple[TraceItem, ...]
    links: tuple[TraceRelation, ...]
    lines: tuple[Candidate, ...]


def drawn_points(points: Sequence[Point], texts: Mapping[int, TraceItem]) -> DrawnPoints:
    """Return the points as they are drawn and written. texts: the items of the texts, by row."""
    items, links = [], []
    for rank, point in enumerate(points, start=1):
        id_, name = f"point-{rank}", texts[point.sources[0]].name if point.sources else f"Point {rank}"
        score, reason = float(point.score), message("graphrag_global.point", score=point.score)
        items.append(TraceItem(id_, "point", name, ("point",), score=score, rank=rank, reason=reason, text=point.text))
        links += [link(texts[row].id, id_, "gives", "map") for row in point.sources]
    lines = tuple(text_line("point", item.id, f"{item.name} ({item.score:.0f}):", item.text) for item in items)
    return DrawnPoints(tuple(items), tuple(links), lines)


def points_trace(
    run: Retrieval,
    points: Sequence[Point],
    texts: Mapping[int, TraceItem],
    style: Style,
    caption: Message,
    *,
    reduced: Message,
    before: Sequence[TraceStep] = (),
) -> Trace:
    """Return the trace whose context is those points. texts: the items of the texts that they rest on, by row, best
    first; style: of these. caption: of the map step. reduced: title of the step after it. before: the steps before
    it."""
    drawn, items = drawn_points(points, texts), tuple(texts.values())
    context = joined_sections(section(POINTS, drawn.lines, run.options.max_tokens))
    run.lap("reduce")
    return run.trace(
        context,
        steps=(
            *before,
            run.step("map", caption, (*items, *drawn.items), drawn.links),
            run.step("reduce", context_caption(context), drawn.items, title=reduced),
        ),
        styles=(POINT, style, GIVES),
        items=(*drawn.items, *items),
        relations=drawn.links,
        ranked_chunks=[row for row, item in texts.items() if item.source is not None],
    )


def reduced_answer(trace: Trace, tools: Tools, *, task: str, nothing: str, question: str = "") -> Answer:
    """Return one answer from the points, in the order of their helpfulness, by the prompt of that task; the sentence
    `nothing` when no point is left.

    Without a language model the first sentences of the best points are the answer, one of each text. nothing: the
    sentence that says that nothing is known. question: which is answered, else that of the trace.
    """
    if not trace.context.tokens:
        model = "builtin" if tools.language is None else tools.language.name
        return Answer(nothing, (AnswerPart(nothing, ()),), (), False, tools.language is None, model, trace)
    if tools.language is None:
        return cited_answer(trace, _builtin_parts(trace), "builtin", extractive=True)
    before = tools.meter.read().usage
    text = ask_text(tools, task, question=question or trace.question, points=trace.context.text)
    usage = tools.meter.read().usage - before
    return cited_answer(trace, cited_parts(text, trace.context), tools.language.name, usage=usage)


def _builtin_parts(trace: Trace) -> list[AnswerPart]:
    source_of = {each.target: each.source for each in trace.relations if each.role == "gives"}
    parts: dict[str, AnswerPart] = {}
    for item in trace.context.sections[0].items:
        if len(parts) < _ANSWERED_WITH:
            parts.setdefault(source_of[item.ref], AnswerPart(item.text[item.lead :], (item.mark,), "points"))
    return list(parts.values())


_SENTENCES = 3  # of a chunk that are its built-in point


def builtin_chunk_points(
    index: Index, question: str, rows: Sequence[int], scores: np.ndarray, max_tokens: int
) -> list[Point]:
    """Return a point for each of the most helpful of those chunks, as many as the budget may hold: its sentences with
    most words of the question. scores: (n_chunks,) int, 0 to 100; a chunk with 0 gives none."""
    chosen = np.asarray(rows, dtype=np.int64)
    chosen = chosen[scores[chosen] > 0]
    wanted = set(lexical_tokens(question)) - FUNCTION_WORDS
    used, points = 0, list[Point]()
    for row in chosen[np.argsort(-scores[chosen], kind="stable")].tolist():
        text = _best_sentences(index.chunk(row).text, wanted)
        points.append(Point(text, int(scores[row]), (row,)))
        used += len(text) // 8  # no token has so many letters on average
        if used > max_tokens:
            break
    return points


def _best_sentences(text: str, wanted: set[str]) -> str:
    """Return the sentences of a chunk with most of those words, in their order; of equals the first."""
    sentences = split_sentences(text) or [text.strip()]
    shared = [_shared(each, wanted) for each in sentences]
    best = sorted(range(len(sentences)), key=lambda place: (-shared[place], place))[:_SENTENCES]
    return " ".join(" ".join(sentences[place].split()) for place in sorted(best))


def _shared(sentence: str, wanted: set[str]) -> int:
    """Count the words that are tokens of the sentence; it is tokenised only where its text contains one of them."""
    folded = unicodedata.normalize("NFKC", sentence).lower()
    contained = {word for word in wanted if word in folded}
    return len(contained.intersection(lexical_tokens(sentence))) if contained else 0
