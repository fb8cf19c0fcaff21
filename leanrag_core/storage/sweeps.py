"""The sweeps of a record store: the indexes that are built, and the experiment that asks them.

record.json     points and their indexes, questions, versions, and whether everything is done
indexes.jsonl   a line for each index that is built
costs.jsonl     what each of these took; alone differs when a sweep is repeated
indexes/        the indexes themselves, which are in no list of a person's indexes; they may be deleted
results/        the experiment that asks the questions at every point (storage.experiments)
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leanrag_core.errors import InvalidConfig, SweepNotFound
from leanrag_core.storage.experiments import ExperimentStore
from leanrag_core.storage.record_store import (
    RECORD,
    SPEC,
    Kind,
    RecordStore,
    RecordWriter,
    read_lines,
    read_record,
    time_of,
)
from leanrag_core.types.sweep import PointCost, PointIndex, SweepPoint, SweepSpec, SweepSummary

INDEXES_LIST, COSTS = "indexes.jsonl", "costs.jsonl"
INDEXES, RESULTS = "indexes", "results"


@dataclass(frozen=True)
class SweepRecord:
    """record.json. points: in their order; folders: the index of each, by the point's name. questions, kinds: ids of
    the questions and the kind of each. experiment: id of the one in results/, "" until it has begun."""

    points: tuple[SweepPoint, ...]
    folders: Mapping[str, str]
    questions: tuple[str, ...]
    kinds: tuple[str, ...]
    versions: Mapping[str, str] = field(default_factory=dict)
    experiment: str = ""
    is_complete: bool = False


@dataclass(frozen=True)
class StoredSweep:
    """A sweep as the store has it. indexes, costs: those that are built so far."""

    spec: SweepSpec
    record: SweepRecord
    indexes: tuple[PointIndex, ...]
    costs: tuple[PointCost, ...]
    is_shipped: bool


class SweepWriter(RecordWriter):
    """Adds the results of a sweep."""

    def add_index(self, index: PointIndex, cost: PointCost) -> None:
        """Record the index as built. Raises StorageFailed."""
        self._append({COSTS: [cost], INDEXES_LIST: [index]})  # the second says that the index is built

    def record(self, indexes: Iterable[PointIndex], costs: Iterable[PointCost], **changes: Any) -> None:
        """Make the files hold these in their order, each folder once, and change the record. Raises StorageFailed."""
        self._rewrite({INDEXES_LIST: indexes, COSTS: costs}, **changes)


class SweepStore(RecordStore[SweepSummary, SweepWriter]):
    """Lists, reads, writes and deletes sweeps. shipped: the folder of those that come with the program."""

    writer_type = SweepWriter
    kind = Kind(
        spec=SweepSpec,
        record=SweepRecord,
        lines=(INDEXES_LIST, COSTS),
        what="what.sweep",
        not_found=lambda id_: SweepNotFound("sweep.not_found", sweep=id_),
        shipped_stays=lambda id_: InvalidConfig("sweep.shipped_stays", sweep=id_),
        runs_elsewhere=lambda id_: InvalidConfig("sweep.runs_elsewhere", sweep=id_),
    )

    def __init__(self, root: Path, shipped: Path) -> None:
        super().__init__(root, shipped)
        self._results: dict[Path, ExperimentStore] = {}  # each remembers the summary of its experiment

    def summary(self, id_: str) -> SweepSummary:
        """Return the sweep's row in a list. Raises SweepNotFound, RecordDamaged."""
        stored = self.read(id_)
        experiment = stored.record.experiment
        return SweepSummary(
            id=id_,
            title=stored.spec.title,
            corpus=stored.spec.corpus,
            question_set=stored.spec.question_set,
            axes=tuple(axis.name for axis in stored.spec.axes),
            points=len(stored.record.points),
            built=len(stored.indexes),
            rows=self.results(id_).summary(experiment).rows if experiment else 0,
            all=len(stored.record.points) * len(stored.record.questions),
            is_complete=stored.record.is_complete,
            is_shipped=stored.is_shipped,
            changed=time_of(self.changed(id_)),
        )

    def read(self, id_: str) -> StoredSweep:
        """Return the sweep with all that it has so far. Raises SweepNotFound, RecordDamaged."""
        folder = self.folder(id_)
        return StoredSweep(
            spec=read_record(SweepSpec, folder / SPEC),
            record=read_record(SweepRecord, folder / RECORD),
            indexes=read_lines(PointIndex, folder / INDEXES_LIST),
            costs=read_lines(PointCost, folder / COSTS),
            is_shipped=self.is_shipped(id_),
        )

    def results(self, id_: str) -> ExperimentStore:
        """Return the store of the sweep's experiment. Raises SweepNotFound."""
        folder = self.folder(id_)
        if folder not in self._results:
            shipped = folder / RESULTS if folder.parent == self._shipped else folder / ".no-shipped"
            self._results[folder] = ExperimentStore(self.root / id_ / RESULTS, shipped)
        return self._results[folder]

    def indexes(self, id_: str) -> Path:
        """Return the folder of the sweep's indexes. Raises SweepNotFound."""
        return self.folder(id_) / INDEXES

    def begin(self, id_: str, spec: SweepSpec, record: SweepRecord) -> None:
        """Store the sweep without results. Raises StorageFailed."""
        self._begin(id_, spec, record, {})
