"""The reference engine: planted clusters come back, the choices of the released code do what they say."""

import sys
from itertools import pairwise
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from leanrag_core.clustering.clusters import cluster
from leanrag_core.clustering.options import ClusterOptions
from leanrag_core.clustering.reference import ReferenceOptions, fit_reference
from leanrag_core.errors import InvalidConfig
from tests.clustering.vectors import bundles, planted

PLAIN = {"cap": "none", "join_singletons": False}


def options(cluster_size: int = 20, *, space: int = 8, **reference: Any) -> ClusterOptions:
    return ClusterOptions(cluster_size, space=space, reference=ReferenceOptions(**reference), **PLAIN)


@pytest.mark.parametrize("covariance", ["tied", "full", "diag"])
@pytest.mark.parametrize("reduction", ["pca", "none"])
def test_planted_bundles_come_back(covariance: str, reduction: str) -> None:
    vectors, bundle = bundles([25] * 6)
    clustering = cluster(vectors, options(25, covariance=covariance, reduction=reduction))
    assert adjusted_rand_score(bundle, clustering.labels) > 0.99
    assert clustering.facts.components == 6
    assert clustering.facts.covariance == covariance


def test_both_engines_find_the_same_well_separated_clusters() -> None:
    vectors, _ = bundles([20] * 8)
    own = cluster(vectors, ClusterOptions(20, smoothing=0, **PLAIN)).labels
    assert adjusted_rand_score(own, cluster(vectors, options()).labels) > 0.99


def test_the_lowest_bic_decides_where_it_wants_more_clusters_than_the_size_gives() -> None:
    vectors, bundle = bundles([20] * 6, spread=0.01)
    by_size = cluster(vectors, options(60, covariance="diag")).facts.components
    by_bic = cluster(vectors, options(60, covariance="diag", count="bic"))
    assert by_size == 2
    assert by_bic.facts.components >= 6
    assert adjusted_rand_score(bundle, by_bic.labels) > 0.9


def test_the_count_by_bic_is_that_of_scikit_learn_tried_by_hand() -> None:
    vectors, _ = bundles([12] * 4, spread=0.05)
    fit = fit_reference(vectors, ReferenceOptions("diag", "bic", "none"), cluster_size=20, space=8, seed=0)
    points = vectors.astype(np.float64)
    bic = [GaussianMixture(m, covariance_type="diag", random_state=0).fit(points).bic(points) for m in range(1, 25)]
    small = [abs(before - after) < 1e-3 * abs(before) for before, after in pairwise(bic)]
    n_tried = small.index(True) + 2 if any(small) else 24
    assert fit.components == max(48 // 20, 1 + int(np.argmin(bic[:n_tried])))


def test_the_scan_by_bic_ends_where_it_hardly_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = {1: 1000.0, 2: 800.0, 3: 799.5, 4: 1.0}

    class Mixture:
        def __init__(self, components: int, **settings: Any) -> None:
            self.components = components

        def fit(self, points: np.ndarray) -> "Mixture":
            return self

        def bic(self, points: np.ndarray) -> float:
            return scores[self.components]

        def predict(self, points: np.ndarray) -> np.ndarray:
            return np.arange(len(points)) % self.components

        def score(self, points: np.ndarray) -> float:
            return 0.0

    monkeypatch.setattr("sklearn.mixture.GaussianMixture", Mixture)
    released = ReferenceOptions(count="bic", reduction="none")
    assert fit_reference(planted(40)[0][:8], released, cluster_size=20, space=8, seed=0).components == 3


@pytest.mark.parametrize(("starts", "settings"), [("one", (1, "kmeans")), ("released", (5, "k-means++"))])
def test_the_released_code_begins_five_times(
    starts: str, settings: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, str]] = []

    def mixture(components: int, *, n_init: int, init_params: str, **others: Any) -> GaussianMixture:
        asked.append((n_init, init_params))
        return GaussianMixture(components, n_init=n_init, init_params=init_params, **others)

    monkeypatch.setattr("sklearn.mixture.GaussianMixture", mixture)
    fit_reference(planted(40)[0], ReferenceOptions("diag", starts=starts), cluster_size=20, space=8, seed=0)
    assert asked == [settings]


@pytest.mark.parametrize("n", [2, 3, 4, 5, 17])
@pytest.mark.parametrize("count", ["size", "bic"])
def test_small_layers_shrink_by_half_at_least(n: int, count: str) -> None:
    vectors = planted(40)[0][:n]
    labels = cluster(vectors, options(2, count=count)).labels
    assert len(np.unique(labels)) <= -(-n // 2)


def test_cap_and_single_nodes_are_treated_as_with_the_other_engine() -> None:
    vectors, _ = bundles([100, 3, 1, 16])
    capped = ClusterOptions(10, reference=ReferenceOptions(), space=8)
    sizes = np.bincount(cluster(vectors, capped).labels)
    assert sizes.max() <= 20


def test_the_same_seed_gives_the_same_labels_whatever_the_number_of_threads() -> None:
    vectors, _ = planted(400)
    labels = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads):
            labels.append(cluster(vectors, options(space=16)).labels)
    assert np.array_equal(labels[0], labels[1])
    assert np.array_equal(labels[0], labels[2])


def test_a_fit_that_would_take_too_long_is_refused_before_it_begins() -> None:
    vectors = np.ones((60_000, 128), dtype=np.float32)
    with pytest.raises(InvalidConfig) as refused:
        fit_reference(vectors, ReferenceOptions(), cluster_size=20, space=128, seed=0)
    assert refused.value.message.code == "clustering.reference_too_large"
    assert "60,000 nodes" in str(refused.value)


def test_without_umap_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(InvalidConfig) as missing:
        cluster(planted(40)[0], options(reduction="umap"))
    assert missing.value.message.code == "clustering.umap_missing"


def test_umap_is_called_as_the_released_code_does_but_with_a_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, Any]] = []

    class UMAP:
        def __init__(self, **settings: Any) -> None:
            calls.append(settings)

        def fit_transform(self, vectors: np.ndarray) -> np.ndarray:
            return vectors[:, :2]

    module = ModuleType("umap")
    module.__dict__.update(SimpleNamespace(UMAP=UMAP).__dict__)
    monkeypatch.setitem(sys.modules, "umap", module)
    fit = fit_reference(planted(100)[0], ReferenceOptions(reduction="umap"), cluster_size=20, space=128, seed=7)
    [settings] = calls
    assert (settings["n_components"], settings["metric"], settings["random_state"]) == (2, "cosine", 7)
    assert fit.points.shape == (100, 2)


def test_a_report_records_the_engine_only_where_it_is_not_the_workbenchs_own() -> None:
    assert "engine" not in ClusterOptions().settings()
    assert ClusterOptions(reference=ReferenceOptions("full")).settings()["covariance"] == "full"


def test_two_points_are_not_given_to_umap_which_refuses_them(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("umap")
    module.UMAP = None
    monkeypatch.setitem(sys.modules, "umap", module)
    vectors = planted(40)[0][:2]
    fit = fit_reference(vectors, ReferenceOptions(reduction="umap"), cluster_size=20, space=128, seed=7)
    assert fit.points == pytest.approx(vectors)
    assert fit.labels.tolist() == [0, 0]
