"""No setting moves by itself: not by a popover, a tab, a dialog, another strategy, another page, a reload or the way
back, and not when somebody is quick."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import IndexConfig, Workbench
from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.base import StrategyInfo, strategies
from leanrag_core.retrieval.strategies import leanrag
from leanrag_core.types.settings import Settings
from pages.common.forms import title_of
from tests.browser.conftest import Server, Watched
from tests.browser.runs import becomes, settled
from tests.browser.test_library_and_build import tick_row
from tests.browser.test_story import TEXT
from tests.endpoint.server import EndpointServer

pytestmark = pytest.mark.browser

QUESTION = "Who built the Marram Point lighthouse?"
# The values of the page's controls, by their names; a control that is not drawn is not in it.
READ = """() => {
  const held = {};
  const put = (name, value) => { if (name) held[name] = value; };
  const inside = '[data-testid="stMain"], [data-testid="stSidebar"], [data-testid="stPopoverBody"]';
  for (const field of document.querySelectorAll('input, textarea')) {
    if (!field.closest(inside) || field.type === 'file') continue;
    const name = field.getAttribute('aria-label') || field.closest('label')?.innerText.trim();
    put(name, field.type === 'checkbox' ? field.checked : field.value);
  }
  for (const choice of document.querySelectorAll('[role=radio], [data-testid=stButtonGroup] [role=checkbox]')) {
    if (choice.closest(inside)) put('choice ' + choice.innerText.trim(), choice.getAttribute('aria-checked'));
  }
  for (const tag of document.querySelectorAll('[data-tag]')) if (tag.closest(inside)) put('tag ' + tag.innerText, true);
  return held;
}"""


def field_values(page: Page) -> dict[str, object]:
    settled(page)
    values: dict[str, object] = page.evaluate(READ)
    assert values
    return values


def open_settings(page: Page) -> dict[str, object]:
    """Open the settings and return the controls, those behind More settings too; close them again."""
    page.get_by_role("button", name="More settings").click()
    expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
    values = field_values(page)
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    return values


def choose(page: Page, label: str, option: str) -> None:
    """Write what is wanted, as in a long list, of which the browser draws a part."""
    field = page.get_by_role("combobox", name=label, exact=True)
    field.click()
    field.fill(option)
    page.get_by_role("option", name=option, exact=True).click()
    settled(page)


def linked_controls(info: StrategyInfo) -> tuple[str, ...]:
    """Return the options that strategies share, and whether there are more."""
    declared = fields(info.config)
    shared = tuple(spec.name for spec in declared if spec.metadata.get("link"))
    return (*shared, *(["more"] if any(not spec.metadata.get("in_row") for spec in declared) else []))


def to_page(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", name=name, exact=True).first).to_be_visible()
    settled(page)


@pytest.fixture
def home(tmp_path: Path) -> Workbench:
    bench = Workbench.default(tmp_path / "home")
    corpus = bench.add_documents("Grey Coast", [("coast.md", TEXT.encode())]).corpus_id
    for cluster_size in (4, 5):
        bench.build(corpus, IndexConfig(cluster_size=cluster_size, chunk_tokens=64, overlap_tokens=8))
    return bench


def set_explore(page: Page) -> None:
    """Choose a table of one layer of the index that is not the newest; look at tabs, which moves nothing."""
    page.get_by_role("button", name="Show as table").click()
    page.get_by_test_id("stButtonGroup").get_by_text("L0", exact=True).click()
    page.get_by_role("combobox", name="Index", exact=True).click()
    page.get_by_role("option").nth(1).click()
    chosen = field_values(page)
    assert {"choice Hierarchy": "true", "choice L0": "true"}.items() <= chosen.items()
    for tab in page.get_by_role("tab").all():
        tab.click()
    becomes(page, lambda: field_values(page), chosen)


def set_settings(page: Page, home: Workbench) -> None:
    """Set numbers one after the other, a passage and a choice."""
    typed = {
        "Calls in flight": "4",
        "Requests a minute": "90",
        "Tokens a minute": "5000",
        "Retries": "2",
        "Longest reply, tokens": "900",
    }
    for label, value in typed.items():
        page.get_by_label(label, exact=True).fill(value)
        page.keyboard.press("Enter")
    page.get_by_label("Passage").fill("Ada Thornbury built the Holm Rock lighthouse.")
    page.keyboard.press("Control+Enter")
    page.get_by_test_id("stButtonGroup").get_by_text("Processes", exact=True).click()
    wanted = typed | {
        "Passage": "Ada Thornbury built the Holm Rock lighthouse.",
        "choice Processes": "true",
        "Address": home.settings.read().base_url,
    }
    assert wanted.items() <= field_values(page).items()
    assert home.settings.read().concurrency == 4


def open_build(page: Page) -> dict[str, object]:
    """Return all that the form of Build holds, its folds open."""
    settled(page)
    for fold in ("How clusters and their relations are made", "Prompts"):
        closed = page.locator('[data-testid="stExpander"] details:not([open]) summary', has_text=fold)
        if closed.count():
            closed.click()
    values = field_values(page)
    values.pop("Effect of clustersize")  # a drawing that follows the field
    values.pop("Index", None)  # which one: another where the chosen one is deleted
    return values


def set_build(page: Page) -> None:
    """Set fields one after the other; a dialog, a deleted index and the other engine move none of them."""
    engine = page.get_by_test_id("stButtonGroup").get_by_text("Endpoint", exact=True)
    engine.click()
    page.get_by_label("Budget, tokens").fill("9000")  # as soon as it is there
    page.keyboard.press("Tab")
    page.get_by_label("Name of the index").fill("Two fields in a row")
    page.keyboard.press("Tab")
    page.get_by_role("spinbutton", name="clustersize").fill("7")
    page.keyboard.press("Enter")
    page.get_by_label("tau", exact=True).fill("4,q0.5")
    page.keyboard.press("Enter")
    page.get_by_label("Gleaning rounds").fill("2")
    page.keyboard.press("Enter")
    page.get_by_text("How clusters and their relations are made").click()
    page.get_by_label("Smoothing rounds").fill("2")
    page.keyboard.press("Enter")
    wanted = {
        "choice Endpoint": "true",
        "Budget, tokens": "9000",
        "Name of the index": "Two fields in a row",
        "clustersize": "7",
        "tau": "4,q0.5",
        "Gleaning rounds": "2",
        "Smoothing rounds": "2",
    }
    chosen = open_build(page)
    assert wanted.items() <= chosen.items()
    tick_row(page, 0)
    settled(page)
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    settled(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.locator(".st-key-delete_index button").first.click()
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("button", name="Undo", exact=True)).to_have_count(0)
    page.get_by_test_id("stButtonGroup").get_by_text("Built-in", exact=True).click()
    settled(page)
    engine.click()
    assert open_build(page) == chosen


def set_ask(page: Page) -> None:
    """Set numbers, sections and budgets after strategies there and back; looking at the evidence moves nothing."""
    page.get_by_role("textbox", name="Question").fill(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()
    settled(page)
    defaults = {
        title_of(spec.name, leanrag.Config): str(spec.default)
        for spec in fields(leanrag.Config)
        if spec.name.endswith("_tokens")
    }
    first = open_settings(page)
    assert defaults.items() <= first.items()
    assert (first["Top-N seeds"], first["Top-C chunks"]) == ("10", "5")

    # Strategies there and back, one for each set of controls. A number that strategies share is what was chosen, else
    # the strategy's own default.
    leanrag_info, *every = strategies().strategies
    others = list({linked_controls(info): info for info in every}.values())
    other_default = next(info for info in every if linked_controls(info) == ("rerank", "top_c", "more"))

    def round_trip(before: dict[str, object], chosen: dict[str, str], by_way_of: Sequence[StrategyInfo]) -> None:
        for info in (*by_way_of, leanrag_info):
            choose(page, "Strategy", sentence(info.title))
            more = any(not spec.metadata.get("in_row") for spec in fields(info.config))
            expect(page.get_by_role("button", name="More settings")).to_have_count(int(more))
            now = open_settings(page) if more else field_values(page)
            assert {name: now[name] for name in ("Question", "Index")} == {
                name: before[name] for name in ("Question", "Index")
            }
            shared = {
                title_of(spec.name): chosen.get(title_of(spec.name), str(spec.default))
                for spec in fields(info.config)
                if spec.metadata.get("link")
            }
            assert {name: now.get(name) for name in shared} == shared, info.name
        assert now == before

    round_trip(first, {}, [other_default])
    for label, presses in (("Top-N seeds", 3), ("Top-C chunks", 2)):
        slider = page.get_by_role("slider", name=label)
        for _ in range(presses):
            slider.press("ArrowLeft")
    page.get_by_test_id("stButtonGroup").get_by_text("Findings", exact=True).click()
    settled(page)
    page.get_by_role("button", name="More settings").click()
    for number, label in enumerate(defaults):  # one after the other, without waiting
        page.get_by_label(label, exact=True).fill(str(7000 + number))
        page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    numbers = {"Top-N seeds": "7", "Top-C chunks": "3"}
    wanted = numbers | dict(zip(defaults, map(str, range(7000, 7000 + len(defaults))), strict=True))
    chosen = open_settings(page)
    assert wanted.items() <= chosen.items()
    round_trip(chosen, numbers, others)

    # The steps, a node, the passage, the fold with the context: looking moves nothing.
    page.locator(".lr-play").get_by_text("2 Climb").click()
    settled(page)
    looked = open_settings(page)
    assert wanted.items() <= looked.items()
    page.locator(".lr-answer .chip[data-section=chunks]").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    settled(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_text("The context as the answer sees it").click()
    assert open_settings(page) == looked


def change_on(page: Page, name: str) -> dict[str, object]:
    """Change something that the URL holds; returns what it must be now."""
    if name == "Ask":
        page.get_by_role("slider", name="Top-N seeds").press("ArrowRight")
        settled(page)
        return {"Top-N seeds": "8"}
    if name == "Build":
        page.get_by_role("spinbutton", name="clustersize").fill("9")
        page.keyboard.press("Enter")
        settled(page)
        return {"clustersize": "9"}
    page.get_by_test_id("stButtonGroup").get_by_text("Treemap", exact=True).click()
    settled(page)
    return {"choice Treemap": "true"}


def without_passage(read: Callable[[], dict[str, object]]) -> dict[str, object]:
    """Read what Settings holds, without the passage to be tried, which is no setting and not in the URL."""
    return {name: value for name, value in read().items() if name != "Passage"}


def test_no_setting_of_any_page_moves_by_itself(
    server_in: Callable[[Path], Server], watch: Callable[..., Watched], home: Workbench
) -> None:
    with EndpointServer() as endpoint:
        home.settings.save(Settings(base_url=endpoint.url))
        server, watched = server_in(home.root), watch()
        page = watched.page
        set_on: dict[str, Callable[[], None]] = {
            "Explore": lambda: set_explore(page),
            "Settings": lambda: set_settings(page, home),
            "Build": lambda: set_build(page),
            "Ask": lambda: set_ask(page),
        }
        read_on = {name: partial(field_values, page) for name in set_on} | {
            "Build": partial(open_build, page),
            "Ask": partial(open_settings, page),
        }
        page.goto(f"{server.url}/library")
        settled(page)
        held, url_of = {}, {}
        for name, set_page in set_on.items():
            to_page(page, name)
            set_page()
            held[name] = read_on[name]()

        # Once round all pages.
        to_page(page, "Library")
        for name in set_on:
            to_page(page, name)
            becomes(page, read_on[name], held[name])
            url_of[name] = page.url

        # The link of each page, as at a reload; the way back leads to what was there before, and forth again.
        held["Settings"].pop("Passage")
        for name, url in url_of.items():
            page.goto(url)
            settled(page)
            expected = held[name]
            if name == "Settings":
                becomes(page, partial(without_passage, read_on[name]), expected)
                continue
            becomes(page, read_on[name], expected)
            wanted = change_on(page, name)
            changed = read_on[name]()
            assert wanted.items() <= changed.items()
            assert name == "Explore" or changed == expected | wanted  # there the other choices are taken off
            page.go_back()
            becomes(page, read_on[name], expected)
            page.go_forward()
            becomes(page, read_on[name], changed)

            # What is wrong with one field moves nothing else.
            if name == "Build":
                page.get_by_label("tau", exact=True).fill("abc")
                page.keyboard.press("Enter")
                expect(page.get_by_text("Tau is 'abc', of which 'abc' is not understood")).to_be_visible()
                assert open_build(page) == changed | {"tau": "abc"}
        watched.assert_clean()
