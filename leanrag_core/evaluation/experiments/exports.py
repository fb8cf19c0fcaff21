"""An experiment as a file: CSV for a spreadsheet, JSON that holds all of it and can be run again."""

import csv
import io
import json
from typing import Any

from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.figures.chart import spreadsheet_cell
from leanrag_core.files.records import json_bytes, plain
from leanrag_core.types.experiment import ExperimentResult

FORMATS = ("csv", "json", "html")
_BEFORE = ("run", "index", "strategy", "options", "question", "kind", "text")
_COSTS = ("retrieval_ms", "answer_ms", "calls", "prompt_tokens", "completion_tokens", "cost")
_AFTER = ("passages", "answer", "error", *_COSTS)


def as_json(result: ExperimentResult, questions: tuple[GoldQuestion, ...]) -> bytes:
    """Write everything as JSON: the specification (which `experiment run FILE` takes), versions, questions, rows,
    costs and judgements."""
    return json_bytes({**plain(result), "questions": [plain(question) for question in questions]}, indent=1)


def as_csv(result: ExperimentResult, questions: tuple[GoldQuestion, ...]) -> bytes:
    """Write a CSV line for each question of each run, with a column for each measure; UTF-8 with a mark, for
    spreadsheets."""
    names = sorted({name for row in result.rows for name in row.scores})
    runs = {run.name: run for run in result.spec.runs}
    texts = {question.id: question.question for question in questions}
    costs = {(cost.run, cost.question): cost for cost in result.costs}
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([*_BEFORE, *names, *_AFTER])
    for row in result.rows:
        run, cost = runs[row.run], costs.get((row.run, row.question))
        options = json.dumps(dict(run.options), sort_keys=True, ensure_ascii=False)
        spent: list[Any] = [""] * len(_COSTS)
        if cost is not None:
            spent = [cost.retrieval_ms, cost.answer_ms, cost.calls, cost.prompt_tokens, cost.completion_tokens]
            spent.append("" if cost.cost is None else cost.cost)
        texts_of_row = [row.run, run.index, run.strategy, options, row.question, row.kind, texts.get(row.question, "")]
        scores = ["" if row.scores.get(name) is None else row.scores[name] for name in names]
        said = [" ".join(row.passages), row.answer, row.error]  # a model's words may begin as a formula does
        writer.writerow([*map(spreadsheet_cell, texts_of_row), *scores, *map(spreadsheet_cell, said), *spent])
    return out.getvalue().encode("utf-8-sig")
