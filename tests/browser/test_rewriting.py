"""The upper layers of an index of the built-in models are rewritten by a model at an endpoint, through the page."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from leanrag_core import IndexConfig, Workbench
from leanrag_core.checking.check import check_index
from leanrag_core.types.settings import Settings
from tests.browser.conftest import Server, Watched
from tests.browser.runs import excess_width, settled
from tests.browser.test_story import snap
from tests.endpoint.coast import story
from tests.endpoint.server import EndpointServer

pytestmark = pytest.mark.browser


def test_upper_layers_are_rewritten_stopped_resumed_and_undone(
    server_in: Callable[[Path], Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = Workbench.default(tmp_path / "home")
    corpus = bench.add_documents("Coast", [(f"s{n}.txt", story(n)) for n in range(3)]).corpus_id
    config = IndexConfig(cluster_size=3, tau=1, chunk_tokens=64, overlap_tokens=8)
    before = bench.build(corpus, config, name="Coast")
    top = len(before.layers) - 1

    def names(layer: int) -> list[str]:
        (index,) = bench.indexes.all()
        return [str(name) for name in bench.indexes.open(index.id).layers[layer].entities["name"].to_pylist()]

    with EndpointServer(latency_seconds=0.02) as endpoint:
        server, watched = server_in(tmp_path / "home"), watch()
        page = watched.page

        bench.settings.save(Settings(base_url=endpoint.url, concurrency=2))

        # What it takes, for all layers and for the root alone, before anything is asked.
        page.goto(f"{server.url}/build?corpus={corpus}&rw_model=scripted-chat")
        settled(page)
        page.get_by_text("Rewrite upper layers").first.click()
        whole = bench.rewrites.forecast(before, "openai:scripted-chat")
        expect(page.get_by_text(f"{whole.calls} calls, about")).to_be_visible()
        page.get_by_label("Layers", exact=True).last.click()
        page.get_by_role("option", name="The upper 1").click()
        expect(page.get_by_text("1 call, about")).to_be_visible()
        settled(page)
        page.locator(".st-key-primary_rewrite").scroll_into_view_if_needed()
        snap(page, "rewrite_2_forecast")
        page.get_by_label("Layers", exact=True).last.click()
        page.get_by_role("option", name=f"All {top}").click()
        expect(page.get_by_text(f"{whole.calls} calls, about")).to_be_visible()
        assert endpoint.answered("aggregate_entity") == []

        # It stops at its budget, and goes on.
        page.get_by_label("Budget, calls").fill("3")
        page.keyboard.press("Enter")
        settled(page)
        page.get_by_role("button", name="Rewrite upper layers").click()
        expect(page.get_by_text("stopped at its budget")).to_be_visible(timeout=120_000)
        settled(page)
        page.get_by_text("stopped at its budget").scroll_into_view_if_needed()
        snap(page, "rewrite_3_stopped")
        assert names(top) == before.layers[top].entities["name"].to_pylist()
        page.get_by_label("Calls for the rest").fill("0")
        page.keyboard.press("Enter")
        expect(page.get_by_label("Calls for the rest")).to_have_value("0")
        page.get_by_role("button", name="Resume").click()
        expect(page.get_by_text("The upper layers of Coast are rewritten")).to_be_visible(timeout=120_000)
        expect(page.get_by_text("were written again").first).to_be_visible()
        settled(page)
        snap(page, "rewrite_4_done")
        asked = [call.key for call in endpoint.answered() if call.kind.startswith("aggregate")]
        assert len(asked) == len(set(asked)) == whole.calls
        assert names(top) != before.layers[top].entities["name"].to_pylist()
        (index,) = bench.indexes.all()
        assert [check.detail for check in check_index(bench.indexes.open(index.id)) if not check.ok] == []

        # Undone; to do it again would ask for nothing.
        page.get_by_text("Update and edits").click()
        settled(page)
        page.get_by_role("button", name="Undo the last change").click()
        expect(page.get_by_text("The index is as it was before.")).to_be_visible()
        settled(page)
        assert names(top) == before.layers[top].entities["name"].to_pylist()
        if not page.get_by_text("Every answer is stored: 0 calls").is_visible():
            page.get_by_text("Rewrite upper layers").first.click()
        expect(page.get_by_text("Every answer is stored: 0 calls")).to_be_visible()

        other = watch(390, 844, dark=True)
        other.page.goto(f"{server.url}/build?corpus={corpus}&rw_model=scripted-chat&lang=zh")
        settled(other.page)
        other.page.locator(".st-key-index_rewrite summary, .st-key-index_rewrite").first.click()
        expect(other.page.locator(".st-key-primary_rewrite")).to_be_visible()
        settled(other.page)
        other.page.locator(".st-key-primary_rewrite").scroll_into_view_if_needed()
        assert excess_width(other.page) <= 0
        snap(other.page, "rewrite_5_phone")
        other.assert_clean()
        watched.assert_clean()
