"""Verdicts of people: drawn sides, hidden marks, votes that survive, undo, win rates and agreement with a judge."""

from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.audit.judges import audit
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.judging.asking import FIRST, OVERALL, SECOND, TIE
from leanrag_core.evaluation.judging.people import EACH, parts, voting
from leanrag_core.evaluation.judging.tables import win_rates
from leanrag_core.types.experiment import (
    PAIRWISE,
    ExperimentResult,
    ExperimentSpec,
    Judgement,
    QuestionRow,
    RunSpec,
    human_judge,
)

IDS = tuple(f"q{number}" for number in range(12))
RUNS = ("graph", "vector")
JUDGE, ANN = "openai:judge", human_judge("Ann")


def judged(first: str, second: str, question: str, winner: str) -> Judgement:
    verdict = FIRST if winner == first else SECOND
    return Judgement(JUDGE, PAIRWISE, question, first, second, 0, {OVERALL: verdict}, "", "", (9, 9))


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    """Return a workbench with an experiment of two runs over twelve questions; one has the same answer of both, one
    failed with one of them. A judge prefers the graph in both orders."""
    bench = Workbench(tmp_path)
    runs = tuple(RunSpec("", "index-1", key, id=key) for key in RUNS)
    rows = [
        QuestionRow(run, id_, "fact", {}, (), "The same. [C1]" if id_ == "q0" else f"By the {run} [E1][C2]. So. [R1]")
        for run in RUNS
        for id_ in IDS
    ]
    rows[-1] = replace(rows[-1], answer="", error="it failed")
    both = [judged(*order, id_, "graph") for id_ in IDS[1:-1] for order in (RUNS, RUNS[::-1])]
    spec = ExperimentSpec("Bees", "bees", runs, "vector")
    questions = [GoldQuestion(id_, f"What is {id_}?") for id_ in IDS]
    bench.experiments.store.begin("bees", spec, {}, questions)
    with bench.experiments.store.writer("bees") as writer:
        writer.add_rows(rows, [])
        writer.add_judgements(both)
        writer.finish(ExperimentResult("bees", spec, tuple(rows), judgements=tuple(both), is_complete=True))
    return bench


def test_marks_that_tell_a_graph_from_passages_are_hidden() -> None:
    assert parts("Drones hatch [C1][E12]. They fly.") == ("Drones hatch.", "They fly.")
    assert parts("Drones hatch. [C1][E1] They fly [R2]") == ("Drones hatch.", "They fly")
    assert parts("In 1852 [see below] nothing is cited.") == ("In 1852 [see below] nothing is cited.",)


def test_each_run_stands_left_half_of_the_time_and_what_cannot_be_compared_is_left_out(bench: Workbench) -> None:
    drawn = bench.verdicts.voting("bees", RUNS, voter="Ann")
    assert (len(drawn.ballots), drawn.same) == (10, 1)
    assert {ballot.question for ballot in drawn.ballots} == set(IDS[1:-1])
    assert sum(ballot.left == "graph" for ballot in drawn.ballots) in (5, 6, 4), "a half, but for the pair left out"
    assert bench.verdicts.voting("bees", RUNS, voter="Ann") == drawn, "drawn once"
    assert bench.verdicts.voting("bees", RUNS, voter="Ben").ballots != drawn.ballots
    with pytest.raises(InvalidConfig):
        bench.verdicts.voting("bees", ("graph",))


def test_votes_are_judgements_and_the_last_one_is_taken_back(bench: Workbench) -> None:
    first, second, *_ = bench.verdicts.voting("bees", RUNS, voter="Ann").ballots
    bench.verdicts.vote("bees", first, FIRST, voter="Ann", criterion=OVERALL)
    bench.verdicts.vote("bees", second, TIE, voter="Ann", criterion=OVERALL)
    after = bench.verdicts.voting("bees", RUNS, voter="Ann")
    assert (after.n_done, after.open_steps()[0].place) == (2, 2)
    assert after.ballots[:2] == (first, second), "what was voted on keeps its sides"
    own = [each for each in bench.experiments.store.read("bees").judgements if each.judge == ANN]
    assert [(each.first, each.verdicts) for each in own] == [
        (first.left, {OVERALL: 1.0}),
        (second.left, {OVERALL: 0.0}),
    ]
    assert "[E1]" not in own[0].prompt
    back = bench.verdicts.last("bees", RUNS, voter="Ann", n=8)
    assert [(each.question, each.verdicts) for each in back] == [
        (second.question, {OVERALL: None}),
        (first.question, {OVERALL: None}),
    ]
    assert bench.verdicts.last("bees", RUNS, voter="Ann") == back[:1]
    assert bench.verdicts.undo("bees", RUNS, voter="Ben") is None
    bench.verdicts.undo("bees", RUNS, voter="Ann")
    assert bench.verdicts.voting("bees", RUNS, voter="Ann").n_done == 1
    bench.verdicts.undo("bees", RUNS, voter="Ann")
    bench.verdicts.undo("bees", RUNS, voter="Ann")
    assert bench.verdicts.standing("bees") == ()
    assert bench.experiments.store.summary("bees").judgements == 20, "those of the judge"


def test_a_pair_is_done_when_each_criterion_has_a_verdict(bench: Workbench) -> None:
    ballot = bench.verdicts.voting("bees", RUNS, criteria=EACH).ballots[0]
    for place, criterion in enumerate(EACH):
        assert bench.verdicts.voting("bees", RUNS, criteria=EACH).open_steps()[0].criterion == EACH[place]
        bench.verdicts.vote("bees", ballot, SECOND, criterion=criterion)
    assert bench.verdicts.voting("bees", RUNS, criteria=EACH).n_done == 1
    (vote,) = bench.verdicts.standing("bees")
    assert vote.verdicts == dict.fromkeys(EACH, SECOND)


def test_a_line_that_a_kill_has_cut_loses_no_other_vote(bench: Workbench) -> None:
    first, second, *_ = bench.verdicts.voting("bees", RUNS).ballots
    bench.verdicts.vote("bees", first, FIRST, criterion=OVERALL)
    path = bench.root / "experiments" / "bees" / "votes.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    assert len(bench.verdicts.standing("bees")) == 1
    bench.verdicts.vote("bees", second, TIE, criterion=OVERALL)
    assert [vote.question for vote in bench.verdicts.standing("bees")] == [first.question, second.question]


def test_agreement_and_win_rates_count_persons_beside_the_judge(bench: Workbench) -> None:
    ballots = bench.verdicts.voting("bees", RUNS, voter="Ann").ballots
    for place, ballot in enumerate(ballots):  # with the judge but for two
        verdict = FIRST if (ballot.left == "graph") == (place >= 2) else SECOND
        bench.verdicts.vote("bees", ballot, verdict, voter="Ann", criterion=OVERALL)
    judgements = bench.experiments.store.read("bees").judgements
    (rate,) = [each for each in win_rates(judgements, order=RUNS) if each.judge == ANN]
    assert rate.win_rate is not None
    assert (rate.a, rate.win_rate.value, rate.win_rate.n, rate.unparsed) == ("graph", 0.8, 10, 0)
    made = audit(judgements)
    (both,) = [each for each in made.agreement if {each.judge, each.other} == {JUDGE, ANN}]
    assert both.same is not None
    assert (both.same.value, both.n) == (0.8, 10)
    assert both.same.low is not None
    assert 0.4 < both.same.low < 0.8
    (person,) = [each for each in made.judges if each.judge == ANN]
    assert person.holds, "one order is no fault of a person: sides are drawn"


def test_votes_on_an_experiment_of_the_program_lie_beside_it_and_running_again_does_not_lose_them(
    bench: Workbench, tmp_path: Path
) -> None:
    shipped = Workbench(tmp_path / "other")
    shipped.experiments.store._shipped = bench.root / "experiments"
    ballot = shipped.verdicts.voting("bees", RUNS).ballots[0]
    before = sorted((bench.root / "experiments" / "bees").iterdir())
    shipped.verdicts.vote("bees", ballot, TIE, criterion=OVERALL)
    assert sorted((bench.root / "experiments" / "bees").iterdir()) == before
    result = shipped.experiments.store.read("bees")
    assert result.is_shipped
    assert result.judgements[-1].judge == human_judge()
    assert shipped.experiments.store.all()[0].judgements == 21
    with pytest.raises(InvalidConfig, match="1 verdict"):
        shipped.experiments.forget("bees", None)  # type: ignore[arg-type]


def test_votes_without_a_question_or_by_an_unknown_criterion_are_refused(bench: Workbench) -> None:
    result = bench.experiments.store.read("bees")
    assert voting(result, (), RUNS, ANN).ballots[0].text.startswith("q"), "its id stands for its words"
    ballot = bench.verdicts.voting("bees", RUNS).ballots[0]
    for verdict, criterion in ((3.0, OVERALL), (FIRST, "beauty")):
        with pytest.raises(InvalidConfig):
            bench.verdicts.vote("bees", ballot, verdict, criterion=criterion)
