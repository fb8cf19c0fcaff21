"""HippoRAG with IRCoT on the small index (tests/small_index.py): masses by dense linear algebra."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.retrieval.strategies.hipporag_ircot import ranked_rows
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from leanrag_core.types.walks import EntityLinks
from tests.retrieval.scripted_tools import Scripted
from tests.small_index import unit

QUEEN, RAPE = unit([[1, 0, 0, 0], [0, 0, 1, 0]])
STATED = np.zeros((6, 6))
for _source, _target in ((0, 1), (1, 2), (1, 3), (3, 4), (2, 5)):
    STATED[_source, _target] = STATED[_target, _source] = 1
MENTIONS = np.zeros((6, 4))
for _entity, _chunks in enumerate(([0], [0, 1, 2], [1], [2], [2], [3])):
    MENTIONS[_entity, _chunks] = 1
QUESTION = "What does the queen's food grow on?"
THOUGHT = "Honey comes from rape."


def named(*names: str) -> str:
    return json.dumps({"named": names, "generic": []})


def scaled_scores(entity: int) -> np.ndarray:
    """Return scores of the four chunks after a walk from that entity, from 0 to 1."""
    transition, restart = STATED / STATED.sum(axis=0), np.eye(6)[entity]
    mass = np.linalg.solve(np.eye(6) - 0.5 * transition, 0.5 * restart)
    scores = MENTIONS.T @ mass
    return np.asarray((scores - scores.min()) / np.ptp(scores))


def retrieve(index: Index, replies: list[str] | None, **options: int) -> tuple[Trace, Scripted]:
    none = csr_array((6, 6), dtype=np.float32)
    parts = {"synonyms": EntityLinks(none, csr_array(STATED, dtype=np.float32), index.entity_chunks)}
    vectors = dict.fromkeys(("queen", "honey", QUESTION), QUEEN) | {"rape": RAPE}
    scripted = Scripted(vectors, replies, parts)
    return strategy("hipporag_ircot", options).retrieve(Query(QUESTION, QUEEN), index, scripted.tools), scripted


def test_a_chunk_has_its_best_score_of_the_rounds(index: Index) -> None:
    trace, scripted = retrieve(index, [named("queen"), THOUGHT, named("rape")], top_c=4)
    best = np.maximum(scaled_scores(0), scaled_scores(3))
    order = ranked_rows(dict(enumerate(best.tolist())))
    assert list(trace.ranked_chunks) == order
    assert [passage.score for passage in trace.passages] == pytest.approx([best[row] for row in order], abs=1e-4)
    assert THOUGHT in scripted.asked[2]  # its names are asked for as those of a question
    assert [step.name for step in scripted.steps] == ["round-1", "round-2"]
    assert trace.usage.calls == 3


def test_a_round_takes_its_best_chunks_alone(index: Index) -> None:
    trace, _ = retrieve(index, [named("queen"), THOUGHT, named("rape")], chunks_per_round=1)
    assert set(trace.ranked_chunks) == {int(scaled_scores(0).argmax()), int(scaled_scores(3).argmax())} == {0, 2}


def test_an_answer_ends_the_rounds(index: Index) -> None:
    trace, scripted = retrieve(index, [named("queen"), "So the answer is: rape."], rounds=4)
    assert len(scripted.asked) == 2
    assert list(trace.ranked_chunks) == ranked_rows(dict(enumerate(scaled_scores(0).tolist())))
