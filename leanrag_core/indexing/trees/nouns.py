"""Which entities occur together in a sentence (E2GraphRAG's graph of nouns)."""

import re
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from leanrag_core.text.sentences import split_sentences
from leanrag_core.types.index import Index
from leanrag_core.types.walks import OCCURRENCE_SCHEMA, PAIR_SCHEMA, NounGraph

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


def noun_graph(index: Index, report: Callable[[int, int], None]) -> NounGraph:
    """Return the graph of the index's own entities. report: hears how many chunks of all are read."""
    from scipy.sparse import coo_array, triu

    base = index.layers[0]
    names = [plain(name) for name in base.entities["name"].to_pylist()]
    mentioned = index.entity_chunks.tocsc()
    n_entities, n_chunks = len(base), index.chunks.num_rows
    sentence_rows: list[int] = []
    entity_rows: list[int] = []
    occurrences: list[tuple[int, int, int]] = []
    n_sentences = 0
    for chunk in range(n_chunks):
        report(chunk, n_chunks)
        entities = np.sort(mentioned.indices[mentioned.indptr[chunk] : mentioned.indptr[chunk + 1]]).tolist()
        sentences = [plain(sentence) for sentence in split_sentences(index.chunk(chunk).text)]
        for entity in entities:
            held = [place for place, sentence in enumerate(sentences) if occurs(names[entity], sentence)]
            sentence_rows += [n_sentences + place for place in held]
            entity_rows += [entity] * len(held)
            occurrences.append((entity, chunk, max(1, len(held))))
        n_sentences += len(sentences)
    ones = np.ones(len(entity_rows), dtype=np.int32)
    holds = coo_array((ones, (sentence_rows, entity_rows)), shape=(n_sentences, n_entities)).tocsr()
    together = triu(holds.T @ holds, k=1).tocoo()
    order = np.lexsort((together.col, together.row))
    pairs = (together.row[order], together.col[order], together.data[order])
    columns = list(zip(*sorted(occurrences), strict=True)) if occurrences else [(), (), ()]
    return NounGraph(
        pa.table(dict(zip(PAIR_SCHEMA.names, pairs, strict=True))).cast(PAIR_SCHEMA),
        pa.table(dict(zip(OCCURRENCE_SCHEMA.names, columns, strict=True)), schema=OCCURRENCE_SCHEMA),
        (n_entities, n_chunks),
    )
