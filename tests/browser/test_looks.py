"""What is drawn can be read and reached: the layered graph, its card, the drawer's way back, text from the right, axe's
properties. One home with two indexes, one of them of Arabic and Hebrew texts."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import Workbench
from tests.app.test_directions import QUESTION
from tests.browser.conftest import Server, Watched
from tests.browser.runs import becomes
from tests.browser.test_story import settled

pytestmark = pytest.mark.browser

# Places on every line of the figure that lie inside a box that the line does not belong to.
CROSSINGS = """() => {
  const inside = (p, b) => p.x > b.left + 1 && p.x < b.right - 1 && p.y > b.top + 1 && p.y < b.bottom - 1;
  const shapes = [...document.querySelectorAll('.lr-graph .node:not(.card)')].map((node) => [
    node.dataset.id, node.querySelector('.shape, .tray-shape').getBoundingClientRect()]);
  const crossed = [];
  for (const line of document.querySelectorAll('.lr-graph .edge')) {
    const own = [line.dataset.from, line.dataset.to], to = line.getScreenCTM(), all = line.getTotalLength();
    for (let step = 0; step <= 40; step++) {
      const p = line.getPointAtLength(all * step / 40).matrixTransform(to);
      for (const [id, box] of shapes) if (!own.includes(id) && inside(p, box)) crossed.push([own, id]);
    }
  }
  return crossed;
}"""
# Pairs of texts of the figure that lie on one another.
OVERLAPS = """() => {
  const seen = (one) => one.textContent.trim() && one.checkVisibility({ visibilityProperty: true });
  const texts = [...document.querySelectorAll('.lr-graph text')].filter(seen);
  const boxes = texts.map((one) => [one.textContent, one.getBoundingClientRect()]);
  const pairs = [];
  boxes.forEach(([a, p], n) => boxes.slice(n + 1).forEach(([b, q]) => {
    const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
    const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    if (wide > 1 && high > 4) pairs.push([a, b]);
  }));
  return pairs;
}"""
# Labels of the schema that lie on one another or on the box of a type.
SCHEMA_OVERLAPS = """() => {
  const drawn = [...document.querySelectorAll('.lr-schema g.pair-pill, .lr-schema g.type')];
  const box = (each) => each.querySelector('.shape, rect:not(.ring)').getBoundingClientRect();
  const boxes = drawn.map((each) => [each.textContent, box(each)]);
  const on = (p, q) => p.left < q.right && q.left < p.right && p.top < q.bottom && q.top < p.bottom;
  return boxes.flatMap(([a, p], n) => boxes.slice(n + 1).filter(([, q]) => on(p, q)).map(([b]) => [a, b]));
}"""
# Boxes that scroll and hold nothing that takes the focus, so that the keyboard cannot scroll them.
STUCK = """() => [...document.querySelectorAll('[data-testid="stMainBlockContainer"] *')].filter((box) => {
  const style = getComputedStyle(box);
  if (!/auto|scroll/.test(style.overflowY) || box.scrollHeight <= box.clientHeight + 2) return false;
  const takes = 'a[href], button, input, textarea, select, summary, [tabindex]:not([tabindex="-1"])';
  return !box.matches(takes) && !box.querySelector(takes) && !box.closest('[data-testid="stDataFrame"]');
}).map((box) => box.className)"""
# Contrast of muted text below 4.5. Opacity counts, as it is what Streamlit's captions are made with.
FAINT = """() => {
  const parse = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (c) => c.slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
  const ground = parse(getComputedStyle(document.querySelector('.stApp')).backgroundColor);
  const faint = [];
  const muted = '.lr-muted, .lr-label, .lr-hint, .lr-small, [data-testid="stCaptionContainer"]';
  for (const one of document.querySelectorAll(muted)) {
    let opacity = 1;
    for (let up = one; up; up = up.parentElement) opacity *= Number(getComputedStyle(up).opacity);
    const ink = parse(getComputedStyle(one).color), alpha = (ink[3] ?? 1) * opacity;
    const seen = [0, 1, 2].map((n) => ink[n] * alpha + ground[n] * (1 - alpha));
    const [a, b] = [light(seen), light(ground)].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) faint.push(one.textContent.slice(0, 60));
  }
  return faint;
}"""
# Own drawings whose aria-label hides the words that are seen in them.
MISNAMED = """() => [...document.querySelectorAll('.lr-graph [aria-label], .lr-blocks [aria-label]')]
  .filter((one) => one.tagName === 'g').map((one) => one.getAttribute('aria-label'))"""
# Where it is in the window.
PLACE = "element => element.getBoundingClientRect().toJSON()"


def indexes(home: Path) -> tuple[str, str]:
    listed = {index.corpus_id: index.id for index in Workbench.default(home).indexes.all()}
    sample = listed.pop("sample-agriculture")
    return sample, *listed.values()


def see(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.locator(".lr-graph svg, .lr-blocks svg, .lr-card").first).to_be_visible()
    settled(page)


def assert_within_reach(page: Page) -> None:
    for offences in (STUCK, FAINT, MISNAMED):
        becomes(page, partial(page.evaluate, offences), [])


def test_the_figure_is_readable_and_what_opens_gives_the_focus_back(
    sample_home: Path, server_in: Callable[[Path], Server], watch: Callable[..., Watched]
) -> None:
    server, (sample, mixed) = server_in(sample_home), indexes(sample_home)
    watched = watch()
    page = watched.page
    asked = quote("Why does Varroa destructor multiply best in drone brood, and who treats it with oxalic acid?")
    see(page, f"{server.url}/ask?index={sample}&q={asked}&n=10")  # with 30 seeds: test_play.py
    expect(page.locator(".lr-graph .edge").first).to_be_attached()
    for offences in (CROSSINGS, OVERLAPS):
        becomes(page, partial(page.evaluate, offences), [])

    # A node's card lies over the figure, in sight, and moves nothing; Escape closes it and goes back to the node.
    evidence = page.get_by_text("Source chunks", exact=False).last
    before = evidence.evaluate(PLACE)
    node = page.locator(".lr-graph .node[data-role=seed]").first
    node.click()
    card = page.locator(".lr-play .notes .close")
    expect(card).to_be_in_viewport(ratio=0.9)
    settled(page)
    becomes(page, lambda: evidence.evaluate(PLACE), before)
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    expect(node).to_be_focused()
    settled(page)

    # A drawer gives the focus back to the mark that opened it.
    chip = page.locator(".lr-answer .chip[data-section=chunks]").first
    chip.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    settled(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(chip).to_be_focused()

    page.get_by_text("The context as the answer sees it").click()
    settled(page)
    assert_within_reach(page)
    see(page, f"{server.url}/explore?index={sample}")
    assert_within_reach(page)

    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{server.url}/explore?view=schema&index={sample}")
        expect(page.locator(".lr-schema .pair-pill.kind").first).to_be_visible()
        settled(page)
        becomes(page, partial(page.evaluate, SCHEMA_OVERLAPS), [])
    page.set_viewport_size({"width": 1440, "height": 900})

    # Text from right to left: answers and passages are aligned right, and a name does not move the number after it.
    see(page, f"{server.url}/ask?index={mixed}&q={quote(QUESTION)}")
    sentence = page.locator(".lr-answer p").first
    expect(sentence).to_have_css("direction", "rtl")
    placed = """(one) => { const range = document.createRange(), text = one.firstChild, at = text.data.indexOf('2 doc');
      range.setStart(text, 0); range.setEnd(text, 3); const name = range.getBoundingClientRect();
      range.setStart(text, at); range.setEnd(text, at + 1); return [name.left, range.getBoundingClientRect().left]; }"""
    name, number = page.locator(".lr-head .s").first.evaluate(placed)
    assert name < number
    watched.assert_clean()


def test_in_a_narrow_window_the_button_keeps_its_word_an_error_is_not_covered_and_documents_come_into_sight(
    sample_home: Path, server_in: Callable[[Path], Server], watch: Callable[..., Watched]
) -> None:
    server, watched = server_in(sample_home), watch(800, 900, dark=True)
    page = watched.page
    see(page, f"{server.url}/ask?index={indexes(sample_home)[0]}&q=varroa")
    button = page.get_by_role("button", name="Ask", exact=False).first
    becomes(page, lambda: button.evaluate("button => button.offsetWidth > button.offsetHeight"), True)
    page.get_by_text("Open a run").click()
    picked = {"name": "other.json", "mimeType": "application/json", "buffer": b"{}"}
    page.locator("input[type=file]").last.set_input_files(files=[picked])
    error = page.get_by_text("other.json is no recorded run", exact=False)
    expect(error).to_be_visible()
    uncovered = "(text) => { const at = text.getBoundingClientRect(); "
    uncovered += "return text.contains(document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2)); }"
    settled(page)
    becomes(page, lambda: error.evaluate(uncovered), True)

    # On a phone the documents of a card stand below all cards.
    page.set_viewport_size({"width": 390, "height": 844})
    see(page, f"{server.url}/library")
    page.get_by_role("button", name="Documents").nth(1).click()
    expect(page.locator(".st-key-documents").get_by_role("heading").first).to_be_in_viewport()
    expect(page.locator(".st-key-documents").get_by_role("heading").first).to_be_focused()
    assert_within_reach(page)
    watched.assert_clean()
