"""Calls in files: the switch in the engine form with both prices, what a job waits for, and its cancellation."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import Workbench
from leanrag_core.types.settings import Price, Settings
from tests.browser.conftest import Server, Watched
from tests.browser.runs import excess_width, settled
from tests.browser.test_endpoint_story import FORM, home_with_documents
from tests.browser.test_story import snap
from tests.endpoint.batches import ScriptedBatches
from tests.endpoint.server import EndpointServer
from tests.waiting import until

pytestmark = pytest.mark.browser
PRICES = {"scripted-chat": Price(1000.0, 2000.0, 100.0)}


@pytest.fixture
def provider() -> Iterator[EndpointServer]:
    with EndpointServer() as server:
        server.batches = ScriptedBatches()
        yield server


def batches_of(provider: EndpointServer) -> ScriptedBatches:
    assert provider.batches is not None
    return provider.batches


def price_of(page: Page, row: str) -> list[float]:
    """Return the bounds of a row of the forecast, in dollars."""
    cells = page.get_by_role("row", name=re.compile(row))
    expect(cells).to_be_visible(timeout=60_000)
    return [float(amount) for amount in re.findall(r"\$(\d+\.\d+)", cells.inner_text())]


def on_a_phone(page: Page, address: str) -> None:
    """Check that the switch and both prices fit, in Chinese."""
    page.goto(address)
    settled(page)
    switch = page.get_by_role("switch", name="以批处理方式发送调用")
    expect(switch).to_be_checked()
    switch.scroll_into_view_if_needed()
    assert excess_width(page) <= 0
    snap(page, "b3_phone")
    page.get_by_role("row", name=re.compile("费用（批处理）")).scroll_into_view_if_needed()
    snap(page, "b4_phone")


def cached_tokens_are_priced(page: Page, app: Server, bench: Workbench) -> None:
    """Check that the price is written in its column, and a second one over it."""
    page.goto(f"{app.url}/settings")
    settled(page)
    save = page.get_by_role("button", name="Save prices and windows")
    expect(save).to_be_disabled()
    for amount in ("0.5", "0.25"):
        save.scroll_into_view_if_needed()
        settled(page)
        box = page.locator('[class*="st-key-prices_"]').get_by_test_id("stDataFrame").bounding_box()
        assert box is not None
        page.mouse.dblclick(box["x"] + 340, box["y"] + 35 + 17)  # a canvas: the third column of the first row
        field = page.locator(".gdg-clip-region input")
        field.fill(amount)
        snap(page, f"b5_typed_{amount}")
        field.press("Enter")
        expect(save).to_be_enabled()
        snap(page, f"b6_prices_{amount}")
        save.click()
        settled(page)
        expect(save).to_be_disabled()
        assert bench.settings.read().prices == {"scripted-chat": Price(1000.0, 2000.0, float(amount))}


def test_calls_in_files_are_chosen_priced_waited_for_cancelled_and_paid_once(
    server_in: Callable[[Path], Server], watch: Callable[..., Watched], tmp_path: Path, provider: EndpointServer
) -> None:
    bench, corpus = home_with_documents(tmp_path / "home", 1)
    bench.settings.save(Settings(base_url=provider.url, prices=PRICES))
    app, watched = server_in(tmp_path / "home"), watch()
    page, batches = watched.page, batches_of(provider)
    form = f"{app.url}/build?corpus={corpus}&b_engine=Endpoint&b_model=scripted-chat&{FORM}"
    page.goto(form)
    settled(page)
    switch = page.get_by_role("switch", name="Send the calls as batches")
    expect(switch).not_to_be_checked()
    direct, batched = price_of(page, "Cost, called directly"), price_of(page, "Cost, sent as batches")
    assert batched == pytest.approx([amount / 2 for amount in direct], abs=0.01)
    for on in (True, False, True):
        page.get_by_text("Send the calls as batches").click()
        settled(page)
        (expect(switch).to_be_checked if on else expect(switch).not_to_be_checked)()
        expect(page.get_by_text(re.compile(r"up to \d+ days"))).to_have_count(1 if on else 0)
    assert "b_batches=1" in page.url
    switch.scroll_into_view_if_needed()
    snap(page, "b1_switch")

    batches.held = True
    page.get_by_role("button", name="Build index").click()
    expect(page.get_by_text("Waits for a batch of calls")).to_be_visible(timeout=90_000)
    expect(page.get_by_text(re.compile(r"\d+ of \d+ calls answered"))).to_be_visible()
    snap(page, "b2_waits")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible(timeout=60_000)
    until(lambda: batches.made[0].status == "cancelling")

    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text(re.compile("that was cancelled|Waits for a batch"))).to_be_visible(timeout=90_000)
    batches.held = False
    expect(page.get_by_text("is built").first).to_be_visible(timeout=120_000)
    settled(page)
    assert max(Counter(batches.calls).values()) == 1, "nothing is paid twice"

    on_a_phone(watch(width=390, dark=True).page, f"{form}&b_batches=1&lang=zh")
    cached_tokens_are_priced(page, app, bench)
    with EndpointServer() as without:  # it takes no files: there is no switch, whatever the link says
        bench.settings.save(Settings(base_url=without.url, prices=PRICES))
        page.goto(f"{form}&b_batches=1")
        settled(page)
        expect(page.get_by_role("combobox", name="Language model")).to_have_value("scripted-chat")
        expect(page.get_by_role("switch", name="Send the calls as batches")).to_have_count(0)
        expect(page.get_by_role("row", name=re.compile("Cost, sent as batches"))).to_have_count(0)
    watched.assert_clean()
