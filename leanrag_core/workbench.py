"""The one door: wires stores, models and jobs; pages and command line go through it."""

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from leanrag_core import answering
from leanrag_core.errors import CorpusNotFound, InvalidConfig, ModelMismatch, ModelUnavailable
from leanrag_core.indexing.parsing.confined import ConfinedParser
from leanrag_core.indexing.parsing.limits import parse_limits
from leanrag_core.indexing.parsing.upload import known
from leanrag_core.indexing.reading import files_below, read_files, read_uploads
from leanrag_core.jobs import events, runner
from leanrag_core.jobs.store import JobStore
from leanrag_core.models.base import EmbeddingModel, LanguageModel
from leanrag_core.models.metering import Budget
from leanrag_core.models.registry import BUILTIN, Models, require_models
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.models.request_form import LearntForms
from leanrag_core.prompts.book import PromptBook
from leanrag_core.queries.index_titles import with_titles
from leanrag_core.retrieval.base import Query, StrategyInfo, require_question, strategies, strategy
from leanrag_core.retrieval.vector_search import read_ahead
from leanrag_core.storage import layout
from leanrag_core.storage.calls import CallStore
from leanrag_core.storage.chroma_server import (
    ChromaSeen,
    connect_to_server,
    connect_where_it_stands,
    look_at_server,
    remove_collections,
)
from leanrag_core.storage.corpora import CorpusStore
from leanrag_core.storage.digests import damage_named
from leanrag_core.storage.indexes import IndexStore, folder_name
from leanrag_core.storage.search_index import connect_by, connect_to_files
from leanrag_core.storage.settings import read_settings, write_settings
from leanrag_core.storage.staging import give_up_staging
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Document, Refusal
from leanrag_core.types.execution import Execution
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.index import Index
from leanrag_core.types.progress import Progress, Report, silent
from leanrag_core.types.settings import Settings
from leanrag_core.types.summary import (
    CorpusSummary,
    Damaged,
    DocumentSummary,
    IndexList,
    IndexSummary,
    JobState,
    UploadReport,
)
from leanrag_core.types.trace import Answer, Trace

if TYPE_CHECKING:
    from leanrag_core.checking.check import CheckResult
    from leanrag_core.execution.look import ClusterSeen
    from leanrag_core.indexing.model_check import ModelCheck
    from leanrag_core.models.probing import Probe

PROJECT = Path(__file__).resolve().parent.parent
SAMPLES = PROJECT / "sample_corpora"
FIRST_SAMPLE = "agriculture"  # the corpus whose index is built on first start
SAMPLE_CONFIG = IndexConfig()

_OTHER_VERSION = "these settings are of another version of the program: build with new ones"

File = Path | str | tuple[str, bytes]
T = TypeVar("T")


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
        self._embeddings: dict[tuple[str, str], EmbeddingModel] = {}  # by name and fingerprint
        self._parser: ConfinedParser | None = None
        self._forms = LearntForms()
        self._reading_samples = threading.Lock()
        self._changing_settings = threading.Lock()
        self._choosing = threading.Lock()  # of embedding models and of the search server, once for all sessions

    @classmethod
    def default(cls, root: str | Path | None = None) -> "Workbench":
        """The workbench in `root`, else in the folder that LEANRAG_HOME names, else in cache/ beside the app."""
        return cls(Path(root or os.environ.get("LEANRAG_HOME") or PROJECT / "cache").resolve())

    @property
    def batches(self) -> Path:
        """Where the batches that workers have finished are kept until their build is done."""
        return self.root / "batches"

    # Models

    def settings(self) -> Settings:
        """The settings file, an address that it leaves open being OPENAI_BASE_URL."""
        settings = read_settings(self.root / "settings.json")
        return settings if settings.base_url else replace(settings, base_url=os.environ.get("OPENAI_BASE_URL", ""))

    def save_settings(self, settings: Settings) -> None:
        """The settings hold from the next model call on, for jobs from their start."""
        write_settings(self.root / "settings.json", settings)
        with self._choosing:
            self._embeddings.clear()
            self._forms = LearntForms()

    def change_settings(self, change: Callable[[Settings], Settings]) -> None:
        """The settings are what `change` makes of those in the file, which leave open what the environment names.

        One change at a time: a page that is drawn anew runs beside its former run until that one notices. Raises
        InvalidConfig for a damaged file or a setting out of its bounds, StorageFailed.
        """
        with self._changing_settings:
            self.save_settings(change(read_settings(self.root / "settings.json")))

    def models(self, *, budget: Budget | None = None, index: str = "") -> Models:
        """The models of one piece of work. index: for which index its calls are kept."""
        return Models(self.settings(), self.calls, budget or Budget(), index, self._forms)

    def check_model(self, model: str, passage: str, config: IndexConfig | None = None) -> "ModelCheck":
        """What the endpoint's model of that name makes of one passage. Raises EndpointError, InvalidConfig."""
        from leanrag_core.indexing.model_check import check_model

        return check_model(self.models(), model, passage, config or IndexConfig())

    def probe_concurrency(self, model: str) -> "Probe":
        """How many calls in flight the endpoint can use. Raises EndpointError."""
        from leanrag_core.models.probing import probe_concurrency

        return probe_concurrency(self.models().endpoint, model)

    def look_at_cluster(self, scheduler: str) -> "ClusterSeen":
        """Who works at that Dask scheduler. Raises ClusterUnavailable, InvalidConfig."""
        from leanrag_core.execution.look import look_at_cluster

        return look_at_cluster(scheduler)

    def look_at_chroma(self, url: str) -> ChromaSeen:
        """What the Chroma server at that address says of itself. Raises SearchIndexFailed, InvalidConfig."""
        return look_at_server(url)

    def forecast(self, corpus_id: str, config: IndexConfig, *, dry_run: int = 0) -> Forecast | None:
        """What an LLM build will cost; None for the built-in engine. dry_run: so many chunks are extracted first, for
        good, which sharpens the estimate. Raises InvalidConfig, EndpointError."""
        documents = [self.document(corpus_id, row.id) for row in self.documents(corpus_id)]
        return self.forecast_of(documents, config, dry_run=dry_run, index=folder_name(corpus_id, config))

    def forecast_of(
        self, documents: Iterable[Document], config: IndexConfig, *, dry_run: int = 0, index: str = ""
    ) -> Forecast | None:
        """forecast() of documents that are in no corpus."""
        from leanrag_core.indexing.forecast import forecast

        return forecast(list(documents), config, self.models(index=index), dry_run=dry_run)

    # Corpora

    def parser(self, settings: Settings | None = None) -> ConfinedParser:
        """Reads files under the limits of the settings, in processes that all sessions share."""
        limits = parse_limits(settings or self.settings())
        with self._choosing:
            if self._parser is None or self._parser.limits != limits:
                self._parser = ConfinedParser(limits)
            return self._parser

    def corpora(self) -> list[CorpusSummary]:
        """All corpora, the sample ones first."""
        for name in self._sample_files:
            self._read_sample(name)
        return self.corpus_store.summaries()

    @cached_property
    def _sample_files(self) -> dict[str, list[Path]]:
        return {
            folder.name: files_below([folder / "documents"])
            for folder in sorted(SAMPLES.iterdir())
            if (folder / "corpus.json").is_file()
        }

    def _read_sample(self, name: str) -> None:
        """The sample corpus is in the store, read again when its files have changed."""
        files = self._sample_files[name]
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
        corpus_id = f"sample-{name}"
        with self._reading_samples:  # Streamlit runs a page anew while its last run is still reading
            if self.corpus_store.source(corpus_id) != digest:
                self._read_anew(name, digest)

    def _read_anew(self, name: str, digest: str) -> None:
        files, corpus_id = self._sample_files[name], f"sample-{name}"
        about = json.loads((SAMPLES / name / "corpus.json").read_text(encoding="utf-8"))
        parsed = read_files(files, self.parser())
        self.corpus_store.create(about["title"], corpus_id=corpus_id, description=about["description"], sample=True)
        self.corpus_store.add(corpus_id, parsed.documents, source=digest)

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
        """The formats of files that are read, as they are told."""
        return known()

    def add_documents(self, corpus: str, files: Iterable[File]) -> UploadReport:
        """The readable files are in the corpus; the others are told with their reasons.

        corpus: an id, or the name of a corpus to make. files: paths, or (name, content) of an upload.
        """
        every = list(files)  # an iterator is walked once
        named = [file for file in every if isinstance(file, tuple)]
        paths = [Path(file) for file in every if not isinstance(file, tuple)]
        parser = self.parser()
        uploads, read = read_uploads(named, parser), read_files(paths, parser)
        documents, refusals = (*uploads.documents, *read.documents), (*uploads.refusals, *read.refusals)
        repeated = [one for one in refusals if one.reason.startswith("the same content")]
        others = [one for one in refusals if one not in repeated]
        try:
            corpus_id = self.corpus(corpus).id
        except CorpusNotFound:
            corpus_id, (added, duplicates) = self.corpus_store.create_with(corpus, documents, refused=others)
        else:
            added, duplicates = self.corpus_store.add(corpus_id, documents, refused=others)
        return UploadReport(corpus_id, tuple(added), (*duplicates, *repeated), tuple(others))

    def refused_files(self, corpus_id: str) -> list[Refusal]:
        """Files that were added to the corpus and could not be read; its builds tell them too."""
        return self.corpus_store.refused(corpus_id)

    def remove_document(self, corpus_id: str, document_id: str) -> None:
        """The document is no longer in the corpus; indexes built with it stay as they are."""
        self.corpus_store.remove(corpus_id, document_id)

    def damaged_corpora(self) -> list[Damaged]:
        """Corpora whose record does not read."""
        return self.corpus_store.damaged()

    def delete_corpus(self, corpus_id: str) -> None:
        """The corpus is gone; its indexes stay. Raises InvalidConfig for a sample corpus."""
        broken = {one.id for one in self.damaged_corpora()}
        if corpus_id not in broken and self.corpus(corpus_id).sample:
            raise InvalidConfig("sample corpora belong to the program and stay")
        self.corpus_store.delete(corpus_id)

    def questions(self, corpus_id: str) -> list[dict[str, Any]]:
        """The question set that comes with a sample corpus; empty for one's own."""
        path = SAMPLES / corpus_id.removeprefix("sample-") / "questions.jsonl"
        if corpus_id.removeprefix("sample-") not in self._sample_files or not path.is_file():
            return []
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]

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
        from leanrag_core.execution.choice import opened
        from leanrag_core.indexing.build import build_index

        config = config or IndexConfig()
        corpus = self.corpus(corpus_id)
        documents = [self.document(corpus_id, row.id) for row in self.documents(corpus_id)]
        index_id = folder_name(corpus_id, config)
        models = models or self.models(index=index_id)
        require_models(models, config)
        with opened(execution or models.settings.execution, self.batches) as executor:
            out = build_index(
                documents,
                config,
                self.index_path(index_id),
                embedding=models.embedding(config.embedding),
                language=models.language(config.model),
                aggregation=models.language(config.aggregation_model or config.model),
                workers=models.settings.concurrency,
                executor=executor,
                connect=connect_to_server(models.settings.chroma_url) if models.settings.chroma_url else None,
                in_store=True,
                name=name or corpus.name,
                corpus={"id": corpus.id, "name": corpus.name},
                refusals=self.corpus_store.refused(corpus_id),
                report=report,
            )
        return open_index(out)

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

        def work(spec: events.JobSpec, report: Report) -> tuple[str, dict[str, Any]]:
            config = _config(spec.config)
            budget = _of_job(Budget, spec, "budget")
            models = self.models(budget=budget, index=folder_name(spec.corpus_id, config))

            def metered(progress: Progress) -> None:
                report(replace(progress, spent=asdict(models.meter.read())))

            listener = report if config.model == config.embedding == BUILTIN else metered
            expected = self.forecast(spec.corpus_id, config)
            if expected is not None:
                events.JobLog(folder).write("forecast", forecast=asdict(expected))
            reading = runner.telling_what_is_spent(folder, lambda: asdict(models.meter.read()))
            with reading if listener is metered else nullcontext():
                index = self.build(
                    spec.corpus_id,
                    config,
                    name=str(spec.arguments.get("name", "")),
                    report=listener,
                    models=models,
                    execution=_of_job(Execution, spec, "execution"),
                )
            spent = asdict(models.meter.read())
            assert index.path is not None
            counts = {**index.manifest["counts"], "drops": index.report["drops"]}
            return index.path.name, {"counts": counts, "spent": spent}

        def clean_up(spec: events.JobSpec) -> None:
            give_up_staging(self.index_path(folder_name(spec.corpus_id, _config(spec.config))))

        return runner.run(folder, work, clean_up)

    def jobs(self) -> list[JobState]:
        """All jobs, the newest first."""
        return self.job_store.all()

    def job(self, job_id: str) -> JobState:
        """Where a job stands. Raises JobNotFound."""
        return self.job_store.state(job_id)

    def job_log(self, job_id: str) -> str:
        """What the job's process printed."""
        return self.job_store.log(job_id)

    def cancel(self, job_id: str) -> None:
        """The job stops within two seconds and leaves nothing half-finished."""
        self.job_store.cancel(job_id)

    def resume(self, job_id: str, *, budget: Budget | None = None) -> str:
        """A new job does the work of an ended one again; it ends with the same index. What was answered is not asked
        again. budget: what the new job may spend, as much as the ended one by default."""
        spec = self.job_store.spec(job_id)
        budget = budget or _of_job(Budget, spec, "budget")
        return self.start_build(
            spec.corpus_id,
            _config(spec.config),
            str(spec.arguments.get("name", "")) or None,
            budget=budget,
            execution=_of_job(Execution, spec, "execution"),
        )

    def run_empty_chunks_again(self, index_id: str) -> str:
        """A job builds the index again, asking anew about the chunks in which nothing was found; returns its id."""
        from leanrag_core.indexing.extraction.llm import LLMExtractor

        index = self.open(index_id)
        config = _config(index.manifest["config"])
        language = self.models().language(config.model)
        if not isinstance(language, RemoteLanguageModel):
            raise InvalidConfig("the built-in engine finds the same again; only a language model may find more")
        rows = [
            row for row, id_ in enumerate(index.chunks["id"].to_pylist()) if id_ in set(index.report["empty_chunks"])
        ]
        extractor = LLMExtractor.of(language, config)
        questions = (extractor.first_question(index.chunk(row).text) for row in rows)
        self.calls.forget(language.key(messages, schema=schema, task=task) for messages, schema, task in questions)
        return self.start_build(index.manifest["corpus"]["id"], config, index.manifest["name"])

    def ensure_sample_index(self) -> str | None:
        """On a first start the sample index is being built; returns the job's id, None when there is nothing to do."""
        listed, begun = self.index_list(), ("queued", "running", "cancelled")
        if listed.indexes or listed.damaged or any(job.status in begun for job in self.jobs()):
            return None
        self._read_sample(FIRST_SAMPLE)
        return self.start_build(f"sample-{FIRST_SAMPLE}", SAMPLE_CONFIG)

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
        """The index bears that name."""
        self.index_store.rename(index_id, name)

    def delete_index(self, index_id: str) -> None:
        """The index is gone, a damaged one too, and with it what a Chroma server holds of it. Raises IndexNotFound,
        SearchIndexFailed when the server keeps its part."""
        own = self.index_store.manifest_id(index_id)
        self.index_store.delete(index_id)
        url = self.settings().chroma_url
        if url and own and own not in {self.index_store.manifest_id(one.id) for one in self.indexes()}:
            remove_collections(url, own)

    def check(self, path: str | Path) -> "list[CheckResult]":
        """Every invariant of the index in that directory, verified. Nothing is asked of an endpoint. Raises
        IndexNotFound, IndexTooNew."""
        from leanrag_core.checking.check import check_directory

        def embedding(name: str, fingerprint: str) -> EmbeddingModel:
            if name != BUILTIN:
                raise ModelUnavailable("its texts would be sent to an endpoint again")
            return self._embedding(name, fingerprint)

        return check_directory(Path(path), embedding)

    # Questions

    def strategies(self) -> Sequence[StrategyInfo]:
        """The strategies that can answer a question, LeanRAG first."""
        return strategies()

    def retrieve(self, index: Index, question: str, strategy_name: str = "leanrag", **options: Any) -> Trace:
        """What the strategy finds for the question. Raises InvalidConfig or ModelMismatch."""
        made = strategy(strategy_name, options)
        self._choose_search_server()
        query = Query(question.strip(), self.question_vector(index, question))
        with self.naming_damage(index):
            return made.retrieve(query, index)

    def naming_damage(self, index: Index) -> AbstractContextManager[None]:
        """An error of the block is told as IndexDamaged where a file of the index turns out to have been changed."""
        return damage_named(index.path, index.manifest.get("files", {}))

    def read_ahead(self, index: Index) -> None:
        """The search index of a large base layer is read; not the model that embeds questions. Raises SearchIndexFailed
        when it does not answer."""
        self._choose_search_server()
        read_ahead(index)

    def _choose_search_server(self) -> None:
        """Search indexes are asked where the settings say; nothing that is open is closed unless that has changed."""
        with self._choosing:
            url = self.settings().chroma_url
            connect_by(connect_where_it_stands(url) if url else connect_to_files)

    def question_vector(self, index: Index, question: str) -> np.ndarray:
        """(d,) unit vector of the question by the model that the index was built with. Raises InvalidConfig for a
        question that is empty or too long, ModelMismatch."""
        require_question(question)
        recorded = index.manifest["embedding"]
        model = self._embedding(recorded["name"], recorded["fingerprint"])
        if (model.fingerprint, model.dimension) != (recorded["fingerprint"], recorded["dimension"]):
            raise ModelMismatch(
                f"{index.manifest['name']} was embedded with {recorded['fingerprint']} ({recorded['dimension']} "
                f"dimensions), this machine has {model.fingerprint} ({model.dimension}): build the index again, or "
                "install the model it was made with"
            )
        return np.asarray(model.embed([question.strip()])[0])

    def answer(self, index: Index, trace: Trace) -> Answer:
        """The answer to a trace's question from its context alone."""
        language = self._answering_model(index)
        if language is not None:
            return answering.write_answer(trace, language, _answer_prompt(index))
        vector, recorded = self.question_vector(index, trace.question), index.manifest["embedding"]
        return answering.answer_from(trace, self._embedding(recorded["name"], recorded["fingerprint"]), vector)

    def _answering_model(self, index: Index) -> LanguageModel | None:
        folder = index.path.name if index.path else index.id  # as builds name it, so that both go together
        models, own = self.models(index=folder), index.manifest["config"]["model"]
        return models.language(own if own == BUILTIN else models.settings.answer_model or own)

    def kept_answer(self, index: Index, trace: Trace) -> Answer | None:
        """answer() where no model at an endpoint needs to be asked: None when one would be."""
        language = self._answering_model(index)
        if not isinstance(language, RemoteLanguageModel):
            return self.answer(index, trace)
        messages, task = answering.answer_messages(trace, _answer_prompt(index))
        known = language.recalled(language.key(messages, task=task), None, messages)
        return None if known is None else answering.written_answer(trace, known, language.name)

    def stream_answer(self, index: Index, trace: Trace, on_text: Callable[[str], None]) -> Answer:
        """answer(), told piece by piece where a language model writes it; extractive answers come in one piece."""
        language = self._answering_model(index)
        if not isinstance(language, RemoteLanguageModel):
            answer = self.answer(index, trace)
            on_text(answer.text)
            return answer
        messages, task = answering.answer_messages(trace, _answer_prompt(index))
        return answering.written_answer(trace, language.stream(messages, on_text, task=task), language.name)

    def ask(self, index: Index, question: str, strategy_name: str = "leanrag", **options: Any) -> Answer:
        """Retrieve and answer."""
        return self.answer(index, self.retrieve(index, question, strategy_name, **options))

    def _embedding(self, name: str, fingerprint: str) -> EmbeddingModel:
        with self._choosing:
            if (name, fingerprint) not in self._embeddings:
                self._embeddings[name, fingerprint] = self.models().embedding(name, fingerprint)
            return self._embeddings[name, fingerprint]


def _config(values: dict[str, Any]) -> IndexConfig:
    """The configuration of its JSON values. Raises InvalidConfig for those of another version."""
    try:
        return replace(
            IndexConfig(), **{**values, "entity_types": tuple(values["entity_types"]), "prompts": _pairs(values)}
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidConfig(_OTHER_VERSION) from error


def _of_job(kind: type[T], spec: events.JobSpec, name: str) -> T:
    """The argument of that name of a job. Raises InvalidConfig for one of another version."""
    try:
        return kind(**spec.arguments.get(name, {}))
    except (TypeError, ValueError) as error:
        raise InvalidConfig(_OTHER_VERSION) from error


def _answer_prompt(index: Index) -> PromptBook:
    """The prompts with the index's own for answers, where it has one."""
    return PromptBook(pair for pair in _pairs(index.manifest["config"]) if pair[0] == "answer")


def _pairs(values: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((str(task), str(text)) for task, text in values.get("prompts", ()))
