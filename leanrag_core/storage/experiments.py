"""The experiments of a record store: what each question of a run found, what it took, and how answers are judged.

record.json        versions, the number of questions, and whether everything is done
questions.jsonl    the question set as it was when the experiment began
rows.jsonl         a line for each question of a run
costs.jsonl        what each of these took; alone differs when an experiment is repeated
judgements.jsonl   a line for each judgement
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from leanrag_core.errors import ExperimentNotFound, InvalidConfig
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
        """Make the files hold what the result does, in its order. Raises StorageFailed."""
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
            runs=tuple(run.name for run in result.spec.runs),
            rows=len(result.rows),
            all=len(result.spec.runs) * record.questions,
            errors=sum(bool(row.error) for row in result.rows),
            judgements=len(result.judgements),
            is_complete=result.is_complete,
            is_shipped=result.is_shipped,
            changed=time_of(changed),
        )
        self._summaries[folder] = changed, summary
        return summary

    def read(self, id_: str) -> ExperimentResult:
        """Return the experiment with all that it has so far. Raises ExperimentNotFound, RecordDamaged."""
        folder = self.folder(id_)
        record = self.record(id_)
        return ExperimentResult(
            id=id_,
            spec=read_record(ExperimentSpec, folder / SPEC),
            rows=read_lines(QuestionRow, folder / ROWS),
            costs=read_lines(RunCost, folder / COSTS),
            judgements=read_lines(Judgement, folder / JUDGEMENTS),
            is_complete=record.is_complete,
            is_shipped=self.is_shipped(id_),
            versions=record.versions,
        )

    def record(self, id_: str) -> ExperimentRecord:
        """Return what was recorded when the experiment began. Raises ExperimentNotFound, RecordDamaged."""
        return read_record(ExperimentRecord, self.folder(id_) / RECORD)

    def questions(self, id_: str, kind: type[T]) -> tuple[T, ...]:
        """Return the experiment's questions. kind: their record. Raises ExperimentNotFound, RecordDamaged."""
        return read_lines(kind, self.folder(id_) / QUESTIONS)

    def begin(self, id_: str, spec: ExperimentSpec, versions: Mapping[str, str], questions: Sequence[Any]) -> None:
        """Store the experiment without results. Raises StorageFailed."""
        self._begin(id_, spec, ExperimentRecord(len(questions), dict(versions)), {QUESTIONS: questions})
