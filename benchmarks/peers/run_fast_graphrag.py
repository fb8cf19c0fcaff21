"""fast-graphrag as released: `python -m benchmarks.peers.run_fast_graphrag FOLDER OUT`, inside its own environment.

`async_insert` runs whole; a stubbed language model answers each passage with the entities and relations that were
planted there, and each question with its two names. Questions are asked as its `query` does, which opens the store
anew for each, and once more of a store that stays open, for which one calls below `query`.
"""

import asyncio
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.prepared import Prepared, asked, report

TITLE = "fast-graphrag"
SECTION = "retrieval"
# Newer releases of sentencepiece refuse the protobuf that another of its dependencies is bound to.
REQUIREMENTS = ("fast-graphrag==0.0.5", "sentencepiece<0.2.1")


def passages_with_relations(prepared: Prepared) -> list[tuple[list[int], list[int]]]:
    """Return for each passage the rows of the entities described there and of the relations found there.

    A relation is only kept by this system between entities of the same extraction, so the ends of a passage's relations
    are among its entities.
    """
    row_of = {entity.name: row for row, entity in enumerate(prepared.entities)}
    entities: list[set[int]] = [set() for _ in prepared.passages]
    relations: list[list[int]] = [[] for _ in prepared.passages]
    for row, entity in enumerate(prepared.entities):
        entities[entity.chunks[0]].add(row)
    for row, relation in enumerate(prepared.relations):
        relations[relation.chunk].append(row)
        entities[relation.chunk].update((row_of[relation.source], row_of[relation.target]))
    return [(sorted(named), related) for named, related in zip(entities, relations, strict=True)]


async def measure(prepared: Prepared, out: Path, folder: str) -> None:
    """Insert, ask, report."""
    from fast_graphrag import GraphRAG, QueryParam
    from fast_graphrag._llm import BaseEmbeddingService, BaseLLMService
    from fast_graphrag._models import TEntityDescription, TQueryEntities
    from fast_graphrag._types import TEntity, TGraph, TRelation
    from fast_graphrag._utils import TOKEN_TO_CHAR_RATIO

    mentions = passages_with_relations(prepared)
    row_of = {text: row for row, text in enumerate(prepared.passages)}

    def graph_of(prompt: str) -> TGraph:
        row = next((row for text, row in row_of.items() if text in prompt), None)
        if row is None:
            return TGraph(entities=[], relationships=[])
        entities = [prepared.entities[place] for place in mentions[row][0]]
        relations = [prepared.relations[place] for place in mentions[row][1]]
        return TGraph(
            entities=[
                TEntity(entity.name, entity.type, entity.description if row == entity.chunks[0] else "")
                for entity in entities
            ],
            relationships=[TRelation(relation.source, relation.target, relation.description) for relation in relations],
        )

    @dataclass
    class Model(BaseLLMService):  # type: ignore[misc] # the peer has no types here
        model: str = "stub"

        async def send_message(self, prompt: str, response_model: Any = None, **_: Any) -> Any:
            if response_model is TGraph:
                return graph_of(prompt), []
            if response_model is TQueryEntities:
                question = prepared.question_in(prompt)
                return TQueryEntities(named=list(question.names), generic=list(question.themes)), []
            if response_model is TEntityDescription:  # asked for long descriptions only
                return TEntityDescription(description=prompt.rsplit("\n", 1)[-1][:500]), []
            raise ValueError(f"no stub for a reply of type {response_model!r}")

    @dataclass
    class Embedding(BaseEmbeddingService):  # type: ignore[misc] # the peer has no types here
        embedding_dim: int = prepared.vectors.shape[1]
        model: str | None = "stub"

        async def encode(self, texts: list[str], model: str | None = None) -> np.ndarray:
            return prepared.embed(texts)

    rag = GraphRAG(
        working_dir=folder,
        domain="Invented things and what they do.",
        example_queries="What connects one with another?",
        entity_types=sorted({entity.type for entity in prepared.entities}),
        config=GraphRAG.Config(llm_service=Model(), embedding_service=Embedding()),
    )
    started = time.perf_counter()
    n_entities, n_relations, n_passages = await rag.async_insert(list(prepared.passages), show_progress=False)
    inserted = time.perf_counter() - started
    print(f"fast-graphrag holds {n_entities} entities, {n_relations} relations, {n_passages} passages", flush=True)
    budget = prepared.budget
    scale = prepared.characters_per_token / TOKEN_TO_CHAR_RATIO  # its token is a fixed number of characters
    param = QueryParam(
        only_context=True,
        entities_max_tokens=int(scale * (budget.entities + budget.summaries)),
        relations_max_tokens=int(scale * budget.relations),
        chunks_max_tokens=int(scale * budget.chunks),
    )

    async def ask(text: str) -> Any:
        await rag.state_manager.query_start()
        reply = await rag.async_query(text, param)
        await rag.state_manager.query_done()
        return reply

    answered = await asked(prepared, ask)
    await rag.state_manager.query_start()
    opened = await asked(prepared, lambda text: rag.async_query(text, param))
    await rag.state_manager.query_done()
    whole = {"entities": 10**9, "relations": 10**9, "chunks": 10**9}  # they are within the budget already
    contexts = [reply.context.truncate(dict(whole), output_context_str=True) for reply in answered.replies]
    report(
        out,
        answered,
        contexts=contexts,
        insert_seconds=inserted,
        packages=("fast-graphrag", "numpy"),
        other_p50_ms={"opened": opened},
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as storage:
        asyncio.run(measure(Prepared.load(Path(sys.argv[1])), Path(sys.argv[2]), storage))
