"""Vectors whose clusters are known: a three-level Gaussian mixture on the unit sphere.

What is planted imitates MiniLM embeddings of entity descriptions: the covariance of every level has the spectrum
measured on 13,133 entities of an index (64 principal components explain .6 of it), there are n / 20 leaves of
log-normal sizes, and 55 % of the variance lies within leaves, so that a vector's nearest neighbour has a cosine of
about .55 and PCA alone does not find the leaves.
"""

from dataclasses import dataclass

import numpy as np

DIMENSIONS = 384
LEAF_SIZE = 20
SIZE_SIGMA = 0.6
LEVELS = (0.19, 0.15, 0.11, 0.55)  # shares of the variance: stems, branches, leaves, within leaves
_FANOUT = 8  # leaves of a branch, branches of a stem
_BLOCK = 8192

# Share of the variance along principal component r, between which log shares are interpolated.
_RANKS = (0, 1, 2, 3, 5, 8, 12, 20, 32, 48, 64, 96, 128, 192, 256, 320, 360, 383)
_SHARES = (
    *(0.0356, 0.0283, 0.0248, 0.0215, 0.0177, 0.0147, 0.0122, 0.00947, 0.00723),
    *(0.00564, 0.00457, 0.00306, 0.00223, 0.00123, 0.000526, 0.000156, 0.0000766, 0.00001),
)


@dataclass(frozen=True, eq=False)
class Planted:
    """vectors: (n, 384) float32, unit rows. leaf: (n,) int32, the leaf that each row was drawn from."""

    vectors: np.ndarray
    leaf: np.ndarray


def spectrum(dimensions: int = DIMENSIONS) -> np.ndarray:
    """Return the (dimensions,) share of the variance along each principal component, falling, summing to one."""
    ranks = np.arange(dimensions) * (DIMENSIONS / dimensions)
    shares = np.exp(np.interp(ranks, _RANKS, np.log(_SHARES)))
    return np.asarray(shares / shares.sum())


def planted(n: int, seed: int = 0, into: np.ndarray | None = None) -> Planted:
    """Return n vectors of a planted hierarchy; the same n and seed give the same vectors. into: (n, 384) float32, takes
    them, such as the map of a file."""
    random = np.random.default_rng([seed, n])
    n_leaves = max(1, round(n / LEAF_SIZE))
    n_branches = max(1, round(n_leaves / _FANOUT))
    n_stems = max(1, round(n_branches / _FANOUT))
    scale = np.sqrt(spectrum()).astype(np.float32)
    of_stem, of_branch, of_leaf, within = np.sqrt(LEVELS).astype(np.float32)

    def drawn(rows: int) -> np.ndarray:
        return np.asarray(random.standard_normal((rows, DIMENSIONS), dtype=np.float32) * scale)

    stems = of_stem * drawn(n_stems)
    branches = stems[random.integers(0, n_stems, n_branches)] + of_branch * drawn(n_branches)
    leaves = branches[random.integers(0, n_branches, n_leaves)] + of_leaf * drawn(n_leaves)
    weights = random.lognormal(0.0, SIZE_SIGMA, n_leaves)
    leaf = random.choice(n_leaves, size=n, p=weights / weights.sum()).astype(np.int32)
    rotation = np.linalg.qr(random.standard_normal((DIMENSIONS, DIMENSIONS)))[0].astype(np.float32)
    vectors = np.empty((n, DIMENSIONS), dtype=np.float32) if into is None else into
    for start in range(0, n, _BLOCK):
        rows = leaf[start : start + _BLOCK]
        block = (leaves[rows] + within * drawn(len(rows))) @ rotation
        vectors[start : start + _BLOCK] = block / np.linalg.norm(block, axis=1, keepdims=True)
    return Planted(vectors, leaf)
