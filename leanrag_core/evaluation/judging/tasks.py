"""What judges are asked in an experiment: one task for each reply, in an order that never changes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.types.config import require_choice
from leanrag_core.types.experiment import (
    ALL_JUDGEMENTS,
    GRADED,
    PAIRWISE,
    ExperimentSpec,
    Judgement,
    JudgeSpec,
    QuestionRow,
)

Key = tuple[str, str, str, str, str, int]  # judge, kind, question, first, second, repeat


@dataclass(frozen=True)
class JudgeTask:
    """A reply to be asked for. question: its id; text: its words. first, second: names of the runs, "" for no second;
    answers: theirs, in the order shown. gold: right answers, for GRADED."""

    judge: str
    kind: str
    question: str
    text: str
    first: str
    second: str
    repeat: int
    answers: tuple[str, ...]
    gold: tuple[str, ...] = ()


def key_of(asked: JudgeTask | Judgement) -> Key:
    """Return the key that a task shares with the judgement that answers it, and with none else of the experiment."""
    return asked.judge, asked.kind, asked.question, asked.first, asked.second, asked.repeat


def missing(
    spec: ExperimentSpec,
    rows: Iterable[QuestionRow],
    judgements: Iterable[Judgement],
    questions: Iterable[GoldQuestion] = (),
) -> tuple[JudgeTask, ...]:
    """Return the tasks that have no judgement yet, in their order. questions: of the set, whose words judges are
    shown; a question that is not among them is shown by its id.

    A question that failed, or has no answer, is not judged. Raises InvalidConfig for an unknown kind of judgement.
    """
    done = {key_of(judgement) for judgement in judgements}
    return tuple(task for task in tasks(spec, rows, questions) if key_of(task) not in done)


def in_order(
    spec: ExperimentSpec, rows: Iterable[QuestionRow], judgements: Iterable[Judgement]
) -> tuple[Judgement, ...]:
    """Sort the judgements in the order of their tasks, whatever order they were made in; those without a task are left
    out."""
    by_key = {key_of(judgement): judgement for judgement in judgements}
    return tuple(by_key[key] for key in map(key_of, tasks(spec, rows)) if key in by_key)


def tasks(
    spec: ExperimentSpec, rows: Iterable[QuestionRow], questions: Iterable[GoldQuestion] = ()
) -> tuple[JudgeTask, ...]:
    """Return all tasks of the experiment: by judge, kind, repeat, question, then pair and order, so that an experiment
    that is stopped half-way has judged everything equally often."""
    answers = {(row.run, row.question): row.answer for row in rows if row.answer.strip() and not row.error}
    ids = tuple(dict.fromkeys(question for _, question in answers))
    known = {question.id: question for question in questions}
    return tuple(
        task
        for judge in spec.judges
        for kind in judge.kinds
        for repeat in range(judge.repeats)
        for id_ in ids
        for runs in _shown_runs(spec, judge, kind)
        if (task := _task(judge.model, kind, runs, repeat, known.get(id_) or GoldQuestion(id_, id_), answers))
    )


def _shown_runs(spec: ExperimentSpec, judge: JudgeSpec, kind: str) -> tuple[tuple[str, ...], ...]:
    """Return the runs whose answers a judge is shown together: one, or two in either order."""
    require_choice("kinds", kind, ALL_JUDGEMENTS)
    if kind != PAIRWISE:
        return tuple((run.key,) for run in spec.runs)
    return tuple(order for pair in pairs_of(spec, judge) for order in (pair, pair[::-1]))


def pairs_of(spec: ExperimentSpec, judge: JudgeSpec) -> tuple[tuple[str, str], ...]:
    """Return the pairs that the judge compares: its own, else each run against the baseline (the last run where none
    is named)."""
    if judge.pairs:
        return judge.pairs
    baseline = spec.baseline or (spec.runs[-1].key if spec.runs else "")
    return tuple((run.key, baseline) for run in spec.runs if run.key != baseline)


def _task(
    judge: str,
    kind: str,
    runs: tuple[str, ...],
    repeat: int,
    question: GoldQuestion,
    answers: Mapping[tuple[str, str], str],
) -> JudgeTask | None:
    """Return what the judge is asked of the runs' answers; None where a run has none."""
    texts = tuple(answers.get((run, question.id), "") for run in runs)
    if not all(texts):
        return None
    gold = question.answers if kind == GRADED else ()
    second = runs[1] if len(runs) > 1 else ""
    return JudgeTask(judge, kind, question.id, question.question, runs[0], second, repeat, texts, gold)
