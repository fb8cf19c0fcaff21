"""Tools for strategies that ask no model."""

from collections.abc import Sequence

import numpy as np

from leanrag_core.retrieval.tools import Tools


def _no_texts(texts: Sequence[str]) -> np.ndarray:
    raise AssertionError(f"nothing should be embedded here: {texts}")


TOOLS = Tools(embed=_no_texts)
