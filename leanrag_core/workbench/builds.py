"""Builds of indexes: forecast, made in this process, made by a job, and those of the sample corpora."""

import contextlib
import sys
import threading
from collections.abc import Iterable
from dataclasses import asdict, replace

from leanrag_core.errors import Cancelled, CorpusDamaged, CorpusNotFound, InvalidConfig, LeanRAGError
from leanrag_core.execution.executors import ThreadMap, opened
from leanrag_core.indexing.aggregation.rules import parse_tau
from leanrag_core.indexing.build import BuildRequest, build_index
from leanrag_core.indexing.build_models import BuildModels
from leanrag_core.indexing.extraction.llm import forget_empty_chunks
from leanrag_core.indexing.forecasting.forecasts import as_batches as in_batches
from leanrag_core.indexing.forecasting.forecasts import (
    build_speeds,
    forecast_builtin_build,
    forecast_endpoint_build,
    kept_seconds,
    look_at,
)
from leanrag_core.indexing.forecasting.growth import (
    SizeEffects,
    effects_of_sizes,
    entities_of_tokens,
    usual_relations,
)
from leanrag_core.indexing.parsing.language import mostly_foreign
from leanrag_core.jobs.events import JobSpec
from leanrag_core.jobs.runner import Done, RunningJob
from leanrag_core.jobs.store import JobStore
from leanrag_core.models.batching import Batches, cancel_batches
from leanrag_core.models.registry import require_models
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.storage import layout
from leanrag_core.storage.batches import BatchStore
from leanrag_core.storage.corpora import FILES
from leanrag_core.storage.indexes import folder_name
from leanrag_core.storage.stages import StageStore
from leanrag_core.storage.staging import copy_index, give_up_staging
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import REFERENCE, IndexConfig, is_remote
from leanrag_core.types.corpus import Document
from leanrag_core.types.forecast import Forecast, Range
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobReport, Progress
from leanrag_core.types.manifest import CorpusName
from leanrag_core.types.roles import AGGREGATION, EXTRACTION
from leanrag_core.types.settings import Apply, Execution
from leanrag_core.types.summary import recorded_config
from leanrag_core.types.updating import layer_writers
from leanrag_core.workbench.corpora import Corpora
from leanrag_core.workbench.indexes import Indexes
from leanrag_core.workbench.models import ModelAccess, RunContext, metered
from leanrag_core.workbench.parts import Parts
from leanrag_core.workbench.references import References
from leanrag_core.workbench.samples import FIRST_SAMPLE, PREPARED, PREPARED_STAGES, sample_id

_DOCUMENTS_LOOKED_AT = 8  # of a corpus, to see what earlier builds have kept; more of them where they are short
_TOKENS_LOOKED_AT = 100_000
_MOST_LOOKED_AT = 200
_MAPPED_FROM = 300  # entities; for fewer, the map is quickly made when a person opens it


class Builds:
    """Forecasts and builds indexes with the stores of a workbench. jobs: their records show this machine's speed."""

    def __init__(
        self,
        corpora: Corpora,
        indexes: Indexes,
        references: References,
        models: ModelAccess,
        stages: StageStore,
        jobs: JobStore,
        batches: BatchStore,
    ) -> None:
        self._corpora, self._indexes, self._references = corpora, indexes, references
        self._models, self._stages, self._jobs, self._batches = models, stages, jobs, batches
        self._cancelling = threading.Lock()

    def of_corpus(self, corpus_id: str, config: IndexConfig, name: str = "") -> BuildRequest:
        """Return the request for the index of a corpus in the index store, where it replaces the previous one with the
        same settings."""
        corpus = self._corpora.summary(corpus_id)
        return BuildRequest(
            self._corpora.all_documents(corpus_id),
            config,
            self._indexes.path(folder_name(corpus_id, config)),
            name or corpus.name,
            CorpusName(corpus.id, corpus.name),
            in_store=True,
            refusals=self._corpora.refused(corpus_id),
        )

    def run(self, request: BuildRequest, context: RunContext) -> Index:
        """Build the index in this process. Raises what build_index() does, InvalidConfig for unusable models."""
        models, config = context.models, request.config
        require_models(models, config)
        parse_tau(config.tau, heuristic=False)  # before anything is extracted, which may cost
        lineage = request.before.index.manifest.lineage if request.before else ()
        base, *above = layer_writers(config.aggregation_model or config.model, lineage)
        rewriters = ((writer.from_layer, models.language(writer.model, AGGREGATION)) for writer in above)
        language, aggregation = models.language(config.model, EXTRACTION), models.language(base.model, AGGREGATION)
        apply: Apply = ThreadMap(models.in_role(EXTRACTION).settings.concurrency)
        report, batches = context.report, None
        if context.as_batches:
            self._batches.delete_old()
            batches = Batches(self._batches, apply, index=request.out.name)
            language, aggregation = batches.model(language), batches.model(aggregation)
            apply, report = batches, batches.reporting(report)
        with opened(context.execution) as executor:
            build_models = BuildModels(
                models.embedding(config.embedding),
                language,
                aggregation,
                tuple((layer, model) for layer, model in rewriters if model is not None),
                apply,
                executor,
                self._stages,
                self._references.of(request.documents) if config.model == REFERENCE else None,
            )
            build_index(request, build_models, report)
        if batches is not None:
            batches.close()
        self._stages.trim(models.settings.stages_bytes)
        self._keep_corpus_name(request)
        return layout.read_index(request.out)

    def _keep_corpus_name(self, request: BuildRequest) -> None:
        """Give the index the name that its corpus was given while a first build ran: the renaming did not find it."""
        if not request.corpus.id:
            return
        with contextlib.suppress(CorpusNotFound, CorpusDamaged):  # it was deleted meanwhile
            now = self._corpora.summary(request.corpus.id).name
            if now not in (request.corpus.name, layout.read_manifest(request.out).corpus.name):
                layout.rename_corpus(request.out, now)

    def start(
        self,
        corpus_id: str,
        config: IndexConfig | None = None,
        name: str = "",
        *,
        budget: Budget | None = None,
        execution: Execution | None = None,
        as_batches: bool = False,
    ) -> str:
        """Start a job in a process of its own that builds the index of a corpus; return the job's id.

        It stops when the budget is spent. execution: where the work runs, by default as the settings say. as_batches:
        calls of language models go out in files, at half the price, and each round of them takes up to a day.
        """
        config, corpus = config or IndexConfig(), self._corpora.summary(corpus_id)
        if not corpus.documents:
            raise InvalidConfig("corpus.no_documents", name=corpus.name)
        require_models(self._models.make(budget=budget), config)
        parse_tau(config.tau, heuristic=False)
        if as_batches and not is_remote(config.model):
            raise InvalidConfig("batch.needs_endpoint")
        arguments = {"name": name, **self._models.job_terms(budget, execution)}
        if as_batches:
            arguments["batch"] = True
        return self._jobs.begin(name or corpus.name, corpus_id, asdict(config), arguments)

    def start_again(self, spec: JobSpec, budget: Budget | None = None) -> str:
        """Start a job that does the work of an ended build again, with the same result; answers that are stored are
        reused. budget: what it may spend, as much as the ended one by default."""
        return self.start(
            spec.corpus_id,
            recorded_config(spec.config).checked(),
            str(spec.arguments.get("name", "")),
            budget=budget or spec.argument(Budget, "budget"),
            execution=spec.argument(Execution, "execution"),
            as_batches=spec.arguments.get("batch") is True,
        )

    def cancel_batches(self, corpus_id: str, config: IndexConfig) -> None:
        """Have the providers end the batches that a job has sent for that index; what they have made by then is paid,
        and the next build reads it. One that cannot be reached is named on stderr. A second thread that calls this
        waits for the first, so that no process ends between a request and its record."""
        index = folder_name(corpus_id, config)
        models = self._models.make()
        build_models = (
            models.language(config.model, EXTRACTION),
            models.language(config.aggregation_model or config.model, AGGREGATION),
        )
        endpoints = [model.endpoint for model in build_models if isinstance(model, RemoteLanguageModel)]
        with self._cancelling:
            for error in cancel_batches(self._batches, index, endpoints):
                print(error, file=sys.stderr)

    def start_with_empty_chunks(self, index_id: str) -> str:
        """Start a job that builds the index again, asking again about the chunks in which nothing was found."""
        index, models = self._indexes.open(index_id), self._models.make()
        config = index.manifest.config.checked()
        forget_empty_chunks(index, config, models.language(config.model, EXTRACTION), self._models.calls)
        return self.start(index.manifest.corpus.id, config, index.manifest.name)

    def forecast(self, corpus_id: str, config: IndexConfig, *, dry_run: int = 0) -> Forecast:
        """Return what a build of the corpus takes. dry_run: number of chunks that a language model extracts first;
        their answers are kept, and sharpen the estimate. Raises InvalidConfig, EndpointError."""
        corpus, rows = self._corpora.summary(corpus_id), self._corpora.documents(corpus_id)
        if is_remote(config.model):
            documents, index = self._corpora.all_documents(corpus_id), folder_name(corpus_id, config)
            return forecast_endpoint_build(documents, config, self._models.make(index=index), dry_run=dry_run)
        # A few documents show how much of all is kept.
        n_looked_at = max(_DOCUMENTS_LOOKED_AT, _TOKENS_LOOKED_AT * len(rows) // max(1, corpus.tokens))
        n_looked_at = min(n_looked_at, _MOST_LOOKED_AT)
        looked_at = rows[:: max(1, -(-len(rows) // n_looked_at))]
        documents = [self._corpora.document(corpus_id, row.id) for row in looked_at]
        titles = (row.title for row in rows)
        return self._forecast_builtin(documents, titles, config, corpus.documents, corpus.tokens)

    def forecast_of(self, documents: Iterable[Document], config: IndexConfig, *, dry_run: int = 0) -> Forecast:
        """Return what forecast() does, for documents that are in no corpus."""
        document_list = list(documents)
        if is_remote(config.model):
            return forecast_endpoint_build(document_list, config, self._models.make(), dry_run=dry_run)
        n_tokens = sum(count_tokens(document.text) for document in document_list)
        return self._forecast_builtin(
            document_list, [document.title for document in document_list], config, len(document_list), n_tokens
        )

    def _forecast_builtin(
        self, documents: list[Document], titles: Iterable[str], config: IndexConfig, n_documents: int, n_tokens: int
    ) -> Forecast:
        tokens_of = {row.id: row.tokens for row in self._corpora.summaries()}
        models, jobs = self._models.make(), self._jobs.all()
        speeds = build_speeds(jobs, tokens_of, config.model, config.embedding)
        looked = look_at(documents, titles, config, models.embedding(config.embedding), self._stages)
        return forecast_builtin_build(n_documents, n_tokens, config, models.settings, speeds, looked)

    def size_effects(
        self, corpus_id: str, config: IndexConfig, sizes: Iterable[int], expected: Forecast | None = None
    ) -> SizeEffects:
        """Return the layers and texts that a build of the corpus would have with each clustersize. Entities and
        relations are those of its newest index with the same model, else estimated: as the forecast of the build has
        them where chunks were read for it, else from the corpus's tokens. Raises InvalidConfig."""
        known = [index for index in self._indexes.all() if index.corpus_id == corpus_id and index.layers[0].entities]
        alike = [index for index in known if index.config.model == config.model]
        if alike:
            base = alike[0].layers[0]
            effects = effects_of_sizes(base.entities, base.relations / base.entities, config, sizes)
            return SizeEffects(base.entities, True, effects)
        n_chunks_read = expected.sampled if expected is not None and is_remote(config.model) else 0
        relations_each = usual_relations(config.model)
        if expected is not None and n_chunks_read:
            entities, relations_each = expected.entities.expected, expected.relations_each or relations_each
        else:
            entities = entities_of_tokens(self._corpora.summary(corpus_id).tokens, config.model).expected
        effects = effects_of_sizes(entities, relations_each.expected, config, sizes)
        return SizeEffects(round(entities), False, effects, n_chunks_read)

    def seconds_with_other_tau(self, index: Index) -> Range:
        """Return the seconds that a build of the index with another tau takes when the results of earlier stages are
        reused; calls of a model are not counted. Raises InvalidConfig, CorpusNotFound."""
        config, corpus_id = index.manifest.config.checked(), index.manifest.corpus.id
        if is_remote(config.model):
            return kept_seconds(self._corpora.summary(corpus_id).tokens, config.embedding)
        return self.forecast(corpus_id, config).seconds

    def foreign_language(self, corpus_id: str) -> str:
        """Return the main language of the corpus where the built-in embedding does not know it; see mostly_foreign().
        Raises CorpusNotFound."""
        return mostly_foreign(self._corpora.languages(corpus_id))

    def has_reference(self, corpus_id: str) -> bool:
        """Tell whether a reference graph that comes with the program quotes documents of the corpus."""
        rows = self._corpora.documents(corpus_id)
        if len(rows) > FILES:  # the reference graphs of the program quote few documents each
            return False
        return self._references.covering(row.name for row in rows) is not None

    def sample_config(self, name: str) -> IndexConfig:
        """Return the settings of a sample corpus's first index: over its reference graph where that covers every
        document."""
        names = [document.name for document in self._corpora.documents(sample_id(name))]
        if not self._references.is_complete(names):
            return IndexConfig()
        return IndexConfig(model=REFERENCE, cluster_size=self._corpora.samples.cluster_size(name))

    def start_first_sample(self) -> str | None:
        """Put the prepared sample index in its place on a first start; where none is prepared for these settings, start
        its build and return the job's id. Return None with nothing more to do."""
        listed, begun = self._indexes.index_list(), ("queued", "running", "cancelled")
        jobs = self._jobs.all()
        if listed.indexes or listed.damaged or any(job.builds_index and job.status in begun for job in jobs):
            return None
        corpus = sample_id(FIRST_SAMPLE)
        config = IndexConfig(model=REFERENCE, cluster_size=self._corpora.samples.cluster_size(FIRST_SAMPLE))
        prepared = PREPARED / folder_name(corpus, config)
        if prepared.is_dir():
            self._stages.take(PREPARED_STAGES)
            copy_index(prepared, self._indexes.path(prepared.name))
            return None
        self._corpora.samples.read(FIRST_SAMPLE)
        return self.start(corpus, self.sample_config(FIRST_SAMPLE))

    def sample_index(self, name: str) -> tuple[str, str]:
        """Return the ids of a sample corpus's first index, built where it is missing, and of its question set."""
        self._corpora.samples.read(name)
        corpus, config = sample_id(name), self.sample_config(name)
        index_id = folder_name(corpus, config)
        if not self._indexes.manifest_id(index_id):
            self.run(self.of_corpus(corpus, config), self._models.context(index=index_id))
        return index_id, corpus


class BuildWork:
    """Builds the index that a job asks for, with its forecast and what models cost in the job's record."""

    def __init__(self, builds: Builds, indexes: Indexes, parts: Parts, models: ModelAccess) -> None:
        self._builds, self._indexes, self._parts, self._models = builds, indexes, parts, models

    def run(self, job: RunningJob) -> Done:
        """Build the index into the store; its id is the result."""
        spec, config = job.spec, recorded_config(job.spec.config).checked()
        index_id = folder_name(spec.corpus_id, config)
        as_batches = spec.arguments.get("batch") is True
        context = replace(self._models.job_context(job, index=index_id), as_batches=as_batches)
        expected = self._builds.forecast(spec.corpus_id, config)
        job.expect(in_batches(expected, config) if as_batches else expected)
        with metered(job, context.models, config):
            request = self._builds.of_corpus(spec.corpus_id, config, str(spec.arguments.get("name", "")))
            try:
                index = self._builds.run(request, context)
            except Cancelled:
                if as_batches and job.cancel_requested:  # not where the machine is shut down
                    self._builds.cancel_batches(spec.corpus_id, config)
                raise
        if len(index.layers[0]) >= _MAPPED_FROM and not job.cancel_requested:  # the index is complete without it
            job.report(Progress("map", 0, 0))
            try:
                self._indexes.map_places(index)
            except (ValueError, ArithmeticError, MemoryError) as error:
                print(error, file=sys.stderr)
        for part in self._parts.offered(index):  # by jobs of their own: questions need not wait for them
            try:
                self._parts.start(index_id, part)
            except LeanRAGError as error:  # the index is complete without it
                print(error, file=sys.stderr)
        counts = {**vars(index.manifest.counts), "empty_chunks": len(index.report.empty_chunks)}
        return Done(index_id, JobReport(counts, dict(index.report.drops)))

    def clean_up(self, spec: JobSpec) -> None:
        """Delete the half-built index, and end the batches that were sent for it."""
        config = recorded_config(spec.config).checked()
        try:
            if spec.arguments.get("batch") is True:
                self._builds.cancel_batches(spec.corpus_id, config)
        finally:  # last, since the work may still write
            give_up_staging(self._indexes.path(folder_name(spec.corpus_id, config)))
