"""Every system from a question to its context on invented indexes, by the built-in engine, its parts made before."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.retrieval import _made, _near_entities

if TYPE_CHECKING:
    from leanrag_core.types.index import Index

TITLE = "Every system, question to context (built-in engine, parts made before), median and slowest of 20"
SIZES = (5_000, 100_000)

_QUERIES, _WARM_UP = 20, 3
_MOST_CHUNKS_CLUSTERED = 2_000
_CHILDREN = 12  # of a node of RAPTOR's tree where it is made without mixtures
_QUESTION = "What is known of the Northern Mill and its river trade?"


def measure(size: int) -> dict[str, float | int | str]:
    """Return milliseconds of each strategy, by the clock and of the processor, and the seconds of parts to be made.

    Other work on the machine changes processor time less.
    """
    from benchmarks.synthetic import PlantedEmbedding
    from leanrag_core.retrieval.base import Query, strategies
    from leanrag_core.retrieval.tools import Tools
    from leanrag_core.storage.layout import read_index
    from leanrag_core.storage.search_store import SearchStore

    path = _made(size)
    index = read_index(path)
    embedding = PlantedEmbedding(np.asarray(index.layers[0].vectors))
    figures: dict[str, float | int | str] = {}
    vectors = _near_entities(np.asarray(index.layers[0].vectors))[: _WARM_UP + _QUERIES]
    searches = SearchStore()
    for info in strategies().strategies:
        content: dict[str, Any] = {}
        # LeanRAG-walk uses its part where the index has it, and lists none.
        for name in (*info.parts, *(("passage_walk",) if info.name == "leanrag_walk" else ())):
            if name == "chunk_tree" and index.chunks.num_rows > _MOST_CHUNKS_CLUSTERED:
                content[name] = _tree_of_neighbours(index, embedding)
                continue
            seconds = _make_part(path, index, name, embedding)
            if seconds is not None:
                figures[f"part {name}, s"] = round(seconds, 1)
            content[name] = _read(index, name)
        # What would be phrases of the question are vectors near to its own.
        tools = Tools(embed=lambda texts: _phrases(texts, vectors), searches=searches, part=content.__getitem__)
        made, times, processor = info.strategy(info.config()), [], []
        for vector in vectors:
            started, used = time.perf_counter(), time.process_time()
            made.retrieve(Query(_QUESTION, vector), index, tools)
            times.append(1000 * (time.perf_counter() - started))
            processor.append(1000 * (time.process_time() - used))
        figures[f"{info.name}, ms"] = round(float(np.median(times[_WARM_UP:])), 1)
        figures[f"{info.name}, processor ms"] = round(float(np.median(processor[_WARM_UP:])), 1)
        figures[f"{info.name}, slowest"] = round(max(times[_WARM_UP:]), 1)
    return figures


def _phrases(texts: Any, vectors: np.ndarray) -> np.ndarray:
    return np.stack([vectors[(len(text) + place) % len(vectors)] for place, text in enumerate(texts)])


def _tree_of_neighbours(index: "Index", embedding: Any) -> Any:
    """Return RAPTOR's tree with the same leaves and summaries, but of leaves that follow one another in the documents.

    Mixtures by BIC over 50,000 leaves take longer than a benchmark may; a question takes as long in either tree, since
    it is compared with all nodes.
    """
    from leanrag_core.indexing.part_base import PartTools
    from leanrag_core.indexing.parts.chunk_tree import Config
    from leanrag_core.indexing.text_trees import GrowingTree, cut_leaves

    tools, config = PartTools(embedding.embed), Config()
    leaves = cut_leaves(index, config.leaf_tokens)
    tree = GrowingTree(leaves, tools.embed_all([leaf.text for leaf in leaves], embedding.dimension), tools)
    for _ in range(config.layers):
        if len(tree.rows) <= _CHILDREN:
            break
        starts = range(0, len(tree.rows), _CHILDREN)
        groups = [np.arange(start, min(start + _CHILDREN, len(tree.rows))) for start in starts]
        tree.grow(groups, max_tokens=config.summary_tokens)
    return tree.finished()


def _make_part(path: Path, index: "Index", name: str, embedding: Any) -> float | None:
    """Make the part, and return the seconds that this took; None where the index has it."""
    from leanrag_core.indexing.part_base import PartModels, PartTools, parts
    from leanrag_core.indexing.part_building import build_part

    listed = parts()
    info = listed.named(name)
    known = {each.name for each in listed.parts}
    for need in info.part.needs:
        if need in known:
            _make_part(path, index, need, embedding)
    fingerprints = {each: _fingerprint(path, each) for each in known if _fingerprint(path, each)}
    tools = PartTools(embedding.embed, part=lambda other: _read(index, other))
    had = _fingerprint(path, name)
    started = time.perf_counter()
    build_part(index, info, info.config(), PartModels(parts=fingerprints), tools)
    return None if had == _fingerprint(path, name) else time.perf_counter() - started


def _fingerprint(path: Path, name: str) -> str:
    from leanrag_core.storage.part_store import PartStore

    folder = PartStore(path).newest(name)
    return folder.name if folder is not None else ""


def _read(index: "Index", name: str) -> Any:
    from leanrag_core.indexing.part_base import parts
    from leanrag_core.indexing.part_building import read_part

    return read_part(index, parts().named(name))
