"""Four indexes at the limits, built by the built-in models, and the strategies of the program and of strategies/."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.retrieval import strategies
from leanrag_core.types.index import Index

TEXTS = {
    "tiny": {
        "bees.md": b"# Bees\n\nVarroa destructor is a mite that weakens honey bee colonies. Beekeepers treat Varroa "
        b"destructor with oxalic acid in winter. Honey bees pollinate oilseed rape.\n",
        "hives.txt": b"Lorenzo Langstroth patented the hive in 1852. Beekeepers inspect the movable frames for Varroa "
        b"destructor. Honey bees build comb in the movable frames.\n",
    },
    "one chunk": {"bee.txt": b"Honey bees pollinate oilseed rape."},
    "no relations": {"a.txt": b"Langstroth.", "b.txt": b"Varroa destructor."},
    "chinese": {"bees.txt": "蜜蜂给油菜授粉。养蜂人用草酸治疗瓦螨。瓦螨削弱蜂群。".encode()},
}
QUESTIONS = {"chinese": "养蜂人用什么治疗瓦螨?"}
QUESTION = "What do beekeepers use against Varroa destructor?"
OWN = Path(__file__).parent / "strategies"


@pytest.fixture(scope="module", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """Files are not flushed: no test of this folder is about a loss of power, and flushing takes most of their time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture(scope="session")
def contract_home(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    bench = Workbench.default(tmp_path_factory.mktemp("contract"))
    for name, files in TEXTS.items():
        corpus = bench.add_documents(name, list(files.items())).corpus_id
        bench.build(corpus, IndexConfig(cluster_size=2), name=name)
    return bench


@pytest.fixture(scope="session")
def indexes(contract_home: Workbench) -> dict[str, Index]:
    return {summary.name: contract_home.indexes.open(summary.id) for summary in contract_home.indexes.all()}


@pytest.fixture(autouse=True)
def _own_strategies(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(strategies, "__path__", [*strategies.__path__, str(OWN)])
    yield
    for name in [name for name in sys.modules if name.startswith(f"{strategies.__name__}.zoo")]:
        del sys.modules[name]
