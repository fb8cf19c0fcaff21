"""A corpus with a reference graph is built over it; other corpora are refused with the remedy."""

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.__main__ import main
from leanrag_core.checking.check import check_index
from leanrag_core.errors import ReferenceDamaged
from leanrag_core.files.records import to_json
from leanrag_core.models.minilm import MiniLM
from leanrag_core.types.index import Index
from leanrag_core.workbench.references import References
from tests.indexing.reference.hives import HIVE, TEXT

pytestmark = pytest.mark.slow

REFERENCE = IndexConfig(model="reference", chunk_tokens=32, overlap_tokens=4)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    folder = tmp_path_factory.mktemp("corpora") / "hive" / "reference"
    folder.mkdir(parents=True)
    for name in ("entities", "relations", "aggregated_entities", "aggregated_relations"):
        (folder / f"{name}.jsonl").write_bytes(b"".join(to_json(row) + b"\n" for row in getattr(HIVE, name)))
    opened = Workbench.default(tmp_path_factory.mktemp("home"))
    opened.builds._references = opened.references = References(folder.parents[1], opened.models)
    return opened


@pytest.fixture(scope="module")
def built(bench: Workbench) -> Index:
    return bench.build(bench.add_documents("Hive", [("hive.md", TEXT.encode())]).corpus_id, REFERENCE)


def test_the_index_holds_what_was_written_by_hand_and_keeps_every_promise(built: Index) -> None:
    assert built.manifest.kind == "reference graph"
    assert built.manifest.extractor.startswith("reference:1/")
    assert sorted(built.layers[0].entities["name"].to_pylist()) == ["Drone", "Larva", "Queen", "Worker"]
    assert [str(problem) for result in check_index(built, MiniLM()) for problem in result.problems] == []


def test_the_report_counts_what_the_builtin_writer_wrote(bench: Workbench, built: Index) -> None:
    assert built.path is not None
    summary = next(row for row in bench.indexes.all() if row.id == built.path.name)
    assert (summary.builtin_texts, summary.aggregated_texts) == (1, 1)  # four entities are one cluster, the root
    assert [drop.by_builtin for drop in built.report.dropped["aggregate entities"]] == [True]


def test_questions_are_answered_without_a_model(bench: Workbench, built: Index) -> None:
    answer = bench.ask(built, "What does the queen lay?")
    assert answer.extractive
    assert "eggs" in answer.text


def test_a_corpus_without_a_reference_graph_is_refused_with_the_remedy(bench: Workbench) -> None:
    corpus_id = bench.add_documents("Farm", [("farm.md", b"Clover feeds the bees of the farm.")]).corpus_id
    assert not bench.builds.has_reference(corpus_id)
    with pytest.raises(ReferenceDamaged, match="choose the built-in engine"):
        bench.build(corpus_id, REFERENCE)


def test_a_reference_graph_is_complete_with_twenty_of_each_in_every_document(bench: Workbench, built: Index) -> None:
    references = bench.references
    assert references.covering(["hive.md", "farm.md"]) is not None
    assert references.covering(["farm.md"]) is None
    assert not references.is_complete(["hive.md"])


def test_a_reference_graph_beside_itself_has_no_score_and_that_is_said(
    bench: Workbench, built: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.references.score(built, embedded=False) is None
    assert built.path is not None
    assert main(["evaluate", str(built.path), "--extraction"]) == 2
    assert "is the reference graph itself" in capsys.readouterr().err
