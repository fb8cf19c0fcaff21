"""LeanRAG: hierarchical knowledge-graph retrieval-augmented generation, and a workbench around it."""

import os
from typing import TYPE_CHECKING, Any

# onnxruntime 1.29 and later report their use to Microsoft unless this is set before its first import.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

__version__ = "0.1.0"
__all__ = ["IndexConfig", "Workbench", "open_index", "preset", "presets"]

if TYPE_CHECKING:
    from leanrag_core.types.config import IndexConfig, preset, presets
    from leanrag_core.workbench import Workbench, open_index


def __getattr__(name: str) -> Any:
    # Loaded on first use: importing the package must stay under 0.3 s.
    if name == "IndexConfig":
        from leanrag_core.types.config import IndexConfig

        return IndexConfig
    if name in ("preset", "presets"):
        from leanrag_core.types import config

        return getattr(config, name)
    if name in ("Workbench", "open_index"):
        from leanrag_core import workbench

        return getattr(workbench, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
