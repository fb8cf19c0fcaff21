"""Questions with gold answers and gold evidence, as the files questions.jsonl of the sample corpora hold them."""

import json
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from leanrag_core.errors import InvalidConfig

WHOLE_CORPUS = "whole-corpus"  # kind of a question whose answer is spread over many documents
UNANSWERABLE = "unanswerable"  # kind of a question that the corpus does not answer
_MOST_BYTES = 50_000_000
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Evidence:
    """A passage that supports the answer. document: its file name. quote: its words, exactly."""

    document: str
    quote: str


@dataclass(frozen=True)
class GoldQuestion:
    """A question with what is known of its answer. answers: short strings that a right answer contains, any of them.

    kind: such as single-hop, multi-hop or unanswerable; "" where the file says nothing. entities: those of the
    answer that the question does not name, each with all its names; empty without a reference graph beside the file.
    answer: the gold answer in a sentence, "" where the file has none.
    """

    id: str
    question: str
    answers: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    kind: str = ""
    entities: tuple[tuple[str, ...], ...] = ()
    answer: str = ""


def read_questions(path: Path) -> tuple[GoldQuestion, ...]:
    """The questions of a JSONL file, one object a line. Raises InvalidConfig, naming the line.

    A reference graph in the folder `reference` beside the file says which entities the answers of whole-corpus
    questions name; RecordDamaged or ReferenceDamaged where it does not read.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InvalidConfig("questions.too_large", file=path.name, megabytes=_MOST_BYTES // 1_000_000)
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise InvalidConfig("questions.unreadable", file=path.name, reason=type(error).__name__) from error
    known = _known_entities(path.parent / "reference")
    return tuple(_question(line, path.name, place, known) for place, line in enumerate(lines, 1) if line.strip())


def _known_entities(folder: Path) -> tuple[tuple[str, ...], ...]:
    """Names of each entity of the reference graph, normalised; empty where the folder holds none."""
    from leanrag_core.indexing.reference.records import is_reference, read_reference

    if not is_reference(folder):
        return ()
    entities = read_reference(folder).entities
    return tuple(tuple(sorted({*map(normalised, (each.name, *each.aliases))} - {""})) for each in entities)


def _question(line: str, file: str, place: int, known: tuple[tuple[str, ...], ...]) -> GoldQuestion:
    try:
        cells = json.loads(line)
        evidence = tuple(Evidence(str(part["document"]), str(part["quote"])) for part in cells.get("evidence", ()))
        answers = tuple(str(answer) for answer in cells.get("answers", ()))
        question, kind = str(cells["question"]), str(cells.get("type", ""))
        gold_answer = str(cells.get("answer", ""))
        answer = " | ".join((gold_answer, *answers))
        entities = _only_in_answer(known, question, answer) if kind == WHOLE_CORPUS else ()
        return GoldQuestion(str(cells.get("id", place)), question, answers, evidence, kind, entities, gold_answer)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InvalidConfig("questions.bad_line", file=file, line=place) from error


def _only_in_answer(known: tuple[tuple[str, ...], ...], question: str, answer: str) -> tuple[tuple[str, ...], ...]:
    """Entities that the answer names and the question does not: a context that repeats the question shows nothing."""
    return tuple(
        names for names in known if is_named(names, normalised(answer)) and not is_named(names, normalised(question))
    )


def is_named(names: tuple[str, ...], text: str) -> bool:
    """Whether a normalised text has one of the normalised names as whole words."""
    return any(f" {name} " in f" {text} " for name in names)


def normalised(text: str) -> str:
    """The text for comparison: NFKC, lower case, no articles, no punctuation, single spaces (as in SQuAD's scorer)."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_ARTICLES.sub(" ", _NO_WORD.sub(" ", folded)).split())
