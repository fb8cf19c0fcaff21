"""Entities that a question names, and the chunks that hold two of them which are near in the graph of nouns."""

import re
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa

from leanrag_core.retrieval.shortest_paths import shortest_path
from leanrag_core.types.graph import Layer
from leanrag_core.types.noun_graph import NounGraph

_WORD = re.compile(r"\w+", re.UNICODE)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]{2,}")
_LONGEST_RUN = 6  # words of a name
_LONGEST_UNSPACED = 8  # characters of a name in a script without blanks


def named_entities(layer: Layer, question: str) -> list[int]:
    """Rows of the entities whose name is a run of words of the question, in singular or plural; in the question's
    order. A name inside a longer one that is found does not count."""
    import pyarrow.compute as pc

    words = [word.lower() for word in _WORD.findall(question)]
    places: dict[str, tuple[int, int]] = {}
    for length in range(_LONGEST_RUN, 0, -1):
        for start in range(len(words) - length + 1):
            run = " ".join(words[start : start + length])
            for form in (run, run.removesuffix("s"), f"{run}s"):
                places.setdefault(form, (start, start + length))
    for match in _UNSPACED.finditer(question.lower()):
        for length in range(min(_LONGEST_UNSPACED, len(match[0])), 0, -1):
            for start in range(len(match[0]) - length + 1):
                first = match.start() + start
                places.setdefault(match[0][start : start + length], (first, first + length))
    known = pa.array(sorted(places), pa.string())
    rows = np.flatnonzero(pc.is_in(layer.plain_names, value_set=known).to_numpy()).tolist()
    spans = {row: places[layer.plain_names[row].as_py()] for row in rows}
    longest = sorted(rows, key=lambda row: (spans[row][0] - spans[row][1], spans[row][0], row))
    kept: list[int] = []
    for row in longest:
        start, end = spans[row]
        if not any(spans[other][0] <= start and end <= spans[other][1] for other in kept):
            kept.append(row)
    return sorted(kept, key=lambda row: (spans[row][0], row))


@dataclass(frozen=True)
class NearPair:
    """Two entities of the question and a shortest path between them in the graph of nouns. chunks: rows of those that
    hold both."""

    path: tuple[int, ...]
    chunks: tuple[int, ...]

    @property
    def hops(self) -> int:
        """Edges of the path."""
        return len(self.path) - 1


def near_pairs(graph: NounGraph, entities: list[int], *, most_hops: int) -> list[NearPair]:
    """All pairs of those entities with a path of at most so many hops, in the order of the entities."""
    chunks_of = {
        row: set(graph.counts.indices[slice(*graph.counts.indptr[row : row + 2])].tolist()) for row in entities
    }
    pairs = []
    for first, second in combinations(entities, 2):
        path = shortest_path(graph.adjacency, first, second, most_hops=most_hops)
        if path:
            pairs.append(NearPair(tuple(path), tuple(sorted(chunks_of[first] & chunks_of[second]))))
    return pairs


@dataclass(frozen=True)
class Tightened:
    """pairs: within the hops that were left. hops: the limit at the end. chunks: of the pairs, ascending."""

    pairs: tuple[NearPair, ...]
    hops: int
    chunks: tuple[int, ...]


def tightened(pairs: list[NearPair], *, most_hops: int, most_chunks: int) -> Tightened:
    """The pairs within the largest number of hops at which they have at most so many chunks. Where fewer hops would
    leave no chunk at all, those of the last limit that left some, however many.

    Source: the release of E2GraphRAG, `query.py`, `query`.
    """
    last = Tightened((), most_hops, ())
    for hops in range(most_hops, 0, -1):
        kept = tuple(pair for pair in pairs if pair.hops <= hops)
        chunks = tuple(sorted({chunk for pair in kept for chunk in pair.chunks}))
        if last.chunks and not chunks:
            break
        last = Tightened(kept, hops, chunks)
        if len(chunks) <= most_chunks:
            break
    return last


def by_occurrence(graph: NounGraph, entities: list[int], chunks: list[list[int]]) -> np.ndarray:
    """(n, 2) for each group of chunks: how many of the entities occur there, and in how many sentences in all."""
    if not entities:
        return np.zeros((len(chunks), 2))
    counts = graph.counts[entities].tocsc()
    sums = [np.asarray(counts[:, group].sum(axis=1)).ravel() for group in chunks]
    return np.array([[np.count_nonzero(each), each.sum()] for each in sums]).reshape(-1, 2)
