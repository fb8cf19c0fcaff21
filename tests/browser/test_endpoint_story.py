"""The same story with a model at an endpoint: settings, a build that stops and goes on, an answer that streams."""

import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import Workbench
from tests.browser.conftest import Server, Watched, decline_first_build
from tests.browser.runs import excess_width
from tests.browser.test_story import TEXT, settled, snap
from tests.endpoint import faults, server
from tests.endpoint.faults import FaultPlan
from tests.endpoint.server import EndpointServer

pytestmark = pytest.mark.browser

KEY = "sk-planted-0123456789abcdef-f3a1"
FORM = "b_chunk_tokens=64&b_overlap_tokens=8&b_cluster_size=4"


def home_with_documents(folder: Path, n_documents: int = 4) -> tuple[Workbench, str]:
    """Return a corpus of one's own, in a home where the first start's sample build is already declined."""
    bench = Workbench.default(folder)
    files = [(f"coast-{n}.md", TEXT.replace("1861", str(1861 + n)).encode()) for n in range(n_documents)]
    corpus = bench.add_documents("Grey Coast", files).corpus_id
    decline_first_build(folder)
    return bench, corpus


class Gate:
    """The way out of the machine, as a proxy on the loopback: records each request and refuses it."""

    def __init__(self) -> None:
        self.wanted: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # closed
                return
            with connection:
                self.wanted.append(connection.recv(4096).split(b"\r\n")[0].decode())

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """Yield the only way out that the server and its builds have."""
    made = Gate()
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, made.url)
        monkeypatch.setenv(name.lower(), made.url)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1,localhost")
    yield made
    made.close()


def keyless(page: Page) -> None:
    assert KEY not in page.content()
    assert KEY not in page.url


def ended_without_the_key(folder: Path) -> None:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path


def test_a_model_at_an_endpoint_builds_and_answers(
    server_in: Callable[..., Server],
    watch: Callable[..., Watched],
    gate: Gate,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    send = server._Handler._chunk

    def slowly(handler: server._Handler, piece: bytes) -> None:
        time.sleep(0.25)  # so that the words can be seen to come
        send(handler, piece)

    monkeypatch.setattr(server._Handler, "_chunk", slowly)
    bench, corpus = home_with_documents(tmp_path / "home", 2)
    with EndpointServer(api_key=KEY, latency_seconds=0.05, num_ctx=8192) as endpoint:
        app, watched = server_in(tmp_path / "home"), watch()
        page = watched.page

        # Settings: the address, the connection, the key by its end alone, one passage.
        page.goto(f"{app.url}/settings")
        expect(page.get_by_role("heading", name="Settings")).to_be_visible(timeout=60_000)
        settled(page)
        snap(page, "e1_settings_first")
        assert gate.wanted == [], "a key in the environment is no wish to use it"
        page.get_by_role("button", name="OpenAI").click()
        expect(page.get_by_role("textbox", name="Address")).to_have_value("https://api.openai.com/v1")
        page.get_by_role("button", name="Test connection").click()
        expect(page.get_by_text("No connection.")).to_be_visible(timeout=60_000)
        assert {line.split()[1] for line in gate.wanted} == {"api.openai.com:443"}
        settled(page)
        snap(page, "e1_settings_no_connection")
        keyless(page)
        gate.wanted.clear()
        page.get_by_role("textbox", name="Address").fill(endpoint.url)
        page.keyboard.press("Enter")
        expect(page.get_by_text("OPENAI_API_KEY is set, ends with …f3a1")).to_be_visible()
        page.get_by_role("button", name="Test connection").click()
        expect(page.get_by_text(f"{endpoint.url} is there and lists 2 models")).to_be_visible()
        settled(page)
        snap(page, "e2_settings_tested")
        page.get_by_label("Calls in flight", exact=True).fill("4")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Check the model").click()
        expect(page.get_by_text("Entities that it missed")).to_be_visible()
        settled(page)
        page.get_by_text("Model check").first.scroll_into_view_if_needed()
        snap(page, "e3_model_check")
        keyless(page)
        assert bench.settings.read().concurrency == 4
        assert bench.settings.read().base_url == endpoint.url

        # A key where a name belongs is not kept.
        page.get_by_role("textbox", name="Variable that holds the key").fill(KEY)
        page.keyboard.press("Enter")
        expect(page.get_by_text("That looks like a key itself")).to_be_visible()
        expect(page.get_by_role("textbox", name="Variable that holds the key")).to_have_value("OPENAI_API_KEY")
        settled(page)
        keyless(page)

        # Build: it stops at its budget, goes on, and asks for nothing twice.
        page.goto(f"{app.url}/build?corpus={corpus}&{FORM}")
        settled(page)
        page.get_by_role("radio", name="Endpoint").or_(page.get_by_role("button", name="Endpoint")).first.click()
        expect(page.get_by_text("The model runs on this machine, at 127.0.0.1.")).to_be_visible()
        page.get_by_label("Budget, tokens").fill("4500")
        page.keyboard.press("Enter")
        settled(page)
        expect(page.get_by_label("Budget, tokens")).to_have_value("4500")
        snap(page, "e4_build_form")
        page.get_by_text("Prompts", exact=True).click()
        page.get_by_label("Text", exact=True).fill("Read {text}")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_text("lacks {entity_types}").first).to_be_visible()
        page.get_by_role("button", name="Restore the catalog's text").click()
        page.get_by_role("button", name="Try, 1 call").click()
        expect(page.get_by_text("The catalog's prompt finds")).to_be_visible()
        settled(page)
        snap(page, "e5_prompts")
        endpoint.clear()
        page.get_by_role("button", name="Build index").click()
        expect(page.get_by_text("stopped at its budget")).to_be_visible(timeout=60_000)
        settled(page)
        snap(page, "e6_stopped")
        page.get_by_label("Tokens for the rest").fill("0")
        page.keyboard.press("Enter")
        expect(page.get_by_label("Tokens for the rest")).to_have_value("0")
        endpoint.held = frozenset({"aggregate_entity"})  # until it was seen
        page.get_by_role("button", name="Resume").click()
        expect(page.get_by_role("button", name="Cancel")).to_be_visible(timeout=30_000)
        expect(page.get_by_text("Aggregating entities").first).to_be_visible(timeout=60_000)
        expect(page.locator(".lr-spent")).to_be_visible()
        expect(page.get_by_text("updated as the build goes on")).to_be_visible()
        page.evaluate("document.querySelector('.lr-big').scrollIntoView()")
        snap(page, "e7_build_live")
        endpoint.held = frozenset()
        expect(page.get_by_text("Grey Coast is built")).to_be_visible(timeout=120_000)
        settled(page)
        snap(page, "e8_build_done")
        expect(page.get_by_text("The model answered everything; nothing was lost.")).to_be_visible()
        expect(page.get_by_text("Forecast and actual")).to_be_visible()
        asked = Counter(call.key for call in endpoint.answered("extract_graph"))
        # Only what was in flight when the build ended may be asked once more.
        assert sum(asked.values()) - len(asked) <= 8
        [index] = bench.indexes.all()
        assert index.kind == "LLM graph"
        keyless(page)

        # Ask: the words come one by one, then the chips.
        page.goto(f"{app.url}/ask?index={index.id}")
        settled(page)
        expect(page.get_by_text("Model on this machine.")).to_be_visible()
        page.get_by_label("Question").fill("Who built the Marram Point lighthouse?")
        endpoint.clear()
        page.get_by_role("button", name="Ask", exact=True).click()
        expect(page.locator(".lr-writing")).to_be_visible()
        snap(page, "e9_streaming")
        page.reload()  # a reply goes on being written without the page, and is not asked for again
        expect(page.locator(".lr-answer .chip").first).to_be_visible()
        assert len(endpoint.answered("answer")) == 1
        expect(page.get_by_text("Written by scripted-chat from the context alone")).to_be_visible()
        settled(page)
        snap(page, "e10_answered")

        # Another setting shows another retrieval and sends no request.
        endpoint.clear()
        slider = page.get_by_role("slider", name="Top-N seeds")
        for value in ("9", "8"):
            slider.press("ArrowLeft")
            expect(slider).to_have_value(value)
        expect(page).to_have_url(re.compile("n=8"))
        settled(page)
        assert endpoint.answered("answer") == []
        expect(page.get_by_role("button", name="Write the answer")).to_be_visible()
        snap(page, "e11_offered")

        # The endpoint fails: why, and another try.
        endpoint.plan = FaultPlan(share=1.0, kinds=(faults.HTTP_500,), recover_after=None)
        page.get_by_role("button", name="Write the answer").click()
        expect(page.get_by_text("No answer was written.")).to_be_visible(timeout=60_000)
        settled(page)
        snap(page, "e12_failed")
        endpoint.plan = FaultPlan()
        page.get_by_role("button", name="Try again").click()
        expect(page.locator(".lr-answer .chip").first).to_be_visible(timeout=60_000)
        keyless(page)

        # Narrow, and dark: nothing is cut off, and the stored answer is there without a call.
        asked_before = f"ask?index={index.id}&q=Who+built+the+Marram+Point+lighthouse%3F"
        other = watch(390, 844, dark=True)
        for name in ("settings", f"build?b_engine=Endpoint&corpus={corpus}", asked_before):
            other.page.goto(f"{app.url}/{name}")
            settled(other.page)
            assert excess_width(other.page) <= 0
            snap(other.page, f"e20_{name.split('?')[0]}_phone_dark")
            keyless(other.page)
        expect(other.page.locator(".lr-answer .chip").first).to_be_visible()
        other.assert_clean()

        # The stored calls: listed, and deleted after a confirmation.
        page.get_by_role("link", name="Settings").click()
        settled(page)
        page.get_by_role("button", name="Delete calls").scroll_into_view_if_needed()
        snap(page, "e13_stored_calls")
        with page.expect_download() as downloading:
            page.get_by_role("button", name="Download as JSON Lines").click()
        exported = Path(downloading.value.path()).read_text(encoding="utf-8")
        assert len(exported.splitlines()) == len(bench.calls)
        assert KEY not in exported
        page.get_by_role("button", name="Delete calls").click()
        page.get_by_role("dialog").get_by_text("All", exact=True).click()
        settled(page)
        snap(page, "e14_delete")
        page.get_by_role("button", name=f"Delete {len(bench.calls)} calls").click()
        expect(page.get_by_text("No stored call yet.")).to_be_visible()
        keyless(page)

        watched.assert_clean()
        assert gate.wanted == [], "nothing but the loopback was asked since"
    ended_without_the_key(tmp_path / "home")
