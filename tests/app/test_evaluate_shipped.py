"""Evaluate on a first visit: the experiments that come with the program."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from tests.app import drawn


@pytest.mark.parametrize("tab", ["results", "questions"])
def test_evaluate_opens_on_something_real(home: Workbench, visit: Callable[..., AppTest], tab: str) -> None:
    shipped = [each for each in home.experiments.store.all() if each.is_shipped]
    app = visit("evaluate", home, tab=tab)
    drawn.assert_sound(app)
    text = drawn.text(app)
    assert len(shipped) >= 4
    assert "LeanRAG" in text
    assert "Naive RAG" in text
    assert "No experiment yet" not in text
