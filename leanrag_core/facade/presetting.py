"""Presets: those of the program, and those that a person has saved."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from leanrag_core.facade.services import Services
from leanrag_core.retrieval.strategies import leanrag
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.presets import Preset, presets


class Presetting(Services):
    """Presets of how an index is built and asked. See Workbench."""

    def presets(self) -> tuple[Preset, ...]:
        """The program's presets, the defaults first, then the person's own, without options of a question that LeanRAG
        no longer has. Raises RecordDamaged."""
        return (*presets(), *map(_with_known_options, self.preset_store.all()))

    def save_preset(self, title: str, config: IndexConfig, ask: Mapping[str, Any] | None = None) -> Preset:
        """Keeps settings of an index and options of LeanRAG under a title; one of the same title is replaced. Models
        and prompts are not kept. Raises InvalidConfig, RecordDamaged, StorageFailed."""
        return self.preset_store.save(title, config, ask or {})

    def delete_preset(self, title: str) -> None:
        """The person's preset of that title is gone. Raises RecordDamaged, StorageFailed."""
        self.preset_store.delete(title)


def _with_known_options(preset: Preset) -> Preset:
    known = leanrag.Config.__dataclass_fields__
    return replace(preset, ask={name: value for name, value in preset.ask.items() if name in known})
