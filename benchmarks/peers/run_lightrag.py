"""LightRAG as released: `python -m benchmarks.peers.run_lightrag FOLDER OUT`, inside its own environment.

The graph goes in through `ainsert_custom_kg`, the questions through `aquery` with only_need_context and the release's
default mode (mix), then in mode hybrid, which leaves out the search among passages. An entity may name one passage
there, so it names the one that describes it. Answers are not kept between questions, because no question comes twice.
"""

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.prepared import Asked, Prepared, asked, report

TITLE = "LightRAG"
SECTION = "retrieval"
REQUIREMENTS = ("lightrag-hku==1.5.7",)


def knowledge(prepared: Prepared) -> dict[str, Any]:
    """Return the graph in the form that `ainsert_custom_kg` documents."""
    sources = [f"passage-{row}" for row in range(len(prepared.passages))]
    return {
        "chunks": [
            {"content": text, "source_id": source, "file_path": f"{source}.txt"}
            for source, text in zip(sources, prepared.passages, strict=True)
        ],
        "entities": [
            {
                "entity_name": entity.name,
                "entity_type": entity.type,
                "description": entity.description,
                "source_id": sources[entity.chunks[0]],
                "file_path": f"{sources[entity.chunks[0]]}.txt",
            }
            for entity in prepared.entities
        ],
        "relationships": [
            {
                "src_id": relation.source,
                "tgt_id": relation.target,
                "description": relation.description,
                "keywords": relation.keywords,
                "weight": max(1.0, relation.weight),  # at least the number of passages that show it
                "source_id": sources[relation.chunk],
                "file_path": f"{sources[relation.chunk]}.txt",
            }
            for relation in prepared.relations
        ],
    }


async def measure(prepared: Prepared, out: Path, folder: str) -> None:
    """Insert, ask, report."""
    from lightrag import LightRAG, QueryParam
    from lightrag.utils import EmbeddingFunc

    async def embed(texts: list[str], **_: Any) -> np.ndarray:
        return prepared.embed(texts)

    async def complete(prompt: str, system_prompt: str | None = None, **_: Any) -> str:
        question = prepared.question_in(prompt)
        return json.dumps({"high_level_keywords": question.themes, "low_level_keywords": question.names})

    rag = LightRAG(
        working_dir=folder,
        embedding_func=EmbeddingFunc(embedding_dim=prepared.vectors.shape[1], max_token_size=8192, func=embed),
        llm_model_func=complete,
        tiktoken_model_name="gpt-4",  # the vocabulary with which contexts are counted
        enable_llm_cache=False,
    )
    await rag.initialize_storages()
    started = time.perf_counter()
    await rag.ainsert_custom_kg(knowledge(prepared))
    inserted = time.perf_counter() - started
    budget = prepared.budget

    async def answered(mode: str) -> Asked:
        param = QueryParam(
            mode=mode,
            only_need_context=True,
            enable_rerank=False,
            max_entity_tokens=budget.entities + budget.summaries,
            max_relation_tokens=budget.relations,
            max_total_tokens=budget.total,
        )
        return await asked(prepared, lambda text: rag.aquery(text, param=param))

    mix, hybrid = await answered("mix"), await answered("hybrid")
    await rag.finalize_storages()
    report(
        out,
        mix,
        contexts=mix.replies,
        insert_seconds=inserted,
        packages=("lightrag-hku", "numpy"),
        other_p50_ms={"hybrid": hybrid},
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as storage:
        asyncio.run(measure(Prepared.load(Path(sys.argv[1])), Path(sys.argv[2]), storage))
