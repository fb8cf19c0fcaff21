"""GraphRAG, DRIFT search: reports give a first answer and follow-up questions, local searches answer these and ask on
(Microsoft Research 2024; GraphRAG 3.3.0, `query/structured_search/drift_search`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leanrag_core.errors import ReplyError
from leanrag_core.execution.executors import ThreadMap
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import Options, Query, StrategyBase
from leanrag_core.retrieval.budgets import section, section_form, text_line
from leanrag_core.retrieval.communities import COMMUNITY, LEVELS, community_items, community_notes, report_of
from leanrag_core.retrieval.context import CHUNKS, context_caption, joined_sections, passage_line
from leanrag_core.retrieval.local_search import local_chunks, local_evidence
from leanrag_core.retrieval.map_reduce import CALLS_AT_ONCE, GIVES, SHUFFLE_SEED, Faults
from leanrag_core.retrieval.model_replies import ask_json, ask_text, listed_texts, reply_or_note
from leanrag_core.retrieval.passages import (
    PASSAGE,
    SEARCHED,
    SUB_QUESTION,
    PassageReason,
    passage_items,
    question_item,
    reciprocal_rank_fusion,
)
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval, link
from leanrag_core.retrieval.vector_search import mean_direction, nearest_rows
from leanrag_core.types.calls import JSON_TEXT, JSON_TEXTS, JSON_WHOLE, json_object
from leanrag_core.types.communities import Communities
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Style, Trace, TraceItem, TraceRelation, TraceStep

NEAREST_REPORTS = 5  # whose mean stands for a hypothetical report, and whose titles stand for follow-up questions
_REPLY = json_object(answer=JSON_TEXT, score=JSON_WHOLE, follow_ups=JSON_TEXTS)


@dataclass(frozen=True)
class StepAnswer:
    """text: "" where there is none. score: 0 to 100. follow_ups: further questions."""

    text: str = ""
    score: int = 0
    follow_ups: tuple[str, ...] = ()


@dataclass(frozen=True)
class StepAnswers:
    """answers: one for each that was asked for. notes: what the reader should know."""

    answers: tuple[StepAnswer, ...]
    notes: tuple[Message, ...] = ()


def expanded(run: Retrieval, communities: Communities) -> np.ndarray:
    """Return the (d,) vector of a hypothetical report that answers the question; without one, the mean of the question
    and its nearest reports.

    The form of a report is shown by one that a fixed seed draws, as the release draws one at random.
    """
    sample = int(np.random.default_rng(SHUFFLE_SEED).integers(len(communities)))
    reply = reply_or_note(
        run.tools,
        lambda: ask_text(run.tools, "drift_expand", question=run.query.text, report=report_of(communities, sample)),
        step=message("graphrag_drift.step.primer"),
        instead=message("graphrag_drift.built_in_expansion"),
        built_in=message("graphrag_drift.built_in"),
    )
    run.note(reply.note)
    if reply.value is not None:
        return np.asarray(run.tools.embed_passages([reply.value])[0])
    near = nearest_rows(communities.vectors, run.query.vector, NEAREST_REPORTS).rows
    return mean_direction(run.query.vector, communities.vectors[near])


def primed(run: Retrieval, communities: Communities, rows: Sequence[int], *, folds: int, most: int) -> StepAnswers:
    """Return an answer from each fold of those reports, in their order; empty folds are left out. most: follow-up
    questions of each."""
    cut = [part.tolist() for part in np.array_split(np.asarray(rows, dtype=np.int64), folds) if len(part)]
    if run.tools.language is None:  # nobody reads the reports
        return _unanswered(len(cut))
    fields = [{"most": most, "reports": "\n\n".join(report_of(communities, row) for row in part)} for part in cut]
    return _answers(run, "drift_primer", fields, message("graphrag_drift.step.primer"))


def followed(run: Retrieval, questions: Sequence[str], contexts: Sequence[str], *, most: int) -> StepAnswers:
    """Return an answer to each follow-up question from its context. most: further questions of each."""
    fields = [
        {"most": most, "follow_up": question, "context": context}
        for question, context in zip(questions, contexts, strict=True)
    ]
    return _answers(run, "drift_local", fields, message("graphrag_drift.step.local"))


def _unanswered(n: int) -> StepAnswers:
    return StepAnswers(tuple(StepAnswer() for _ in range(n)))


def _answers(run: Retrieval, task: str, fields: Sequence[Mapping[str, object]], step: Message) -> StepAnswers:
    """Ask for a reply to each prompt, several at once; where neither of two replies can be used, the answer has no
    text."""
    language, tools, faults = run.tools.language, run.tools, Faults()
    if language is None:
        return _unanswered(len(fields))

    def answer(values: Mapping[str, object]) -> StepAnswer:
        return faults.tried(
            lambda: ask_json(tools, task, _read, keys=("answer",), schema=_REPLY, question=run.query.text, **values),
            spent=StepAnswer(),
            instead=StepAnswer,
        )

    answers = tuple(ThreadMap(CALLS_AT_ONCE)(answer, fields))
    return StepAnswers(answers, faults.notes(step, message("graphrag_drift.no_answer")))


def _read(cells: Mapping[str, Any]) -> StepAnswer:
    text, score, listed = cells.get("answer"), cells.get("score"), cells.get("follow_ups")
    if not isinstance(text, str) or not isinstance(listed, list):
        raise ReplyError("graphrag_drift.reply")
    if not isinstance(score, int | float) or isinstance(score, bool) or not 0 <= score <= 100:
        raise ReplyError("graphrag_drift.reply")
    return StepAnswer(" ".join(text.split()), round(score), listed_texts(listed))


ANSWERS = section_form("answers", "N", "seed", "## Answers of the steps\n", {"answer": "count.step_answers"})
_FOLLOWS = Style("follows", message("style.follows"), "inter", "line", on="relation")


@dataclass(frozen=True)
class Config(Options):
    """Options of the DRIFT search."""

    rounds: int = option(3, low=1, high=6, help=message("graphrag_drift.option.rounds"), in_row=True)
    follow_ups: int = option(20, low=1, high=50, help=message("graphrag_drift.option.follow_ups"), in_row=True)
    top_reports: int = option(20, low=1, high=100, help=message("graphrag_drift.option.top_reports"))
    folds: int = option(5, low=1, high=20, help=message("graphrag_drift.option.folds"))
    level: str = option("C2", choices=LEVELS, help=message("graphrag.option.level"))
    top_k: int = option(10, low=1, high=100, help=message("graphrag_local.option.top_k"))
    top_relations: int = option(10, low=0, high=100, help=message("graphrag_local.option.top_relations"))
    community_percent: int = option(10, low=0, high=100, help=message("graphrag_local.option.community_percent"))
    text_percent: int = option(90, low=0, high=100, help=message("graphrag_local.option.text_percent"))
    local_tokens: int = option(12000, low=0, high=64000, help=message("graphrag_drift.option.local_tokens"))
    sources: bool = option(False, equal=True, help=message("graphrag_drift.option.sources"))
    top_c: int = option(20, low=0, high=50, help=message("vector.option.top_c"), link="c", scale=20)
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))


@dataclass(frozen=True, eq=False)
class _Open:
    """A question that waits for its local search. parent: place of the one it follows. score: of the parent's answer.
    vector: (d,), None where the text is still to be embedded."""

    text: str
    parent: int
    score: int
    vector: np.ndarray | None = None


@dataclass(frozen=True)
class _Done:
    """A question that was looked into. parent: None for the first. chunks: rows, best first."""

    text: str
    round: int
    parent: int | None
    answer: StepAnswer
    chunks: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Searched:
    """A local search. chunks: rows, best first. context: what a model reads, "" without one."""

    chunks: tuple[int, ...]
    context: str


class Strategy(StrategyBase[Config]):
    """A primer over the nearest reports, then rounds of local searches at follow-up questions."""

    name = "graphrag_drift"
    badge = "own-part"
    calls_model = True
    parts = ("communities",)
    answer_task = "answer_from_steps"

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval: reports, rounds of questions, their answers or their chunks."""
        config, run = self.config, Retrieval(self, query, index, tools)
        communities: Communities = tools.part("communities")
        allowed = communities.at_level(LEVELS.index(config.level))
        rows: list[int] = []
        scores: dict[int, float] = {}
        waiting: list[_Open] = []
        first = StepAnswer()
        if len(allowed):
            vector = expanded(run, communities)
            near = nearest_rows(communities.vectors, vector, config.top_reports, among=allowed)
            rows = near.rows.tolist()
            scores = dict(zip(rows, near.scores.tolist(), strict=True))
            replies = primed(run, communities, rows, folds=config.folds, most=config.follow_ups)
            run.notes += replies.notes
            first = _joined(replies)
            waiting = [_Open(text, 0, first.score) for text in first.follow_ups] or _titles(communities, rows, query)
        reports = community_items(communities, rows, scores)
        run.lap("primer")
        done = [_Done(query.text, 0, None, first)]
        n_follow_ups = message("count.follow_ups", n=len(waiting))
        primer = message("graphrag_drift.primer", n=len(rows), questions=n_follow_ups)
        run.announce(run.step("primer", primer))
        # Without reports there is nothing to ask on from: the question itself is looked into.
        waiting = waiting or [_Open(query.text, 0, 0, query.vector)]
        for number in range(1, config.rounds + 1):
            if not waiting:
                break
            tools.cancelled()
            waiting = self._round(run, communities, number, waiting, done)
            run.lap(f"round-{number}")
            run.announce(_round_step(run, number, done))
        run.notes += community_notes(communities)
        return self._trace(run, reports, primer, done)

    def _round(
        self, run: Retrieval, communities: Communities, number: int, waiting: Sequence[_Open], done: list[_Done]
    ) -> list[_Open]:
        """Look into the first of the waiting questions, add them to those that are done, and return what then waits:
        those that follow a better answer come first."""
        config, tools = self.config, run.tools
        chosen, waiting_on = waiting[: config.follow_ups], list(waiting[config.follow_ups :])
        new = [each.text for each in chosen if each.vector is None]
        embedded = dict(zip(new, tools.embed(new), strict=True)) if new else {}
        found = [
            self._searched(run, communities, embedded[each.text] if each.vector is None else each.vector)
            for each in chosen
        ]
        replies = followed(
            run, [each.text for each in chosen], [each.context for each in found], most=config.follow_ups
        )
        for note in replies.notes:
            run.note(note)
        known = {each.text.casefold() for each in done} | {each.text.casefold() for each in waiting}
        for each, searched, answer in zip(chosen, found, replies.answers, strict=True):
            done.append(_Done(each.text, number, each.parent, answer, searched.chunks))
            for text in answer.follow_ups:
                if text.casefold() not in known:
                    known.add(text.casefold())
                    waiting_on.append(_Open(text, len(done) - 1, answer.score))
        return sorted(waiting_on, key=lambda each: -each.score)

    def _searched(self, run: Retrieval, communities: Communities, vector: np.ndarray) -> _Searched:
        """Return the local search for the vector, (d,); without a model, which alone reads it, no context is made."""
        if run.tools.language is None:
            chunks, context = local_chunks(run, vector), ""
        else:
            evidence = local_evidence(run, communities, vector, self.config.local_tokens)
            chunks, context = evidence.chunks, evidence.context.text
        return _Searched(tuple(chunk.row for chunk in chunks), context)

    def _trace(self, run: Retrieval, reports: Sequence[TraceItem], primer: Message, done: Sequence[_Done]) -> Trace:
        """Return the trace: the answers by score, and the chunks of the local searches where these are wanted or
        nothing else is there."""
        config, index = self.config, run.index
        rankings = [np.array(each.chunks, dtype=np.int64) for each in done if each.chunks]
        ranked = reciprocal_rank_fusion(rankings) if rankings else None
        rows = [] if ranked is None else ranked.rows.tolist()
        chosen_rows = rows[: config.top_c]
        by_row = {} if ranked is None else dict(zip(rows, ranked.scores.tolist(), strict=True))
        chunks_read = [set(each.chunks) for each in done]
        leading = {
            row: tuple(_id(place) for place, chunks in enumerate(chunks_read) if row in chunks) for row in chosen_rows
        }
        reasons = {
            row: PassageReason(message("graphrag_drift.passage", n=len(ids)), ids) for row, ids in leading.items()
        }
        passages = passage_items(index, chosen_rows, {row: by_row[row] for row in chosen_rows}, reasons)
        questions = tuple(_question_item(place, each) for place, each in enumerate(done))
        answered = sorted(
            (place for place, each in enumerate(done) if each.answer.text),
            key=lambda place: (-done[place].answer.score, place),
        )
        lines = [
            text_line(
                "answer", _id(place), f"{done[place].text} ({done[place].answer.score}):", done[place].answer.text
            )
            for place in answered
        ]
        sections = [section(ANSWERS, lines, config.max_tokens)] if lines else []
        if config.sources or not sections:
            room = config.max_tokens - sum(part.tokens for part in sections)
            sections.append(section(CHUNKS, [passage_line(index, each) for each in passages], room))
        context = joined_sections(*sections)
        run.lap("context")
        report_links = tuple(link(item.id, _id(0), "gives", "primer") for item in reports)
        follows = tuple(
            link(_id(each.parent), _id(place), "follows", "")
            for place, each in enumerate(done)
            if each.parent is not None
        )
        searched = tuple(
            link(id_, passage.id, "searched", "search") for passage in passages for id_ in leading[passage.row or 0]
        )
        marks = context.mark_of
        in_context = [item for item in (*questions, *passages) if item.id in marks]
        rounds = sorted({each.round for each in done if each.round})
        steps = [
            run.step("primer", primer, (*reports, questions[0]), report_links),
            *(_round_step(run, number, done, questions, (*follows, *searched)) for number in rounds),
            run.step("chunks", message("graphrag_drift.chunks", n=len(passages)), passages, searched),
            run.step("context", context_caption(context), in_context),
        ]
        return run.trace(
            context,
            steps=steps,
            styles=(SUB_QUESTION, COMMUNITY, PASSAGE, GIVES, _FOLLOWS, SEARCHED),
            items=(*questions, *reports, *passages),
            relations=(*report_links, *follows, *searched),
            ranked_chunks=rows,
        )


def _joined(replies: StepAnswers) -> StepAnswer:
    """Return the answers of the folds as one: their texts, the mean of their scores, all their questions."""
    answers = [answer for answer in replies.answers if answer.text or answer.follow_ups]
    if not answers:
        return StepAnswer()
    text = " ".join(answer.text for answer in answers if answer.text)
    score = round(sum(answer.score for answer in answers) / len(answers))
    return StepAnswer(text, score, tuple(dict.fromkeys(each for answer in answers for each in answer.follow_ups)))


def _titles(communities: Communities, rows: Sequence[int], query: Query) -> list[_Open]:
    """Return the titles of the nearest reports in the place of follow-up questions, each searched for by the mean of
    the question and the report."""
    titles: dict[str, int] = {}
    for row in rows[:NEAREST_REPORTS]:
        titles.setdefault(communities.cells.value("title", row), row)
    return [
        _Open(title, 0, 0, mean_direction(query.vector, communities.vectors[[row]])) for title, row in titles.items()
    ]


def _id(place: int | None) -> str:
    return f"question-{place}"


def _question_item(place: int, done: _Done) -> TraceItem:
    reason = message("graphrag_drift.asked") if place == 0 else message("graphrag_drift.round_of", number=done.round)
    score = float(done.answer.score) if done.answer.text else None
    item = question_item(_id(place), done.text, reason, rank=place + 1)
    return replace(item, score=score, text=done.answer.text or done.text)


def _round_step(
    run: Retrieval,
    number: int,
    done: Sequence[_Done],
    questions: Sequence[TraceItem] = (),
    links: Sequence[TraceRelation] = (),
) -> TraceStep:
    """Return the step of a round; while it is announced nothing is drawn yet."""
    places = [place for place, each in enumerate(done) if each.round == number]
    n_answers = sum(bool(done[place].answer.text) for place in places)
    caption = message("graphrag_drift.round", n=len(places), answers=message("count.step_answers", n=n_answers))
    lit = {_id(place) for place in places}
    step = run.step(
        f"round-{number}",
        caption,
        [item for item in questions if item.id in lit],
        [each for each in links if lit & {each.source, each.target}],
        message("graphrag_drift.step.round", number=number),
    )
    ends = {end for each in links if each.id in step.relations for end in (each.source, each.target)}
    return replace(step, items=tuple(dict.fromkeys((*step.items, *sorted(ends)))))
