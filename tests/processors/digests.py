"""Prints what a sample corpus becomes on this processor: python -m tests.processors.digests HOME VECTORS

One line of JSON: digests of the files of an index and its parts, of the traces of all strategies for some questions, of
the shipped presentation made again and of clusters. OPENBLAS_CORETYPE imitates another processor.

VECTORS is a file that keeps the vectors of the sample's texts for the other processes: the embedding model, which takes
most of the time, does not go through BLAS. The texts of the small corpus are embedded by each.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np

from leanrag_core import IndexConfig, Workbench
from leanrag_core.clustering.clusters import cluster
from leanrag_core.files.records import to_json
from leanrag_core.indexing.build import BuildRequest
from leanrag_core.indexing.part_base import parts
from leanrag_core.models.minilm import MiniLM
from leanrag_core.retrieval.base import strategies
from leanrag_core.strategy_contract import QUESTION, TEXTS
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import FINISHED
from leanrag_core.types.trace import Trace
from sample_corpora import story
from tests.embedded import once

_QUESTIONS = 3
_LONG_TO_MAKE = ("chunk_tree", "relation_vectors", "sequential_tree")  # left to the small corpus
# Rebuildable search indexes are outside the promise; the record of a part has the seconds that it took.
_OUTSIDE = ("chroma", "search", "part.json")


def main(home: Path, vectors: Path) -> dict[str, str]:
    """Return the digests, in the order in which they come about."""
    bench = Workbench(home)
    with _vectors_kept_in(vectors):
        made = {"presentation": _digest(story.content(bench))}
        index_id, set_id = bench.builds.sample_index(story.CORPUS)
        questions = [question.question for question in bench.question_sets.questions(set_id)[:_QUESTIONS]]
        made |= _of_index(bench, bench.indexes.open(index_id), questions, _LONG_TO_MAKE)
    made |= _of_index(bench, _tiny(bench), [QUESTION], ())
    points = np.random.default_rng(7).standard_normal((3000, 48)).astype(np.float32)
    points += 4 * points[np.arange(3000) % 60]
    points /= np.sqrt(np.einsum("ij,ij->i", points, points))[:, None]
    return made | {"clusters": _digest(cluster(points).labels.tobytes())}


@contextmanager
def _vectors_kept_in(file: Path) -> Iterator[None]:
    """Let the built-in model take the vectors of that file; where there is none it is written at the end."""
    vector_of: dict[tuple[str, str], np.ndarray] = {}
    if file.exists():
        with np.load(file) as kept:
            keys = json.loads(kept["keys"].tobytes())
            vector_of.update(zip(map(tuple, keys), kept["vectors"], strict=True))
    with patch.object(MiniLM, "embed", once(MiniLM.embed, vector_of)):
        yield
    if not file.exists():
        keys = np.frombuffer(json.dumps(list(vector_of)).encode(), np.uint8)
        np.savez(file, keys=keys, vectors=np.array(list(vector_of.values())))


def _tiny(bench: Workbench) -> Index:
    """Return the index of the contract tests, outside the store, whose corpora have ids by chance."""
    corpus = bench.add_documents("tiny", [(name, text.encode()) for name, text in TEXTS["tiny"].items()]).corpus_id
    documents = [bench.corpora.document(corpus, row.id) for row in bench.corpora.documents(corpus)]
    config, out = IndexConfig(cluster_size=2), bench.root / "tiny"
    return bench.builds.run(BuildRequest(documents, config, out, "tiny"), bench.models.context())


def _of_index(bench: Workbench, index: Index, questions: Sequence[str], without: Sequence[str]) -> dict[str, str]:
    """Return digests of the files and of the traces of all strategies that do not need one of the parts `without`."""
    name, made = index.manifest.name, {}
    for info in strategies().strategies:
        wanted = _with_needs(info.parts)
        if not set(wanted) & set(without):
            _make(bench, index, wanted)
            for question in questions:
                made[f"{name}: {info.name}: {question}"] = _digest(_record(bench.retrieve(index, question, info.name)))
    return made | {f"{name}: {_place(path, index)}": _digest(path.read_bytes()) for path in _files(index)}


def _with_needs(wanted: Sequence[str]) -> list[str]:
    """Return the parts and what they need, each after what it needs."""
    known, every = {info.name: info.part for info in parts().parts}, list(wanted)
    for part in every:
        every += [need for need in known[part].needs if need in known]
    return list(dict.fromkeys(reversed(every)))


def _make(bench: Workbench, index: Index, wanted: Sequence[str]) -> None:
    made = {state.name for state in bench.parts.all(index) if state.status == FINISHED}
    for part in wanted:
        if part not in made:
            bench.parts.build(index, part)


def _place(path: Path, index: Index) -> str:
    return str(path.relative_to(index.path or path))


def _files(index: Index) -> Iterator[Path]:
    assert index.path is not None
    for path in sorted(index.path.rglob("*")):
        if path.is_file() and not any(word in _place(path, index) for word in _OUTSIDE):
            yield path


def _record(trace: Trace) -> bytes:
    untimed = replace(trace, steps=tuple(replace(step, milliseconds=0.0) for step in trace.steps))
    return to_json(untimed)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), Path(sys.argv[2]))))
