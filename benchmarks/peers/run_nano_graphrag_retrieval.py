"""What nano-graphrag as released retrieves: `python -m benchmarks.peers.run_nano_graphrag_retrieval FOLDER OUT`.

The graph goes into its graph storage, its vector storage and its tables of passages and reports, in the fields that its
own indexing writes; communities and reports are ours. Questions go through `aquery` in mode local, with the context
alone.
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.given import Embedding, Given, Retrieved, write_retrieved
from benchmarks.peers.prepared import versions

TITLE = "nano-graphrag"
SECTION = "agreement"
REQUIREMENTS = ("nano-graphrag==0.0.8.2",)

_SEPARATOR = "<SEP>"  # between the passages of an entity


def written_names(given: Given) -> list[str]:
    """Return the names as its extraction writes them: in capitals; they are different from each other."""
    return [entity.name.upper() for entity in given.entities]


async def fill(given: Given, rag: Any) -> None:
    """Fill its storages with the graph; a passage or description starts with its row, by which it is known again."""
    names = written_names(given)
    held: list[list[dict[str, Any]]] = [[] for _ in given.entities]
    for row, report in enumerate(given.reports):
        for member in report.entities:
            held[member].append({"level": report.level, "cluster": row})
    graph = rag.chunk_entity_relation_graph
    for row, entity in enumerate(given.entities):
        cells = {
            "entity_type": entity.type,
            "description": entity.description,
            "source_id": _SEPARATOR.join(str(chunk) for chunk in entity.chunks),
            "clusters": json.dumps(held[row]),
        }
        await graph.upsert_node(names[row], cells)
    for row, relation in enumerate(given.relations):
        edge: dict[str, Any] = {
            "weight": relation.weight,
            "description": f"{row} {relation.description}",
            "source_id": _SEPARATOR.join(str(chunk) for chunk in relation.chunks),
            "order": 1,
        }
        await graph.upsert_edge(names[relation.source], names[relation.target], edge)
    await rag.entities_vdb.upsert(
        {
            f"ent-{row}": {"content": names[row] + entity.description, "entity_name": names[row]}
            for row, entity in enumerate(given.entities)
        }
    )
    await rag.text_chunks.upsert({str(row): {"content": f"{row} {text}"} for row, text in enumerate(given.passages)})
    await rag.community_reports.upsert(
        {
            str(row): {"report_string": f"{row} {each.text}", "report_json": {"rating": each.rating}}
            for row, each in enumerate(given.reports)
        }
    )


def sections(context: str) -> dict[str, list[list[str]]]:
    """Return the rows of each table of a context as cells, without their heads.

    Quotes within a text are not marked there, so that a row is known by its number alone: it comes after the last one.
    """
    tables: dict[str, list[list[str]]] = {}
    for part in context.split("\n-----")[1:]:
        name, body = part.split("-----\n```csv\n", 1)
        rows: list[list[str]] = []
        for line in body.split("\n"):
            if line.startswith(f"{len(rows)},\t"):
                rows.append([cell.strip('"') for cell in line.split(",\t")])
        tables[name.lower()] = rows
    return tables


async def retrieve(given: Given, out: Path, folder: str) -> None:
    """Fill, ask, write."""
    # The release asks tiktoken for the tokens of gpt-4o; here all systems count with one vocabulary, and fetch none.
    import tiktoken.model

    tiktoken.model.MODEL_TO_ENCODING["gpt-4o"] = "cl100k_base"

    from nano_graphrag import GraphRAG, QueryParam
    from nano_graphrag._utils import wrap_embedding_func_with_attrs

    embedding = Embedding(given)
    names = written_names(given)
    embedding.announce(
        (name + entity.description for name, entity in zip(names, given.entities, strict=True)),
        given.vectors["entities"],
    )

    # The peer has no types.
    @wrap_embedding_func_with_attrs(embedding_dim=given.vectors["entities"].shape[1], max_token_size=8192)  # type: ignore[untyped-decorator]
    async def embed(texts: list[str]) -> np.ndarray:
        return embedding.embed(texts)

    async def complete(prompt: str, **_: Any) -> str:
        raise ValueError("no model is called for a context")

    rag = GraphRAG(
        working_dir=folder,
        embedding_func=embed,
        best_model_func=complete,
        cheap_model_func=complete,
        tiktoken_model_name="gpt-4",
    )
    await fill(given, rag)
    row_of = {name: row for row, name in enumerate(names)}
    listed = []
    for question in given.questions:
        context = await rag.aquery(question.text, QueryParam(mode="local", only_need_context=True))
        tables = sections(context)
        listed.append(
            Retrieved(
                tuple(row_of[cells[1]] for cells in tables["entities"]),
                tuple(int(cells[3].split(" ", 1)[0]) for cells in tables["relationships"]),
                tuple(int(cells[1].split(" ", 1)[0]) for cells in tables["sources"]),
                tuple(int(cells[1].split(" ", 1)[0]) for cells in tables["reports"]),
            )
        )
    write_retrieved(out, {"local": listed}, versions(("nano-graphrag", "numpy")))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as storage:
        asyncio.run(retrieve(Given.load(Path(sys.argv[1])), Path(sys.argv[2]), storage))
