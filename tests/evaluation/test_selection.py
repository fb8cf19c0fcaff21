"""Questions that are selected: named by their places in a link, and what is left of an experiment with these alone."""

import pytest

from leanrag_core.evaluation.experiments.selection import chosen_ids, of_questions, written_places
from leanrag_core.types.experiment import ExperimentResult, ExperimentSpec, Judgement, QuestionRow, RunCost, RunSpec

IDS = ("a", "b", "c", "d", "e", "f", "g")


def test_places_are_written_in_ranges_and_read_back() -> None:
    assert written_places({"a", "b", "c", "e", "g"}, IDS) == "1-3,5,7"
    assert written_places({"f", "g", "gone"}, IDS) == "6-7"
    assert written_places((), IDS) == ""
    for chosen in (("a", "b", "c", "e", "g"), ("b",), IDS, ()):
        assert chosen_ids(written_places(chosen, IDS), IDS) == chosen


@pytest.mark.parametrize("written", ["0", "8", "3-9", "x", "1-x", "-2"])
def test_a_link_that_names_other_places_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        chosen_ids(written, IDS)


def test_rows_costs_and_judgements_of_other_questions_are_left_out() -> None:
    result = ExperimentResult(
        "x",
        ExperimentSpec("x", "set", (RunSpec("", "i", "leanrag", id="r"),)),
        tuple(QuestionRow("r", id_, "", {"evidence-recall": 1.0}) for id_ in IDS),
        tuple(RunCost("r", id_, 1.0) for id_ in IDS),
        tuple(Judgement("j", "absolute", id_, "r", "", 0, {}, "", "") for id_ in IDS),
    )
    part = of_questions(result, {"b", "d"})
    assert [row.question for row in part.rows] == ["b", "d"]
    assert [cost.question for cost in part.costs] == ["b", "d"]
    assert [judgement.question for judgement in part.judgements] == ["b", "d"]
    assert part.spec == result.spec
