"""Facts that change on Ask, as of a date; facts that conflict in the inspector of Explore."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import IndexConfig, Workbench
from tests.browser.conftest import Server, Watched, start_server
from tests.browser.runs import excess_width, settled
from tests.browser.test_story import snap

pytestmark = pytest.mark.browser

QUESTION = "Who chaired the Coast Board?"
FILES = {
    "board.md": "# Coast Board\n\nAda Thornbury chaired the Coast Board from 1998 to 2004. Bela Quarmax has chaired "
    "the Coast Board since 2005. The Coast Board keeps Holm Lighthouse. Holm Lighthouse was built in 1911 by Ivo "
    "Grundix.\n",
    "ferry.md": "# Ferry\n\nThe ferry sailed to Sandlux until 3 May 2010. Captain Torvex steered the ferry. The ferry "
    "carries mail for the Coast Board. Holm Lighthouse is 30 metres high.\n",
    "tower.md": "# Tower\n\nHolm Lighthouse was built in 1921. Holm Lighthouse is 42 metres high. Keeper Mirolux kept "
    "bees at Holm Lighthouse.\n",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield one server for all tests here, which change nothing."""
    bench = Workbench.default(tmp_path_factory.mktemp("facts") / "home")
    corpus = bench.add_documents("coast", [(name, text.encode()) for name, text in FILES.items()]).corpus_id
    bench.build(corpus, IndexConfig(cluster_size=3, chunk_tokens=60, overlap_tokens=5))
    running = start_server(bench.root, "app.py")
    yield running
    running.process.terminate()
    running.process.wait(timeout=20)


def as_of(page: Page, day: str) -> None:
    """Open the choice of documents, write the day, and close it."""
    page.locator(".st-key-within button").first.click()
    field = page.locator(".st-key-within_then input")
    field.fill(day)
    field.press("Enter")
    settled(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()


def test_a_person_asks_as_of_a_date(server: Server, watch: Callable[..., Watched]) -> None:
    watched = watch()
    page = watched.page
    page.goto(f"{server.url}/ask?q={QUESTION.replace(' ', '+')}")
    answer, button = page.locator(".lr-answer"), page.locator(".st-key-within button").first
    expect(answer).to_be_visible()
    as_of(page, "2002-06-01")
    expect(button).to_have_text(re.compile("In: all documents, as of 2002-06-01"))
    expect(answer).to_contain_text("Thornbury")
    expect(answer).not_to_contain_text("Quarmax")
    expect(page.get_by_text(re.compile("As of 2002-06-01, .* left out"))).to_be_visible()
    snap(page, "facts_as_of")
    as_of(page, "in May")
    expect(button).to_have_text(re.compile("as of 2002-06-01"))
    as_of(page, "2020")
    expect(button).to_have_text(re.compile("as of 2020"))
    expect(answer).to_contain_text("Quarmax")
    expect(answer).not_to_contain_text("Thornbury")
    expect(page).to_have_url(re.compile("in=as-of(%3A|:)2020"))
    page.reload()
    expect(answer).to_contain_text("Quarmax")
    expect(button).to_have_text(re.compile("as of 2020"))
    button.click()
    snap(page, "facts_as_of_open")
    page.get_by_role("button", name="Ask all documents").click()
    settled(page)
    expect(button.locator("p")).to_have_text("In: all documents")
    expect(page).not_to_have_url(re.compile("[?&]in="))
    watched.assert_clean()


def test_a_link_as_of_a_month_on_a_phone_in_chinese(server: Server, watch: Callable[..., Watched]) -> None:
    watched = watch(width=390, height=800)
    page = watched.page
    page.goto(f"{server.url}/ask?q={QUESTION.replace(' ', '+')}&in=as-of:2002-06&lang=zh")
    button = page.locator(".st-key-within button").first
    expect(page.locator(".lr-answer")).to_contain_text("Thornbury")
    expect(button).to_have_text(re.compile("截至 2002-06"))
    button.click()
    expect(page.locator(".st-key-within_then input")).to_have_value("2002-06")
    assert excess_width(page) <= 0
    snap(page, "facts_as_of_phone")
    watched.assert_clean()


def test_a_person_reads_both_quotes_of_a_contradiction(server: Server, watch: Callable[..., Watched]) -> None:
    bench = Workbench.default(server.home)
    index = bench.indexes.open(next(each.id for each in bench.indexes.all() if each.name == "coast"))
    base = index.layers[0]
    id_ = base.entity_cells["id"][base.entities["name"].to_pylist().index("Holm Lighthouse")].as_py()
    watched = watch()
    page = watched.page
    page.goto(f"{server.url}/explore?node={id_}")
    tab = page.get_by_role("tab", name=re.compile("Conflicts"))
    for _ in range(2):
        tab.click()
        shown = page.locator(".st-key-inspected, [data-testid=stMain]").first
        for words in ("Built", "Height", "Holm Lighthouse was built in 1911", "Holm Lighthouse was built in 1921"):
            expect(shown).to_contain_text(words)
        expect(page.get_by_role("tab", name=re.compile("Conflicts.*2"))).to_be_visible()
        page.get_by_role("tab", name=re.compile("Summary")).click()
    tab.click()
    snap(page, "facts_conflicts")
    watched.assert_clean()
