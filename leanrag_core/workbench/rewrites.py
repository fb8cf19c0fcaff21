"""Rewriting upper layers of an index by a model at an endpoint: forecast, run here or by a job, undone like an
update."""

from dataclasses import asdict
from pathlib import Path

from leanrag_core.errors import IndexChanged, InvalidConfig
from leanrag_core.execution.executors import ThreadMap, opened
from leanrag_core.indexing.build_models import BuildModels
from leanrag_core.indexing.forecasting.rewriting import forecast_rewriting
from leanrag_core.indexing.updating.rewriting import Rewriting, require_rewritable, rewritten_index, top_layer
from leanrag_core.jobs.events import JobSpec
from leanrag_core.jobs.kinds import REWRITE
from leanrag_core.jobs.runner import Done, RunningJob
from leanrag_core.jobs.store import JobStore
from leanrag_core.models.registry import Models, require_models
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.storage import layout
from leanrag_core.storage.layout import read_edits, read_imported
from leanrag_core.storage.stages import StageStore
from leanrag_core.storage.staging import build_lock, give_names, give_up_staging, staged
from leanrag_core.types.calls import Budget
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobReport, Progress
from leanrag_core.types.roles import AGGREGATION
from leanrag_core.types.settings import Execution
from leanrag_core.types.snapshots import StateChange
from leanrag_core.types.updating import RewriteForecast
from leanrag_core.workbench.indexes import Indexes
from leanrag_core.workbench.models import ModelAccess, RunContext, require_embedding
from leanrag_core.workbench.parts import Parts


class Rewrites:
    """Writes upper layers of indexes again, of those of the store and of others, which are known by their folders.

    Clusters, base graph, chunks and lambda stay: names and summaries of aggregated entities and sentences on
    summarised relations are written anew, from the lowest chosen layer up to the root, and embedded.
    """

    def __init__(self, indexes: Indexes, parts: Parts, models: ModelAccess, stages: StageStore, jobs: JobStore) -> None:
        self._indexes, self._parts, self._models, self._stages, self._jobs = indexes, parts, models, stages, jobs

    def forecast(self, index: Index, model: str, from_layer: int = 1) -> RewriteForecast:
        """Return the calls, time and money that it takes, layer by layer; nothing is asked of a model. model: such as
        "openai:NAME". Raises InvalidConfig."""
        rewriting = Rewriting(index, model, from_layer)
        models = self._models.make(index=index.folder_name)
        return forecast_rewriting(rewriting, _remote(models, model), models.settings)

    def rewrite(self, folder: Path, model: str, from_layer: int = 1, context: RunContext | None = None) -> Index:
        """Write the layers again in this process; the index before is kept as an earlier state, which
        bench.updates.undo() puts back byte for byte.

        Where the model gives the texts that the index already has, the index stays as it is. Raises InvalidConfig,
        BudgetSpent, and EndpointError; what was answered until then is kept and not asked for again.
        """
        while True:
            index = layout.read_index(folder)
            rewriting = Rewriting(index, model, from_layer)
            context = context or self._models.context(index=folder.name)
            rewritten = self._made(rewriting, context)
            if rewritten is index:
                return index
            try:
                return self._put_in_place(folder, index, rewritten)
            except IndexChanged:  # by another process meanwhile; what the model has answered is kept
                continue

    def _made(self, rewriting: Rewriting, context: RunContext) -> Index:
        models, config, index = context.models, rewriting.config, rewriting.index
        require_models(models, config)
        embedding = require_embedding(models, config.embedding, index)
        model, apply = _remote(models, rewriting.model), ThreadMap(models.in_role(AGGREGATION).settings.concurrency)
        with opened(context.execution) as executor:
            build_models = BuildModels(embedding, apply=apply, executor=executor, stages=self._stages)
            build_models = build_models.configured(config)
            writer = build_models.rewriter(model, heuristic=index.manifest.heuristic)
            rewritten = rewritten_index(rewriting, model, writer, build_models.embedder(), context.report, apply=apply)
        self._stages.trim(models.settings.stages_bytes)
        context.report(Progress("index", 0, 0, "files"))
        return rewritten

    def _put_in_place(self, folder: Path, before: Index, rewritten: Index) -> Index:
        """Put the rewritten index in place; raise IndexChanged where the index in the folder is another one by now."""
        in_store = self._indexes.holds(folder)
        with build_lock(folder, waiting=lambda: None):
            if layout.read_manifest(folder).id != before.id:
                raise IndexChanged("update.changed_meanwhile", index=before.manifest.name)
            with staged(folder, in_store=in_store, keeps=StateChange("rewrite")) as staging:
                layout.write_index(staging, rewritten, read_imported(folder), read_edits(folder), replaced=folder)
                give_names(staging, layout.read_manifest(folder))  # it may have been renamed meanwhile
            return layout.read_index(folder)

    def start(
        self,
        index_id: str,
        model: str,
        from_layer: int = 1,
        *,
        budget: Budget | None = None,
        execution: Execution | None = None,
    ) -> str:
        """Start a job that writes the layers again; return the job's id. It stops when the budget is spent, and goes on
        where it was when it is resumed. Raises InvalidConfig."""
        index = self._indexes.open(index_id)
        config, manifest = Rewriting(index, model, from_layer).config, index.manifest
        models = self._models.make(budget=budget)
        require_models(models, config)
        _remote(models, model)
        terms = self._models.job_terms(budget, execution)
        arguments = {"index": index_id, "model": model, "from_layer": from_layer, **terms}
        return self._jobs.begin(manifest.name, manifest.corpus.id, asdict(config), arguments, REWRITE)

    def run_job(self, job: RunningJob) -> Done:
        """Write again what a job names, with its forecast and what the model costs in the job's record; the index's id
        is the result.

        The job's arguments: index, its id; model; from_layer.
        """
        arguments = job.spec.arguments
        index_id, model, from_layer = str(arguments["index"]), str(arguments["model"]), int(arguments["from_layer"])
        context = self._models.job_context(job, index=index_id)
        job.expect(self.forecast(self._indexes.open(index_id), model, from_layer).forecast)
        with job.metered(context.models.meter.read):
            index = self.rewrite(self._indexes.path(index_id), model, from_layer, context)
        for part in self._parts.offered(index):
            self._parts.start(index_id, part)
        return Done(index_id, JobReport(vars(index.manifest.counts), dict(index.report.drops)))

    def clean_up(self, spec: JobSpec) -> None:
        """Delete the half-made index of a job; the one before is as it was."""
        give_up_staging(self._indexes.path(str(spec.arguments["index"])))


def _remote(models: Models, name: str) -> RemoteLanguageModel:
    """Return the model. Raises InvalidConfig where it is not at an endpoint."""
    model = models.language(name, AGGREGATION)
    if not isinstance(model, RemoteLanguageModel):
        raise InvalidConfig("rewrite.no_model", name=name)
    return model


def rewritable_layers(index: Index) -> range:
    """Return the layers that a rewrite of the index can begin with, the lowest first; none where it cannot be
    rewritten."""
    try:
        require_rewritable(index)
    except InvalidConfig:
        return range(0)
    try:
        require_rewritable(index, min(2, top_layer(index)))
    except InvalidConfig:
        return range(1, 2)
    return range(1, top_layer(index) + 1)
