"""A question out of the cells of a row: JSON of our own files, of GraphRAG-Bench and of HotpotQA-like sets, CSV."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from leanrag_core.evaluation.gold import Evidence, GoldQuestion, normalised
from leanrag_core.retrieval.base import MAX_QUESTION
from leanrag_core.text.plain_words import whole_characters
from leanrag_core.types.question_set import UNANSWERABLE

MAX_TEXT = 20_000  # characters of an answer or a quote
_MAX_NAME = 200  # characters of an id or a kind
_MAX_PARTS = 200  # answers, or pieces of evidence
_SHORT_WORDS = 8  # of an answer that a right answer contains as it is
_KINDS = ("type", "kind", "question_type")


class BadCells(ValueError):
    """The cells make no question. field: the cell at fault."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


def question_of(cells: Mapping[str, Any], place: int) -> GoldQuestion:
    """Make a question of the cells. Raises BadCells, naming the cell.

    question: needed. id: the place by default. type, kind or question_type. answers: short strings, or texts apart by
    "|". answer: in a sentence; a short one counts among the answers where there are none. evidence: objects with
    document and quote, or quotes of the document that `source` names; or the cells document and quote; or `gold`, a
    list of documents of which any passage counts. entities: of the answer, lists of names. Other cells are passed over.
    """
    question = _text(cells, "question", MAX_QUESTION)
    if not question:
        raise BadCells("question")
    kind = next((text for name in _KINDS if (text := _text(cells, name, _MAX_NAME))), "")
    answer = "" if isinstance(cells.get("answer"), list) else _text(cells, "answer", MAX_TEXT)
    listed = cells["answer"] if isinstance(cells.get("answer"), list) else cells.get("answers")
    answers = _texts(listed, "answers")
    if listed in (None, "") and kind != UNANSWERABLE and 0 < len(answer.split()) <= _SHORT_WORDS:
        answers = (answer,)
    return GoldQuestion(
        _text(cells, "id", _MAX_NAME) or str(place), question, answers, _evidence(cells), kind, _entities(cells), answer
    )


def cells_of(question: GoldQuestion) -> dict[str, Any]:
    """Return the cells that question_of() reads; those without content are left out."""
    cells: dict[str, Any] = {
        "id": question.id,
        "question": question.question,
        "type": question.kind,
        "answer": question.answer,
        "evidence": [{"document": each.document, "quote": each.quote} for each in question.evidence],
        "entities": [list(names) for names in question.entities],
    }
    # An empty list says that there are none, where an answer of a few words would count as one.
    return {name: value for name, value in cells.items() if value} | {"answers": list(question.answers)}


def _evidence(cells: Mapping[str, Any]) -> tuple[Evidence, ...]:
    given = _parsed(cells.get("evidence"), "evidence")
    source = _text(cells, "document", MAX_TEXT) or _text(cells, "source", MAX_TEXT)
    if given in (None, "", []):
        documents = _texts(_parsed(cells.get("gold"), "gold"), "gold")
        quote = _text(cells, "quote", MAX_TEXT)
        return tuple(Evidence(document, "") for document in documents) + ((Evidence(source, quote),) if quote else ())
    if not isinstance(given, list) or len(given) > _MAX_PARTS:
        raise BadCells("evidence")
    evidence = []
    for part in given:
        if isinstance(part, str):
            part = {"document": source, "quote": part}
        if not isinstance(part, dict) or "document" not in part or "quote" not in part:
            raise BadCells("evidence")
        evidence.append(Evidence(_text(part, "document", MAX_TEXT), _text(part, "quote", MAX_TEXT)))
    return tuple(evidence)


def _entities(cells: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    given = _parsed(cells.get("entities"), "entities") or []
    if not isinstance(given, list) or len(given) > _MAX_PARTS:
        raise BadCells("entities")
    named = (tuple(sorted({*map(normalised, _texts(names, "entities"))} - {""})) for names in given)
    return tuple(filter(None, named))


def _parsed(value: Any, field: str) -> Any:
    """Parse JSON where a cell of a table holds a list as text."""
    if not isinstance(value, str) or not value.lstrip().startswith("["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise BadCells(field) from None


def _texts(value: Any, field: str) -> tuple[str, ...]:
    value = _parsed(value, field)
    if value is None:
        return ()
    parts: Sequence[Any] = value.split("|") if isinstance(value, str) else value
    if not isinstance(parts, list) or len(parts) > _MAX_PARTS:
        raise BadCells(field)
    texts = (_text({field: part}, field, MAX_TEXT) for part in parts)
    return tuple(filter(None, texts))


def _text(cells: Mapping[str, Any], name: str, max_characters: int) -> str:
    """Return the cell as text without white space around it; numbers and truth values as they are written."""
    value = cells.get(name)
    if value is None:
        return ""
    if not isinstance(value, str | int | float):
        raise BadCells(name)
    text = whole_characters(str(value)).replace("\x00", "").strip()
    if len(text) > max_characters:
        raise BadCells(name)
    return text
