"""Entities that a question names, and generic ones: what FastGraphRAG and HippoRAG ask a model for."""

from dataclasses import dataclass
from typing import Any

from leanrag_core.errors import BudgetSpent, ReplyError
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.model_replies import ask_json
from leanrag_core.retrieval.question_terms import question_terms
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.json_schema import JsonSchema

_MOST = 8
_TEXTS: JsonSchema = {"type": "array", "items": {"type": "string"}}
_REPLY: JsonSchema = {
    "type": "object",
    "properties": {"named": _TEXTS, "generic": _TEXTS},
    "required": ["named", "generic"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class QueryEntities:
    """named: proper names. generic: other things. note: what the reader should know about where they are from."""

    named: tuple[str, ...]
    generic: tuple[str, ...]
    note: Message | None = None


def query_entities(question: str, tools: Tools) -> QueryEntities:
    """The entities by the model; without one, or where its reply cannot be used, names and phrases of the question.

    Raises Cancelled and CallFailed.
    """
    step, built_in = message("query_entities.step"), message("query_entities.built_in")
    if tools.language is None:
        return _own_words(question, message("strategy.note.built_in", instead=built_in))
    try:
        return ask_json(
            tools.language,
            tools,
            "query_entities",
            _read,
            keys=("named", "generic"),
            schema=_REPLY,
            question=question,
        )
    except BudgetSpent:
        return _own_words(question, message("strategy.note.budget_spent", step=step))
    except ReplyError as error:
        return _own_words(
            question, message("strategy.note.reply_unusable", step=step, reason=error.message, instead=built_in)
        )


def _own_words(question: str, note: Message) -> QueryEntities:
    terms = question_terms(question)
    names = {name.casefold() for name in terms.names}
    generic = tuple(phrase for phrase in terms.phrases if phrase.casefold() not in names)
    return QueryEntities(terms.names[:_MOST], generic[:_MOST], note)


def _read(cells: dict[str, Any]) -> QueryEntities:
    named, generic = cells.get("named"), cells.get("generic")
    if not isinstance(named, list) or not isinstance(generic, list):
        raise ReplyError("query_entities.reply")
    return QueryEntities(_texts(named), _texts(generic))


def _texts(values: list[Any]) -> tuple[str, ...]:
    texts = [" ".join(value.split()) for value in values if isinstance(value, str) and value.strip()]
    return tuple(dict.fromkeys(texts))[:_MOST]
