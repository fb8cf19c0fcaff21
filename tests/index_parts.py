"""Making parts of small indexes without a workbench."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from leanrag_core.indexing.part_base import PartModels, PartTools, parts
from leanrag_core.indexing.part_building import build_part
from leanrag_core.storage.layout import read_index
from leanrag_core.storage.part_store import PartStore


def no_embedding(texts: Sequence[str]) -> np.ndarray:
    raise AssertionError("nothing is to be embedded")


def made_part(directory: Path, name: str, options: Mapping[str, Any] | None = None) -> Path:
    """Make that part of the index in the directory; return its folder."""
    info = parts().named(name)
    config = info.configured(options or {})
    record = build_part(read_index(directory), info, config, PartModels(), PartTools(no_embedding))
    return PartStore(directory).folder(name, record.fingerprint)
