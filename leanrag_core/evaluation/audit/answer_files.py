"""Files as they are uploaded, in lines; and files of a system's answers, whose words the audit counts."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from leanrag_core.errors import InvalidConfig

_MOST_BYTES = 50_000_000
_MOST_LINES = 200_000
_SYSTEM = re.compile(r"[^_]+_(.+?)_(?:result|answer)(?:_.*)?")
_QUESTION_KEYS = ("query", "question")
_ANSWER_KEYS = ("answer", "result", "response")


@dataclass(frozen=True)
class JudgeFile:
    """An uploaded file. name: without its folder."""

    name: str
    content: bytes


@dataclass(frozen=True)
class SystemAnswers:
    """Answers of a system in the order of the questions."""

    questions: tuple[str, ...]
    answers: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.questions)

    def by_question(self) -> Mapping[str, str]:
        """Map each question to its answer."""
        return dict(zip(self.questions, self.answers, strict=True))


def lines_of(file: JudgeFile) -> tuple[str, ...]:
    """Return the lines that are not blank. Raises InvalidConfig for a file that is too large or not UTF-8."""
    if len(file.content) > _MOST_BYTES:
        raise InvalidConfig("questions.too_large", file=file.name, megabytes=_MOST_BYTES // 1_000_000)
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidConfig("judge_file.not_utf8", file=file.name) from error
    lines = tuple(line for line in text.split("\n") if line.strip())
    if len(lines) > _MOST_LINES:
        raise InvalidConfig("judge_file.too_many_lines", file=file.name, n=_MOST_LINES)
    return lines


def read_answers(file: JudgeFile) -> SystemAnswers:
    """Read the answers of a JSONL file of objects with a question and an answer. Raises InvalidConfig, naming the
    line."""
    questions, answers = [], []
    for place, line in enumerate(lines_of(file), 1):
        try:
            cells = json.loads(line)
            question = next(cells[key] for key in _QUESTION_KEYS if key in cells)
            answer = next(cells[key] for key in _ANSWER_KEYS if key in cells)
        except (ValueError, TypeError, StopIteration, RecursionError) as error:
            raise InvalidConfig("judge_file.bad_answer", file=file.name, line=place) from error
        questions.append(str(question))
        answers.append(str(answer))
    return SystemAnswers(tuple(questions), tuple(answers))


def system_of(name: str) -> str:
    """Return the system whose answers the file of that name holds: "hi" for "mix_hi_result_deepseek.jsonl"; else the
    name without its ending."""
    stem = name.rsplit(".", 1)[0]
    match = _SYSTEM.fullmatch(stem)
    return match[1].casefold() if match else stem
