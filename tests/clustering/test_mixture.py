import numpy as np

from leanrag_core.clustering.mixture import N_CANDIDATES, fit_mixture, fit_of_partition, shrunk, whitening_of


def two_gaussians() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    noise = random.normal(size=(2000, 2)) * [2.0, 0.5]
    upper = np.arange(2000) < 500
    points = noise + np.where(upper[:, None], [0.0, 3.0], [0.0, -3.0])
    return points.astype(np.float32), np.where(upper, 0, 1)


def test_the_mixture_recovers_two_gaussians_with_one_covariance() -> None:
    points, truth = two_gaussians()
    start = truth.copy()
    start[::7] = 1 - start[::7]  # a seventh starts on the wrong side
    fit = fit_mixture(points, start, 2)
    assert np.allclose(fit.mixture.means, [[0, 3], [0, -3]], atol=0.25)
    assert np.allclose(np.exp(fit.mixture.log_weights), [0.25, 0.75], atol=0.02)
    assert np.array_equal(fit.labels, truth)
    precision = fit.mixture.whitening.T @ fit.mixture.whitening
    # Shrunk by a tenth towards the mean variance (4 + 0.25) / 2.
    assert np.allclose(np.diag(np.linalg.inv(precision)), [0.9 * 4 + 0.2125, 0.9 * 0.25 + 0.2125], rtol=0.1)


def test_log_joint_is_the_weighted_gaussian_density_in_falling_order() -> None:
    points, truth = two_gaussians()
    fit = fit_of_partition(points, truth, 2)
    covariance = np.linalg.inv(fit.mixture.whitening.T @ fit.mixture.whitening)
    gap = points[0] - fit.mixture.means[0]
    density = -0.5 * gap @ np.linalg.solve(covariance, gap) - 0.5 * np.log(np.linalg.det(2 * np.pi * covariance))
    expected = fit.mixture.log_weights[0] + density
    assert np.isclose(fit.log_joint[0, 0] + fit.mixture.log_volume, expected, atol=1e-3)
    assert (fit.log_joint[:, 0] >= fit.log_joint[:, 1]).all()
    joint = fit.log_joint.astype(np.float64) + fit.mixture.log_volume
    assert np.isclose(fit.likelihood, np.log(np.exp(joint).sum(axis=1)).mean(), atol=1e-3)


def test_a_point_looks_at_the_sixteen_components_nearest_to_its_own() -> None:
    random = np.random.default_rng(0)
    means = np.repeat(np.arange(40.0) * 10, 5)[:, None]
    points = (means + random.normal(size=(200, 1)) * 0.1).astype(np.float32)
    points -= points.mean()
    fit = fit_of_partition(points, np.repeat(np.arange(40), 5), 40)
    assert fit.candidates.shape == (200, N_CANDIDATES)
    assert sorted(fit.candidates[0].tolist()) == list(range(16))
    assert fit.candidates[100, 0] == 20


def test_a_covariance_is_shrunk_by_a_tenth_and_whitening_undoes_it() -> None:
    covariance = shrunk(np.array([[3.0, 1.0], [1.0, 1.0]]))
    assert np.allclose(covariance, [[0.9 * 3 + 0.2, 0.9], [0.9, 0.9 * 1 + 0.2]], atol=1e-5)
    whitening = whitening_of(covariance)
    assert np.allclose(whitening @ covariance @ whitening.T, np.eye(2))


def test_equal_points_have_a_mixture_too() -> None:
    fit = fit_mixture(np.zeros((10, 3), dtype=np.float32), np.arange(10) % 2, 2)
    assert np.isfinite(fit.likelihood)
