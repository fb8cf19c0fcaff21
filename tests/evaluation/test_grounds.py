"""What a finding rests on is said beside it."""

from dataclasses import replace

import pytest

from leanrag_core.evaluation.tables import FROM_GRAPH, grounds
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.experiment import ExperimentResult
from tests.evaluation.test_experiment_tables import RECALL, result_of

SCORES = {"A": [1.0, 0.5, None], "B": [0.0, 0.5, None]}


def sentences_of(result: ExperimentResult, runs: tuple[str, ...] = ("A", "B"), kind: str = "") -> list[str]:
    return [sentence(each) for each in grounds(result, runs, RECALL, kind)]


def test_questions_without_gold_are_counted() -> None:
    assert sentences_of(result_of(SCORES)) == [
        "1 of 3 questions has no score of this measure, such as one without gold, and is left out."
    ]
    assert sentences_of(result_of({"A": [1.0, 0.5], "B": [0.0, 0.5]})) == []


def test_questions_from_a_graph_favour_systems_that_search_one() -> None:
    result = result_of({"A": [1.0], "B": [0.0]})
    generated = replace(result, versions={FROM_GRAPH: "bees"})
    assert "favours systems that search a graph" in sentences_of(generated)[0]


@pytest.mark.parametrize(
    ("tokens", "word"), [(500, ""), (501, "more than half"), (1000, "as much as the whole corpus")]
)
def test_a_context_of_half_the_corpus_is_named_with_its_size(tokens: int, word: str) -> None:
    result = result_of({"A": [1.0], "B": [0.0]}, {"A": [float(tokens)], "B": [10.0]})
    result = replace(result, versions={f"tokens {result.spec.runs[0].index}": "1000"})
    lines = sentences_of(result)
    assert len(lines) == bool(word)
    assert all(word in line and line.startswith(f"A reads {tokens:,} tokens") for line in lines)


def test_a_measure_on_which_no_question_differs_says_so() -> None:
    level = result_of({"A": [1.0, 0.5], "B": [1.0, 0.5]})
    alike = "Every question has the same score with these runs: this measure does not tell them apart here."
    assert sentences_of(level) == [alike]
    assert sentences_of(level, ("A",)) == []
