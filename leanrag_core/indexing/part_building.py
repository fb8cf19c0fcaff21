"""Makes, lists and reads the parts of an index."""

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from leanrag_core.errors import InvalidConfig, PartDamaged, PartMissing
from leanrag_core.files.atomic import disk_errors_of, writing
from leanrag_core.indexing.part_base import PartInfo, PartList, PartModels, PartTools, rests_on
from leanrag_core.messages.message import message
from leanrag_core.storage.layout import read_index
from leanrag_core.storage.part_store import PartStore, StoredPart, fits
from leanrag_core.storage.staging import part_lock
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import ABSENT, FINISHED, INDEX_NEEDS, LANGUAGE, UNFINISHED, PartRecord, PartState


def build_part(index: Index, info: PartInfo, config: Any, models: PartModels, tools: PartTools) -> PartRecord:
    """Make the part, unless the index has it; return its record.

    A process that is killed leaves what it has written, which the next attempt finds. While the index is built again
    or the same part of it is made, this waits; other parts may be made meanwhile. Raises InvalidConfig and PartMissing
    when something that the part needs is missing, StorageFailed, BudgetSpent, Cancelled, and errors of the part's own.
    """
    store, part = _store(index, info.name), info.part
    waits = Progress("open", 0, 0, waiting=True)
    with part_lock(store.directory, info.name, waiting=lambda: tools.report(waits)) as waited:
        tools.report(Progress("open", 0, 0))
        index = read_index(store.directory) if waited else index
        fingerprint = part.fingerprint(index, config, models)
        if (record := _finished(store, info, fingerprint, index)) is not None:
            return record
        _require_needs(info, models)
        folder = store.building_folder(info.name, fingerprint)
        what = message("what.part", part=info.name, index=store.directory.name)
        with writing(what):
            folder.mkdir(parents=True, exist_ok=True)
        started, spent_before = time.perf_counter(), tools.meter.read().usage
        with disk_errors_of(what):
            part.build(index, folder, config, tools)
        tools.report(Progress("store", 0, 0))
        record = PartRecord(
            name=info.name,
            fingerprint=fingerprint,
            config=asdict(config),
            rests_on=rests_on(part, index, models),
            seconds=round(time.perf_counter() - started, 3),
            usage=tools.meter.read().usage - spent_before,
        )
        store.finish(record, part.lasting_files(folder))
        return store.read(info.name, fingerprint)


def _finished(store: PartStore, info: PartInfo, fingerprint: str, index: Index) -> PartRecord | None:
    """Return the record of the part where it is made already, and None where it is not; a damaged one is deleted."""
    try:
        record = store.read(info.name, fingerprint)
        info.part.read(store.folder(info.name, fingerprint), index)  # may rest on files that have no lasting hash
    except PartMissing:
        return None
    except PartDamaged:
        store.delete(info.name, fingerprint)
        return None
    return record


def _require_needs(info: PartInfo, models: PartModels) -> None:
    if LANGUAGE in info.part.needs and models.language is None:
        raise InvalidConfig("part.needs_model", part=info.name)
    for need in info.part.needs:
        if need not in INDEX_NEEDS and need not in models.parts:
            raise PartMissing("part.needs_part", part=info.name, needed=need)


def read_part(index: Index, info: PartInfo) -> Any:
    """Return what the part's read() gives of the version that was made last. Raises PartMissing, PartDamaged."""
    store = _store(index, info.name)
    folder = store.newest(info.name)
    if folder is None:
        raise PartMissing("part.missing", part=info.name)
    record = store.read(info.name, folder.name)
    require_fitting(index, record)
    return info.part.read(folder, index)


def require_fitting(index: Index, record: PartRecord) -> None:
    """Raise PartDamaged when the part was made of another index than this one."""
    if not fits(record, _store(index, record.name).directory):
        raise PartDamaged("part.of_another_index", part=record.name)


def part_states(index: Index, listed: PartList, models: PartModels) -> tuple[PartState, ...]:
    """Return the parts that the index has or may have, by name; of a part with several options all versions on disk."""
    if index.path is None:
        return ()
    store = PartStore(index.path)
    states = []
    for info in listed.parts:
        config = info.config()
        fingerprint = info.part.fingerprint(index, config, models)
        stored = store.all(info.name)
        states += [_state(info, index, part) for part in stored if part.fingerprint != fingerprint]
        own = [part for part in stored if part.fingerprint == fingerprint]
        # A finished version counts before what is left of an attempt to make it once more.
        best = min(own, key=lambda part: part.status == UNFINISHED, default=None)
        if best is not None or not any(part.status == FINISHED for part in stored):
            states.append(_state(info, index, best, fingerprint, asdict(config)))
    return tuple(states)


def _state(
    info: PartInfo,
    index: Index,
    stored: StoredPart | None,
    fingerprint: str = "",
    config: Mapping[str, Any] | None = None,
) -> PartState:
    record = stored.record if stored is not None else None
    return PartState(
        name=info.name,
        title=info.part.title,
        help=info.part.help,
        status=stored.status if stored is not None else ABSENT,
        fingerprint=stored.fingerprint if stored is not None else fingerprint,
        needs=info.part.needs,
        offered=info.part.offered(index),
        config=record.config if record is not None else config or {},
        seconds=record.seconds if record is not None else 0.0,
        **({"usage": record.usage} if record is not None else {}),
        size_bytes=stored.size_bytes if stored is not None else 0,
        problem=stored.problem if stored is not None else None,
    )


def _store(index: Index, name: str) -> PartStore:
    if index.path is None:
        raise PartMissing("part.index_in_memory", part=name)
    return PartStore(index.path)
