"""The work of a job of the kind "build": the index of a corpus."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Protocol

from leanrag_core.jobs.events import JobLog, JobSpec
from leanrag_core.jobs.runner import telling_what_is_spent
from leanrag_core.models.metering import Budget
from leanrag_core.models.registry import Models
from leanrag_core.records import plain
from leanrag_core.storage.indexes import folder_name
from leanrag_core.storage.staging import give_up_staging
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.execution import Execution
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.index import Index
from leanrag_core.types.model_names import BUILTIN
from leanrag_core.types.progress import Progress, Report
from leanrag_core.types.recorded_config import recorded_config
from leanrag_core.work.base import Done, argument


class Builder(Protocol):
    """What a build needs of the workbench."""

    def models(self, *, budget: Budget | None = None, index: str = "") -> Models: ...

    def forecast(self, corpus_id: str, config: IndexConfig, *, dry_run: int = 0) -> Forecast | None: ...

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


class BuildWork:
    """Builds the index that a job asks for, with its forecast and what models cost among the job's events."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder

    def run(self, folder: Path, spec: JobSpec, report: Report) -> Done:
        """The index is in the store; its id is the result."""
        config = recorded_config(spec.config).checked()
        budget = argument(Budget, spec, "budget")
        models = self._builder.models(budget=budget, index=folder_name(spec.corpus_id, config))
        expected = self._builder.forecast(spec.corpus_id, config)
        if expected is not None:
            JobLog(folder).write("forecast", forecast=asdict(expected))
        remote = not config.model == config.embedding == BUILTIN
        metering = telling_what_is_spent(folder, lambda: asdict(models.meter.read()))
        with metering if remote else nullcontext():
            index = self._builder.build(
                spec.corpus_id,
                config,
                name=str(spec.arguments.get("name", "")),
                report=_metered(report, models) if remote else report,
                models=models,
                execution=argument(Execution, spec, "execution"),
            )
        assert index.path is not None
        counts = {**plain(index.manifest.counts), "drops": dict(index.report.drops)}
        return Done(index.path.name, {"counts": counts, "spent": asdict(models.meter.read())})

    def clean_up(self, spec: JobSpec) -> None:
        """The half-built index is gone."""
        give_up_staging(self._builder.index_path(folder_name(spec.corpus_id, recorded_config(spec.config).checked())))


def _metered(report: Report, models: Models) -> Callable[[Progress], None]:
    """The report, each progress with the meter's reading."""

    def metered(progress: Progress) -> None:
        report(replace(progress, spent=asdict(models.meter.read())))

    return metered
