"""Opening an index, and from a query's vector to the finished context, on invented indexes of any size.

The question is embedded beforehand: what remains is the search for seeds, the climb to their lowest common ancestor,
relations, chunks and a context whose every token is counted.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # the measured process imports the core after its memory was read
    from leanrag_core.retrieval.base import Query, Strategy
    from leanrag_core.retrieval.tools import Tools
    from leanrag_core.types.index import Index

TITLE = "Opening and retrieval (top-N 10, top-C 5, tokens counted, no model calls)"
SIZES = (5_000, 20_000, 100_000)

_QUERIES = 50
_WARM_UP = 10
_NOISE = 0.8  # of a query, as a length beside the entity vector's 1: cosines of the best seeds lie near .75
_MAKE = "import sys; from benchmarks.synthetic import synthetic_index; print(synthetic_index(int(sys.argv[1])))"


def measure(size: int) -> dict[str, float | int | str]:
    """Return times, memory and recall on the synthetic index of that many entities; make it when it is not there."""
    path = _made(size)
    from leanrag_core.retrieval.base import Query, strategy
    from leanrag_core.retrieval.lca import lca_subtree
    from leanrag_core.retrieval.tools import Tools
    from leanrag_core.retrieval.vector_search import nearest
    from leanrag_core.storage.layout import read_index
    from leanrag_core.storage.search_store import SearchStore

    leanrag = strategy("leanrag", {})
    tools = Tools(embed=_no_texts, searches=SearchStore())
    before = _memory_mb("VmRSS")
    started = time.perf_counter()
    index = read_index(path)
    open_seconds = time.perf_counter() - started
    open_mb = _memory_mb("VmRSS") - before

    base = index.layers[0]
    queries = [Query("What is known of it?", vector) for vector in _near_entities(base.vectors)]
    started = time.perf_counter()
    leanrag.retrieve(queries[0], index, tools)
    first_ms = 1000 * (time.perf_counter() - started)
    for query in queries[1:_WARM_UP]:
        leanrag.retrieve(query, index, tools)
    times, traces = [], []
    processor = time.process_time()
    for query in queries[_WARM_UP:]:
        started = time.perf_counter()
        traces.append(leanrag.retrieve(query, index, tools))
        times.append(1000 * (time.perf_counter() - started))
    processor = time.process_time() - processor

    parents = [layer.parent for layer in index.layers]
    seeded = [[(seed.layer or 0, seed.row or 0) for seed in trace.with_role("seed")] for trace in traces]
    lca_ms = [_best_ms(partial(lca_subtree, parents, nodes)) for nodes in seeded]
    retrieved = [
        len(
            {seed.row for seed in trace.with_role("seed")}
            & set(nearest(index, base, query.vector, 10, "exact").rows.tolist())
        )
        for trace, query in zip(traces, queries[_WARM_UP:], strict=True)
    ]
    walk_times = _times(strategy("leanrag_walk", {}), queries, index, _walk_tools(index, tools))
    return {
        "layers": len(index.layers),
        "open_seconds": round(open_seconds, 3),
        "open_mb": round(open_mb, 1),
        "first_ms": round(first_ms, 1),
        "p50_ms": round(float(np.median(times)), 2),
        "p95_ms": round(float(np.quantile(times, 0.95)), 2),
        "best_ms": round(min(times), 2),
        "processor_ms": round(1000 * processor / len(times), 2),
        "lca_ms": round(float(np.median(lca_ms)), 4),
        "walk_p50_ms": round(float(np.median(walk_times)), 2),
        "walk_best_ms": round(min(walk_times), 2),
        "search": traces[0].search,
        "recall_at_10": round(sum(retrieved) / (10 * len(retrieved)), 4),
        "context_tokens": int(np.median([trace.context.tokens for trace in traces])),
        "peak_gb": round(_memory_mb("VmHWM") / 1000, 3),
    }


def _walk_tools(index: "Index", tools: "Tools") -> "Tools":
    """Return the tools of an index with the part of LeanRAG-walk, which a workbench reads once for all questions."""
    from leanrag_core.indexing.part_base import PartTools
    from leanrag_core.indexing.parts import passage_walk

    part = passage_walk.Part()
    with tempfile.TemporaryDirectory() as folder:
        part.build(index, Path(folder), passage_walk.Config(), PartTools(_no_texts))
        operator = part.read(Path(folder), index)
    return replace(tools, part=lambda name: operator)


def _times(asked: "Strategy", queries: "Sequence[Query]", index: "Index", tools: "Tools") -> list[float]:
    """Return the milliseconds of each query after those that warm up."""
    times = []
    for query in queries:
        started = time.perf_counter()
        asked.retrieve(query, index, tools)
        times.append(1000 * (time.perf_counter() - started))
    return times[_WARM_UP:]


def _made(size: int) -> Path:
    """Make the index in a process of its own, so that its memory is not this one's, and return its folder."""
    done = subprocess.run([sys.executable, "-c", _MAKE, str(size)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"the synthetic index of {size:,} entities could not be made: {done.stderr.strip()[-500:]}")
    return Path(done.stdout.strip().splitlines()[-1])


def _no_texts(texts: Sequence[str]) -> np.ndarray:
    raise RuntimeError(f"{len(texts)} texts would be embedded: only queries with vectors are measured here")


def _near_entities(vectors: np.ndarray) -> np.ndarray:
    """Return (60, d) float32 unit rows: entities with noise, since no question lies on an entity."""
    random = np.random.default_rng(len(vectors))
    rows = random.integers(0, len(vectors), _WARM_UP + _QUERIES)
    noise = random.normal(size=(len(rows), vectors.shape[1]))
    noise *= _NOISE / np.linalg.norm(noise, axis=1, keepdims=True)
    queries = vectors[rows] + noise
    return np.asarray(queries / np.linalg.norm(queries, axis=1, keepdims=True), dtype=np.float32)


def _best_ms(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(5):
        started = time.perf_counter()
        work()
        best = min(best, 1000 * (time.perf_counter() - started))
    return best


def _memory_mb(name: str) -> float:
    """Return VmRSS, resident memory, or VmHWM, its peak, in MB (10^6 bytes); mapped files count as far as read."""
    status = Path("/proc/self/status")  # Linux only; elsewhere the figure is 0
    for line in status.read_text(encoding="ascii", errors="replace").splitlines() if status.is_file() else ():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0
