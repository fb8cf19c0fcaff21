"""The work of a job of the kind "build": the index of a corpus."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Protocol

from leanrag_core.errors import LeanRAGError
from leanrag_core.jobs.events import JobSpec
from leanrag_core.jobs.work import Done, RunningJob
from leanrag_core.models.registry import Models
from leanrag_core.storage.indexes import folder_name
from leanrag_core.storage.staging import give_up_staging
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.execution import Execution
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobReport
from leanrag_core.types.model_names import is_remote
from leanrag_core.types.progress import Report
from leanrag_core.types.recorded_config import recorded_config
from leanrag_core.types.spending import Budget
from leanrag_core.work.base import argument

_MAPPED_FROM = 300  # entities; the map of fewer is there in a moment when it is looked at


class Builder(Protocol):
    """What a build needs of the workbench."""

    def models(self, *, budget: Budget | None = None, index: str = "") -> Models: ...

    def forecast(self, corpus_id: str, config: IndexConfig, *, dry_run: int = 0) -> Forecast: ...

    def build(
        self,
        corpus_id: str,
        config: IndexConfig | None = None,
        *,
        name: str = "",
        report: Report = ...,
        models: Models | None = None,
        execution: Execution | None = None,
    ) -> Index: ...

    def index_path(self, index_id: str) -> Path: ...

    def offered_parts(self, index: Index) -> tuple[str, ...]: ...

    def start_part(self, index_id: str, name: str) -> str: ...

    def map_places(self, index: Index) -> object: ...


class BuildWork:
    """Builds the index that a job asks for, with its forecast and what models cost in the job's record."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder

    def run(self, job: RunningJob) -> Done:
        """The index is in the store; its id is the result."""
        spec = job.spec
        config = recorded_config(spec.config).checked()
        models = self._builder.models(
            budget=argument(Budget, spec, "budget"), index=folder_name(spec.corpus_id, config)
        )
        job.expect(self._builder.forecast(spec.corpus_id, config))
        remote = is_remote(config.model) or is_remote(config.embedding)
        with job.metered(models.meter.read) if remote else nullcontext():
            index = self._builder.build(
                spec.corpus_id,
                config,
                name=str(spec.arguments.get("name", "")),
                report=job.report,
                models=models,
                execution=argument(Execution, spec, "execution"),
            )
        assert index.path is not None
        self._place_on_map(index)
        self._start_parts(index, index.path.name)
        return Done(index.path.name, _report(index))

    def _place_on_map(self, index: Index) -> None:
        """The map of a large index takes seconds, and is there when it is looked at first."""
        if len(index.layers[0]) >= _MAPPED_FROM:
            try:
                self._builder.map_places(index)
            except (ValueError, ArithmeticError, MemoryError) as error:  # the index is complete without it
                print(error, file=sys.stderr)

    def _start_parts(self, index: Index, index_id: str) -> None:
        """The parts that the index should have are made by jobs of their own: questions need not wait for them."""
        for part in self._builder.offered_parts(index):
            try:
                self._builder.start_part(index_id, part)
            except LeanRAGError as error:  # the index is complete without it
                print(error, file=sys.stderr)

    def clean_up(self, spec: JobSpec) -> None:
        """Deletes the half-built index."""
        give_up_staging(self._builder.index_path(folder_name(spec.corpus_id, recorded_config(spec.config).checked())))


def _report(index: Index) -> JobReport:
    return JobReport(vars(index.manifest.counts), dict(index.report.drops))
