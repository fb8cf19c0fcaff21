"""What LazyGraphRAG makes of a question: subqueries in the words of the index's concepts, and one expanded query."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leanrag_core.errors import ReplyError
from leanrag_core.messages.message import message
from leanrag_core.retrieval.model_replies import ask_json, listed_texts, reply_or_note
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import nearest_entities
from leanrag_core.types.calls import JSON_TEXT, JSON_TEXTS, json_object

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
