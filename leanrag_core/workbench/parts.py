"""Parts of indexes: which there are, making one in this process or by a job, reading one, what one costs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from leanrag_core.errors import InvalidConfig, PartMissing
from leanrag_core.indexing.part_base import PartModels, PartTools, Proposal, ProposingPart, parts
from leanrag_core.indexing.part_building import build_part, part_states, read_part
from leanrag_core.jobs.kinds import PART
from leanrag_core.jobs.runner import Done, RunningJob
from leanrag_core.jobs.store import JobStore
from leanrag_core.messages.catalog import sentence
from leanrag_core.models.base import LanguageModel
from leanrag_core.models.registry import Models
from leanrag_core.prompts.catalog import PromptBook
from leanrag_core.storage.part_store import RECORD, PartStore, read_record
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.system.threads import BoundedCache
from leanrag_core.types.calls import Budget
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobReport, Progress, Report, silent
from leanrag_core.types.manifest import ABSENT, FINISHED, INDEX_NEEDS, LANGUAGE, UNFINISHED, PartRecord, PartState
from leanrag_core.types.roles import AGGREGATION
from leanrag_core.workbench.indexes import Indexes
from leanrag_core.workbench.models import ModelAccess
from leanrag_core.workbench.scopes import CutParts

_MAX_READ = 8  # parts that are kept in memory after they were read


class Parts:
    """Lists, makes, reads and deletes the parts of indexes, for all sessions.

    searches: closed before files of a search index go.
    """

    def __init__(self, indexes: Indexes, models: ModelAccess, searches: SearchStore, jobs: JobStore) -> None:
        self._indexes, self._models, self._searches, self._jobs = indexes, models, searches, jobs
        self._read: BoundedCache[tuple[str, int, int], Any] = BoundedCache(_MAX_READ)  # by _identity()
        self._inside = CutParts(models)

    def all(self, index: Index) -> tuple[PartState, ...]:
        """Return the parts that the index has or may have, with what they cost."""
        return part_states(index, parts(), self._part_models(index, self._models.make(index=index.folder_name)))

    def finished(self, index: Index) -> set[str]:
        """Return the names of the parts that strategies can use."""
        return {state.name for state in self.all(index) if state.finished}

    def offered(self, index: Index) -> tuple[str, ...]:
        """Return the names of the parts that the index should have and does not."""
        states = self.all(index)
        finished = {state.name for state in states if state.finished}
        return tuple(sorted({state.name for state in states if state.offered} - finished))

    def lacking(self, index: Index) -> tuple[PartState, ...]:
        """Return the parts that the index does not have and that can be made, each after those that it needs."""
        states = {state.name: state for state in self.all(index) if state.status in (ABSENT, UNFINISHED)}
        asks_model = self._language(index, self._models.make(index=index.folder_name)) is not None
        ordered: dict[str, PartState] = {}
        for state in states.values():
            if asks_model or LANGUAGE not in state.needs:
                ordered |= {need: states[need] for need in state.needs if need in states} | {state.name: state}
        return tuple(ordered.values())

    def forecast(self, index: Index, name: str, options: Mapping[str, Any] | None = None) -> Forecast:
        """Return what making the part takes. Raises InvalidConfig."""
        info = parts().named(name)
        models = self._part_models(index, self._models.make(index=index.folder_name))
        return info.part.forecast(index, info.configured(options or {}), models)

    def build(
        self,
        index: Index,
        name: str,
        options: Mapping[str, Any] | None = None,
        *,
        models: Models | None = None,
        report: Report = silent,
    ) -> PartRecord:
        """Make the part in this process, and before it the parts that it needs, unless the index has them; return its
        record. models: with the meter of a job.

        Raises InvalidConfig, PartMissing, StorageFailed, BudgetSpent, and errors of the part's own.
        """
        info = parts().named(name)
        models = models or self._models.make(index=index.folder_name)
        finished = self._part_models(index, models).parts
        for need in info.part.needs:
            if need not in INDEX_NEEDS and need not in finished:
                self.build(index, need, models=models, report=report)
        tools = PartTools(
            embed=self._models.embedder_of(index),
            language=self._language(index, models),
            prompts=PromptBook(index.manifest.config.prompts),
            part=lambda other: self.read(index, other),
            meter=models.meter,
            connect=self._searches.for_writing(models.settings.chroma_url),
            report=report,
            cancelled=lambda: report(Progress("make", 0, 0)),
        )
        return build_part(index, info, info.configured(options or {}), self._part_models(index, models), tools)

    def read(self, index: Index, name: str) -> Any:
        """Return the part as strategies use it, read once for all questions; for an index cut to a scope, the part made
        of the documents inside. Raises PartMissing, PartDamaged."""
        if index.cut is not None and not index.cut.is_all:
            return self._read_inside(index, index.cut.whole, name)
        key = _identity(_newest(index, name))
        return self._read.get_or_make(key, lambda: read_part(index, parts().named(name)))

    def _read_inside(self, index: Index, whole_index: Index, name: str) -> Any:
        options = dict(read_record(_newest(whole_index, name)).config)
        return self._inside.read(index, parts().named(name), options, lambda other: self.read(index, other))

    def proposals(self, index: Index, name: str) -> tuple[Proposal, ...]:
        """Return what the part proposes to a person, such as types of a schema; nothing for a part without proposals.

        Raises PartMissing, PartDamaged.
        """
        part = parts().named(name).part
        return part.proposals(self.read(index, name)) if isinstance(part, ProposingPart) else ()

    def start(
        self, index_id: str, name: str, options: Mapping[str, Any] | None = None, *, budget: Budget | None = None
    ) -> str:
        """Start a job in a process of its own that makes the part; return the job's id. Raises InvalidConfig for an
        unknown part or option."""
        index, info, options = self._indexes.open(index_id), parts().named(name), dict(options or {})
        info.configured(options)
        return self._jobs.begin(
            f"{sentence(info.part.title)}, {index.manifest.name}",
            index.manifest.corpus.id,
            {"index": index_id, "part": name, "options": options},
            {"budget": asdict(budget or Budget())},
            PART,
        )

    def start_accepting(self, index_id: str, name: str, accepted: Sequence[str]) -> str:
        """Start a job that makes the part again with its previous options and those of its proposals; return the job's
        id. Raises what start() does, PartMissing, PartDamaged, InvalidConfig for a part that proposes nothing."""
        part = parts().named(name).part
        if not isinstance(part, ProposingPart):
            raise InvalidConfig("part.proposes_nothing", part=name)
        before = read_record(_newest(self._indexes.open(index_id), name)).config
        return self.start(index_id, name, {**before, part.accepts: ",".join(accepted)})

    def delete(self, index: Index, name: str, fingerprint: str) -> None:
        """Delete that version of the part; questions go on without it. Raises StorageFailed."""
        if index.path is not None:
            self._searches.close(index.path)
            PartStore(index.path).delete(name, fingerprint)

    def _part_models(self, index: Index, models: Models) -> PartModels:
        stored = PartStore(index.path).all() if index.path is not None else ()
        finished = {part.name: part.fingerprint for part in stored if part.status == FINISHED}
        return PartModels(self._language(index, models), finished)

    def _language(self, index: Index, models: Models) -> LanguageModel | None:
        return models.language(index.manifest.config.writer, AGGREGATION)

    def run_job(self, job: RunningJob) -> Done:
        """Make the part that a job asks for, with its forecast and what models cost in the job's record; the result is
        INDEX/PART. What a stopped job has written is continued by the next one, and no page uses it before."""
        part_job = job.spec.configured(PartJob)
        index = self._indexes.open(part_job.index)
        models = self._models.job_context(job, index=part_job.index).models
        job.expect(self.forecast(index, part_job.part, part_job.options))
        with job.metered(models.meter.read):
            record = self.build(index, part_job.part, part_job.options, models=models, report=job.report)
        folder = PartStore(self._indexes.path(part_job.index)).folder(record.name, record.fingerprint)
        sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name != RECORD]
        counts = {"files": len(sizes), "bytes": sum(sizes), "calls": record.usage.calls}
        return Done(f"{part_job.index}/{part_job.part}", JobReport(counts))


def _newest(index: Index, name: str) -> Path:
    """Return the folder of the part that was made last. Raises PartMissing."""
    folder = PartStore(index.path).newest(name) if index.path is not None else None
    if folder is None:
        raise PartMissing("part.missing", part=name)
    return folder


def _identity(folder: Path) -> tuple[str, int, int]:
    """Return a value that changes when the part is made again."""
    stat = (folder / RECORD).stat()
    return str(folder), stat.st_ino, stat.st_mtime_ns


@dataclass(frozen=True)
class PartJob:
    """What a job of this kind shall make: the config of its record."""

    index: str
    part: str
    options: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)
