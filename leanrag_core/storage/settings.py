"""The settings file of a workbench. It names the variable that holds a key, never the key."""

import json
from pathlib import Path

from leanrag_core import private
from leanrag_core.atomic import write_json, writing
from leanrag_core.errors import InvalidConfig
from leanrag_core.plain_words import in_words
from leanrag_core.types.settings import Settings, settings_of


def read_settings(path: Path) -> Settings:
    """The settings of the file, the defaults when there is none. Raises InvalidConfig for a damaged file."""
    if not path.exists():
        return Settings()
    private.tighten_file(path)
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidConfig(
            f"{path.name} is not valid JSON ({in_words(error)}): correct it, or delete it to start again"
        ) from error
    if not isinstance(cells, dict):
        raise InvalidConfig(f"{path.name} holds no settings: delete it to start again")
    return settings_of(cells)


def write_settings(path: Path, settings: Settings) -> None:
    """The file holds the settings, in one step, for its owner alone. Raises StorageFailed."""
    with writing(f"the settings file {path}", "The settings are as they were."):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, settings.cells(), private=True)
