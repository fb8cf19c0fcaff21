"""Findings of a sweep, from scores that are written by hand."""

from dataclasses import replace

from leanrag_core.evaluation.statistics import differ, pair_tests
from leanrag_core.evaluation.sweeps.findings import findings, headline
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.sweep import Axis, PointResult, SweepPoint, SweepResult, SweepSpec

N = 20
AXES = (Axis("cluster_size", (10, 20)), Axis("tau", (1, 3)))
SPEC = SweepSpec("Bees", AXES, "bees", corpus="bees")
NOISE = tuple(0.01 * (place % 3 - 1) for place in range(N))


def point(cluster_size: int, tau: int, recall: float, tokens: float, noise: float = 0.0) -> PointResult:
    scores = tuple(recall + noise * NOISE[place] for place in range(N))
    settings = {"cluster_size": cluster_size, "tau": tau}
    name = f"cluster_size {cluster_size}, tau {tau}"
    return PointResult(SweepPoint(name, settings), scores={"evidence-recall": scores, "context-tokens": (tokens,) * N})


def sweep(*points: PointResult) -> SweepResult:
    questions = tuple(f"q{number}" for number in range(N))
    return SweepResult("s", SPEC, points, questions, ("fact",) * N, is_complete=True)


RESULT = sweep(point(10, 1, 0.2, 900), point(10, 3, 0.2, 800), point(20, 1, 0.7, 500, 1.0), point(20, 3, 0.7, 400))


def test_the_best_point_is_the_cheaper_of_equal_ones_and_the_worse_are_told_from_it() -> None:
    shown = findings(RESULT)
    assert shown.best == "cluster_size 20, tau 3"
    assert shown.close == ("cluster_size 20, tau 1", "cluster_size 20, tau 3")
    assert [standing.name for standing in shown.points if standing.is_front] == ["cluster_size 20, tau 3"]
    worse = shown.at("cluster_size 10, tau 1")
    assert worse.difference is not None
    assert round(worse.difference.value, 6) == -0.5
    assert worse.p < 0.05


def test_an_axis_matters_where_a_value_can_be_told_from_its_best() -> None:
    size, tau = findings(RESULT).axes
    assert (size.axis, size.matters, [value.is_close for value in size.values]) == ("cluster_size", True, [False, True])
    assert (tau.axis, tau.matters, [value.cost for value in tau.values]) == ("tau", False, [700.0, 600.0])
    assert [sentence(line) for line in headline(findings(RESULT))][:2] == [
        "averaged over the other settings, cluster_size 20 is best",
        "averaged over the other settings, tau makes no difference that can be told",
    ]
    spec = replace(SPEC, axes=(Axis("cluster_size", (10, 20, 30)), Axis("tau", (1,))))
    points = (point(10, 1, 0.2, 900), point(20, 1, 0.7, 900, 1.0), point(30, 1, 0.7, 900))
    said = [sentence(line) for line in headline(findings(replace(RESULT, spec=spec, points=points)))]
    assert said[0] == "averaged over the other settings, cluster_size 20, 30 are best"


def test_no_point_is_best_where_none_can_be_told_from_another() -> None:
    alike = findings(sweep(*(point(size, tau, 0.7, 100, 3.0 * size - tau) for size in (10, 20) for tau in (1, 3))))
    assert not alike.tells
    assert not any(standing.is_best for standing in alike.points)
    said = [sentence(line) for line in headline(alike)]
    assert any(line.startswith("None of the 4 settings can be told from the others, so none is best;") for line in said)
    assert [standing.is_best for standing in findings(RESULT).points] == [False, False, False, True]


def test_points_are_told_apart_by_the_rule_of_the_letters() -> None:
    points = [point(size, tau, 0.5 + 0.001 * size * tau, 100, size) for size in (10, 20) for tau in (1, 3)]
    shown = findings(sweep(*points))
    scores = {each.point.name: each.scores["evidence-recall"] for each in points}
    p_values = pair_tests(scores)
    for standing in shown.points:
        if standing.name != shown.best:
            pair = (standing.name, shown.best)
            p = p_values.get(pair, p_values.get(pair[::-1]))
            assert p is not None
            assert (standing.p, standing.is_close) == (p, not differ(p))


def test_a_measure_that_no_setting_moves_says_so_and_names_no_best() -> None:
    same = [PointResult(each.point, scores=RESULT.points[0].scores) for each in RESULT.points]
    shown = findings(sweep(*same))
    assert shown.is_level
    assert [sentence(line) for line in headline(shown)] == [
        "Every question has the same score at each of the 4 settings: these settings do not move this measure. "
        "Choose another measure."
    ]
    assert not findings(RESULT).is_level


def test_where_all_find_the_same_the_one_that_reads_least_is_named() -> None:
    said = headline(findings(sweep(point(10, 1, 0.7, 900), point(10, 3, 0.7, 300), point(20, 1, 0.7, 300))))
    assert [sentence(line) for line in said] == [
        "Every question has the same score at each of the 3 settings, so the one that reads least will do: "
        "cluster_size 10, tau 3, with 300 tokens of context; cluster_size 10, tau 1 has 900."
    ]


def test_the_cheapest_of_the_good_points_is_named_with_what_it_saves() -> None:
    result = sweep(point(10, 1, 0.7, 900, 1.0), point(10, 3, 0.7, 300), point(20, 1, 0.71, 500, 0.5))
    better = PointResult(
        result.points[2].point,
        scores={**result.points[2].scores, "evidence-recall": (0.7,) * (N - 1) + (0.9,)},
    )
    shown = findings(sweep(result.points[0], result.points[1], better))
    assert (shown.best, shown.cheapest) == ("cluster_size 20, tau 1", "cluster_size 10, tau 3")
    assert "saves 200 tokens of context for .01 of the measure" in sentence(headline(shown)[-1])
    hardly = (0.7,) * (N - 1) + (0.72,)
    hardly_better = PointResult(result.points[2].point, scores={**better.scores, "evidence-recall": hardly})
    shown = findings(sweep(result.points[0], result.points[1], hardly_better))
    assert "saves 200 tokens of context, with the same mean" in sentence(headline(shown)[-1])


def test_a_point_that_has_only_begun_is_not_the_best() -> None:
    lucky = point(10, 1, 1.0, 100)
    for n_scores, best in ((1, "cluster_size 20, tau 3"), (N // 2, "cluster_size 10, tau 1")):
        scores = {name: (*known[:n_scores], *(None,) * (N - n_scores)) for name, known in lucky.scores.items()}
        assert findings(sweep(PointResult(lucky.point, scores=scores), *RESULT.points[1:])).best == best


def test_a_measure_of_which_less_is_better_has_its_lowest_mean_as_the_best() -> None:
    assert findings(RESULT, "context-tokens").best == "cluster_size 20, tau 3"


def test_only_the_questions_of_a_kind_count() -> None:
    shown = findings(RESULT, kind="comparison")
    assert (shown.n_questions, shown.best, shown.close) == (0, "", ())
    assert [sentence(line) for line in headline(shown)] == ["nothing is measured yet"]


def test_points_that_have_not_run_are_left_out() -> None:
    waiting = PointResult(SweepPoint("cluster_size 30, tau 1", {"cluster_size": 30, "tau": 1}))
    shown = findings(sweep(*RESULT.points, waiting))
    assert len(shown.points) == 4
