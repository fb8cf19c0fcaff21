"""Updates of indexes: documents added, changed and removed, edits by hand, undoing both; here or by a job."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from leanrag_core.errors import CorpusDamaged, CorpusNotFound, IndexChanged, InvalidConfig, RecordDamaged
from leanrag_core.files.records import from_values, plain
from leanrag_core.indexing.build import BuildRequest, in_build_order
from leanrag_core.indexing.editing import require_applicable
from leanrag_core.indexing.extraction.llm import LLMExtractor
from leanrag_core.indexing.manifest import corpus_fingerprint, edits_fingerprint, fingerprint_of
from leanrag_core.indexing.updating import preview as updating
from leanrag_core.indexing.updating.before import Before
from leanrag_core.indexing.updating.preview import preview_update
from leanrag_core.jobs.events import JobSpec
from leanrag_core.jobs.kinds import UPDATE
from leanrag_core.jobs.runner import Done, RunningJob
from leanrag_core.jobs.store import JobStore
from leanrag_core.messages.message import message
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.storage import earlier_states, layout
from leanrag_core.storage.layout import read_edits
from leanrag_core.storage.staging import (
    build_lock,
    give_up_staging,
    put_again,
    put_back,
    remove_stale_staging,
)
from leanrag_core.system.threads import BoundedCache
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import is_remote
from leanrag_core.types.corpus import Chunk, Document, Refusal
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobKind, JobReport
from leanrag_core.types.manifest import IMPORTED, Manifest
from leanrag_core.types.roles import EXTRACTION
from leanrag_core.types.settings import Execution
from leanrag_core.types.snapshots import Snapshot, StateChange
from leanrag_core.types.summary import IndexSummary, recorded_config
from leanrag_core.types.updating import DocumentChanges, Edit, EditLog, LineageStep, UpdatePreview
from leanrag_core.workbench.builds import Builds
from leanrag_core.workbench.corpora import Corpora
from leanrag_core.workbench.indexes import Indexes
from leanrag_core.workbench.models import ModelAccess, RunContext, metered, require_embedding
from leanrag_core.workbench.parts import Parts

_FINGERPRINTS_KEPT = 32  # of corpora: of a million documents one takes seconds


class Updates:
    """Updates and edits indexes, those of the store and others, which are known by their folders."""

    def __init__(
        self, corpora: Corpora, indexes: Indexes, builds: Builds, parts: Parts, models: ModelAccess, jobs: JobStore
    ) -> None:
        self._corpora, self._indexes, self._builds, self._parts = corpora, indexes, builds, parts
        self._models, self._jobs = models, jobs
        self._fingerprints: BoundedCache[tuple[str, str], str] = BoundedCache(_FINGERPRINTS_KEPT)

    def is_behind(self, folder: Path) -> bool:
        """Tell whether the corpus of the index holds other documents than the index; compares names and ids only."""
        manifest = layout.read_manifest(folder)
        corpus_id = manifest.corpus.id
        try:
            key = corpus_id, self._corpora.version(corpus_id)  # first: documents that come now are of a later version
            rows = self._corpora.documents(corpus_id)
            if manifest.kind == IMPORTED or not rows:
                return False
        except (CorpusNotFound, CorpusDamaged):
            return False
        listed = ((row.id, row.name) for row in rows)
        return manifest.corpus_fingerprint != self._fingerprints.get_or_make(key, lambda: fingerprint_of(listed))

    def behind(self, corpus_id: str) -> list[IndexSummary]:
        """Return the indexes of the corpus that hold other documents than it does by now, the newest first."""
        corpus_indexes = [index for index in self._indexes.all() if index.corpus_id == corpus_id]
        return [index for index in corpus_indexes if self.is_behind(index.path)]

    def corpus_changes(self, index: Index) -> DocumentChanges:
        """Return what makes the index hold the documents of its corpus. Raises CorpusNotFound, InvalidConfig."""
        updating.require_updatable(index.manifest)
        corpus_id = index.manifest.corpus.id
        if not corpus_id:
            raise InvalidConfig("update.no_corpus", index=index.manifest.name)
        listed = [(row.id, row.name) for row in self._corpora.documents(corpus_id)]
        return updating.changes_to_match(index, listed, lambda id_: self._corpora.document(corpus_id, id_))

    def preview(self, index: Index, changes: DocumentChanges) -> UpdatePreview:
        """Return what the update will change and take; nothing is asked of a model."""
        return preview_update(index, changes, self._is_answered(index))

    def _is_answered(self, index: Index) -> Callable[[Chunk], bool]:
        config = index.manifest.config.checked()
        model = self._models.make().language(config.model, EXTRACTION) if is_remote(config.model) else None
        if not isinstance(model, RemoteLanguageModel):
            return lambda chunk: True
        extractor, recall = LLMExtractor.of(model, config), model.recall
        return lambda chunk: extractor.stored_replies(chunk.text, recall).complete

    def update(self, folder: Path, changes: DocumentChanges, context: RunContext | None = None) -> Index:
        """Change the documents of the index in the folder, in this process; what the change does not touch stays.

        An earlier state with the same documents is restored byte for byte. The state before is kept until it is
        forgotten or beyond KEPT_STATES and KEPT_BYTES. The same index and the same change give the same bytes. Raises
        InvalidConfig for an imported index, IndexChanged where another process has changed the index meanwhile, and
        what a build does.
        """
        index, log = layout.read_index(folder), read_edits(folder)
        n_changed = len(changes.replaced)
        step = LineageStep(index.id, len(changes.added) - n_changed, n_changed, len(changes.removed))
        return self._changed(index, updating.documents_after(index, changes), log, step, context)

    def edit(self, folder: Path, edit: Edit, context: RunContext | None = None) -> Index:
        """Put the edit at the end of the index's log, which every build and update of it replays.

        Only what the edit touches is written again. Raises InvalidConfig for an edit that changes nothing, or of an
        imported index.
        """
        require_applicable(layout.read_index(folder), edit)
        return self._with_log(folder, lambda log: with_edit(log, edit), context)

    def undo_edit(self, folder: Path, number: int, context: RunContext | None = None) -> Index:
        """Take that edit back. Where it was the last change, the state before comes back, byte for byte. Raises
        InvalidConfig for an unknown one."""
        return self._with_log(folder, lambda log: without_edit(log, number), context)

    def _with_log(self, folder: Path, change: Callable[[EditLog], EditLog], context: RunContext | None) -> Index:
        """Change the log of edits and put the index with them in place; begin again where another process has changed
        the index first."""
        while True:
            index, log = layout.read_index(folder), read_edits(folder)
            updating.require_updatable(index.manifest)
            changed = change(log)
            if changed == log:
                return index
            step = LineageStep(index.id, edits=max(1, abs(len(changed.edits) - len(log.edits))))
            try:
                documents = updating.documents_after(index, DocumentChanges())
                return self._changed(index, documents, changed, step, context)
            except IndexChanged:
                continue

    def _changed(
        self, index: Index, documents: list[Document], log: EditLog, step: LineageStep, context: RunContext | None
    ) -> Index:
        """Put an index of those documents and edits in the place of that one: an earlier state, or a new build."""
        assert index.path is not None
        folder, manifest, config = index.path, index.manifest, index.manifest.config.checked()
        if earlier := self._earlier_with(folder, index, documents, log):
            return self._repeated(folder, earlier, manifest, StateChange.of(step))
        context = context or self._models.context(index=folder.name)
        require_embedding(context.models, config.embedding, index)
        names = {document.name for document in documents}
        request = BuildRequest(
            documents,
            config,
            folder,
            manifest.name,
            manifest.corpus,
            self._indexes.holds(folder),
            refusals=[refusal for refusal in self._refusals(index) if refusal.name not in names],
            edits=log,
            before=Before(index, step),
        )
        return self._builds.run(request, context)

    def _refusals(self, index: Index) -> list[Refusal]:
        """Return the files that could not be read: of the index's corpus, else those that its report lists."""
        try:
            return self._corpora.refused(index.manifest.corpus.id)
        except (CorpusNotFound, CorpusDamaged):
            listed = index.report.dropped.get("parse", ())
            return [Refusal(drop.item, message("plain", text=drop.reason)) for drop in listed]

    def _earlier_with(self, folder: Path, index: Index, documents: list[Document], log: EditLog) -> Snapshot | None:
        """Return the newest earlier state with these documents and edits, and the index's settings."""
        fingerprint = corpus_fingerprint(in_build_order(documents))
        for state in earlier_states.earlier_states(folder):
            manifest = layout.read_manifest(earlier_states.state_folder(folder, state.number))
            same_settings = manifest.config == index.manifest.config and manifest.edits == edits_fingerprint(log)
            if manifest.corpus_fingerprint == fingerprint and same_settings:
                return state
        return None

    def _repeated(self, folder: Path, state: Snapshot, before: Manifest, change: StateChange) -> Index:
        """Put that earlier state in the place of the index, and keep the index as a state, too."""
        with build_lock(folder, waiting=lambda: None):
            if layout.read_manifest(folder).id != before.id:
                raise IndexChanged("update.changed_meanwhile", index=before.name)
            put_again(folder, state, change, in_store=self._indexes.holds(folder))
            return layout.read_index(folder)

    def undo(self, folder: Path) -> Index:
        """Return the index to what it was before its last update or edit, byte for byte. Raises InvalidConfig where no
        earlier state is kept."""
        with build_lock(folder, waiting=lambda: None):
            remove_stale_staging(folder)
            name = layout.read_manifest(folder).name
            states = [state for state in earlier_states.earlier_states(folder) if state.undoable]
            if not states:
                raise InvalidConfig("update.nothing_to_undo", index=name)
            put_back(folder, states[0])
            return layout.read_index(folder)

    def forget_earlier(self, folder: Path) -> None:
        """Delete the earlier states that have no name, and with them what they and a Chroma server hold of removed
        documents; updates can no longer be undone. Raises SearchIndexFailed when the server keeps its part."""
        in_store = self._indexes.holds(folder)
        ids = self._indexes.ids_of_states(folder.name) if in_store else {layout.read_manifest(folder).id}
        earlier_states.forget_earlier(folder)
        self._indexes.remove_collections(ids - {state.id for state in earlier_states.earlier_states(folder)})

    def start(self, index_id: str, *, budget: Budget | None = None, execution: Execution | None = None) -> str:
        """Start a job that takes the documents of the corpus over into the index; return the job's id. Raises
        InvalidConfig."""
        return self.begin(UPDATE, index_id, {}, budget, execution)

    def start_edit(self, index_id: str, edit: Edit) -> str:
        """Start a job that makes the edit; return its id. Raises InvalidConfig, at once for one that would change
        nothing."""
        require_applicable(self._indexes.open(index_id), edit)
        return self.begin(UPDATE, index_id, {"edit": plain(edit)})

    def start_undoing_edit(self, index_id: str, number: int) -> str:
        """Start a job that undoes the edit of that number; return the job's id. Raises InvalidConfig."""
        return self.begin(UPDATE, index_id, {"undone": number})

    def begin(
        self,
        kind: JobKind,
        index_id: str,
        change: Mapping[str, Any],
        budget: Budget | None = None,
        execution: Execution | None = None,
        title: str = "",
    ) -> str:
        """Start a job of that kind about an index that can be updated; return the job's id. change: what UpdateWork
        reads. title: the index's name by default. Raises InvalidConfig for an index that cannot be updated."""
        manifest = self._indexes.open(index_id).manifest
        updating.require_updatable(manifest)
        arguments = {**change, "index": index_id, **self._models.job_terms(budget, execution)}
        config = asdict(manifest.config.checked())
        return self._jobs.begin(title or manifest.name, manifest.corpus.id, config, arguments, kind)

    def run_job(self, job: RunningJob) -> Done:
        """Change the index that a job names, with what models cost in the job's record; its id is the result.

        The job's arguments: index; edit, an edit by hand, or undone, the number of one; with neither, the documents of
        the corpus.
        """
        spec, index_id = job.spec, str(job.spec.arguments["index"])
        config = recorded_config(spec.config)
        context = self._models.job_context(job, index=index_id)
        with metered(job, context.models, config):
            index = self._changed_by_job(index_id, context, spec)
        for part in self._parts.offered(index):
            self._parts.start(index_id, part)
        counts = {**vars(index.manifest.counts), "empty_chunks": len(index.report.empty_chunks)}
        return Done(index_id, JobReport(counts, dict(index.report.drops)))

    def _changed_by_job(self, index_id: str, context: RunContext, spec: JobSpec) -> Index:
        folder = self._indexes.path(index_id)
        if "edit" in spec.arguments:
            return self.edit(folder, _edit(spec), context)
        if "undone" in spec.arguments:
            return self.undo_edit(folder, int(spec.arguments["undone"]), context)
        while True:  # also where another job has changed the index first
            index = self._indexes.open(index_id)
            changes = self.corpus_changes(index)
            if not changes:
                return index
            try:
                return self.update(folder, changes, context)
            except IndexChanged:
                continue

    def clean_up(self, spec: JobSpec) -> None:
        """Delete the half-made index of a job; the one before is as it was."""
        give_up_staging(self._indexes.path(str(spec.arguments["index"])))


def _edit(spec: JobSpec) -> Edit:
    """Read the edit that a job makes. Raises InvalidConfig for a record of another version."""
    try:
        return from_values(Edit, spec.arguments["edit"], name="edit", closed=True)
    except RecordDamaged as error:
        raise InvalidConfig("config.other_version") from error


def with_edit(log: EditLog, edit: Edit) -> EditLog:
    """Return the log with the edit at its end, under the next number."""
    return EditLog((*log.edits, replace(edit, number=log.next_number)))


def without_edit(log: EditLog, number: int) -> EditLog:
    """Return the log without the edit of that number. Raises InvalidConfig for an unknown one."""
    kept = tuple(edit for edit in log.edits if edit.number != number)
    if len(kept) == len(log.edits):
        raise InvalidConfig("edit.unknown", number=number)
    return EditLog(kept)
