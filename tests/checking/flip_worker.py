"""Opens and asks an index again and again, in a process of its own: an access outside of a buffer would end it.

Each line of stdin asks for one round, with {"check": true} for a run of `check` too; each line of stdout tells what
came of it. Started with "large" it treats all files as too large to be hashed when they are opened.
"""

import hashlib
import json
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from leanrag_core.checking.check import check_directory
from leanrag_core.errors import LeanRAGError, ModelUnavailable
from leanrag_core.indexing.manifest import describe
from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.storage import digests
from leanrag_core.storage.layout import read_index
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.types.index import Index
from tests.retrieval.tools import TOOLS

_ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("leanrag", {"search": "exact", "findings": True}),
    ("leanrag", {"search": "approximate", "seed_layers": "all", "top_n": 20}),
    ("vector", {}),
)


def hash_of_answers(index: Index, queries: list[np.ndarray], searches: SearchStore) -> str:
    """Return a hash of what the index says: its counts, three retrievals for each query, and some rows of every
    table."""
    answers: list[Any] = [describe(index)]
    tools = replace(TOOLS, searches=searches)
    for name, options in _ASKED:
        for query in queries:
            trace = strategy(name, options).retrieve(Query("What is told of it?", query), index, tools)
            answers += [trace.items, trace.relations, trace.context, trace.notes]
    for layer in index.layers:
        answers += [layer.entity(row) for row in range(0, len(layer), 23)]
        answers += [layer.relation(row) for row in range(0, layer.relations.num_rows, 23)]
    answers += [index.chunk(row) for row in range(0, index.chunks.num_rows, 5)]
    answers += [index.document(row) for row in range(index.documents.num_rows)]
    return hashlib.sha256(repr(answers).encode()).hexdigest()


def no_model(name: str, fingerprint: str) -> Any:
    """Refuse the model: `check` embeds nothing again."""
    raise ModelUnavailable("not for this test")


def one_round(folder: Path, queries: list[np.ndarray], check: bool, searches: SearchStore) -> dict[str, str]:
    """Return the error that was raised on purpose, the traceback of any other one, or the hash of all answers."""
    try:
        if check:
            check_directory(folder, no_model)
        index = read_index(folder)
        with digests.damage_named(folder, index.manifest.files):
            return {"said": hash_of_answers(index, queries, searches)}
    except LeanRAGError as error:
        return {"error": str(error)}
    except Exception:
        return {"traceback": traceback.format_exc()}
    finally:
        searches.close(folder)


def main(folder: Path, size: str) -> None:
    """Answer until stdin ends."""
    if size == "large":
        digests._HASHED_ON_OPENING = 0
    vectors = np.array(read_index(folder).layers[0].vectors)
    queries = [vectors[row] for row in (3, 700)]
    searches = SearchStore()
    for line in sys.stdin:
        print(json.dumps(one_round(folder, queries, json.loads(line)["check"], searches)), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
