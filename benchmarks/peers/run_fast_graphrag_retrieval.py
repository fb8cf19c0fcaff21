"""What fast-graphrag as released retrieves: `python -m benchmarks.peers.run_fast_graphrag_retrieval FOLDER OUT`.

The graph goes in through `upsert` of its state manager, as one subgraph with its passages; links of near duplicates and
the tables between entities, relations and passages are its own work. Questions go through `async_query`.
"""

import asyncio
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.given import Embedding, Given, Retrieved, write_retrieved
from benchmarks.peers.prepared import versions

TITLE = "fast-graphrag"
SECTION = "agreement"
# Newer releases of sentencepiece refuse the protobuf that another of its dependencies is bound to.
REQUIREMENTS = ("fast-graphrag==0.0.5", "sentencepiece<0.2.1")


def announced(given: Given) -> Embedding:
    """Return an embedding that knows the texts which this system embeds."""
    embedding = Embedding(given)
    rows = dict(zip(given.texts, given.vectors["texts"], strict=True))
    for question in given.questions:
        for text in question.named:
            embedding.announce([text.upper()], rows[text][None])
        for text in question.generic:
            embedding.announce([f"[NONE] {text}"], rows[text][None])
    texts = []
    for entity in given.entities:
        text = f"[{entity.type}] {entity.name}"
        texts.append(f"{text}\n[DESCRIPTION] {entity.description}" if entity.description else text)
    embedding.announce(texts, given.vectors["entities"])
    return embedding


async def retrieve(given: Given, out: Path, folder: str) -> None:
    """Insert, ask, write."""
    from fast_graphrag import GraphRAG, QueryParam
    from fast_graphrag._llm import BaseEmbeddingService, BaseLLMService
    from fast_graphrag._models import TQueryEntities
    from fast_graphrag._policies._graph_upsert import NodeUpsertPolicy_SummarizeDescription
    from fast_graphrag._storage._gdb_igraph import IGraphStorage, IGraphStorageConfig
    from fast_graphrag._types import TChunk, TEntity, TRelation

    embedding = announced(given)
    asked: dict[str, list[str]] = {}

    @dataclass
    class Model(BaseLLMService):  # type: ignore[misc] # the peer has no types here
        model: str = "stub"

        async def send_message(self, prompt: str, response_model: Any = None, **_: Any) -> Any:
            if response_model is TQueryEntities:
                return TQueryEntities(named=asked["named"], generic=asked["generic"]), []
            raise ValueError(f"no stub for a reply of type {response_model!r}")

    @dataclass
    class Vectors(BaseEmbeddingService):  # type: ignore[misc] # the peer has no types here
        embedding_dim: int = given.vectors["entities"].shape[1]
        model: str | None = "stub"

        async def encode(self, texts: list[str], model: str | None = None) -> np.ndarray:
            return embedding.embed(texts)

    longest = max(len(entity.description) for entity in given.entities) + 1
    config = GraphRAG.Config(
        llm_service=Model(),
        embedding_service=Vectors(),
        # Longer descriptions are otherwise summed up by a model, and would have another vector.
        node_upsert_policy=NodeUpsertPolicy_SummarizeDescription(
            NodeUpsertPolicy_SummarizeDescription.Config(max_node_description_size=longest)
        ),
    )
    rag = GraphRAG(working_dir=folder, domain="-", example_queries="-", entity_types=["other"], config=config)
    subgraph = IGraphStorage(config=IGraphStorageConfig(node_cls=TEntity, edge_cls=TRelation))
    await subgraph.insert_start()
    for entity in given.entities:
        await subgraph.upsert_node(TEntity(entity.name, entity.type, entity.description), None)
    names = [entity.name for entity in given.entities]
    await subgraph.insert_edges(
        [
            TRelation(names[each.source], names[each.target], f"{row} {each.description}", list(each.chunks))
            for row, each in enumerate(given.relations)
        ]
    )

    async def given_graph() -> Any:
        return subgraph

    chunks = [TChunk(id=row, content=text) for row, text in enumerate(given.passages)]
    state = rag.state_manager
    await state.insert_start()
    await state.upsert(rag.llm_service, [asyncio.ensure_future(given_graph())], [chunks], show_progress=False)
    await state.insert_done()
    row_of = {name: row for row, name in enumerate(names)}
    listed = []
    await state.query_start()
    for question in given.questions:
        asked.update(named=list(question.named), generic=list(question.generic))
        context = (await rag.async_query(question.text, QueryParam(only_context=True))).context
        listed.append(
            Retrieved(
                tuple(row_of[entity.name] for entity, _ in context.entities),
                # Links of near duplicates are relations there, without a passage; here they are none.
                tuple(int(each.description.split(" ", 1)[0]) for each, _ in context.relations if each.chunks),
                tuple(int(chunk.id) for chunk, _ in context.chunks),
            )
        )
    await state.query_done()
    write_retrieved(out, {"query": listed}, versions(("fast-graphrag", "igraph", "hnswlib", "numpy")))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as storage:
        asyncio.run(retrieve(Given.load(Path(sys.argv[1])), Path(sys.argv[2]), storage))
