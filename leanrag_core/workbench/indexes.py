"""The indexes of a workbench: their store, what a Chroma server holds of them, places on a map."""

import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from leanrag_core.errors import IndexNotFound, LeanRAGError
from leanrag_core.figures.embedding_map import RULES, SAMPLE, MapPlaces, embedding_places, sample_rows
from leanrag_core.queries.index_table import with_titles
from leanrag_core.storage.earlier_states import earlier_states, state_folder
from leanrag_core.storage.indexes import HELD_SECONDS, HeldIndex, IndexStore
from leanrag_core.storage.layout import rename_corpus
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.storage.stages import StageStore, stage_key
from leanrag_core.types.index import Index
from leanrag_core.types.snapshots import Snapshot
from leanrag_core.types.summary import IndexList, IndexSummary
from leanrag_core.workbench.settings import SettingsFile

MAP_STAGE = "map"
EARLIER = "earlier."  # begins the ids of earlier states: earlier.ID.INDEX, the id as in its manifest
TRIAL = "trial."  # begins the ids of trial indexes (workbench.trials), which lie in a folder of their own


def earlier_id(index_id: str, state: Snapshot) -> str:
    """Return the id under which that state of the index is opened like any other index."""
    return f"{EARLIER}{state.id}.{index_id}"


def present_id(index_id: str) -> str:
    """Return the id of the index that an earlier state is of; the id itself where it is of none."""
    return index_id.removeprefix(EARLIER).partition(".")[2] if index_id.startswith(EARLIER) else index_id


def state_id(index_id: str) -> str:
    """Return the id in the manifest of the earlier state that the id of an index names; empty where it names none."""
    return index_id.removeprefix(EARLIER).partition(".")[0] if index_id.startswith(EARLIER) else ""


class Indexes(IndexStore):
    """The store of indexes. What is deleted here goes from the Chroma server of the settings, too."""

    def __init__(self, root: Path, settings: SettingsFile, searches: SearchStore, stages: StageStore) -> None:
        super().__init__(root)
        self.trials_root = root.parent / "trials"
        self._settings, self._searches, self._stages = settings, searches, stages

    def path(self, index_id: str) -> Path:
        """Return the folder of an index, of a trial or of an earlier state. Raises IndexNotFound for an id that could
        leave the store, and for a state that is not kept any more."""
        path = super().path(index_id)
        if index_id.startswith(EARLIER):
            present = present_id(index_id)
            folder = super().path(present)
            for state in earlier_states(folder):
                if state.id == state_id(index_id):
                    return state_folder(folder, state.number)
            raise IndexNotFound("snapshot.gone", index=present)
        return self.trials_root / index_id if index_id.startswith(TRIAL) else path

    def holds(self, folder: Path) -> bool:
        """Tell whether the folder is one of the store's indexes."""
        return folder.resolve().parent == self.root.resolve()

    def rename_corpus(self, corpus_id: str, name: str) -> None:
        """Have the indexes of that corpus call it so. Raises StorageFailed."""
        for summary in self.all():
            if summary.corpus_id == corpus_id and summary.corpus_name != name:
                rename_corpus(self.path(summary.id), name)

    def all(self) -> list[IndexSummary]:
        """Return the indexes that read, the newest first."""
        return list(self.index_list().indexes)

    def index_list(self) -> IndexList:
        """Return all indexes, with those of one name told apart; an unreadable one does not hide the others."""
        listed = super().index_list()
        return replace(listed, indexes=with_titles(listed.indexes))

    def delete(self, index_id: str) -> None:
        """Delete the index, a damaged one too, and what a Chroma server holds of it. Raises IndexNotFound,
        FolderRefused, StorageFailed, SearchIndexFailed when the server keeps its part."""
        state_ids = self.ids_of_states(index_id)
        super().delete(index_id)
        self.remove_collections(state_ids)

    def hold(self, index_id: str) -> None:
        """Delete the index in a way that can be taken back for ten minutes; then its disk space is free."""
        super().hold(index_id)
        timer = threading.Timer(HELD_SECONDS + 1, self._delete_overdue_quietly)
        timer.daemon = True  # the next process does what is left
        timer.start()

    def revocable(self) -> list[HeldIndex]:
        """Return the deleted indexes that can be taken back, the latest first; those whose time is over are gone."""
        self.delete_overdue()
        return self.held()

    def end_deletion(self, index_id: str) -> None:
        """Delete a held index at once; it cannot be taken back. Raises StorageFailed, SearchIndexFailed."""
        for held in self.held():
            if held.id == index_id:
                self.remove_collections(self.delete_held(held))

    def delete_overdue(self) -> None:
        """Delete the held indexes whose time is over for good. Raises StorageFailed, SearchIndexFailed."""
        for held in self.overdue():
            self.remove_collections(self.delete_held(held))

    def _delete_overdue_quietly(self) -> None:
        with suppress(LeanRAGError):  # the next list of held deletions tries again, and reports it
            self.delete_overdue()

    def remove_collections(self, ids: set[str]) -> None:
        """Remove the Chroma server's collections of states with these ids, except those that an index still has."""
        url = self._settings.read().chroma_url
        if url and ids:
            kept = {self.manifest_id(index.id) for index in self.all()}
            for id_ in sorted(ids - kept - self.held_ids()):
                self._searches.servers.remove_collections(url, id_)

    def map_places(self, index: Index, number: int = 0) -> MapPlaces:
        """Return where a sample of the layer's entities lies in the plane: the stored places of the same vectors, else
        new ones, which are stored."""
        layer = index.layers[number]
        rows = sample_rows(len(layer))
        recorded = index.manifest.files.get(f"vectors-{number}.npy")
        rests_on = recorded.sha256 if recorded else f"{index.id} {number}"
        key = stage_key(MAP_STAGE, RULES, str(SAMPLE), rests_on)
        content = self._stages.get(key)
        if content is not None and len(content) == 8 * len(rows):
            return MapPlaces(rows, np.frombuffer(content, dtype="<f4").reshape(-1, 2))
        places = embedding_places(layer.vectors)
        self._stages.put(MAP_STAGE, key, places.places.astype("<f4").tobytes())
        return places
