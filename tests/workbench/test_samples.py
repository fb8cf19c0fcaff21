"""The sample corpora keep what their descriptions promise."""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.errors import CorpusNotFound
from leanrag_core.indexing.reading import ParsedUpload, read_files
from leanrag_core.indexing.reference.faults import faults
from leanrag_core.indexing.reference.records import read_reference
from leanrag_core.jobs import runner
from leanrag_core.workbench import builds
from leanrag_core.workbench.references import References
from leanrag_core.workbench.samples import FIRST_SAMPLE, PREPARED, PREPARED_STAGES, sample_id
from sample_corpora.openings import chosen
from tests.indexing.reference.text_faults import naming_faults, quote_faults

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).parents[2] / "sample_corpora"
NAMES = ("agriculture", "cs", "irrigation", "legal", "mix")
CHINESE = "irrigation"


@cache
def read(name: str) -> ParsedUpload:
    """Return the documents of that corpus."""
    return read_files([SAMPLES / name / "documents"])


def folded(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


@pytest.mark.parametrize("name", NAMES)
def test_a_corpus_is_large_enough_and_has_every_format(name: str) -> None:
    parsed = read(name)
    assert parsed.refusals == ()
    assert len(parsed.documents) >= 8
    language, length = (
        ("zh", lambda text: len(text) / 1.2) if name == CHINESE else ("en", lambda text: len(text.split()))
    )
    assert sum(length(document.text) for document in parsed.documents) >= 8000  # words
    formats = {"text", "docx", "html", "markdown"} if name == CHINESE else {"pdf", "docx", "html", "markdown"}
    assert formats <= {document.media_type for document in parsed.documents}
    assert {document.language for document in parsed.documents} == {language}


@pytest.mark.parametrize("name", NAMES)
def test_every_gold_quote_occurs_in_its_document_as_it_is_read(name: str) -> None:
    texts = {document.name: folded(document.text) for document in read(name).documents}
    questions = [json.loads(line) for line in (SAMPLES / name / "questions.jsonl").read_text().splitlines()]
    missing = [
        (question["id"], evidence["document"])
        for question in questions
        for evidence in question["evidence"]
        if folded(evidence["quote"]) not in texts[evidence["document"]]
    ]
    assert missing == []


@pytest.mark.parametrize("name", NAMES)
def test_question_sets_hold_every_kind(name: str) -> None:
    questions = [json.loads(line) for line in (SAMPLES / name / "questions.jsonl").read_text().splitlines()]
    kinds = Counter(question["type"] for question in questions)
    assert len(questions) >= 25
    assert len({question["id"] for question in questions}) == len(questions)
    assert kinds["unanswerable"] >= 3
    assert min(kinds["single-hop"], kinds["multi-hop"], kinds["whole-corpus"]) >= 3
    for question in questions:
        documents = {evidence["document"] for evidence in question["evidence"]}
        assert (
            len(documents) >= {"single-hop": 1, "multi-hop": 2, "whole-corpus": 3, "unanswerable": 0}[question["type"]]
        )
        assert (question["type"] == "unanswerable") == (not documents)


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_graph_has_no_fault_and_covers_every_document(name: str, tmp_path: Path) -> None:
    documents = read(name).documents
    graph = read_reference(SAMPLES / name / "reference")
    assert (faults(graph), naming_faults(graph), quote_faults(graph, documents)) == ([], [], [])
    assert References(SAMPLES, Workbench(tmp_path).models).is_complete([document.name for document in documents])
    if name != CHINESE:  # its clusters are written by the built-in writer
        assert min(len(graph.aggregated_entities), len(graph.aggregated_relations)) > 0


def test_the_first_index_of_an_empty_home_is_that_of_a_reference_graph(tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path)
    bench.corpora.all()  # reads the samples
    assert {name: bench.builds.sample_config(name).model for name in NAMES} == dict.fromkeys(NAMES, "reference")


def test_the_index_that_opens_first_has_no_builtin_text_and_most_questions_meet_below_its_root(tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path)
    bench.builds.start_first_sample()
    index = bench.open(bench.indexes.all()[0].id)
    assert index.manifest.builtin_texts == 0
    base, groups, _, root = map(len, index.layers)
    assert (base, groups, root) == (352, 22, 1)
    traces = [
        bench.retrieve(index, question.question, "leanrag", top_n=10)
        for question in bench.corpora.samples.questions(sample_id(FIRST_SAMPLE))
    ]
    highest = [max(item.layer for item in trace.items if "lca" in item.roles) for trace in traces]
    assert sum(layer < len(index.layers) - 1 for layer in highest) >= 0.6 * len(highest)


def test_the_first_start_has_a_prepared_index_and_builds_none(tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path)
    assert bench.builds.start_first_sample() is None
    assert bench.builds.start_first_sample() is None, "it is there now"
    [summary] = bench.indexes.index_list().indexes
    assert (summary.corpus_id, summary.config.cluster_size) == (f"sample-{FIRST_SAMPLE}", 16)
    assert bench.jobs.all() == []
    assert {size.stage for size in bench.stages.sizes()} == {"base graph", "embeddings"}
    assert bench.retrieve(summary.id, "What do beekeepers use against Varroa destructor?").passages


def test_a_sample_corpus_is_read_when_its_card_is_asked_for_first(tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path)
    bench.builds.start_first_sample()
    (index,) = bench.indexes.all()
    assert bench.builds.seconds_with_other_tau(bench.indexes.open(index.id)).high > 0
    assert bench.corpora.summary(index.corpus_id).documents == index.documents
    with pytest.raises(CorpusNotFound):
        bench.corpora.summary("sample-of-nothing")


def test_without_a_prepared_index_the_first_start_builds_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builds, "PREPARED", tmp_path / "none")
    bench = Workbench.default(tmp_path / "home")
    monkeypatch.setattr(runner, "launch", lambda folder, package_root: None)
    assert bench.builds.start_first_sample() is not None
    assert bench.indexes.index_list().indexes == ()


def test_the_prepared_index_has_the_bytes_of_a_build_and_the_examples_are_those_that_are_measured(
    tmp_path: Path,
) -> None:
    bench = Workbench.default(tmp_path)
    index_id, _ = bench.builds.sample_index(FIRST_SAMPLE)
    made, prepared = bench.indexes.path(index_id), PREPARED / index_id
    names = {path.name for path in prepared.iterdir()}
    assert names == {path.name for path in made.iterdir() if path.is_file()}
    different = {name for name in names if (prepared / name).read_bytes() != (made / name).read_bytes()}
    assert different <= {"manifest.json"}, "which names the libraries of this machine"
    bench.stages.save(tmp_path / "stages.arrow")
    assert (tmp_path / "stages.arrow").read_bytes() == PREPARED_STAGES.read_bytes()
    assert chosen(bench, FIRST_SAMPLE) == bench.corpora.samples.examples(f"sample-{FIRST_SAMPLE}")


@pytest.mark.parametrize("name", NAMES)
def test_each_kind_of_question_is_offered_once(name: str, tmp_path: Path) -> None:
    samples = Workbench.default(tmp_path).corpora.samples
    offered, questions = samples.examples(f"sample-{name}"), samples.questions(f"sample-{name}")
    assert offered is not None
    kinds = {question.id: question.kind for question in questions}
    assert [kinds[example.id] for example in offered.examples] == list(dict.fromkeys(kinds.values()))
    assert offered.questions == len(questions)
