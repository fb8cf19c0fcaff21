"""Four indexes at the limits, built by the built-in models, and the strategies of the program and of strategies/."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.retrieval import strategies
from leanrag_core.strategy_contract import build_indexes
from leanrag_core.types.index import Index

OWN = Path(__file__).parent / "strategies"


@pytest.fixture(scope="module", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """Flush no file: no test of this folder is about a loss of power, and flushing takes most of their time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture(scope="session")
def contract_home(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench.default(tmp_path_factory.mktemp("contract"))


@pytest.fixture(scope="session")
def indexes(contract_home: Workbench) -> dict[str, Index]:
    return build_indexes(contract_home)


@pytest.fixture(autouse=True)
def _own_strategies(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(strategies, "__path__", [*strategies.__path__, str(OWN)])
    yield
    for name in [name for name in sys.modules if name.startswith(f"{strategies.__name__}.zoo")]:
        del sys.modules[name]
