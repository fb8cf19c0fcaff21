import errno
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from benchmarks.planted import planted as planted_levels
from leanrag_core.clustering import clusters, on_disk
from leanrag_core.clustering.clusters import cluster, shared_out
from leanrag_core.clustering.codes import NearestCodes, RowsOnDisk
from leanrag_core.clustering.on_disk import Grain, averaged_regions
from leanrag_core.clustering.options import Clustering, ClusterOptions
from leanrag_core.errors import InvalidVectors, StorageFailed
from leanrag_core.execution.executors import ProcessMap, ThreadMap
from tests.clustering.vectors import planted, unit

SMALL = Grain(region=1000, cell=40)
OPTIONS = ClusterOptions(cluster_size=20)


@pytest.fixture
def on_the_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Make more than a thousand vectors too many for memory; return the folder of temporary files, which is left
    empty."""
    monkeypatch.setattr(clusters, "IN_MEMORY", 1000)
    monkeypatch.setattr(clusters, "GRAIN", SMALL)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert gettempdir() == str(tmp_path)
    return tmp_path


def test_what_was_planted_is_found_about_as_well_as_in_memory(on_the_disk: Path) -> None:
    vectors, leaf = planted(4000)
    made = cluster(vectors, OPTIONS)
    whole = in_memory(vectors)
    assert adjusted_rand_score(leaf, made.labels) > adjusted_rand_score(leaf, whole.labels) - 0.08
    assert made.facts.neighbours_inside > whole.facts.neighbours_inside - 0.05
    assert (made.facts.nodes, made.facts.components, made.facts.clusters) == (4000, 200, 200)
    assert np.bincount(made.labels).max() == made.facts.largest <= 40
    assert list(on_the_disk.iterdir()) == []


def in_memory(vectors: np.ndarray) -> Clustering:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "IN_MEMORY", len(vectors))
        return cluster(vectors, OPTIONS)


def test_threads_processes_and_a_mapped_file_give_the_same_labels(on_the_disk: Path, tmp_path: Path) -> None:
    vectors, _ = planted(3000)
    made = cluster(vectors, OPTIONS)
    path = tmp_path / "vectors.npy"
    np.save(path, vectors, allow_pickle=False)
    mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    processes = ProcessMap(2)
    try:
        others = [
            cluster(vectors, OPTIONS, apply=ThreadMap(3)),
            cluster(vectors, OPTIONS, apply=processes),
            cluster(mapped, OPTIONS),
        ]
    finally:
        processes.close()
    for other in others:
        assert np.array_equal(other.labels, made.labels)
        assert other.facts == made.facts


def test_a_part_of_a_mapped_file_is_its_own_rows(on_the_disk: Path, tmp_path: Path) -> None:
    vectors, _ = planted(3000)
    np.save(tmp_path / "vectors.npy", vectors, allow_pickle=False)
    mapped = np.load(tmp_path / "vectors.npy", mmap_mode="r", allow_pickle=False)
    assert np.array_equal(cluster(mapped[1000:], OPTIONS).labels, cluster(vectors[1000:], OPTIONS).labels)


def test_rows_of_any_length_are_directions(on_the_disk: Path) -> None:
    vectors, _ = planted(2000)
    powers = 2.0 ** np.random.default_rng(0).integers(-3, 4, size=(2000, 1))
    assert np.array_equal(cluster((vectors * powers).astype(np.float32)).labels, cluster(vectors).labels)


@pytest.mark.parametrize("cluster_size", [2, 20, 400])
@pytest.mark.parametrize("cap", ["capacity", "split", "none"])
def test_hordes_of_duplicates_end_within_the_cap(on_the_disk: Path, cap: str, cluster_size: int) -> None:
    vectors, _ = planted(1500)
    vectors[200:1400] = vectors[0]
    made = cluster(vectors, ClusterOptions(cluster_size, cap, smoothing=2))
    sizes = np.bincount(made.labels)
    assert sizes.min() >= 1
    if cap != "none":
        assert sizes.max() <= 2 * cluster_size


@pytest.mark.parametrize("sampled", [1, 39, 40])  # rows for each cell of 40
@pytest.mark.parametrize(("value", "words"), [(0.0, "zero"), (np.nan, "NaN")])
def test_a_row_without_direction_is_named(
    on_the_disk: Path, monkeypatch: pytest.MonkeyPatch, value: float, words: str, sampled: int
) -> None:
    vectors, _ = planted(2000)
    vectors[1234] = value
    monkeypatch.setattr(on_disk, "_SAMPLE_A_CELL", sampled)
    with pytest.raises(InvalidVectors, match=rf"row 1234 .*{words}"):
        cluster(vectors)
    assert list(on_the_disk.iterdir()) == []


def test_a_full_disk_is_named_and_leaves_nothing(on_the_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: RowsOnDisk, codes: np.ndarray) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(RowsOnDisk, "append", fail)
    with pytest.raises(StorageFailed, match=r"TMPDIR.*disk is full"):
        cluster(planted(2000)[0])
    assert list(on_the_disk.iterdir()) == []


def test_neighbours_are_exact_where_every_cell_is_looked_into(tmp_path: Path) -> None:
    vectors, _ = planted(500)
    found = averaged_regions(vectors, tmp_path, n_neighbours=5, rounds=0, seed=0, grain=SMALL)
    codes = found.averages.between(0, 500).astype(np.float64)
    distances = ((codes[:, None] - codes[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    assert np.array_equal(found.neighbours, np.argsort(distances, axis=1, kind="stable")[:, :5])
    assert sorted(found.order.tolist()) == list(range(500))
    products = np.vecdot(codes / np.linalg.norm(codes, axis=1, keepdims=True), vectors[found.order])
    assert products.min() > 0.99


def test_neighbours_of_neighbours_bring_nearer_ones_and_lose_none(tmp_path: Path) -> None:
    n, k = 600, 4
    random = np.random.default_rng(0)
    codes = RowsOnDisk(tmp_path / "codes", 8)
    vectors = random.integers(-127, 128, (n, 8))
    codes.append(vectors.astype(np.int8))
    distances = ((vectors[:, None] - vectors[None]) ** 2).sum(axis=2).astype(float)
    np.fill_diagonal(distances, np.inf)
    known = np.argsort(distances, axis=1, kind="stable")[:, [0, 3, 8, 20]].astype(np.int32)  # one of four is right
    found, rows = known, np.arange(n)[:, None]
    for _ in range(2):
        tiles = np.split(np.arange(n, dtype=np.int32), [200, 300])
        better = np.concatenate([on_disk._refined(codes, found, places) for places in tiles])
        assert (distances[rows, better] <= distances[rows, found]).all()
        assert (better != rows).all()
        found = better
    true = np.argsort(distances, axis=1, kind="stable")[:, :k]
    assert np.mean([len(set(a) & set(b)) / k for a, b in zip(found.tolist(), true.tolist(), strict=True)]) > 0.95


def test_a_row_that_has_too_few_others_is_its_own_neighbour(tmp_path: Path) -> None:
    codes = RowsOnDisk(tmp_path / "codes", 2)
    codes.append(np.array([[100, 0], [90, 10], [0, 100]], dtype=np.int8))
    neighbours = np.array([[1, 0, 0], [0, 1, 1], [2, 2, 2]], dtype=np.int32)
    assert on_disk._refined(codes, neighbours, np.array([0, 1], dtype=np.int32)).tolist() == [[1, 0, 0], [0, 1, 1]]
    assert on_disk._refined(codes, neighbours, np.array([2], dtype=np.int32)).tolist() == [[2, 2, 2]]


def test_rows_of_a_group_are_compared_together_and_a_large_group_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_disk, "_MOST_OF_TILE", 2)
    tiles = on_disk._tiles(np.array([7, 3, 7, 3, 3, 9]))
    assert [tile.tolist() for tile in tiles] == [[1, 3], [4], [0, 2], [5]]


def test_neighbours_move_the_average_by_whether_they_name_each_other(tmp_path: Path) -> None:
    codes = RowsOnDisk(tmp_path / "codes", 2)
    codes.append(np.array([[100, 0], [0, 100], [0, 100]], dtype=np.int8))
    # the first two name each other; the third names the first, which does not name it
    means = on_disk._means(codes, np.array([[1], [0], [0]], dtype=np.int32), np.arange(3))
    assert means == pytest.approx(unit(np.array([[1.0, 1.0], [1.0, 1.0], [0.3, 1.0]])))


@pytest.mark.slow
def test_regions_tear_few_clusters(tmp_path: Path) -> None:
    """Check what a k-means of the centres did not do: with it, cells tore one row of four hundred from most of its
    cluster."""
    n, grain = 8000, Grain(region=330, cell=20)
    made = planted_levels(n)
    found = averaged_regions(made.vectors, tmp_path, n_neighbours=10, rounds=2, seed=0, grain=grain)
    region = np.empty(n, dtype=int)
    for number, places in enumerate(found.places):
        region[found.order[places]] = number
    assert len(found.places) >= n // (2 * grain.region)  # enough that clusters could be torn
    most, pairs = np.zeros(made.leaf.max() + 1), made.leaf.astype(np.int64) * n + region
    together, counts = np.unique(pairs, return_counts=True)
    np.maximum.at(most, together // n, counts)
    assert most.sum() / n > 0.998


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=30), st.integers(0, 2000))
def test_seats_are_shared_out_in_full_and_nobody_goes_without(sizes: list[int], more: int) -> None:
    m = min(len(sizes) + more, sum(sizes))
    seats = shared_out(np.array(sizes), m)
    assert seats.sum() == m
    assert seats.min() >= 1


def test_seats_follow_sizes() -> None:
    assert shared_out(np.array([100, 100, 300]), 10).tolist() == [2, 2, 6]
    assert shared_out(np.array([1, 1, 998]), 10).tolist() == [1, 1, 8]
    assert shared_out(np.array([149, 151]), 3).tolist() == [1, 2]


@pytest.mark.parametrize("mapped_bytes", [1, 100, 1 << 20])
def test_rows_are_taken_in_any_order_a_part_of_the_file_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mapped_bytes: int
) -> None:
    monkeypatch.setattr("leanrag_core.clustering.codes._MAPPED_BYTES", mapped_bytes)
    rows = np.random.default_rng(0).integers(-1000, 1000, (300, 7)).astype(np.int32)
    file = RowsOnDisk(tmp_path / "rows", 7, np.int32)
    file.append(rows[:200])
    file.append(rows[200:])
    places = np.random.default_rng(1).integers(0, 300, 500)
    assert np.array_equal(file.at(places), rows[places])
    assert file.at(places[:0]).shape == (0, 7)
    assert np.array_equal(file.between(150, 250), rows[150:250])


def test_cells_made_of_averages_hold_more_of_the_neighbours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    n = 10_000
    vectors, shares = planted_levels(n).vectors, []
    monkeypatch.setattr(on_disk, "_PROBED", 2)
    for rounds in (0, on_disk._SAMPLE_ROUNDS):
        monkeypatch.setattr(on_disk, "_SAMPLE_ROUNDS", rounds)
        folder = tmp_path / str(rounds)
        folder.mkdir()
        cells = on_disk._in_cells(vectors, folder, Grain(cell=25), seed=0)
        assert np.array_equal(np.sort(cells.order), np.arange(n))
        codes, rows = cells.codes.between(0, n).astype(np.float64), np.arange(0, n, 25)
        distances = (codes**2).sum(axis=1) - 2 * codes[rows] @ codes.T
        distances[np.arange(len(rows)), rows] = np.inf
        nearest = np.argsort(distances, axis=1, kind="stable")[:, :10]
        cell = np.searchsorted(cells.starts, nearest, side="right") - 1
        probed = cells.piece[cells.near.at(rows)]
        shares.append(float((cell[:, :, None] == probed[:, None, :]).any(axis=2).mean()))
    assert shares[1] > shares[0] + 0.03
    assert shares[1] > 0.832  # a single round gives .8285


@pytest.mark.parametrize("codes_at_once", [8192, 300, 4])
def test_the_nearest_codes_are_exact_and_of_equal_ones_the_first(
    codes_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leanrag_core.clustering.codes._CODES_AT_ONCE", codes_at_once)
    random = np.random.default_rng(0)
    codes, rows = (random.integers(-127, 128, (n, 24)).astype(np.int8) for n in (700, 300))
    codes[[5, 600]] = codes[90] = rows[0] = 127  # the largest products, and three equal ones
    nearest, scores = NearestCodes(codes).search(rows, 9)
    wide = codes.astype(np.int64)
    exact = 2 * rows.astype(np.int64) @ wide.T - (wide**2).sum(axis=1)
    assert np.array_equal(nearest, np.argsort(-exact, axis=1, kind="stable")[:, :9])
    assert np.array_equal(scores, np.take_along_axis(exact, nearest, axis=1))
    assert nearest[0, :3].tolist() == [5, 90, 600]
    assert NearestCodes(codes[:3]).search(rows, 9)[0].shape == (300, 3)
    assert NearestCodes(codes).assign(rows[:0]).shape == (0,)


def test_more_clusters_a_region_where_they_are_large(on_the_disk: Path) -> None:
    made = cluster(planted(3000)[0], replace(OPTIONS, cluster_size=700))
    assert made.facts.clusters == 5
