"""Indexes and their parts."""

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leanrag_core.errors import LeanRAGError, ModelUnavailable
from leanrag_core.facade.taking_index import takes_index
from leanrag_core.jobs.kinds import PART
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.models.registry import Models
from leanrag_core.queries.index_titles import with_titles
from leanrag_core.storage.held_deletions import HELD_SECONDS, HeldIndex
from leanrag_core.storage.layout import read_index, read_report
from leanrag_core.types.build_report import Spent
from leanrag_core.types.exported import Exported
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.index import Index
from leanrag_core.types.model_names import BUILTIN
from leanrag_core.types.part import PartRecord, PartState
from leanrag_core.types.progress import Report, silent
from leanrag_core.types.spending import Budget
from leanrag_core.types.summary import (
    IndexList,
    IndexSummary,
)

if TYPE_CHECKING:
    from leanrag_core.checking.check import CheckResult
    from leanrag_core.exporting.base import Exporter
    from leanrag_core.extensions import BrokenExtension
    from leanrag_core.figures.embedding_map import MapPlaces
    from leanrag_core.indexing.part_base import Proposal
    from leanrag_core.types.call_record import CallRecord
    from leanrag_core.types.made_by import MadeBy

from leanrag_core.facade.services import Services


class Indexes(Services):
    """Indexes and their parts. See Workbench."""

    def index_path(self, index_id: str) -> Path:
        """The folder of an index. Raises IndexNotFound for an id that could leave the store."""
        return self.index_store.path(index_id)

    def indexes(self) -> list[IndexSummary]:
        """The indexes that read, the newest first. The id is the folder's name."""
        return list(self.index_list().indexes)

    def index_list(self) -> IndexList:
        """All indexes; one that does not read hides none of the others."""
        listed = self.index_store.index_list()
        return replace(listed, indexes=with_titles(listed.indexes))

    def index_summary(self, index_id: str) -> IndexSummary:
        """The index's row in a list."""
        return self.index_store.summary(index_id)

    def index_cost(self, index_id: str) -> Spent:
        """Calls, tokens and US dollars that the build of the index took. Raises IndexNotFound, IndexDamaged."""
        return read_report(self.index_store.path(index_id)).usage

    def open(self, index_id: str) -> Index:
        """The index of that id, read-only."""
        return self.index_store.open(index_id)

    def opened(self, index: Index | str | Path) -> Index:
        """The index itself, that of an id, or that in a folder. Raises IndexNotFound, IndexDamaged, IndexTooNew,
        TypeError for anything else."""
        if isinstance(index, Index):
            return index
        if not isinstance(index, str | Path):
            raise TypeError(f"an index, its id or the path of its folder is needed, not {type(index).__name__}")
        is_id = isinstance(index, str) and index in {known.id for known in self.indexes()}
        return self.open(str(index)) if is_id else read_index(Path(index))

    @takes_index
    def share_without_grammar(self, index: Index) -> float:
        """The share of chunks that the built-in extractor reads without grammar, since they are not in English."""
        from leanrag_core.indexing.extraction.builtin import share_without_grammar

        return share_without_grammar(index)

    @takes_index
    def made_by(self, index: Index, id_: str) -> "MadeBy | None":
        """What made the chunk, entity or relation of that id: the model calls, or the rule. None for an unknown id."""
        from leanrag_core.queries.made_by import made_by

        return made_by(index, id_)

    def model_call(self, key: str) -> "CallRecord | None":
        """A stored model call with its prompt and reply, by the key that made_by() gives; None when it is no longer
        stored."""
        return self.calls.get(key) if key else None

    @takes_index
    def map_places(self, index: Index, layer: int = 0) -> "MapPlaces":
        """Where a sample of the layer's entities lies in the plane; computed once for the same vectors."""
        from leanrag_core.services.map_places import map_places

        return map_places(index, layer, self.stages)

    def rename_index(self, index_id: str, name: str) -> None:
        """Renames the index."""
        self.index_store.rename(index_id, name)

    def delete_index(self, index_id: str) -> None:
        """The index is gone, a damaged one too, and with it what a Chroma server holds of it. Raises IndexNotFound,
        SearchIndexFailed when the server keeps its part."""
        own = self.index_store.ids_of_states(index_id)
        self.index_store.delete(index_id)
        self._remove_collections(own)

    def hold_deletion(self, index_id: str) -> None:
        """Deletes the index in a way that can be taken back for ten minutes; then its disk space is free. Raises what
        delete_index() does."""
        self.index_store.hold(index_id)
        timer = threading.Timer(HELD_SECONDS + 1, self._delete_overdue_quietly)
        timer.daemon = True  # what it did not come to, the next process does
        timer.start()

    def held_deletions(self) -> list[HeldIndex]:
        """The deleted indexes that can be taken back, the latest first; those whose time is over are gone."""
        self.delete_overdue()
        return self.index_store.held()

    def take_back_deletion(self, index_id: str) -> None:
        """The deleted index is back in its place. Raises IndexNotFound when its time is over, InvalidConfig when
        another one was built in its place, StorageFailed."""
        self.index_store.take_back(index_id)

    def end_deletion(self, index_id: str) -> None:
        """The deleted index is gone at once, and cannot be taken back. Raises StorageFailed, SearchIndexFailed."""
        for held in self.index_store.held():
            if held.id == index_id:
                self._remove_collections(self.index_store.delete_held(held))

    def delete_overdue(self) -> None:
        """Deleted indexes whose time is over are gone for good. Raises StorageFailed, SearchIndexFailed."""
        for held in self.index_store.overdue():
            self._remove_collections(self.index_store.delete_held(held))

    def _delete_overdue_quietly(self) -> None:
        with suppress(LeanRAGError):  # the next list of held deletions tries again, and reports it
            self.delete_overdue()

    def _remove_collections(self, ids: set[str]) -> None:
        """A Chroma server holds nothing of states with these ids, but for those that some index of the store has."""
        url = self.settings().chroma_url
        if url and ids:
            kept = {self.index_store.manifest_id(index.id) for index in self.indexes()}
            for id_ in sorted(ids - kept - self.index_store.held_ids()):
                self.searches.servers.remove_collections(url, id_)

    def check(self, path: str | Path) -> "list[CheckResult]":
        """Every invariant of the index in that directory, verified. Nothing is asked of an endpoint. Raises
        IndexNotFound, IndexTooNew."""
        from leanrag_core.checking.check import check_directory

        def embedding(name: str, fingerprint: str) -> EmbeddingModel:
            if name != BUILTIN:
                raise ModelUnavailable("check.texts_would_be_sent")
            return self._questions.embedding(name, fingerprint)

        return check_directory(Path(path), embedding)

    def exporters(self) -> "tuple[Exporter, ...]":
        """The formats that an index can be exported to."""
        from leanrag_core.exporting.base import exporters

        return exporters()

    def broken_exporters(self) -> "tuple[BrokenExtension, ...]":
        """Files of export formats that cannot be used, and why."""
        from leanrag_core.exporting.base import broken_exporters

        return broken_exporters()

    @takes_index
    def export(self, index: Index, format_name: str, out: str | Path) -> Exported:
        """The file at `out` holds the index in that format (exporting.base), complete or not at all.

        Raises InvalidConfig for an unknown format, FolderRefused, StorageFailed.
        """
        from leanrag_core.exporting.base import export_index

        return export_index(index, format_name, Path(out))

    def parts(self, index_id: str) -> tuple[PartState, ...]:
        """The parts that the index has or may have, with what they cost."""
        return self.parts_of(self.open(index_id))

    @takes_index
    def parts_of(self, index: Index) -> tuple[PartState, ...]:
        """parts() of an index that need not be in the store."""
        return self._parts.all(index)

    @takes_index
    def offered_parts(self, index: Index) -> tuple[str, ...]:
        """Names of the parts that the index should have and does not."""
        return self._parts.offered(index)

    @takes_index
    def lacking_parts(self, index: Index) -> tuple[PartState, ...]:
        """The parts that the index does not have and that can be made, each after those that it needs."""
        return self._parts.lacking(index)

    def broken_parts(self) -> "tuple[BrokenExtension, ...]":
        """Files of parts that cannot be used, and why."""
        return self._parts.broken()

    @takes_index
    def forecast_part(self, index: Index, name: str, options: Mapping[str, Any] | None = None) -> Forecast:
        """What making the part takes. Raises InvalidConfig."""
        return self._parts.forecast(index, name, options)

    @takes_index
    def build_part(
        self,
        index: Index,
        name: str,
        options: Mapping[str, Any] | None = None,
        *,
        models: Models | None = None,
        report: Report = silent,
    ) -> PartRecord:
        """Makes the part in this process, and before it the parts that it needs, unless the index has them; returns its
        record.

        Raises InvalidConfig, PartMissing, StorageFailed, BudgetSpent, and errors of the part's own.
        """
        return self._parts.build(index, name, options, models=models, report=report)

    def start_part(
        self, index_id: str, name: str, options: Mapping[str, Any] | None = None, *, budget: Budget | None = None
    ) -> str:
        """A job in a process of its own makes the part; returns the job's id. Raises InvalidConfig for an unknown part
        or option."""
        index = self.open(index_id)
        title = self._parts.job_title(index, name, options or {})
        config = {"index": index_id, "part": name, "options": dict(options or {})}
        return self.job_store.begin(
            title, index.manifest.corpus.id, config, {"budget": asdict(budget or Budget())}, PART
        )

    @takes_index
    def part(self, index: Index, name: str) -> Any:
        """What strategies get of the part. Raises PartMissing, PartDamaged."""
        return self._parts.read(index, name)

    @takes_index
    def part_proposals(self, index: Index, name: str) -> "tuple[Proposal, ...]":
        """What the part proposes to a person, such as types of a schema. Raises PartMissing, PartDamaged."""
        return self._parts.proposals(index, name)

    def start_accepting(self, index_id: str, name: str, accepted: Sequence[str]) -> str:
        """A job makes the part again with those of its proposals; returns the job's id. Raises what start_part() does,
        and PartMissing."""
        return self.start_part(index_id, name, self._parts.accepting(self.open(index_id), name, accepted))

    @takes_index
    def delete_part(self, index: Index, name: str, fingerprint: str) -> None:
        """Deletes that version of the part; questions go on without it. Raises StorageFailed."""
        self._parts.delete(index, name, fingerprint)
