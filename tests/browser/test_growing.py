"""While a build runs its graph grows on the page: seen, cancelled, resumed and seen to its end."""

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import Workbench
from leanrag_core.types.settings import Settings
from tests.browser.conftest import Server, Watched
from tests.browser.runs import becomes
from tests.browser.test_story import snap
from tests.endpoint.server import EndpointServer
from tests.waiting import until

pytestmark = pytest.mark.browser
BUILDING = 240_000  # milliseconds: a busy machine is no failure


def dots(page: Page) -> int:
    return page.locator(".lr-growing .dot").count()


def first_places(page: Page) -> object:
    """Return where the first ten entities stand, once they have come to rest."""
    return page.locator(".lr-growing").last.evaluate("e => e.lrGrown.nodes.slice(0, 10).map(n => [n.to.x, n.to.y])")


def letters() -> bytes:
    """Return a file about 64 people who write to each other, a few in each chunk."""
    first = ("Ada", "Bela", "Carl", "Dora", "Edgar", "Flora", "Gustav", "Hedda")
    last = ("Thornbury", "Kraus", "Ohm", "Lind", "Moss", "Penn", "Rau", "Sand")
    people = [f"{first[n % 8]} {last[(n + n // 8) % 8]}" for n in range(64)]
    lines = [f"{writer} wrote long letters about the harbour to {reader}." for writer, reader in pairwise(people)]
    return "\n\n".join(lines).encode()


def test_the_graph_grows_stops_with_its_build_and_grows_again(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = Workbench.default(tmp_path / "home")
    corpus = bench.add_documents("Letters", [("letters.txt", letters())]).corpus_id
    form = "b_engine=Endpoint&b_model=scripted-chat&b_chunk_tokens=64&b_overlap_tokens=8&b_cluster_size=4"
    with EndpointServer(latency_seconds=0.2) as endpoint:
        bench.settings.save(Settings(base_url=endpoint.url, concurrency=1))
        server, watched = server_in(tmp_path / "home"), watch(moving=True)
        page = watched.page
        page.goto(f"{server.url}/build?corpus={corpus}&{form}")
        page.locator("[class*=st-key-primary_] button").click()
        until(lambda: len(endpoint.answered("extract_graph")) >= 5)
        endpoint.held = frozenset({"extract_graph", "aggregate_entity"})  # until what was found is seen
        picture = page.locator(".lr-growing svg").last  # while the layout changes the one before is still there
        expect(picture).to_have_attribute(
            "aria-label", re.compile(r"^\d+ entities, \d+ relations so far\."), timeout=BUILDING
        )
        becomes(page, lambda: dots(page) >= 10, True)
        places, n = first_places(page), dots(page)
        endpoint.held = frozenset({"aggregate_entity"})
        becomes(page, lambda: dots(page) > n, True)
        assert first_places(page) == places, "nothing moves when others come"
        snap(page, "growing")

        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_text(re.compile("relations when the build was cancelled"))).to_be_visible(timeout=BUILDING)
        assert dots(page) >= n
        snap(page, "growing_cancelled")

        endpoint.held, endpoint.latency_seconds = frozenset({"aggregate_entity"}), 0.05
        page.get_by_role("button", name="Resume").click()
        expect(picture).to_have_attribute("aria-label", re.compile("so far"), timeout=BUILDING)
        endpoint.held = frozenset()
        expect(page.locator(".lr-growing .ring").first).to_be_attached(timeout=BUILDING)
        expect(picture).to_have_attribute("aria-label", re.compile(r"\d+ clusters, above them \d"), timeout=BUILDING)
        expect(page.locator(".lr-growing .ring.l2").first).to_be_attached()
        expect(page.locator(".lr-growing .ring title").first).to_have_text(re.compile(r"\w"))
        grown = page.locator(".lr-growing").last
        assert grown.evaluate("e => e.lrGrown.nodes.every(n => n.to.x >= 0 && n.to.x <= 640)")
        expect(page.locator(".lr-growing .rings.there").last).to_be_attached()
        snap(page, "growing_done")
        watched.assert_clean()
