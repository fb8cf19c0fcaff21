import numpy as np
import pytest

from leanrag_core.errors import InvalidConfig
from leanrag_core.indexing.aggregation.rules import parse_tau

LAMBDAS = np.array([0, 1, 2, 3, 4, 5])


@pytest.mark.parametrize(
    ("value", "by_layer"),
    [
        (3, [3, 3, 3]),
        ("2.5", [2.5, 2.5, 2.5]),
        ("3,5", [3, 5, 5]),
        ("q0.75", [4, 4, 4]),  # of 1 2 3 4 5
        ("3, q0.5", [3, 3, 3]),
        ("q1,0", [5, 0, 0]),
    ],
)
def test_each_layer_gets_its_own_tau_and_the_last_repeats(value: object, by_layer: list[float]) -> None:
    rule = parse_tau(value, heuristic=False)
    assert [rule.threshold(layer, LAMBDAS) for layer in (1, 2, 3)] == by_layer


def test_the_default_is_the_papers_and_a_quantile_above_layer_one_for_heuristic_graphs() -> None:
    assert str(parse_tau(None, heuristic=False)) == "3"
    assert str(parse_tau(" ", heuristic=True)) == "3,q0.75"


def test_a_quantile_of_no_relations_is_zero() -> None:
    assert parse_tau("q0.9", heuristic=False).threshold(1, np.zeros(0)) == 0


@pytest.mark.parametrize("value", ["many", "3,", "q1.5", "-1", "q", "nan", "inf"])
def test_what_is_no_tau_is_refused_with_the_forms_that_are(value: str) -> None:
    with pytest.raises(InvalidConfig, match=r"q0\.75"):
        parse_tau(value, heuristic=False)
