"""An anonymous corpus on disk: documents/, questions.jsonl, dictionary.json."""

import json
from pathlib import Path

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.anonymity.corpus import Anonymous
from leanrag_core.evaluation.anonymity.dictionary import Dictionary
from leanrag_core.evaluation.question_sets.reading import to_jsonl
from leanrag_core.files.atomic import writing
from leanrag_core.files.records import from_json, to_json
from leanrag_core.messages.message import message

DOCUMENTS, QUESTIONS, DICTIONARY = "documents", "questions.jsonl", "dictionary.json"
_ID_KEYS = ("id", "question", "query")


def write_anonymous(made: Anonymous, folder: Path) -> None:
    """Write the anonymous corpus into a folder that is new or empty. Raises InvalidConfig for another one,
    StorageFailed."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidConfig("anonymity.folder_in_use", folder=str(folder))
    with writing(message("what.anonymous", folder=str(folder))):
        (folder / DOCUMENTS).mkdir(parents=True, exist_ok=True)
        for document in made.documents:
            (folder / DOCUMENTS / document.name).write_text(document.text, encoding="utf-8", newline="")
        if made.questions:
            (folder / QUESTIONS).write_bytes(to_jsonl(made.questions))
        (folder / DICTIONARY).write_bytes(to_json(made.dictionary, indent=1))


def read_dictionary(path: Path) -> Dictionary:
    """Read the dictionary from that file. Raises InvalidConfig where there is none, RecordDamaged."""
    return from_json(Dictionary, _content(path), name=path.name)


def read_given_answers(path: Path) -> tuple[tuple[str, str], ...]:
    """Return the id (or words) of the question and the answer, of each line of a JSONL file. Raises InvalidConfig,
    naming the line."""
    answers = []
    for place, line in enumerate(_content(path).decode("utf-8", "replace").split("\n"), 1):
        if not line.strip():
            continue
        try:
            cells = json.loads(line)
            answers.append((str(next(cells[key] for key in _ID_KEYS if key in cells)), str(cells["answer"])))
        except (ValueError, TypeError, KeyError, StopIteration, RecursionError) as error:
            raise InvalidConfig("judge_file.bad_answer", file=path.name, line=place) from error
    return tuple(answers)


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise InvalidConfig("command.no_source", path=str(path))
    return path.read_bytes()
