"""The settings file of a workbench. It names the variable that holds a key, never the key."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leanrag_core import private
from leanrag_core.atomic import write_bytes, writing
from leanrag_core.errors import InvalidConfig, RecordDamaged
from leanrag_core.messages.message import message
from leanrag_core.records import from_values, to_json, values_of
from leanrag_core.types.settings import Settings


def read_settings(path: Path) -> Settings:
    """The settings of the file, the defaults when there is none. Raises InvalidConfig for a damaged file."""
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
    """The settings of their JSON values; names of a newer version are passed over. Raises InvalidConfig."""
    try:
        return from_values(Settings, {name: value for name, value in values.items() if value is not None})
    except RecordDamaged as error:
        raise InvalidConfig("settings.unreadable", reason=error.reason) from error


def write_settings(path: Path, settings: Settings) -> None:
    """Writes the settings in one step, for their owner alone. Raises StorageFailed."""
    with writing(message("what.settings", path=str(path)), message("kept.settings")):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, to_json(settings, indent=1), private=True)
