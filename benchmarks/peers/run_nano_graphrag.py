"""nano-graphrag as released: `python -m benchmarks.peers.run_nano_graphrag FOLDER OUT`, inside its own environment.

`ainsert` runs whole, communities and their reports included; its `entity_extraction_func` parameter puts the prepared
graph where a model would have found one, and every report is the same text. Questions go through `aquery` in mode local
with only_need_context.
"""

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.prepared import Prepared, asked, report

TITLE = "nano-graphrag"
SECTION = "retrieval"
REQUIREMENTS = ("nano-graphrag==0.0.8.2",)

_SEPARATOR = "<SEP>"  # between the passages of an entity, in its graph files
_ENTITIES_TAKEN = 20  # its default
_REPORT = json.dumps(
    {
        "title": "A group of things",
        "summary": "These things are named together in a few passages, and some of them act upon others. " * 3,
        "rating": 5.0,
        "rating_explanation": "They matter as much as others.",
        "findings": [
            {"summary": f"Finding {number}", "explanation": "Several of them stand near one another in the text. " * 3}
            for number in range(1, 6)
        ],
    }
)


async def fill(prepared: Prepared, chunks: dict[str, Any], graph: Any, vectors: Any) -> None:
    """Fill the system's graph and vector storage with the prepared graph, in the fields that its extraction writes.

    Names are in capitals, as its extraction makes them and its clustering expects them.
    """
    row_of = {text.strip(): row for row, text in enumerate(prepared.passages)}
    key_of = {row_of[chunk["content"].strip()]: key for key, chunk in chunks.items()}
    for entity in prepared.entities:
        sources = _SEPARATOR.join(key_of[row] for row in entity.chunks)
        cells = {"entity_type": entity.type, "description": entity.description, "source_id": sources}
        await graph.upsert_node(entity.name.upper(), node_data=cells)
    for relation in prepared.relations:
        cells_of_edge = {
            "weight": relation.weight,
            "description": relation.description,
            "source_id": key_of[relation.chunk],
            "order": 1,
        }
        await graph.upsert_edge(relation.source.upper(), relation.target.upper(), edge_data=cells_of_edge)
    await vectors.upsert(
        {
            f"ent-{row}": {"content": entity.name.upper() + entity.description, "entity_name": entity.name.upper()}
            for row, entity in enumerate(prepared.entities)
        }
    )


async def measure(prepared: Prepared, out: Path, folder: str) -> None:
    """Insert, ask, report."""
    # The release asks tiktoken for the tokens of gpt-4o; here all systems count with one vocabulary, and fetch none.
    import tiktoken
    import tiktoken.model

    tiktoken.model.MODEL_TO_ENCODING["gpt-4o"] = "cl100k_base"

    from nano_graphrag import GraphRAG, QueryParam
    from nano_graphrag._utils import wrap_embedding_func_with_attrs

    # The peer has no types.
    @wrap_embedding_func_with_attrs(embedding_dim=prepared.vectors.shape[1], max_token_size=8192)  # type: ignore[untyped-decorator]
    async def embed(texts: list[str]) -> np.ndarray:
        return prepared.embed(texts)

    async def complete(prompt: str, **_: Any) -> str:
        return _REPORT

    async def extract(chunks: dict[str, Any], knwoledge_graph_inst: Any, entity_vdb: Any, **_: Any) -> Any:
        await fill(prepared, chunks, knwoledge_graph_inst, entity_vdb)
        return knwoledge_graph_inst

    rag = GraphRAG(
        working_dir=folder,
        embedding_func=embed,
        best_model_func=complete,
        cheap_model_func=complete,
        entity_extraction_func=extract,
        tiktoken_model_name="gpt-4",
    )
    started = time.perf_counter()
    await rag.ainsert(list(prepared.passages))
    inserted = time.perf_counter() - started
    budget = prepared.budget
    counter = tiktoken.get_encoding("cl100k_base")

    def tokens(texts: list[str]) -> int:
        return sum(len(counter.encode(text)) for text in texts)

    # Of a relation's row only the description is counted there, and entities are not cut: what they take beyond their
    # share is taken off the passages.
    relations = prepared.relations[:500]
    said = tokens([relation.description for relation in relations])
    shown = tokens([f"{relation.source} {relation.target} {relation.description}" for relation in relations])
    entities = [f"{entity.name} {entity.type} {entity.description}" for entity in prepared.entities[:500]]
    taken = _ENTITIES_TAKEN * tokens(entities) // len(entities)
    chunks = budget.chunks - max(0, taken - budget.entities)
    param = QueryParam(
        mode="local",
        only_need_context=True,
        local_max_token_for_community_report=budget.summaries,
        local_max_token_for_local_context=budget.relations * said // shown,
        local_max_token_for_text_unit=chunks,
    )

    async def ask(text: str) -> Any:
        return await rag.aquery(text, param)

    answered = await asked(prepared, ask)
    report(out, answered, contexts=answered.replies, insert_seconds=inserted, packages=("nano-graphrag", "numpy"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as storage:
        asyncio.run(measure(Prepared.load(Path(sys.argv[1])), Path(sys.argv[2]), storage))
