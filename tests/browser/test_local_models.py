"""What runs on this machine is found and used by a click: from Settings, and from the engine form of Build."""

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Page, expect

from leanrag_core import Workbench
from leanrag_core.models.local_servers import PORTS_VARIABLE
from leanrag_core.types.settings import Price, Settings
from tests import waiting
from tests.browser.conftest import Server, Watched, decline_first_build
from tests.browser.runs import excess_width, settled
from tests.browser.test_endpoint_story import FORM
from tests.browser.test_story import TEXT, snap
from tests.endpoint.local_servers import LM_STUDIO, OLLAMA, Routes, scripted_ollama, serving, write
from tests.endpoint.model_files import AVAILABLE, WHY_NOT, weights

pytestmark = pytest.mark.browser

USE = "Use scripted-chat and scripted-embedding"


def looked_at(monkeypatch: pytest.MonkeyPatch, **ports: int) -> None:
    given = {"ollama": 0, "lmstudio": 0, "llamacpp": 0, "vllm": 0, **ports}
    monkeypatch.setenv(PORTS_VARIABLE, ",".join(f"{name}={port}" for name, port in given.items()))


def opened(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.get_by_text("Found on this machine")).to_be_visible(timeout=60_000)
    settled(page)


def test_a_stranger_comes_from_the_start_page_to_a_written_answer_on_three_files_in_four_clicks(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    n_clicks = 0

    def click(name: str, *, times: int = 1) -> None:
        nonlocal n_clicks
        n_clicks += 1
        page.get_by_role("button", name=name, exact=True).click(click_count=times)

    with scripted_ollama() as ollama:
        looked_at(monkeypatch, ollama=ollama.port)
        app, watched = server_in(tmp_path / "home", first_build=True), watch()
        page = watched.page
        page.goto(app.url)
        settled(page)
        files = [(f"coast-{n}.md", TEXT.replace("1861", str(1861 + n))) for n in range(3)]
        page.locator('input[type="file"]').set_input_files(
            [{"name": name, "mimeType": "text/markdown", "buffer": text.encode()} for name, text in files]
        )
        click("Add and go to Build", times=2)  # as one who double-clicks everything
        expect(page.get_by_role("heading", name="Build", exact=True)).to_be_visible()
        expect(page.get_by_role("radio", name="Built-in")).to_be_checked()
        expect(page.get_by_role("button", name=USE)).to_be_visible()
        settled(page)
        snap(page, "l0_offered")
        assert {request.kind for request in ollama.log} <= {"show"}, "nothing is sent"
        click(USE)
        expect(page.get_by_text("2 calls in flight, price 0")).to_be_visible()
        expect(page.get_by_role("combobox", name="Language model")).to_have_value("scripted-chat")
        settled(page)
        settings = Workbench.default(app.home).settings.read()
        assert settings.base_url == f"http://localhost:{ollama.port}/v1"
        assert (settings.build_model, settings.build_embedding) == ("openai:scripted-chat", "openai:scripted-embedding")
        assert settings.prices == {"scripted-chat": Price(), "scripted-embedding": Price()}
        click("Build index", times=2)
        expect(page.get_by_text("My documents is built")).to_be_visible(timeout=180_000)
        settled(page)
        config = next(
            index.config for index in Workbench.default(app.home).indexes.all() if index.name == "My documents"
        )
        assert (config.model, config.embedding) == ("openai:scripted-chat", "openai:scripted-embedding")
        click("Ask")
        page.get_by_label("Question").fill("Who built the Marram Point lighthouse?")
        page.get_by_label("Question").press("Control+Enter")
        expect(page.get_by_text("Written by scripted-chat from the context alone")).to_be_visible(timeout=120_000)
        settled(page)
        snap(page, "l0_answer")
        assert n_clicks == 4

        # Settings shows what is used; Build proposes it in a new session as well, and a click on Built-in holds.
        opened(page, f"{app.url}/settings")
        expect(page.get_by_text(f"localhost:{ollama.port}, 2 models")).to_be_visible()
        expect(page.get_by_text("window 16,384")).to_be_visible()
        expect(page.get_by_role("button", name=USE)).to_have_count(0)
        expect(page.get_by_role("textbox", name="Address")).to_have_value(f"http://localhost:{ollama.port}/v1")
        expect(page.get_by_label("Calls in flight", exact=True)).to_have_value("2")
        page.get_by_role("button", name="Look again").click()
        settled(page)
        expect(page.get_by_text("in use")).to_have_count(2)
        page.goto(f"{app.url}/build?{FORM}")
        settled(page)
        expect(page.get_by_role("combobox", name="Language model")).to_have_value("scripted-chat")
        expect(page.get_by_role("combobox", name="Embedding", exact=True)).to_have_value("scripted-embedding")
        for engine, count in (("Built-in", 0), ("Endpoint", 1)):
            page.get_by_role("radio", name=engine).click()
            settled(page)
            expect(page.get_by_role("combobox", name="Language model")).to_have_count(count)
        watched.assert_clean()


def test_the_other_states_say_what_to_do(
    server_in: Callable[[Path], Server], watch: Callable[..., Watched], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    home = tmp_path / "home"
    huge = {**OLLAMA, "/api/tags": {"models": [{"name": "llama3:405b", "size": 10**15}]}, "/api/ps": {"models": []}}
    huge["/api/show"] = {"llama3:405b": {"capabilities": ["completion"]}}
    nothing: Routes = {"/api/v0/models": {"data": []}}
    locked = {"/v1/models": lambda handler: write(handler, b"{}", status=401)}
    with serving(huge) as ollama, serving(nothing) as studio, serving(locked) as vllm:
        looked_at(monkeypatch, ollama=ollama.port, lmstudio=studio.port, vllm=vllm.port)
        app = server_in(home)
        page = watch(width=390, dark=True).page
        opened(page, f"{app.url}/settings")
        expect(page.get_by_text("of memory free: will be slow")).to_be_visible()
        expect(page.get_by_text("has no model in memory. Load one in LM Studio")).to_be_visible()
        expect(page.get_by_text(f"localhost:{vllm.port}, wants a key")).to_be_visible()
        assert excess_width(page) <= 0
        snap(page, "l4_states_phone")
        # What was loaded since is there after another look; what has ended is gone.
        nothing["/api/v0/models"] = LM_STUDIO["/api/v0/models"]
        page.get_by_role("button", name="Look again").click()
        use = page.get_by_role("button", name="Use qwen3-4b and text-embedding-bge-m3")
        expect(use).to_be_visible()
        bench = Workbench.default(home)
        assert bench.settings.read().base_url == "", "nothing is used without a click"
        # The engine form of Build offers it too, where no endpoint is set up.
        build = watch().page
        build.goto(f"{app.url}/build?{FORM}&b_engine=Endpoint")
        expect(build.get_by_text("Found on this machine")).to_be_visible(timeout=60_000)
        expect(build.get_by_role("button", name="Use qwen3-4b and text-embedding-bge-m3")).to_be_visible()
        snap(build, "l3_build")
        use.click()
        waiting.until(lambda: bench.settings.read().base_url == f"http://localhost:{studio.port}/v1")
        expect(page.get_by_text("in use")).to_have_count(2)
        settled(page)
    page.get_by_role("button", name="Look again").click()
    expect(page.get_by_text("No model server answers on this machine.")).to_be_visible()
    page.get_by_role("button", name="How to add one").click()
    expect(page.get_by_text("Install one of these")).to_be_visible()
    snap(page, "l5_nothing")


@pytest.mark.skipif(not AVAILABLE, reason=WHY_NOT)
@pytest.mark.alone
def test_a_model_file_is_chosen_by_its_path_builds_answers_is_stopped_and_ends_with_the_app(
    server_in: Callable[[Path], Server], watch: Callable[..., Watched], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    name = weights().name
    bench = Workbench.default(tmp_path / "home")
    bench.settings.save(Settings(retries=1, max_reply_tokens=64))
    corpus = bench.add_documents("Carrow", [("mill.txt", b"Hester Lunn built the tide mill at Carrow.")]).corpus_id
    decline_first_build(tmp_path / "home")
    app, watched = server_in(tmp_path / "home"), watch()
    page = watched.page

    # Settings: no file yet; a path that leads nowhere; the path of the file; used by one click.
    opened(page, f"{app.url}/settings")
    expect(page.get_by_text("No .gguf file in the models folder.")).to_be_visible()
    snap(page, "f1_no_file")
    for path, said in ((tmp_path / "nobody.gguf", "nobody.gguf cannot be read"), (weights(), "window 8,192")):
        page.get_by_role("button", name="Choose another file").click()
        page.get_by_role("textbox", name="Path of a .gguf file").fill(str(path))
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.get_by_text(said)).to_be_visible()
        page.keyboard.press("Escape")
        settled(page)
    expect(page.get_by_text("nobody.gguf cannot be read")).to_have_count(0)
    snap(page, "f2_file")
    page.get_by_role("button", name="Use", exact=True).click()
    expect(page.get_by_text("in use")).to_be_visible()
    assert bench.settings.read().build_model == f"file:{name}"
    assert str(weights().parent) not in page.content()

    # Build proposes it; the built-in engine extracts, the file names clusters and answers.
    page.goto(f"{app.url}/build?corpus={corpus}")
    settled(page)
    expect(page.get_by_role("radio", name="Model file")).to_be_checked()
    snap(page, "f3_build")
    file = bench.model_files.named(name)
    assert bench.model_files.servers.running(file) is None, "nothing is loaded before the first call"
    page.get_by_role("combobox", name="What it does").click()
    page.get_by_role("option", name="Names clusters and answers").click()
    settled(page)
    page.get_by_role("button", name="Build index").click()
    expect(page.get_by_text("Carrow is built")).to_be_visible(timeout=180_000)
    settled(page)
    snap(page, "f4_built")
    [index] = bench.indexes.all()
    assert (index.config.model, index.config.aggregation_model) == ("builtin", f"file:{name}")

    # Ask: the file writes the answer; the sidebar says where the text stays.
    page.goto(f"{app.url}/ask?index={index.id}")
    settled(page)
    expect(page.get_by_text("Model on this machine.")).to_be_visible()

    def ask(question: str) -> None:
        page.get_by_label("Question").fill(question)
        page.get_by_role("button", name="Ask", exact=True).click()

    ask("Who built the tide mill?")
    expect(page.get_by_text(f"Written by {name} from the context alone")).to_be_visible(timeout=180_000)
    settled(page)
    snap(page, "f5_answer")
    server = bench.model_files.servers.running(file)
    assert server is not None
    assert server.key not in page.content()

    # Stopped by hand, then by the end of the app, which is killed while it is asked.
    opened(page, f"{app.url}/settings")
    page.get_by_role("button", name="Stop", exact=True).click()
    waiting.until(lambda: not psutil.pid_exists(server.pid))
    page.get_by_role("button", name="Look again").click()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    page.goto(f"{app.url}/ask?index={index.id}")
    settled(page)
    ask("Where is the tide mill?")
    again = waiting.until(lambda: bench.model_files.servers.running(file))
    page.close()
    app.process.kill()
    waiting.until(lambda: not psutil.pid_exists(again.pid))
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.name != "server.json":
            assert again.key.encode() not in path.read_bytes(), path
    watched.assert_clean()
