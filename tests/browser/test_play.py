"""The retrieval as a play, as a person uses it: keyboard, mouse, 30 seeds, a pinned run, a phone, another strategy."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import LOADED_FONTS, Server, Watched
from tests.browser.runs import excess_width, settled
from tests.browser.test_looks import CROSSINGS, OVERLAPS, indexes

pytestmark = pytest.mark.browser

QUESTION = "Why+does+Varroa+destructor+multiply+best+in+drone+brood?"


def played(page: Page) -> Locator:
    """Return the play, once it is drawn."""
    host = page.locator(".lr-play")
    expect(host.locator(".caption")).not_to_be_empty()
    expect(host.locator(".figure svg")).to_be_visible()
    settled(page)
    return host


def test_a_person_plays_a_retrieval(
    sample_home: Path, server_in: Callable[[Path], Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    server, (sample, _) = server_in(sample_home), indexes(sample_home)
    watched = watch()
    page = watched.page
    page.goto(f"{server.url}/ask?index={sample}&q={QUESTION}&n=30&step=seeds")
    host = played(page)
    caption, handle, lit = host.locator(".caption"), host.get_by_role("slider"), host.locator(".node.disc:not(.later)")
    expect(host.locator(".part.now")).to_contain_text("1 Seeds 30")
    expect(lit).to_have_count(30)
    expect(host.locator(".tray").first).to_be_visible()
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(CROSSINGS) == []

    # By keyboard: a frame back lights the best seed alone; the URL follows without a run of the page.
    handle.focus()
    page.keyboard.press("ArrowLeft")
    expect(lit).to_have_count(1)
    expect(caption).to_contain_text("comes first")
    expect(page).to_have_url(re.compile("step=seeds.1"))
    page.keyboard.press("PageDown")
    page.keyboard.press("PageUp")
    expect(page).to_have_url(re.compile("step=climb"))
    page.keyboard.press("Home")
    expect(handle).to_have_attribute("aria-valuenow", "1")

    # It plays by itself, and stops when it is asked to.
    host.get_by_label("Speed").select_option("4")
    host.get_by_role("button", name="Play", exact=True).click()
    expect(handle).not_to_have_attribute("aria-valuenow", "1")
    host.get_by_role("button", name="Pause", exact=True).click()
    expect(host.get_by_role("button", name="Play", exact=True)).to_be_visible()

    # By mouse: the handle is dragged over all segments; a tray lists its seeds at the right and moves nothing.
    part = host.locator(".part").nth(4).bounding_box()
    held = handle.bounding_box()
    assert part is not None
    assert held is not None
    page.mouse.move(held["x"] + 7, held["y"] + 7)
    page.mouse.down()
    page.mouse.move(part["x"] + 4, part["y"] + 4, steps=4)
    page.mouse.up()
    expect(host.locator(".part.now")).to_contain_text("Chunks")
    expect(caption).to_contain_text("comes first because")
    expect(host.locator(".thread.now").first).to_be_visible()
    before = host.locator(".figure svg").bounding_box()
    host.locator(".tray-more").first.dispatch_event("click")
    expect(host.locator(".notes .close")).to_be_visible()
    assert host.locator(".figure svg").bounding_box() == before
    page.keyboard.press("Escape")

    # A pinned run: with fewer seeds those that left are struck through.
    page.get_by_role("button", name="Pin this run").click()
    expect(page.get_by_role("button", name="Unpin")).to_be_visible()
    seeds = page.get_by_role("slider", name="Top-N seeds")
    seeds.focus()
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("Since the pinned run")).to_be_visible()
    expect(host.locator(".node.left")).not_to_have_count(0)
    settled(page)

    # The file of the play opens without the server.
    with page.expect_download() as download:
        page.get_by_role("button", name="Play as HTML").click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    assert saved.suffix == ".html"
    alone = watch()
    alone.page.goto(saved.as_uri())
    assert "Source Sans" in str(alone.page.evaluate(LOADED_FONTS))
    offline = alone.page.locator("main")
    expect(offline.get_by_role("slider")).to_have_attribute("aria-valuenow", "1")
    offline.get_by_role("button", name="Next", exact=True).click()
    expect(offline.get_by_role("slider")).to_have_attribute("aria-valuenow", "2")
    alone.assert_clean()
    watched.assert_clean()


def test_the_play_of_another_strategy_on_a_phone(
    sample_home: Path, server_in: Callable[[Path], Server], watch: Callable[..., Watched]
) -> None:
    server, (sample, _) = server_in(sample_home), indexes(sample_home)
    watched = watch(390, 844)
    page = watched.page
    page.goto(f"{server.url}/ask?index={sample}&q={QUESTION}&strategy=vector&step=chunks.1")
    host = played(page)
    expect(host.locator(".card:not(.later)")).to_have_count(1)
    host.get_by_role("button", name="Next", exact=True).click()
    expect(host.locator(".card:not(.later)")).to_have_count(2)
    expect(host.locator(".caption")).to_contain_text("with a score of")
    host.get_by_role("button", name="Show as table").click()
    expect(host.locator("table tr")).not_to_have_count(0)
    expect(page).to_have_url(re.compile("show=table"))
    assert excess_width(page) <= 0
    handle, part = host.get_by_role("slider").bounding_box(), host.locator(".part.now .line").bounding_box()
    assert handle is not None
    assert part is not None
    assert abs(handle["y"] + handle["height"] / 2 - part["y"]) < 8, "the handle is on its segment's row"
    host.get_by_role("slider").press("End")
    expect(host.locator(".part.now")).to_have_count(1)
    assert excess_width(page) <= 0, "at the last step, too"
    watched.assert_clean()


# Counts who listens for marks.
LISTENING = """() => {
  const listeners = (globalThis.listeners = new Set());
  for (const [name, change] of [["addEventListener", "add"], ["removeEventListener", "delete"]]) {
    const own = globalThis[name];
    globalThis[name] = (type, listener, ...others) => {
      if (type === "lr-marks") listeners[change](listener);
      own.call(globalThis, type, listener, ...others);
    };
  }
}"""


def test_a_moved_slider_leaves_no_listeners_of_the_play_before(
    sample_home: Path, server_in: Callable[[Path], Server], watch: Callable[..., Watched]
) -> None:
    server, (sample, _) = server_in(sample_home), indexes(sample_home)
    watched = watch()
    page = watched.page
    page.add_init_script(f"({LISTENING})()")
    page.goto(f"{server.url}/ask?index={sample}&q={QUESTION}")
    played(page)
    before = page.evaluate("listeners.size")
    assert before == 3, "the play, the answer, and what the structure brought"
    seeds = page.get_by_role("slider", name="Top-N seeds")
    seeds.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        expect(page.get_by_text("What changed")).to_be_visible()
        settled(page)
    assert page.evaluate("listeners.size") == before
    watched.assert_clean()
