"""Updates of indexes in this process: documents added, changed and removed, edits by hand, and undoing both."""

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from leanrag_core.errors import CorpusDamaged, CorpusNotFound, IndexChanged, InvalidConfig
from leanrag_core.models.registry import Models
from leanrag_core.services.builds import Builds, ModelsOf
from leanrag_core.storage import earlier_states, layout
from leanrag_core.storage.corpora import CorpusStore
from leanrag_core.storage.layout import read_edits
from leanrag_core.storage.staging import build_lock, put_back, remove_stale_staging, staged
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.editing import Edit, EditLog
from leanrag_core.types.execution import Execution
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import IMPORTED, Manifest
from leanrag_core.types.model_names import is_remote
from leanrag_core.types.progress import Report, silent
from leanrag_core.types.updating import DocumentChanges, EarlierState, LineageStep, UpdatePreview


class Updates:
    """Updates indexes, those of the store and others, which are known by their folders."""

    def __init__(self, corpora: CorpusStore, root: Path, builds: Builds, models: ModelsOf) -> None:
        self._corpora, self._root, self._builds, self._models = corpora, root, builds, models

    def in_store(self, folder: Path) -> bool:
        """Whether the folder is one of the program's own store of indexes."""
        return folder.resolve().parent == self._root.resolve()

    def require_updatable(self, manifest: Manifest) -> None:
        """Nothing, or InvalidConfig for an index that cannot be updated or edited."""
        from leanrag_core.indexing.updating.changes import require_updatable

        require_updatable(manifest)

    def is_behind(self, folder: Path) -> bool:
        """Whether the corpus of the index holds other documents than the index; seen by names and ids alone."""
        from leanrag_core.indexing.identity import fingerprint_of

        manifest = layout.read_manifest(folder)
        try:
            rows = self._corpora.documents(manifest.corpus.id)
        except (CorpusNotFound, CorpusDamaged):
            return False
        if manifest.kind == IMPORTED or not rows:
            return False
        return manifest.corpus_fingerprint != fingerprint_of((row.id, row.name) for row in rows)

    def require_applicable(self, folder: Path, edit: Edit) -> None:
        """Nothing, or InvalidConfig for an edit that would change nothing."""
        from leanrag_core.indexing.editing.validity import require_applicable

        require_applicable(layout.read_index(folder), edit)

    def corpus_changes(self, index: Index) -> DocumentChanges:
        """What makes the index hold the documents of its corpus. Raises CorpusNotFound, InvalidConfig."""
        from leanrag_core.indexing.updating.changes import changes_to_match, require_updatable

        require_updatable(index.manifest)
        corpus_id = index.manifest.corpus.id
        if not corpus_id:
            raise InvalidConfig("update.no_corpus", index=index.manifest.name)
        listed = [(row.id, row.name) for row in self._corpora.documents(corpus_id)]
        return changes_to_match(index, listed, lambda id_: self._corpora.document(corpus_id, id_))

    def changes_to(self, index: Index, documents: Sequence[Document]) -> DocumentChanges:
        """What puts these documents into the index; one of the same name is replaced. Raises InvalidConfig."""
        from leanrag_core.indexing.updating.changes import changes_to, require_updatable

        require_updatable(index.manifest)
        return changes_to(index, documents)

    def removal(self, index: Index, wanted: Iterable[str]) -> DocumentChanges:
        """What takes documents out of the index that are named by name or id. Raises InvalidConfig."""
        from leanrag_core.indexing.updating.changes import removal, require_updatable

        require_updatable(index.manifest)
        return removal(index, wanted)

    def preview(self, index: Index, changes: DocumentChanges) -> UpdatePreview:
        """What the update will change and take; nothing is asked of a model."""
        from leanrag_core.indexing.updating.preview import preview_update

        return preview_update(index, changes, self._is_answered(index))

    def _is_answered(self, index: Index) -> Callable[[Chunk], bool]:
        from leanrag_core.indexing.extraction.llm import LLMExtractor
        from leanrag_core.models.remote import RemoteLanguageModel

        config = index.manifest.config.checked()
        model = self._models().language(config.model) if is_remote(config.model) else None
        if not isinstance(model, RemoteLanguageModel):
            return lambda chunk: True
        extractor, recall = LLMExtractor.of(model, config), model.recall
        return lambda chunk: extractor.stored_replies(chunk.text, recall).complete

    def update(
        self,
        folder: Path,
        changes: DocumentChanges,
        *,
        models: Models | None = None,
        report: Report = silent,
        execution: Execution | None = None,
    ) -> Index:
        """The index in the folder with its documents changed. A state that it had with the same documents comes again
        byte for byte, and that of before is kept as for any change.

        Raises InvalidConfig for an imported index, IndexChanged where another process has changed the index meanwhile,
        and what a build does.
        """
        from leanrag_core.indexing.updating.changes import documents_after

        index = layout.read_index(folder)
        documents = documents_after(index, changes)
        log = read_edits(folder)
        if earlier := self._earlier_with(folder, index, documents, log):
            return self._repeated(folder, earlier, index.manifest)
        n_changed = len(changes.replaced)
        step = LineageStep(index.id, len(changes.added) - n_changed, n_changed, len(changes.removed))
        return self._made(folder, index, documents, log, step, models, report, execution)

    def edit(
        self,
        folder: Path,
        change: Callable[[EditLog], EditLog],
        *,
        models: Models | None = None,
        report: Report = silent,
        execution: Execution | None = None,
    ) -> Index:
        """The index in the folder with its log of edits changed; only what that touches is written again.

        Where another process changes the index first, the change is made to what that process has left.
        """
        while True:
            try:
                return self._edited(folder, change, models, report, execution)
            except IndexChanged:
                continue

    def _edited(
        self,
        folder: Path,
        change: Callable[[EditLog], EditLog],
        models: Models | None,
        report: Report,
        execution: Execution | None,
    ) -> Index:
        from leanrag_core.indexing.updating.changes import documents_after, require_updatable

        index = layout.read_index(folder)
        require_updatable(index.manifest)
        log = read_edits(folder)
        changed = change(log)
        if changed == log:
            return index
        documents = documents_after(index, DocumentChanges())
        if earlier := self._earlier_with(folder, index, documents, changed):
            return self._repeated(folder, earlier, index.manifest)
        n_edits = max(1, abs(len(changed.edits) - len(log.edits)))
        step = LineageStep(index.id, edits=n_edits)
        return self._made(folder, index, documents, changed, step, models, report, execution)

    def _made(
        self,
        folder: Path,
        index: Index,
        documents: list[Document],
        log: EditLog,
        step: LineageStep,
        models: Models | None,
        report: Report,
        execution: Execution | None,
    ) -> Index:
        from leanrag_core.indexing.updating.before import Before

        manifest = index.manifest
        config = manifest.config.checked()
        models = models or self._models(index=folder.name)
        embedding = models.embedding(config.embedding, manifest.embedding.fingerprint)
        if embedding.fingerprint != manifest.embedding.fingerprint:
            raise InvalidConfig("update.other_embedding", index=manifest.name)
        return self._builds.build_into(
            documents,
            config,
            folder,
            models=models,
            name=manifest.name,
            corpus=manifest.corpus,
            in_store=self.in_store(folder),
            report=report,
            execution=execution,
            edits=log,
            before=Before(index, step),
        )

    def _earlier_with(self, folder: Path, index: Index, documents: list[Document], log: EditLog) -> EarlierState | None:
        """The newest earlier state with these documents and edits, and the index's settings."""
        from leanrag_core.indexing.build import in_build_order
        from leanrag_core.indexing.manifest import corpus_fingerprint, edits_fingerprint

        wanted = corpus_fingerprint(in_build_order(documents))
        for state in earlier_states.earlier_states(folder):
            manifest = layout.read_manifest(earlier_states.state_folder(folder, state.number))
            same_settings = manifest.config == index.manifest.config and manifest.edits == edits_fingerprint(log)
            if manifest.corpus_fingerprint == wanted and same_settings:
                return state
        return None

    def _repeated(self, folder: Path, state: EarlierState, before: Manifest) -> Index:
        """The index as it was in that state, which is kept, as is the one that it has been until now."""
        with build_lock(folder, waiting=lambda: None):
            if layout.read_manifest(folder).id != before.id:
                raise IndexChanged("update.changed_meanwhile", index=before.name)
            with staged(folder, in_store=self.in_store(folder), keeps_earlier=True) as staging:
                shutil.copytree(earlier_states.state_folder(folder, state.number), staging, dirs_exist_ok=True)
                _keep_name(staging, before.name)
            return layout.read_index(folder)

    def undo(self, folder: Path) -> Index:
        """The index as it was before its last update or edit, byte for byte. Raises InvalidConfig where no earlier
        state is kept."""
        with build_lock(folder, waiting=lambda: None):
            remove_stale_staging(folder)
            name = layout.read_manifest(folder).name
            states = earlier_states.earlier_states(folder)
            if not states:
                raise InvalidConfig("update.nothing_to_undo", index=name)
            _keep_name(earlier_states.state_folder(folder, states[0].number), name)
            put_back(folder, states[0].number)
            return layout.read_index(folder)

    def states(self, folder: Path) -> tuple[EarlierState, ...]:
        """The earlier states that are kept, the newest first."""
        return earlier_states.earlier_states(folder)

    def forget(self, folder: Path) -> None:
        """Deletes the earlier states; updates can no longer be undone, and nothing of a removed document is left."""
        earlier_states.forget_earlier(folder)


def _keep_name(state: Path, name: str) -> None:
    """Gives the earlier state the index's name of now, before it takes the place of the index."""
    if layout.read_manifest(state).name != name:
        layout.rename_index(state, name)


def with_edit(log: EditLog, edit: Edit) -> EditLog:
    """The log with the edit at its end, under the next number."""
    return EditLog((*log.edits, replace(edit, number=log.next_number)))


def without_edit(log: EditLog, number: int) -> EditLog:
    """The log without the edit of that number. Raises InvalidConfig for an unknown one."""
    kept = tuple(edit for edit in log.edits if edit.number != number)
    if len(kept) == len(log.edits):
        raise InvalidConfig("edit.unknown", number=number)
    return EditLog(kept)
