"""Make the input of the other systems: `python -m benchmarks.peers.graph SIZE FOLDER`, in this project's environment.

The graph is the synthetic corpus that our own indexes of that size are built from. The folder also holds the cl100k
vocabulary under the name by which tiktoken looks for it, because nothing is fetched during a measurement.
"""

import hashlib
import shutil
import sys
from pathlib import Path

import numpy as np

import leanrag_core
from benchmarks.peers.prepared import Budget, PeerEntity, PeerRelation, Prepared, Question
from benchmarks.synthetic import synthetic_corpus
from leanrag_core.types.graph import Graph

N_QUESTIONS = 20
_CL100K = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"


def prepared(n: int) -> Prepared:
    """Return the synthetic corpus of n entities as other systems take it, with twenty questions about related pairs."""
    corpus = synthetic_corpus(n)
    columns = corpus.base.entities.to_pydict()
    names = columns["name"]
    entities = tuple(
        PeerEntity(name, kind, description, tuple(chunks))
        for name, kind, description, chunks in zip(
            names, columns["type"], columns["description"], columns["chunks"], strict=True
        )
    )
    relation_columns = corpus.base.relations.to_pydict()
    relations = tuple(
        PeerRelation(names[source], names[target], description, ", ".join(keywords) or kind, weight, chunks[0])
        for source, target, description, keywords, kind, weight, chunks in zip(
            *(
                relation_columns[name]
                for name in ("source", "target", "description", "keywords", "kind", "weight", "chunks")
            ),
            strict=True,
        )
    )
    asked = _pairs(corpus.base)
    passages = _passages(corpus.documents.to_pydict()["text"], corpus.chunks.to_pydict())
    vectors = corpus.vectors[asked[:, 0]] + corpus.vectors[asked[:, 1]]
    return Prepared(
        entities=entities,
        relations=relations,
        passages=passages,
        questions=tuple(_question(place, names[a], names[b]) for place, (a, b) in enumerate(asked.tolist())),
        vectors=corpus.vectors,
        question_vectors=vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
        budget=Budget(),
        characters_per_token=sum(map(len, passages)) / sum(corpus.chunks["tokens"].to_pylist()),
    )


def _pairs(base: Graph) -> np.ndarray:
    """Return (N_QUESTIONS, 2) rows of related entities, spread over the relations."""
    places = np.linspace(0, base.relations.num_rows - 1, N_QUESTIONS).round().astype(int)
    return np.asarray(base.ends[places])


def _question(number: int, first: str, second: str) -> Question:
    mark = f"(question {number})"
    return Question(
        f"What connects {first} with {second}? {mark}", (f"{first} {mark}", second), (f"connection {mark}",)
    )


def _passages(texts: list[str], chunks: dict[str, list[int]]) -> tuple[str, ...]:
    spans = zip(chunks["document"], chunks["start"], chunks["end"], strict=True)
    return tuple(texts[document][start:end] for document, start, end in spans)


def write_vocabulary(folder: Path) -> None:
    """Write cl100k to the folder, so that it serves as TIKTOKEN_CACHE_DIR."""
    folder.mkdir(parents=True, exist_ok=True)
    shipped = Path(leanrag_core.__file__).parent / "models" / "assets" / "cl100k_base.tiktoken"
    shutil.copyfile(shipped, folder / hashlib.sha1(_CL100K.encode()).hexdigest())


if __name__ == "__main__":
    target_folder = Path(sys.argv[2])
    prepared(int(sys.argv[1])).save(target_folder)
    write_vocabulary(target_folder / "tiktoken")
