"""The settings file of a workbench, how its indexes are asked, and the presets: the program's and a person's own."""

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from leanrag_core.files import private
from leanrag_core.files.atomic import write_bytes, writing
from leanrag_core.files.records import from_json, to_json
from leanrag_core.messages.message import message
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
        """Return the settings; OPENAI_BASE_URL stands in for an address that the file leaves open."""
        settings = read_settings(self._path)
        return settings if settings.base_url else replace(settings, base_url=os.environ.get("OPENAI_BASE_URL", ""))

    def save(self, settings: Settings) -> None:
        """Store the settings, which hold from the next model call on, for jobs from their start."""
        write_settings(self._path, settings)
        self.n_saved += 1

    def change(self, change: Callable[[Settings], Settings]) -> None:
        """Apply `change` to the settings in the file, which leave open what the environment names, and store the
        result.

        Changes are made one at a time: the former run of a redrawn page may still be running. Raises InvalidConfig for
        a damaged file or a setting out of its bounds, StorageFailed.
        """
        with self._changing:
            self.save(change(read_settings(self._path)))


class Presets(OwnPresets):
    """Lists, saves and deletes presets of how an index is built and asked."""

    def with_shipped(self) -> tuple[Preset, ...]:
        """Return the program's presets, the defaults first, then the person's own, without options of a question that
        LeanRAG no longer has. Raises RecordDamaged."""
        known = leanrag.Config.__dataclass_fields__
        own_presets = (
            replace(preset, ask={name: value for name, value in preset.ask.items() if name in known})
            for preset in self.all()
        )
        return (*presets(), *own_presets)


@dataclass(frozen=True)
class AskedWith:
    """A strategy and those of its options that are not official."""

    strategy: str
    options: Mapping[str, Any]


class IndexDefaults:
    """How each index is asked on Ask and Compare unless a person says otherwise there. path: of the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._changing = threading.Lock()

    def chosen_for(self, index_id: str) -> AskedWith | None:
        """Return how the index is asked; None for the official settings. Raises RecordDamaged."""
        chosen = self._all()
        return chosen.get(index_id)

    def use(self, index_id: str, asked: AskedWith | None) -> AskedWith | None:
        """Choose how the index is asked, None for the official settings; return what was chosen before. Raises
        RecordDamaged, StorageFailed."""
        with self._changing:
            chosen = self._all()
            before = chosen.pop(index_id, None)
            if asked is not None:
                chosen[index_id] = asked
            with writing(message("what.settings", path=str(self._path)), message("kept.settings")):
                self._path.parent.mkdir(parents=True, exist_ok=True)
                write_bytes(self._path, to_json(chosen, indent=1), private=True)
        return before

    def _all(self) -> dict[str, AskedWith]:
        if not self._path.is_file():
            return {}
        private.tighten_file(self._path)
        return from_json(dict[str, AskedWith], self._path.read_bytes(), name=self._path.name)
