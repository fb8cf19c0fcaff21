"""Settings: what is refused, what is kept, and what a server on the loopback reports."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.figures import numbers
from leanrag_core.models import listing
from leanrag_core.models.listing import Probe
from leanrag_core.types.calls import CallRecord
from leanrag_core.types.settings import Price, Settings
from pages.settings import call_store_view, endpoint_view
from tests.app import drawn
from tests.app.conftest import CORPUS
from tests.endpoint import faults
from tests.endpoint.faults import FaultPlan
from tests.endpoint.server import EndpointServer

Visit = Callable[..., AppTest]
KEY = "sk-planted-0123456789abcdef-f3a1"


@pytest.fixture
def endpoint() -> Iterator[EndpointServer]:
    with EndpointServer() as server:
        yield server


@contextmanager
def always(status: int, body: bytes) -> Iterator[str]:
    """Run a server that gives the same answer to everything; yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Write nothing to stderr."""

        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "text/html" if body.startswith(b"<") else "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def settled_home(home: Workbench, endpoint: EndpointServer) -> Workbench:
    home.settings.save(Settings(base_url=endpoint.url))
    return home


@pytest.mark.parametrize(
    ("written", "expected_text", "stays"),
    [
        ("localhost:1234/v1", "begins with http:// or https://", True),
        ("http://", "names no server", True),
        ("http://127.0.0.1:99999/v1", "names no server", True),
        ("http://[::1", "names no server", False),
        ("http://a b/v1", "names no server", False),
        ("http://x/" + "v1" * 400, "too long", False),
        ("https://ada:secret@example.com/v1", "contains a name or a password", False),
        (f"https://example.com/v1?key={KEY}", "question mark", False),
        (KEY, "begins with http:// or https://", False),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLW9mLWEta2V5", "begins with http:// or https://", False),
    ],
)
def test_what_is_no_address_is_refused_and_what_may_be_a_secret_leaves_the_field(
    written: str, expected_text: str, stays: bool, home: Workbench, visit: Visit
) -> None:
    home.settings.save(Settings(base_url="http://127.0.0.1:1/v1"))
    app = visit("settings", home)
    app.text_input("set_base_url").input(written).run()
    drawn.assert_sound(app)
    assert expected_text in drawn.text(app)
    assert home.settings.read().base_url == "http://127.0.0.1:1/v1"
    assert app.text_input("set_base_url").value == (written if stays else "http://127.0.0.1:1/v1")
    assert app.button("test_connection").disabled, "else another address than the refused one would be tested"
    assert KEY not in drawn.text(app)


def test_the_connection_lists_models_and_windows(home: Workbench, endpoint: EndpointServer, visit: Visit) -> None:
    home.settings.save(Settings(base_url=endpoint.url, answer_model="openai:scripted-chat"))
    app = visit("settings", home)
    app.button("test_connection").click().run()
    drawn.assert_sound(app)
    assert "is there and lists 2 models" in drawn.text(app)
    assert "scripted-chat answers" in drawn.text(app)
    assert "one call of a few tokens" in drawn.text(app)
    assert [request.completion_tokens <= 16 for request in endpoint.answered()] == [True]
    connection = app.dataframe[0].value
    assert list(connection["Model"]) == ["scripted-chat", "scripted-embedding"]
    assert list(connection["Context window, tokens"]) == ["8,192", "8,192"]
    windows = [body for body in drawn.html(app) if "lr-rolefact" in body and "8,192" in body]
    assert windows, "the table of roles has the window of the model that is in use, too"


def test_a_server_that_hangs_is_waited_for_briefly_and_its_models_stay_in_the_choice(
    home: Workbench, endpoint: EndpointServer, visit: Visit
) -> None:
    home.settings.save(Settings(base_url=endpoint.url))
    asked = {"corpus": CORPUS, "b_engine": "Endpoint", "b_model": "scripted-chat"}
    assert "did not answer" not in drawn.text(visit("build", home, **asked))
    endpoint_view.forget()
    endpoint.held = frozenset({"models"})
    app = visit("build", home, **asked)
    drawn.assert_sound(app)
    assert "did not answer within 2 s" in drawn.text(app)
    assert any("scripted-embedding" in box.options for box in app.selectbox), "as they were listed before"


def test_a_role_of_another_back_end_shows_that_and_no_address(home: Workbench, visit: Visit) -> None:
    home.settings.save(Settings(answer_model="parrot:grey", build_model="openai:m"))
    app = visit("settings", home)
    drawn.assert_sound(app)
    shown = {role: app.selectbox(f"role_address_{role}").options[0] for role in ("answers", "extraction")}
    assert shown == {"answers": "parrot", "extraction": "the endpoint: api.openai.com"}


def test_a_test_without_a_chosen_model_says_that_it_read_the_list_alone(
    home: Workbench, endpoint: EndpointServer, visit: Visit
) -> None:
    home.settings.save(Settings(base_url=endpoint.url))
    app = visit("settings", home)
    app.button("test_connection").click().run()
    drawn.assert_sound(app)
    assert "Only the list was read." in drawn.text(app)
    assert not endpoint.answered()
    home.settings.save(replace(home.settings.read(), build_model="openai:scripted-chat"))
    text = drawn.text(app.run())
    assert "Choose a model" not in text
    assert "Test again" in text


def test_the_price_of_a_role_is_written_like_other_prices(
    home: Workbench, endpoint: EndpointServer, visit: Visit
) -> None:
    prices = {"scripted-chat": Price(2.5, 10.0)}
    home.settings.save(Settings(base_url=endpoint.url, build_model="openai:scripted-chat", prices=prices))
    assert "$2.50 / $10.00" in drawn.text(visit("settings", home))


def test_a_model_with_prices_in_two_rows_is_named_and_neither_is_saved(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.settings.save(Settings(prices={"a-model": Price(2.5, 10.0)}))
    monkeypatch.setattr(
        "streamlit.data_editor",
        lambda rows, **_: pd.concat([rows, rows.assign(**{"Prompt": 3.0, "Model": " a-model "})]),
    )
    app = visit("settings", home)
    drawn.assert_sound(app)
    assert "a-model stands in two rows; remove one." in drawn.text(app)
    assert app.button("save_prices").disabled
    monkeypatch.setattr("streamlit.data_editor", lambda rows, **_: rows.assign(**{"Prompt": 3.0}))
    app.run()
    assert "two rows" not in drawn.text(app)
    app.button("save_prices").click().run()
    assert home.settings.read().prices == {"a-model": Price(3.0, 10.0)}


def test_a_chosen_model_that_the_server_lists_but_cannot_run_is_named(
    home: Workbench, endpoint: EndpointServer, visit: Visit
) -> None:
    endpoint.plan = FaultPlan(share=1.0, kinds=(faults.HTTP_500,), recover_after=None)
    home.settings.save(Settings(base_url=endpoint.url, build_model="openai:scripted-chat"))
    app = visit("settings", home)
    app.button("test_connection").click().run()
    drawn.assert_sound(app)
    assert "is there and lists 2 models" in drawn.text(app)
    assert "scripted-chat does not answer." in drawn.text(app)
    assert "fails with status 500" in drawn.text(app)


def test_the_check_of_a_role_is_there_after_a_reload_until_the_role_changes(
    home: Workbench, endpoint: EndpointServer, visit: Visit
) -> None:
    home.settings.save(Settings(base_url=endpoint.url, answer_model="openai:scripted-chat"))
    app = visit("settings", home)
    app.button("check_answers").click().run()
    drawn.assert_sound(app)
    [said] = [body for body in drawn.html(app) if "answers in" in body]
    again = visit("settings", home)
    drawn.assert_sound(again)
    assert said in drawn.html(again)
    assert len(endpoint.answered()) == 1
    home.settings.save(Settings(base_url=endpoint.url, answer_model="openai:another"))
    assert "changed, not tried" in drawn.text(visit("settings", home))


def test_a_model_for_answers_writes_about_an_index_that_was_built_without_one(
    home: Workbench, endpoint: EndpointServer, visit: Visit
) -> None:
    index = home.indexes.all()[0]
    app = visit("ask", home, index=index.id, q="What do bees need?")
    assert "Nothing leaves this machine." in drawn.text(app)
    assert not endpoint.answered()
    home.settings.save(Settings(base_url=endpoint.url, answer_model="openai:scripted-chat"))
    app = visit("ask", home, index=index.id, q="What do bees need?")
    assert not endpoint.answered(), "a call costs something: a link makes none"
    app.button("write_answer").click().run()
    drawn.assert_sound(app)
    assert "Model on this machine." in drawn.text(app)
    assert len(endpoint.answered()) == 1
    home.settings.save(Settings(base_url="https://models.example/v1", answer_model="openai:scripted-chat"))
    assert "Questions and passages are sent to models.example." in drawn.text(visit("settings", home, index=index.id))


def test_of_an_address_without_its_version_the_missing_part_is_named(
    home: Workbench, endpoint: EndpointServer, visit: Visit
) -> None:
    home.settings.save(Settings(base_url=endpoint.url.removesuffix("/v1")))
    app = visit("settings", home)
    app.button("test_connection").click().run()
    drawn.assert_sound(app)
    assert "A server answers, but gives no list of models." in drawn.text(app)
    assert "Nothing is at" in drawn.text(app)
    assert "up to and with /v1" in drawn.text(app)


@pytest.mark.parametrize(
    ("status", "body", "said", "remedy"),
    [
        (500, b'{"error": {"message": "out of memory"}}', "fails with status 500: out of memory", "read its log"),
        (429, b'{"error": {"message": "too many"}}', "asks to slow down: too many", "Wait a minute"),
        (200, b"<html>Log in</html>", "not a reply, perhaps the page of a proxy", "Open the address in a browser"),
        (200, b'{"data": [1, 2', "not a reply, perhaps the page of a proxy", "Open the address in a browser"),
        (200, b'{"data": [null]}', "not a reply, perhaps the page of a proxy", "Open the address in a browser"),
    ],
)
def test_what_is_no_list_of_models_is_said_with_what_to_do(
    status: int, body: bytes, said: str, remedy: str, home: Workbench, visit: Visit
) -> None:
    with always(status, body) as address:
        home.settings.save(Settings(base_url=f"{address}/v1"))
        app = visit("settings", home)
        app.button("test_connection").click().run()
        drawn.assert_sound(app)
    text = drawn.text(app)
    assert "A server answers, but gives no list of models." in text
    assert said in text
    assert remedy in text
    assert "attribute" not in text, "words about the program itself help nobody"
    assert "delimiter" not in text


@pytest.mark.parametrize("kind", [faults.HTML_200, faults.HTTP_500, faults.EMPTY_BODY, faults.RESET])
def test_a_server_that_answers_nonsense_is_reported_in_a_sentence(
    kind: str, home: Workbench, endpoint: EndpointServer, visit: Visit
) -> None:
    endpoint.plan = FaultPlan(share=1.0, kinds=(kind,), recover_after=None)
    app = visit("settings", settled_home(home, endpoint))
    app.button("check_now").click().run()
    drawn.assert_sound(app)
    assert endpoint.url in drawn.text(app)
    assert "Traceback" not in drawn.text(app)


def test_a_refused_key_is_reported_with_its_variable(home: Workbench, visit: Visit) -> None:
    with EndpointServer(api_key="another") as endpoint:
        app = visit("settings", settled_home(home, endpoint))
        app.button("test_connection").click().run()
        drawn.assert_sound(app)
        assert "refuses the key" in drawn.text(app)
        assert "OPENAI_API_KEY" in drawn.text(app)


def test_the_probe_offers_the_number_that_it_found(
    home: Workbench, endpoint: EndpointServer, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def probed(endpoint: object, model: str) -> Probe:
        asked.append(model)
        return Probe({1: 2.0, 2: 3.9, 4: 4.0}, 2)

    monkeypatch.setattr(listing, "probe_concurrency", probed)
    app = visit("settings", settled_home(home, endpoint))
    app.button("probe").click().run()
    drawn.assert_sound(app)
    assert asked == ["scripted-chat"]
    assert "2 in flight is as good as any higher number; 8 are set." in drawn.text(app)
    app.button("take_probed").click().run()
    drawn.assert_sound(app)
    assert home.settings.read().concurrency == 2
    assert "2 in flight, as set, is as good as any other number." in drawn.text(app)


def test_the_probe_asks_the_model_that_was_chosen_for_builds_and_not_the_first_of_the_list(
    home: Workbench, visit: Visit
) -> None:
    with EndpointServer(models=("a-dear-one", "cheap")) as endpoint:
        settled_home(home, endpoint).settings.change(lambda settings: replace(settings, build_model="openai:cheap"))
        assert "short questions to cheap;" in drawn.text(visit("settings", home))


def test_a_long_name_of_a_model_is_text_and_one_that_turns_the_direction_shows_it(
    home: Workbench, visit: Visit
) -> None:
    name = "a/very-long-" + "x" * 300 + "<b>$q$[y](z)"
    with EndpointServer(models=(name, "b/\u202egpj")) as endpoint:
        app = visit("settings", settled_home(home, endpoint))
        app.button("test_connection").click().run()
        drawn.assert_sound(app)
        assert name in drawn.text(app)
        offered = {box.label: box.options for box in app.selectbox if box.label.startswith(("Model", "Embedding for"))}
        assert len(offered) > 7
        for label, options in offered.items():
            assert "\u202e" not in "".join(options), label


def test_a_folder_of_models_that_is_not_there_is_refused_and_a_temperature_has_two_decimals(
    home: Workbench, visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "gguf").mkdir()
    app = visit("settings", home)
    for nowhere in (str(tmp_path / "nowhere"), "~no-such-user/gguf", str(tmp_path / ("x" * 300))):
        app.text_input("set_models_folder").input(nowhere).run()
        drawn.assert_sound(app)
        assert "There is no folder" in drawn.text(app)
        assert app.text_input("set_models_folder").value == nowhere, "it can be mended"
        assert home.settings.read().models_folder == ""
    app.text_input("set_models_folder").input("").run()
    assert "There is no folder" not in drawn.text(app)
    for folder in (str(tmp_path), "~/gguf"):
        app.text_input("set_models_folder").input(folder).run()
        drawn.assert_sound(app)
        assert "There is no folder" not in drawn.text(app)
        assert home.settings.read().models_folder == folder
    assert home.model_files.folder == tmp_path / "gguf"
    assert app.number_input("set_temperature").proto.format == "%.2f", "the half of a tenth is seen"


def test_storage_is_listed_by_kind(home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_store_view, "panel", lambda: None)  # SQLite's files would come and go during the count
    (home.root / "stages" / "large").mkdir(parents=True, exist_ok=True)
    (home.root / "stages" / "large" / "00").write_bytes(b"x" * 2_000_000)
    app = visit("settings", home)
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert str(home.root) in page_text
    assert "Indexes" in page_text
    in_folders = [path for path in home.root.rglob("*") if path.is_file() and path.parent != home.root]
    assert f"Total{numbers.size(sum(path.stat().st_size for path in in_folders))}" in page_text, "nothing is left out"


def test_kept_results_are_limited_and_deleted(home: Workbench, visit: Visit) -> None:
    home.stages.put("sentences", b"key", b"x" * 900_000)
    app = visit("settings", home)
    assert app.button("clear_stages").label.startswith("Delete kept results, ")
    app.button("clear_stages").click().run()
    drawn.assert_sound(app)
    assert home.stages.sizes() == []
    [limit] = [field for field in app.number_input if field.label == "Kept results of builds, MB"]
    limit.set_value(50).run()
    drawn.assert_sound(app)
    assert home.settings.read().stages_mb == 50


def test_stored_calls_are_grouped_and_read_one_by_one(home: Workbench, visit: Visit) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    for number in range(3):
        record = CallRecord("openai:m", "answer.v1:abc", "gone", f"{hostile} {number}")
        home.calls.put(f"key-{number}", replace(record, prompt_tokens=9, completion_tokens=4))
    app = visit("settings", home)
    drawn.assert_sound(app)
    assert "3 calls" in drawn.text(app)
    [table] = [element.value for element in app.dataframe if "Task" in element.value]
    assert table[["Model", "Task", "Index", "Calls"]].to_numpy().tolist() == [["m", "answer", "gone", 3]]
    group = call_store_view.Group("openai:m", "answer.v1", "gone", 3, 0)
    calls = call_store_view._newest(str(home.calls.folder), group, 3)
    assert [call.text for call in calls] == [f"{hostile} {number}" for number in (2, 1, 0)]
    assert "9 tokens read, 4 written" in calls[0].facts


def test_further_settings_of_a_role_are_drawn_once_they_were_opened_and_then_stay(
    home: Workbench, visit: Visit
) -> None:
    def fields(app: AppTest) -> list[str]:
        return [field.label for field in app.number_input if field.label == "Window (0: as the server says)"]

    app = visit("settings", home)
    assert fields(app) == []
    for is_open in (True, False):
        app.session_state["more_answers"] = is_open
        app.run()
        drawn.assert_sound(app)
        assert len(fields(app)) == 1
    [window] = [field for field in app.number_input if field.label == "Window (0: as the server says)"]
    [body] = [field for field in app.text_area if field.label.startswith("More fields")]
    assert body.max_chars == 4_000, "a longer one is refused"
    window.set_value(9_000)
    [keep] = [button for button in app.button if button.label == "Keep"]
    keep.click().run()
    assert home.settings.read().roles["answers"].window == 9_000


def test_the_choice_of_calls_to_delete_stays_open_until_they_are_deleted(home: Workbench, visit: Visit) -> None:
    for number in range(3):
        home.calls.put(f"key-{number}", CallRecord("openai:m", "answer.v1:abc", "gone", str(number)))
    app = visit("settings", home)
    app.button("delete_calls").click().run()
    way = app.radio("delete_way")
    way.set_value(way.options[-1]).run()
    app.run()
    drawn.assert_sound(app)
    assert app.radio("delete_way").value == way.options[-1]
    app.button("confirm_delete_calls").click().run()
    drawn.assert_sound(app)
    assert len(home.calls) == 0
    assert not [radio for radio in app.radio if radio.key == "delete_way"]


def test_settings_that_do_not_read_can_be_begun_anew(home: Workbench, visit: Visit) -> None:
    (home.root / "settings.json").write_text("{not json", encoding="utf-8")
    app = visit("settings", home)
    drawn.assert_sound(app)
    assert "The settings cannot be read." in drawn.text(app)
    app.button("reset_settings").click().run()
    drawn.assert_sound(app)
    assert home.settings.read() == Settings()


def test_settings_that_do_not_read_can_be_begun_anew_before_there_is_an_index(home: Workbench, visit: Visit) -> None:
    home.indexes.delete(home.indexes.all()[0].id)
    (home.root / "settings.json").write_text("{not json", encoding="utf-8")
    app = visit("settings", home)
    drawn.assert_sound(app)
    app.button("reset_settings").click().run()
    drawn.assert_sound(app)
    assert home.settings.read() == Settings()
