"""The sweep store: below one folder, a folder for each sweep; those that come with the program beside it.

spec.json       what is swept; the id is made of it and of what it is run on
record.json     points and their indexes, questions, versions, and whether everything is done
indexes.jsonl   a line for each index that is built
costs.jsonl     what each of these took; alone differs when a sweep is repeated
indexes/        the indexes themselves, which are in no list of a person's indexes; they may be deleted
results/        the experiment that asks the questions at every point (storage.experiments)
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leanrag_core import private
from leanrag_core.atomic import writing
from leanrag_core.errors import InvalidConfig, LeanRAGError, SweepNotFound
from leanrag_core.messages.message import Message, message
from leanrag_core.records import to_json
from leanrag_core.storage.experiments import ExperimentStore
from leanrag_core.storage.record_folders import SPEC, RecordFolders
from leanrag_core.storage.record_lines import (
    append_lines,
    changed,
    drop_cut_line,
    lines,
    read_lines,
    read_record,
    write,
)
from leanrag_core.types.sweep import PointCost, PointIndex, SweepPoint, SweepSpec, SweepSummary

RECORD, INDEXES_LIST, COSTS = "record.json", "indexes.jsonl", "costs.jsonl"
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


class SweepStore(RecordFolders[SweepSummary]):
    """Lists, reads, writes and deletes sweeps. shipped: the folder of those that come with the program."""

    def __init__(self, root: Path, shipped: Path) -> None:
        super().__init__(root, shipped)
        self._results: dict[Path, ExperimentStore] = {}  # each remembers the summary of its experiment

    def not_found(self, id_: str) -> LeanRAGError:
        return SweepNotFound("sweep.not_found", sweep=id_)

    def shipped_stays(self, id_: str) -> InvalidConfig:
        return InvalidConfig("sweep.shipped_stays", sweep=id_)

    def runs_elsewhere(self, id_: str) -> InvalidConfig:
        return InvalidConfig("sweep.runs_elsewhere", sweep=id_)

    def what(self, title: str) -> Message:
        return message("what.sweep", title=title)

    def summary(self, id_: str) -> SweepSummary:
        """The sweep's row in a list. Raises SweepNotFound, RecordDamaged."""
        stored, folder = self.read(id_), self.folder(id_)
        experiment = stored.record.experiment
        rows = self.results(id_).summary(experiment).rows if experiment else 0
        return SweepSummary(
            id=id_,
            title=stored.spec.title,
            corpus=stored.spec.corpus,
            question_set=stored.spec.question_set,
            axes=tuple(axis.name for axis in stored.spec.axes),
            points=len(stored.record.points),
            built=len(stored.indexes),
            rows=rows,
            all=len(stored.record.points) * len(stored.record.questions),
            is_complete=stored.record.is_complete,
            is_shipped=stored.is_shipped,
            changed=datetime.fromtimestamp(
                max(changed(folder / name) for name in (SPEC, RECORD, INDEXES_LIST)) / 1e9, UTC
            ).isoformat(timespec="seconds"),
        )

    def read(self, id_: str) -> StoredSweep:
        """The sweep with all that it has so far. Raises SweepNotFound, RecordDamaged."""
        folder = self.folder(id_)
        return StoredSweep(
            spec=read_record(SweepSpec, folder / SPEC),
            record=read_record(SweepRecord, folder / RECORD),
            indexes=tuple(read_lines(PointIndex, folder / INDEXES_LIST)),
            costs=tuple(read_lines(PointCost, folder / COSTS)),
            is_shipped=folder.parent == self._shipped,
        )

    def results(self, id_: str) -> ExperimentStore:
        """The store of the sweep's experiment. Raises SweepNotFound."""
        folder = self.folder(id_)
        if folder not in self._results:
            shipped = folder / RESULTS if folder.parent == self._shipped else folder / ".no-shipped"
            self._results[folder] = ExperimentStore(self.root / id_ / RESULTS, shipped)
        return self._results[folder]

    def indexes(self, id_: str) -> Path:
        """The folder of the sweep's indexes. Raises SweepNotFound."""
        return self.folder(id_) / INDEXES

    def begin(self, id_: str, spec: SweepSpec, record: SweepRecord) -> None:
        """The sweep is in the store, without results. Raises StorageFailed."""
        folder = self.root / id_
        with writing(message("what.sweep", title=spec.title)):
            private.make_folder(self.root)
            private.make_folder(folder)
            write(folder / RECORD, to_json(record, indent=1))
            write(folder / SPEC, to_json(spec, indent=1))  # last: without it there is no sweep

    @contextmanager
    def writer(self, id_: str) -> Iterator["SweepWriter"]:
        """Adds to the sweep while the block lasts; no other process does meanwhile.

        Raises SweepNotFound, InvalidConfig where another process runs it or where it is one of the program.
        """
        with self.locked(id_) as folder:
            yield SweepWriter(folder, read_record(SweepSpec, folder / SPEC).title)


class SweepWriter:
    """Adds the results of a sweep."""

    def __init__(self, folder: Path, title: str) -> None:
        self._folder, self._what = folder, message("what.sweep", title=title)
        with writing(self._what):
            for name in (INDEXES_LIST, COSTS):
                drop_cut_line(folder / name)

    def add_index(self, index: PointIndex, cost: PointCost) -> None:
        """The index is recorded as built. Raises StorageFailed."""
        with writing(self._what):
            append_lines(self._folder / COSTS, [cost])  # first: the other line says that the index is built
            append_lines(self._folder / INDEXES_LIST, [index])

    def record(self, indexes: Iterable[PointIndex], costs: Iterable[PointCost], **changes: Any) -> None:
        """The files hold these in their order, each folder once, and the record has the changes. Raises
        StorageFailed."""
        with writing(self._what):
            record = read_record(SweepRecord, self._folder / RECORD)
            for name, values in ((INDEXES_LIST, indexes), (COSTS, costs)):
                content, path = lines(values), self._folder / name
                if content and (not path.is_file() or path.read_bytes() != content):
                    write(path, content)
            write(self._folder / RECORD, to_json(replace(record, **changes), indent=1))
