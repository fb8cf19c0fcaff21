"""Settings as a person uses them: processes, a real cluster, and back."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from leanrag_core.types.settings import Execution
from tests.browser.conftest import Server, Watched
from tests.browser.test_endpoint_story import home_with_documents
from tests.browser.test_story import settled, snap
from tests.execution.cluster import LoopbackCluster

pytestmark = pytest.mark.browser


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[LoopbackCluster]:
    started = LoopbackCluster(tmp_path / "cluster", 1)
    yield started
    started.close()


def test_the_work_goes_to_processes_then_to_a_cluster_then_back(
    server_in: Callable[[Path], Server], watch: Callable[..., Watched], cluster: LoopbackCluster, tmp_path: Path
) -> None:
    bench, _ = home_with_documents(tmp_path / "home", 1)
    app, watched = server_in(tmp_path / "home"), watch()
    page = watched.page
    page.goto(f"{app.url}/settings")
    expect(page.get_by_role("heading", name="Settings")).to_be_visible(timeout=60_000)
    settled(page)
    choice = page.locator(".st-key-set_execution")

    choice.get_by_text("Processes").click()
    page.get_by_label("Processes", exact=True).last.fill("2")
    page.keyboard.press("Enter")
    settled(page)
    assert bench.settings.read().execution == Execution("processes", 2)

    # Dask without an address changes nothing; with one it is kept, and asked on a click alone.
    choice.get_by_text("Dask cluster").click()
    expect(page.get_by_text("Builds still go to processes until an address is entered.")).to_be_visible()
    expect(page.get_by_role("button", name="Test the cluster")).to_be_disabled()
    settled(page)
    snap(page, "w1_no_address_yet")
    assert bench.settings.read().execution == Execution("processes", 2)
    page.get_by_label("Scheduler").fill(cluster.address)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Builds still go to processes")).to_have_count(0)
    settled(page)
    assert bench.settings.read().execution == Execution("dask", 2, cluster.address)
    assert "leanrag-status" not in cluster.log("scheduler")
    page.get_by_role("button", name="Test the cluster").click()
    expect(page.get_by_text("1 worker with 1 thread")).to_be_visible(timeout=60_000)
    assert "leanrag-status" in cluster.log("scheduler")
    settled(page)
    snap(page, "w2_cluster_tested")

    page.reload()
    expect(page.get_by_label("Scheduler")).to_have_value(cluster.address, timeout=60_000)
    page.locator(".st-key-set_execution").get_by_text("Threads").click()
    expect(page.get_by_label("Scheduler")).to_have_count(0)
    settled(page)
    assert bench.settings.read().execution == Execution("threads", 2)
    watched.assert_clean()
