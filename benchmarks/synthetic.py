"""Invented corpora of any size: entities, relations and passages with planted vectors, so that no model is needed.

Every name ends in a token of its own ("k" and the entity's row in base 36). `PlantedEmbedding` finds the first such
token in a text and gives that entity's planted vector, so that aggregated entities, which are named after a member,
stand near their members, as with a real model.
"""

import hashlib
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.planted import planted
from leanrag_core.clustering.options import ClusterOptions
from leanrag_core.indexing.aggregation.builtin_writer import BuiltinWriter
from leanrag_core.indexing.aggregation.embedding import OnceEmbedder
from leanrag_core.indexing.aggregation.hierarchy import Start, build_hierarchy
from leanrag_core.indexing.aggregation.rules import aggregation_rules
from leanrag_core.indexing.manifest import count_layers, counts_of
from leanrag_core.indexing.part_base import PartModels, PartTools, parts
from leanrag_core.indexing.part_building import build_part
from leanrag_core.storage.cell_search import CELLS
from leanrag_core.storage.layout import FORMAT_VERSION, read_index, write_index
from leanrag_core.storage.staging import staged
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.build_report import BuildReport, Spent
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.graph import ENTITY_SCHEMA, RELATION_SCHEMA, Graph
from leanrag_core.types.index import CHUNK_SCHEMA, DOCUMENT_SCHEMA, Index
from leanrag_core.types.job import Report, silent
from leanrag_core.types.manifest import HEURISTIC, CorpusName, EmbeddingRecord, Manifest, PartRecord
from leanrag_core.types.summary import RecordedConfig


def _no_model(texts: Sequence[str]) -> np.ndarray:
    raise RuntimeError("a synthetic index has no embedding model")


def make_search_index(directory: Path) -> PartRecord:
    """Make the search index of the index in the directory, and return its record."""
    info = parts().named(CELLS)
    return build_part(read_index(directory), info, info.config(), PartModels(), PartTools(_no_model))


def make_offered(directory: Path) -> None:
    """Make the search index of the index in the directory, where a build of its size makes one."""
    if parts().named(CELLS).part.offered(read_index(directory)):
        make_search_index(directory)


DIMENSION = 384
_TOKEN = re.compile(r"\bk([0-9a-z]+)\b")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_SYLLABLES = (
    "ba",
    "cor",
    "del",
    "fen",
    "gri",
    "hal",
    "jo",
    "lum",
    "mar",
    "nev",
    "or",
    "pel",
    "quin",
    "ros",
    "sil",
    "tam",
)
_IN_CHUNK = 10  # entities whose home is one passage
_CHUNKS_IN_DOCUMENT = 100
_WORDS_IN_DESCRIPTION = 24


@dataclass(frozen=True, eq=False)
class SyntheticCorpus:
    """A base graph with its vectors, and the passages it was made from. vectors: (n, 384) float32 unit rows."""

    base: Graph
    vectors: np.ndarray
    documents: pa.Table
    chunks: pa.Table


class PlantedEmbedding:
    """Takes the place of an embedding model; a text without a known token gets a vector made from its bytes."""

    name, fingerprint, dimension = "planted", "planted-1", DIMENSION

    def __init__(self, vectors: np.ndarray) -> None:
        self.vectors = vectors

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return (len(texts), 384) float32 unit rows."""
        rows = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for place, text in enumerate(texts):
            token = _TOKEN.search(text)
            row = int(token[1], 36) if token else -1
            rows[place] = self.vectors[row] if 0 <= row < len(self.vectors) else _of_bytes(text)
        return rows


def _of_bytes(text: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)
    return vector / np.linalg.norm(vector)


def synthetic_corpus(n: int, *, seed: int = 0) -> SyntheticCorpus:
    """Make n entities, 2 n relations, n / 10 passages. Nine in ten relations co-occur, as in heuristic graphs."""
    made = planted(n, seed)
    vectors, topics = made.vectors, made.leaf.astype(np.int64)
    random = np.random.default_rng([seed, n])
    names, descriptions = _texts(topics, random)
    by_topic = np.argsort(topics, kind="stable")
    home = np.empty(n, dtype=np.int64)
    home[by_topic] = np.arange(n) // _IN_CHUNK
    n_chunks = int(home.max()) + 1
    second = np.where(random.random(n) < 0.4, np.clip(home + random.integers(-3, 4, n), 0, n_chunks - 1), home)
    chunk_rows = [sorted({a, b}) for a, b in zip(home.tolist(), second.tolist(), strict=True)]
    entities = pa.table(
        {
            "id": [f"ent-{row:016x}" for row in range(n)],
            "name": names,
            "type": np.array(["person", "place", "concept", "event"])[random.integers(0, 4, n)].tolist(),
            "description": descriptions,
            "findings": pa.array([[]] * n, ENTITY_SCHEMA.field("findings").type),
            "chunks": pa.array(chunk_rows, pa.list_(pa.int32())),
            "promoted": np.zeros(n, dtype=bool),
        },
        schema=ENTITY_SCHEMA,
    )
    relations = _relations(n, topics, by_topic, home, random)
    members: list[list[str]] = [[] for _ in range(n_chunks)]
    for row in by_topic.tolist():
        members[home[row]].append(descriptions[row])
    documents, chunks = _passages([" ".join(member) for member in members])
    return SyntheticCorpus(Graph(entities, relations), vectors, documents, chunks)


def synthetic_index(n: int, *, folder: Path | None = None) -> Path:
    """Return the folder of an index of n base entities, kept from run to run; build it when it is not there."""
    out = (folder or Path(tempfile.gettempdir()) / "leanrag-benchmarks" / "indexes") / f"synthetic-{n}"
    if not (out / "manifest.json").is_file():
        corpus = synthetic_corpus(n)
        with staged(out) as staging:
            write_index(staging, index_of(corpus))
    make_offered(out)
    return out


def index_of(
    corpus: SyntheticCorpus,
    *,
    cluster_size: int = 20,
    report: Report = silent,
) -> Index:
    """Return the index of the corpus, as a build makes it, with the built-in writer."""
    embedding = PlantedEmbedding(corpus.vectors)
    hierarchy = build_hierarchy(
        corpus.base,
        Start(OnceEmbedder(embedding.embed), BuiltinWriter()),
        ClusterOptions(cluster_size),
        aggregation_rules(IndexConfig(), heuristic=True),
        report=report,
    )
    n_chunks, layers = corpus.chunks.num_rows, count_layers(hierarchy.layers)
    manifest = Manifest(
        format_version=FORMAT_VERSION,
        id=f"index-synthetic-{len(corpus.vectors)}",
        name=f"Synthetic, {len(corpus.vectors):,} entities",
        kind=HEURISTIC,
        corpus=CorpusName("", "Synthetic"),
        config=RecordedConfig(cluster_size=cluster_size, embedding="planted"),
        embedding=EmbeddingRecord(embedding.name, embedding.fingerprint, DIMENSION),
        counts=counts_of(layers, corpus.documents.num_rows, n_chunks),
        layers=layers,
    )
    report_of = BuildReport({}, (), Spent(), clustering=hierarchy.clustering)
    chunk_vectors = corpus.vectors[:: max(1, len(corpus.vectors) // n_chunks)][:n_chunks]
    return Index(manifest, corpus.documents, corpus.chunks, hierarchy.layers, chunk_vectors, report_of)


def token_of(row: int) -> str:
    """Return the token that only this entity's name has."""
    digits = ""
    while row or not digits:
        row, last = divmod(row, 36)
        digits = _DIGITS[last] + digits
    return f"k{digits}"


def _texts(topics: np.ndarray, random: np.random.Generator) -> tuple[list[str], list[str]]:
    words = np.array([a + b + c for a in _SYLLABLES for b in _SYLLABLES for c in _SYLLABLES[:8]])
    n, general = len(topics), words[:200]
    own = words[(np.abs(topics)[:, None] * 7 + np.arange(12)) % len(words)]  # (n, 12), the same for one topic
    names = [f"{word.title()} {token_of(row)}" for row, word in enumerate(own[np.arange(n), random.integers(0, 4, n)])]
    picks = random.integers(0, 12, (n, _WORDS_IN_DESCRIPTION))
    common = random.integers(0, len(general), (n, _WORDS_IN_DESCRIPTION))
    is_own = random.random((n, _WORDS_IN_DESCRIPTION)) < 0.4
    descriptions = []
    for row, name in enumerate(names):
        chosen_words = np.where(is_own[row], own[row][picks[row]], general[common[row]]).tolist()
        half = _WORDS_IN_DESCRIPTION // 2
        descriptions.append(f"{name} {' '.join(chosen_words[:half])}. It {' '.join(chosen_words[half:])}.")
    return names, descriptions


def _relations(
    n: int, topics: np.ndarray, by_topic: np.ndarray, home: np.ndarray, random: np.random.Generator
) -> pa.Table:
    wanted = 2 * n
    place = np.empty(n, dtype=np.int64)
    place[by_topic] = np.arange(n)
    source = random.integers(0, n, 3 * wanted)
    kind_of_step = random.random(len(source))
    step = np.where(kind_of_step < 0.6, random.integers(1, 9, len(source)), random.integers(9, 60, len(source)))
    target = by_topic[(place[source] + step) % n]
    target = np.where(kind_of_step > 0.9, random.integers(0, n, len(source)), target)
    low, high = np.minimum(source, target), np.maximum(source, target)
    key = np.unique((low * n + high)[low != high])
    key = np.sort(random.permutation(key)[:wanted])
    source, target = key // n, key % n
    verb = random.random(len(key)) < 0.1
    return pa.table(
        {
            "id": [f"rel-{number:016x}" for number in range(len(key))],
            "source": source.astype(np.int32),
            "target": target.astype(np.int32),
            "weight": np.where(verb, 1.0, 0.3).astype(np.float32),
            "strength": np.ones(len(key), dtype=np.int32),
            "kind": np.where(verb, "verb", "co-occurrence").tolist(),
            "description": np.where(verb, "One acts upon the other.", "Both stand in one sentence.").tolist(),
            "keywords": pa.array([["act"] if acts else [] for acts in verb.tolist()], pa.list_(pa.string())),
            "chunks": pa.array(home[source].astype(np.int32)[:, None].tolist(), pa.list_(pa.int32())),
            "members": pa.array([[]] * len(key), pa.list_(pa.int32())),
        },
        schema=RELATION_SCHEMA,
    )


def _passages(texts: list[str]) -> tuple[pa.Table, pa.Table]:
    documents, chunks = [], []
    for start in range(0, len(texts), _CHUNKS_IN_DOCUMENT):
        number, at, parts = start // _CHUNKS_IN_DOCUMENT, 0, []
        for row, text in enumerate(texts[start : start + _CHUNKS_IN_DOCUMENT], start):
            chunks.append((f"chunk-{row:016x}", number, at, at + len(text), count_tokens(text)))
            parts.append(text)
            at += len(text) + 2
        documents.append((f"doc-{number:016x}", f"volume-{number}.txt", f"Volume {number}", "\n\n".join(parts)))
    ids, names, titles, bodies = (list(column) for column in zip(*documents, strict=True))
    none: list[list[str]] = [[]] * len(documents)
    table = pa.table(
        {
            "id": ids,
            "name": names,
            "title": titles,
            "media_type": ["text"] * len(documents),
            "text": bodies,
            "language": ["en"] * len(documents),
            "pages": none,
            "headings": none,
            "boilerplate": none,
            "notes": none,
        },
        schema=DOCUMENT_SCHEMA,
    )
    columns = [list(column) for column in zip(*chunks, strict=True)]
    return table, pa.table(dict(zip(CHUNK_SCHEMA.names, columns, strict=True)), schema=CHUNK_SCHEMA)
