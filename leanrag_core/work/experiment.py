"""The work of a job of the kind "experiment": its questions, and its judgements."""

from typing import Protocol

from leanrag_core.jobs.events import JobSpec
from leanrag_core.jobs.work import Done, RunningJob
from leanrag_core.models.registry import Models
from leanrag_core.types.execution import Execution
from leanrag_core.types.experiment import ExperimentResult, ExperimentSpec
from leanrag_core.types.job import JobReport
from leanrag_core.types.progress import Report
from leanrag_core.types.spending import Budget
from leanrag_core.work.base import argument, configured


class Experimenter(Protocol):
    """What an experiment needs of the workbench."""

    def models(self, *, budget: Budget | None = None, index: str = "") -> Models: ...

    def run_experiment(
        self,
        spec: ExperimentSpec,
        report: Report = ...,
        *,
        models: Models | None = None,
        execution: Execution | None = None,
    ) -> ExperimentResult: ...


class ExperimentWork:
    """Runs the experiment that a job asks for, with what models cost in the job's record."""

    def __init__(self, experimenter: Experimenter) -> None:
        self._experimenter = experimenter

    def run(self, job: RunningJob) -> Done:
        """The experiment is complete; its id is the result."""
        spec = configured(ExperimentSpec, job.spec)
        models = self._experimenter.models(budget=argument(Budget, job.spec, "budget"))
        with job.metered(models.meter.read):
            result = self._experimenter.run_experiment(
                spec,
                job.report,
                models=models,
                execution=argument(Execution, job.spec, "execution"),
            )
        errors = sum(bool(row.error) for row in result.rows)
        counts = {"rows": len(result.rows), "errors": errors, "judgements": len(result.judgements)}
        return Done(result.id, JobReport(counts))

    def clean_up(self, spec: JobSpec) -> None:
        """Deletes nothing: the next attempt continues with what is stored."""
