"""The work of a job of the kind "update": an index takes over the documents of its corpus, or an edit by hand."""

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Protocol

from leanrag_core.errors import IndexChanged, InvalidConfig, RecordDamaged
from leanrag_core.jobs.events import JobSpec
from leanrag_core.jobs.work import Done, RunningJob
from leanrag_core.models.registry import Models
from leanrag_core.records import from_values
from leanrag_core.storage.staging import give_up_staging
from leanrag_core.types.editing import Edit
from leanrag_core.types.execution import Execution
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobReport
from leanrag_core.types.model_names import is_remote
from leanrag_core.types.progress import Report
from leanrag_core.types.recorded_config import recorded_config
from leanrag_core.types.spending import Budget
from leanrag_core.types.updating import DocumentChanges
from leanrag_core.work.base import argument


class Updater(Protocol):
    """What an update needs of the workbench."""

    def models(self, *, budget: Budget | None = None, index: str = "") -> Models: ...

    def open(self, index_id: str) -> Index: ...

    def index_path(self, index_id: str) -> Path: ...

    def corpus_changes(self, index_id: str) -> DocumentChanges: ...

    def update_index(
        self,
        folder: Path,
        changes: DocumentChanges,
        *,
        models: Models | None = None,
        report: Report = ...,
        execution: Execution | None = None,
    ) -> Index: ...

    def edit_index(
        self,
        folder: Path,
        edit: Edit,
        *,
        models: Models | None = None,
        report: Report = ...,
        execution: Execution | None = None,
    ) -> Index: ...

    def undo_edit(
        self,
        folder: Path,
        number: int,
        *,
        models: Models | None = None,
        report: Report = ...,
        execution: Execution | None = None,
    ) -> Index: ...

    def offered_parts(self, index: Index) -> tuple[str, ...]: ...

    def start_part(self, index_id: str, name: str, options: Mapping[str, Any] | None = None) -> str: ...


class UpdateWork:
    """Updates the index that a job names, with what models cost in the job's record.

    The job's arguments: index; edit, an edit by hand, or undone, the number of one; with neither, the documents of the
    corpus.
    """

    def __init__(self, updater: Updater) -> None:
        self._updater = updater

    def run(self, job: RunningJob) -> Done:
        """The index is changed; its id is the result."""
        spec, index_id = job.spec, str(job.spec.arguments["index"])
        config = recorded_config(spec.config)
        models = self._updater.models(budget=argument(Budget, spec, "budget"), index=index_id)
        remote = is_remote(config.model) or is_remote(config.embedding)
        folder, execution = self._updater.index_path(index_id), argument(Execution, spec, "execution")
        with job.metered(models.meter.read) if remote else nullcontext():
            if "edit" in spec.arguments:
                index = self._updater.edit_index(
                    folder, _edit(spec), models=models, report=job.report, execution=execution
                )
            elif "undone" in spec.arguments:
                number = int(spec.arguments["undone"])
                index = self._updater.undo_edit(folder, number, models=models, report=job.report, execution=execution)
            else:
                index = self._updated(index_id, folder, models, job, execution)
        for part in self._updater.offered_parts(index):
            self._updater.start_part(index_id, part)
        return Done(index_id, JobReport(vars(index.manifest.counts), dict(index.report.drops)))

    def _updated(self, index_id: str, folder: Path, models: Models, job: RunningJob, execution: Execution) -> Index:
        """The index with the documents of its corpus, also where another job has changed it first."""
        while True:
            changes = self._updater.corpus_changes(index_id)
            if not changes:
                return self._updater.open(index_id)
            try:
                return self._updater.update_index(
                    folder, changes, models=models, report=job.report, execution=execution
                )
            except IndexChanged:
                continue

    def clean_up(self, spec: JobSpec) -> None:
        """Deletes the half-made index; the one before is as it was."""
        give_up_staging(self._updater.index_path(str(spec.arguments["index"])))


def _edit(spec: JobSpec) -> Edit:
    """The edit that a job makes. Raises InvalidConfig for a record of another version."""
    try:
        return from_values(Edit, spec.arguments["edit"], name="edit", closed=True)
    except RecordDamaged as error:
        raise InvalidConfig("config.other_version") from error
