"""A second index of the same corpus gives the first one another title while a page shows it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from leanrag_core import IndexConfig, Workbench
from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled
from tests.browser.test_story import TEXT

pytestmark = pytest.mark.browser


def test_the_chosen_index_stays_chosen_under_its_new_title(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = Workbench.default(tmp_path / "home")
    corpus = bench.add_documents("Coast", [("coast.md", TEXT.encode())]).corpus_id
    bench.build(corpus, IndexConfig(cluster_size=4, chunk_tokens=64, overlap_tokens=8))
    watched = watch()
    page = watched.page
    page.goto(f"{server_in(bench.root).url}/ask?n=6")
    settled(page)
    index = page.get_by_role("combobox", name="Index")
    expect(index).to_have_value("Coast")
    bench.build(corpus, IndexConfig(cluster_size=5, chunk_tokens=64, overlap_tokens=8))
    for n in ("7", "8", "9"):
        page.get_by_role("slider", name="Top-N seeds").press("ArrowRight")
        settled(page)
        expect(page.get_by_role("slider", name="Top-N seeds")).to_have_value(n)
        page.get_by_role("link", name="Ask").click()  # a slider alone does not run the frame again
        settled(page)
        expect(page.get_by_role("combobox", name="Index")).to_have_value("Coast, clustersize 4")
        expect(page.get_by_role("textbox", name="Question")).to_be_visible()
    # A person takes the other one and comes back.
    for title in ("Coast, clustersize 5", "Coast, clustersize 4"):
        page.get_by_role("combobox", name="Index").click()
        page.get_by_role("option", name=title).click()
        settled(page)
        expect(page.get_by_role("combobox", name="Index")).to_have_value(title)
        assert "index=None" not in page.url
    watched.assert_clean()
