"""Copy as Python as a person uses it: opened, copied, closed, opened again, on Ask, Compare and the board."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import Workbench
from tests.browser.conftest import Server, Watched
from tests.browser.runs import becomes, settled
from tests.browser.test_story import snap

pytestmark = pytest.mark.browser
QUESTION = "What's “varroa”, 蜜蜂 and $(exit)?"


def copied(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


def copies_twice(page: Page, picture: str) -> str:
    """Open the code, copy the Python, close it, open it again and copy the command; return the Python."""
    button = page.get_by_role("button", name="Copy as Python")
    python, command = (page.get_by_role("button", name=name) for name in ("Copy the Python", "Copy the command"))
    button.click()
    settled(page)
    expect(command).to_be_visible()
    snap(page, picture)
    python.click()
    becomes(page, lambda: copied(page).startswith("from leanrag_core import Workbench\n"), True)
    text = copied(page)
    page.keyboard.press("Escape")
    expect(python).to_be_hidden()
    settled(page)
    button.click()
    settled(page)
    command.click()
    becomes(page, lambda: copied(page).startswith("LEANRAG_HOME="), True)
    page.keyboard.press("Escape")
    expect(command).to_be_hidden()
    settled(page)
    return text


def test_code_is_copied_from_ask_compare_and_the_board(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = Workbench.default(tmp_path / "home")
    bench.corpora.all()  # reads the samples
    assert bench.builds.start_first_sample() is None  # its index is prepared
    server, watched = server_in(bench.root), watch()
    page = watched.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    asked = f"q={quote_plus(QUESTION)}"
    texts = {}
    for name, path in {
        "ask": f"ask?n=3&{asked}",
        "compare": f"compare?a_n=3&{asked}",
        "board": "compare?cview=board&bset=top_n%3D3&bpin=-",
    }.items():
        page.goto(f"{server.url}/{path}")
        expect(page.get_by_role("button", name="Copy as Python")).to_be_visible(timeout=90_000)
        settled(page)
        texts[name] = copies_twice(page, f"code_{name}")
    assert f"question = {QUESTION!r}\n" in texts["compare"]
    assert "    'now': (" in texts["board"]
    made: dict[str, Any] = {}
    exec(texts["ask"], made)
    assert made["trace"].context == bench.retrieve(bench.indexes.all()[0].id, QUESTION, top_n=3).context
    watched.assert_clean()


SEEN = """() => {
  const body = document.querySelector('[data-testid="stPopoverBody"]');
  return [body, ...body.querySelectorAll("pre")].every((each) => {
    const place = each.getBoundingClientRect();
    return place.height && place.top >= 0 && place.bottom <= innerHeight;
  });
}"""


def test_code_at_the_end_of_the_window_opens_where_all_of_it_is_seen(
    sample_home: Path, server_in: Callable[..., Server], watch: Callable[..., Watched]
) -> None:
    server, watched = server_in(sample_home), watch()
    page = watched.page
    page.goto(f"{server.url}/explore?strength=2")
    button = page.get_by_role("button", name="Copy as Python")
    expect(button).to_be_visible(timeout=90_000)
    settled(page)
    button.evaluate("(element) => element.scrollIntoView({ block: 'center' })")
    snap(page, "code_explore_closed")
    for _ in range(2):
        button.click()
        expect(page.get_by_role("button", name="Copy the command")).to_be_visible()
        settled(page)
        becomes(page, lambda: page.evaluate(SEEN), True)
        snap(page, "code_explore")
        page.keyboard.press("Escape")
        settled(page)
    watched.assert_clean()
