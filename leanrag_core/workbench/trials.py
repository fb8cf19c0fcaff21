"""Trial indexes: an index again with other settings, made from kept stages, until it is kept or cleared away."""

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from leanrag_core.errors import CorpusNotFound, IndexNotFound, InvalidConfig, LeanRAGError, RecordDamaged
from leanrag_core.evaluation.sweeps.points import BASE_SETTINGS
from leanrag_core.files import private
from leanrag_core.files.atomic import write_bytes
from leanrag_core.files.records import from_json, to_json
from leanrag_core.indexing.build import BuildRequest, is_built
from leanrag_core.indexing.updating.preview import documents_after, require_updatable
from leanrag_core.retrieval.variants import Setting
from leanrag_core.storage.indexes import folder_name
from leanrag_core.storage.layout import read_edits
from leanrag_core.storage.staging import copy_index, remove_half_built
from leanrag_core.types.config import CHUNK, IndexConfig, settings_of_stages
from leanrag_core.types.forecast import Forecast, Range
from leanrag_core.types.index import Index
from leanrag_core.types.job import Report, silent
from leanrag_core.types.manifest import IMPORTED
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.updating import DocumentChanges
from leanrag_core.workbench.builds import Builds
from leanrag_core.workbench.imports import Imports
from leanrag_core.workbench.indexes import TRIAL, Indexes
from leanrag_core.workbench.models import ModelAccess, calls_endpoint

MOST = 24  # trials that are held; those not used for longest go first
MOST_BYTES = 2_000_000_000
_RECORD = ".json"
# Settings that an imported graph brings: of its chunks, and of the models that condensed its descriptions.
_OF_IMPORT = (*settings_of_stages(CHUNK), "model", "aggregation_model")


@dataclass(frozen=True)
class TrialRecord:
    """The record beside a trial. of: the manifest's id of the index that it was made from; base: its folder. changed:
    names of the settings that differ."""

    of: str
    base: str
    seconds: float
    changed: tuple[str, ...]


@dataclass(frozen=True)
class Trial:
    """A trial as a list shows it. summary: like that of any index. base: id of the index that it was made from.
    seconds: that making it took."""

    summary: IndexSummary
    base: str
    seconds: float

    @property
    def id(self) -> str:
        """The id of the index, under which it is opened like any other."""
        return self.summary.id


class Trials:
    """Makes, lists, keeps and clears trial indexes.

    They lie beside the index store and are opened by their ids like other indexes (workbench.indexes), but no list of
    indexes has them. A trial follows from its base and its settings, so one that was cleared away can be made again.
    """

    def __init__(self, indexes: Indexes, builds: Builds, imports: Imports, models: ModelAccess) -> None:
        self._indexes, self._builds, self._imports, self._models = indexes, builds, imports, models
        self.root = indexes.trials_root
        remove_half_built(self.root)

    def prepare(self) -> None:
        """Import the modules that the first build of a process needs, which takes some seconds; make() does so, too."""
        import sklearn.feature_extraction.text  # heavy: no command that does not build imports it
        import sklearn.mixture  # noqa: F401

    def make(
        self,
        index: Index,
        settings: Mapping[str, Any],
        report: Report = silent,
    ) -> Index:
        """Return the index with those settings changed: itself, one of the store or a trial where there is one, else a
        new trial of the same documents and edits, or over the same imported graph, which reuses what earlier builds
        kept.

        settings: of IndexConfig, by name. report: hears the progress, and may raise to end the work, which leaves
        nothing. Raises what config() does, and what a build raises.
        """
        config = self.config(index, settings)
        existing = self.existing(index, config)
        if existing is not None:
            return self._indexes.open(existing)
        started = time.perf_counter()
        request = self._request(index, config)
        context = self._models.context(None, None, report, index=request.out.name)
        private.make_folder(self.root)
        if _is_imported(index):
            trial_index = self._imports.rebuild(index, request, context)
        else:
            trial_index = self._builds.run(request, context)
        seconds = round(time.perf_counter() - started, 3)
        record = TrialRecord(index.id, index.folder_name, seconds, _changed(index, config))
        write_bytes(self._record_file(request.out.name), to_json(record), private=True)
        self._trim(request.out.name)
        return trial_index

    def has_stages(self, index: Index) -> bool:
        """Tell whether earlier builds have left the stages that another clustersize or tau starts from. An imported
        graph contains them, and answers of models at an endpoint are kept with their calls."""
        config = index.manifest.config.checked()
        if _is_imported(index) or calls_endpoint(config):
            return True
        forecast = self.forecast(index, config)
        return forecast.sampled >= forecast.chunks

    def make_stages(self, index: Index, report: Report = silent) -> None:
        """Make the stages that has_stages() misses: build the index once more, and keep nothing of it but its stages.
        Raises what make() does."""
        request = self._request(index, self.config(index, {}))
        context = self._models.context(None, None, report, index=request.out.name)
        private.make_folder(self.root)
        self._builds.run(request, context)
        self.clear(request.out.name)

    def config(self, index: Index, settings: Mapping[str, Any]) -> IndexConfig:
        """Return the settings of the index with those changed. Raises InvalidConfig for values out of bounds, for an
        index that cannot be built again, and for what an imported graph has from elsewhere."""
        config = index.manifest.config.checked()
        if not _is_imported(index):
            require_updatable(index.manifest)
            return replace(config, **settings)
        fixed = [name for name in _OF_IMPORT if name in settings and settings[name] != getattr(config, name)]
        if fixed:
            raise InvalidConfig("trial.of_import", setting=Setting(fixed[0], of_index=True).title)
        return replace(config, **settings)

    def existing(self, index: Index, config: IndexConfig) -> str | None:
        """Return the id of the index with these settings that is there already: the index itself, one of the store
        with the same documents and edits, or a trial."""
        if index.manifest.config.is_of(config):
            return index.folder_name
        trial = self._id(index, config)
        if self._record_file(trial).is_file() and bool(self._indexes.manifest_id(trial)):
            with suppress(OSError):  # cleared away just now; the next look finds that
                os.utime(self._record_file(trial))
            return trial
        if _is_imported(index):
            return None
        stored = folder_name(index.manifest.corpus.id, config)
        if not self._indexes.manifest_id(stored):
            return None
        path, request = self._indexes.path(stored), self._request(index, config)
        if is_built(path, config, request.documents) and read_edits(path) == request.edits:
            return stored
        return None

    def seconds(self, index: Index, settings: Mapping[str, Any]) -> Range:
        """Return the seconds that make() would take: as measured on trials of the index that changed the same
        settings, else as estimated; nothing where the index is there. Raises what config() does."""
        config = self.config(index, settings)
        if self.existing(index, config) is not None:
            return Range()
        changed, records = _changed(index, config), self._records().values()
        measured = [each.seconds for each in records if each.of == index.id and each.changed == changed]
        if measured and not set(changed) & set(BASE_SETTINGS):  # chunks are read anew for each value of those
            return Range(min(measured), sorted(measured)[len(measured) // 2], max(measured))
        return self.forecast(index, config).seconds

    def forecast(self, index: Index, config: IndexConfig) -> Forecast:
        """Return what a trial with these settings takes: calls of models and their price, seconds."""
        if _is_imported(index):
            return self._imports.forecast(index, config)
        try:  # where the corpus is there, a few of its documents show what is kept
            return self._builds.forecast(index.manifest.corpus.id, config)
        except CorpusNotFound:
            return self._builds.forecast_of(documents_after(index, DocumentChanges()), config)

    def all(self) -> list[Trial]:
        """Return the trials that read, the one used last first."""
        trials = []
        for id_, record in self._records().items():
            with suppress(LeanRAGError):  # damaged: clear() and the limit delete it, make() makes it again
                trials.append(Trial(self._indexes.summary(id_), record.base, record.seconds))
        return trials

    def keep(self, id_: str, name: str = "") -> str:
        """Put the trial among the indexes, under that name or its own; return its id there. Raises IndexNotFound,
        InvalidConfig, StorageFailed."""
        source = self._trial(id_)
        manifest = self._indexes.open(id_).manifest
        origin = manifest.corpus.id or self._records()[id_].base.rpartition("-")[0]  # of an import, see import_id()
        base = folder_name(origin, manifest.config.checked())
        target, n = base, 1
        while self._indexes.path(target).exists() and self._indexes.manifest_id(target) != manifest.id:
            n += 1
            target = f"{base}-{n}"  # the same settings, of other documents or edits
        if not self._indexes.path(target).exists():
            copy_index(source, self._indexes.path(target))
        if name.strip():
            self._indexes.rename(target, name)
        self.clear(id_)
        return target

    def clear(self, *ids: str) -> None:
        """Delete those trials; all of them without ids. Raises IndexNotFound for what is no trial, StorageFailed."""
        for id_ in ids or [path.name for path in self.root.glob(f"{TRIAL}*") if path.is_dir()]:
            self._trial(id_)
            with suppress(IndexNotFound):  # by another session, or never finished
                self._indexes.delete(id_)
            self._record_file(id_).unlink(missing_ok=True)

    def _id(self, index: Index, config: IndexConfig) -> str:
        return TRIAL + folder_name(index.id, config)

    def _trial(self, id_: str) -> Path:
        if not id_.startswith(TRIAL):
            raise IndexNotFound("index.not_found", index=id_)
        return self._indexes.path(id_)

    def _request(self, index: Index, config: IndexConfig) -> BuildRequest:
        assert index.path is not None  # it was read from the disk
        manifest = index.manifest
        return BuildRequest(
            () if _is_imported(index) else documents_after(index, DocumentChanges()),
            config,
            self._indexes.path(self._id(index, config)),
            manifest.name,
            manifest.corpus,
            in_store=True,
            edits=read_edits(index.path),
        )

    def _record_file(self, id_: str) -> Path:
        return self.root / f"{id_}{_RECORD}"

    def _records(self) -> dict[str, TrialRecord]:
        """Return the record of each trial, the last used first."""
        used: dict[str, tuple[float, TrialRecord]] = {}
        for path in self.root.glob(f"{TRIAL}*{_RECORD}"):
            with suppress(OSError, RecordDamaged):  # cleared away just now, or of no use without its record
                used[path.name.removesuffix(_RECORD)] = path.stat().st_mtime, from_json(TrialRecord, path.read_bytes())
        return {id_: record for id_, (_, record) in sorted(used.items(), key=lambda each: (-each[1][0], each[0]))}

    def _trim(self, newest: str) -> None:
        """Delete trials beyond the limits, the least recently used first, but never the newest."""
        total_bytes = 0
        for n, trial in enumerate(self.all()):
            total_bytes += trial.summary.size_bytes
            if trial.id != newest and (n >= MOST or total_bytes > MOST_BYTES):
                self.clear(trial.id)


def _is_imported(index: Index) -> bool:
    """Tell whether the index is over an imported graph and can be built again."""
    return index.manifest.kind == IMPORTED and bool(index.manifest.extractor)


def _changed(index: Index, config: IndexConfig) -> tuple[str, ...]:
    """Return the names of the settings that differ from those of the index."""
    before = index.manifest.config.by_name()
    return tuple(spec.name for spec in fields(config) if getattr(config, spec.name) != before[spec.name])
