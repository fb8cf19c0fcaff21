"""Small sets of vectors for the tests of clustering."""

import numpy as np


def unit(rows: np.ndarray) -> np.ndarray:
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return rows.astype(np.float32)


def bundles(sizes: list[int], d: int = 16, spread: float = 0.02, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors close to one axis for each bundle, and which bundle each belongs to."""
    random = np.random.default_rng(seed)
    bundle = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return unit(np.eye(d)[bundle] + spread * random.normal(size=(len(bundle), d))), bundle


def planted(n: int, d: int = 96, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors in clusters of 20 that overlap in every few dimensions and are apart in all of them."""
    random = np.random.default_rng(seed)
    leaf = random.integers(0, n // 20, size=n)
    centres = random.normal(size=(n // 20, d))
    return unit(centres[leaf] + 1.4 * random.normal(size=(n, d))), leaf
