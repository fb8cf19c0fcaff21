"""The app over small homes: one sample corpus of three short texts, built once by the built-in models.

No job is ever started: what would have been is noted in `launched`.
"""

import functools
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.runtime.scriptrunner import magic
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.testing.v1.element_tree import Block, ElementList, Node
from streamlit.testing.v1.local_script_runner import LocalScriptRunner
from streamlit.util import calc_hash

import leanrag_core.workbench.samples
from leanrag_core import IndexConfig, Workbench
from leanrag_core.exporting.site import shown
from leanrag_core.figures.embedding_map import MapPlaces, embedding_places
from leanrag_core.indexing.reference.records import ReferenceGraph
from leanrag_core.jobs import runner
from leanrag_core.models import (
    embed_task,  # noqa: F401  (it must import the class MiniLM before a fake replaces it)
    minilm,
)
from leanrag_core.retrieval import strategies
from leanrag_core.storage.experiments import ExperimentStore
from leanrag_core.types.experiment import ExperimentSummary
from leanrag_core.types.index import Index
from leanrag_core.types.settings import Settings
from leanrag_core.types.trace import Trace
from leanrag_core.workbench import indexes, references
from leanrag_core.workbench.questions import AskRequest, Questions
from tests.endpoint.server import EndpointServer

FOLDER = Path(__file__).resolve().parent
PROJECT = FOLDER.parents[1]
MAIN = PROJECT / "pages" / "common" / "main.py"
TEXTS = {
    "bees.md": (
        "# Bees in rape\n\nVarroa destructor is a mite that weakens honey bee colonies. Beekeepers treat Varroa "
        "destructor with oxalic acid in winter. Honey bees pollinate oilseed rape. Oilseed rape gives honey bees "
        "nectar in May. White clover feeds honey bees in summer.\n"
    ),
    "hives.txt": (
        "Langstroth hives hold movable frames. Lorenzo Langstroth patented the hive in 1852. Beekeepers inspect the "
        "movable frames for Varroa destructor. Honey bees build comb in the movable frames.\n"
    ),
    "notes.txt": (
        "Oxalic acid <img src=x onerror=alert(1)> was tried by Marie Curie on honey bees. Marie Curie wrote "
        "[a note](javascript:alert(1)) of $E=mc^2$ about movable frames. " + "Bzz" * 400 + " ends the note.\n"
    ),
}
QUESTIONS = (
    {"id": "q1", "question": "What do beekeepers use against Varroa destructor?", "type": "single-hop"},
    {"id": "q2", "question": "Is $x$ <b>less</b> than [y](http://y)?", "type": "multi-hop"},
    {"id": "q3", "question": "What does a hive weigh?", "type": "unanswerable"},
)
CORPUS = "sample-agriculture"
CONFIG = IndexConfig(model="openai:scripted-chat", cluster_size=3, chunk_tokens=64, overlap_tokens=8)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that open pages, or work on a built home, as slow."""
    for item in items:
        if {"visit", "built", "written"} & set(getattr(item, "fixturenames", ())) and FOLDER in item.path.parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def read_once() -> Iterator[None]:
    """Read what comes with the program (experiments, reference graphs) once for all workbenches of the tests."""
    summary, read_graph = ExperimentStore.summary, references.read_reference
    summary_of: dict[Path, ExperimentSummary] = {}
    graph_of = functools.cache(read_graph)

    def summary_once(store: ExperimentStore, id_: str) -> ExperimentSummary:
        folder = store.folder(id_)
        if PROJECT not in folder.parents:
            return summary(store, id_)
        if folder not in summary_of:
            summary_of[folder] = summary(store, id_)
        return summary_of[folder]

    def graph_once(folder: Path) -> ReferenceGraph:
        return (graph_of if PROJECT in folder.parents else read_graph)(folder)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ExperimentStore, "summary", summary_once)
        patch.setattr(references, "read_reference", graph_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def placed_once() -> Iterator[None]:
    """Place the same vectors in the plane once for all tests: the homes are copies, and pages and exports draw them."""
    places_of: dict[tuple[bytes, int], MapPlaces] = {}

    def place_once(vectors: np.ndarray) -> MapPlaces:
        key = np.asarray(vectors[np.arange(len(vectors))]).tobytes(), len(vectors)
        if key not in places_of:
            places_of[key] = embedding_places(vectors)
            places_of[key].places.setflags(write=False)
        return places_of[key]

    with pytest.MonkeyPatch.context() as patch:
        for module in (indexes, shown):
            patch.setattr(module, "embedding_places", place_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def drawn_with_less_work() -> Iterator[None]:
    """Let AppTest wait for the thread of a page instead of looking a thousand times a second whether it has ended, and
    go through the elements in one loop instead of handing each up through all containers around it."""
    look_again = local_script_runner.require_widgets_deltas

    def wait(runner: LocalScriptRunner, timeout: float = 3) -> None:
        if runner._script_thread:
            runner._script_thread.join(timeout)
        look_again(runner, 1)  # returns at once, or raises as it would have

    def nodes(block: Block) -> Iterator[Node]:
        waiting: list[Node] = [block]
        while waiting:
            node = waiting.pop()
            yield node
            if isinstance(node, Block):
                waiting += reversed(node.children.values())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "require_widgets_deltas", wait)
        patch.setattr(Block, "__iter__", nodes)
        yield


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    documents = folder / "agriculture" / "documents"
    documents.mkdir(parents=True)
    for name, text in TEXTS.items():
        (documents / name).write_text(text, encoding="utf-8")
    about = {"title": "Bees", "description": "Three short texts."}
    (folder / "agriculture" / "corpus.json").write_text(json.dumps(about), encoding="utf-8")
    lines = "\n".join(json.dumps(question) for question in QUESTIONS)
    (folder / "agriculture" / "questions.jsonl").write_text(lines, encoding="utf-8")
    shares = {"gold": 1.0, "gold_of_vectors": 0.5, "tokens": 900, "right": True, "below_root": True}
    offered = [{"id": each["id"], "kind": each["type"], **shares} for each in QUESTIONS]
    examples = {"cluster_size": 3, "questions": len(QUESTIONS), "below_root": 2, "examples": offered}
    (folder / "agriculture" / "examples.json").write_text(json.dumps(examples), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def one_model() -> Callable[[], minilm.MiniLM]:
    """Return the embedding model, loaded once for all homes."""
    return functools.cache(minilm.MiniLM)


@pytest.fixture(scope="session")
def built(samples: Path, one_model: Callable[[], minilm.MiniLM], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with one index; tests work on copies of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leanrag_core.workbench.samples, "SAMPLES", samples)
        patch.setattr(minilm, "MiniLM", one_model)
        bench = Workbench.default(tmp_path_factory.mktemp("built"))
        bench.corpora.all()
        bench.build(CORPUS, IndexConfig(cluster_size=3))
    return bench.root


@pytest.fixture
def empty_home(tmp_path: Path) -> Workbench:
    return Workbench.default(tmp_path / "home")


@pytest.fixture
def home(built: Path, tmp_path: Path) -> Workbench:
    """Return a home with one index."""
    return Workbench.default(shutil.copytree(built, tmp_path / "home"))


@pytest.fixture(scope="session")
def written(samples: Path, one_model: Callable[[], minilm.MiniLM], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with one index whose graph the scripted model wrote; one document names nothing."""
    with pytest.MonkeyPatch.context() as patch, EndpointServer() as endpoint:
        patch.setattr(leanrag_core.workbench.samples, "SAMPLES", samples)
        patch.setattr(minilm, "MiniLM", one_model)
        bench = Workbench.default(tmp_path_factory.mktemp("written"))
        bench.settings.save(Settings(base_url=endpoint.url))
        bench.corpora.all()
        bench.add_documents(CORPUS, [("void.txt", b"it was so, and then it was not so. " * 3)])
        bench.build(CORPUS, CONFIG)
        bench.calls.close()
    return bench.root


@pytest.fixture
def endpoint() -> Iterator[EndpointServer]:
    with EndpointServer() as server:
        yield server


@pytest.fixture
def llm_home(written: Path, endpoint: EndpointServer, tmp_path: Path) -> Workbench:
    bench = Workbench.default(shutil.copytree(written, tmp_path / "home"))
    bench.settings.save(Settings(base_url=endpoint.url))
    return bench


@pytest.fixture(autouse=True)
def launched(
    samples: Path, one_model: Callable[[], minilm.MiniLM], monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[Path]]:
    """Yield folders of the jobs whose processes would have been started."""
    folders: list[Path] = []
    monkeypatch.setattr(leanrag_core.workbench.samples, "SAMPLES", samples)
    monkeypatch.setattr(minilm, "MiniLM", one_model)
    monkeypatch.setattr(runner, "launch", lambda folder, package_root: folders.append(folder))
    # The pages' own components come with them; looking through all packages for others takes most of a test's time.
    # So does rewriting every page for expressions on a line of their own, which no page has.
    monkeypatch.setattr(BidiComponentManager, "discover_and_register_components", lambda self, **options: None)
    monkeypatch.setattr(magic, "add_magic", lambda code, script_path: code)
    # Streamlit makes the page the main module; processes that later tests spawn would run it again.
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    st.cache_resource.clear()
    yield folders
    st.cache_resource.clear()


@pytest.fixture(autouse=True)
def by_base_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests name a widget by its base key; one that was replaced since has a number behind it."""

    def find(widgets: Any, key: str) -> Any:
        for widget in widgets:
            if (getattr(widget, "key", None) or "").split("~")[0] == key:
                return widget
        raise KeyError(key)

    monkeypatch.setattr(ElementList, "__call__", find)


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Return a function that opens a page as a browser does: visit("ask", home, q="...") is /ask?q=... ."""

    def open_page(name: str, bench: Workbench, **url: Any) -> AppTest:
        monkeypatch.setenv("LEANRAG_HOME", str(bench.root))
        app = AppTest.from_file(MAIN, default_timeout=30)
        app.query_params = dict(url)
        app._page_hash = calc_hash(
            name
        )  # before the first run switch_page() goes by the file name, which is the same for all
        return app.run()

    return open_page


@pytest.fixture
def debate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a strategy call a model, as if these indexes had an endpoint."""
    monkeypatch.setattr(strategies, "__path__", [*strategies.__path__, str(FOLDER / "strategies")])
    monkeypatch.setattr(Questions, "asks_model", lambda questions, model: True)


@pytest.fixture
def retrieved(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the strategies that were run."""
    run: list[str] = []
    retrieve = Questions.retrieve

    def count(questions: Questions, index: Index, request: AskRequest) -> Trace:
        run.append(request.strategy)
        return retrieve(questions, index, request)

    monkeypatch.setattr(Questions, "retrieve", count)
    return run
