"""Builds in this process: an index of documents, and what a build will take."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from leanrag_core.models.registry import Models, require_models
from leanrag_core.services.references import References
from leanrag_core.storage import layout
from leanrag_core.storage.corpora import CorpusStore
from leanrag_core.storage.indexes import IndexStore, folder_name
from leanrag_core.storage.stages import StageStore
from leanrag_core.tokens import count_tokens
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Document, Refusal
from leanrag_core.types.editing import EditLog
from leanrag_core.types.execution import Execution
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobState
from leanrag_core.types.manifest import NO_CORPUS, CorpusName
from leanrag_core.types.model_names import REFERENCE, is_remote
from leanrag_core.types.progress import Report, silent
from leanrag_core.types.summary import CorpusSummary

if TYPE_CHECKING:
    from leanrag_core.indexing.updating.before import Before

_MEGABYTE = 1_000_000
_DOCUMENTS_LOOKED_AT = 8  # of a corpus, for what earlier builds have kept; more of them where they are short
_TOKENS_LOOKED_AT = 100_000


class ModelsOf(Protocol):
    """Makes the models of one piece of work. index: for which index its calls are kept."""

    def __call__(self, *, index: str = "") -> Models: ...


class Builds:
    """Builds, and forecasts builds, with the stores of a workbench. jobs: all, which show the speed of this machine."""

    def __init__(
        self,
        corpora: CorpusStore,
        indexes: IndexStore,
        stages: StageStore,
        models: ModelsOf,
        jobs: Callable[[], list[JobState]],
        references: References,
    ) -> None:
        self._corpora, self._indexes, self._stages = corpora, indexes, stages
        self._models, self._jobs, self._references = models, jobs, references

    def build(
        self,
        corpus_id: str,
        config: IndexConfig,
        *,
        name: str = "",
        report: Report = silent,
        models: Models | None = None,
        execution: Execution | None = None,
    ) -> Index:
        """The index of a corpus, in the index store."""
        corpus, index_id = self._corpora.summary(corpus_id), folder_name(corpus_id, config)
        return self.build_documents(
            [self._corpora.document(corpus_id, row.id) for row in self._corpora.documents(corpus_id)],
            config,
            self._indexes.path(index_id),
            name=name or corpus.name,
            corpus=corpus,
            refusals=self._corpora.refused(corpus_id),
            report=report,
            models=models or self._models(index=index_id),
            execution=execution,
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
        return self.build_into(
            documents,
            config,
            out,
            models=models,
            name=name,
            corpus=CorpusName(corpus.id, corpus.name) if corpus else NO_CORPUS,
            in_store=corpus is not None,
            refusals=refusals,
            report=report,
            execution=execution,
        )

    def build_into(
        self,
        documents: Sequence[Document],
        config: IndexConfig,
        out: Path,
        *,
        models: Models,
        name: str,
        corpus: CorpusName,
        in_store: bool,
        refusals: Sequence[Refusal] = (),
        report: Report = silent,
        execution: Execution | None = None,
        edits: EditLog | None = None,
        before: "Before | None" = None,
    ) -> Index:
        """An index in the folder `out`, made anew or from the index before; see build_index()."""
        from leanrag_core.execution.choice import opened
        from leanrag_core.indexing.build import build_index

        require_models(models, config)
        language, embedding = models.language(config.model), models.embedding(config.embedding)
        with opened(execution or models.settings.execution) as executor:
            build_index(
                documents,
                config,
                out,
                embedding=embedding,
                language=language,
                aggregation=models.language(config.aggregation_model or config.model),
                reference=self._references.of(documents) if config.model == REFERENCE else None,
                workers=models.settings.concurrency,
                executor=executor,
                stages=self._stages,
                in_store=in_store,
                name=name,
                corpus=corpus,
                refusals=refusals,
                edits=edits,
                before=before,
                report=report,
            )
        self._stages.trim(models.settings.stages_mb * _MEGABYTE)
        return layout.read_index(out)

    def is_built(self, out: Path, config: IndexConfig, documents: Sequence[Document]) -> bool:
        """Whether the folder holds the index of these documents with these settings."""
        from leanrag_core.indexing.built import is_built

        return is_built(out, config, documents)

    def forecast(self, corpus_id: str, config: IndexConfig, *, dry_run: int = 0) -> Forecast:
        """What a build of the corpus takes. dry_run: so many chunks are extracted first by a language model, and their
        answers kept, which sharpens the estimate. Raises InvalidConfig, EndpointError."""
        corpus, rows = self._corpora.summary(corpus_id), self._corpora.documents(corpus_id)
        titles = [row.title for row in rows]
        if not is_remote(config.model):  # a few documents show how much of all is kept
            looked_at = max(_DOCUMENTS_LOOKED_AT, _TOKENS_LOOKED_AT * len(rows) // max(1, corpus.tokens))
            rows = rows[:: max(1, -(-len(rows) // looked_at))]
        documents = [self._corpora.document(corpus_id, row.id) for row in rows]
        if not is_remote(config.model):
            return self._forecast_builtin(documents, titles, config, corpus.documents, corpus.tokens)
        return self._forecast_endpoint(documents, config, folder_name(corpus_id, config), dry_run)

    def forecast_of(self, documents: Iterable[Document], config: IndexConfig, *, dry_run: int = 0) -> Forecast:
        """forecast() of documents that are in no corpus."""
        listed = list(documents)
        if is_remote(config.model):
            return self._forecast_endpoint(listed, config, "", dry_run)
        n_tokens = sum(count_tokens(document.text) for document in listed)
        titles = [document.title for document in listed]
        return self._forecast_builtin(listed, titles, config, len(listed), n_tokens)

    def _forecast_endpoint(self, documents: list[Document], config: IndexConfig, index: str, dry_run: int) -> Forecast:
        from leanrag_core.indexing.forecasting.endpoint import forecast_endpoint_build

        return forecast_endpoint_build(documents, config, self._models(index=index), dry_run=dry_run)

    def _forecast_builtin(
        self, documents: list[Document], titles: list[str], config: IndexConfig, n_documents: int, n_tokens: int
    ) -> Forecast:
        from leanrag_core.indexing.forecasting.builtin import build_speeds, forecast_builtin_build, look_at

        models = self._models()
        speeds = build_speeds(self._jobs(), {row.id: row.tokens for row in self._corpora.summaries()}, config.model)
        looked = look_at(documents, titles, config, models.embedding(config.embedding), self._stages)
        return forecast_builtin_build(n_documents, n_tokens, config, models.settings, speeds, looked)
