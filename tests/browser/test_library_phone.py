"""The Library on a phone."""

from collections.abc import Callable
from pathlib import Path

import pytest

from leanrag_core import Workbench
from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled

pytestmark = pytest.mark.browser


def test_a_long_name_has_the_whole_width_above_its_buttons(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = Workbench.default(tmp_path / "home")
    corpus = bench.add_documents("A name of a corpus <b>that</b> goes on " * 4, [("a.txt", b"Bees live in hives.")])
    page = watch(width=390, height=844).page
    page.goto(f"{server_in(bench.root).url}/library?corpus={corpus.corpus_id}")
    settled(page)
    boxes = [page.locator(f".st-key-{key}").bounding_box() for key in ("documents_title", "build_open")]
    title, button = (box for box in boxes if box is not None)
    assert title["width"] == 360
    assert button["y"] >= title["y"] + title["height"]
