"""What Microsoft GraphRAG as released retrieves: `python -m benchmarks.peers.run_graphrag_retrieval FOLDER OUT`.

Its own readers (`query.indexer_adapters`) take the graph and our communities as its output tables, its own vector store
(LanceDB) our vectors, and the context of its local search is built with the options that its factory sets.
"""

import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.peers.given import Embedding, Given, Retrieved, write_retrieved
from benchmarks.peers.prepared import versions

TITLE = "GraphRAG"
SECTION = "agreement"
REQUIREMENTS = ("graphrag==3.3.0",)

_LEVEL = 2  # of the communities, its default


def tables(given: Given) -> dict[str, Any]:
    """Data frames with the columns of its output that its readers ask for."""
    import pandas as pd

    degree = np.zeros(len(given.entities), dtype=int)
    for relation in given.relations:
        degree[[relation.source, relation.target]] += 1
    names = [entity.name for entity in given.entities]
    relation_ids: list[list[str]] = [[] for _ in given.passages]
    for row, relation in enumerate(given.relations):
        for chunk in relation.chunks:
            relation_ids[chunk].append(f"r{row}")
    return {
        "entities": pd.DataFrame(
            {
                "id": [f"e{row}" for row in range(len(names))],
                "human_readable_id": range(len(names)),
                "title": names,
                "type": [entity.type for entity in given.entities],
                "description": [entity.description for entity in given.entities],
                "text_unit_ids": [[f"t{chunk}" for chunk in entity.chunks] for entity in given.entities],
                "degree": degree,
            }
        ),
        "relationships": pd.DataFrame(
            {
                "id": [f"r{row}" for row in range(len(given.relations))],
                "human_readable_id": range(len(given.relations)),
                "source": [names[each.source] for each in given.relations],
                "target": [names[each.target] for each in given.relations],
                "description": [each.description for each in given.relations],
                "weight": [each.weight for each in given.relations],
                "combined_degree": [int(degree[each.source] + degree[each.target]) for each in given.relations],
                "text_unit_ids": [[f"t{chunk}" for chunk in each.chunks] for each in given.relations],
            }
        ),
        "text_units": pd.DataFrame(
            {
                "id": [f"t{row}" for row in range(len(given.passages))],
                "human_readable_id": range(len(given.passages)),
                "text": given.passages,
                "n_tokens": 0,
                "document_id": "d",
                "entity_ids": [[] for _ in given.passages],
                "relationship_ids": relation_ids,
                "covariate_ids": [[] for _ in given.passages],
            }
        ),
        "communities": pd.DataFrame(
            {
                "id": [f"c{row}" for row in range(len(given.reports))],
                "human_readable_id": range(len(given.reports)),
                "community": range(len(given.reports)),
                "level": [report.level for report in given.reports],
                "parent": [report.parent for report in given.reports],
                "title": [f"Community {row}" for row in range(len(given.reports))],
                "entity_ids": [[f"e{row}" for row in report.entities] for report in given.reports],
            }
        ),
        "community_reports": pd.DataFrame(
            {
                "id": [f"k{row}" for row in range(len(given.reports))],
                "human_readable_id": range(len(given.reports)),
                "community": range(len(given.reports)),
                "level": [report.level for report in given.reports],
                "title": [report.title for report in given.reports],
                "summary": [report.summary for report in given.reports],
                "full_content": [report.text for report in given.reports],
                "rank": [report.rating for report in given.reports],
            }
        ),
    }


def retrieve(given: Given, out: Path, folder: str) -> None:
    """Read, ask, write."""
    from graphrag.query.indexer_adapters import (
        read_indexer_entities,
        read_indexer_relationships,
        read_indexer_reports,
        read_indexer_text_units,
    )
    from graphrag.query.structured_search.local_search.mixed_context import LocalSearchMixedContext
    from graphrag.tokenizer.get_tokenizer import get_tokenizer
    from graphrag_vectors import VectorStoreDocument
    from graphrag_vectors.lancedb import LanceDBVectorStore

    embedding = Embedding(given)
    read = tables(given)
    vectors = given.vectors["entities"]
    store = LanceDBVectorStore(db_uri=folder, index_name="entities", vector_size=vectors.shape[1])
    store.connect()
    store.create_index()
    store.load_documents([VectorStoreDocument(f"e{row}", vector.tolist()) for row, vector in enumerate(vectors)])
    embedder = SimpleNamespace(
        embedding=lambda input: SimpleNamespace(first_embedding=embedding.embed(input)[0].tolist())
    )
    builder = LocalSearchMixedContext(
        entities=read_indexer_entities(read["entities"], read["communities"], _LEVEL),
        entity_text_embeddings=store,
        text_embedder=embedder,
        text_units=read_indexer_text_units(read["text_units"]),
        community_reports=read_indexer_reports(read["community_reports"], read["communities"], _LEVEL),
        relationships=read_indexer_relationships(read["relationships"]),
        tokenizer=get_tokenizer(encoding_model="cl100k_base"),  # the vocabulary with which contexts are counted
    )

    def rows(records: dict[str, Any], name: str) -> tuple[int, ...]:
        frame = records.get(name)
        return () if frame is None or not len(frame) else tuple(int(cell) for cell in frame["id"])

    listed = []
    for question in given.questions:
        records = builder.build_context(
            question.text,
            text_unit_prop=0.5,
            community_prop=0.15,
            top_k_mapped_entities=10,
            top_k_relationships=10,
            include_entity_rank=True,
            include_relationship_weight=True,
            max_context_tokens=12_000,
        ).context_records
        listed.append(Retrieved(*(rows(records, name) for name in ("entities", "relationships", "sources", "reports"))))
    write_retrieved(out, {"local": listed}, versions(("graphrag", "lancedb", "pandas", "numpy")))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as storage:
        retrieve(Given.load(Path(sys.argv[1])), Path(sys.argv[2]), storage)
