"""Clusterings of real entities are compared by measures that were worked out by hand."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from benchmarks import real_clusters
from benchmarks.peers.environments import PeerUnavailable
from benchmarks.real_clusters import (
    OURS,
    SCIKIT_LEARN,
    Entities,
    Partition,
    by_chance,
    cosine_inside,
    entities_of,
    figures_of,
    main,
)
from leanrag_core.storage.layout import write_index
from tests.small_index import small_index

# Eleven rows in one direction and eleven at sixty degrees to them: a row's ten nearest are the rest of its own eleven.
TWO_BODIES = np.repeat(np.array([[1, 0], [0.5, np.sqrt(0.75)]], dtype=np.float32), 11, axis=0)
BODIES = np.repeat([0, 1], 11)
RELATIONS = np.array([[0, 1], [1, 2], [2, 12], [12, 13]], dtype=np.int32)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    directory = tmp_path / "meadow"
    directory.mkdir()
    write_index(directory, small_index())
    return directory


def two_bodies() -> Entities:
    nearest = [[other for other in range(22) if other // 11 == row // 11 and other != row] for row in range(22)]
    return Entities("two bodies", TWO_BODIES, RELATIONS, np.array(nearest, dtype=np.int32))


def figures(labels: np.ndarray) -> dict[str, float | int | str]:
    return figures_of(Partition("any", labels, 1.5, 1.25), two_bodies())


def test_bodies_found_as_they_are_hold_every_neighbour() -> None:
    assert figures(BODIES) == {
        "clusters": 2,
        "mean size": 11.0,
        "size-weighted": 11.0,
        "largest": 11,
        "singletons": 0,
        "seconds": 1.5,
        "processor seconds": 1.25,
        "neighbours": 1.0,
        "relations": 0.75,  # all but 2 to 12
        "by chance": round(2 * 11 * 10 / (22 * 21), 4),
        "cosine": 1.0,
    }


def test_a_row_in_the_wrong_cluster_costs_its_own_neighbours_and_a_tenth_of_its_fellows() -> None:
    labels = BODIES.copy()
    labels[0] = 1
    figures_of_labels = figures(labels)
    assert figures_of_labels["neighbours"] == round((0 + 10 * 9 + 11 * 10) / 220, 4)
    assert figures_of_labels["relations"] == 0.5  # 1 to 2 and 12 to 13
    # Ten rows see their like alone; eleven see ten of their like and the stray one at .5, which sees .5 everywhere.
    assert figures_of_labels["cosine"] == round((10 * 1 + 11 * (10 + 0.5) / 11 + 0.5) / 22, 4)
    assert figures_of_labels["size-weighted"] == round((10 * 10 + 12 * 12) / 22, 1)
    assert figures_of_labels["by chance"] == round((10 * 9 + 12 * 11) / (22 * 21), 4)


def test_a_cluster_of_one_counts_nothing_in_the_cosine_and_misses_its_neighbours() -> None:
    labels = BODIES.copy()
    labels[0] = 2
    figures_of_labels = figures(labels)
    assert (figures_of_labels["singletons"], figures_of_labels["clusters"], figures_of_labels["largest"]) == (1, 3, 11)
    assert figures_of_labels["cosine"] == 1.0
    assert figures_of_labels["neighbours"] == round((0 + 10 * 9 + 11 * 10) / 220, 4)
    assert figures_of_labels["size-weighted"] == round((1 + 10 * 10 + 11 * 11) / 22, 1)


def test_clusters_of_one_alone_have_no_cosine() -> None:
    assert cosine_inside(np.arange(22), TWO_BODIES) is None
    assert by_chance(np.arange(22)) == 0
    assert figures(np.arange(22))["cosine"] == "none"


def test_labels_that_are_not_used_change_no_figure() -> None:
    assert figures(BODIES * 7 + 3) == figures(BODIES)


def test_the_cosine_is_the_mean_over_entities_of_the_mean_to_their_fellows() -> None:
    random = np.random.default_rng(3)
    vectors = random.normal(size=(40, 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    labels = np.concatenate([random.integers(0, 6, 39), [6]])
    each = [
        np.mean([vectors[row] @ vectors[other] for other in np.flatnonzero(labels == labels[row]) if other != row])
        for row in range(39)
        if (labels == labels[row]).sum() > 1
    ]
    assert cosine_inside(labels, vectors) == pytest.approx(np.mean(each), abs=1e-12)


def test_chance_is_what_random_labels_of_the_same_sizes_hold() -> None:
    random = np.random.default_rng(5)
    labels = np.repeat([0, 1, 2], [20, 5, 15])
    pairs = random.integers(0, 40, (200_000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    shuffled = random.permutation(labels)
    assert by_chance(labels) == pytest.approx((shuffled[pairs[:, 0]] == shuffled[pairs[:, 1]]).mean(), abs=0.005)


def test_entities_have_unit_vectors_and_their_exact_neighbours(index: Path) -> None:
    given = entities_of(index)
    assert given.name == "meadow"
    assert np.linalg.norm(given.vectors, axis=1) == pytest.approx(np.ones(6), abs=1e-6)
    assert given.neighbours.shape == (6, 5)
    # queen and honey .8, honey and mite .6, rape and clover .8, clover and seed coat .6
    assert given.neighbours[[0, 1, 2, 3, 4, 5], 0].tolist() == [1, 0, 1, 4, 3, 4]
    assert given.ends.tolist() == [[0, 1], [1, 2], [1, 3], [3, 4], [2, 5]]


def test_every_route_is_in_the_table_and_in_the_record(
    index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "figures.json"
    assert main([str(index), "--clustersize", "3", "--out", str(out)]) == 0
    stdout = capsys.readouterr().out
    assert "meadow: 6 entities, 5 relations; mean cosine of any two entities" in stdout
    assert all(f"| {name} " in stdout for name in (*OURS, SCIKIT_LEARN))
    stored = json.loads(out.read_text(encoding="utf-8"))
    assert {result["route"] for result in stored["results"]} == {*OURS, SCIKIT_LEARN}
    for result in stored["results"]:
        assert result["index"] == "meadow"
        assert 1 <= result["figures"]["clusters"] <= 2
        assert result["figures"]["neighbours"] == pytest.approx(
            result["figures"]["by chance"], abs=1e-4
        )  # all five others
        assert result["command"] == "python -m benchmarks.real_clusters meadow --clustersize 3"
        assert {"date", "commit", "machine", "versions"} <= result.keys()


def test_the_authors_route_gets_the_vectors_and_its_labels_are_measured(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(
        command: Sequence[str], out: Path, *, timeout_seconds: float | None, environment: Mapping[str, str]
    ) -> dict[str, object]:
        assert command[:3] == ["peer-python", "-m", "benchmarks.peers.run_umap_mixture"]
        with np.load(out.parent / "planted.npz") as arrays:
            assert arrays["vectors"].shape == (6, 4)
            assert arrays["labels"].shape == (6,)
            assert arrays["cluster_size"] == 3
        np.save(out.parent / "assigned.npy", np.array([4, 4, 4, 9, 9, 9]))
        return {"figures": {"seconds": 7.0, "processor_seconds": 5.0}, "versions": {"umap-learn": "1"}}

    monkeypatch.setattr(real_clusters, "interpreter", lambda peer, folder: "peer-python")
    monkeypatch.setattr(real_clusters, "answer_of", answer)
    out = tmp_path / "figures.json"
    assert main([str(index), "--clustersize", "3", "--peers-env", str(tmp_path), "--out", str(out)]) == 0
    (theirs,) = [
        load
        for load in json.loads(out.read_text(encoding="utf-8"))["results"]
        if load["route"] == "UMAP, BIC scan, mixture"
    ]
    assert theirs["versions"] == {"umap-learn": "1"}
    assert (theirs["figures"]["clusters"], theirs["figures"]["seconds"]) == (2, 7.0)
    assert theirs["figures"]["relations"] == 0.6  # queen to honey, honey to mite, rape to clover
    assert str(tmp_path) not in theirs["command"]


def test_an_authors_route_that_fails_is_reported_and_the_others_are_kept(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unavailable(*_: object) -> Partition:
        raise PeerUnavailable("it could not be installed")

    monkeypatch.setattr(real_clusters, "authors_route", unavailable)
    assert main([str(index), "--clustersize", "3", "--peers-env", str(tmp_path)]) == 1
    output = capsys.readouterr()
    assert "meadow: it could not be installed" in output.err
    assert "| ours " in output.out


def test_a_folder_without_an_index_is_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "nothing")]) == 2
    assert "nothing: no index in" in capsys.readouterr().err


def test_a_cluster_size_of_one_is_refused(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(index), "--clustersize", "1"]) == 2
    assert "the smallest value is 2" in capsys.readouterr().err
