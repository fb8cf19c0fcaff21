"""What LightRAG as released retrieves: `python -m benchmarks.peers.run_lightrag_retrieval FOLDER OUT`.

The graph goes in through `ainsert_custom_kg`. That call knows a single passage for each entity and relation, so the
passages are then written into its graph storage as its own extraction would write them. Questions go through
`aquery_data`, with the release's budgets and without a reranker.
"""

import asyncio
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.given import Embedding, Given, Retrieved, write_retrieved
from benchmarks.peers.prepared import versions

TITLE = "LightRAG"
SECTION = "agreement"
REQUIREMENTS = ("lightrag-hku==1.5.7",)

_MODES = {"low": "local", "high": "global", "hybrid": "hybrid", "mix": "mix"}
_SEPARATOR = "<SEP>"  # between the passages of an entity or relation


def knowledge(given: Given) -> dict[str, Any]:
    """Return the graph in the form that `ainsert_custom_kg` documents; each thing names its first passage."""
    return {
        "chunks": [
            {"content": text, "source_id": f"passage-{row}", "file_path": f"passage-{row}.txt"}
            for row, text in enumerate(given.passages)
        ],
        "entities": [
            {
                "entity_name": entity.name,
                "entity_type": entity.type or "other",
                "description": entity.description,
                "source_id": f"passage-{entity.chunks[0] if entity.chunks else 0}",
            }
            for entity in given.entities
        ],
        "relationships": [
            {
                "src_id": given.entities[relation.source].name,
                "tgt_id": given.entities[relation.target].name,
                "description": relation.description,
                "keywords": relation.keywords,
                "weight": max(1.0, relation.weight),
                "source_id": f"passage-{relation.chunks[0] if relation.chunks else 0}",
            }
            for relation in given.relations
        ],
    }


def announced(given: Given) -> Embedding:
    """Return an embedding that knows the texts which this system embeds."""
    embedding = Embedding(given)
    embedding.announce(given.passages, given.vectors["chunks"])
    embedding.announce((f"{each.name}\n{each.description}" for each in given.entities), given.vectors["entities"])
    texts = []
    for relation in given.relations:
        first, second = sorted((given.entities[relation.source].name, given.entities[relation.target].name))
        texts.append(f"{relation.keywords}\t{first}\n{second}\n{relation.description}")
    embedding.announce(texts, given.vectors["relations"])
    return embedding


async def retrieve(given: Given, out: Path, folder: str) -> None:
    """Insert, ask, write."""
    from lightrag import LightRAG, QueryParam
    from lightrag.utils import EmbeddingFunc, compute_mdhash_id, normalize_entity_name, sanitize_text_for_encoding

    # The release writes names in its own way, and embeds what it writes.
    names = [normalize_entity_name(entity.name) for entity in given.entities]
    given = replace(
        given, entities=tuple(replace(each, name=name) for each, name in zip(given.entities, names, strict=True))
    )
    embedding = announced(given)
    asked: dict[str, Any] = {}

    async def embed(texts: list[str], **_: Any) -> np.ndarray:
        return embedding.embed(texts)

    async def complete(prompt: str, **_: Any) -> str:
        return json.dumps(asked)

    rag = LightRAG(
        working_dir=folder,
        embedding_func=EmbeddingFunc(embedding_dim=given.vectors["entities"].shape[1], max_token_size=8192, func=embed),
        llm_model_func=complete,
        tiktoken_model_name="gpt-4",  # the vocabulary with which contexts are counted
        enable_llm_cache=False,
    )
    await rag.initialize_storages()
    await rag.ainsert_custom_kg(knowledge(given))
    key_of = [compute_mdhash_id(sanitize_text_for_encoding(text), prefix="chunk-") for text in given.passages]
    graph = rag.chunk_entity_relation_graph
    for entity in given.entities:
        cells = dict(await graph.get_node(entity.name))
        await graph.upsert_node(
            entity.name, cells | {"source_id": _SEPARATOR.join(key_of[row] for row in entity.chunks)}
        )
    for relation in given.relations:
        ends = given.entities[relation.source].name, given.entities[relation.target].name
        cells = dict(await graph.get_edge(*ends))
        sources = _SEPARATOR.join(key_of[row] for row in relation.chunks)
        await graph.upsert_edge(*ends, cells | {"source_id": sources, "weight": relation.weight})
    entity_row = {entity.name: row for row, entity in enumerate(given.entities)}
    pair_row = {frozenset((each.source, each.target)): row for row, each in enumerate(given.relations)}
    chunk_row = {key: row for row, key in reversed(list(enumerate(key_of)))}
    modes: dict[str, list[Retrieved]] = {mode: [] for mode in _MODES}
    for question in given.questions:
        asked.update(high_level_keywords=question.high, low_level_keywords=question.low)
        for mode, theirs in _MODES.items():
            reply = await rag.aquery_data(question.text, QueryParam(mode=theirs, enable_rerank=False))
            cells = reply["data"]
            ends_of = [
                frozenset((entity_row[each["src_id"]], entity_row[each["tgt_id"]])) for each in cells["relationships"]
            ]
            modes[mode].append(
                Retrieved(
                    tuple(entity_row[each["entity_name"]] for each in cells["entities"]),
                    tuple(pair_row[ends] for ends in ends_of),
                    tuple(chunk_row[each["chunk_id"]] for each in cells["chunks"]),
                )
            )
    await rag.finalize_storages()
    write_retrieved(out, modes, versions(("lightrag-hku", "numpy")))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as storage:
        asyncio.run(retrieve(Given.load(Path(sys.argv[1])), Path(sys.argv[2]), storage))
