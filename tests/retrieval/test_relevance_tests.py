"""Relevance tests on the small index: sentences that a model rates, and a cosine without one."""

import json
from dataclasses import replace

import numpy as np
import pytest

from leanrag_core.errors import BudgetSpent
from leanrag_core.messages.catalog import sentence
from leanrag_core.models.pacing import Meter
from leanrag_core.models.window import Window
from leanrag_core.retrieval.base import Query
from leanrag_core.retrieval.deepening_search import SentenceTest, least_cosine
from leanrag_core.retrieval.map_reduce import Faults
from leanrag_core.retrieval.strategies.lazygraphrag import Config, Strategy
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.types.calls import Budget
from leanrag_core.types.cosines import Medians
from leanrag_core.types.index import Index
from tests.retrieval.scripted import ScriptedLanguage
from tests.retrieval.tools import TOOLS

NEAR = np.array([0.5, 0.4, 0.1, 0.1])
MEDIANS = Medians(0.1, 0.5)


class Narrow(ScriptedLanguage):
    """A model whose window holds a sentence or two beside the prompt."""

    window = Window(tokens=420, reply_tokens=96)

    def on_cut(self) -> None:
        raise AssertionError("no prompt is to be cut")


def rated(*sentences: tuple[int, int]) -> str:
    return json.dumps({"sentences": [{"number": number, "rating": rating} for number, rating in sentences]})


def sentence_test(index: Index, model: ScriptedLanguage | None, near: np.ndarray = NEAR) -> SentenceTest:
    tools = TOOLS if model is None else replace(TOOLS, language=model, meter=model.meter)
    query = Query("What spoils the honey?", index.chunk_vectors[1])
    return SentenceTest(Retrieval(Strategy(Config()), query, index, tools), query.text, near, Faults())


def test_a_chunk_is_rated_by_its_best_sentence(index: Index) -> None:
    # Chunk 0 has the sentences 1 and 2, chunk 1 the third; the fourth is that of chunk 2.
    model = ScriptedLanguage(lambda prompt: rated((2, 2), (1, 1), (4, 5), (9, 5)))
    test = sentence_test(index, model)
    assert test([0, 1, 2]) == {0: 2, 2: 5}
    [prompt] = model.prompts
    assert "[1] The queen lays eggs." in prompt
    assert "[3] A mite drinks" in prompt
    assert prompt.count("Document 0\n") == 2
    assert not test.faults.errors


def test_nothing_relevant_is_an_empty_list(index: Index) -> None:
    assert sentence_test(index, ScriptedLanguage(lambda prompt: rated()))([0, 1]) == {}
    assert sentence_test(index, ScriptedLanguage(lambda prompt: rated((1, 0))))([0, 1]) == {}


@pytest.mark.parametrize("reply", ["no", '{"sentences": 1}', '{"sentences": [3]}', rated((1, 6))])
def test_a_reply_that_cannot_be_used_is_asked_again_and_then_the_cosine_decides(index: Index, reply: str) -> None:
    model = ScriptedLanguage(lambda prompt: reply)
    test = sentence_test(index, model)
    assert test([0, 2]) == test.builtin([0, 2]) == {0: 2}
    assert (len(model.prompts), len(test.faults.errors)) == (2, 1)
    assert all(sentence(error) for error in test.faults.errors)


def test_a_small_window_gets_the_sentences_in_several_calls(index: Index) -> None:
    model = Narrow(lambda prompt: rated((1, 2), (2, 3), (3, 1)))
    assert sentence_test(index, model)([0, 1, 2, 3]) == {0: 3, 1: 1, 2: 2, 3: 3}
    # The first call has two sentences of chunk 0 and that of chunk 1; the second one a sentence of each.
    assert [prompt.partition("<<<")[2].count("\n[") for prompt in model.prompts] == [3, 2]


def test_a_spent_budget_is_for_the_caller_to_mend(index: Index) -> None:
    model = ScriptedLanguage(lambda prompt: rated((1, 3)), Meter(Budget(calls=1)))
    test = sentence_test(index, model)
    assert test([0]) == {0: 3}
    with pytest.raises(BudgetSpent):
        test([1])


def test_without_a_model_a_chunk_is_relevant_above_most_of_them(index: Index) -> None:
    # The mean is .275 and the deviation .179; .454 is above the middle of the medians.
    assert least_cosine(NEAR, MEDIANS) == 0.45354
    assert sentence_test(index, None)([0, 1, 2, 3]) == {0: 2}  # .5 is 38 of 100 between .2 and 1


def test_the_cosine_of_passages_that_answer_a_question_is_the_least() -> None:
    assert least_cosine(NEAR - 0.3, MEDIANS) == 0.3
    assert least_cosine(np.array([0.9]), MEDIANS) == 0.9  # of one chunk it is the mean
    assert least_cosine(np.array([0.8, 0.8, 0.1]), MEDIANS) == 0.8  # the best one always reaches it
