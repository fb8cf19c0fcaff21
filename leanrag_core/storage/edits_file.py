"""The log of edits by hand that an index keeps: edits.json, recorded in the manifest like every other file."""

from pathlib import Path

from leanrag_core.atomic import write_bytes
from leanrag_core.records import json_bytes, plain
from leanrag_core.storage.json_files import read_object, read_record
from leanrag_core.storage.ownership import EDITS
from leanrag_core.types.editing import NO_EDITS, EditLog

_MAX_BYTES = 256_000_000


def write_edits(directory: Path, log: EditLog) -> tuple[str, ...]:
    """Writes the log into the folder of an index; returns the names of the files, none for an empty log."""
    if not log.edits:
        return ()
    write_bytes(directory / EDITS, json_bytes(plain(log), indent=1))
    return (EDITS,)


def read_edits(directory: Path) -> EditLog:
    """The log of the index in the folder; empty where there is none. Raises IndexDamaged."""
    path = directory / EDITS
    if not path.is_file():
        return NO_EDITS
    return read_record(EditLog, path, read_object(path, max_bytes=_MAX_BYTES))
