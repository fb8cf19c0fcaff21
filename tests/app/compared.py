"""What the Compare page shows, read from it."""

from typing import Any

from streamlit.testing.v1 import AppTest

from tests.app import drawn
from tests.app.conftest import QUESTIONS

QUESTION = QUESTIONS[0]["question"]


def rows(app: AppTest) -> list[list[dict[str, Any]]]:
    """Return the passages of each column."""
    return [shown["rows"] for shown in drawn.component(app, "lr_chunk_rows")]


def lanes(app: AppTest) -> list[str]:
    """Return what the lanes of the columns say to a reader who does not see them."""
    return [shown["drawings"][0]["label"] for shown in drawn.component(app, "lr_drawing")]
