"""Tools for strategies that ask no model."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from leanrag_core.retrieval.tools import Tools


def _no_texts(texts: Sequence[str]) -> np.ndarray:
    raise AssertionError(f"nothing should be embedded here: {texts}")


TOOLS = Tools(embed=_no_texts)


def with_parts(tools: Tools, **parts: object) -> Tools:
    """Return the tools with those index parts."""
    return replace(tools, part=parts.__getitem__)
