"""A point of a sweep taken over: its index into the person's store."""

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.sweeps.points import index_config
from leanrag_core.facade.building import Building
from leanrag_core.storage.indexes import folder_name
from leanrag_core.storage.ownership import MANIFEST
from leanrag_core.storage.staging import copy_index
from leanrag_core.types.sweep import OpenedPoint, SweepPoint


class SweepPoints(Building):
    """A point of a sweep taken over. See Workbench."""

    def open_sweep_point(self, sweep_id: str, point_name: str) -> OpenedPoint:
        """The point's index is in the person's store, to be asked: the one that is there already, else a copy of the
        sweep's; else a job builds it.

        Raises SweepNotFound, InvalidConfig for an unknown point, or where the corpus is gone, StorageFailed.
        """
        stored = self.sweep_store.read(sweep_id)
        point = _point(stored.record.points, sweep_id, point_name)
        if not stored.spec.corpus:
            return OpenedPoint(stored.spec.index)
        config, folder = index_config(stored.spec, point), stored.record.folders[point.name]
        index_id = folder_name(stored.spec.corpus, config)
        target, source = self.index_store.path(index_id), self.sweep_store.indexes(sweep_id) / folder
        if (target / MANIFEST).is_file():
            return OpenedPoint(index_id)
        if (source / MANIFEST).is_file():
            copy_index(source, target)
            return OpenedPoint(index_id)
        names = {corpus.id: corpus.name for corpus in self.corpora()}
        if stored.spec.corpus not in names:
            raise InvalidConfig("sweep.point_without_corpus", corpus=stored.spec.corpus)
        name = f"{names[stored.spec.corpus]}, {point.name}"
        return OpenedPoint(index_id, self.start_build(stored.spec.corpus, config, name))


def _point(points: tuple[SweepPoint, ...], sweep_id: str, name: str) -> SweepPoint:
    for point in points:
        if point.name == name:
            return point
    raise InvalidConfig("sweep.unknown_point", sweep=sweep_id, point=name)
