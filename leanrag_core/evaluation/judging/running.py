"""The judgements of an experiment, asked for several at a time and kept one by one."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.judging.asking import judge
from leanrag_core.evaluation.judging.tasks import JudgeTask, missing
from leanrag_core.models.registry import Models
from leanrag_core.types.experiment import ExperimentResult, Judgement
from leanrag_core.types.job import Progress, Report

STAGE = "judge"

DoTasks = Callable[[Callable[[JudgeTask], Judgement], Iterable[JudgeTask]], Iterator[Judgement]]


def judge_result(
    result: ExperimentResult,
    questions: Sequence[GoldQuestion],
    models: Models,
    do_tasks: DoTasks,
    keep: Callable[[Judgement], None],
    report: Report,
) -> None:
    """Ask for every judgement that the experiment lacks, and keep each.

    do_tasks: maps over tasks, in their order. keep: puts a judgement on the disk. report: may raise Cancelled. Raises
    BudgetSpent, EndpointError, InvalidConfig; what was judged until then is kept.
    """
    left = missing(result.spec, result.rows, result.judgements, questions)
    n_done = len(result.judgements)
    total = n_done + len(left)
    if total:
        report(Progress(STAGE, n_done, total, "judgements"))
    for judgement in do_tasks(lambda task: judge(task, models), left):
        keep(judgement)
        n_done += 1
        report(Progress(STAGE, n_done, total, "judgements", current=judgement.judge))
