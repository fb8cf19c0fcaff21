"""Transition matrices of walks over weighted graphs."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # scipy takes a tenth of a second to import
    from scipy.sparse import csr_array


def normalised(weights: "csr_array") -> "csr_array":
    """Return the transition matrix of a graph: weights of the edges j -> i in [i, j], each column divided by its
    sum.

    weights: (n, n), not negative; entry [i, j] is the weight from j to i. Columns without an edge stay empty.
    """
    from scipy.sparse import diags_array

    sums = np.asarray(weights.sum(axis=0)).ravel()
    inverse = np.divide(1.0, sums, out=np.zeros(len(sums)), where=sums > 0)
    return (weights @ diags_array(inverse)).tocsr()
