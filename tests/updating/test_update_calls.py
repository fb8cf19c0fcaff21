"""One document of twenty added to an index of a language model: what that costs, and what it gives."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.checking.check import check_index
from leanrag_core.evaluation.base import Outcome
from leanrag_core.evaluation.question_sets.reading import read_questions
from leanrag_core.evaluation.tables import means
from leanrag_core.indexing.build import BuildRequest
from leanrag_core.indexing.reading import read_files
from leanrag_core.indexing.updating.preview import changes_to, removal
from leanrag_core.types.corpus import Document
from leanrag_core.types.index import Index
from leanrag_core.types.settings import Settings
from tests.endpoint.server import EndpointServer

SAMPLES = Path(__file__).resolve().parents[2] / "sample_corpora"
CONFIG = IndexConfig(model="openai:m")
ADDED = "ludwig-boltzmann.md"
QUESTIONS = read_questions(SAMPLES / "mix" / "questions.jsonl")


@pytest.fixture(scope="module")
def server() -> Iterator[EndpointServer]:
    with EndpointServer() as endpoint:
        yield endpoint


def bench_in(root: Path, server: EndpointServer) -> Workbench:
    bench = Workbench.default(root)
    bench.settings.save(Settings(base_url=server.url))
    return bench


def calls(server: EndpointServer) -> int:
    """Return calls of the language model since the log was cleared."""
    n = sum(call.kind != "embeddings" for call in server.log)
    server.clear()
    return n


def recall(bench: Workbench, index: Index) -> float:
    outcomes = [Outcome(question, bench.retrieve(index, question.question)) for question in QUESTIONS]
    (value,) = [mean.value for mean in means(outcomes, ("evidence-recall",))]
    assert value is not None
    return value


def answers(bench: Workbench, index: Index) -> list[str]:
    return [bench.answer(index, bench.retrieve(index, question.question)).text for question in QUESTIONS[:8]]


@pytest.mark.slow
def test_adding_one_of_twenty_documents_takes_a_seventh_of_the_calls_and_removing_it_gives_the_answers_of_before(
    server: EndpointServer, tmp_path: Path
) -> None:
    fresh_bench = bench_in(tmp_path / "fresh-home", server)
    read = read_files([SAMPLES / name / "documents" for name in ("mix", "cs")], fresh_bench.parser()).documents
    documents: list[Document] = [*sorted(read, key=lambda document: document.name)]
    mix = {path.name for path in (SAMPLES / "mix" / "documents").iterdir()}
    twenty = [document for document in documents if document.name in mix]
    twenty += [document for document in documents if document.name not in mix][: 20 - len(twenty)]
    assert len(twenty) == 20

    def build(bench: Workbench, chosen: list[Document], out: Path) -> Index:
        return bench.builds.run(BuildRequest(chosen, CONFIG, out, "Twenty"), bench.models.context())

    fresh = build(fresh_bench, twenty, tmp_path / "fresh")
    fresh_calls = calls(server)
    fresh_recall = recall(fresh_bench, fresh)

    bench = bench_in(tmp_path / "home", server)
    nineteen = [document for document in twenty if document.name != ADDED]
    index = build(bench, nineteen, tmp_path / "index")
    before = answers(bench, index)
    changes = changes_to(index, [document for document in twenty if document.name == ADDED])
    calls(server)
    preview = bench.updates.preview(index, changes)
    assert calls(server) == 0, "a preview asks nothing"
    updated = bench.updates.update(tmp_path / "index", changes)
    update_calls = calls(server)

    assert update_calls <= 0.15 * fresh_calls, f"{update_calls} of {fresh_calls}"
    assert preview.fresh_calls == pytest.approx(fresh_calls, rel=0.1)
    assert update_calls / 2 <= preview.usage.calls <= 2 * update_calls
    assert abs(recall(bench, updated) - fresh_recall) <= 0.02
    assert [check.detail for check in check_index(updated) if not check.ok] == []

    bench.updates.forget_earlier(tmp_path / "index")  # so that the removal has to be computed
    shutil.rmtree(tmp_path / "index" / "parts", ignore_errors=True)
    calls(server)
    removed = bench.updates.update(tmp_path / "index", removal(updated, [ADDED]))
    assert calls(server) == 0, "what models said of the nineteen is stored"
    assert answers(bench, removed) == before
