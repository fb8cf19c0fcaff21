"""Updates of indexes, edits by hand, and undoing both."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.facade.indexes import Indexes
from leanrag_core.facade.taking_index import takes_index
from leanrag_core.jobs.kinds import COMPARE_FRESH, UPDATE
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.models.registry import Models
from leanrag_core.records import plain
from leanrag_core.services.updates import with_edit, without_edit
from leanrag_core.storage.layout import read_edits, read_index, read_manifest
from leanrag_core.types.corpus import Document
from leanrag_core.types.editing import Edit, EditLog
from leanrag_core.types.execution import Execution
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobKind
from leanrag_core.types.progress import Report, silent
from leanrag_core.types.spending import Budget
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.updating import DocumentChanges, EarlierState, FreshDistance, UpdatePreview


class Updating(Indexes):
    """Updates, edits, undo. Indexes are named by their folders; index_path() gives that of one in the store."""

    def corpus_changes(self, index_id: str) -> DocumentChanges:
        """What makes the index hold the documents of its corpus. Raises CorpusNotFound, InvalidConfig."""
        return self._updates.corpus_changes(self.open(index_id))

    def is_behind_corpus(self, index_id: str) -> bool:
        """Whether the corpus of the index has other documents than the index; False where it has none any more."""
        return self._updates.is_behind(self.index_path(index_id))

    @takes_index
    def changes_to(self, index: Index, documents: Sequence[Document]) -> DocumentChanges:
        """What puts these documents into the index; one of the same name is replaced. Raises InvalidConfig."""
        return self._updates.changes_to(index, documents)

    @takes_index
    def removal(self, index: Index, documents: Iterable[str]) -> DocumentChanges:
        """What takes documents, named by name or id, out of the index. Raises InvalidConfig."""
        return self._updates.removal(index, documents)

    @takes_index
    def preview_update(self, index: Index, changes: DocumentChanges) -> UpdatePreview:
        """What the update will change and take. No model is asked."""
        return self._updates.preview(index, changes)

    def update_index(
        self,
        folder: Path,
        changes: DocumentChanges,
        *,
        models: Models | None = None,
        report: Report = silent,
        execution: Execution | None = None,
    ) -> Index:
        """The index in the folder, with its documents changed, in this process; what the change does not touch stays.

        The state before is kept until it is forgotten, or four later ones are. The same index and the same change give
        the same bytes. Raises InvalidConfig, and what build() does.
        """
        return self._updates.update(folder, changes, models=models, report=report, execution=execution)

    def start_update(self, index_id: str, *, budget: Budget | None = None, execution: Execution | None = None) -> str:
        """A job takes the documents of the corpus over into the index; returns the job's id. Raises InvalidConfig."""
        return self._start(index_id, {}, budget, execution)

    def start_edit(self, index_id: str, edit: Edit, *, budget: Budget | None = None) -> str:
        """A job makes the edit; returns its id. Raises InvalidConfig, at once for one that would change nothing."""
        self._updates.require_applicable(self.index_path(index_id), edit)
        return self._start(index_id, {"edit": plain(edit)}, budget, None)

    def start_undoing_edit(self, index_id: str, number: int, *, budget: Budget | None = None) -> str:
        """A job undoes the edit of that number; returns the job's id. Raises InvalidConfig."""
        return self._start(index_id, {"undone": number}, budget, None)

    def _start(
        self,
        index_id: str,
        what: dict[str, Any],
        budget: Budget | None,
        execution: Execution | None,
        kind: JobKind = UPDATE,
    ) -> str:
        manifest = self.open(index_id).manifest
        self._updates.require_updatable(manifest)
        arguments = {
            **what,
            "index": index_id,
            "budget": asdict(budget or Budget()),
            "execution": asdict(execution or self.settings().execution),
        }
        config = asdict(manifest.config.checked())
        title = manifest.name if kind is UPDATE else sentence(message("job.compare_fresh.title", name=manifest.name))
        return self.job_store.begin(title, manifest.corpus.id, config, arguments, kind)

    def indexes_behind(self, corpus_id: str) -> list[IndexSummary]:
        """The indexes of the corpus that hold other documents than it does by now, the newest first."""
        own = [index for index in self.indexes() if index.corpus_id == corpus_id]
        return [index for index in own if self._updates.is_behind(index.path)]

    def edits(self, folder: Path) -> EditLog:
        """The edits by hand of the index in the folder."""
        return read_edits(folder)

    def edit_index(
        self,
        folder: Path,
        edit: Edit,
        *,
        models: Models | None = None,
        report: Report = silent,
        execution: Execution | None = None,
    ) -> Index:
        """The index with the edit at the end of its log, which every build and update of it replays.

        Raises InvalidConfig for an edit that changes nothing, or of an imported index.
        """
        self._updates.require_applicable(folder, edit)
        return self._updates.edit(
            folder, lambda log: with_edit(log, edit), models=models, report=report, execution=execution
        )

    def undo_edit(
        self,
        folder: Path,
        number: int,
        *,
        models: Models | None = None,
        report: Report = silent,
        execution: Execution | None = None,
    ) -> Index:
        """The index without that edit. Where it was the last change, the state before comes back, byte for byte.
        Raises InvalidConfig for an unknown one."""
        return self._updates.edit(
            folder, lambda log: without_edit(log, number), models=models, report=report, execution=execution
        )

    def compare_with_fresh(
        self,
        folder: Path,
        questions: Sequence[GoldQuestion] | None = None,
        *,
        models: Models | None = None,
        report: Report = silent,
    ) -> FreshDistance:
        """How far the index in the folder is from a fresh build of its documents, which is made beside and deleted.

        questions: with gold evidence; by default all question sets about the index's corpus. Only the retrieval of
        LeanRAG is measured. Models are asked for the texts of a fresh build that no store holds. The distance is kept:
        see fresh_distance().
        """
        from leanrag_core.services.fresh_distance import distance_to_fresh

        index = read_index(folder)
        asked = self._gold_questions(index.manifest.corpus.id) if questions is None else questions
        models = models or self.models(index=folder.name)
        retrieve = self._questions.retrieve
        distance = distance_to_fresh(index, asked, self._builds, models, self.edits(folder), retrieve, report)
        self._fresh_distances.write(index.id, distance)
        return distance

    def _gold_questions(self, corpus_id: str) -> tuple[GoldQuestion, ...]:
        """All questions about the corpus that have gold evidence."""
        own = [card.id for card in self._question_sets.all() if corpus_id and card.corpus_id == corpus_id]
        questions = [question for set_id in own for question in self._question_sets.questions(set_id)]
        return tuple(question for question in questions if question.evidence)

    @takes_index
    def fresh_distance(self, index: Index) -> FreshDistance | None:
        """How far the index was from a fresh build when it was compared; None where it has changed since, or never
        was."""
        return self._fresh_distances.read(index.id)

    def start_comparing_with_fresh(self, index_id: str, *, budget: Budget | None = None) -> str:
        """A job compares the index with a fresh build; returns the job's id. Raises InvalidConfig."""
        return self._start(index_id, {}, budget, None, COMPARE_FRESH)

    def undo_update(self, folder: Path) -> Index:
        """The index as it was before its last update or edit, byte for byte. Raises InvalidConfig."""
        return self._updates.undo(folder)

    def earlier_states(self, folder: Path) -> tuple[EarlierState, ...]:
        """The earlier states of the index that are kept, the newest first."""
        return self._updates.states(folder)

    def forget_earlier_states(self, folder: Path) -> None:
        """Deletes the earlier states, and with them what they and a Chroma server hold of removed documents.

        Raises SearchIndexFailed when the server keeps its part."""
        in_store = self._updates.in_store(folder)
        ids = self.index_store.ids_of_states(folder.name) if in_store else {read_manifest(folder).id}
        self._updates.forget(folder)
        self._remove_collections(ids)
