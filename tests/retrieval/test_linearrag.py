"""LinearRAG on the small index (tests/small_index.py), worked out by hand."""

import numpy as np
import pyarrow as pa
import pytest

from leanrag_core.indexing.sentence_mentions import occurrences_in, sentences_by_chunk, sentences_with_entities
from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.retrieval.strategies.linearrag import Config, activated
from leanrag_core.types.index import Index
from leanrag_core.types.rows import numbers
from leanrag_core.types.statements import STATEMENT_SCHEMA, Statements, TriGraph
from leanrag_core.types.trace import Trace
from tests.retrieval.scripted_tools import Scripted
from tests.small_index import unit

QUESTION = "Which Mite harms the Queen?"
TO_SENTENCE = np.array([0.8, 0.6, 0, 0], dtype=np.float32)  # of the question
QUEEN, HONEY, MITE, RAPE, CLOVER, COAT = range(6)


def sentences() -> Statements:
    """Return three sentences, with cosines to the question of .8, .6 and 0."""
    held = [("Queens eat honey.", [0], [QUEEN, HONEY]), ("Honey has mites.", [1], [HONEY, MITE])]
    held.append(("Rape has honey.", [2], [HONEY, RAPE]))
    columns = {name: [row[place] for row in held] for place, name in enumerate(STATEMENT_SCHEMA.names)}
    vectors = unit([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]])
    return Statements(pa.table(columns, schema=STATEMENT_SCHEMA), vectors, (6, 4))


def tri_graph(index: Index) -> TriGraph:
    occurrences = index.entity_chunks.copy()
    occurrences.data = np.arange(1, len(occurrences.data) + 1, dtype=np.float32)
    return TriGraph(sentences(), np.array(index.layers[0].vectors), occurrences, np.array([0, 2]))


def test_a_sentence_is_kept_with_its_entities_and_all_its_chunks(index: Index) -> None:
    heard: list[tuple[int, int]] = []
    chunks = list(sentences_by_chunk(index, lambda done, total: heard.append((done, total))))
    assert heard == [(0, 4), (1, 4), (2, 4), (3, 4)]
    kept = sentences_with_entities(chunks, least=2).to_pylist()
    assert [(row["chunks"], row["entities"]) for row in kept] == [([1], [HONEY, MITE]), ([2], [HONEY, RAPE, CLOVER])]
    assert len(sentences_with_entities(chunks, least=1)) == 5  # queen, honey, and the two above, seed coat
    twice = sentences_with_entities([*chunks, chunks[1]], least=2).to_pylist()
    assert twice[0]["chunks"] == [1]
    assert numbers(occurrences_in(chunks)["sentences"]).tolist() == [1] * 8


def test_a_score_goes_through_the_nearest_sentences_that_are_not_used(index: Index) -> None:
    active = activated(sentences(), {QUEEN: 1.0}, TO_SENTENCE, Config(least_score=0.4, most_hops=2), index)
    # The queen's sentence (.8) wakes honey, and herself; honey's two others pass .48 and 0, of which .48 is enough.
    assert active.weights == pytest.approx({QUEEN: 1.8, HONEY: 0.8 + 0.48, MITE: 0.48}, abs=1e-6)
    assert active.tiers == {QUEEN: 2, HONEY: 3, MITE: 3}
    assert [bridge.sentence for bridge in active.bridges] == [0, 1]


def test_a_score_below_the_least_goes_nowhere(index: Index) -> None:
    active = activated(sentences(), {QUEEN: 1.0}, TO_SENTENCE, Config(least_score=0.5, most_hops=4), index)
    assert active.weights == pytest.approx({QUEEN: 1.8, HONEY: 0.8}, abs=1e-6)
    assert activated(sentences(), {COAT: 1.0}, TO_SENTENCE, Config(), index).weights == {COAT: 1.0}


def retrieve(index: Index, question: str, vectors: dict[str, np.ndarray]) -> Trace:
    scripted = Scripted(vectors, None, {"tri_graph": tri_graph(index)})
    return strategy("linearrag", {"top_c": 4}).retrieve(Query(question, TO_SENTENCE), index, scripted.tools)


def test_the_walk_starts_at_awake_entities_and_near_passages(index: Index) -> None:
    trace = retrieve(index, QUESTION, {})  # names equal to entities are not embedded
    graph, config = tri_graph(index), Config()
    active = activated(graph.sentences, {MITE: 1.0, QUEEN: 1.0}, TO_SENTENCE, config, index)
    near = np.asarray(index.chunk_vectors) @ TO_SENTENCE
    dense = (near - near.min()) / np.ptp(near)
    counts = graph.occurrences.toarray()
    bonus = sum(active.scores[row] / active.tiers[row] * np.log1p(counts[row]) for row in active.scores)
    start = np.zeros(10)
    start[list(active.weights)] = list(active.weights.values())
    start[6:] = 0.05 * (2 * dense + np.log1p(bonus))
    edges = np.zeros((10, 10))
    edges[:6, 6:] = counts / counts.sum(axis=0)
    edges[6:, :6] = edges[:6, 6:].T
    edges[6, 7] = edges[7, 6] = edges[8, 9] = edges[9, 8] = 1
    mass = np.linalg.solve(np.eye(10) - 0.5 * edges / edges.sum(axis=0), 0.5 * start / start.sum())
    assert list(trace.ranked_chunks) == np.argsort(-mass[6:]).tolist()
    assert [passage.score for passage in trace.passages] == pytest.approx(sorted(mass[6:], reverse=True), abs=1e-4)
    assert {item.name for item in trace.items if item.kind == "sentence"} == {"Queens eat honey.", "Honey has mites."}
    assert trace.usage.calls == 0


def test_a_name_without_an_equal_one_goes_to_the_nearest(index: Index) -> None:
    trace = retrieve(index, "Who is Varroa?", {"Varroa": np.array([0, 1, 0, 0], dtype=np.float32)})
    [asked] = [item for item in trace.items if item.kind == "keyword"]
    [link] = [each for each in trace.relations if each.source == asked.id]
    assert (asked.name, link.target) == ("Varroa", "id-mite")


def test_a_question_that_names_nothing_is_answered_by_cosine(index: Index) -> None:
    trace = retrieve(index, "What is it?", {})
    assert list(trace.ranked_chunks) == [0, 1, 2, 3]
    assert [item.kind for item in trace.items] == ["passage"] * 4
