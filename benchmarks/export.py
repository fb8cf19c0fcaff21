"""Exporting an index: time, size and memory of each format."""

import tempfile
import time
from pathlib import Path

from benchmarks.memory import peak_gb, reset_peak
from leanrag_core.exporting.base import export_index, exporters
from leanrag_core.storage.layout import read_index, write_index
from tests.large_index import large_index

TITLE = "Exporting an index of n entities and 5/2 n relations"
SIZES = (10_000, 100_000)


def measure(size: int) -> dict[str, float | int | str]:
    """Return seconds by the clock and of processor time, and the size of the file, for each format."""
    figures: dict[str, float | int | str] = {}
    with tempfile.TemporaryDirectory() as folder:
        stored = Path(folder) / "index"
        stored.mkdir()
        write_index(stored, large_index(size))
        index = read_index(stored)
        reset_peak()
        for exporter in exporters():
            started, processor = time.perf_counter(), time.process_time()
            exported = export_index(index, exporter.name, Path(folder) / f"index{exporter.suffix}")
            figures[f"{exporter.name}_seconds"] = round(time.perf_counter() - started, 2)
            figures[f"{exporter.name}_processor_seconds"] = round(time.process_time() - processor, 2)
            figures[f"{exporter.name}_mb"] = round(exported.bytes / 1e6, 1)
            figures[f"peak_gb_after_{exporter.name}"] = round(peak_gb(), 3)
    return figures
