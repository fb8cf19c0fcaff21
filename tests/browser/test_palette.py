"""The command palette as a person uses it: by key and by button, with a mouse, on a phone and in Chinese."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from leanrag_core import Workbench
from tests.browser.conftest import Server, Watched
from tests.browser.runs import becomes, settled
from tests.browser.test_story import snap

pytestmark = pytest.mark.browser
BACKGROUND = "getComputedStyle(document.documentElement).getPropertyValue('--lr-bg')"
QUESTION = "From what kind of eggs do drones develop?"
# Until the list is there, from the key that opens it, in the browser's own time.
OPENING = """() => new Promise((done) => {
  const began = performance.now();
  const look = () => document.querySelector("dialog[open] [role=option]")
    ? done(performance.now() - began) : requestAnimationFrame(look);
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true }));
  look();
})"""


def field(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Go to or do anything")


def option(page: Page, text: str) -> Locator:
    return page.get_by_role("dialog").get_by_role("option").filter(has_text=text)


def chosen(page: Page) -> str:
    """Return the text of the row that Enter would choose, as assistive software is told."""
    id_ = page.locator("dialog input").get_attribute("aria-activedescendant")
    row = page.locator(f"#{id_}")
    assert row.get_attribute("aria-selected") == "true"
    return str(row.inner_text())


def takes(page: Page, written: str, row: str, kind: str) -> None:
    """Open the palette by its key, write, and choose the first row, which must be of that kind and begin with that
    text."""
    page.keyboard.press("Control+k")
    page.keyboard.type(written)
    first = page.get_by_role("dialog").get_by_role("option").first
    expect(first).to_have_text(re.compile(f"^{re.escape(row)}.*{kind}$"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_hidden()
    settled(page)


@pytest.fixture
def server(server_in: Callable[..., Server], tmp_path: Path) -> Server:
    """Start a server with the sample's prepared index, and a small one whose name is markup."""
    bench = Workbench.default(tmp_path / "home")
    bench.corpora.all()  # reads the samples
    assert bench.builds.start_first_sample() is None  # its index is prepared
    corpus = bench.add_documents(
        "<b>Hives</b>", [("a.txt", b"Anna Breedt keeps bees in Zwolle. Anna Breedt sells wax.")]
    )
    bench.build(corpus.corpus_id)
    return server_in(bench.root)


FIELD = """() => {
  document.querySelector("#drawn-field")?.remove();
  const drawn = document.createElement("input");
  drawn.id = "drawn-field";
  drawn.setAttribute("aria-label", "A “field”");
  document.body.append(drawn);
}"""


def test_everything_is_found_by_writing(server: Server, watch: Callable[..., Watched]) -> None:
    watched = watch()
    page = watched.page
    beekeeping = next(each for each in Workbench.default(server.home).indexes.all() if "Bee" in each.title)
    page.goto(f"{server.url}/ask?index={beekeeping.id}")
    opener = page.get_by_role("button", name="Go to or do anything").first
    expect(opener).to_be_visible()
    settled(page)

    # It opens by its key and by its button, and gives the focus back.
    page.evaluate(OPENING)  # the browser has drawn it once
    page.keyboard.press("Escape")
    assert page.evaluate(OPENING) < 100
    expect(field(page)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    question = page.get_by_role("textbox", name="Question")
    question.focus()
    page.keyboard.press("Control+k")
    expect(option(page, QUESTION)).to_be_visible()  # of the sample: it comes from the server
    snap(page, "palette")
    page.keyboard.press("Escape")
    expect(question).to_be_focused()
    opener.click()
    expect(field(page)).to_be_focused()

    # The focus stays inside; arrows go round.
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Close", exact=True)).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(field(page)).to_be_focused()
    assert chosen(page).startswith("Library")
    page.keyboard.press("ArrowDown")
    assert chosen(page).startswith("Build")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert not chosen(page).startswith("Library")
    page.get_by_role("button", name="Close", exact=True).click()
    expect(opener).to_be_focused()

    # An entity of the index, by its words in any order; a question; a setting; a page.
    takes(page, "frisch kárl", "Karl von Frisch", "Entity")
    expect(page).to_have_url(re.compile(r"/explore\?.*node="))
    expect(page.locator(".lr-name")).to_have_text("Karl von Frisch")
    takes(page, "drones kind eggs", QUESTION, "Question")
    expect(page).to_have_url(re.compile(r"/ask\?.*q=From"))
    expect(page.get_by_text("What the structure brought")).to_be_visible()
    takes(page, "retries", "Retries", "Setting")
    expect(page).to_have_url(re.compile("/settings"))
    becomes(page, lambda: page.evaluate("document.activeElement.getAttribute('aria-label')"), "Retries")
    takes(page, "requests a minute", "Requests a minute", "Setting")  # on the page that is open
    becomes(page, lambda: page.evaluate("document.activeElement.getAttribute('aria-label')"), "Requests a minute")
    takes(page, "tau", "tau", "Setting")
    expect(page).to_have_url(re.compile("/build"))
    becomes(page, lambda: page.locator(".st-key-place_b_tau input").evaluate("e => e === document.activeElement"), True)

    # Actions: a question as it is written, another index, the other language and back.
    page.keyboard.press("Control+k")
    page.keyboard.type("Who sells wax?")
    option(page, "Ask: Who sells wax?").click()
    settled(page)
    expect(page).to_have_url(re.compile(r"/ask\?.*q=Who\+sells\+wax"))
    takes(page, "hives", "<b>Hives</b>", "Index")  # a name is text
    expect(page.get_by_test_id("stSidebar").get_by_text("4 entities, 2 layers")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/ask\?.*q=Who\+sells\+wax"))
    takes(page, "compare lightrag", "Compare with LightRAG", "Action")
    expect(page).to_have_url(re.compile(r"/compare\?.*b_strategy=lightrag"))
    takes(page, "中文", "中文", "Action")
    expect(page.get_by_role("link", name="文库")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    page.keyboard.press("Control+k")
    page.keyboard.type("请求")
    expect(page.get_by_role("dialog").get_by_role("option").first).to_contain_text("请求")
    snap(page, "palette_zh")
    page.keyboard.press("Escape")
    takes(page, "english", "English", "操作")
    expect(page.get_by_role("link", name="Library")).to_be_visible()
    takes(page, "tour", "Start the tour", "Action")
    expect(page.get_by_role("heading", name="Begin with documents")).to_be_visible()
    watched.assert_clean()


def test_on_a_phone_the_button_stands_in_the_head_and_the_theme_changes(
    server: Server, watch: Callable[..., Watched]
) -> None:
    watched = watch(width=390, height=844)
    page = watched.page
    page.goto(f"{server.url}/library")
    opener = page.locator(".lr-palette-open.floating")
    settled(page)
    for theme, colour in (
        ("dark", "#16181B"),
        ("light", "#FFFFFF"),
    ):  # of the machine, while the page is open
        page.emulate_media(color_scheme=theme)
        becomes(page, lambda: page.evaluate(BACKGROUND), colour)
        settled(page)
    for _ in range(2):
        opener.click()
        expect(option(page, "Explore").first).to_be_visible()
        box = page.get_by_role("dialog").bounding_box()
        assert box is not None
        assert 0 <= box["x"] <= 390 - box["width"]
        snap(page, "palette_phone")
        page.get_by_role("button", name="Close", exact=True).click()
        expect(opener).to_be_focused()
    for _ in range(2):
        page.evaluate(FIELD)
        page.get_by_role("textbox", name="A “field”").focus()
        page.keyboard.press("Control+k")
        expect(field(page)).to_be_focused()
        page.evaluate(FIELD)  # the page draws it anew meanwhile
        page.keyboard.press("Escape")
        expect(page.get_by_role("textbox", name="A “field”")).to_be_focused()
    for theme, colour in (("Dark", "rgb(22, 24, 27)"), ("Light", "rgb(255, 255, 255)")):
        opener.click()
        page.keyboard.type(f"{theme} theme")
        option(page, f"{theme} theme").first.click()
        app = page.get_by_test_id("stApp")
        expect(app).to_have_css("background-color", colour)
        settled(page)
    watched.assert_clean()


def test_streamlit_says_its_own_words_in_the_language_of_the_page(
    server: Server, watch: Callable[..., Watched]
) -> None:
    watched = watch()
    page = watched.page
    page.goto(f"{server.url}/library")
    expect(page.get_by_role("button", name="Go to or do anything").first).to_be_visible()
    settled(page)
    skip = page.get_by_test_id("stSkipToContent")
    indexes = page.get_by_test_id("stSidebar").get_by_role("combobox")
    for chinese in (True, False) * 2:
        takes(page, *("中文", "中文", "Action") if chinese else ("english", "English", "操作"))
        expect(skip).to_have_text("跳到主要内容" if chinese else "Skip to main content")
        page.get_by_role("button", name="显示或隐藏列" if chinese else "Show/hide columns").press("Enter")
        expect(page.get_by_text("全选" if chinese else "Select all", exact=True)).to_be_visible()
        page.keyboard.press("Escape")
        indexes.fill("no such index")
        expect(page.get_by_text("没有结果" if chinese else "No results")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="收起侧栏" if chinese else "Collapse sidebar")).to_have_count(1)
    watched.assert_clean()
