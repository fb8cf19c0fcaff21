"""A real server on a free loopback port, and a browser in which every error of a page fails the test."""

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from leanrag_core import IndexConfig, Workbench
from leanrag_core.jobs.events import JobLog, JobSpec, create_job
from tests import waiting
from tests.app.test_directions import ARABIC, HEBREW
from tests.browser import runs, warm
from tests.browser.warm import Forked
from tests.forking import PROJECT

SLOWED = os.environ.get("LEANRAG_SLOWED")  # how many times slower the browser's scripts run, to provoke races
CHROMIUM = os.environ.get("LEANRAG_BROWSER") or shutil.which("chromium-headless-shell") or "/usr/bin/chromium"
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A page is used for a minute and thrown away: what the optimising compilers cost does not come back.
    "--js-flags=--no-opt --no-maglev",
]

PROBED = ("/_stcore/health", "/_stcore/host-config")

LOADED_FONTS = (
    "document.fonts.ready.then(() => [...document.fonts].flatMap(f => f.status === 'loaded' ? f.family : []))"
)

expect.set_options(timeout=30_000)  # speed is measured elsewhere; a busy machine is no failure
Process = subprocess.Popen[bytes] | Forked


@dataclass
class Server:
    """A running app. home: where it keeps its corpora and indexes."""

    url: str
    home: Path
    process: Process


@dataclass
class Watched:
    """A page, and what it asked of other hosts."""

    page: Page
    foreign: list[str] = field(default_factory=list)

    def assert_clean(self) -> None:
        assert self.foreign == []


def decline_first_build(home: Path) -> None:
    """Record that the build of a sample, which a first start begins by itself, has been cancelled before."""
    declined = home / "jobs" / "20260101-000000-declined"
    config, began = asdict(IndexConfig()), "2026-01-01T00:00:00+00:00"
    create_job(declined, JobSpec(declined.name, "Sample", "sample-agriculture", config, {"name": ""}, began))
    JobLog(declined).write("cancelled", error="Stopped as asked.")


@cache
def read_samples() -> tuple[Path, ...]:
    """Read the sample corpora as a first start does, once for all servers of this process."""
    home = Path(tempfile.mkdtemp(prefix="leanrag-samples-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    corpora = Workbench.default(home).corpora
    corpora.samples.read_all()
    return tuple(home / "corpora" / name for name in corpora.samples.ids())


def start_server(home: Path, script: str, *, first_build: bool = False, command: bool = False) -> Server:
    """Start a server. command: by the command that a person writes, else as a fork of a process that has loaded the app
    already."""
    if not first_build:
        if not (home / "jobs").exists():
            decline_first_build(home)
        for sample in read_samples():
            if not (home / "corpora" / sample.name).exists():
                shutil.copytree(sample, home / "corpora" / sample.name)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    paths = [path for path in (os.environ.get("PYTHONPATH"), str(PROJECT)) if path]
    environment = {**os.environ, "LEANRAG_HOME": str(home), "PYTHONPATH": os.pathsep.join(paths)}
    arguments = ["run", script, "--server.port", str(port)]
    process: Process = (
        subprocess.Popen(
            [sys.executable, "-m", "streamlit", *arguments],
            cwd=PROJECT,
            env=environment,
            stdout=(home / "server.log").open("wb"),
            stderr=subprocess.STDOUT,
        )
        if command
        else warm.server(arguments, environment, home / "server.log")
    )
    url = f"http://127.0.0.1:{port}"
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def is_healthy() -> bool:
        try:
            direct.open(f"{url}/_stcore/health", timeout=2).close()
        except OSError:
            return False
        return True

    try:
        waiting.until(is_healthy, otherwise=(home / "server.log").read_text)
    except BaseException:
        process.terminate()
        raise
    return Server(url, home, process)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark every test of this folder: one that is not would run among others and leave them its loop of events."""
    item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session", autouse=True)
def warm_start() -> Iterator[None]:
    """End the process that servers are forks of when the tests end."""
    yield
    warm.close()


@pytest.fixture
def server_in() -> Iterator[Callable[[Path], Server]]:
    """Yield a function that starts servers; they end with the test."""
    started: list[Server] = []

    def start(home: Path, script: str = "app.py", *, first_build: bool = False, command: bool = False) -> Server:
        home.mkdir(parents=True, exist_ok=True)
        started.append(start_server(home, script, first_build=first_build, command=command))
        return started[-1]

    yield start
    for running in started:
        running.process.terminate()
        running.process.wait(timeout=20)
        for job in (running.home / "jobs").glob("*/spec.json"):  # builds outlive the server
            (job.parent / "cancel").touch()


@pytest.fixture(scope="session")
def sample_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with an index of a sample and one of texts from right to left; processes that test share its
    making."""
    base = tmp_path_factory.getbasetemp()
    made = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "looks"
    with FileLock(f"{made}.lock"):
        if not made.exists():
            bench = Workbench.default(base / "looks-unfinished")
            bench.corpora.all()  # reads the samples
            assert bench.builds.start_first_sample() is None  # its index is prepared
            files = [("مراكش.txt", ARABIC.encode()), ("ירושלים.txt", HEBREW.encode())]
            bench.build(bench.add_documents("ערים מدن", files).corpus_id, IndexConfig(cluster_size=4))
            bench.root.rename(made)
    return Path(shutil.copytree(made, tmp_path_factory.mktemp("looks") / "home"))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        pytest.fail(
            f"no browser at {CHROMIUM}: install Chromium, name its program in LEANRAG_BROWSER, or deselect these tests "
            "with -m 'not browser'"
        )
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """Yield the browser; fail on an uncaught error in any page that the test opens, and on an error in its console."""
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        # On a deep link Streamlit's front end looks for its server below the page's path first, such as at
        # /ask/_stcore/health and /ask/_stcore/host-config, and gets a 404 there.
        probing = message.location["url"].endswith(PROBED) and "404" in message.text
        if message.type == "error" and not probing:
            complaints.append(message.text)

    def listen(context: BrowserContext) -> None:
        context.on("weberror", lambda error: complaints.append(str(error.error)))
        context.on("console", note)

    chromium.on("context", listen)
    yield chromium
    chromium.remove_listener("context", listen)
    assert complaints == []


@pytest.fixture
def watch(browser: Browser) -> Iterator[Callable[..., Watched]]:
    """Yield a function that opens watched pages: watch(width=390, dark=True). first_visit: the tour is shown. moving:
    without the wish for less motion, which saves the browser from drawing while a page waits."""
    pages: list[Page] = []

    def open_page(
        width: int = 1440,
        height: int = 900,
        *,
        dark: bool = False,
        first_visit: bool = False,
        moving: bool = False,
    ) -> Watched:
        page = browser.new_page(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="no-preference" if moving else "reduce",
        )
        page.set_default_timeout(30_000)
        if not first_visit:
            page.add_init_script("localStorage.setItem('leanrag-tour-seen', '1')")
        runs.follow(page)
        if SLOWED:
            session = page.context.new_cdp_session(page)
            session.send("Emulation.setCPUThrottlingRate", {"rate": float(SLOWED)})
        watched = Watched(page)
        pages.append(page)
        page.on(
            "request",
            lambda request: (
                watched.foreign.append(request.url)
                if urlsplit(request.url).hostname not in ("127.0.0.1", None)
                else None
            ),
        )
        return watched

    yield open_page
    for page in pages:
        page.close()
