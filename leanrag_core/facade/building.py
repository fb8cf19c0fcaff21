"""Forecasts, builds and jobs."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from leanrag_core.errors import InvalidConfig
from leanrag_core.facade.importing import Importing
from leanrag_core.facade.sweeping import Sweeping
from leanrag_core.facade.taking_index import takes_index
from leanrag_core.facade.updating import Updating
from leanrag_core.indexing.forecasting.growth import (
    SizeEffects,
    effects_of_sizes,
    entities_of_tokens,
    relations_an_entity,
)
from leanrag_core.jobs import runner
from leanrag_core.jobs.kinds import BUILD, COMPARE_FRESH, EXPERIMENT, IMPORT, PART, SWEEP, UPDATE
from leanrag_core.jobs.work import Work
from leanrag_core.models.registry import Models, require_models
from leanrag_core.services.samples import FIRST_SAMPLE, sample_id
from leanrag_core.storage.indexes import folder_name
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Document, Refusal
from leanrag_core.types.execution import Execution
from leanrag_core.types.forecast import Forecast, Range
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobState
from leanrag_core.types.model_names import REFERENCE, is_remote
from leanrag_core.types.progress import Report, silent
from leanrag_core.types.recorded_config import recorded_config
from leanrag_core.types.spending import Budget
from leanrag_core.types.summary import (
    CorpusSummary,
)
from leanrag_core.work.base import argument
from leanrag_core.work.build import BuildWork
from leanrag_core.work.compare_fresh import CompareFreshWork
from leanrag_core.work.experiment import ExperimentWork
from leanrag_core.work.import_graph import ImportWork
from leanrag_core.work.part import PartWork
from leanrag_core.work.sweep import SweepWork
from leanrag_core.work.update import UpdateWork

if TYPE_CHECKING:
    from leanrag_core.indexing.forecasting.relation_calls import RelationCalls


class Building(Importing, Sweeping, Updating):
    """Forecasts, builds and jobs. See Workbench."""

    def forecast(self, corpus_id: str, config: IndexConfig, *, dry_run: int = 0) -> Forecast:
        """What a build of the corpus takes. dry_run: so many chunks are extracted first by a language model, and their
        answers kept, which sharpens the estimate. Raises InvalidConfig, EndpointError."""
        return self._builds.forecast(corpus_id, config, dry_run=dry_run)

    def forecast_of(self, documents: Iterable[Document], config: IndexConfig, *, dry_run: int = 0) -> Forecast:
        """forecast() of documents that are in no corpus."""
        return self._builds.forecast_of(documents, config, dry_run=dry_run)

    def size_effects(self, corpus_id: str, config: IndexConfig, sizes: Iterable[int]) -> SizeEffects:
        """Layers and texts that a build of the corpus would have with each clustersize. Entities and relations are
        those of its newest index with the same model, else estimated from its tokens. Raises InvalidConfig."""
        known = [index for index in self.indexes() if index.corpus_id == corpus_id and index.layers[0].entities]
        alike = [index for index in known if index.config.model == config.model]
        if alike:
            base = alike[0].layers[0]
            effects = effects_of_sizes(base.entities, base.relations / base.entities, config, sizes)
            return SizeEffects(base.entities, True, effects)
        entities = entities_of_tokens(self.corpus(corpus_id).tokens).expected
        effects = effects_of_sizes(entities, relations_an_entity(0, 0).expected, config, sizes)
        return SizeEffects(round(entities), False, effects)

    def build(
        self,
        corpus_id: str,
        config: IndexConfig | None = None,
        *,
        name: str = "",
        report: Report = silent,
        models: Models | None = None,
        execution: Execution | None = None,
    ) -> Index:
        """An index of the corpus, built in this process. The same corpus and settings replace the index of before.

        execution: who does the work, as the settings say by default; the index is the same.
        """
        return self._builds.build(
            corpus_id, config or IndexConfig(), name=name, report=report, models=models, execution=execution
        )

    def build_documents(
        self,
        documents: Sequence[Document],
        config: IndexConfig,
        out: Path,
        *,
        models: Models,
        name: str,
        corpus: CorpusSummary | None = None,
        refusals: Sequence[Refusal] = (),
        report: Report = silent,
        execution: Execution | None = None,
    ) -> Index:
        """An index of the documents in the folder `out`, built in this process.

        corpus: that of the documents, when `out` is in the index store; None for a folder of the person's own.
        """
        return self._builds.build_documents(
            documents,
            config,
            out,
            models=models,
            name=name,
            corpus=corpus,
            refusals=refusals,
            report=report,
            execution=execution,
        )

    def is_built(self, out: Path, config: IndexConfig, documents: Sequence[Document]) -> bool:
        """Whether the folder holds the index of these documents with these settings."""
        return self._builds.is_built(out, config, documents)

    def start_build(
        self,
        corpus_id: str,
        config: IndexConfig | None = None,
        name: str | None = None,
        *,
        budget: Budget | None = None,
        execution: Execution | None = None,
    ) -> str:
        """A job in a process of its own builds the index; returns the job's id. It stops when the budget is spent.

        execution: see build().
        """
        config, corpus = config or IndexConfig(), self.corpus(corpus_id)
        if not corpus.documents:
            raise InvalidConfig("corpus.no_documents", name=corpus.name)
        require_models(self.models(budget=budget), config)
        arguments = {
            "name": name or "",
            "budget": asdict(budget or Budget()),
            "execution": asdict(execution or self.settings().execution),
        }
        return self.job_store.begin(name or corpus.name, corpus_id, asdict(config), arguments)

    @takes_index
    def seconds_with_other_tau(self, index: Index) -> Range:
        """Seconds of a build of the index with another tau, what earlier stages made being kept; calls of a model are
        not in it. Raises InvalidConfig, CorpusNotFound."""
        config, corpus_id = index.manifest.config.checked(), index.manifest.corpus.id
        if is_remote(config.model):
            from leanrag_core.indexing.forecasting.builtin import kept_seconds

            return kept_seconds(self.corpus(corpus_id).tokens)
        return self.forecast(corpus_id, config).seconds

    @takes_index
    def relation_calls(self, index: Index, number: int) -> "RelationCalls | None":
        """The calls that summarising the relations of layer `number` takes, those with stored answers among them; None
        where no model at an endpoint writes them. Nothing is asked of it. Raises StorageFailed, IndexDamaged."""
        from leanrag_core.indexing.forecasting.relation_calls import relation_calls

        return relation_calls(index, number, self.models(), self.calls)

    def run_job(self, folder: Path) -> int:
        """Do the job of that folder in this process; returns the exit code."""
        return runner.run(folder, self.works())

    def works(self) -> dict[str, Work]:
        """The work of each kind of job, by the kind's name."""
        return {
            BUILD.name: BuildWork(self),
            PART.name: PartWork(self),
            IMPORT.name: ImportWork(self),
            EXPERIMENT.name: ExperimentWork(self),
            UPDATE.name: UpdateWork(self),
            COMPARE_FRESH.name: CompareFreshWork(self),
            SWEEP.name: SweepWork(self),
        }

    def jobs(self) -> list[JobState]:
        """All jobs, the newest first."""
        return self.job_store.all()

    def job(self, job_id: str) -> JobState:
        """The state of a job. Raises JobNotFound."""
        return self.job_store.job(job_id)

    def job_log(self, job_id: str) -> str:
        """What the job's process printed."""
        return self.job_store.log(job_id)

    def cancel(self, job_id: str) -> None:
        """The job stops within two seconds and leaves nothing half-finished."""
        self.job_store.cancel(job_id)

    def resume(self, job_id: str, *, budget: Budget | None = None) -> str:
        """A new job does the work of an ended one again, with the same result; answers that are stored are reused.

        budget: what the new job may spend, as much as the ended one by default.
        """
        spec = self.job_store.spec(job_id)
        if spec.kind != BUILD.name:
            return self.job_store.repeat(job_id, budget)
        return self.start_build(
            spec.corpus_id,
            recorded_config(spec.config).checked(),
            str(spec.arguments.get("name", "")) or None,
            budget=budget or argument(Budget, spec, "budget"),
            execution=argument(Execution, spec, "execution"),
        )

    def run_empty_chunks_again(self, index_id: str) -> str:
        """A job builds the index again, asking again about the chunks in which nothing was found; returns its id."""
        from leanrag_core.indexing.empty_chunks import forget_empty_chunks

        index = self.open(index_id)
        config = index.manifest.config.checked()
        forget_empty_chunks(index, config, self.models().language(config.model), self.calls)
        return self.start_build(index.manifest.corpus.id, config, index.manifest.name)

    def ensure_sample_index(self) -> str | None:
        """On a first start the sample index is being built; returns the job's id, None when there is nothing to do."""
        listed, begun = self.index_list(), ("queued", "running", "cancelled")
        if listed.indexes or listed.damaged or any(job.builds_index and job.status in begun for job in self.jobs()):
            return None
        self._samples.read(FIRST_SAMPLE)
        return self.start_build(sample_id(FIRST_SAMPLE), self.sample_config(FIRST_SAMPLE))

    def sample_names(self) -> tuple[str, ...]:
        """Names of the sample corpora that have questions."""
        return tuple(id_.removeprefix(sample_id("")) for id_ in self._samples.ids() if self._samples.questions(id_))

    def sample_index(self, name: str) -> tuple[str, str]:
        """Ids of a sample corpus's first index and of its question set; the index is built where it is missing."""
        self._samples.read(name)
        corpus, config = sample_id(name), self.sample_config(name)
        index_id = folder_name(corpus, config)
        if not self.index_store.manifest_id(index_id):
            self.build(corpus, config)
        return index_id, corpus

    def sample_config(self, name: str) -> IndexConfig:
        """The settings of a sample corpus's first index: over its reference graph where that covers every document."""
        names = [document.name for document in self.documents(sample_id(name))]
        return IndexConfig(model=REFERENCE) if self._references.is_complete(names) else IndexConfig()
