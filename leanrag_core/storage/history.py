"""The questions that were asked, in one file of bounded size; never a part of an index."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from leanrag_core.errors import InvalidConfig
from leanrag_core.files import private
from leanrag_core.files.atomic import write_bytes, writing
from leanrag_core.files.records import from_json, to_json
from leanrag_core.messages.message import message
from leanrag_core.storage.key_locks import KeyLocks
from leanrag_core.types.question_set import MAX_ANSWER, MAX_NOTE, HistoryEntry

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
        """Make the question the one asked last; asked again it keeps its pin, its note and its thread. Raises
        RecordDamaged, StorageFailed."""
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
        """The question is pinned or not. Raises RecordDamaged, StorageFailed."""
        self._replace(id_, lambda entry: replace(entry, pinned=pinned))

    def note(self, id_: str, text: str) -> None:
        """The question has that note. Raises InvalidConfig for one that is too long, RecordDamaged, StorageFailed."""
        if len(text) > MAX_NOTE:
            raise InvalidConfig("history.note_too_long", n=len(text), limit=MAX_NOTE)
        self._replace(id_, lambda entry: replace(entry, note=text.strip()))

    def delete(self, id_: str) -> None:
        """The question is gone. Raises RecordDamaged, StorageFailed."""
        self._change(lambda entries: [each for each in entries if each.id != id_])

    def restore(self, entry: HistoryEntry) -> None:
        """A deleted question is back in its place by time. Raises RecordDamaged, StorageFailed."""

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
