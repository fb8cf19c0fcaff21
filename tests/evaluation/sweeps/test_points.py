"""Points of a sweep: grids, samplers with a seed, what is refused, and which stages a setting changes."""

from dataclasses import replace

import pytest

from leanrag_core import IndexConfig
from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.sweeps.points import (
    base_of,
    experiment_of,
    index_config,
    kept_stages,
    options_of,
    points,
    rebuilt_stages,
)
from leanrag_core.types.sweep import LATIN, RANDOM, RETRIEVAL, Axis, SweepSpec

GRID = SweepSpec("Sizes", (Axis("cluster_size", (5, 10)), Axis("top_n", (3, 6), RETRIEVAL)), "set", corpus="bees")
DRAWN = SweepSpec(
    "Drawn", (Axis("cluster_size", low=2, high=9), Axis("tau", (1, 3))), "set", corpus="bees", sampler=LATIN, n_points=8
)


def test_a_grid_has_every_combination_and_the_last_axis_changes_fastest() -> None:
    listed = points(GRID)
    assert [point.name for point in listed] == [
        "cluster_size 5, top_n 3",
        "cluster_size 5, top_n 6",
        "cluster_size 10, top_n 3",
        "cluster_size 10, top_n 6",
    ]
    assert index_config(GRID, listed[2]) == IndexConfig(cluster_size=10)
    assert options_of(replace(GRID, options={"top_c": 4, "top_n": 9}), listed[1]) == {"top_c": 4, "top_n": 6}
    runs = experiment_of(GRID, {point.name: f"index-{point.settings['cluster_size']}" for point in listed}).runs
    assert [(run.index, run.options) for run in runs[1:3]] == [("index-5", {"top_n": 6}), ("index-10", {"top_n": 3})]


def test_a_latin_hypercube_has_each_part_of_each_axis_equally_often() -> None:
    drawn = points(DRAWN)
    assert sorted(point.settings["cluster_size"] for point in drawn) == [2, 3, 4, 5, 6, 7, 8, 9]
    assert sorted(point.settings["tau"] for point in drawn) == [1] * 4 + [3] * 4
    assert points(DRAWN) == drawn
    assert points(replace(DRAWN, seed=1)) != drawn


def test_points_drawn_twice_are_run_once() -> None:
    spec = replace(DRAWN, axes=(Axis("tau", (1, 3)),), sampler=RANDOM, n_points=20)
    assert {point.name for point in points(spec)} == {"tau 1", "tau 3"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"title": " "}, "title"),
        ({"corpus": ""}, "either a corpus"),
        ({"corpus": "", "index": "i"}, "changes the index"),
        ({"axes": ()}, "needs an axis"),
        ({"axes": (Axis("magic", (1,)),)}, "magic"),
        ({"axes": (Axis("top_n", (1,)),)}, "top_n"),
        ({"axes": (Axis("tau", (1,)), Axis("tau", (2,)))}, "twice"),
        ({"axes": (Axis("tau", (1,), "shelf"),)}, "shelf"),
        ({"axes": (Axis("tau"),)}, "no values"),
        ({"axes": (Axis("tau", ("often",)),)}, "often"),
        ({"axes": (Axis("cluster_size", (1,)),)}, "cluster_size"),
        ({"axes": (Axis("cluster_size", tuple(range(2, 42))), Axis("seed", tuple(range(40))))}, "1,600 points"),
        ({"sampler": RANDOM}, "0 points"),
        ({"sampler": "magic"}, "magic"),
        ({"measure": "magic"}, "magic"),
        ({"strategy": "magic"}, "magic"),
    ],
)
def test_what_cannot_be_run_is_refused_with_its_reason(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidConfig, match=said):
        points(replace(GRID, **wrong))


def test_clustersize_and_tau_keep_extraction_merging_and_what_is_before() -> None:
    rebuilt = rebuilt_stages([Axis("cluster_size", (5,)), Axis("tau", (1,))])
    assert kept_stages(rebuilt) == ("parse", "chunk", "extract", "merge")
    assert kept_stages(rebuilt_stages([Axis("chunk_tokens", (64,)), Axis("tau", (1,))])) == ()
    assert rebuilt_stages([Axis("top_n", (5,), RETRIEVAL)]) == ()
    assert base_of(IndexConfig(cluster_size=5, tau=8)) == base_of(IndexConfig())
    assert base_of(IndexConfig(chunk_tokens=256)) != base_of(IndexConfig())
