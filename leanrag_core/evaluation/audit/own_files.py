"""Judgements in our own form: JSONL with a record a line, or CSV with a criterion a row."""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from leanrag_core.errors import InvalidConfig, RecordDamaged
from leanrag_core.evaluation.audit.answer_files import SystemAnswers
from leanrag_core.evaluation.judging.verdicts import criterion_of, score_of, winner_of
from leanrag_core.files.records import from_values
from leanrag_core.text.words import lexical_tokens
from leanrag_core.types.experiment import ABSOLUTE, PAIRWISE, Judgement

_COLUMNS = ("judge", "question", "first", "second", "repeat", "criterion", "verdict")
_LONGEST_CELL = 1_000_000


def is_own(name: str, lines: Sequence[str]) -> bool:
    """Return whether the file is of our own form: CSV by its name, JSONL by its first line."""
    if name.casefold().endswith(".csv"):
        return True
    try:
        return "verdicts" in json.loads(lines[0]) if lines else False
    except (ValueError, TypeError, RecursionError):
        return False


def own_judgements(name: str, lines: Sequence[str], answers: Mapping[str, SystemAnswers]) -> tuple[Judgement, ...]:
    """Read the judgements of the file, with the words of the answers where these are given. Raises InvalidConfig,
    naming the line."""
    read = _from_csv(name, lines) if name.casefold().endswith(".csv") else _from_jsonl(name, lines)
    by_run = {run: each.by_question() for run, each in answers.items()}
    return tuple(_with_words(judgement, by_run) for judgement in read)


def _from_jsonl(name: str, lines: Sequence[str]) -> tuple[Judgement, ...]:
    judgements = []
    for place, line in enumerate(lines, 1):
        try:
            cells = json.loads(line)
            judgements.append(from_values(Judgement, _completed(cells), name=name))
        except (ValueError, TypeError, AttributeError, RecursionError, RecordDamaged) as error:
            raise InvalidConfig("judge_file.bad_line", file=name, line=place) from error
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


def _from_csv(name: str, lines: Sequence[str]) -> tuple[Judgement, ...]:
    """Join the rows of the same judge, question, runs and repeat into a judgement."""
    csv.field_size_limit(_LONGEST_CELL)
    grouped: dict[tuple[str, str, str, str, int], dict[str, float | None]] = {}
    try:
        reader = csv.DictReader(lines)
        lacking = [column for column in _COLUMNS if column not in (reader.fieldnames or ())]
    except csv.Error as error:
        raise InvalidConfig("judge_file.bad_line", file=name, line=1) from error
    if lacking:
        raise InvalidConfig("judge_file.lacks_columns", file=name, columns=", ".join(lacking))
    try:
        for row in reader:
            key = row["judge"], row["question"], row["first"], row["second"] or "", int(row["repeat"] or 0)
            read = winner_of if key[3] else score_of
            grouped.setdefault(key, {})[criterion_of(row["criterion"])] = read(row["verdict"])
    except (csv.Error, ValueError, TypeError) as error:
        raise InvalidConfig("judge_file.bad_line", file=name, line=reader.line_num) from error
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
