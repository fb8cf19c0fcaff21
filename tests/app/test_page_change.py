"""A page that was left is not brought back by a click that comes late."""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from pages.common import page_change
from tests.app import drawn


def heading(app: AppTest) -> str:
    drawn.assert_sound(app)
    [title] = re.findall(r'aria-level="1">(.*?)</span>', " ".join(drawn.html(app)))
    return str(title)


@pytest.mark.parametrize(("seconds", "drawn_page"), [(0, "Build"), (6, "Library")])
def test_a_click_on_the_page_that_was_left_opens_the_other_one_again_for_some_seconds(
    visit: Callable[..., AppTest], home: Workbench, seconds: float, drawn_page: str
) -> None:
    app: Any = visit("library", home)
    app.session_state[page_change._KEY] = page_change._PageChange("library", "build", time.monotonic() - seconds)
    assert heading(app.run()) == drawn_page
    assert page_change._KEY not in app.session_state
