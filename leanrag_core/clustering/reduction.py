"""Principal components of unit vectors: where the mixture is fitted."""

import numpy as np

_RELATIVE_FLOOR = 1e-9  # of the largest variance; directions below it are rounding noise


def principal_components(vectors: np.ndarray, n_components: int) -> np.ndarray:
    """Project rows on their directions of largest variance.

    vectors: (n, d). Returns (n, k) float64 with 1 <= k <= n_components, centred, the sign of each direction fixed by
    its largest coordinate. k falls below n_components when the rows have no more variance; rows that are all equal
    give one column of zeros. An engineering choice for speed (eq. 3 clusters the embeddings themselves).
    """
    centred = np.asarray(vectors, dtype=np.float64)
    centred = centred - centred.mean(axis=0)
    n, d = centred.shape
    if n < d:  # the same directions from the smaller Gram matrix
        variances, left = np.linalg.eigh(centred @ centred.T)
        axes = centred.T @ left[:, ::-1][:, :n_components]
    else:
        variances, axes = np.linalg.eigh(centred.T @ centred)
        axes = axes[:, ::-1][:, :n_components]
    variances = variances[::-1][:n_components]
    kept = variances > max(float(variances[0]) * _RELATIVE_FLOOR, n * d * 1e-14)
    if not kept.any():
        return np.zeros((n, 1))
    axes = axes[:, kept]
    axes /= np.linalg.norm(axes, axis=0)
    largest = np.abs(axes).argmax(axis=0)
    axes *= np.where(axes[largest, np.arange(axes.shape[1])] < 0, -1.0, 1.0)
    return centred @ axes
