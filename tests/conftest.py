"""What tests share: small graphs and indexes written by hand, and a home that is not the program's own."""

import gc
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from hypothesis import HealthCheck, settings

from leanrag_core import workbench as services
from leanrag_core.indexing import reading
from leanrag_core.indexing.parsing.confined import ConfinedParser
from leanrag_core.indexing.parsing.limits import ParseLimits
from leanrag_core.jobs import runner
from leanrag_core.models.local_servers import KINDS, PORTS_VARIABLE
from leanrag_core.models.minilm import MiniLM
from leanrag_core.types.index import Index
from tests import killing, warm_jobs
from tests.embedded import once
from tests.small_index import small_index

settings.register_profile("busy-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy-machine")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with slow tests first, so that no core waits at the end for the last of them."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    """Let Python's search for reference cycles pass over what was loaded, and begin less often: a sixth of the suite's
    processor time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def home_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let builds that name no home keep their results in a temporary folder, not in cache/ beside the app; look for no
    model server of this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEANRAG_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv(PORTS_VARIABLE, ",".join(f"{kind.name}=0" for kind in KINDS))
        yield


@pytest.fixture(scope="session", autouse=True)
def shared_parsers() -> Iterator[None]:
    """Let all workbenches read files with the same processes: starting these takes longer than what they read."""
    parser_of: dict[ParseLimits, ConfinedParser] = {}

    def shared(limits: ParseLimits | None = None) -> ConfinedParser:
        return parser_of.setdefault(limits or ParseLimits(), ConfinedParser(limits))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(services, "ConfinedParser", shared)
        patch.setattr(reading, "ConfinedParser", lambda: nullcontext(shared()))
        yield
    for parser in parser_of.values():
        parser.close()


@pytest.fixture(scope="session", autouse=True)
def texts_embedded_once() -> Iterator[None]:
    """Let the built-in model embed each text once in a process: its vector depends on nothing but the text, and the
    samples are built again and again. The tests of the model itself do without (tests/models/conftest.py)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MiniLM, "embed", once(MiniLM.embed, {}))
        yield


@pytest.fixture(scope="session", autouse=True)
def jobs_start_warm() -> Iterator[None]:
    """Let the tests' own jobs be forks of a process that has loaded what they need, as killed work is: half of a short
    job's processor time is imports. Jobs of the app that browser tests drive start as they do for users."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "launch", warm_jobs.launch)
        yield
    warm_jobs.close()
    killing.close()


@pytest.fixture
def index() -> Index:
    """Return an index of six entities in four chunks of two documents, two clusters, one root."""
    return small_index()
