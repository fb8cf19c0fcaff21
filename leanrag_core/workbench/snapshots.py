"""Snapshots: earlier states of indexes, opened, named, compared, put back and deleted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leanrag_core.comparing.states import (
    QuestionDifferences,
    StateDifferences,
    question_differences,
    state_differences,
)
from leanrag_core.errors import InvalidConfig, SnapshotNotFound
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.measuring import scores_of_questions
from leanrag_core.files.atomic import writing
from leanrag_core.messages.message import message
from leanrag_core.storage import earlier_states, layout
from leanrag_core.storage.earlier_states import state_folder
from leanrag_core.storage.staging import build_lock, put_again, remove_stale_staging
from leanrag_core.types.index import Index
from leanrag_core.types.snapshots import MAX_NAME, Snapshot, StateChange
from leanrag_core.workbench.indexes import Indexes
from leanrag_core.workbench.questions import AskRequest, Questions


@dataclass(frozen=True)
class AskedOfStates:
    """A question set that two states are compared on, and how it is asked."""

    questions: Sequence[GoldQuestion]
    strategy: str = "leanrag"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ComparedStates:
    """Two states beside each other. questions: None where none were asked, or none has gold evidence."""

    differences: StateDifferences
    questions: QuestionDifferences | None = None


class Snapshots:
    """The earlier states of indexes, which are known by their folders. A state is known by its number, its name or the
    id in its manifest; the empty text is the index as it is now."""

    def __init__(self, indexes: Indexes, questions: Questions) -> None:
        self._indexes, self._questions = indexes, questions

    def list(self, folder: Path) -> tuple[Snapshot, ...]:
        """Return the states that are kept, the newest first. Raises IndexNotFound, IndexDamaged, IndexTooNew."""
        layout.read_manifest(folder)
        return earlier_states.earlier_states(folder)

    def find(self, folder: Path, state: str) -> Snapshot:
        """Return that state, the newest of several with the same content. Raises SnapshotNotFound."""
        for known in self.list(folder):
            if state and state in (str(known.number), known.name, known.id):
                return known
        raise SnapshotNotFound("snapshot.not_found", state=state, index=layout.read_manifest(folder).name)

    def folder(self, folder: Path, state: str) -> Path:
        """Return the folder of the state, which is that of an index and opens like any other; nothing may change it.
        Raises SnapshotNotFound."""
        return state_folder(folder, self.find(folder, state).number) if state else folder

    def open(self, folder: Path, state: str) -> Index:
        """Return the state as an index, read-only. Raises SnapshotNotFound, IndexDamaged."""
        return layout.read_index(self.folder(folder, state))

    def keep(self, folder: Path, name: str, state: str = "") -> Snapshot:
        """Keep the state under that name until it is deleted; return it. A named state is renamed.

        Raises InvalidConfig for a name that another state has, is empty, long or a number; SnapshotNotFound,
        StorageFailed.
        """
        name = " ".join(name.split())
        with build_lock(folder, waiting=lambda: None), writing(message("what.index", folder=str(folder))):
            remove_stale_staging(folder)
            known = self.find(folder, state) if state else None
            self._require_name(folder, name, known)
            if known is None:
                number = earlier_states.keep_copy(folder, name)
            else:
                number = known.number
                earlier_states.change_record(folder, known, name=name)
            return self.find(folder, str(number))

    def _require_name(self, folder: Path, name: str, known: Snapshot | None) -> None:
        others = {state.name for state in self.list(folder) if known is None or state.number != known.number}
        if not name or len(name) > MAX_NAME or name.isdigit():
            raise InvalidConfig("snapshot.name_invalid", limit=MAX_NAME)
        if name in others:
            raise InvalidConfig("snapshot.name_taken", name=name)

    def restore(self, folder: Path, state: str) -> Index:
        """Put the state in the place of the index, byte for byte but for a name that the index was given since; the
        index as it is becomes a state first, and the restored one stays a state. Raises SnapshotNotFound, IndexDamaged,
        StorageFailed."""
        with build_lock(folder, waiting=lambda: None):
            remove_stale_staging(folder)
            known = self.find(folder, state)
            layout.read_index(state_folder(folder, known.number))  # a damaged one takes no place
            put_again(folder, known, StateChange("restore"), in_store=self._indexes.holds(folder))
            return layout.read_index(folder)

    def delete(self, folder: Path, state: str) -> None:
        """Delete the state, and what a Chroma server holds of it. Raises SnapshotNotFound, StorageFailed,
        SearchIndexFailed."""
        with build_lock(folder, waiting=lambda: None), writing(message("what.index", folder=str(folder))):
            known = self.find(folder, state)
            earlier_states.delete_state(folder, known.number)
            kept = {layout.read_manifest(folder).id, *(each.id for each in self.list(folder))}
        self._indexes.remove_collections({known.id} - kept)

    def compare(
        self, folder: Path, before: str, after: str = "", *, asked: AskedOfStates | None = None
    ) -> ComparedStates:
        """Compare two states: graph, clusters and texts, and the recall of gold evidence over a question set. after:
        the index as it is by default. Raises SnapshotNotFound, and what retrieval does."""
        old, new = self.open(folder, before), self.open(folder, after)
        differences = state_differences(old, new)
        if asked is None:
            return ComparedStates(differences)
        scores_before, scores_after = self._scores(old, asked), self._scores(new, asked)
        return ComparedStates(differences, question_differences(scores_before, scores_after))

    def _scores(self, index: Index, asked: AskedOfStates) -> dict[str, dict[str, float]]:
        def retrieve(question: str) -> Any:
            return self._questions.retrieve(index, AskRequest(question, asked.strategy, asked.options, measured=True))

        return scores_of_questions(index, asked.questions, retrieve)
