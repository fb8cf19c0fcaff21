"""Presets that a person has saved, in one file beside the settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leanrag_core import private
from leanrag_core.atomic import write_bytes, writing
from leanrag_core.errors import InvalidConfig
from leanrag_core.messages.message import message
from leanrag_core.records import from_json, to_json
from leanrag_core.types.config import SETTINGS, IndexConfig
from leanrag_core.types.presets import Preset, presets

MOST = 50
_LONGEST_TITLE = 80
_MAX_BYTES = 1_000_000


class OwnPresets:
    """Lists, saves and deletes the presets of a workbench. path: of the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def all(self) -> tuple[Preset, ...]:
        """The presets in the order in which they were saved. Raises RecordDamaged."""
        if not self._path.is_file():
            return ()
        private.tighten_file(self._path)
        with self._path.open("rb") as file:
            return from_json(tuple[Preset, ...], file.read(_MAX_BYTES), name=self._path.name)

    def save(self, title: str, config: IndexConfig, ask: Mapping[str, Any]) -> Preset:
        """Keeps how an index is built and how it is asked under that title; one of the same title is replaced.

        Models, prompts and entity types are not part of a preset. Raises InvalidConfig for a title that is empty, too
        long or one of the program's, and for too many presets; RecordDamaged, StorageFailed.
        """
        title = " ".join(title.split())
        if not title or len(title) > _LONGEST_TITLE or title in {preset.title for preset in presets()}:
            raise InvalidConfig("preset.bad_title", limit=_LONGEST_TITLE)
        index = {
            name: getattr(config, name)
            for name in SETTINGS
            if getattr(config, name) != IndexConfig.__dataclass_fields__[name].default
        }
        preset = Preset(f"own-{title}", title, "", index, dict(ask), plain_mixture=False)
        kept = [each for each in self.all() if each.title != title]
        if len(kept) >= MOST:
            raise InvalidConfig("preset.too_many", limit=MOST)
        self._write((*kept, preset))
        return preset

    def delete(self, title: str) -> None:
        """No preset has that title. Raises RecordDamaged, StorageFailed."""
        self._write(tuple(each for each in self.all() if each.title != title))

    def _write(self, kept: tuple[Preset, ...]) -> None:
        with writing(message("what.presets", path=str(self._path))):
            private.make_folder(self._path.parent)
            write_bytes(self._path, to_json(kept, indent=1), private=True)
