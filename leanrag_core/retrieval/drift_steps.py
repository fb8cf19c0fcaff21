"""What DRIFT asks a language model: a hypothetical report, a first answer from reports, and an answer to each follow-up
question, each answer with further questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leanrag_core.errors import ReplyError
from leanrag_core.execution.executors import ThreadMap
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.communities import report_of
from leanrag_core.retrieval.map_reduce import CALLS_AT_ONCE, SHUFFLE_SEED, Faults
from leanrag_core.retrieval.model_replies import ask_json, ask_text, listed_texts, reply_or_note
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import mean_direction, nearest_rows
from leanrag_core.types.calls import JSON_TEXT, JSON_TEXTS, JSON_WHOLE, json_object
from leanrag_core.types.communities import Communities

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
