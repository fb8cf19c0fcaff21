"""KAG (style): sub-questions in order, each answered from linked entities, a walk, and vectors (Liang et al. 2024)."""

import re
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from leanrag_core.errors import BudgetSpent, ReplyError
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import OFFICIAL, Query
from leanrag_core.retrieval.graph_traces import (
    Asked,
    GraphStep,
    RankedGraph,
    announced,
    by_row,
    graph_context,
    graph_trace,
)
from leanrag_core.retrieval.graph_walks import pagerank
from leanrag_core.retrieval.laps import Laps
from leanrag_core.retrieval.model_replies import ask_json, ask_text
from leanrag_core.retrieval.passages import fused, ranked_by_vector
from leanrag_core.retrieval.question_terms import question_terms
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import nearest_entities, similarity
from leanrag_core.storage.layout import CHUNKS
from leanrag_core.types.config import option, validate
from leanrag_core.types.index import Index
from leanrag_core.types.json_schema import JsonSchema
from leanrag_core.types.trace import Trace

_LINK_COSINE, _CHUNK_COSINE = 0.8, 0.65
_MOST_QUESTIONS = 4
_DAMPING = 0.85
_RELATIONS_AN_ENTITY = 20
_MATERIAL = 5  # chunks that a sub-question is answered from
_EARLIER = re.compile(r"#(\d{1,2})\b")  # in a planned question, the answer to an earlier one
_REPLY: JsonSchema = {
    "type": "object",
    "properties": {"questions": {"type": "array", "items": {"type": "string"}}},
    "required": ["questions"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Config:
    """Options of KAG."""

    chunks_per_question: int = option(10, low=1, high=50, equal=50, help=message("kag.option.chunks_per_question"))
    top_c: int = option(10, low=1, high=50, help=message("vector.option.top_c"), in_row=True, link="c", scale=20)
    entity_tokens: int = option(2000, low=0, high=32000, help=message("lightrag.option.entity_tokens"))
    relation_tokens: int = option(2000, low=0, high=32000, help=message("lightrag.option.relation_tokens"))
    chunk_tokens: int = option(8000, low=0, high=64000, help=message("leanrag.option.chunk_tokens"))
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True, eq=False)
class _Solved:
    """A sub-question and what it led to: rows of entities, of relations, and of chunks, best first."""

    text: str
    entities: tuple[int, ...]
    relations: tuple[int, ...]
    chunks: np.ndarray
    answer: str = ""


class Strategy:
    """Plan, then for each sub-question linked entities with their relations, chunks by a walk and by vectors."""

    name = "kag"
    title = message("strategy.kag.title")
    help = message("strategy.kag.help")
    badge = "style-of"
    differs = message("strategy.kag.differs")
    calls_model = True
    parts = ("synonyms",)
    presets = (OFFICIAL,)

    def __init__(self, config: Config) -> None:
        self.config = config

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """The trace of one retrieval: plan, a step for each sub-question, chunks."""
        config, laps = self.config, Laps(tools.meter)
        notes: list[Message] = []
        questions = _plan(query.text, tools, notes)
        laps.lap("plan")
        solved: list[_Solved] = []
        steps = [GraphStep("plan", message("kag.step.plan"), message("kag.plan", n=len(questions)))]
        tools.on_step(announced(steps[0], laps))
        for number, question in enumerate(questions, start=1):
            planned = number < len(questions)
            # A "#1" of the question itself is the person's own and stays.
            text = _EARLIER.sub(lambda mark: _answer_of(solved, int(mark[1])), question) if planned else question
            vector = query.vector if text == query.text else tools.embed([text])[0]
            step = self._solved(text, vector, index, tools)
            if planned:  # the last one is answered by the answer itself
                step = _answered(step, index, tools, notes)
            solved.append(step)
            name = f"question-{number}"
            laps.lap(name)
            graph_step = GraphStep(
                name,
                message("kag.step.question", number=number),
                message("kag.question", n=len(step.entities), question=text),
                step.entities,
                step.relations,
                (_id(number),),
            )
            steps.append(graph_step)
            tools.on_step(announced(graph_step, laps))
        chunks = fused([step.chunks for step in solved if len(step.chunks)] or [_by_vector(index, query.vector)])
        entities = list(dict.fromkeys(row for step in solved for row in step.entities))
        relations = list(dict.fromkeys(row for step in solved for row in step.relations))
        rows = chunks[: config.top_c]
        near = similarity(index, CHUNKS, query.vector, rows.tolist())
        ranked = RankedGraph(entities, relations, chunks.tolist(), {}, {}, by_row(rows, near))
        budgets = {
            "entities": config.entity_tokens,
            "relations": config.relation_tokens,
            "chunks": config.chunk_tokens,
        }
        asked = [
            Asked(_id(number), step.text, _reason(step), set(step.entities), "sub-question")
            for number, step in enumerate(solved, start=1)
        ]
        return graph_trace(
            self,
            query,
            index,
            ranked,
            graph_context(index, ranked, budgets, config.max_tokens),
            parameters=asdict(config),
            top_c=config.top_c,
            max_tokens=config.max_tokens,
            laps=laps,
            steps=steps,
            chunk_caption=message("kag.chunks", n=len(rows)),
            asked=asked,
            notes=notes,
        )

    def _solved(self, text: str, vector: np.ndarray, index: Index, tools: Tools) -> _Solved:
        """Linked entities with their one-hop relations, and chunks by reciprocal rank fusion of walk and vectors."""
        terms = question_terms(text)
        wanted = list(dict.fromkeys((*terms.names, *terms.phrases)))
        base = index.layers[0]
        restart = np.zeros(len(base))
        for each in tools.embed(wanted) if wanted else ():
            near = nearest_entities(index, each, 1, tools)
            if near.scores[0] >= _LINK_COSINE:
                restart[near.rows[0]] = max(restart[near.rows[0]], float(near.scores[0]))
        if not restart.any():  # nothing is named: the nearest entity to the question stands for it
            nearest = nearest_entities(index, vector, 1, tools)
            restart[nearest.rows[0]] = max(float(nearest.scores[0]), 1e-6)
        entities = np.argsort(-restart, kind="stable")[: int(np.count_nonzero(restart))]
        relations = [_strongest(index, int(row)) for row in entities]
        mass = pagerank(tools.part("synonyms").over_entities, restart, damping=_DAMPING)
        scores = index.entity_chunks.T @ mass
        walked = np.argsort(-scores, kind="stable")
        walked = walked[scores[walked] > 0][: self.config.chunks_per_question]
        near_chunks = similarity(index, CHUNKS, vector)
        by_vector = np.argsort(-near_chunks, kind="stable")[: self.config.chunks_per_question]
        by_vector = by_vector[near_chunks[by_vector] >= _CHUNK_COSINE]
        rankings = [ranking for ranking in (walked, by_vector) if len(ranking)]
        chunks = fused(rankings) if rankings else _by_vector(index, vector)[: self.config.chunks_per_question]
        return _Solved(text, tuple(entities.tolist()), tuple(row for rows in relations for row in rows), chunks)


def _plan(question: str, tools: Tools, notes: list[Message]) -> list[str]:
    """The sub-questions in order, the question itself last; without a model the question alone."""
    if tools.language is None:
        notes.append(message("strategy.note.built_in", instead=message("kag.built_in")))
        return [question]
    step = message("kag.step.plan")
    try:
        planned = ask_json(
            tools.language, tools, "plan_questions", _read, keys=("questions",), schema=_REPLY, question=question
        )
    except BudgetSpent:
        notes.append(message("strategy.note.budget_spent", step=step))
        return [question]
    except ReplyError as error:
        instead = message("kag.built_in")
        notes.append(message("strategy.note.reply_unusable", step=step, reason=error.message, instead=instead))
        return [question]
    return [*(each for each in planned if each.casefold() != question.casefold()), question]


def _answered(step: _Solved, index: Index, tools: Tools, notes: list[Message]) -> _Solved:
    """The sub-question with the model's answer, which later ones may speak of; "" when it has none."""
    if tools.language is None:
        return step
    material = "\n\n".join(index.chunk(row).text.strip() for row in step.chunks[:_MATERIAL])
    try:
        answer = ask_text(tools.language, tools, "answer_step", question=step.text, material=material)
    except BudgetSpent:
        note = message("strategy.note.budget_spent", step=message("kag.step.answers"))
        notes += [note] if note not in notes else []
        return step
    except ReplyError as error:
        instead = message("kag.no_answer")
        answers = message("kag.step.answers")
        notes.append(message("strategy.note.reply_unusable", step=answers, reason=error.message, instead=instead))
        return step
    known = "" if answer.strip(" .").casefold() == "unknown" else answer.splitlines()[0]
    return _Solved(step.text, step.entities, step.relations, step.chunks, known)


def _answer_of(solved: list[_Solved], number: int) -> str:
    """The answer to that sub-question, in place of its mark; the sub-question itself where there is none."""
    if not 1 <= number <= len(solved):
        return f"#{number}"
    return solved[number - 1].answer or solved[number - 1].text


def _strongest(index: Index, row: int) -> list[int]:
    """The relations of an entity, the heaviest first."""
    base = index.layers[0]
    rows = base.relations_of(row)
    return [int(each) for each in rows[np.argsort(-base.weights[rows], kind="stable")][:_RELATIONS_AN_ENTITY]]


def _by_vector(index: Index, vector: np.ndarray) -> np.ndarray:
    return ranked_by_vector(index, vector)


def _id(number: int) -> str:
    return f"question-{number}"


def _reason(step: _Solved) -> Message:
    return message("kag.reason.answered", answer=step.answer) if step.answer else message("kag.reason")


def _read(cells: dict[str, Any]) -> list[str]:
    questions = cells.get("questions")
    if not isinstance(questions, list):
        raise ReplyError("kag.reply")
    texts = [" ".join(each.split()) for each in questions if isinstance(each, str) and each.strip()]
    return list(dict.fromkeys(texts))[:_MOST_QUESTIONS]
