"""The work of a job of the kind "compare-fresh": how far an updated index is from a fresh build of its documents."""

from contextlib import nullcontext
from pathlib import Path
from typing import Protocol

from leanrag_core.jobs.events import JobSpec
from leanrag_core.jobs.work import Done, RunningJob
from leanrag_core.models.registry import Models
from leanrag_core.types.job import JobReport
from leanrag_core.types.model_names import is_remote
from leanrag_core.types.progress import Report
from leanrag_core.types.recorded_config import recorded_config
from leanrag_core.types.spending import Budget
from leanrag_core.types.updating import FreshDistance
from leanrag_core.work.base import argument


class Comparer(Protocol):
    """What a comparison needs of the workbench."""

    def models(self, *, budget: Budget | None = None, index: str = "") -> Models: ...

    def index_path(self, index_id: str) -> Path: ...

    def compare_with_fresh(
        self, folder: Path, *, models: Models | None = None, report: Report = ...
    ) -> FreshDistance: ...


class CompareFreshWork:
    """Compares the index that a job names with a fresh build, which is deleted afterwards; keeps the distance."""

    def __init__(self, comparer: Comparer) -> None:
        self._comparer = comparer

    def run(self, job: RunningJob) -> Done:
        """The distance is kept; the index is as it was."""
        spec, index_id = job.spec, str(job.spec.arguments["index"])
        config = recorded_config(spec.config)
        models = self._comparer.models(budget=argument(Budget, spec, "budget"), index=index_id)
        remote = is_remote(config.model) or is_remote(config.embedding)
        with job.metered(models.meter.read) if remote else nullcontext():
            folder = self._comparer.index_path(index_id)
            distance = self._comparer.compare_with_fresh(folder, models=models, report=job.report)
        return Done(index_id, JobReport({"layers": len(distance.clusters), "questions": distance.n_questions}))

    def clean_up(self, spec: JobSpec) -> None:
        """Deletes nothing: the fresh build is in a temporary folder that goes with the process."""
