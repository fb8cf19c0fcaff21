"""What holds for every measure: it has words, a group and a unit of tables, and a score for an outcome without gold."""

import math

import numpy as np
import pytest

from leanrag_core.answering.extractive import extractive_answer
from leanrag_core.evaluation.base import COUNT, GROUPS, HIGHER, LOWER, RATIO, SHARE, TOKENS, MeasureInfo, Outcome
from leanrag_core.evaluation.gold import Evidence, GoldQuestion
from leanrag_core.evaluation.measuring import broken_measures, measure_infos, measures
from leanrag_core.messages.catalog import sentence
from leanrag_core.models.minilm import MiniLM
from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.trace import Trace
from tests.small_index import small_index

INFOS = [pytest.param(info, id=info.name) for info in measure_infos()]
QUESTION = "What weakens bees?"


@pytest.fixture(scope="module")
def trace() -> Trace:
    index = small_index()
    query = Query(QUESTION, np.asarray(index.chunk_vectors[0]))
    return strategy("vector", {"top_c": 2}).retrieve(query, index, Tools(MiniLM().embed))


def test_every_file_of_the_folder_is_a_measure() -> None:
    assert broken_measures() == ()


@pytest.mark.parametrize("info", INFOS)
def test_a_measure_says_what_it_is(info: MeasureInfo) -> None:
    assert sentence(info.title).strip()
    assert sentence(info.help).strip()
    assert info.group in GROUPS
    assert info.unit in (SHARE, TOKENS, COUNT, RATIO)
    assert info.better in (HIGHER, LOWER, "")


@pytest.mark.parametrize("info", INFOS)
def test_a_score_is_a_number_or_none_whatever_the_question_lacks(info: MeasureInfo, trace: Trace) -> None:
    [measure] = [each for each in measures() if each.name == info.name]
    answer = extractive_answer(trace, MiniLM().embed, np.asarray(MiniLM().embed([QUESTION])[0]))
    quoted = (Evidence(trace.passages[0].source.document, trace.passages[0].text[:20]),)
    for question in (GoldQuestion("1", QUESTION), GoldQuestion("1", QUESTION, ("mites",), quoted)):
        for outcome in (Outcome(question, trace), Outcome(question, trace, answer)):
            score = measure.score(outcome)
            assert score is None or math.isfinite(score)
            if score is not None and info.unit == SHARE:
                assert 0 <= score <= 1
