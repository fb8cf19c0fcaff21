"""Imports of graphs that other programs made, in this process or by a job, and files of them that a person uploads."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from leanrag_core.execution.executors import ThreadMap, opened
from leanrag_core.importing.base import Restorer, graph_by, importer_for
from leanrag_core.importing.confined import confined_preview
from leanrag_core.indexing.build import BuildRequest, build_from_graph, rebuild_imported
from leanrag_core.indexing.build_models import BuildModels
from leanrag_core.indexing.forecasting.forecasts import forecast_hierarchy
from leanrag_core.indexing.parsing.blocks import shown_name
from leanrag_core.indexing.parsing.limits import parse_limits
from leanrag_core.jobs.events import JobSpec
from leanrag_core.jobs.kinds import IMPORT
from leanrag_core.jobs.runner import Done, RunningJob
from leanrag_core.jobs.store import JobStore
from leanrag_core.models.registry import require_models
from leanrag_core.storage import layout
from leanrag_core.storage.import_uploads import ImportUploads
from leanrag_core.storage.indexes import folder_name, import_id
from leanrag_core.storage.stages import StageStore
from leanrag_core.storage.staging import give_up_staging
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.imported import ImportPreview
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobReport, Progress
from leanrag_core.types.roles import AGGREGATION
from leanrag_core.types.settings import Execution
from leanrag_core.types.summary import recorded_config
from leanrag_core.workbench.indexes import Indexes
from leanrag_core.workbench.models import ModelAccess, RunContext, metered


class Imports:
    """Previews and imports graphs. uploads: files of a person, to be imported."""

    def __init__(
        self, indexes: Indexes, uploads: ImportUploads, models: ModelAccess, stages: StageStore, jobs: JobStore
    ) -> None:
        self.uploads = uploads
        self._indexes, self._models, self._stages, self._jobs = indexes, models, stages, jobs

    def preview(self, path: str | Path, format_name: str = "") -> ImportPreview:
        """Return what an import of the path would make and leave out; nothing is embedded or written. Raises
        ImportFailed, InvalidConfig."""
        return confined_preview(Path(path), format_name, parse_limits(self._models.settings.read()))

    def run(self, path: Path, format_name: str, request: BuildRequest, context: RunContext) -> Index:
        """Build an index over the graph at that path in this process, into the request's folder.

        format_name: of an importer (importing.base); empty: the one that recognises the path. Raises ImportFailed for
        files that cannot be read, InvalidConfig for an unknown format.
        """
        require_models(context.models, request.config)
        importer, report = importer_for(path, format_name), context.report
        report(Progress("read", 0, 0))
        if isinstance(importer, Restorer):
            return importer.restore(path, request.out, in_store=request.in_store)
        imported = graph_by(importer, path)
        n_rows = imported.counts.entity_rows + imported.counts.relation_rows
        report(Progress("read", n_rows, n_rows, "rows"))
        with self._build_models(request.config, context) as models:
            build_from_graph(imported, importer.name, request, models, report)
        return layout.read_index(request.out)

    def rebuild(self, index: Index, request: BuildRequest, context: RunContext) -> Index:
        """Build an imported index again with the request's settings, over the graph that it holds."""
        require_models(context.models, request.config)
        with self._build_models(request.config, context) as models:
            rebuild_imported(index, request, models, context.report)
        return layout.read_index(request.out)

    def forecast(self, index: Index, config: IndexConfig) -> Forecast:
        """Return what rebuild() takes with those settings."""
        return forecast_hierarchy(index, config, self._models.settings.read())

    @contextmanager
    def _build_models(self, config: IndexConfig, context: RunContext) -> Iterator[BuildModels]:
        """Yield the models of a build over a graph, as long as its executor is open."""
        models = context.models
        writer = models.language(config.aggregation_model or config.model, AGGREGATION)
        apply = ThreadMap(models.in_role(AGGREGATION).settings.concurrency)
        embedding = models.embedding(config.embedding)
        with opened(context.execution) as executor:
            yield BuildModels(embedding, writer, writer, apply=apply, executor=executor, stages=self._stages)
        self._stages.trim(models.settings.stages_bytes)

    def request(
        self, path: Path, format_name: str, config: IndexConfig, *, out: Path | None = None, name: str = ""
    ) -> BuildRequest:
        """Return where an import of the path goes: to a folder of the person's own, else to the index store. Raises
        InvalidConfig for an unknown format, ImportFailed where none recognises the path."""
        index_id = folder_name(import_id(importer_for(path, format_name).name, path), config)
        name = name or shown_name(path.resolve().name)
        return BuildRequest((), config, out or self._indexes.path(index_id), name, in_store=out is None)

    def start(
        self,
        path: str | Path,
        format_name: str,
        config: IndexConfig | None = None,
        name: str = "",
        *,
        budget: Budget | None = None,
        execution: Execution | None = None,
    ) -> str:
        """Start a job in a process of its own that imports the path; return the job's id. Raises InvalidConfig,
        StorageFailed."""
        config, path = config or IndexConfig(), Path(path).resolve()
        require_models(self._models.make(budget=budget), config)
        terms = self._models.job_terms(budget, execution)
        arguments = {"path": str(path), "format": format_name, "name": name, **terms}
        return self._jobs.begin(name or path.name, "", asdict(config), arguments, IMPORT)

    def run_job(self, job: RunningJob) -> Done:
        """Import what a job asks for into the store, with what models cost in the job's record; the index's id is the
        result. Uploaded files are deleted: the index holds their content."""
        spec, arguments = job.spec, job.spec.arguments
        config, path = recorded_config(spec.config).checked(), Path(str(arguments["path"]))
        format_name = str(arguments["format"])
        context = self._models.job_context(job, index=_folder_name(spec))
        with metered(job, context.models, config):
            request = self.request(path, format_name, config, name=str(arguments.get("name", "")))
            index = self.run(path, format_name, request, context)
        assert index.path is not None
        self.uploads.discard(path)
        return Done(index.path.name, JobReport(vars(index.manifest.counts), dict(index.report.drops)))

    def clean_up(self, spec: JobSpec) -> None:
        """Delete the half-built index of a job; uploaded files stay for another attempt."""
        give_up_staging(self._indexes.path(_folder_name(spec)))


def _folder_name(spec: JobSpec) -> str:
    """Return the name of the index's folder in the store."""
    source_id = import_id(str(spec.arguments["format"]), Path(str(spec.arguments["path"])))
    return folder_name(source_id, recorded_config(spec.config).checked())
