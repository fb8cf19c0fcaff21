"""What Microsoft GraphRAG as released retrieves: `python -m benchmarks.peers.run_graphrag_retrieval FOLDER OUT`.

Its own readers (`query.indexer_adapters`) take the graph and our communities as its output tables, its own vector store
(LanceDB) our vectors, and the context of its local search is built with the options that its factory sets.

Of DRIFT two parts are compared that no model decides: the reports that its primer takes (`build_context`), where the
vector of the hypothetical report is the one that ours has without a model, and the context of one local search with the
settings of DRIFT, where the vector of the follow-up question is that of our first one. The primer is asked twice: over
the reports that its reader keeps, and over those that ours takes for the level.
"""

import asyncio
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
    """Return data frames with the columns of its output that its readers ask for."""
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


class _Model:
    """The language model, which answers with the reply that is set. tokenizer: with which it would count."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer, self.reply = tokenizer, ""

    async def completion_async(self, **_: Any) -> SimpleNamespace:
        return SimpleNamespace(content=self.reply)


def rows(records: dict[str, Any], name: str) -> tuple[int, ...]:
    """Return the rows of a table of a context."""
    frame = records.get(name)
    return () if frame is None or not len(frame) else tuple(int(cell) for cell in frame["id"])


def _of_level(given: Given, reports: list[Any]) -> list[Any]:
    """Return the reports of the level, and of those above it that were not split."""
    split = {report.parent for report in given.reports}
    levels = [report.level for report in given.reports]
    return [each for each in reports if levels[row := int(each.community_id)] == _LEVEL or row not in split]


def _drift_vectors(given: Given, number: int) -> np.ndarray:
    """Return the (2, d) vectors of a question's hypothetical report and of its follow-up question."""
    return np.stack([given.vectors[name][number] for name in ("expanded", "follow_ups")])


async def retrieve(given: Given, out: Path, folder: str) -> None:
    """Read, ask, write."""
    from graphrag.config.models.drift_search_config import DRIFTSearchConfig
    from graphrag.query.indexer_adapters import (
        read_indexer_entities,
        read_indexer_relationships,
        read_indexer_reports,
        read_indexer_text_units,
    )
    from graphrag.query.structured_search.drift_search.drift_context import DRIFTSearchContextBuilder
    from graphrag.query.structured_search.drift_search.search import DRIFTSearch
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
    entities = read_indexer_entities(read["entities"], read["communities"], _LEVEL)
    text_units = read_indexer_text_units(read["text_units"])
    reports = read_indexer_reports(read["community_reports"], read["communities"], _LEVEL)
    relationships = read_indexer_relationships(read["relationships"])
    tokenizer = get_tokenizer(encoding_model="cl100k_base")  # the vocabulary with which contexts are counted
    builder = LocalSearchMixedContext(
        entities=entities,
        entity_text_embeddings=store,
        text_embedder=embedder,
        text_units=text_units,
        community_reports=reports,
        relationships=relationships,
        tokenizer=tokenizer,
    )
    for report in reports:
        report.full_content_embedding = given.vectors["reports"][int(report.community_id)].tolist()
    model = _Model(tokenizer)

    def drift(reports: list[Any]) -> DRIFTSearch:
        context_builder = DRIFTSearchContextBuilder(
            model=model,
            config=DRIFTSearchConfig(),
            text_embedder=embedder,
            entities=entities,
            entity_text_embeddings=store,
            text_units=text_units,
            reports=reports,
            relationships=relationships,
            tokenizer=tokenizer,
        )
        return DRIFTSearch(model, context_builder, tokenizer)

    searches = {"drift, primer": drift(reports), "drift, primer over our level": drift(_of_level(given, reports))}
    modes: dict[str, list[Retrieved]] = {name: [] for name in (*searches, "drift, follow-up")}
    for number in range(len(given.questions)):
        model.reply = f"expanded {number}"
        embedding.announce([model.reply, f"follow-up {number}"], _drift_vectors(given, number))
        for name, search in searches.items():
            taken, _ = await search.context_builder.build_context(given.questions[number].text)
            modes[name].append(Retrieved(reports=tuple(int(cell) for cell in taken["community_id"])))
        local = searches["drift, primer"].local_search
        records = local.context_builder.build_context(f"follow-up {number}", **local.context_builder_params)
        modes["drift, follow-up"].append(Retrieved(chunks=rows(records.context_records, "sources")))

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
    write_retrieved(out, {"local": listed, **modes}, versions(("graphrag", "lancedb", "pandas", "numpy")))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as storage:
        asyncio.run(retrieve(Given.load(Path(sys.argv[1])), Path(sys.argv[2]), storage))
