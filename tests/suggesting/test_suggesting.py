"""Suggestions come from the data, are bounded in time, and change nothing."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from leanrag_core import IndexConfig, Workbench, suggesting
from leanrag_core.__main__ import main
from leanrag_core.clustering.options import ClusterOptions
from leanrag_core.messages.catalog import sentence
from leanrag_core.queries.islands import best_tau
from leanrag_core.suggesting import Thresholds, _size_suggestion
from leanrag_core.types.index import Index
from leanrag_core.types.suggestion import ReachEvidence, SizeEvidence

pytestmark = pytest.mark.slow

NO_ENDS = np.zeros((0, 2), dtype=np.int32)
TEXT = """# Lighthouses

Ada Thornbury built the Marram Point lighthouse in 1861. The Marram Point lighthouse warns ships of the Teeth. The Coast
Board replaced colza oil by paraffin in 1902. Chance Brothers ground the Fresnel lens of the Marram Point lighthouse.
Ada Thornbury built the Holm Rock lighthouse in 1868. The Coast Board withdrew the last keepers of Holm Rock in 1988.
"""


def planted(n_clusters: int, size: int, seed: int = 0) -> np.ndarray:
    """Return (n_clusters * size, 32) unit rows around so many centres."""
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(n_clusters, 32))
    points = np.repeat(centres, size, axis=0) + 0.15 * draw.normal(size=(n_clusters * size, 32))
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


def never() -> bool:
    return False


def tried(size: int, stability: float, bic: float | None) -> SizeEvidence:
    return SizeEvidence(size, None, bic, stability, None, 3, 10)


def test_clusters_that_are_there_are_the_most_stable_ones() -> None:
    vectors = planted(30, 16)
    rows = tuple(suggesting.tried_sizes(vectors, NO_ENDS, ClusterOptions(), len(vectors), out_of_time=never))
    by_size = {row.cluster_size: row for row in rows}
    # A sample of 80 % has about 13 points of each cluster, so sizes of 12 and 16 find the clusters again.
    assert max(by_size[12].stability, by_size[16].stability) > by_size[5].stability
    assert max(by_size[12].stability, by_size[16].stability) > by_size[60].stability
    assert suggesting.best_size(rows).cluster_size in (12, 16)
    assert rows == tuple(suggesting.tried_sizes(vectors, NO_ENDS, ClusterOptions(), 480, out_of_time=never))


def test_the_most_stable_of_the_sizes_that_fit_about_as_well_is_chosen() -> None:
    # The span of BIC is 100, so those up to 15 above the lowest fit about as well.
    rows = (tried(5, 0.9, 100.0), tried(12, 0.7, 14.0), tried(20, 0.6, 0.0), tried(40, 0.8, 16.0))
    assert suggesting.best_size(rows).cluster_size == 12


def test_without_a_bic_stability_alone_decides() -> None:
    rows = (tried(5, 0.7, None), tried(20, 0.9, None), tried(25, 0.9, None))
    assert suggesting.best_size(rows).cluster_size == 20


def test_no_size_is_tried_after_the_time_is_over() -> None:
    looks = iter((False, False, True))
    rows = suggesting.tried_sizes(planted(10, 12), NO_ENDS, ClusterOptions(), 120, out_of_time=lambda: next(looks))
    assert [row.cluster_size for row in rows] == [5, 8]


def test_a_layer_too_small_for_three_clusters_has_no_evidence() -> None:
    assert list(suggesting.tried_sizes(planted(3, 4), NO_ENDS, ClusterOptions(), 12, out_of_time=never)) == []


def chain(strengths: list[int]) -> Thresholds:
    """Return clusters in a row of two entities each, neighbours being joined by so many relations."""
    ends = [(2 * place, 2 * place + 2) for place, n in enumerate(strengths) for _ in range(n)]
    labels = np.repeat(np.arange(len(strengths) + 1), 2)
    return Thresholds(np.array(ends, dtype=np.int32), labels)


def test_evidence_for_tau_counts_what_is_summarised_and_what_that_connects() -> None:
    rows = {row.tau: (row.summarised, row.connected) for row in chain([1, 4, 4, 2]).tried()}
    # Above 3 the two relations in the middle are left, which join three of five clusters.
    assert rows == {0: (4, 1.0), 1: (3, 0.8), 2: (2, 0.6), 3: (2, 0.6), 4: (0, 0.2)}


def test_tau_is_the_papers_where_that_connects_enough() -> None:
    strong = chain([5, 5, 5, 5])
    assert best_tau(strong.tried(), strong.n_clusters).tau == 3
    weak = chain([2, 2, 2, 2])
    assert best_tau(weak.tried(), weak.n_clusters).tau == 1, "above 2 nothing would be summarised"


def test_too_many_summarised_relations_raise_tau() -> None:
    n = 8
    pairs = [(left, right) for left in range(n) for right in range(left + 1, n)]
    ends = [pair for place, pair in enumerate(pairs) for _ in range(10 if place % 2 else 5)]
    dense = Thresholds(np.array(ends, dtype=np.int32), np.arange(n))
    # 28 pairs are more than two for each of 8 clusters; above 5 there are 14.
    assert best_tau(dense.tried(), dense.n_clusters).tau == 5


def test_the_fewest_that_find_nearly_all_are_enough() -> None:
    rows = [ReachEvidence(3, 100, 0.5), ReachEvidence(5, 200, 0.77), ReachEvidence(10, 400, 0.8)]
    assert suggesting.fewest_with_enough(rows).value == 5


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench.default(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def built(bench: Workbench) -> Index:
    corpus = bench.add_documents("Coast", [("coast.md", TEXT.encode())]).corpus_id
    return bench.build(corpus, IndexConfig(cluster_size=2, chunk_tokens=64, overlap_tokens=8))


def test_an_index_is_looked_at_and_not_changed(bench: Workbench, built: Index) -> None:
    assert built.path is not None
    before = {path.name: path.read_bytes() for path in built.path.iterdir() if path.is_file()}
    made = bench.suggest(built)
    assert {path.name: path.read_bytes() for path in built.path.iterdir() if path.is_file()} == before
    assert replace(bench.suggest(built), seconds=0.0) == replace(made, seconds=0.0)
    names = {suggestion.name for suggestion in made.suggestions}
    assert {"top_n", "top_c"} <= names
    assert not made.has_gold
    assert all("{" not in sentence(suggestion.reason) for suggestion in made.suggestions)


def test_without_time_no_question_is_asked_and_that_is_said(bench: Workbench, built: Index) -> None:
    made = bench.suggest(built, seconds=0)
    assert made.top_n == ()
    assert "The time was over" in " ".join(sentence(note) for note in made.notes)


def test_the_verb_prints_the_evidence(
    built: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path))
    gold = {"question": "Who built Holm Rock?", "evidence": [{"document": "coast.md", "quote": "Ada Thornbury built"}]}
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps(gold), encoding="utf-8")
    assert main(["suggest", str(built.path), "--questions", str(questions), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["has_gold"] is True
    assert made["n_questions"] == 1
    assert main(["suggest", str(built.path), "--questions", str(questions)]) == 0
    assert "Top-N seeds: " in capsys.readouterr().out


def test_a_size_that_was_tried_alone_is_not_called_the_most_stable(built: Index) -> None:
    sizes = (tried(5, 0.5, None), tried(10, 0.6, None))
    assert _size_suggestion(built, sizes[:1], sizes[0]).reason.code == "suggest.reason.only_cluster_size"
    assert _size_suggestion(built, sizes, sizes[1]).reason.code == "suggest.reason.cluster_size"
