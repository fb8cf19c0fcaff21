"""The facade: wires stores, models and jobs; pages and command line go through it."""

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leanrag_core.builds import Builds
from leanrag_core.errors import InvalidConfig, ModelUnavailable
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.index_parts import IndexParts
from leanrag_core.indexing.parsing.confined import ConfinedParser
from leanrag_core.indexing.parsing.limits import parse_limits
from leanrag_core.indexing.parsing.upload import known
from leanrag_core.jobs import runner
from leanrag_core.jobs.kinds import BUILD, PART
from leanrag_core.jobs.store import JobStore
from leanrag_core.jobs.work import Work
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.models.registry import Models, require_models
from leanrag_core.models.request_form import LearntForms
from leanrag_core.queries.index_titles import with_titles
from leanrag_core.questions import Questions
from leanrag_core.retrieval.base import StrategyList, strategies
from leanrag_core.samples import FIRST_SAMPLE, Samples, sample_id
from leanrag_core.storage import layout
from leanrag_core.storage.calls import CallStore
from leanrag_core.storage.chroma_address import ChromaSeen
from leanrag_core.storage.corpora import CorpusStore
from leanrag_core.storage.indexes import IndexStore
from leanrag_core.storage.recorded_runs import read_run, write_run
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.storage.settings import read_settings, write_settings
from leanrag_core.storage.stages import StageStore
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Document, Refusal
from leanrag_core.types.execution import Execution
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobState
from leanrag_core.types.model_names import BUILTIN
from leanrag_core.types.part import PartRecord, PartState
from leanrag_core.types.progress import Report, silent
from leanrag_core.types.recorded_config import recorded_config
from leanrag_core.types.recorded_run import RecordedRun
from leanrag_core.types.settings import Settings
from leanrag_core.types.spending import Budget
from leanrag_core.types.summary import (
    CorpusSummary,
    Damaged,
    DocumentSummary,
    IndexList,
    IndexSummary,
    UploadReport,
)
from leanrag_core.types.trace import Answer, Trace
from leanrag_core.uploads import File, add_files
from leanrag_core.work.base import argument
from leanrag_core.work.build import BuildWork
from leanrag_core.work.part import PartWork

if TYPE_CHECKING:
    from leanrag_core.checking.check import CheckResult
    from leanrag_core.execution.cluster_status import ClusterStatus
    from leanrag_core.extensions import BrokenExtension
    from leanrag_core.indexing.model_check import ModelCheck
    from leanrag_core.models.probing import Probe

PROJECT = Path(__file__).resolve().parent.parent
SAMPLE_CONFIG = IndexConfig()


def open_index(path: str | Path) -> Index:
    """The index in that directory, read-only; no workbench is needed.

    Raises IndexNotFound, IndexDamaged or IndexTooNew, each with what to do.
    """
    return layout.read_index(Path(path))


class Workbench:
    """Corpora, indexes and jobs below one folder, and the models that work on them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.corpus_store = CorpusStore(root / "corpora")
        self.index_store = IndexStore(root / "indexes")
        self.job_store = JobStore(root / "jobs", PROJECT)
        self.calls = CallStore(root / "calls")
        self.stages = StageStore(root / "stages")
        self.searches = SearchStore()
        self._samples = Samples(self.corpus_store, self.parser)
        self._builds = Builds(self.corpus_store, self.index_store, self.stages, self.models, self.jobs)
        self._questions = Questions(self.settings, self.models, self.searches, self.part)
        self._parts = IndexParts(self.models, self._questions.embedding, self.searches)
        self._parser: ConfinedParser | None = None
        self._forms = LearntForms()
        self._changing_settings = threading.Lock()
        self._choosing_parser = threading.Lock()

    @classmethod
    def default(cls, root: str | Path | None = None) -> "Workbench":
        """The workbench in `root`, else in the folder that LEANRAG_HOME names, else in cache/ beside the app."""
        return cls(Path(root or os.environ.get("LEANRAG_HOME") or PROJECT / "cache").resolve())

    # Models

    def settings(self) -> Settings:
        """The settings file, an address that it leaves open being OPENAI_BASE_URL."""
        settings = read_settings(self.root / "settings.json")
        return settings if settings.base_url else replace(settings, base_url=os.environ.get("OPENAI_BASE_URL", ""))

    def save_settings(self, settings: Settings) -> None:
        """The settings hold from the next model call on, for jobs from their start."""
        write_settings(self.root / "settings.json", settings)
        self._forms = LearntForms()
        self._questions.forget_models()

    def change_settings(self, change: Callable[[Settings], Settings]) -> None:
        """The settings are what `change` makes of those in the file, which leave open what the environment names.

        One change at a time: a page that is drawn again runs beside its former run until that one notices. Raises
        InvalidConfig for a damaged file or a setting out of its bounds, StorageFailed.
        """
        with self._changing_settings:
            self.save_settings(change(read_settings(self.root / "settings.json")))

    def models(self, *, budget: Budget | None = None, index: str = "", needed_by: IndexConfig | None = None) -> Models:
        """The models of one piece of work. index: for which index its calls are kept. needed_by: settings of a build
        that is to follow; InvalidConfig or ModelUnavailable where it would meet a model that it cannot use."""
        models = Models(self.settings(), self.calls, budget or Budget(), index, self._forms)
        if needed_by is not None:
            require_models(models, needed_by)
            models.language(needed_by.model)
            models.embedding(needed_by.embedding)
        return models

    def check_model(self, model: str, passage: str, config: IndexConfig | None = None) -> "ModelCheck":
        """What the endpoint's model of that name makes of one passage. Raises EndpointError, InvalidConfig."""
        from leanrag_core.indexing.model_check import check_model

        return check_model(self.models(), model, passage, config or IndexConfig())

    def probe_concurrency(self, model: str) -> "Probe":
        """How many calls in flight the endpoint can use. Raises EndpointError."""
        from leanrag_core.models.probing import probe_concurrency

        return probe_concurrency(self.models().endpoint, model)

    def cluster_status(self, scheduler: str) -> "ClusterStatus":
        """The workers of that Dask scheduler. Raises ClusterUnavailable, InvalidConfig."""
        from leanrag_core.execution.cluster_status import read_cluster_status

        return read_cluster_status(scheduler)

    def look_at_chroma(self, url: str) -> ChromaSeen:
        """What the Chroma server at that address says of itself. Raises SearchIndexFailed, InvalidConfig."""
        return self.searches.servers.look_at(url)

    def forecast(self, corpus_id: str, config: IndexConfig, *, dry_run: int = 0) -> Forecast:
        """What a build of the corpus takes. dry_run: so many chunks are extracted first by a language model, and their
        answers kept, which sharpens the estimate. Raises InvalidConfig, EndpointError."""
        return self._builds.forecast(corpus_id, config, dry_run=dry_run)

    def forecast_of(self, documents: Iterable[Document], config: IndexConfig, *, dry_run: int = 0) -> Forecast:
        """forecast() of documents that are in no corpus."""
        return self._builds.forecast_of(documents, config, dry_run=dry_run)

    # Corpora

    def parser(self, settings: Settings | None = None) -> ConfinedParser:
        """Reads files under the limits of the settings, in processes that all sessions share."""
        limits = parse_limits(settings or self.settings())
        with self._choosing_parser:
            if self._parser is None or self._parser.limits != limits:
                self._parser = ConfinedParser(limits)
            return self._parser

    def corpora(self) -> list[CorpusSummary]:
        """All corpora, the sample ones first."""
        self._samples.read_all()
        return self.corpus_store.summaries()

    def corpus(self, corpus_id: str) -> CorpusSummary:
        """The corpus's card. Raises CorpusNotFound."""
        return self.corpus_store.summary(corpus_id)

    def create_corpus(self, name: str) -> str:
        """An empty corpus of that name; returns its id."""
        return self.corpus_store.create(name)

    def documents(self, corpus_id: str) -> list[DocumentSummary]:
        """The corpus's documents without their texts, by name."""
        return self.corpus_store.documents(corpus_id)

    def document(self, corpus_id: str, document_id: str) -> Document:
        """One document with its text."""
        return self.corpus_store.document(corpus_id, document_id)

    def formats(self) -> str:
        """The formats of files that are read, for a person."""
        return known()

    def add_documents(self, corpus: str, files: Iterable[File]) -> UploadReport:
        """Adds the readable files to the corpus; reports the others with their reasons.

        corpus: an id, or the name of a corpus to make. files: paths, or (name, content) of an upload.
        """
        return add_files(self.corpus_store, self.parser(), corpus, files)

    def refused_files(self, corpus_id: str) -> list[Refusal]:
        """Files that were added to the corpus and could not be read; reports of its builds list them."""
        return self.corpus_store.refused(corpus_id)

    def remove_document(self, corpus_id: str, document_id: str) -> None:
        """The document is no longer in the corpus; indexes built with it stay as they are."""
        self.corpus_store.remove(corpus_id, document_id)

    def damaged_corpora(self) -> list[Damaged]:
        """Corpora whose record does not read."""
        return self.corpus_store.damaged()

    def delete_corpus(self, corpus_id: str) -> None:
        """The corpus is gone; its indexes stay. Raises InvalidConfig for a sample corpus."""
        damaged = {corpus.id for corpus in self.damaged_corpora()}
        if corpus_id not in damaged and self.corpus(corpus_id).sample:
            raise InvalidConfig("sample corpora belong to the program and stay")
        self.corpus_store.delete(corpus_id)

    def questions(self, corpus_id: str) -> tuple[GoldQuestion, ...]:
        """The question set that comes with a sample corpus; empty for another corpus."""
        return self._samples.questions(corpus_id)

    # Building

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

    def import_graph(
        self,
        path: str | Path,
        format_name: str = "plain",
        config: IndexConfig | None = None,
        *,
        out: Path | None = None,
        name: str = "",
        models: Models | None = None,
        report: Report = silent,
        execution: Execution | None = None,
    ) -> Index:
        """An index over the graph at that path, which another program made; built in this process.

        format_name: of an importer (importing.base). out: a folder of the person's own, else the index store. Raises
        ImportFailed for files that cannot be read, InvalidConfig for an unknown format.
        """
        return self._builds.import_graph(
            path,
            format_name,
            config or IndexConfig(),
            out=out,
            name=name,
            models=models,
            report=report,
            execution=execution,
        )

    def is_built(self, out: Path, config: IndexConfig, documents: Sequence[Document]) -> bool:
        """Whether the folder holds the index of these documents with these settings."""
        from leanrag_core.indexing.built import is_built

        return is_built(out, config, documents)

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
            raise InvalidConfig(f"{corpus.name} has no documents: add some in the Library")
        require_models(self.models(budget=budget), config)
        arguments = {
            "name": name or "",
            "budget": asdict(budget or Budget()),
            "execution": asdict(execution or self.settings().execution),
        }
        return self.job_store.begin(name or corpus.name, corpus_id, asdict(config), arguments)

    def run_job(self, folder: Path) -> int:
        """Do the job of that folder in this process; returns the exit code."""
        return runner.run(folder, self.works())

    def works(self) -> dict[str, Work]:
        """The work of each kind of job, by the kind's name."""
        return {BUILD.name: BuildWork(self), PART.name: PartWork(self)}

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
        return self.start_build(sample_id(FIRST_SAMPLE), SAMPLE_CONFIG)

    # Indexes

    def index_path(self, index_id: str) -> Path:
        """The folder of an index. Raises IndexNotFound for an id that could leave the store."""
        return self.index_store.path(index_id)

    def indexes(self) -> list[IndexSummary]:
        """The indexes that read, the newest first. The id is the folder's name."""
        return list(self.index_list().indexes)

    def index_list(self) -> IndexList:
        """All indexes; one that does not read hides none of the others."""
        listed = self.index_store.index_list()
        return replace(listed, indexes=with_titles(listed.indexes))

    def index_summary(self, index_id: str) -> IndexSummary:
        """The index's row in a list."""
        return self.index_store.summary(index_id)

    def open(self, index_id: str) -> Index:
        """The index of that id, read-only."""
        return self.index_store.open(index_id)

    def share_without_grammar(self, index: Index) -> float:
        """The share of chunks that the built-in extractor reads without grammar, since they are not in English."""
        from leanrag_core.indexing.extraction.builtin import share_without_grammar

        return share_without_grammar(index)

    def rename_index(self, index_id: str, name: str) -> None:
        """Renames the index."""
        self.index_store.rename(index_id, name)

    def delete_index(self, index_id: str) -> None:
        """The index is gone, a damaged one too, and with it what a Chroma server holds of it. Raises IndexNotFound,
        SearchIndexFailed when the server keeps its part."""
        own = self.index_store.manifest_id(index_id)
        self.index_store.delete(index_id)
        url = self.settings().chroma_url
        if url and own and own not in {self.index_store.manifest_id(index.id) for index in self.indexes()}:
            self.searches.servers.remove_collections(url, own)

    def check(self, path: str | Path) -> "list[CheckResult]":
        """Every invariant of the index in that directory, verified. Nothing is asked of an endpoint. Raises
        IndexNotFound, IndexTooNew."""
        from leanrag_core.checking.check import check_directory

        def embedding(name: str, fingerprint: str) -> EmbeddingModel:
            if name != BUILTIN:
                raise ModelUnavailable("its texts would be sent to an endpoint again")
            return self._questions.embedding(name, fingerprint)

        return check_directory(Path(path), embedding)

    # Parts of indexes

    def parts(self, index_id: str) -> tuple[PartState, ...]:
        """The parts that the index has or may have, with what they cost."""
        return self.parts_of(self.open(index_id))

    def parts_of(self, index: Index) -> tuple[PartState, ...]:
        """parts() of an index that need not be in the store."""
        return self._parts.all(index)

    def offered_parts(self, index: Index) -> tuple[str, ...]:
        """Names of the parts that the index should have and does not."""
        return self._parts.offered(index)

    def broken_parts(self) -> "tuple[BrokenExtension, ...]":
        """Files of parts that cannot be used, and why."""
        return self._parts.broken()

    def forecast_part(self, index: Index, name: str, options: Mapping[str, Any] | None = None) -> Forecast:
        """What making the part takes. Raises InvalidConfig."""
        return self._parts.forecast(index, name, options)

    def build_part(
        self,
        index: Index,
        name: str,
        options: Mapping[str, Any] | None = None,
        *,
        models: Models | None = None,
        report: Report = silent,
    ) -> PartRecord:
        """Makes the part in this process, unless the index has it; returns its record.

        Raises InvalidConfig, PartMissing, StorageFailed, BudgetSpent, and errors of the part's own.
        """
        return self._parts.build(index, name, options, models=models, report=report)

    def start_part(
        self, index_id: str, name: str, options: Mapping[str, Any] | None = None, *, budget: Budget | None = None
    ) -> str:
        """A job in a process of its own makes the part; returns the job's id. Raises InvalidConfig for an unknown part
        or option."""
        index = self.open(index_id)
        title = self._parts.job_title(index, name, options or {})
        config = {"index": index_id, "part": name, "options": dict(options or {})}
        return self.job_store.begin(
            title, index.manifest.corpus.id, config, {"budget": asdict(budget or Budget())}, PART
        )

    def part(self, index: Index, name: str) -> Any:
        """What strategies get of the part. Raises PartMissing, PartDamaged."""
        return self._parts.read(index, name)

    def delete_part(self, index: Index, name: str, fingerprint: str) -> None:
        """Deletes that version of the part; questions go on without it. Raises StorageFailed."""
        self._parts.delete(index, name, fingerprint)

    # Questions

    def strategies(self) -> StrategyList:
        """The strategies that can answer a question, LeanRAG first, and the files that hold none."""
        return strategies()

    def retrieve(
        self,
        index: Index,
        question: str,
        strategy_name: str = "leanrag",
        *,
        budget: Budget | None = None,
        report: Report = silent,
        cancelled: Callable[[], None] | None = None,
        **options: Any,
    ) -> Trace:
        """What the strategy retrieves for the question. Raises InvalidConfig, ModelMismatch, and for strategies that
        call a model BudgetSpent and what `cancelled` raises."""
        return self._questions.retrieve(
            index, question, strategy_name, options, budget=budget, report=report, cancelled=cancelled
        )

    def naming_damage(self, index: Index) -> AbstractContextManager[None]:
        """An error of the block becomes IndexDamaged where a file of the index turns out to have been changed."""
        return self._questions.naming_damage(index)

    def read_ahead(self, index: Index) -> None:
        """The search index of a large base layer is read; not the model that embeds questions. Raises SearchIndexFailed
        when it does not answer."""
        self._questions.read_ahead(index)

    def choose_search_server(self) -> None:
        """Search indexes are asked where the settings say."""
        self._questions.choose_search_server()

    def question_vector(self, index: Index, question: str) -> np.ndarray:
        """(d,) unit vector of the question by the model that the index was built with. Raises InvalidConfig for a
        question that is empty or too long, ModelMismatch."""
        return self._questions.question_vector(index, question)

    def answer(self, index: Index, trace: Trace) -> Answer:
        """The answer to a trace's question: the strategy's own, else from the context alone."""
        return self._questions.answer(index, trace)

    def kept_answer(self, index: Index, trace: Trace) -> Answer | None:
        """answer() where no model at an endpoint needs to be asked: None when one would be."""
        return self._questions.kept_answer(index, trace)

    def stream_answer(self, index: Index, trace: Trace, on_text: Callable[[str], None]) -> Answer:
        """answer(), piece by piece where a language model writes it; extractive answers come in one piece."""
        return self._questions.stream_answer(index, trace, on_text)

    def ask(self, index: Index, question: str, strategy_name: str = "leanrag", **options: Any) -> Answer:
        """Retrieve and answer."""
        return self.answer(index, self.retrieve(index, question, strategy_name, **options))

    def save_run(self, path: Path, trace: Trace, answer: Answer | None = None) -> None:
        """Writes a recorded run, which open_run() reads without index and model. Raises StorageFailed."""
        write_run(path, RecordedRun(trace, answer))

    def open_run(self, path: Path) -> RecordedRun:
        """The recorded run of that file. Raises RunNotFound, RunTooNew, RecordDamaged."""
        return read_run(path)
