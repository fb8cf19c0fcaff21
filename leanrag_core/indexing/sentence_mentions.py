"""Which sentences of a chunk hold which of its entities by name, and statements of an index part on disk."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from leanrag_core.storage.tables import mapped_vectors, read_table, require_columns, require_range, write_table
from leanrag_core.text.sentences import split_sentences
from leanrag_core.types.index import Index
from leanrag_core.types.rows import Lists, entries_of
from leanrag_core.types.statements import STATEMENT_SCHEMA, Statements
from leanrag_core.types.walks import OCCURRENCE_SCHEMA

_BETWEEN_WORDS = re.compile(r"[\W_]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def plain(text: str) -> str:
    """Return the words of a text in lower case, a blank before and after each."""
    return f" {_BETWEEN_WORDS.sub(' ', text.lower()).strip()} "


def occurs(name: str, sentence: str) -> bool:
    """Return whether a sentence holds the name, or its plural in s. Both are plain()."""
    if _UNSPACED.search(name):
        return name.strip() in sentence
    return name in sentence or f"{name[:-1]}s " in sentence


@dataclass(frozen=True)
class ChunkSentences:
    """The sentences of a chunk. held: for each entity that the chunk mentions, ascending, the places of the sentences
    that hold its name, none where the chunk names it in other words."""

    chunk: int
    sentences: tuple[str, ...]
    held: Mapping[int, tuple[int, ...]]


def sentences_by_chunk(index: Index, report: Callable[[int, int], None]) -> Iterator[ChunkSentences]:
    """Yield the sentences of each chunk with its entities, in the order of the chunks. report(done, total): called
    before each chunk is read.
    """
    names = [plain(name) for name in index.layers[0].entities["name"].to_pylist()]
    mentioned, n_chunks = index.entity_chunks.tocsc(), index.chunks.num_rows
    for chunk in range(n_chunks):
        report(chunk, n_chunks)
        entities = np.sort(entries_of(mentioned, chunk)).tolist()
        sentences = split_sentences(index.chunk(chunk).text)
        searched = [plain(sentence) for sentence in sentences]
        places_of = {
            entity: tuple(place for place, sentence in enumerate(searched) if occurs(names[entity], sentence))
            for entity in entities
        }
        yield ChunkSentences(chunk, tuple(sentences), places_of)


def sentences_with_entities(chunks: Iterable[ChunkSentences], *, least: int) -> pa.Table:
    """Return a table of STATEMENT_SCHEMA: the sentences that hold at least `least` entities, in the order of the
    corpus. A sentence that several chunks hold, or that is repeated, is one row with all its chunks.
    """
    chunks_of: dict[str, dict[int, None]] = {}
    entities_of: dict[str, set[int]] = {}
    for chunk in chunks:
        for entity, places in chunk.held.items():
            for place in places:
                entities_of.setdefault(chunk.sentences[place], set()).add(entity)
        for sentence in chunk.sentences:
            if sentence in entities_of:
                chunks_of.setdefault(sentence, {})[chunk.chunk] = None
    kept = [sentence for sentence in chunks_of if len(entities_of[sentence]) >= least]
    columns = {
        "text": kept,
        "chunks": [list(chunks_of[sentence]) for sentence in kept],
        "entities": [sorted(entities_of[sentence]) for sentence in kept],
    }
    return pa.table(columns, schema=STATEMENT_SCHEMA)


def occurrences_in(chunks: Iterable[ChunkSentences]) -> pa.Table:
    """Return a table of OCCURRENCE_SCHEMA: the number of sentences of a chunk that name each of its entities, 1 where
    the chunk names it in other words only; by entity, then by chunk.
    """
    rows = sorted(
        (entity, chunk.chunk, max(1, len(places))) for chunk in chunks for entity, places in chunk.held.items()
    )
    columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
    return pa.table(dict(zip(OCCURRENCE_SCHEMA.names, columns, strict=True)), schema=OCCURRENCE_SCHEMA)


_TABLE, _VECTORS = "statements.arrow", "statement_vectors.npy"


def write_statements(folder: Path, table: pa.Table, vectors: np.ndarray) -> None:
    """Write the statements. table: of STATEMENT_SCHEMA. vectors: (s, d) float32 unit rows."""
    write_table(folder / _TABLE, table)
    np.save(folder / _VECTORS, vectors, allow_pickle=False)


def read_statements(folder: Path, index: Index) -> Statements:
    """Return the statements, with vectors mapped from the disk. Raises IndexDamaged where a number leads outside, or a
    vector is missing.
    """
    path = folder / _TABLE
    table = read_table(path)
    require_columns(table, STATEMENT_SCHEMA, path)
    size = (len(index.layers[0]), index.chunks.num_rows)
    require_range(Lists(table["entities"]).values, size[0], path, "entities")
    require_range(Lists(table["chunks"]).values, size[1], path, "chunks")
    vectors = mapped_vectors(folder / _VECTORS, table.num_rows, int(index.layers[0].vectors.shape[1]))
    return Statements(table, vectors, size)
