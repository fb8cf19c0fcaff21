"""What a part of an index rests on, and which parts an index that is built again takes over from the one before."""

import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from leanrag_core.errors import LeanRAGError
from leanrag_core.storage.digests import digests_of
from leanrag_core.storage.layout import read_manifest
from leanrag_core.storage.part_store import PartStore
from leanrag_core.types.part import CHUNKS, ENTITIES, FINISHED, LANGUAGE, RELATIONS, VECTORS, PartRecord

_FILES_OF = {
    ENTITIES: re.compile(r"(entities-\d+|hierarchy)\.\w+"),
    RELATIONS: re.compile(r"relations-\d+\.\w+"),
    CHUNKS: re.compile(r"(documents|chunks)\.\w+|vectors-chunks\.npy"),
    VECTORS: re.compile(r"vectors-\d+\.npy"),
}


def index_digests(directory: Path, needs: Iterable[str]) -> dict[str, str]:
    """A digest of what the index in the directory has of each of these things: entities with the tree, relations,
    chunks with their documents and vectors, vectors of the entities. Other needs are left out.

    Raises IndexNotFound, IndexDamaged or IndexTooNew.
    """
    wanted = [need for need in needs if need in _FILES_OF]
    if not wanted:
        return {}
    recorded = read_manifest(directory).files
    names = sorted(recorded or (path.name for path in directory.iterdir() if path.is_file()))
    digests = {}
    for need in wanted:
        files = [name for name in names if _FILES_OF[need].fullmatch(name)]
        hashes = recorded or digests_of(directory, files)  # an index of before hashes were kept
        lines = "".join(f"{name} {hashes[name].sha256}\n" for name in files)
        digests[need] = hashlib.sha256(lines.encode()).hexdigest()[:32]
    return digests


def take_over_parts(before: Path, directory: Path) -> list[str]:
    """The finished parts of the index `before` that rest on what is the same in the index in `directory` are there too;
    returns their names.

    Files are linked where the disk can do that, so that nothing is written twice, and copied elsewhere. A part that
    does not read, or rests on something else, stays behind.
    """
    finished = [part for part in PartStore(before).all() if part.status == FINISHED]
    if not finished:
        return []
    kept: dict[str, str] = {}
    waiting = finished
    while True:  # a part may rest on another one, which must be there first
        fitting = [part for part in waiting if part.record is not None and fits(part.record, directory, kept)]
        if not fitting:
            return sorted(kept)
        for part in fitting:
            taken_over = PartStore(directory).folder(part.name, part.fingerprint)
            if not taken_over.exists():  # an earlier state that comes again has its own
                _link(part.folder, taken_over)
            kept[part.name] = part.fingerprint
        waiting = [part for part in waiting if part not in fitting]


def fits(record: PartRecord, directory: Path, kept: Mapping[str, str] | None = None) -> bool:
    """Whether all that the part rests on is the same in the index in that directory.

    kept: the parts that the index has, by name; None passes over those that the part needs.
    """
    try:
        here = index_digests(directory, record.rests_on)
    except LeanRAGError:
        return False
    for need, digest in record.rests_on.items():
        if need in here and here[need] != digest:
            return False
        if need not in here and need != LANGUAGE and kept is not None and kept.get(need) != digest:
            return False
    return True


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)

    def link_or_copy(file: str, copy: str) -> str:
        try:
            os.link(file, copy)
        except OSError:
            shutil.copy2(file, copy)
        return copy

    shutil.copytree(source, target, copy_function=link_or_copy)
