"""The work of a job of the kind "import": an index over a graph that another program made."""

from contextlib import nullcontext
from pathlib import Path
from typing import Protocol

from leanrag_core.jobs.events import JobSpec
from leanrag_core.jobs.work import Done, RunningJob
from leanrag_core.models.registry import Models
from leanrag_core.storage.indexes import folder_name, import_id
from leanrag_core.storage.staging import give_up_staging
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.execution import Execution
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobReport
from leanrag_core.types.model_names import BUILTIN
from leanrag_core.types.progress import Report
from leanrag_core.types.recorded_config import recorded_config
from leanrag_core.types.spending import Budget
from leanrag_core.work.base import argument


class GraphImporter(Protocol):
    """What an import needs of the workbench."""

    def models(self, *, budget: Budget | None = None, index: str = "") -> Models: ...

    def import_graph(
        self,
        path: str | Path,
        format_name: str = "",
        config: IndexConfig | None = None,
        *,
        out: Path | None = None,
        name: str = "",
        models: Models | None = None,
        report: Report = ...,
        execution: Execution | None = None,
    ) -> Index: ...

    def discard_import_upload(self, path: Path) -> None: ...

    def index_path(self, index_id: str) -> Path: ...


class ImportWork:
    """Imports what a job asks for, with what models cost in the job's record."""

    def __init__(self, importer: GraphImporter) -> None:
        self._importer = importer

    def run(self, job: RunningJob) -> Done:
        """The index is in the store, its id is the result; uploaded files are deleted, since it holds their content."""
        spec = job.spec
        config, path = recorded_config(spec.config).checked(), Path(str(spec.arguments["path"]))
        models = self._importer.models(budget=argument(Budget, spec, "budget"), index=_folder_name(spec))
        remote = not config.model == config.embedding == BUILTIN
        with job.metered(models.meter.read) if remote else nullcontext():
            index = self._importer.import_graph(
                path,
                str(spec.arguments["format"]),
                config,
                name=str(spec.arguments.get("name", "")),
                report=job.report,
                models=models,
                execution=argument(Execution, spec, "execution"),
            )
        assert index.path is not None
        self._importer.discard_import_upload(path)
        return Done(index.path.name, JobReport(vars(index.manifest.counts), dict(index.report.drops)))

    def clean_up(self, spec: JobSpec) -> None:
        """Deletes the half-built index; uploaded files stay for another attempt."""
        give_up_staging(self._importer.index_path(_folder_name(spec)))


def _folder_name(spec: JobSpec) -> str:
    """The folder of the index in the store."""
    named = import_id(str(spec.arguments["format"]), Path(str(spec.arguments["path"])))
    return folder_name(named, recorded_config(spec.config).checked())
