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

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock, Timeout

from leanrag_core import private
from leanrag_core.atomic import writing
from leanrag_core.errors import ExperimentNotFound, InvalidConfig, LeanRAGError
from leanrag_core.messages.message import Message, message
from leanrag_core.records import to_json
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
from leanrag_core.types.summary import Damaged

T = TypeVar("T")
SPEC, RECORD, QUESTIONS = "spec.json", "record.json", "questions.jsonl"
ROWS, COSTS, JUDGEMENTS = "rows.jsonl", "costs.jsonl", "judgements.jsonl"
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")


@dataclass(frozen=True)
class ExperimentRecord:
    """record.json. versions: of the program and libraries, and digests of indexes and questions, by name."""

    questions: int
    versions: Mapping[str, str] = field(default_factory=dict)
    is_complete: bool = False


class ExperimentStore:
    """Lists, reads, writes and deletes experiments. shipped: the folder of those that come with the program."""

    def __init__(self, root: Path, shipped: Path) -> None:
        self.root, self._shipped = root, shipped
        private.tighten_file(root)
        self._summaries: dict[Path, tuple[tuple[int, ...], ExperimentSummary]] = {}

    def all(self) -> tuple[ExperimentSummary, ...]:
        """The experiments that read: the person's own, the last changed first, then those of the program."""
        summaries = [
            summary for summary in map(self._summary_or_damage, self._ids()) if not isinstance(summary, Damaged)
        ]
        own = sorted((each for each in summaries if not each.is_shipped), key=lambda each: each.changed, reverse=True)
        return (*own, *(each for each in summaries if each.is_shipped))

    def damaged(self) -> tuple[Damaged, ...]:
        """The experiments that do not read, and why."""
        return tuple(each for each in map(self._summary_or_damage, self._ids()) if isinstance(each, Damaged))

    def _ids(self) -> list[str]:
        folders = [path.parent for root in (self.root, self._shipped) for path in root.glob(f"*/{SPEC}")]
        return sorted({folder.name for folder in folders if _ID.fullmatch(folder.name)})

    def _summary_or_damage(self, id_: str) -> ExperimentSummary | Damaged:
        try:
            return self.summary(id_)
        except LeanRAGError as error:
            return Damaged(id_, str(error))

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

    def folder(self, id_: str) -> Path:
        """Where the experiment lies: the person's own before that of the program. Raises ExperimentNotFound."""
        if _ID.fullmatch(id_):
            for root in (self.root, self._shipped):
                if (root / id_ / SPEC).is_file():
                    return root / id_
        raise ExperimentNotFound("experiment.not_found", experiment=id_)

    def is_there(self, id_: str) -> bool:
        """Whether the store, or the program, has an experiment of that id."""
        return bool(_ID.fullmatch(id_)) and any((root / id_ / SPEC).is_file() for root in (self.root, self._shipped))

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

    def is_shipped(self, id_: str) -> bool:
        """Whether the experiment is one of the program, without a copy of the person's own. Raises
        ExperimentNotFound."""
        return self.folder(id_).parent == self._shipped

    @contextmanager
    def writer(self, id_: str) -> Iterator["ExperimentWriter"]:
        """Appends to the experiment while the block lasts; no other process does meanwhile.

        Raises ExperimentNotFound, InvalidConfig where another process runs it or where it is one of the program.
        """
        with self._locked(id_) as folder:
            writer = ExperimentWriter(folder, read_record(ExperimentSpec, folder / SPEC).title)
            writer.drop_cut_lines()
            yield writer

    def delete(self, id_: str) -> None:
        """The experiment is gone, a damaged one too. Raises ExperimentNotFound, InvalidConfig for one of the program
        and for one that another process runs, StorageFailed."""
        with self._locked(id_) as folder, writing(_what(id_)):
            shutil.rmtree(folder)

    @contextmanager
    def _locked(self, id_: str) -> Iterator[Path]:
        """The experiment's folder, which no other process writes to while the block lasts."""
        folder = self.folder(id_)
        if folder.parent == self._shipped:
            raise InvalidConfig("experiment.shipped_stays", experiment=id_)
        path = self.root / f".{id_}.lock"
        lock = FileLock(path, mode=private.FILE)
        try:
            lock.acquire(blocking=False)
        except Timeout as error:
            raise InvalidConfig("experiment.runs_elsewhere", experiment=id_) from error
        try:
            yield folder
        finally:
            path.unlink(missing_ok=True)
            lock.release()


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
