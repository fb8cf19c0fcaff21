"""Asking some of the documents on Ask: chosen, in the link, after a reload, with dates, and all of them again."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import IndexConfig, Workbench
from tests.browser.conftest import Server, Watched
from tests.browser.runs import excess_width, settled

pytestmark = pytest.mark.browser

QUESTION = "Who treats Varroa destructor?"
FILES = {
    "mites.md": "Varroa destructor weakens honey bee colonies. Doctor Belomax treats Varroa destructor in winter.",
    "care/hives.md": "Lorenzo Langstroth built movable frames. Master Torvex treats Varroa destructor with syrup.",
    "care/winter.md": "Date: 2024-01-31\n\nKeeper Mirolux treats Varroa destructor with oxalic acid in winter.",
}


@pytest.fixture
def server(tmp_path: Path, server_in: Callable[[Path], Server]) -> Server:
    for name, text in FILES.items():
        (tmp_path / "bees" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "bees" / name).write_text(text)
    bench = Workbench.default(tmp_path / "home")
    corpus = bench.add_documents("bees", [tmp_path / "bees"]).corpus_id
    bench.build(corpus, IndexConfig(cluster_size=3))
    return server_in(tmp_path / "home")


def choose(page: Page, facet: str, name: str) -> None:
    """Open the choice, take that name, and close it."""
    page.locator(".st-key-within button").first.click()
    field = page.get_by_role("combobox", name=facet)
    field.click()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    settled(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()


def test_a_person_asks_some_of_the_documents(server: Server, watch: Callable[..., Watched]) -> None:
    watched = watch()
    page = watched.page
    page.goto(f"{server.url}/ask?q={QUESTION.replace(' ', '+')}")
    answer, button = page.locator(".lr-answer"), page.locator(".st-key-within button").first
    expect(answer).to_be_visible()
    expect(button).to_have_text(re.compile("In: all documents"))

    choose(page, "Documents", "winter")
    expect(button).to_have_text(re.compile("In: 1 of 3 documents, 1 chunk"))
    expect(answer).to_contain_text("Mirolux")
    expect(page.get_by_text("Asked within 1 of 3 documents")).to_be_visible()
    expect(page).to_have_url(re.compile("in=document"))
    page.reload()  # and there is nothing before it, of which the page could say what has left
    expect(answer).to_contain_text("Mirolux")
    for outside in ("Belomax", "Torvex"):
        expect(page.get_by_text(outside)).to_have_count(0)
    expect(button).to_have_text(re.compile("In: 1 of 3 documents"))

    choose(page, "Documents", "mites")
    expect(button).to_have_text(re.compile("In: 2 of 3 documents"))
    expect(page.locator("body")).to_contain_text("Belomax")
    expect(page.get_by_text("Torvex")).to_have_count(0)

    for _ in range(2):
        button.click()
        page.get_by_role("button", name="Ask all documents").click()
        settled(page)
        expect(button).to_have_text(re.compile("In: all documents"))
        expect(page).not_to_have_url(re.compile("[?&]in="))
        page.keyboard.press("Escape")
        choose(page, "Folders", "care")
        expect(button).to_have_text(re.compile("In: 2 of 3 documents"))
        expect(answer).not_to_contain_text("Belomax")
        expect(page).to_have_url(re.compile("in=folder%3Acare|in=folder:care"))
    watched.assert_clean()


def test_a_link_with_a_date_and_one_to_nothing(server: Server, watch: Callable[..., Watched]) -> None:
    watched = watch(width=390, height=800)
    page = watched.page
    page.goto(f"{server.url}/ask?q={QUESTION.replace(' ', '+')}&in=from:2024")
    button = page.locator(".st-key-within button").first
    expect(page.locator(".lr-answer")).to_contain_text("Mirolux")
    expect(button).to_have_text(re.compile("In: 1 of 3 documents"))
    button.click()
    expect(page.get_by_text("1 of 3 documents has a date")).to_be_visible()
    assert excess_width(page) <= 0
    for link in ("tag:law", "document:gone.md"):
        page.goto(f"{server.url}/ask?q={QUESTION.replace(' ', '+')}&in={link}")
        expect(button).to_have_text(re.compile("In: nothing of this index"))
        expect(page.get_by_role("alert")).to_be_visible()
        page.get_by_role("button", name="Ask all documents").last.click()
        expect(page.locator(".lr-answer")).to_be_visible()
        expect(button).to_have_text(re.compile("In: all documents"))
    watched.assert_clean()


def describe(page: Page, tag: str, date: str) -> None:
    """Write a tag and a date into the fields of the Library, and save them."""
    page.locator(".st-key-describe button").first.click()
    field = page.get_by_role("combobox", name="Tags")
    field.click()
    page.keyboard.type(tag)
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.get_by_role("textbox", name="Date").fill(date)
    page.get_by_role("button", name="Save", exact=True).click()


def test_tags_and_dates_that_are_set_in_the_library_narrow_a_question(
    server: Server, watch: Callable[..., Watched]
) -> None:
    bench = Workbench.default(server.home)
    corpus = next(each.id for each in bench.corpora.all() if not each.sample)
    ids = {row.name: row.id for row in bench.corpora.documents(corpus)}
    watched = watch()
    page = watched.page
    page.goto(f"{server.url}/library?corpus={corpus}&doc={ids['mites.md']}")
    describe(page, "health", "2021-05")
    expect(page.get_by_text("Tags and date of 1 document are saved.")).to_be_visible()
    expect(page.get_by_text("dated 2021-05, tags: health")).to_be_visible()
    page.goto(f"{server.url}/library?corpus={corpus}&doc={ids['hives.md']}")
    describe(page, "wood", "in May")
    expect(page.get_by_text("'in May' is no date")).to_be_visible()
    page.get_by_role("textbox", name="Date").fill("1852")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("dated 1852, tags: wood")).to_be_visible()

    page.goto(f"{server.url}/ask?q={QUESTION.replace(' ', '+')}")
    answer, button = page.locator(".lr-answer"), page.locator(".st-key-within button").first
    expect(answer).to_be_visible()
    choose(page, "Tags", "health")
    expect(button).to_have_text(re.compile("In: 1 of 3 documents"))
    expect(answer).to_contain_text("Belomax")
    choose(page, "Tags", "wood")
    expect(button).to_have_text(re.compile("In: 2 of 3 documents"))
    watched.assert_clean()
