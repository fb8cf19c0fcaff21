"""The built wheel in a fresh environment outside the checkout: its command, and the app that `leanrag serve` opens.

The environment is given the libraries of this one, which are those of the lock: they need not be installed again.
"""

import os
import pkgutil
import site
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from playwright.sync_api import expect

from leanrag_core import commands
from tests import waiting
from tests.browser.conftest import PROJECT, Watched
from tests.browser.test_endpoint_story import home_with_documents
from tests.browser.test_story import settled, snap

pytestmark = pytest.mark.browser


@dataclass
class Installed:
    """An environment with the wheel. packages: where it has it."""

    command: Path
    packages: Path


def environment(**more: str) -> dict[str, str]:
    """Return an environment without the checkout on Python's path."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LEANRAG_HOME")} | more


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(PROJECT)]
    subprocess.run(build, check=True, capture_output=True, env=environment())
    [wheel] = folder.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    [packages] = (folder / "venv").glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text("\n".join(site.getsitepackages()))
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "venv/bin/python")]
    pip += ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(pip, check=True, env=environment())
    return Installed(folder / "venv/bin/leanrag", packages)


@pytest.fixture
def serving(installed: Installed, tmp_path: Path) -> Iterator[str]:
    """Yield the address of the app that the command serves, on a home where the sample's build is declined."""
    home_with_documents(tmp_path / "home", 1)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(installed.command), "serve", "--port", str(port), "--home", str(tmp_path / "home")]
    log = (tmp_path / "server.log").open("wb")
    with subprocess.Popen(command, cwd=tmp_path, env=environment(), stdout=log, stderr=subprocess.STDOUT) as server:
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))

        def is_healthy() -> bool:
            try:
                direct.open(f"http://127.0.0.1:{port}/_stcore/health", timeout=2).close()
            except OSError:
                return False
            return True

        waiting.until(is_healthy, otherwise=(tmp_path / "server.log").read_text)
        yield f"http://127.0.0.1:{port}"
        server.terminate()


def test_the_command_has_every_verb_and_the_wheel_asks_for_the_libraries_of_the_lock(installed: Installed) -> None:
    printed = subprocess.run(
        [str(installed.command), "--help"], check=True, capture_output=True, text=True, env=environment()
    ).stdout
    assert printed.startswith("usage: leanrag ")
    verbs = {module.name for module in pkgutil.iter_modules(commands.__path__) if not module.name.startswith("_")}
    assert len(verbs) > 20
    for verb in verbs & {"ask", "build", "serve", "sweep"}:
        assert f"\n    {verb} " in printed, verb
    [metadata] = installed.packages.glob("leanrag_workbench-*.dist-info")
    asked_for = {"": _wanted("requirements.in")}
    asked_for |= {extra: _wanted(f"requirements-{extra}.in") for extra in ("local", "multilingual")}
    found: dict[str, set[tuple[str, str]]] = {extra: set() for extra in asked_for}
    for requirement in Distribution.at(metadata).requires or ():
        marker = Requirement(requirement).marker
        found[_extra(str(marker)) if marker else ""].add(_canonical(requirement))
    assert found == asked_for


def _wanted(file_name: str) -> set[tuple[str, str]]:
    lines = (PROJECT / file_name).read_text().splitlines()
    return {_canonical(line.strip()) for line in lines if line.strip() and not line.startswith("#")}


def _extra(marker: str) -> str:
    return marker.removeprefix("extra == ").strip("\"'")


def _canonical(requirement: str) -> tuple[str, str]:
    parsed = Requirement(requirement)
    return canonicalize_name(parsed.name), str(parsed.specifier)


def test_the_served_app_opens_with_its_samples(serving: str, watch: Callable[..., Watched]) -> None:
    watched = watch()
    watched.page.goto(f"{serving}/library")
    settled(watched.page)
    expect(watched.page.get_by_text("Grey Coast").first).to_be_visible()
    expect(watched.page.get_by_text("Beekeeping and Bee-Pollinated Crops").first).to_be_visible()
    surface = watched.page.evaluate(
        "getComputedStyle(document.querySelector('[data-testid=stSidebar]')).backgroundColor"
    )
    assert surface == "rgb(247, 246, 243)", "the theme is that of the project"
    snap(watched.page, "wheel_library")
    watched.assert_clean()
