"""Two tabs of a browser and four sessions at once: each keeps its own question, settings and language."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from leanrag_core import Workbench
from tests.browser import runs
from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled

pytestmark = pytest.mark.browser
QUESTIONS = ("From what kind of eggs do drones develop?", "When is oxalic acid used?")


def test_four_sessions_at_once_keep_what_is_theirs(
    sample_home: Path, server_in: Callable[[Path], Server], watch: Callable[..., Watched]
) -> None:
    server = server_in(sample_home)
    indexes = Workbench.default(sample_home).indexes.all()
    index = next(each.id for each in indexes if each.corpus_id == "sample-agriculture")
    watched = [watch() for _ in range(4)]
    for number, each in enumerate(watched):
        question = QUESTIONS[number % 2].replace(" ", "+")
        link = f"ask?index={index}&q={question}&n={number + 11}&lang={'zh' if number < 2 else 'en'}"
        each.page.goto(f"{server.url}/{link}", wait_until="commit")
    for each in watched:  # all are being drawn by now
        settled(each.page)
        each.page.get_by_role("slider").first.press("ArrowRight")
    for number, each in enumerate(watched):
        settled(each.page)
        expect(each.page.get_by_role("slider").first).to_have_value(str(number + 12))
        expect(each.page.locator("textarea").first).to_have_value(QUESTIONS[number % 2])
        expect(each.page.locator(".lr-play .part").first).to_contain_text(str(number + 12))
        expect(each.page.get_by_role("heading", level=1)).to_have_text("提问" if number < 2 else "Ask")
        assert f"n={number + 12}" in each.page.url
        each.assert_clean()


def test_two_tabs_of_one_browser_move_apart(
    sample_home: Path, server_in: Callable[[Path], Server], browser: Browser
) -> None:
    server, context = server_in(sample_home), browser.new_context()
    first, second = context.new_page(), context.new_page()
    for tab in (first, second):
        runs.follow(tab)
    first.goto(f"{server.url}/ask?n=8&q=mites")
    settled(first)
    second.goto(f"{server.url}/explore?view=islands")
    settled(second)
    first.bring_to_front()
    first.get_by_role("slider").first.press("ArrowLeft")
    expect(first.get_by_role("slider").first).to_have_value("7")
    expect(first).to_have_url(re.compile("n=7"))
    settled(first)
    second.bring_to_front()
    settled(second)
    assert "view=islands" in second.url
    assert "n=7" not in second.url
    second.get_by_role("link", name="Ask").click()
    expect(second).to_have_url(re.compile("/ask"))
    settled(second)
    expect(second.get_by_role("slider").first).to_have_value("10")
    context.close()
