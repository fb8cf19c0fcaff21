"""The names in a question, and the entity types that its answer may have (MiniRAG)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.model_replies import json_or_note, lists_in
from leanrag_core.retrieval.question_terms import question_terms
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.calls import JSON_TEXTS, json_object
from leanrag_core.types.graph import Layer

_MOST_TYPES, _MOST_ENTITIES = 3, 5
_MOST_LISTED, _EXAMPLES = 60, 2
_UNTYPED = ("", "unknown")
_WORD = re.compile(r"\w+")
_PERSON, _PLACE, _TIME = ("person",), ("location", "place"), ("event", "date", "time")
_ASKED_BY = {"who": _PERSON, "whom": _PERSON, "whose": _PERSON, "where": _PLACE, "when": _TIME}
# Chinese has no blanks between words: these are looked for anywhere in the question.
_ASKED_BY_CHINESE = {"谁": _PERSON, "哪里": _PLACE, "何处": _PLACE, "何时": _TIME, "什么时候": _TIME}
_REPLY = json_object(answer_types=JSON_TEXTS, entities=JSON_TEXTS)


@dataclass(frozen=True)
class MappedQuestion:
    """entities: the names in the question, at least one. types: those that the answer may have, in lower case and known
    to the graph; may be empty. note: what the reader should know about their origin."""

    entities: tuple[str, ...]
    types: tuple[str, ...]
    note: Message | None = None


def mapped_question(question: str, base: Layer, tools: Tools) -> MappedQuestion:
    """Ask the model for the names in the question and the types of its answer; without a model, or where its reply
    cannot be used, return names and phrases of the question and the types of own_types().

    Raises Cancelled and CallFailed. Source: MiniRAG, query semantic mapping.
    """
    counts = _type_counts(base)
    reply = json_or_note(
        tools,
        "query_answer_types",
        _read,
        schema=_REPLY,
        step=message("minirag.step.mapping"),
        instead=message("minirag.built_in"),
        types=_listed(base, list(counts)[:_MOST_LISTED]),
        question=question,
    )
    mapped = reply.value
    if mapped is None:
        names = question_terms(question).every[:_MOST_ENTITIES]
        mapped = MappedQuestion(names, own_types(question, list(counts)), reply.note)
    types = tuple(name for name in mapped.types if name in counts)[:_MOST_TYPES]
    return MappedQuestion(mapped.entities or (question,), types, mapped.note)


def own_types(question: str, known: Sequence[str]) -> tuple[str, ...]:
    """Return those of the known types that the question names, in singular or plural, or asks for by who, where or
    when, in the question's order. known: in lower case."""
    asked: list[str] = []
    lower = question.lower()
    for word in _WORD.findall(lower):
        asked += [word, word.removesuffix("s"), *_ASKED_BY.get(word, ())]
    for word, types in _ASKED_BY_CHINESE.items():
        asked += types if word in lower else ()
    return tuple(name for name in dict.fromkeys(asked) if name in known)


def is_of_types(base: Layer, types: Sequence[str]) -> np.ndarray:
    """Return (n,) bool: whether each base entity has one of the types. types: in lower case."""
    return base.lower_types.are(types) if types else np.zeros(len(base), dtype=bool)


def _type_counts(base: Layer) -> dict[str, int]:
    """Return how many entities each type has, the commonest first, ties by name."""
    counts = {name: n for name, n in base.lower_types.counts.items() if name not in _UNTYPED}
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _listed(base: Layer, types: Sequence[str]) -> str:
    """Return a line for each type, with the entities of it that have most relations."""
    lines, names = [], base.entity_cells["name"]
    for name in types:
        rows = np.flatnonzero(is_of_types(base, [name]))
        best = rows[np.argsort(-base.degrees[rows], kind="stable")[:_EXAMPLES]]
        lines.append(f"- {name}: {'; '.join(str(names[row].as_py()) for row in best.tolist())}")
    return "\n".join(lines)


def _read(cells: dict[str, Any]) -> MappedQuestion:
    types, entities = lists_in(cells, "answer_types", "entities", error="minirag.reply")
    return MappedQuestion(entities[:_MOST_ENTITIES], tuple(text.lower() for text in types))
