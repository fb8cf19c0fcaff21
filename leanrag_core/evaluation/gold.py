"""Questions with gold answers and gold evidence, as the files questions.jsonl of the sample corpora hold them."""

import json
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from leanrag_core.errors import InvalidConfig

WHOLE_CORPUS = "whole-corpus"  # kind of a question whose answer is spread over many documents
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

    kind: such as single-hop, multi-hop or unanswerable; "" where the file says nothing.
    """

    id: str
    question: str
    answers: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    kind: str = ""


def read_questions(path: Path) -> tuple[GoldQuestion, ...]:
    """The questions of a JSONL file, one object a line. Raises InvalidConfig, naming the line."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InvalidConfig("questions.too_large", file=path.name, megabytes=_MOST_BYTES // 1_000_000)
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise InvalidConfig("questions.unreadable", file=path.name, reason=type(error).__name__) from error
    return tuple(_question(line, path.name, place) for place, line in enumerate(lines, 1) if line.strip())


def _question(line: str, file: str, place: int) -> GoldQuestion:
    try:
        cells = json.loads(line)
        evidence = tuple(Evidence(str(part["document"]), str(part["quote"])) for part in cells.get("evidence", ()))
        answers = tuple(str(answer) for answer in cells.get("answers", ()))
        question, kind = str(cells["question"]), str(cells.get("type", ""))
        return GoldQuestion(str(cells.get("id", place)), question, answers, evidence, kind)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InvalidConfig("questions.bad_line", file=file, line=place) from error


def normalised(text: str) -> str:
    """The text for comparison: NFKC, lower case, no articles, no punctuation, single spaces (as in SQuAD's scorer)."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_ARTICLES.sub(" ", _NO_WORD.sub(" ", folded)).split())
