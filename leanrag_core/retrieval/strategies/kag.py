"""KAG (style): sub-questions in order, each answered from linked entities, a walk, and vectors (Liang et al. 2024)."""

import re
from dataclasses import dataclass, replace

import numpy as np

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import Options, Query, StrategyBase, chunks_option
from leanrag_core.retrieval.graph_traces import Asked, GraphStep, RankedGraph, announce, graph_context, graph_trace
from leanrag_core.retrieval.graph_walks import stationary
from leanrag_core.retrieval.model_replies import ask_text, json_or_note, lists_in, reply_or_note
from leanrag_core.retrieval.passages import cosines_of, ranked_by_vector, reciprocal_rank_fusion
from leanrag_core.retrieval.question_terms import question_terms
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import best_first, best_rows, nearest_entities, positive_first, similarity
from leanrag_core.storage.layout import CHUNKS
from leanrag_core.types.calls import JSON_TEXTS, json_object
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace

_LINK_COSINE, _CHUNK_COSINE = 0.8, 0.65
_MOST_QUESTIONS = 4
_DAMPING = 0.85
_RELATIONS_AN_ENTITY = 20
_MATERIAL = 5  # chunks that a sub-question is answered from
_EARLIER = re.compile(r"#(\d{1,2})\b")  # in a planned question, the answer to an earlier one
_REPLY = json_object(questions=JSON_TEXTS)


@dataclass(frozen=True)
class Config(Options):
    """Options of KAG."""

    chunks_per_question: int = option(10, low=1, high=50, equal=50, help=message("kag.option.chunks_per_question"))
    top_c: int = chunks_option(10)
    entity_tokens: int = option(2000, low=0, high=32000, help=message("lightrag.option.entity_tokens"))
    relation_tokens: int = option(2000, low=0, high=32000, help=message("lightrag.option.relation_tokens"))
    chunk_tokens: int = option(8000, low=0, high=64000, help=message("leanrag.option.chunk_tokens"))
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))


@dataclass(frozen=True, eq=False)
class _Solved:
    """A sub-question and what it led to: rows of entities, of relations, and of chunks, best first."""

    text: str
    entities: tuple[int, ...]
    relations: tuple[int, ...]
    chunks: np.ndarray
    answer: str = ""


class Strategy(StrategyBase[Config]):
    """Plan, then for each sub-question linked entities with their relations, chunks by a walk and by vectors."""

    name = "kag"
    badge = "style-of"
    calls_model = True
    parts = ("synonyms",)

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval: plan, a step for each sub-question, chunks."""
        config, run = self.config, Retrieval(self, query, index, tools)
        questions = _plan(run)
        run.lap("plan")
        solved: list[_Solved] = []
        steps = [GraphStep("plan", message("kag.plan", n=len(questions)))]
        announce(run, steps[0])
        for number, question in enumerate(questions, start=1):
            planned = number < len(questions)
            # A "#1" of the question itself is the person's own and stays.
            text = _EARLIER.sub(lambda mark: _answer_of(solved, int(mark[1])), question) if planned else question
            vector = query.vector if text == query.text else tools.embed([text])[0]
            step = self._solved(text, vector, index, tools)
            if planned:  # the last one is answered by the answer itself; without a model there is only that one
                step = _answered(run, step)
            solved.append(step)
            name = f"question-{number}"
            run.lap(name)
            caption = message("kag.question", n=len(step.entities), question=text)
            title = message("kag.step.question", number=number)
            graph_step = GraphStep(name, caption, step.entities, step.relations, (_id(number),), title=title)
            steps.append(announce(run, graph_step))
        chunks = reciprocal_rank_fusion(
            [step.chunks for step in solved if len(step.chunks)] or [ranked_by_vector(index, query.vector)]
        ).rows
        entities = list(dict.fromkeys(row for step in solved for row in step.entities))
        relations = list(dict.fromkeys(row for step in solved for row in step.relations))
        rows = chunks[: config.top_c]
        ranked = RankedGraph(entities, relations, chunks, {}, {}, cosines_of(index, query.vector, rows), "passage.near")
        asked = []
        for number, step in enumerate(solved, start=1):
            reason = message("kag.reason.answered", answer=step.answer) if step.answer else message("kag.reason")
            asked.append(Asked(_id(number), step.text, reason, set(step.entities), "sub-question"))
        filled, caption = graph_context(run, ranked), message("kag.chunks", n=len(rows))
        return graph_trace(run, ranked, filled, steps=steps, chunk_caption=caption, asked=asked)

    def _solved(self, text: str, vector: np.ndarray, index: Index, tools: Tools) -> _Solved:
        """Return linked entities with their one-hop relations, and chunks by reciprocal rank fusion of walk and
        vectors. vector: (d,) of the sub-question."""
        wanted = question_terms(text).every
        base = index.layers[0]
        restart = np.zeros(len(base))
        for each in tools.embed(wanted) if wanted else ():
            near = nearest_entities(index, each, 1, tools)
            score = index.query_scale.plain(near.scores)[0]
            if score >= _LINK_COSINE:
                restart[near.rows[0]] = max(restart[near.rows[0]], float(score))
        if not restart.any():  # nothing is named: the nearest entity to the question stands for it
            nearest = nearest_entities(index, vector, 1, tools)
            restart[nearest.rows[0]] = max(float(nearest.scores[0]), 1e-6)
        entities = best_rows(restart, int(np.count_nonzero(restart)))
        relations = [_strongest(index, int(row)) for row in entities]
        mass = stationary(tools.part("synonyms").over_entities, restart, damping=_DAMPING)
        scores = index.entity_chunks.T @ mass
        walked = positive_first(scores)[: self.config.chunks_per_question]
        near_chunks = index.query_scale.plain(similarity(index, CHUNKS, vector))
        by_vector = best_first(near_chunks)[: self.config.chunks_per_question]
        by_vector = by_vector[near_chunks[by_vector] >= _CHUNK_COSINE]
        rankings = [ranking for ranking in (walked, by_vector) if len(ranking)]
        rankings = rankings or [ranked_by_vector(index, vector)[: self.config.chunks_per_question]]
        chunks = reciprocal_rank_fusion(rankings).rows
        return _Solved(text, tuple(entities.tolist()), tuple(row for rows in relations for row in rows), chunks)


def _plan(run: Retrieval) -> list[str]:
    """Return the sub-questions in order, the question itself last; without a model the question alone."""
    question = run.query.text
    reply = json_or_note(
        run.tools,
        "plan_questions",
        lambda cells: lists_in(cells, "questions", error="kag.reply")[0][:_MOST_QUESTIONS],
        schema=_REPLY,
        step=message("kag.step.plan"),
        instead=message("kag.built_in"),
        question=question,
    )
    run.note(reply.note)
    return [*(each for each in reply.value or () if each.casefold() != question.casefold()), question]


def _answered(run: Retrieval, step: _Solved) -> _Solved:
    """Return the sub-question with the model's answer, which later ones may speak of; "" when it has none."""
    material = "\n\n".join(run.index.chunk(row).text.strip() for row in step.chunks[:_MATERIAL])
    reply = reply_or_note(
        run.tools,
        lambda: ask_text(run.tools, "answer_step", question=step.text, material=material),
        step=message("kag.step.answers"),
        instead=message("kag.no_answer"),
    )
    if reply.value is None:
        # A budget is spent once; each reply that cannot be used is a loss of its own.
        run.notes += [reply.note] if reply.note and not (reply.budget_spent and reply.note in run.notes) else []
        return step
    known = "" if reply.value.strip(" .").casefold() == "unknown" else reply.value.splitlines()[0]
    return replace(step, answer=known)


def _answer_of(solved: list[_Solved], number: int) -> str:
    """Return the answer to that sub-question, in place of its mark; the sub-question itself where it has none, and the
    mark where there is no such sub-question."""
    if not 1 <= number <= len(solved):
        return f"#{number}"
    return solved[number - 1].answer or solved[number - 1].text


def _strongest(index: Index, row: int) -> list[int]:
    """Return the relations of an entity, the heaviest first."""
    base = index.layers[0]
    rows = base.relations_of(row)
    return [int(each) for each in rows[np.argsort(-base.weights[rows], kind="stable")][:_RELATIONS_AN_ENTITY]]


def _id(number: int) -> str:
    return f"question-{number}"
