"""Settings: the execution of builds, and where search indexes are stored."""

import json
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.errors import ClusterUnavailable, SearchIndexFailed
from leanrag_core.execution.cluster import MISSING, PROGRAM, PYTHON, SCHEDULER, ClusterStatus, Difference
from leanrag_core.storage.chroma_server import ChromaSeen, ChromaServers
from leanrag_core.types.settings import Execution, Settings
from pages.settings import execution_view, settings_form
from tests.app import drawn

Visit = Callable[..., AppTest]
SCHEDULER_AT = "tcp://127.0.0.1:8786"
CLUSTER = Settings(execution=Execution("dask", 0, SCHEDULER_AT))


@pytest.fixture(autouse=True)
def nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test when a page connects by itself."""

    def refuse(*asked: object) -> None:
        raise AssertionError(f"{asked[-1]} was asked without a click")

    monkeypatch.setattr(execution_view, "read_cluster_status", refuse)
    monkeypatch.setattr(ChromaServers, "look_at", refuse)


def in_file(home: Workbench) -> dict[str, object]:
    stored: dict[str, object] = json.loads((home.root / "settings.json").read_text())["execution"]
    return stored


def choose(app: AppTest, kind: str) -> AppTest:
    app.segmented_control("set_execution").set_value(kind).run()
    drawn.assert_sound(app)
    return app


def keys(app: AppTest) -> set[str]:
    return {str(widget.key) for widget in (*app.text_input, *app.number_input, *app.button)}


def test_processes_and_their_number_are_kept_at_once(home: Workbench, visit: Visit) -> None:
    app = choose(visit("settings", home), "processes")
    assert in_file(home) == {"kind": "processes", "workers": 0, "scheduler": ""}
    app.number_input("set_workers").set_value(3).run()
    assert in_file(home) == {"kind": "processes", "workers": 3, "scheduler": ""}
    again = visit("settings", home)
    assert again.segmented_control("set_execution").value == "processes"
    assert again.number_input("set_workers").value == 3


def test_dask_waits_for_an_address_and_changes_nothing_before(home: Workbench, visit: Visit) -> None:
    home.settings.save(Settings(execution=Execution("processes", 3)))
    app = choose(visit("settings", home), "dask")
    assert in_file(home) == {"kind": "processes", "workers": 3, "scheduler": ""}
    assert app.segmented_control("set_execution").value == "dask"
    assert "Builds still go to processes until an address is entered." in drawn.text(app)
    assert app.button("test_cluster").disabled
    assert "set_workers" not in keys(app)
    app.text_input("set_scheduler").input(SCHEDULER_AT).run()
    drawn.assert_sound(app)
    assert in_file(home) == {"kind": "dask", "workers": 3, "scheduler": SCHEDULER_AT}
    assert not app.button("test_cluster").disabled
    assert "Builds still go" not in drawn.text(app)
    again = visit("settings", home)
    assert again.segmented_control("set_execution").value == "dask"
    assert again.text_input("set_scheduler").value == SCHEDULER_AT


def left_and_come_back(app: AppTest) -> AppTest:
    """Return the same session, after another page."""
    app.switch_page("../library/page.py").run()
    return app.switch_page("../settings/page.py").run()


def test_a_wish_for_dask_is_gone_with_the_page(home: Workbench, visit: Visit) -> None:
    app = left_and_come_back(choose(visit("settings", home), "dask"))
    drawn.assert_sound(app)
    assert app.segmented_control("set_execution").value == "threads"
    assert "set_scheduler" not in keys(app)


@pytest.mark.parametrize("name", ["set_scheduler", "set_chroma_url", "set_key_variable"])
def test_what_was_wrong_is_no_longer_shown_when_the_page_was_left(name: str, home: Workbench, visit: Visit) -> None:
    home.settings.save(CLUSTER)
    app = visit("settings", home)
    before = drawn.text(app)
    app.text_input(name).input("no such thing!").run()
    assert drawn.text(app) != before
    app = left_and_come_back(app)
    drawn.assert_sound(app)
    assert drawn.text(app) == before


def test_a_slash_behind_the_port_is_cut(home: Workbench, visit: Visit) -> None:
    home.settings.save(CLUSTER)
    app = visit("settings", home)
    app.text_input("set_scheduler").input("tcp://head:8786/").run()
    app.text_input("set_chroma_url").input(" http://chroma:8000/ ").run()
    drawn.assert_sound(app)
    assert in_file(home)["scheduler"] == "tcp://head:8786"
    assert home.settings.read().chroma_url == "http://chroma:8000"


@pytest.mark.parametrize("field", [settings_form.ENDPOINT, settings_form.CHROMA, settings_form.SCHEDULER])
def test_an_address_with_a_tab_inside_is_none(field: settings_form.AddressField) -> None:
    scheme = field.kind.schemes[0]
    assert "invisible character" in settings_form.fault_text(f"{scheme}he\tad:8000", field)
    assert settings_form.fault_text(f"{scheme}head:8000", field) == ""


@pytest.mark.parametrize("text", ["admin:12345", "hunter2:443", "/sk_live_abcdefghij", ":12345", "12345678", "a@b.com"])
def test_what_may_be_a_secret_does_not_stay_on_the_page(text: str) -> None:
    for field in (settings_form.ENDPOINT, settings_form.CHROMA, settings_form.SCHEDULER):
        assert not settings_form.is_harmless(text, field)


@pytest.mark.parametrize("text", ["head:8786", "tcp://head", "localhost:8786", "10.0.0.1:8786/status", "tcp://"])
def test_half_an_address_stays_to_be_mended(text: str) -> None:
    assert settings_form.is_harmless(text, settings_form.SCHEDULER)


def test_the_host_of_an_endpoint_is_text_to_the_page(home: Workbench, visit: Visit) -> None:
    home.settings.save(Settings(base_url="http://<img src=x onerror=alert(1)>/v1"))
    app = visit("settings", home)
    drawn.assert_sound(app)
    assert "Text is sent to <img src=x onerror=alert(1)>" in drawn.text(app)


def test_threads_drop_the_scheduler_and_dask_finds_it_again(home: Workbench, visit: Visit) -> None:
    home.settings.save(CLUSTER)
    app = choose(visit("settings", home), "threads")
    assert in_file(home) == {"kind": "threads", "workers": 0, "scheduler": ""}
    assert "set_scheduler" not in keys(app)
    app = choose(app, "dask")
    assert in_file(home) == {"kind": "dask", "workers": 0, "scheduler": SCHEDULER_AT}
    assert app.text_input("set_scheduler").value == SCHEDULER_AT


@pytest.mark.parametrize(
    ("written", "expected_text", "stays"),
    [
        ("head:8786", "begins with tcp:// or tls://", True),
        ("http://10.0.0.1:8786", "begins with tcp:// or tls://", True),
        ("tcp://10.0.0.1", "names no port", True),
        ("tcp://head", "names no port", True),
        ("tcp://:8786", "names no server", True),
        ("tls://10.0.0.1:99999", "names no server", True),
        ("tcp://10.0.0.1:8786/status", "follows the port", True),
        ("tcp://ada:hunter2@10.0.0.1:8786", "contains a name or a password", False),
        ("tcp://10.0.0.1:8786?token=hunter2", "question mark", False),
        ("", "cluster needs the address of its scheduler", True),
    ],
)
def test_what_is_no_scheduler_is_reported_and_not_kept(
    written: str, expected_text: str, stays: bool, home: Workbench, visit: Visit
) -> None:
    home.settings.save(CLUSTER)
    app = visit("settings", home)
    app.text_input("set_scheduler").input(written).run()
    drawn.assert_sound(app)
    assert expected_text in drawn.text(app)
    assert "hunter2" not in drawn.text(app)
    assert home.settings.read() == CLUSTER
    assert app.text_input("set_scheduler").value == (written if stays else SCHEDULER_AT)
    assert app.button("test_cluster").disabled
    assert visit("settings", home).text_input("set_scheduler").value == SCHEDULER_AT


def test_a_cluster_is_asked_on_a_click_and_described_by_its_workers(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.settings.save(CLUSTER)
    app = visit("settings", home)
    asked = []

    def seen(scheduler: str) -> ClusterStatus:
        asked.append(scheduler)
        return ClusterStatus(scheduler, 16, 16, 0.004)

    monkeypatch.setattr(execution_view, "read_cluster_status", seen)
    app.button("test_cluster").click().run()
    drawn.assert_sound(app)
    expected_text = f"The scheduler at {SCHEDULER_AT} answers in 4 ms: 16 workers with 16 threads. All have the same"
    assert expected_text in drawn.text(app)
    app.run()
    assert asked == [SCHEDULER_AT]
    app.text_input("set_scheduler").input("tcp://10.0.0.9:8786").run()
    assert "16 workers" not in drawn.text(app)  # what was seen elsewhere


def test_workers_that_could_not_do_the_work_are_named(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.settings.save(CLUSTER)
    five = tuple(f"tcp://10.0.0.{n}:4000" for n in range(1, 6))
    problems = (
        Difference(PROGRAM, "0.1.0", MISSING, five),
        Difference(PYTHON, "3.11.2", "3.12.0<b>", five[:1]),
        Difference("numpy", "2.3.0", "2.2.0", (SCHEDULER, *five[:4])),
    )
    seen = ClusterStatus(SCHEDULER_AT, 5, 10, 0.004, silent=("tcp://10.0.0.9:1",), differences=problems)
    monkeypatch.setattr(execution_view, "read_cluster_status", lambda scheduler: seen)
    app = visit("settings", home)
    app.button("test_cluster").click().run()
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "does not find this program" in page_text
    assert "other versions" in page_text
    assert "1 worker did not say in time" in page_text
    assert "--nthreads 1" in page_text
    assert "this program0.1.0missingall workers" in page_text
    assert "Python3.11.23.12.0<b>tcp://10.0.0.1:4000" in page_text
    assert (
        "numpy2.3.02.2.0scheduler, tcp://10.0.0.1:4000, tcp://10.0.0.2:4000, tcp://10.0.0.3:4000 and 1 more"
        in page_text
    )


def test_a_cluster_that_is_not_there_is_reported_with_what_to_do(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silence(scheduler: str) -> ClusterStatus:
        raise ClusterUnavailable(f"no scheduler answers at {scheduler}: start one with 'dask scheduler'")

    home.settings.save(CLUSTER)
    monkeypatch.setattr(execution_view, "read_cluster_status", silence)
    app = visit("settings", home)
    app.button("test_cluster").click().run()
    drawn.assert_sound(app)
    assert f"No cluster. No scheduler answers at {SCHEDULER_AT}: start one with 'dask scheduler'." in drawn.text(app)


def test_a_chroma_server_is_kept_tested_and_left_again(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = visit("settings", home)
    assert app.button("test_chroma").disabled
    app.text_input("set_chroma_url").input("http://127.0.0.1:8000").run()
    drawn.assert_sound(app)
    assert home.settings.read().chroma_url == "http://127.0.0.1:8000"
    monkeypatch.setattr(ChromaServers, "look_at", lambda servers, url: ChromaSeen(url, "1.0.0", 12, 0.003, True))
    app.button("test_chroma").click().run()
    drawn.assert_sound(app)
    assert "http://127.0.0.1:8000 answers in 3 ms: Chroma 1.0.0, with 12 collections." in drawn.text(app)
    assert "CVE-2026-45829" in drawn.text(app)
    assert visit("settings", home).text_input("set_chroma_url").value == "http://127.0.0.1:8000"
    app.text_input("set_chroma_url").input("").run()
    drawn.assert_sound(app)
    assert home.settings.read().chroma_url == ""
    assert "12 collections" not in drawn.text(app)


def test_a_chroma_server_that_is_not_there_is_reported(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silence(servers: ChromaServers, url: str) -> ChromaSeen:
        raise SearchIndexFailed(f"no Chroma server answers at {url}: start one")

    home.settings.save(Settings(chroma_url="http://127.0.0.1:1"))
    monkeypatch.setattr(ChromaServers, "look_at", silence)
    app = visit("settings", home)
    app.button("test_chroma").click().run()
    drawn.assert_sound(app)
    assert "No Chroma server answers at http://127.0.0.1:1: start one." in drawn.text(app)


@pytest.mark.parametrize(
    ("written", "expected_text", "stays"),
    [
        ("localhost:8000", "begins with http:// or https://", True),
        ("http://localhost:8000/api", "follows the port", True),
        ("http://ada:hunter2@chroma:8000", "contains a name or a password", False),
        ("http://", "names no server", True),
    ],
)
def test_what_is_no_chroma_server_is_reported_and_not_kept(
    written: str, expected_text: str, stays: bool, home: Workbench, visit: Visit
) -> None:
    home.settings.save(Settings(chroma_url="http://127.0.0.1:8000"))
    app = visit("settings", home)
    app.text_input("set_chroma_url").input(written).run()
    drawn.assert_sound(app)
    assert expected_text in drawn.text(app)
    assert "hunter2" not in drawn.text(app)
    assert home.settings.read().chroma_url == "http://127.0.0.1:8000"
    assert app.text_input("set_chroma_url").value == (written if stays else "http://127.0.0.1:8000")
    assert app.button("test_chroma").disabled
