"""What Youtu-GraphRAG asks a model while it retrieves: sub-questions with their types, and whether the evidence is
enough (section 3.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leanrag_core.errors import BudgetSpent, ReplyError
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.model_replies import ask_json
from leanrag_core.retrieval.question_terms import question_terms
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import cosines
from leanrag_core.types.json_schema import JsonSchema
from leanrag_core.types.youtu import ATTRIBUTE, ENTITY, KINDS, RELATION, Schema

_NEAR = 0.5  # cosine from which a type counts as involved, without a model
_TEXTS: JsonSchema = {"type": "array", "items": {"type": "string"}}
_LIST_OF = {kind: f"{kind}_types" for kind in KINDS}
_QUESTIONS: JsonSchema = {
    "type": "object",
    "properties": {
        "questions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"question": {"type": "string"}, **dict.fromkeys(_LIST_OF.values(), _TEXTS)},
                "required": ["question", *_LIST_OF.values()],
                "additionalProperties": False,
            },
        }
    },
    "required": ["questions"],
    "additionalProperties": False,
}
_REFLECTION: JsonSchema = {
    "type": "object",
    "properties": {"enough": {"type": "boolean"}, "missing": {"type": "string"}, "question": {"type": "string"}},
    "required": ["enough", "missing", "question"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class SubQuery:
    """A question to the graph. types: of each kind the rows of the types that it is about; none restricts nothing."""

    text: str
    entity_types: tuple[int, ...] = ()
    relation_types: tuple[int, ...] = ()
    attribute_types: tuple[int, ...] = ()


@dataclass(frozen=True)
class Plan:
    """The sub-questions. note: what the reader should know about where they are from."""

    queries: tuple[SubQuery, ...]
    note: Message | None = None


@dataclass(frozen=True)
class Reflection:
    """What the model thinks of the evidence. question: the next one, "" when there is none."""

    missing: str = ""
    question: str = ""
    note: Message | None = None


def decomposed(question: str, vector: np.ndarray, schema: Schema, tools: Tools, *, most: int) -> Plan:
    """At most so many sub-questions by the model; without one, or where its reply cannot be used, the question and its
    phrases, with the types whose names are near. vector: of the question. Raises Cancelled and CallFailed."""
    step, built_in = message("youtu.step.plan"), message("youtu.built_in")

    def own_phrases(note: Message) -> Plan:
        return Plan(_own_phrases(question, vector, schema, tools, most), note)

    if tools.language is None:
        return own_phrases(message("strategy.note.built_in", instead=built_in))
    try:
        queries = ask_json(
            tools.language,
            tools,
            "decompose_question",
            lambda cells: _read_questions(cells, schema, most),
            keys=("questions",),
            schema=_QUESTIONS,
            types="\n".join(f"{kind} types: {', '.join(schema.names(kind)) or '(none)'}" for kind in KINDS),
            question=question,
            most=most,
        )
    except BudgetSpent:
        return own_phrases(message("strategy.note.budget_spent", step=step))
    except ReplyError as error:
        unusable = message("strategy.note.reply_unusable", step=step, reason=error.message, instead=built_in)
        return own_phrases(unusable)
    return Plan(queries)


def reflected(question: str, evidence: str, earlier: Sequence[str], tools: Tools) -> Reflection:
    """Whether the evidence is enough, or else the next question. earlier: a line for each round before. Without a model
    there is no next question. Raises Cancelled and CallFailed."""
    step = message("youtu.step.reflection")
    if tools.language is None:
        return Reflection(note=message("strategy.note.built_in", instead=message("youtu.no_reflection")))
    try:
        return ask_json(
            tools.language,
            tools,
            "reflect_on_evidence",
            _read_reflection,
            keys=("enough",),
            schema=_REFLECTION,
            question=question,
            memory="\n".join(earlier),
            evidence=evidence,
        )
    except BudgetSpent:
        return Reflection(note=message("strategy.note.budget_spent", step=step))
    except ReplyError as error:
        instead = message("youtu.no_reflection")
        return Reflection(
            note=message("strategy.note.reply_unusable", step=step, reason=error.message, instead=instead)
        )


def _own_phrases(question: str, vector: np.ndarray, schema: Schema, tools: Tools, most: int) -> tuple[SubQuery, ...]:
    """The question, then its names and phrases, each with the types whose names are near to it."""
    terms = question_terms(question)
    phrases = [term for term in dict.fromkeys((*terms.names, *terms.phrases)) if term != question][: most - 1]
    vectors = [vector, *(tools.embed(phrases) if phrases else ())]
    return tuple(
        SubQuery(text, *(_near_types(schema, kind, each) for kind in (ENTITY, RELATION, ATTRIBUTE)))
        for text, each in zip([question, *phrases], vectors, strict=True)
    )


def _near_types(schema: Schema, kind: str, vector: np.ndarray) -> tuple[int, ...]:
    scores = cosines(schema.vectors(kind), vector)
    return tuple(np.flatnonzero(scores >= _NEAR).tolist())


def _read_questions(cells: Mapping[str, Any], schema: Schema, most: int) -> tuple[SubQuery, ...]:
    listed = cells.get("questions")
    if not isinstance(listed, list):
        raise ReplyError("youtu.reply_questions")
    queries = []
    for entry in listed:
        text = " ".join(str(entry.get("question") or "").split()) if isinstance(entry, dict) else ""
        if text:
            queries.append(SubQuery(text, *(_rows(entry.get(_LIST_OF[kind]), schema.names(kind)) for kind in KINDS)))
    if not queries:
        raise ReplyError("youtu.reply_questions")
    return tuple(queries[:most])


def _rows(listed: Any, names: Sequence[str]) -> tuple[int, ...]:
    """Places of the named types; names that the schema does not have are left out."""
    wanted = {str(name).casefold() for name in listed} if isinstance(listed, list) else set[str]()
    return tuple(place for place, name in enumerate(names) if name.casefold() in wanted)


def _read_reflection(cells: Mapping[str, Any]) -> Reflection:
    enough = cells.get("enough")
    if not isinstance(enough, bool):
        raise ReplyError("youtu.reply_reflection")
    missing, question = (" ".join(str(cells.get(key) or "").split()) for key in ("missing", "question"))
    return Reflection() if enough else Reflection(missing, question)
