"""Two retrievals on one page in a real browser: one moves, the other stays."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import IndexConfig, Workbench
from tests.browser.conftest import Server, Watched
from tests.browser.runs import becomes, settled
from tests.browser.test_story import TEXT, snap

pytestmark = pytest.mark.browser

# Whether the card of a node lies over the right one of the two figures.
OVER_THE_RIGHT = """() => {
  const [card, figure] = [".lr-play .notes", ".lr-graph"].map((name) => document.querySelectorAll(name)[1]);
  if (!card || !figure) return false;
  const [over, under] = [card, figure].map((each) => each.getBoundingClientRect());
  return over.width > 0 && under.left <= over.left && over.left <= under.right;
}"""
QUESTION = "Who built the Marram Point lighthouse?"


def link(page: Page) -> dict[str, list[str]]:
    settled(page)
    return parse_qs(urlsplit(page.url).query)


def test_two_panels_move_apart(server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path / "home")
    corpus = bench.add_documents("Grey Coast", [("coast.md", TEXT.encode())]).corpus_id
    bench.build(corpus, IndexConfig(cluster_size=4, chunk_tokens=64, overlap_tokens=8))
    server, watched = server_in(bench.root, "tests/browser/two_panels_app.py"), watch(width=1800)
    page = watched.page
    question = QUESTION.replace(" ", "+")
    page.goto(f"{server.url}/?q={question}&b_q={question}&b_n=4")
    settled(page)
    left, right = (page.get_by_role("slider", name="Top-N seeds").nth(place) for place in (0, 1))
    expect(left).to_have_value("10")
    expect(right).to_have_value("4")
    expect(page.locator(".lr-graph")).to_have_count(2)
    snap(page, "two_panels")

    # Both handles, quickly one after the other.
    left.press("ArrowLeft")
    right.press("ArrowRight")
    right.press("ArrowRight")
    becomes(page, lambda: [link(page).get(name) for name in ("n", "b_n")], [["9"], ["6"]])
    expect(left).to_have_value("9")
    expect(right).to_have_value("6")

    page.locator(".lr-play").nth(1).get_by_text("2 Climb").click()
    expect(page.locator(".lr-play").nth(1).locator(".part.now")).to_contain_text("Climb")
    expect(page.locator(".lr-play").nth(0).locator(".part.now")).to_contain_text("Answer")
    becomes(page, lambda: [link(page).get(name) for name in ("step", "b_step")], [None, ["climb"]])

    # A node of the right one: its card lies over the right figure, and the left one has none.
    page.locator(".lr-graph").nth(1).locator('.node[role="button"]').first.dispatch_event("click")
    expect(page).to_have_url(re.compile("b_node="))
    becomes(page, lambda: link(page).get("node"), None)
    becomes(page, lambda: page.evaluate(OVER_THE_RIGHT), True)

    # A citation of the left one opens one drawer; closing it moves nothing.
    page.locator(".lr-answer").first.locator(".chip").first.click()
    expect(page.get_by_role("dialog")).to_have_count(1)
    settled(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    # The way back takes the last setting away alone, and the link opens the same again.
    expect(page).to_have_url(re.compile("b_step=climb"))
    before = link(page)
    right.press("ArrowRight")
    expect(page).to_have_url(re.compile("b_n=7"))
    settled(page)
    page.go_back()
    expect(right).to_have_value("6")
    expect(page).to_have_url(re.compile("b_step=climb"))
    expect(page).to_have_url(re.compile("b_node="))
    page.reload()
    becomes(page, lambda: link(page), before)
    expect(left).to_have_value("9")
    expect(right).to_have_value("6")
    watched.assert_clean()
