"""The models that a workbench's settings name, and what a piece of work runs with."""

import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from leanrag_core.errors import InvalidConfig
from leanrag_core.jobs.runner import RunningJob
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.models.endpoint import Endpoint
from leanrag_core.models.model_files import ModelFiles
from leanrag_core.models.registry import Models, require_models
from leanrag_core.models.request_form import LearntForms
from leanrag_core.models.speeds import Speeds
from leanrag_core.storage.calls import CallStore
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import IndexConfig, is_remote
from leanrag_core.types.index import Index
from leanrag_core.types.job import Report, silent
from leanrag_core.types.roles import EXTRACTION
from leanrag_core.types.settings import Execution, Settings
from leanrag_core.workbench.settings import SettingsFile


@dataclass(frozen=True)
class RunContext:
    """What a piece of work runs with. models: with its meter and its budget. execution: where work that calls no
    endpoint runs; the result is the same. as_batches: calls of language models go out in files, at half the price."""

    models: Models
    execution: Execution
    report: Report = silent
    as_batches: bool = False


@dataclass
class _Learnt:
    """What is kept until settings are saved. embeddings: models by name and fingerprint."""

    n_saved: int
    forms: LearntForms = field(default_factory=LearntForms)
    embeddings: dict[tuple[str, str], EmbeddingModel] = field(default_factory=dict)


def calls_endpoint(config: IndexConfig) -> bool:
    """Tell whether a build with this configuration calls a model of an endpoint."""
    return is_remote(config.model) or is_remote(config.embedding)


def metered(job: RunningJob, models: Models, config: IndexConfig) -> AbstractContextManager[None]:
    """Return the block in which the job notes what its models spend; it notes nothing if none of them is called."""
    return job.metered(models.meter.read) if calls_endpoint(config) else nullcontext()


def require_embedding(models: Models, name: str, index: Index) -> EmbeddingModel:
    """Return the embedding model of that name, with which the index was built. Raises InvalidConfig if it is another
    one by now."""
    fingerprint = index.manifest.embedding.fingerprint
    embedding = models.embedding(name, fingerprint)
    if embedding.fingerprint != fingerprint:
        raise InvalidConfig("update.other_embedding", index=index.manifest.name)
    return embedding


class ModelAccess:
    """Makes the models of a piece of work, and opens embedding models once for all sessions."""

    def __init__(
        self, settings: SettingsFile, calls: CallStore, files: ModelFiles, speeds: Speeds | None = None
    ) -> None:
        self.settings, self.calls, self.files, self.speeds = settings, calls, files, speeds or Speeds()
        self._choosing = threading.RLock()  # guards the field below
        self._learnt = _Learnt(settings.n_saved)

    def _current(self) -> "_Learnt":
        """Return what was learnt under the current settings. Needs the lock."""
        if self._learnt.n_saved != self.settings.n_saved:
            self._learnt = _Learnt(self.settings.n_saved)
        return self._learnt

    def make(self, *, budget: Budget | None = None, index: str = "", needed_by: IndexConfig | None = None) -> Models:
        """Return the models of one piece of work.

        index: for which index its calls are kept. needed_by: settings of a build that is to follow; InvalidConfig or
        ModelUnavailable where it would meet a model that it cannot use.
        """
        with self._choosing:
            forms = self._current().forms
        models = Models(
            self.settings.read(),
            self.calls,
            budget or Budget(),
            index,
            forms,
            speeds=self.speeds,
            model_files=self.files,
        )
        if needed_by is not None:
            require_models(models, needed_by)
            models.language(needed_by.model, EXTRACTION)
            models.embedding(needed_by.embedding)
        return models

    def embedding(self, name: str, fingerprint: str) -> EmbeddingModel:
        """Return the embedding model of that name and fingerprint, opened once for all sessions."""
        with self._choosing:
            embeddings = self._current().embeddings
            if (name, fingerprint) not in embeddings:
                embeddings[name, fingerprint] = self.make().embedding(name, fingerprint)
            return embeddings[name, fingerprint]

    def embedding_of(self, index: Index) -> EmbeddingModel:
        """Return the embedding model that the index was built with, opened once for all sessions."""
        recorded = index.manifest.embedding
        return self.embedding(recorded.name, recorded.fingerprint)

    def embedder_of(self, index: Index) -> Callable[[Iterable[str]], np.ndarray]:
        """Return a function that embeds n texts by the index's own model, (n, d) float32 unit rows. The model is opened
        when it is called."""
        return lambda texts: self.embedding_of(index).embed(list(texts))

    def endpoint(self, settings: Settings) -> Endpoint:
        """Return the server that these settings name, which need not be saved."""
        return Models(settings, self.calls, speeds=self.speeds).endpoint

    def context(
        self,
        models: Models | None = None,
        execution: Execution | None = None,
        report: Report = silent,
        *,
        index: str = "",
    ) -> RunContext:
        """Return the context of a piece of work. None stands for new models for that index, and for the execution of
        the settings."""
        models = models or self.make(index=index)
        return RunContext(models, execution or models.settings.execution, report)

    def job_context(self, job: RunningJob, *, index: str = "") -> RunContext:
        """Return what the job runs with, by its arguments. index: for which index its calls are kept."""
        models = self.make(budget=job.spec.argument(Budget, "budget"), index=index)
        return RunContext(models, job.spec.argument(Execution, "execution"), job.report)

    def job_terms(self, budget: Budget | None, execution: Execution | None) -> dict[str, Any]:
        """Return the arguments of a job that say what it may spend and where it runs, as its record holds them."""
        return {"budget": asdict(budget or Budget()), "execution": asdict(execution or self.settings.read().execution)}
