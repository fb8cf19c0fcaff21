"""Keywords of a question at two levels: details and themes (LightRAG, section 3.2, step i)."""

from dataclasses import dataclass
from typing import Any

from leanrag_core.errors import BudgetSpent, ReplyError
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.model_replies import ask_json
from leanrag_core.retrieval.question_terms import question_terms
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.json_schema import JsonSchema

_MOST_LOW, _MOST_HIGH = 8, 5
_TEXTS: JsonSchema = {"type": "array", "items": {"type": "string"}}
_REPLY: JsonSchema = {
    "type": "object",
    "properties": {"low_level": _TEXTS, "high_level": _TEXTS},
    "required": ["low_level", "high_level"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class QueryKeywords:
    """low: entities and details. high: themes. One of them may be empty. note: what the reader should know about where
    they are from."""

    low: tuple[str, ...]
    high: tuple[str, ...]
    note: Message | None = None


def query_keywords(question: str, tools: Tools) -> QueryKeywords:
    """The keywords by the model; without one, or where its reply cannot be used, the question's own words.

    Where neither level has one, the question itself is the detail. Raises Cancelled and CallFailed.
    """
    step = message("keywords.step")
    built_in = message("keywords.built_in")
    if tools.language is None:
        return _own_words(question, message("strategy.note.built_in", instead=built_in))
    try:
        keywords = ask_json(
            tools.language,
            tools,
            "query_keywords",
            _read,
            keys=("low_level", "high_level"),
            schema=_REPLY,
            question=question,
        )
    except BudgetSpent:
        return _own_words(question, message("strategy.note.budget_spent", step=step))
    except ReplyError as error:
        unusable = message("strategy.note.reply_unusable", step=step, reason=error.message, instead=built_in)
        return _own_words(question, unusable)
    return keywords if keywords.low or keywords.high else QueryKeywords((question,), ())


def _own_words(question: str, note: Message) -> QueryKeywords:
    """Names and phrases are the details; phrases that are no names stand for the themes."""
    terms = question_terms(question)
    names = {name.casefold() for name in terms.names}
    themes = tuple(phrase for phrase in terms.phrases if phrase.casefold() not in names)
    low = tuple(dict.fromkeys((*terms.names, *terms.phrases)))
    return QueryKeywords(low[:_MOST_LOW] or (question,), themes[:_MOST_HIGH], note)


def _read(cells: dict[str, Any]) -> QueryKeywords:
    low, high = cells.get("low_level"), cells.get("high_level")
    if not isinstance(low, list) or not isinstance(high, list):
        raise ReplyError("keywords.reply")
    return QueryKeywords(_texts(low, _MOST_LOW), _texts(high, _MOST_HIGH))


def _texts(values: list[Any], most: int) -> tuple[str, ...]:
    texts = [" ".join(value.split()) for value in values if isinstance(value, str) and value.strip()]
    return tuple(dict.fromkeys(texts))[:most]
