"""The questions that were asked, in one file of bounded size, and recorded runs, which are read strictly."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from leanrag_core.errors import InvalidConfig, RecordDamaged, RunNotFound, RunTooNew
from leanrag_core.files import private
from leanrag_core.files.atomic import write_bytes, writing
from leanrag_core.files.records import from_json, to_json, values_of
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message, message
from leanrag_core.storage.calls import KeyLocks
from leanrag_core.types.calls import Usage
from leanrag_core.types.question_set import MAX_ANSWER, MAX_NOTE, HistoryEntry
from leanrag_core.types.trace import RUN_FORMAT, RUN_VERSION, Answer, AnswerPart, RecordedRun, Trace

MOST = 500  # questions; above it the oldest goes that is neither pinned nor has a note
_MAX_BYTES = 16_000_000
_LOCK = "questions"


class QuestionHistory:
    """Keeps, changes and deletes questions below one folder; several processes may do so at once."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "questions.json"
        self._locks = KeyLocks(folder / "locks")

    def all(self) -> tuple[HistoryEntry, ...]:
        """Return the questions, the one asked last first. Raises RecordDamaged."""
        if not self._path.is_file():
            return ()
        private.tighten_file(self._path)
        with self._path.open("rb") as file:
            return from_json(tuple[HistoryEntry, ...], file.read(_MAX_BYTES + 1), name="history", max_bytes=_MAX_BYTES)

    def matching(self, search: str = "") -> tuple[HistoryEntry, ...]:
        """Return the questions that hold every word of `search`: pinned ones first, then the one asked last. Raises
        RecordDamaged."""
        matching = [entry for entry in self.all() if entry.holds(search)]
        return tuple(sorted(matching, key=lambda entry: not entry.pinned))

    def thread(self, id_: str) -> tuple[HistoryEntry, ...]:
        """Return the question of that id and those that it follows, the oldest first; nothing for an unknown one."""
        by_id = {entry.id: entry for entry in self.all()}
        thread: list[HistoryEntry] = []
        while id_ in by_id and by_id[id_] not in thread:
            thread.append(by_id[id_])
            id_ = by_id[id_].follows
        return tuple(reversed(thread))

    def keep(self, entry: HistoryEntry) -> HistoryEntry:
        """Store the question as the one asked last; one that is asked again keeps its pin, its note and its thread.
        Raises RecordDamaged, StorageFailed."""
        entry = replace(entry, answer=entry.answer[:MAX_ANSWER])

        def kept(entries: list[HistoryEntry]) -> list[HistoryEntry]:
            nonlocal entry
            before = next((each for each in entries if each.id == entry.id), None)
            if before is not None:
                thread = entry if entry.follows else before
                entry = replace(
                    entry,
                    pinned=before.pinned,
                    note=before.note,
                    answer=entry.answer or before.answer,
                    follows=thread.follows,
                    written=thread.written,
                    way=thread.way,
                )
            return [entry, *(each for each in entries if each.id != entry.id)]

        self._change(kept)
        return entry

    def pin(self, id_: str, *, pinned: bool) -> None:
        """Pin the question or not. Raises RecordDamaged, StorageFailed."""
        self._replace(id_, lambda entry: replace(entry, pinned=pinned))

    def note(self, id_: str, text: str) -> None:
        """Set the note of the question. Raises InvalidConfig for one that is too long, RecordDamaged, StorageFailed."""
        if len(text) > MAX_NOTE:
            raise InvalidConfig("history.note_too_long", n=len(text), limit=MAX_NOTE)
        self._replace(id_, lambda entry: replace(entry, note=text.strip()))

    def delete(self, id_: str) -> None:
        """Delete the question. Raises RecordDamaged, StorageFailed."""
        self._change(lambda entries: [each for each in entries if each.id != id_])

    def restore(self, entry: HistoryEntry) -> None:
        """Put a deleted question back in its place by time. Raises RecordDamaged, StorageFailed."""

        def restored(entries: list[HistoryEntry]) -> list[HistoryEntry]:
            others = [each for each in entries if each.id != entry.id]
            return sorted([entry, *others], key=lambda each: each.asked, reverse=True)

        self._change(restored)

    def _replace(self, id_: str, change: Callable[[HistoryEntry], HistoryEntry]) -> None:
        self._change(lambda entries: [change(each) if each.id == id_ else each for each in entries])

    def _change(self, change: Callable[[list[HistoryEntry]], list[HistoryEntry]]) -> None:
        with writing(message("what.history", path=str(self._path))), self._locks.locked(_LOCK):
            private.make_folder(self._path.parent)
            entries = change(list(self.all()))
            droppable = [each for each in entries if not each.pinned and not each.note]
            for old in droppable[::-1][: max(0, len(entries) - MOST)]:
                entries.remove(old)
            write_bytes(self._path, to_json(tuple(entries), indent=1), private=True)


MAX_BYTES = 32_000_000


@dataclass(frozen=True)
class _AnswerRecord:
    """An answer without its trace, which the file holds once."""

    text: str
    parts: tuple[AnswerPart, ...]
    citations: tuple[str, ...]
    grounded: bool
    extractive: bool
    model: str
    usage: Usage
    nearest: str = ""
    nearest_parts: tuple[AnswerPart, ...] = ()
    because: Message | None = None


@dataclass(frozen=True)
class RunRecord:
    """A recorded run as its file, or a file of several runs, holds it."""

    format: str
    version: int
    trace: Trace
    answer: _AnswerRecord | None


def content_of(run: RecordedRun) -> bytes:
    """Return the run as the content of its file, which run_of() reads."""
    return to_json(record_of(run))


def record_of(run: RecordedRun) -> RunRecord:
    """Return the run as a record, which from_record() reads."""
    answer = None
    if run.answer is not None:
        answer = _AnswerRecord(**{name: value for name, value in vars(run.answer).items() if name != "trace"})
    return RunRecord(run.format, run.version, run.trace, answer)


def write_run(path: Path, run: RecordedRun) -> None:
    """Write the run into the file, in one step. Raises StorageFailed."""
    write_recorded(path, content_of(run))


def write_recorded(path: Path, content: bytes) -> None:
    """Write the content of a recorded run, or of several, into the file, in one step. Raises StorageFailed."""
    with writing(message("what.recorded_run", file=str(path))):
        write_bytes(path, content)


def read_run(path: Path) -> RecordedRun:
    """Return the run in the file. Raises RunNotFound, RunTooNew, RecordDamaged."""
    if not path.is_file():
        raise RunNotFound("run.not_found", file=str(path))
    with path.open("rb") as file:
        return run_of(file.read(MAX_BYTES + 1), name=path.name)


def require_run_format(values: Any, format_name: str, newest: int, *, other: str, name: str) -> None:
    """Raise RunNotFound with the message `other` unless the values are a record of that format, and RunTooNew above its
    newest version. name: of the file."""
    if not isinstance(values, dict) or values.get("format") != format_name:
        raise RunNotFound(other, file=name)
    version = values.get("version")
    if isinstance(version, int) and version > newest:
        raise RunTooNew("run.too_new", file=name, version=version, known=newest)


def run_of(content: bytes, *, name: str) -> RecordedRun:
    """Return the run of a file's content, such as an upload. name: of the file, for errors. Raises as read_run()
    does."""
    values = values_of(content, name=name, max_bytes=MAX_BYTES)
    require_run_format(values, RUN_FORMAT, RUN_VERSION, other="run.other_file", name=name)
    return from_record(from_json(RunRecord, content, name=name, max_bytes=MAX_BYTES), name=name)


def from_record(record: RunRecord, *, name: str) -> RecordedRun:
    """Return the run of a record. name: of its file, for errors. Raises RecordDamaged for a message that has no
    sentence."""
    require_sentences(_messages(record.trace), name)
    if record.answer and record.answer.because:
        require_sentences((record.answer.because,), name)
    answer = Answer(**vars(record.answer), trace=record.trace) if record.answer is not None else None
    return RecordedRun(record.trace, answer, record.format, record.version)


def require_sentences(messages: Iterable[Message], name: str) -> None:
    """Raise RecordDamaged where the catalog cannot say a message: a file may hold any code."""
    for text in messages:
        try:
            sentence(text)
        except (LookupError, ValueError, TypeError, AttributeError, RecursionError):
            raise RecordDamaged("run.unknown_message", file=name, told=text.code) from None


def _messages(trace: Trace) -> Iterator[Message]:
    yield trace.title
    yield from trace.notes
    for step in trace.steps:
        yield from (step.title, step.caption)
    yield from (style.title for style in trace.styles)
    yield from (item.reason for item in trace.items if item.reason is not None)
    yield from (relation.reason for relation in trace.relations if relation.reason is not None)
    for section in trace.context.sections:
        yield from (text for text in (section.title, section.phrase, section.noun) if text is not None)
        yield from (message(lost.noun, n=lost.offered) for lost in section.lost if lost.noun)
