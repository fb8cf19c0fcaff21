"""The settings file of a workbench, and the presets: those of the program, and those that a person has saved."""

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from leanrag_core.retrieval.strategies import leanrag
from leanrag_core.storage.settings import OwnPresets, read_settings, write_settings
from leanrag_core.types.config import Preset, presets
from leanrag_core.types.settings import Settings


class SettingsFile:
    """Reads and writes the settings. n_saved: how many times this process has saved them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._changing = threading.Lock()
        self.n_saved = 0

    def read(self) -> Settings:
        """Return the settings, an address that the file leaves open being OPENAI_BASE_URL."""
        settings = read_settings(self._path)
        return settings if settings.base_url else replace(settings, base_url=os.environ.get("OPENAI_BASE_URL", ""))

    def save(self, settings: Settings) -> None:
        """Store the settings, which hold from the next model call on, for jobs from their start."""
        write_settings(self._path, settings)
        self.n_saved += 1

    def change(self, change: Callable[[Settings], Settings]) -> None:
        """Store what `change` makes of the settings in the file, which leave open what the environment names.

        One change at a time: a page that is drawn again runs beside its former run until that one notices. Raises
        InvalidConfig for a damaged file or a setting out of its bounds, StorageFailed.
        """
        with self._changing:
            self.save(change(read_settings(self._path)))


class Presets(OwnPresets):
    """Lists, saves and deletes presets of how an index is built and asked."""

    def with_shipped(self) -> tuple[Preset, ...]:
        """Return the program's presets, the defaults first, then the person's own, without options of a question that
        LeanRAG no longer has. Raises RecordDamaged."""
        known = leanrag.Config.__dataclass_fields__
        own = (
            replace(preset, ask={name: value for name, value in preset.ask.items() if name in known})
            for preset in self.all()
        )
        return (*presets(), *own)
