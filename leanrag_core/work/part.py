"""The work of a job of the kind "part": a part of an index, such as its search index."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from leanrag_core.jobs.events import JobSpec
from leanrag_core.jobs.work import Done, RunningJob
from leanrag_core.models.registry import Models
from leanrag_core.storage.part_store import RECORD, PartStore
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobReport
from leanrag_core.types.part import PartRecord
from leanrag_core.types.progress import Report
from leanrag_core.types.spending import Budget
from leanrag_core.work.base import argument, configured


class PartMaker(Protocol):
    """What making a part needs of the workbench."""

    def models(self, *, budget: Budget | None = None, index: str = "") -> Models: ...

    def open(self, index_id: str) -> Index: ...

    def index_path(self, index_id: str) -> Path: ...

    def forecast_part(self, index: Index, name: str, options: Mapping[str, Any] | None = None) -> Forecast: ...

    def build_part(
        self,
        index: Index,
        name: str,
        options: Mapping[str, Any] | None = None,
        *,
        models: Models | None = None,
        report: Report = ...,
    ) -> PartRecord: ...


class PartWork:
    """Makes the part that a job asks for, with its forecast and what models cost in the job's record."""

    def __init__(self, maker: PartMaker) -> None:
        self._maker = maker

    def run(self, job: RunningJob) -> Done:
        """The index has the part; its id, INDEX/PART, is the result."""
        wanted = configured(PartJob, job.spec)
        index = self._maker.open(wanted.index)
        models = self._maker.models(budget=argument(Budget, job.spec, "budget"), index=wanted.index)
        job.expect(self._maker.forecast_part(index, wanted.part, wanted.options))
        with job.metered(models.meter.read):
            record = self._maker.build_part(index, wanted.part, wanted.options, models=models, report=job.report)
        return Done(f"{wanted.index}/{wanted.part}", self._report(wanted.index, record))

    def _report(self, index_id: str, record: PartRecord) -> JobReport:
        folder = PartStore(self._maker.index_path(index_id)).folder(record.name, record.fingerprint)
        sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name != RECORD]
        return JobReport({"files": len(sizes), "bytes": sum(sizes), "calls": record.usage.calls})

    def clean_up(self, spec: JobSpec) -> None:
        """Deletes nothing: the next attempt continues what was written of the part, and no page uses it before."""


@dataclass(frozen=True)
class PartJob:
    """What a job of this kind shall make: the config of its record."""

    index: str
    part: str
    options: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)
