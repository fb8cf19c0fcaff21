"""How far indexes are from fresh builds: one small JSON file for each state of an index that was compared."""

import re
from pathlib import Path

from leanrag_core.errors import RecordDamaged
from leanrag_core.files import private
from leanrag_core.files.atomic import write_bytes, writing
from leanrag_core.files.records import from_json, to_json
from leanrag_core.messages.message import message
from leanrag_core.types.updating import FreshDistance

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,80}")


class FreshDistances:
    """Keeps the distances below one folder, by the id that an index's manifest gives it."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def write(self, index_id: str, distance: FreshDistance) -> None:
        """Keeps the distance of the index. Raises StorageFailed."""
        path = self._path(index_id)
        with writing(message("what.index", folder=index_id)):
            private.make_folder(self._root)
            write_bytes(path, to_json(distance, indent=1), private=True)

    def read(self, index_id: str) -> FreshDistance | None:
        """Return the distance of the index; None where it was not compared, or the file does not read."""
        path = self._path(index_id)
        try:
            return from_json(FreshDistance, path.read_bytes(), name=path.name)
        except (OSError, RecordDamaged):
            return None

    def _path(self, index_id: str) -> Path:
        name = index_id if _ID.fullmatch(index_id) else "unknown"
        return self._root / f"{name}.json"
