"""The walk over entity-passage edges, solved by hand, and LeanRAG-walk on the hierarchy of tests.small_index."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.anchoring import Seed
from leanrag_core.retrieval.base import Query, strategies, strategy
from leanrag_core.retrieval.graph_walks import operator_of, pagerank, walk
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from leanrag_core.types.walks import alike_rows_together, walk_operator, with_both_steps
from tests.contract.indexes import index_of
from tests.retrieval.tools import TOOLS
from tests.small_index import entity, layer, unit

# Entities: mite in chunks 0 and 1, acid in chunk 1, hive in chunk 2. Chunk 0: mite; 1: mite, acid; 2: hive.
MENTIONS = [[0, 1], [1], [2]]
# Columns go on to rows: an entity to each of its chunks alike, a chunk to each of its entities alike.
TRANSITION = np.array(
    [
        # mite acid hive  c0   c1   c2
        [0.0, 0.0, 0.0, 1.0, 0.5, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.5, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        [0.5, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.5, 1.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
    ]
)


@pytest.fixture
def three() -> Index:
    texts = {"mite": "A mite.", "acid": "A mite and acid.", "hive": "A hive."}
    index = index_of(texts, [])
    base = layer(
        0,
        [entity(name, chunks) for name, chunks in zip(texts, MENTIONS, strict=True)],
        [],
        unit([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]),
        [0, 0, 0],
    )
    return replace(
        index, layers=(base, index.layers[1]), chunk_vectors=unit([[1, 0, 0, 0], [3, 4, 0, 0], [0, 0, 1, 0]])
    )


def test_the_operator_shares_the_mass_of_a_node_among_its_edges(three: Index) -> None:
    operator = walk_operator(three.entity_chunks)
    assert operator.to_entities.toarray().tolist() == TRANSITION[:3, 3:].tolist()
    assert operator.to_chunks.toarray().tolist() == TRANSITION[3:, :3].tolist()


def test_the_mass_at_rest_solves_the_walks_equation(three: Index) -> None:
    # The question is (1, 0, 0, 0): mite has cosine 1 and is in two chunks; chunks 0 and 1 have cosine 1 and .6.
    restart = np.array([1 / 2, 0, 0, 0.05 * 1, 0.05 * 0.6, 0]) / (0.5 + 0.05 + 0.03)
    expected = np.linalg.solve(np.eye(6) - 0.5 * TRANSITION, 0.5 * restart)
    seeds = [Seed("id-mite", "mite", 0, 0, 1.0, 1)]
    resting = walk(three, operator_of(three, TOOLS), seeds, unit([[1, 0, 0, 0]])[0], passage_weight=0.05, damping=0.5)
    mass = np.concatenate([resting.entity_mass, resting.chunk_mass])
    assert mass == pytest.approx(expected, abs=1e-6)
    assert mass.sum() == pytest.approx(1.0)
    # mite: .5 x .8621 + .5 x (.1862 + .1931 / 2) = .5724; chunk 1: .5 x .0517 + .5 x (.5724 / 2 + .0483) = .1931.
    assert mass.round(4).tolist() == [0.5724, 0.0483, 0.0, 0.1862, 0.1931, 0.0]
    assert resting.ranked().tolist() == [1, 0, 2]
    assert resting.ranked(np.array([0, 2])).tolist() == [0, 2]
    [(mite, much), (acid, little)] = resting.carriers(1)
    assert (mite, acid) == (0, 1)
    assert much == pytest.approx(0.5 * 0.5 * expected[0])
    assert little == pytest.approx(0.5 * 1.0 * expected[1])


def test_both_steps_in_one_come_to_the_same_rest(three: Index) -> None:
    operator = walk_operator(three.entity_chunks)
    kept = with_both_steps(operator)
    assert kept.between_chunks is not None
    place = kept.between_chunks.place
    between = kept.between_chunks.matrix.toarray()[place][:, place]
    assert between == pytest.approx(TRANSITION[3:, :3] @ TRANSITION[:3, 3:])
    seeds, vector = [Seed("id-mite", "mite", 0, 0, 1.0, 1)], unit([[1, 0, 0, 0]])[0]
    rests = [walk(three, each, seeds, vector, passage_weight=0.05, damping=0.5) for each in (operator, kept)]
    assert rests[1].chunk_mass == pytest.approx(rests[0].chunk_mass, abs=1e-12)
    assert rests[1].entity_mass == pytest.approx(rests[0].entity_mass, abs=1e-12)
    everywhere = walk_operator(csr_array(np.ones((9, 9), dtype=np.float32)))
    assert with_both_steps(everywhere).between_chunks is None


def test_rows_in_another_order_give_the_same_sums_to_the_last_bit() -> None:
    random = np.random.default_rng(3)
    cells = np.where(random.random((60, 60)) < 0.2, random.random((60, 60)), 0.0)
    matrix, vector = csr_array(cells), random.random(60)
    packed = alike_rows_together(matrix)
    in_order = np.empty(60)
    in_order[packed.place] = vector
    assert (np.diff(np.diff(packed.matrix.indptr)) >= 0).all()
    assert (packed.matrix @ in_order)[packed.place].tobytes() == (matrix @ vector).tobytes()


def test_a_walk_without_a_likeness_starts_at_all_chunks_alike(three: Index) -> None:
    resting = walk(three, operator_of(three, TOOLS), [], unit([[0, 0, 0, 1]])[0], passage_weight=0.05, damping=0.5)
    expected = np.linalg.solve(np.eye(6) - 0.5 * TRANSITION, 0.5 * np.array([0, 0, 0, 1, 1, 1]) / 3)
    assert resting.entity_mass == pytest.approx(expected[:3], abs=1e-6)
    assert resting.chunk_mass == pytest.approx(expected[3:], abs=1e-6)


def test_a_walk_that_cannot_go_on_restarts_as_in_pagerank(three: Index) -> None:
    # Nobody mentions the second chunk, so that a walk that starts there restarts.
    base = layer(0, [entity("mite", [0]), entity("hive", [2])], [], unit([[1, 0, 0, 0], [0, 0, 1, 0]]), [0, 0])
    index = replace(three, layers=(base, three.layers[1]))
    restart = np.array([1.0, 0.0, 0.05, 0.03, 0.0])
    transition = np.zeros((5, 5))
    transition[2, 0] = transition[0, 2] = transition[4, 1] = transition[1, 4] = 1.0
    expected = pagerank(csr_array(transition), restart, damping=0.5, tolerance=1e-12)
    seeds = [Seed("id-mite", "mite", 0, 0, 1.0, 1)]
    resting = walk(index, operator_of(index, TOOLS), seeds, unit([[1, 0, 0, 0]])[0], passage_weight=0.05, damping=0.5)
    assert np.concatenate([resting.entity_mass, resting.chunk_mass]) == pytest.approx(expected, abs=1e-6)


def retrieve(index: Index, vector: list[float], **options: object) -> Trace:
    return strategy("leanrag_walk", dict(options)).retrieve(Query("what?", unit([vector])[0]), index, TOOLS)


def test_a_walk_reaches_a_chunk_that_no_seed_is_in(index: Index) -> None:
    # queen is in chunk 0 with honey, which is in chunks 1 and 2 too; chunk 2 has no cosine and no seed.
    trace = retrieve(index, [1, 0.1, 0, 0], top_n=1, walk_seeds=1, top_c=4)
    assert [passage.row for passage in trace.passages] == [0, 1, 2, 3]
    assert [item.name for item in trace.with_role("seed")] == ["queen"]
    assert [item.name for item in trace.with_role("carrier")] == ["honey", "mite", "rape", "clover", "seed coat"]
    into_2 = [relation for relation in trace.relations if relation.target == "chunk-2"]
    assert [relation.source for relation in into_2] == ["id-honey", "id-rape", "id-clover"]
    assert {relation.role for relation in into_2} == {"mass"}
    assert trace.passages[2].source is not None
    assert trace.passages[2].source.items == ("id-honey", "id-rape", "id-clover")


def test_the_walk_is_a_step_between_relations_and_chunks(index: Index) -> None:
    trace = retrieve(index, [1, 0, 1, 0], top_n=2, top_c=2)
    assert [step.name for step in trace.steps] == ["seeds", "climb", "lca", "relations", "walk", "chunks", "context"]
    walked = trace.steps[4]
    assert set(walked.relations) == {relation.id for relation in trace.relations if relation.role == "mass"}
    assert sentence(walked.caption).startswith("The walk starts at the 5 best seeds and, lightly, at every passage;")


def test_candidates_may_be_the_chunks_of_the_seeds_alone(index: Index) -> None:
    # The index has six entities, all of them among the 30 seeds; no chunk is without one.
    assert len(retrieve(index, [1, 0, 0, 0], candidates="seeds30").ranked_chunks) == 4
    base = index.layers[0]
    lonely = layer(0, base.entities.slice(0, 3).to_pylist(), [], np.asarray(base.vectors)[:3], [0, 0, 0])
    fewer = replace(index, layers=(lonely, *index.layers[1:]))
    assert set(retrieve(fewer, [1, 0, 0, 0], candidates="seeds30").ranked_chunks) == {0, 1, 2}
    assert set(retrieve(fewer, [1, 0, 0, 0]).ranked_chunks) == {0, 1, 2, 3}


def test_all_but_the_chunks_is_leanrags(index: Index) -> None:
    vector = [1.0, 0.0, 1.0, 0.0]
    own = strategy("leanrag", {"top_n": 4}).retrieve(Query("what?", unit([vector])[0]), index, TOOLS)
    trace = retrieve(index, vector, top_n=4, context="full")
    on_paths = [node for node in trace.nodes if node.role != "carrier"]
    assert on_paths == list(own.nodes)
    assert [each for each in trace.relations if each.role != "mass"] == list(own.relations)
    assert trace.context.sections[:3] == own.context.sections[:3]


def test_the_context_is_compact_and_the_full_one_a_preset(index: Index) -> None:
    vector = [1.0, 0.0, 1.0, 0.0]
    plain, compact = retrieve(index, vector, top_n=4), retrieve(index, vector, top_n=4, context="compact")
    assert plain.context == compact.context
    full = retrieve(index, vector, top_n=4, **strategies().named("leanrag_walk").preset("full").options)
    assert full.context.tokens > plain.context.tokens
