"""The settings file of a workbench, which names the variable that holds a key, never the key; and the presets of a
person beside it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leanrag_core.errors import InvalidConfig, RecordDamaged
from leanrag_core.files import private
from leanrag_core.files.atomic import write_bytes, writing
from leanrag_core.files.records import from_json, from_values, to_json, values_of
from leanrag_core.messages.message import message
from leanrag_core.types.config import SETTINGS, IndexConfig, Preset, presets
from leanrag_core.types.settings import Settings

MOST = 50
MAX_TITLE = 80  # characters of a preset's
_MAX_BYTES = 1_000_000


def read_settings(path: Path) -> Settings:
    """Return the settings of the file, the defaults when there is none. Raises InvalidConfig for a damaged file."""
    if not path.exists():
        return Settings()
    private.tighten_file(path)
    try:
        values = values_of(path.read_bytes(), name=path.name)
    except RecordDamaged as error:
        raise InvalidConfig("settings.file_unreadable", name=path.name, reason=error.reason) from error
    if not isinstance(values, dict):
        raise InvalidConfig("settings.file_empty", name=path.name)
    return settings_of(values)


def settings_of(values: Mapping[str, Any]) -> Settings:
    """Return the settings of their JSON values; names of a newer version are passed over. Raises InvalidConfig."""
    try:
        return from_values(Settings, {name: value for name, value in values.items() if value is not None})
    except RecordDamaged as error:
        raise InvalidConfig("settings.unreadable", reason=error.reason) from error


def write_settings(path: Path, settings: Settings) -> None:
    """Write the settings in one step, for their owner alone. Raises StorageFailed."""
    with writing(message("what.settings", path=str(path)), message("kept.settings")):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, to_json(settings, indent=1), private=True)


class OwnPresets:
    """Lists, saves and deletes the presets of a workbench. path: of the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def all(self) -> tuple[Preset, ...]:
        """Return the presets in the order in which they were saved. Raises RecordDamaged."""
        if not self._path.is_file():
            return ()
        private.tighten_file(self._path)
        with self._path.open("rb") as file:
            return from_json(tuple[Preset, ...], file.read(_MAX_BYTES), name=self._path.name)

    def save(self, title: str, config: IndexConfig, ask: Mapping[str, Any] | None = None) -> Preset:
        """Keep how an index is built and how it is asked under that title; one of the same title is replaced.

        Models, prompts and entity types are not part of a preset. Raises InvalidConfig for a title that is empty, too
        long or one of the program's, and for too many presets; RecordDamaged, StorageFailed.
        """
        title = " ".join(title.split())
        if not title or len(title) > MAX_TITLE or title in {preset.title for preset in presets()}:
            raise InvalidConfig("preset.bad_title", limit=MAX_TITLE)
        index = {
            name: getattr(config, name)
            for name in SETTINGS
            if getattr(config, name) != IndexConfig.__dataclass_fields__[name].default
        }
        preset = Preset(f"own-{title}", title, "", index, dict(ask or {}), plain_mixture=False)
        kept = [each for each in self.all() if each.title != title]
        if len(kept) >= MOST:
            raise InvalidConfig("preset.too_many", limit=MOST)
        self._write((*kept, preset))
        return preset

    def delete(self, title: str) -> None:
        """Delete the preset of that title. Raises RecordDamaged, StorageFailed."""
        self._write(tuple(each for each in self.all() if each.title != title))

    def _write(self, kept: tuple[Preset, ...]) -> None:
        with writing(message("what.presets", path=str(self._path))):
            private.make_folder(self._path.parent)
            write_bytes(self._path, to_json(kept, indent=1), private=True)
