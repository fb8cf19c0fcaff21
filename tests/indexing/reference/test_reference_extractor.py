"""A reference graph becomes extractions of chunks, of whatever size."""

from dataclasses import replace

import pytest

from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.indexing.reference.models import ReferenceExtractor
from leanrag_core.indexing.resolution import resolve
from leanrag_core.types.corpus import Document
from leanrag_core.types.extraction import Extraction
from tests.indexing.reference.hives import DOCUMENT, ENTITIES, HIVE


def _extracted(max_tokens: int, documents: tuple[Document, ...] = (DOCUMENT,)) -> list[Extraction]:
    chunks = chunk_documents(documents, max_tokens=max_tokens, overlap_tokens=max_tokens // 4)
    return ReferenceExtractor(HIVE).extract(documents, chunks, lambda done: None)


@pytest.mark.parametrize("max_tokens", [6, 12, 512])
def test_any_chunking_gives_the_same_entities_and_relations(max_tokens: int):
    chunks = chunk_documents([DOCUMENT], max_tokens=max_tokens, overlap_tokens=max_tokens // 4)
    graph = resolve(_extracted(max_tokens), chunks, heuristic=False).graph
    assert sorted(graph.entities["name"].to_pylist()) == ["Drone", "Larva", "Queen", "Worker"]
    assert set(graph.entities["description"].to_pylist()) == {f"{row.name} of the hive." for row in ENTITIES}
    assert graph.relations["weight"].to_pylist() == [8.0, 8.0]  # a relation in two chunks is one statement
    assert graph.relations["kind"].to_pylist() == ["stated", "stated"]


def test_an_entity_is_in_the_chunks_of_its_quotes_and_of_its_name():
    extractions = _extracted(8)
    chunks = chunk_documents([DOCUMENT], max_tokens=8, overlap_tokens=2)
    with_drone = [
        chunk.text
        for chunk, extraction in zip(chunks, extractions, strict=True)
        if any(mention.name == "Drone" for mention in extraction.mentions)
    ]
    assert with_drone == [chunk.text for chunk in chunks if "Drones" in chunk.text or "mate" in chunk.text]


def test_aliases_become_aliases_of_the_graph():
    chunks = chunk_documents([DOCUMENT], max_tokens=64, overlap_tokens=0)
    assert resolve(_extracted(64), chunks, heuristic=False).aliases["larvae"] == "Larva"


def test_what_the_documents_do_not_hold_is_left_out_and_listed():
    other = replace(DOCUMENT, text="The queen lays eggs in the brood nest.")
    (extraction,) = _extracted(64, (other,))
    assert {mention.name for mention in extraction.mentions} == {"Queen"}
    assert [drop.item for drop in extraction.drops] == ["Worker", "Drone", "Larva", "Queen – Drone", "Worker – Larva"]


def test_the_fingerprint_changes_with_the_graph():
    fingerprint = ReferenceExtractor(HIVE).fingerprint
    assert fingerprint == ReferenceExtractor(replace(HIVE)).fingerprint
    assert fingerprint != ReferenceExtractor(replace(HIVE, aggregated_relations=())).fingerprint
