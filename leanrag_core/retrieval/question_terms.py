"""What a question names: its own names and phrases, and the entities, keywords and subqueries that a model reads from
it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leanrag_core.errors import ReplyError
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.model_replies import ask_json, json_or_note, listed_texts, lists_in, reply_or_note
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import nearest_entities
from leanrag_core.text.words import FUNCTION_WORDS
from leanrag_core.types.calls import JSON_TEXT, JSON_TEXTS, json_object

_QUOTED = re.compile(r"[\"“”«»]([^\"“”«»]{2,80})[\"“”«»]")
_PIECE = re.compile(r"[\w’'\-]+|[^\w\s]", re.UNICODE)
_ASKING = {"compare", "describe", "discuss", "explain", "give", "kind", "kinds", "list", "name", "summarise", "tell"}
_JOINING = {"of", "the", "de", "la", "von", "van", "der", "du", "al"}  # inside a name: Bank of England
_MOST_ENTITIES = 8
_ENTITIES_REPLY = json_object(named=JSON_TEXTS, generic=JSON_TEXTS)
_MOST_LOW, _MOST_HIGH = 8, 5
_KEYWORDS_REPLY = json_object(low_level=JSON_TEXTS, high_level=JSON_TEXTS)


@dataclass(frozen=True)
class QuestionTerms:
    """names: capitalised or quoted. phrases: runs of content words, names among them. Both in the question's order."""

    names: tuple[str, ...]
    phrases: tuple[str, ...]

    @property
    def every(self) -> tuple[str, ...]:
        """Return names and then phrases, each once."""
        return tuple(dict.fromkeys((*self.names, *self.phrases)))

    @property
    def others(self) -> tuple[str, ...]:
        """Return the phrases that are no names."""
        names = {name.casefold() for name in self.names}
        return tuple(phrase for phrase in self.phrases if phrase.casefold() not in names)


def question_terms(question: str) -> QuestionTerms:
    """Return the names and the content phrases of the question, each once."""
    pieces = _PIECE.findall(question)
    quoted = [match.strip() for match in _QUOTED.findall(question)]
    return QuestionTerms(_once([*quoted, *_names(pieces)]), _once([*quoted, *_phrases(pieces)]))


def _names(pieces: list[str]) -> list[str]:
    names: list[str] = []
    run: list[str] = []
    for place, piece in enumerate(pieces):
        capital = piece[0].isupper() and not (place == 0 and _empty(piece))
        if capital or (run and piece.lower() in _JOINING):
            run.append(piece)
            continue
        names += _name(run)
        run = []
    return [*names, *_name(run)]


def _name(run: list[str]) -> list[str]:
    while run and run[-1].lower() in _JOINING:
        run = run[:-1]
    while run and _empty(run[0]):
        run = run[1:]
    return [" ".join(run)] if run else []


def _phrases(pieces: list[str]) -> list[str]:
    phrases: list[str] = []
    run: list[str] = []
    for piece in pieces:
        if _empty(piece) or not (piece[0].isalnum() or piece[0] == "_"):
            phrases += [" ".join(run)] if run else []
            run = []
        else:
            run.append(piece)
    return [*phrases, " ".join(run)] if run else phrases


def _empty(word: str) -> bool:
    return word.lower() in FUNCTION_WORDS or word.lower() in _ASKING


def _once(terms: list[str]) -> tuple[str, ...]:
    by_key = {term.lower(): term for term in reversed(terms)}
    return tuple(term for term in dict.fromkeys(terms) if by_key[term.lower()] == term)


@dataclass(frozen=True)
class QueryEntities:
    """named: proper names. generic: other things. note: what the reader should know about their origin."""

    named: tuple[str, ...]
    generic: tuple[str, ...]
    note: Message | None = None


def query_entities(question: str, tools: Tools) -> QueryEntities:
    """Return the entities by the model; without one, or where its reply cannot be used, names and phrases of the
    question.

    Raises Cancelled and CallFailed.
    """
    reply = json_or_note(
        tools,
        "query_entities",
        _read_entities,
        schema=_ENTITIES_REPLY,
        step=message("query_entities.step"),
        instead=message("query_entities.built_in"),
        question=question,
    )
    return reply.value or _own_entities(question, reply.note)


def _own_entities(question: str, note: Message | None) -> QueryEntities:
    terms = question_terms(question)
    return QueryEntities(terms.names[:_MOST_ENTITIES], terms.others[:_MOST_ENTITIES], note)


def _read_entities(cells: dict[str, Any]) -> QueryEntities:
    named, generic = lists_in(cells, "named", "generic", error="query_entities.reply")
    return QueryEntities(named[:_MOST_ENTITIES], generic[:_MOST_ENTITIES])


@dataclass(frozen=True)
class QueryKeywords:
    """low: entities and details. high: themes. One of them may be empty. note: what the reader should know about their
    origin."""

    low: tuple[str, ...]
    high: tuple[str, ...]
    note: Message | None = None

    @property
    def joined(self) -> dict[str, str]:
        """Return the keywords of each level that has some, as one text."""
        return {level: ", ".join(words) for level, words in (("low", self.low), ("high", self.high)) if words}


def query_keywords(question: str, tools: Tools) -> QueryKeywords:
    """Return the keywords by the model; without one, or where its reply cannot be used, the question's own words.

    Where neither level has one, the question itself is the detail. Raises Cancelled and CallFailed.
    """
    reply = json_or_note(
        tools,
        "query_keywords",
        _read_keywords,
        schema=_KEYWORDS_REPLY,
        step=message("keywords.step"),
        instead=message("keywords.built_in"),
        question=question,
    )
    keywords = reply.value
    if keywords is None:
        return _own_keywords(question, reply.note)
    return keywords if keywords.low or keywords.high else QueryKeywords((question,), ())


def _own_keywords(question: str, note: Message | None) -> QueryKeywords:
    """Return names and phrases as details, and phrases that are no names as themes."""
    terms = question_terms(question)
    return QueryKeywords(terms.every[:_MOST_LOW] or (question,), terms.others[:_MOST_HIGH], note)


def _read_keywords(cells: dict[str, Any]) -> QueryKeywords:
    low, high = lists_in(cells, "low_level", "high_level", error="keywords.reply")
    return QueryKeywords(low[:_MOST_LOW], high[:_MOST_HIGH])


_CONCEPTS = 20  # names of the index that the model is shown
_REPLY = json_object(subqueries=JSON_TEXTS, expanded=JSON_TEXT)


@dataclass(frozen=True)
class Subqueries:
    """texts: at least one, each once. expanded: all of them as one query."""

    texts: tuple[str, ...]
    expanded: str


def subqueries(run: Retrieval, *, most: int) -> Subqueries:
    """Return the subqueries by the model, which is shown the concepts nearest to the question; without one, or where
    its reply cannot be used, the question alone. Raises Cancelled and CallFailed."""
    question, tools = run.query.text, run.tools

    def concepts() -> str:
        rows = nearest_entities(run.index, run.query.vector, _CONCEPTS, tools).rows.tolist()
        names = run.index.layers[0].entity_cells["name"]
        return "\n".join(f"- {names[row].as_py()}" for row in rows)

    reply = reply_or_note(
        tools,
        lambda: ask_json(
            tools,
            "refine_subqueries",
            lambda cells: _read(cells, question, most),
            keys=("subqueries",),
            schema=_REPLY,
            question=question,
            concepts=concepts(),
            most=most,
        ),
        step=message("lazygraphrag.step.refine"),
        instead=message("lazygraphrag.question_alone"),
        built_in=message("lazygraphrag.built_in"),
    )
    run.note(reply.note)
    return reply.value or Subqueries((question,), question)


def _read(cells: Mapping[str, Any], question: str, most: int) -> Subqueries:
    listed, expanded = cells.get("subqueries"), cells.get("expanded")
    if not isinstance(listed, list) or not isinstance(expanded, str):
        raise ReplyError("lazygraphrag.reply")
    texts = listed_texts(listed)
    once = {text.casefold(): text for text in reversed(texts)}
    kept = tuple(text for text in texts if once[text.casefold()] == text)[:most]
    return Subqueries(kept or (question,), " ".join(expanded.split()) or question)
