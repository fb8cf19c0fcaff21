"""axe finds nothing serious on any page and state, some of each page in either theme and language; the tour of a first
visit."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import Page, expect

from leanrag_core import IndexConfig
from pages.common.frame import PAGES
from tests.browser.conftest import Server, Watched, start_server
from tests.browser.states import states
from tests.browser.test_endpoint_story import home_with_documents
from tests.browser.test_story import settled, snap

pytestmark = pytest.mark.browser

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
SERIOUS = """async () => (await axe.run(document, {resultTypes: ['violations'], preload: false})).violations
  .filter((rule) => ['serious', 'critical'].includes(rule.impact))
  .flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 200)}`))"""
STATES = states("Who built the Marram Point lighthouse?")


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Server]]:
    """Yield an app with an index, and one with documents alone."""
    folder = tmp_path_factory.mktemp("axe")
    bench, corpus = home_with_documents(folder / "home")
    bench.build(corpus, IndexConfig(chunk_tokens=64, overlap_tokens=8, cluster_size=4))
    home_with_documents(folder / "bare")
    running = start_server(folder / "home", "app.py"), start_server(folder / "bare", "app.py")
    yield running
    for server in running:
        server.process.terminate()
        server.process.wait(timeout=20)


def serious(page: Page) -> list[str]:
    page.evaluate(AXE)
    return list(page.evaluate(SERIOUS))


def test_no_page_or_state_has_a_serious_finding(servers: tuple[Server, Server], watch: Callable[..., Watched]) -> None:
    watched = watch()
    page = watched.page
    with_index, bare = servers
    # Explore and Evaluate are among their views and tabs. A page by itself is in Chinese, its states are in English;
    # the states of each page are by turns light and dark.
    chinese = ("explore_hierarchy", "evaluate_results", *(name for name, _ in PAGES))
    addresses = [
        f"{with_index.url}/{path}{'&' if '?' in path else '?'}lang={'zh' if name in chinese else 'en'}"
        for name, path in STATES.items()
        if name not in ("explore", "evaluate")
    ]
    # The same frames without an index, in English.
    addresses += [f"{bare.url}/{name}?lang=en" for name in ("library", "build", "ask")]
    findings_of = {}
    for number, address in enumerate(addresses):
        page.emulate_media(color_scheme="dark" if number % 2 else "light")
        page.goto(address)
        settled(page)
        findings_of[address] = serious(page)
    assert {address: findings for address, findings in findings_of.items() if findings} == {}
    watched.assert_clean()


def test_the_tour_is_walked_by_keyboard_skipped_and_seen_again(
    servers: tuple[Server, Server], watch: Callable[..., Watched]
) -> None:
    watched = watch(first_visit=True)
    page = watched.page
    tour = page.get_by_role("region", name="A short tour")
    page.goto(f"{servers[0].url}/ask?q=Who+watches")
    settled(page)
    expect(tour, "a link opens what it names").to_have_count(0)
    page.goto(servers[0].url)
    settled(page)
    expect(tour.get_by_role("heading", name="Begin with documents")).to_be_visible()
    expect(page.locator("a.lr-tour-at")).to_have_attribute("href", re.compile("/library$"))
    assert serious(page) == []
    snap(page, "tour")
    beside = page.get_by_test_id("stSidebar").bounding_box()
    card = tour.bounding_box()
    assert beside is not None
    assert card is not None
    assert card["x"] + card["width"] <= beside["x"] + beside["width"], "it covers nothing of the page"
    page.goto(servers[0].url)
    settled(page)
    expect(tour, "it was seen").to_have_count(0)

    page.get_by_role("link", name="Settings", exact=True).click()
    page.get_by_role("button", name="Show the tour again").click()
    expect(tour.get_by_text("Step 1 of 3")).to_be_visible()
    tour.get_by_role("button", name="Next").press("Enter")
    expect(tour.get_by_role("button", name="Next")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("a.lr-tour-at")).to_have_attribute("href", re.compile("/ask$"))
    expect(tour.get_by_text("Step 3 of 3")).to_be_visible()
    tour.get_by_role("button", name="Open Ask").click()
    expect(page.get_by_role("heading", name="Ask", exact=True)).to_be_visible()
    expect(tour.get_by_text("Step 3 of 3"), "it goes on on the next page").to_be_visible()
    tour.get_by_role("button", name="Done").press("Escape")
    expect(tour).to_have_count(0)
    page.get_by_role("link", name="Settings", exact=True).click()
    page.get_by_role("button", name="Show the tour again").click()
    expect(tour.get_by_text("Step 1 of 3")).to_be_visible()
    tour.get_by_role("button", name="Skip the tour").click()
    expect(tour).to_have_count(0)
    watched.assert_clean()
