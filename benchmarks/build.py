"""All of a build but the models: clustering, aggregation, storage of an invented base graph; the search index apart."""

import shutil
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.memory import peak_gb, reset_peak
from benchmarks.synthetic import index_of, make_search_index, synthetic_corpus
from leanrag_core.storage.layout import size_bytes, write_index

TITLE = "Build without model time (2 relations an entity, all layers, stored; the search index apart)"
SIZES = (1_000, 10_000, 100_000)

_STAGES = ("embed", "cluster", "aggregate entities", "aggregate relations")


def measure(size: int) -> dict[str, float | int | str]:
    """Return the seconds of each stage over all layers, and what was built. `embed` only looks planted vectors up.

    Peak memory is that of the build alone, the corpus included.
    """
    corpus = synthetic_corpus(size)
    reset_peak()
    seconds: dict[str, float] = defaultdict(float)
    began = last = time.perf_counter()
    processor = time.process_time()

    def lap(stage: str) -> None:
        """Add what passed since the last report to the seconds of the stage that reports now."""
        nonlocal last
        now = time.perf_counter()
        seconds[stage] += now - last
        last = now

    index = index_of(corpus, report=lambda progress: lap(progress.stage))
    lap("counts")
    folder = Path(tempfile.mkdtemp(prefix="leanrag-build-"))
    try:
        write_index(folder, index)
        lap("store")
        stored, build_seconds, peak = size_bytes(folder), last - began, peak_gb()
        processor = time.process_time() - processor
        part = make_search_index(folder)
        searchable = size_bytes(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {
        "relations": corpus.base.relations.num_rows,
        "layers": " ".join(str(len(layer)) for layer in index.layers),
        "relations_above": " ".join(str(layer.relations.num_rows) for layer in index.layers[1:]),
        **{f"{stage.replace(' ', '_')}_seconds": round(seconds[stage], 2) for stage in (*_STAGES, "counts", "store")},
        "build_seconds": round(build_seconds, 2),
        "processor_seconds": round(processor, 2),
        "stored_mb": round(stored / 1e6, 1),
        "peak_gb": round(peak, 3),
        "search_index_seconds": round(part.seconds, 2),
        "search_index_mb": round((searchable - stored) / 1e6, 1),
    }
