"""All of a build but the models: clustering, aggregation, storage and search index of an invented base graph."""

import shutil
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.memory import peak_gb, reset_peak
from benchmarks.synthetic import index_of, synthetic_corpus
from leanrag_core.storage.layout import CHROMA, size_bytes, write_index
from leanrag_core.storage.search_connection import SearchPlace
from leanrag_core.storage.search_writer import write_search_index

TITLE = "Build without model time (2 relations an entity, all layers, stored and searchable)"
SIZES = (1_000, 10_000, 100_000)

_STAGES = ("embed", "cluster", "aggregate entities", "aggregate relations")


def measure(size: int) -> dict[str, float | int | str]:
    """Seconds of each stage over all layers, and what was built. `embed` only looks planted vectors up.

    Peak memory is that of the build alone, the corpus included.
    """
    corpus = synthetic_corpus(size)
    reset_peak()
    seconds: dict[str, float] = defaultdict(float)
    began = told = time.perf_counter()
    processor = time.process_time()

    def lap(stage: str) -> None:
        """What passed since the last report belongs to the stage that reports now."""
        nonlocal told
        now = time.perf_counter()
        seconds[stage] += now - told
        told = now

    index = index_of(corpus, report=lambda stage, done, total: lap(stage))
    lap("counts")
    folder = Path(tempfile.mkdtemp(prefix="leanrag-build-"))
    try:
        write_index(folder, index)
        lap("store")
        write_search_index(SearchPlace(folder, folder / CHROMA), index, lambda done, total: None)
        lap("search index")
        stored = size_bytes(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {
        "relations": corpus.base.relations.num_rows,
        "layers": " ".join(str(len(layer)) for layer in index.layers),
        "relations_above": " ".join(str(layer.relations.num_rows) for layer in index.layers[1:]),
        **{
            f"{stage.replace(' ', '_')}_seconds": round(seconds[stage], 2)
            for stage in (*_STAGES, "counts", "store", "search index")
        },
        "build_seconds": round(told - began, 2),
        "processor_seconds": round(time.process_time() - processor, 2),
        "stored_mb": round(stored / 1e6, 1),
        "peak_gb": round(peak_gb(), 3),
    }
