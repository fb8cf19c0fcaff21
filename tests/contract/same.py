"""Whether two values hold the same, down to the arrays in them."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse


def assert_same(left: Any, right: Any) -> None:
    """Fail where the two differ; objects are compared by what they hold."""
    assert type(left) is type(right)
    if isinstance(left, np.ndarray):
        np.testing.assert_array_equal(left, right)
    elif issparse(left):
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(left, part), getattr(right, part))
    elif isinstance(left, Mapping):
        assert list(left) == list(right)
        for key in left:
            assert_same(left[key], right[key])
    elif isinstance(left, Sequence) and not isinstance(left, str | bytes):
        assert len(left) == len(right)
        for first, second in zip(left, right, strict=True):
            assert_same(first, second)
    elif is_dataclass(left) and type(left).__eq__ is object.__eq__:
        for each in fields(left):
            assert_same(getattr(left, each.name), getattr(right, each.name))
    elif hasattr(left, "__dict__") and type(left).__eq__ is object.__eq__:
        assert_same(vars(left), vars(right))
    else:
        assert left == right
