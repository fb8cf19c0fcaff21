"""An experiment's questions, done in batches wherever an executor does them; what is done is kept at once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from leanrag_core.evaluation.experiments.batch_work import Measured
from leanrag_core.evaluation.experiments.plan import Batch, batches
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.storage.experiments import ExperimentWriter
from leanrag_core.types.experiment import ExperimentResult
from leanrag_core.types.job import Progress, Report

STAGE = "questions"

DoBatches = Callable[[Iterable[Batch]], Iterable[tuple[Measured, ...]]]


@dataclass(frozen=True)
class Way:
    """How batches are done. do: yields their results in their order. size: most questions of a batch."""

    do: DoBatches
    size: int


def run_questions(
    result: ExperimentResult, questions: Sequence[GoldQuestion], way: Way, writer: ExperimentWriter, report: Report
) -> None:
    """Run every question of every run and store its row. Questions that failed earlier are done again.

    result: what the store has already. Raises what a batch raises; what was done until then is kept.
    """
    done = {(row.run, row.question) for row in result.rows if not row.error}
    total, n_done = len(result.spec.runs) * len(questions), len(done)
    report(Progress(STAGE, n_done, total, "questions"))
    for measured in way.do(batches(result.spec, questions, done, way.size)):
        writer.add_rows([each.row for each in measured], [each.cost for each in measured])
        n_done += len(measured)
        report(Progress(STAGE, n_done, total, "questions", current=measured[-1].row.run))
