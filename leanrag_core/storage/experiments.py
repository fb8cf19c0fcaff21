"""The experiment store: below one folder, a folder for each experiment; those that come with the program beside it.

spec.json          what is run; the id is made of it and of what it is run on
record.json        versions, the number of questions, and whether everything is done
questions.jsonl    the question set as it was when the experiment began
rows.jsonl         a line for each question of a run
costs.jsonl        what each of these took; alone differs when an experiment is repeated
judgements.jsonl   a line for each judgement

Lines are appended as work is done. A process that is killed leaves a last line that is cut; it is dropped and its work
done again. A complete experiment has its lines in the order of its specification, so repeating it gives the same bytes.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from leanrag_core import private
from leanrag_core.atomic import writing
from leanrag_core.errors import ExperimentNotFound, InvalidConfig, LeanRAGError
from leanrag_core.messages.message import Message, message
from leanrag_core.records import to_json
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
from leanrag_core.types.experiment import (
    ExperimentResult,
    ExperimentSpec,
    ExperimentSummary,
    Judgement,
    QuestionRow,
    RunCost,
)

T = TypeVar("T")
RECORD, QUESTIONS = "record.json", "questions.jsonl"
ROWS, COSTS, JUDGEMENTS = "rows.jsonl", "costs.jsonl", "judgements.jsonl"


@dataclass(frozen=True)
class ExperimentRecord:
    """record.json. versions: of the program and libraries, and digests of indexes and questions, by name."""

    questions: int
    versions: Mapping[str, str] = field(default_factory=dict)
    is_complete: bool = False


class ExperimentStore(RecordFolders[ExperimentSummary]):
    """Lists, reads, writes and deletes experiments. shipped: the folder of those that come with the program."""

    def __init__(self, root: Path, shipped: Path) -> None:
        super().__init__(root, shipped)
        self._summaries: dict[Path, tuple[tuple[int, ...], ExperimentSummary]] = {}

    def not_found(self, id_: str) -> LeanRAGError:
        return ExperimentNotFound("experiment.not_found", experiment=id_)

    def shipped_stays(self, id_: str) -> InvalidConfig:
        return InvalidConfig("experiment.shipped_stays", experiment=id_)

    def runs_elsewhere(self, id_: str) -> InvalidConfig:
        return InvalidConfig("experiment.runs_elsewhere", experiment=id_)

    def what(self, title: str) -> Message:
        return _what(title)

    def summary(self, id_: str) -> ExperimentSummary:
        """The experiment's row in a list. Raises ExperimentNotFound, RecordDamaged."""
        folder = self.folder(id_)
        stamp = tuple(changed(folder / name) for name in (SPEC, RECORD, ROWS, JUDGEMENTS))
        kept = self._summaries.get(folder)
        if kept is not None and kept[0] == stamp:
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
            changed=datetime.fromtimestamp(max(stamp) / 1e9, UTC).isoformat(timespec="seconds"),
        )
        self._summaries[folder] = stamp, summary
        return summary

    def read(self, id_: str) -> ExperimentResult:
        """The experiment with all that it has so far. Raises ExperimentNotFound, RecordDamaged."""
        folder = self.folder(id_)
        record = self.record(id_)
        return ExperimentResult(
            id=id_,
            spec=read_record(ExperimentSpec, folder / SPEC),
            rows=tuple(read_lines(QuestionRow, folder / ROWS)),
            costs=tuple(read_lines(RunCost, folder / COSTS)),
            judgements=tuple(read_lines(Judgement, folder / JUDGEMENTS)),
            is_complete=record.is_complete,
            is_shipped=folder.parent == self._shipped,
            versions=record.versions,
        )

    def record(self, id_: str) -> ExperimentRecord:
        """What was recorded when the experiment began. Raises ExperimentNotFound, RecordDamaged."""
        return read_record(ExperimentRecord, self.folder(id_) / RECORD)

    def questions(self, id_: str, kind: type[T]) -> tuple[T, ...]:
        """The experiment's questions. kind: their record. Raises ExperimentNotFound, RecordDamaged."""
        return tuple(read_lines(kind, self.folder(id_) / QUESTIONS))

    def begin(self, id_: str, spec: ExperimentSpec, versions: Mapping[str, str], questions: Sequence[Any]) -> None:
        """The experiment is in the store, without results. Raises StorageFailed."""
        folder = self.root / id_
        with writing(_what(spec.title)):
            private.make_folder(self.root)
            private.make_folder(folder)
            write(folder / QUESTIONS, lines(questions))
            write(folder / RECORD, to_json(ExperimentRecord(len(questions), dict(versions)), indent=1))
            write(folder / SPEC, to_json(spec, indent=1))  # last: without it there is no experiment

    @contextmanager
    def writer(self, id_: str) -> Iterator["ExperimentWriter"]:
        """Appends to the experiment while the block lasts; no other process does meanwhile.

        Raises ExperimentNotFound, InvalidConfig where another process runs it or where it is one of the program.
        """
        with self.locked(id_) as folder:
            writer = ExperimentWriter(folder, read_record(ExperimentSpec, folder / SPEC).title)
            writer.drop_cut_lines()
            yield writer


class ExperimentWriter:
    """Appends the results of an experiment."""

    def __init__(self, folder: Path, title: str) -> None:
        self._folder, self._what = folder, _what(title)

    def drop_cut_lines(self) -> None:
        """What was cut by the end of a process is gone: last lines, and costs of rows that were not written."""
        with writing(self._what):
            for name in (ROWS, COSTS, JUDGEMENTS):
                drop_cut_line(self._folder / name)

    def add_rows(self, rows: Sequence[QuestionRow], costs: Sequence[RunCost]) -> None:
        """The rows are on the disk. Raises StorageFailed."""
        # The costs go first: a row says that its question is done.
        self._append(COSTS, costs)
        self._append(ROWS, rows)

    def add_judgements(self, judgements: Sequence[Judgement]) -> None:
        """The judgements are on the disk. Raises StorageFailed."""
        self._append(JUDGEMENTS, judgements)

    def finish(self, result: ExperimentResult) -> None:
        """The files hold what the result does, in its order, and the experiment is complete. Raises StorageFailed."""
        with writing(self._what):
            record = read_record(ExperimentRecord, self._folder / RECORD)
            for name, values in ((ROWS, result.rows), (COSTS, result.costs), (JUDGEMENTS, result.judgements)):
                content, path = lines(values), self._folder / name
                if content and (not path.is_file() or path.read_bytes() != content):
                    write(path, content)
            write(self._folder / RECORD, to_json(replace(record, is_complete=result.is_complete), indent=1))

    def _append(self, name: str, values: Sequence[Any]) -> None:
        if not values:
            return
        with writing(self._what):
            append_lines(self._folder / name, values)


def _what(title: str) -> Message:
    return message("what.experiment", title=title)
