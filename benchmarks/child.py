"""One measure in a process of its own: `python -m benchmarks.child SECTION SIZE OUT` writes its figures to OUT.

A section is named by its module. Nothing but this measure has run in the process, so its peak memory is the measure's.
"""

import importlib
import json
import sys
import time
import traceback
from pathlib import Path

from benchmarks.memory import peak_gb


def main(module: str, size: int, out: Path) -> int:
    """Write {"figures": ...}, or {"error": reason} when the measure fails."""
    try:
        section = importlib.import_module(module)
        started = time.perf_counter()
        figures = dict(section.measure(size))
        wall = time.perf_counter() - started
    except Exception as error:
        traceback.print_exc()
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        out.write_text(json.dumps({"error": reason}), encoding="utf-8")
        return 1
    figures.setdefault("wall_seconds", round(wall, 3))
    figures.setdefault("peak_gb", round(peak_gb(), 3))
    out.write_text(json.dumps({"figures": {name: _plain(value) for name, value in figures.items()}}), encoding="utf-8")
    return 0


def _plain(value: object) -> object:
    """Return a number of numpy as Python's, and any other value as it is."""
    item = getattr(value, "item", None)
    return item() if callable(item) else value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))
