"""Uploaded files of judgements, in our own form or in HiRAG's, and of systems' answers, whose words are counted."""

import csv
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leanrag_core.errors import InvalidConfig, RecordDamaged, ReplyError
from leanrag_core.evaluation.judging.asking import criterion_of, pair_verdicts, score_of, winner_of
from leanrag_core.files.records import from_values
from leanrag_core.messages.message import Message, message
from leanrag_core.models.asking import read_json
from leanrag_core.text.words import lexical_tokens
from leanrag_core.types.experiment import ABSOLUTE, GRADED, PAIRWISE, Judgement

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


def lines_of(file: JudgeFile) -> dict[int, str]:
    """Return the lines that are not blank by their number in the file, from 1. Raises InvalidConfig for a file that is
    too large or not UTF-8."""
    if len(file.content) > _MOST_BYTES:
        raise InvalidConfig("questions.too_large", file=file.name, megabytes=_MOST_BYTES // 1_000_000)
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidConfig("judge_file.not_utf8", file=file.name) from error
    lines = {number: line for number, line in enumerate(text.split("\n"), 1) if line.strip()}
    if len(lines) > _MOST_LINES:
        raise InvalidConfig("judge_file.too_many_lines", file=file.name, n=_MOST_LINES)
    return lines


def read_answers(file: JudgeFile) -> SystemAnswers:
    """Read the answers of a JSONL file of objects with a question and an answer. Raises InvalidConfig, naming the
    line."""
    questions, answers = [], []
    for number, line in lines_of(file).items():
        try:
            cells = json.loads(line)
            question = next(cells[key] for key in _QUESTION_KEYS if key in cells)
            answer = next(cells[key] for key in _ANSWER_KEYS if key in cells)
        except (ValueError, TypeError, StopIteration, RecursionError) as error:
            raise InvalidConfig("judge_file.bad_answer", file=file.name, line=number) from error
        questions.append(str(question))
        answers.append(str(answer))
    return SystemAnswers(tuple(questions), tuple(answers))


def system_of(name: str) -> str:
    """Return the system whose answers the file of that name holds: "hi" for "mix_hi_result_deepseek.jsonl"; else the
    name without its ending."""
    stem = name.rsplit(".", 1)[0]
    match = _SYSTEM.fullmatch(stem)
    return match[1].casefold() if match else stem


_COLUMNS = ("judge", "question", "first", "second", "repeat", "criterion", "verdict")
_LONGEST_CELL = 1_000_000


def is_own(name: str, lines: Mapping[int, str]) -> bool:
    """Return whether the file is of our own form: CSV by its name, JSONL by its first line."""
    if name.casefold().endswith(".csv"):
        return True
    try:
        first = json.loads(next(iter(lines.values()), "{}"))
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and ("verdicts" in first or first.keys() >= {"question", "first"})


def own_judgements(name: str, lines: Mapping[int, str], answers: Mapping[str, SystemAnswers]) -> tuple[Judgement, ...]:
    """Read the judgements of the file, with the words of the answers where these are given. lines: by their numbers.
    Raises InvalidConfig, naming the line."""
    read = _from_csv(name, lines) if name.casefold().endswith(".csv") else _from_jsonl(name, lines)
    if not read:
        raise InvalidConfig("judge_file.no_judgements", file=name)
    by_run = {run: each.by_question() for run, each in answers.items()}
    return tuple(_with_words(judgement, by_run) for judgement in read)


def _from_jsonl(name: str, lines: Mapping[int, str]) -> tuple[Judgement, ...]:
    judgements = []
    for number, line in lines.items():
        try:
            cells = json.loads(line)
            judgement = from_values(Judgement, _completed(cells), name=name)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, RecordDamaged) as error:
            raise InvalidConfig("judge_file.bad_line", file=name, line=number) from error
        is_named = judgement.question and judgement.first and judgement.kind in (PAIRWISE, ABSOLUTE, GRADED)
        if not is_named or not all(0 <= n_words <= _MOST_BYTES for n_words in judgement.words):
            raise InvalidConfig("judge_file.bad_line", file=name, line=number)
        judgements.append(judgement)
    return tuple(judgements)


def _completed(cells: dict[str, Any]) -> dict[str, Any]:
    """Fill in what the record may leave out, and read its verdicts in any of the forms that replies have."""
    second = str(cells.get("second") or "")
    kind = str(cells.get("kind") or (PAIRWISE if second else ABSOLUTE))
    read = winner_of if kind == PAIRWISE else score_of
    return {
        "judge": "judge",
        "repeat": 0,
        "prompt": "",
        "reply": "",
        **cells,
        "second": second,
        "kind": kind,
        "verdicts": {criterion_of(key): read(value) for key, value in cells["verdicts"].items()},
    }


def _from_csv(name: str, lines: Mapping[int, str]) -> tuple[Judgement, ...]:
    """Join the rows of the same judge, question, runs and repeat into a judgement."""
    csv.field_size_limit(_LONGEST_CELL)
    numbers = list(lines)
    grouped: dict[tuple[str, str, str, str, int], dict[str, float | None]] = {}
    try:
        reader = csv.DictReader(lines.values())
        lacking = [column for column in _COLUMNS if column not in (reader.fieldnames or ())]
    except csv.Error as error:
        raise InvalidConfig("judge_file.bad_line", file=name, line=numbers[0]) from error
    if lacking:
        raise InvalidConfig("judge_file.lacks_columns", file=name, columns=", ".join(lacking))
    try:
        for row in reader:
            if not (row["question"] and row["first"]) or row["verdict"] is None:  # cut off, or without its names
                raise InvalidConfig("judge_file.bad_line", file=name, line=numbers[reader.line_num - 1])
            key = row["judge"], row["question"], row["first"], row["second"] or "", int(row["repeat"] or 0)
            read = winner_of if key[3] else score_of
            grouped.setdefault(key, {})[criterion_of(row["criterion"])] = read(row["verdict"])
    except (csv.Error, ValueError, TypeError) as error:
        raise InvalidConfig("judge_file.bad_line", file=name, line=numbers[reader.line_num - 1]) from error
    return tuple(
        Judgement(judge, PAIRWISE if second else ABSOLUTE, question, first, second, repeat, verdicts, "", "")
        for (judge, question, first, second, repeat), verdicts in grouped.items()
    )


def _with_words(judgement: Judgement, by_run: Mapping[str, Mapping[str, str]]) -> Judgement:
    """Add its answers' words to the judgement, where it has none and both answers are given."""
    if any(judgement.words):
        return judgement
    answers = [by_run.get(run, {}).get(judgement.question, "") for run in (judgement.first, judgement.second)]
    first, second = (len(lexical_tokens(answer)) for answer in answers)
    return replace(judgement, words=(first, second))


_TITLE = re.compile(r"(?P<set>.+?)_eval_(?P<systems>.+?)(?:_result(?:_(?P<judge>.+))?)?")
_KEYS = (("winner", "overall winner", "overall", "comprehensiveness"),)
_MOST_LACKING = 0.2  # share of replies; a file that lacks more cannot be laid out


@dataclass(frozen=True)
class FileTitle:
    """What a file's name says. a: the system that is Answer 1 in the first half."""

    data_set: str
    a: str
    b: str
    judge: str


@dataclass(frozen=True)
class FileReply:
    """A line of the file as text, and the winners that it names; empty where it cannot be read."""

    text: str
    verdicts: Mapping[str, float]


@dataclass(frozen=True)
class HalvedReplies:
    """The replies of a file in their order."""

    title: FileTitle
    file: str
    replies: tuple[FileReply, ...]


def file_title(name: str) -> FileTitle:
    """Read the data set, systems and judge from "SET_eval_A_B_result_JUDGE.jsonl"; A and B where the name has none."""
    stem = name.rsplit(".", 1)[0]
    match = _TITLE.fullmatch(stem)
    if not match:
        return FileTitle("", "A", "B", stem)
    first, _, second = match["systems"].partition("_")
    judge = match["judge"] or "judge"
    return FileTitle(match["set"], first, second, judge) if second else FileTitle(match["set"], "A", "B", judge)


def reply_of(line: str) -> FileReply:
    """Return the reply of a line: the object itself, or a text that holds it, alone or inside a line of an endpoint's
    batch output."""
    text = _reply_text(line)
    try:
        return FileReply(text, pair_verdicts(read_json(text, _KEYS).cells))
    except ReplyError:
        return FileReply(text, {})


def _reply_text(line: str) -> str:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if isinstance(value, str):
        return value
    try:
        return str(value["response"]["body"]["choices"][0]["message"]["content"])
    except (KeyError, IndexError, TypeError):
        return line


def placed_replies(
    halved: HalvedReplies, n_questions: int, a: SystemAnswers | None, b: SystemAnswers | None
) -> tuple[Judgement, ...]:
    """Turn the replies into judgements of their question and order. a, b: the systems' answers, where these are
    known."""
    replies = halved.replies
    lacking = 2 * n_questions - len(replies)
    places = list(range(len(replies)))
    if a and b and 0 < lacking <= _MOST_LACKING * len(replies):
        texts = [" ".join((a.questions[row], a.answers[row], b.answers[row])) for row in range(n_questions)]
        places = aligned([reply.text for reply in replies], [*texts, *texts])
    answers = a or b
    title = halved.title
    judgements = []
    for reply, place in zip(replies, places, strict=True):
        row, is_swapped = place % n_questions, place >= n_questions
        question = answers.questions[row] if answers else f"question {row + 1}"
        words = (_words(a, row), _words(b, row))
        judgements.append(
            Judgement(
                judge=title.judge,
                kind=PAIRWISE,
                question=f"{title.data_set}: {question}" if title.data_set else question,
                first=title.b if is_swapped else title.a,
                second=title.a if is_swapped else title.b,
                repeat=0,
                verdicts=dict(reply.verdicts),
                prompt="",
                reply=reply.text,
                words=words[::-1] if is_swapped else words,
            )
        )
    return tuple(judgements)


def _words(answers: SystemAnswers | None, row: int) -> int:
    return len(lexical_tokens(answers.answers[row])) if answers else 0


def aligned(replies: Sequence[str], texts: Sequence[str]) -> list[int]:
    """Return for each reply the row of the text that it is about. Rows ascend, and the total weight of shared words is
    the largest possible.

    There are at least as many texts as replies. A word weighs the more, the fewer texts have it.
    """
    words_of = [frozenset(lexical_tokens(text)) for text in texts]
    frequency = Counter(word for words in words_of for word in words)
    weight = {word: math.log(len(texts) / n) for word, n in frequency.items()}
    spare = len(texts) - len(replies)
    best = [0.0] * (spare + 1)  # of the replies so far, by how many texts were passed over
    steps: list[list[int]] = []
    for row, reply in enumerate(replies):
        shared = frozenset(lexical_tokens(reply)) & weight.keys()
        scores = [math.fsum(weight[word] for word in shared & words_of[row + passed]) for passed in range(spare + 1)]
        chosen, reached = [], []
        leader = 0
        for passed in range(spare + 1):
            if best[passed] > best[leader]:
                leader = passed
            chosen.append(leader)
            reached.append(best[leader] + scores[passed])
        steps.append(chosen)
        best = reached
    passed = max(range(spare + 1), key=lambda each: (best[each], -each))
    rows = []
    for row in range(len(replies) - 1, -1, -1):
        rows.append(row + passed)
        passed = steps[row][passed]
    return rows[::-1]


_OTHER_NAMES = {"graphrag": "local"}


@dataclass(frozen=True)
class JudgeFiles:
    """The judgements of uploaded files. notes: sentences on what a file leaves open, such as replies that it lacks."""

    judgements: tuple[Judgement, ...] = ()
    notes: tuple[Message, ...] = ()


def read_judge_files(
    files: Sequence[JudgeFile], answers: Mapping[str, SystemAnswers] | None = None, *, n_questions: int = 0
) -> JudgeFiles:
    """Read the judgements of all the files.

    answers: of each run by its name, to count their words. HiRAG's files leave the questions out, so a file that
    lacks replies can only be matched to its questions with the answers' help. n_questions: of HiRAG's files; 0: as
    many as there are answers, else half the lines of the longest file of the same data set.
    Raises InvalidConfig, naming the file and the line.
    """
    answers = answers or {}
    judgements: list[Judgement] = []
    notes: list[Message] = []
    halved: list[HalvedReplies] = []
    longest: dict[str, int] = defaultdict(int)
    for file in files:
        lines = lines_of(file)
        if is_own(file.name, lines):
            judgements += own_judgements(file.name, lines, answers)
            continue
        title = file_title(file.name)
        replies = tuple(reply_of(line) for line in lines.values())
        if not any(reply.verdicts for reply in replies):
            raise InvalidConfig("judge_file.no_judgements", file=file.name)
        longest[title.data_set] = max(longest[title.data_set], (len(replies) + 1) // 2)
        halved.append(HalvedReplies(title, file.name, replies))
    for replies_of_file in halved:
        own_answers = [_answers_of(name, answers) for name in (replies_of_file.title.a, replies_of_file.title.b)]
        n = n_questions or max(
            (len(each) for each in own_answers if each), default=longest[replies_of_file.title.data_set]
        )
        placed = placed_replies(replies_of_file, n, own_answers[0], own_answers[1])
        judgements += placed
        lacking = 2 * n - len(replies_of_file.replies)
        if lacking:
            code = "judge_file.lacks_replies" if all(own_answers) else "judge_file.lacks_replies_unplaced"
            notes.append(message(code, file=replies_of_file.file, n=lacking))
    return JudgeFiles(tuple(judgements), tuple(notes))


def _answers_of(name: str, answers: Mapping[str, SystemAnswers]) -> SystemAnswers | None:
    """Return the answers of that system, in any case; HiRAG calls the files of GraphRAG's answers "local"."""
    by_name = {each.casefold(): value for each, value in answers.items()}
    return by_name.get(name.casefold()) or by_name.get(_OTHER_NAMES.get(name.casefold(), ""))
