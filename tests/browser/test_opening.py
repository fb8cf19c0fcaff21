"""A first start opens on the prepared index; an example shows what the structure brought; rivals are counted."""

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled


def brought(page: Page) -> None:
    expect(page.get_by_role("heading", name="What the structure brought")).to_be_visible()
    expect(page.get_by_text(re.compile(r"\d+ of \d+ items came by the climb alone,"))).to_be_visible()


def held_marks(page: Page) -> None:
    """Hold marks of what came by the climb alone: one at a time is shown by the list and the figure, until Escape."""
    chips, figure, legend = (
        page.locator(".lr-brought .chip"),
        page.locator(".lr-play svg"),
        page.locator(".lr-play .legend"),
    )
    expect(legend.get_by_text("by the climb alone")).to_be_visible()
    expect(figure.locator(".climb-sign").first).to_be_attached()
    for chip in (chips.first, chips.last, chips.first):
        chip.click()
        expect(chip).to_have_attribute("aria-pressed", "true")
        expect(page.locator('.lr-brought .chip[aria-pressed="true"]')).to_have_count(1)
        expect(page.locator(".lr-play svg.holding .kept").first).to_be_attached()
        expect(page.locator(".lr-play svg.holding .node:not(.kept)").first).to_be_attached()
    page.keyboard.press("Escape")
    expect(page.locator('.lr-brought .chip[aria-pressed="true"]')).to_have_count(0)
    chips.first.focus()
    page.mouse.move(0, 0)
    expect(page.locator(".lr-play svg.holding")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.locator(".lr-play svg.holding")).to_have_count(1)
    chips.first.click()
    page.mouse.move(0, 0)
    expect(page.locator(".lr-play svg.holding")).to_have_count(0)


def test_a_first_start_opens_on_a_whole_index_and_shows_what_the_structure_brought(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    server, watched = server_in(tmp_path / "home", first_build=True), watch()
    page = watched.page
    page.goto(f"{server.url}/explore")
    expect(page.locator(".lr-blocks .block").first).to_be_visible()
    assert not list((server.home / "jobs").glob("*/spec.json")), "nothing has to be built"

    page.goto(f"{server.url}/ask")
    expect(page.get_by_text("Chosen by measurement on the sample's first index (clustersize 16)")).to_be_visible()
    page.get_by_role("button", name=re.compile("decoded the waggle dance")).click()
    brought(page)
    held_marks(page)
    expect(page.get_by_text(re.compile("the others take"))).to_have_count(0)
    page.get_by_role("button", name="Count the other systems").click()
    expect(page.get_by_text(re.compile("the others take"))).to_be_visible(timeout=120_000)
    expect(page.locator(".lr-rivals tr")).to_have_count(6)
    expect(page.locator(".lr-rivals tr").first.locator(".lr-gold")).to_be_visible()
    settled(page)

    # Another question starts anew, and is counted again; the first one stays counted.
    page.goto(f"{server.url}/ask")
    page.get_by_role("button", name=re.compile("From what kind of eggs")).click()
    brought(page)
    page.get_by_role("button", name="Count the other systems").click()
    expect(page.get_by_text(re.compile("the others take"))).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page).to_have_url(re.compile("/compare"))
    settled(page)
    watched.assert_clean()
