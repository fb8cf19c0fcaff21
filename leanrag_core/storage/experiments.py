"""The experiments and sweeps of a record store: what each question found and took, and which indexes are built.

Verdicts of people on the answers are a file of lines beside the others, to which any session appends. A line is a
Judgement with the criteria that were voted on; a later line on the same thing replaces what an earlier one says, and a
verdict of None takes it back. Nothing is rewritten, so a kill loses at most the line that it cuts.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock

from leanrag_core.errors import ExperimentNotFound, InvalidConfig, SweepNotFound
from leanrag_core.files import private
from leanrag_core.files.atomic import writing
from leanrag_core.files.records import to_json
from leanrag_core.messages.message import message
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
from leanrag_core.types.experiment import (
    ExperimentResult,
    ExperimentSpec,
    ExperimentSummary,
    Judgement,
    QuestionRow,
    RunCost,
)
from leanrag_core.types.sweep import PointCost, PointIndex, SweepPoint, SweepSpec, SweepSummary

VOTES = "votes.jsonl"
_LOCK = ".votes.lock"
_WAIT_SECONDS = 20  # for another session, which holds the lock for the time of one line


def add_votes(folder: Path, votes: Sequence[Judgement]) -> None:
    """Put the votes on the disk, behind those of other sessions. Raises StorageFailed."""
    with writing(message("what.experiment", title=folder.name)):
        private.make_folder(folder.parent)
        private.make_folder(folder)
        with (
            FileLock(folder / _LOCK, timeout=_WAIT_SECONDS, mode=private.FILE),
            open(folder / VOTES, "a+b", opener=private.opener) as file,
        ):
            file.seek(0)
            content = file.read()
            file.truncate(content.rfind(b"\n") + 1)  # a line that the end of a process has cut
            file.write(b"".join(to_json(vote) + b"\n" for vote in votes))
            file.flush()
            os.fsync(file.fileno())


def standing_votes(votes: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """Return what holds after all lines: a judgement for each voter, question and pair in the order shown, with the
    verdicts that nobody took back; in the order in which they were voted on first."""
    standing: dict[tuple[str, str, str, str], Judgement] = {}
    for vote in votes:
        key = vote.judge, vote.question, vote.first, vote.second
        earlier = standing[key].verdicts if key in standing else {}
        standing[key] = replace(vote, verdicts={**earlier, **vote.verdicts})
    kept = (
        replace(vote, verdicts={name: value for name, value in vote.verdicts.items() if value is not None})
        for vote in standing.values()
    )
    return tuple(vote for vote in kept if vote.verdicts)


T = TypeVar("T")
QUESTIONS = "questions.jsonl"
ROWS, COSTS, JUDGEMENTS = "rows.jsonl", "costs.jsonl", "judgements.jsonl"


@dataclass(frozen=True)
class ExperimentRecord:
    """record.json. versions: of the program and libraries, and digests of indexes and questions, by name."""

    questions: int
    versions: Mapping[str, str] = field(default_factory=dict)
    is_complete: bool = False


class ExperimentWriter(RecordWriter):
    """Appends the results of an experiment."""

    def add_rows(self, rows: Sequence[QuestionRow], costs: Sequence[RunCost]) -> None:
        """Put the rows on the disk. Raises StorageFailed."""
        self._append({COSTS: costs, ROWS: rows})  # costs go first: a row says that its question is done

    def add_judgements(self, judgements: Sequence[Judgement]) -> None:
        """Put the judgements on the disk. Raises StorageFailed."""
        self._append({JUDGEMENTS: judgements})

    def finish(self, result: ExperimentResult) -> None:
        """Write the result into the files, in its order. Raises StorageFailed."""
        lines = {ROWS: result.rows, COSTS: result.costs, JUDGEMENTS: result.judgements}
        self._rewrite(lines, is_complete=result.is_complete)


class ExperimentStore(RecordStore[ExperimentSummary, ExperimentWriter]):
    """Lists, reads, writes and deletes experiments. shipped: the folder of those that come with the program."""

    writer_type = ExperimentWriter
    kind = Kind(
        spec=ExperimentSpec,
        record=ExperimentRecord,
        lines=(ROWS, COSTS, JUDGEMENTS),
        what="what.experiment",
        not_found=lambda id_: ExperimentNotFound("experiment.not_found", experiment=id_),
        shipped_stays=lambda id_: InvalidConfig("experiment.shipped_stays", experiment=id_),
        runs_elsewhere=lambda id_: InvalidConfig("experiment.runs_elsewhere", experiment=id_),
    )

    def __init__(self, root: Path, shipped: Path) -> None:
        super().__init__(root, shipped)
        self._summaries: dict[Path, tuple[tuple[int, ...], ExperimentSummary]] = {}

    def summary(self, id_: str) -> ExperimentSummary:
        """Return the experiment's row in a list. Raises ExperimentNotFound, RecordDamaged."""
        folder, changed = self.folder(id_), self.changed(id_)
        kept = self._summaries.get(folder)
        if kept is not None and kept[0] == changed:
            return kept[1]
        result, record = self.read(id_), self.record(id_)
        summary = ExperimentSummary(
            id=id_,
            title=result.spec.title,
            question_set=result.spec.question_set,
            runs=tuple(run.key for run in result.spec.runs),
            rows=len(result.rows),
            all=len(result.spec.runs) * record.questions,
            errors=sum(bool(row.error) for row in result.rows),
            judgements=len(result.judgements),
            is_complete=result.is_complete,
            is_shipped=result.is_shipped,
            changed=time_of(changed),
            has_answers=any(row.answer for row in result.rows),
        )
        self._summaries[folder] = changed, summary
        return summary

    def read(self, id_: str) -> ExperimentResult:
        """Return the experiment with all that it has so far. Raises ExperimentNotFound, RecordDamaged."""
        folder = self.folder(id_)
        record = self.record(id_)
        return ExperimentResult(
            id=id_,
            spec=self.spec(id_),
            rows=read_lines(QuestionRow, folder / ROWS),
            costs=read_lines(RunCost, folder / COSTS),
            judgements=(*read_lines(Judgement, folder / JUDGEMENTS), *standing_votes(self.votes(id_))),
            is_complete=record.is_complete,
            is_shipped=self.is_shipped(id_),
            versions=record.versions,
        )

    def spec(self, id_: str) -> ExperimentSpec:
        """Return what the experiment runs. Raises ExperimentNotFound, RecordDamaged."""
        return read_record(ExperimentSpec, self.folder(id_) / SPEC)

    def rows(self, id_: str, run: str) -> tuple[QuestionRow, ...]:
        """Return what each question has found in the run of that key so far. Raises ExperimentNotFound, RecordDamaged
        where a line of it does not read."""
        rows = read_lines(QuestionRow, self.folder(id_) / ROWS, holding=run)
        return tuple(row for row in rows if row.run == run)

    def votes(self, id_: str) -> tuple[Judgement, ...]:
        """Return what people voted, line by line, also on an experiment of the program. Raises ExperimentNotFound,
        RecordDamaged."""
        return read_lines(Judgement, self._own_folder(id_) / VOTES)

    def add_votes(self, id_: str, votes: Sequence[Judgement]) -> None:
        """Put votes on the disk, while the experiment may be running. Raises ExperimentNotFound, StorageFailed."""
        add_votes(self._own_folder(id_), votes)

    def changed(self, id_: str) -> tuple[int, ...]:
        """Return when each file of the experiment changed last, votes included."""
        path = self._own_folder(id_) / VOTES
        return (*super().changed(id_), path.stat().st_mtime_ns if path.is_file() else 0)

    def run_at(self, id_: str) -> str:
        """Return when questions were answered or judged last, ISO 8601; votes come later and change none of that."""
        return time_of(super().changed(id_))

    def _own_folder(self, id_: str) -> Path:
        """Return where the person's own files lie, which is beside an experiment of the program."""
        return self.root / self.folder(id_).name

    def record(self, id_: str) -> ExperimentRecord:
        """Return what was recorded when the experiment began. Raises ExperimentNotFound, RecordDamaged."""
        return read_record(ExperimentRecord, self.folder(id_) / RECORD)

    def questions(self, id_: str, kind: type[T]) -> tuple[T, ...]:
        """Return the experiment's questions. kind: their record. Raises ExperimentNotFound, RecordDamaged."""
        return read_lines(kind, self.folder(id_) / QUESTIONS)

    def begin(self, id_: str, spec: ExperimentSpec, versions: Mapping[str, str], questions: Sequence[Any]) -> None:
        """Store the experiment without results. Raises StorageFailed."""
        self._begin(id_, spec, ExperimentRecord(len(questions), dict(versions)), {QUESTIONS: questions})


INDEXES_LIST, SWEEP_COSTS = "indexes.jsonl", "costs.jsonl"
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
        self._append({SWEEP_COSTS: [cost], INDEXES_LIST: [index]})  # the second says that the index is built

    def record(self, indexes: Iterable[PointIndex], costs: Iterable[PointCost], **changes: Any) -> None:
        """Write these into the files in their order, each folder once, and change the record. Raises StorageFailed."""
        self._rewrite({INDEXES_LIST: indexes, SWEEP_COSTS: costs}, **changes)


class SweepStore(RecordStore[SweepSummary, SweepWriter]):
    """Lists, reads, writes and deletes sweeps. shipped: the folder of those that come with the program."""

    writer_type = SweepWriter
    kind = Kind(
        spec=SweepSpec,
        record=SweepRecord,
        lines=(INDEXES_LIST, SWEEP_COSTS),
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
        results = self.results(id_).summary(experiment) if experiment else None
        return SweepSummary(
            id=id_,
            title=stored.spec.title,
            corpus=stored.spec.corpus,
            question_set=stored.spec.question_set,
            axes=tuple(axis.name for axis in stored.spec.axes),
            points=len(stored.record.points),
            built=len(stored.indexes),
            rows=results.rows if results else 0,
            all=len(stored.record.points) * len(stored.record.questions),
            is_complete=stored.record.is_complete,
            is_shipped=stored.is_shipped,
            changed=max(time_of(self.changed(id_)), results.changed if results else ""),
        )

    def read(self, id_: str) -> StoredSweep:
        """Return the sweep with all that it has so far. Raises SweepNotFound, RecordDamaged."""
        folder = self.folder(id_)
        return StoredSweep(
            spec=read_record(SweepSpec, folder / SPEC),
            record=read_record(SweepRecord, folder / RECORD),
            indexes=read_lines(PointIndex, folder / INDEXES_LIST),
            costs=read_lines(PointCost, folder / SWEEP_COSTS),
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
