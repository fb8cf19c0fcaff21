"""The work of a job of the kind "sweep": the indexes of its points, and the questions at each of them."""

from typing import Protocol

from leanrag_core.jobs.events import JobSpec
from leanrag_core.jobs.work import Done, RunningJob
from leanrag_core.models.registry import Models
from leanrag_core.types.execution import Execution
from leanrag_core.types.job import JobReport
from leanrag_core.types.progress import Report
from leanrag_core.types.spending import Budget
from leanrag_core.types.sweep import SweepResult, SweepSpec
from leanrag_core.work.base import argument, configured


class Sweeper(Protocol):
    """What a sweep needs of the workbench."""

    def models(self, *, budget: Budget | None = None, index: str = "") -> Models: ...

    def run_sweep(
        self,
        spec: SweepSpec,
        report: Report = ...,
        *,
        models: Models | None = None,
        execution: Execution | None = None,
        again: bool = False,
    ) -> SweepResult: ...

    def give_up_sweeping(self) -> None: ...


class SweepWork:
    """Runs the sweep that a job asks for, with what models cost in the job's record."""

    def __init__(self, sweeper: Sweeper) -> None:
        self._sweeper = sweeper

    def run(self, job: RunningJob) -> Done:
        """The sweep is complete; its id is the result."""
        spec = configured(SweepSpec, job.spec)
        models = self._sweeper.models(budget=argument(Budget, job.spec, "budget"))
        with job.metered(models.meter.read):
            result = self._sweeper.run_sweep(
                spec,
                job.report,
                models=models,
                execution=argument(Execution, job.spec, "execution"),
                again=bool(job.spec.arguments.get("again", False)),
            )
        n_indexes = len({point.index.id for point in result.points if point.index is not None})
        errors = sum(point.errors for point in result.points)
        return Done(result.id, JobReport({"points": len(result.points), "indexes": n_indexes, "errors": errors}))

    def clean_up(self, spec: JobSpec) -> None:
        """Deletes the half-built index; the next attempt continues with what is stored."""
        self._sweeper.give_up_sweeping()
