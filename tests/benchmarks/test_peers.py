"""Other systems get well-formed input, and their figures are listed beside ours; none of them is installed here."""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers import environments, side_by_side
from benchmarks.peers.environments import Peer, PeerUnavailable, interpreter, peers
from benchmarks.peers.graph import N_QUESTIONS, prepared, write_vocabulary
from benchmarks.peers.prepared import Asked, Prepared, asked, report
from benchmarks.peers.run_fast_graphrag import passages_with_relations
from benchmarks.peers.run_lightrag import knowledge
from benchmarks.peers.side_by_side import compare, sizes_of
from benchmarks.peers.vectors import write_vectors


@pytest.fixture(scope="module")
def small() -> Prepared:
    return prepared(200)


def test_every_reference_of_the_graph_has_its_referent(small: Prepared) -> None:
    names = {entity.name for entity in small.entities}
    assert len(names) == len(small.entities) == len(small.vectors) == 200
    assert all(
        relation.source in names and relation.target in names and relation.source != relation.target
        for relation in small.relations
    )
    rows = {row for entity in small.entities for row in entity.chunks} | {
        relation.chunk for relation in small.relations
    }
    assert rows <= set(range(len(small.passages)))
    assert all(any(entity.name in small.passages[row] for row in entity.chunks) for entity in small.entities)
    assert small.budget.total == 9_500


def test_questions_are_about_related_entities_and_found_by_their_vectors(small: Prepared) -> None:
    assert len(small.questions) == len(small.question_vectors) == N_QUESTIONS
    row_of = {entity.name: row for row, entity in enumerate(small.entities)}
    related = {frozenset((relation.source, relation.target)) for relation in small.relations}
    for number, question in enumerate(small.questions):
        first = question.names[0].removesuffix(f" (question {number})")
        assert frozenset((first, question.names[1])) in related
        scores = small.vectors @ small.embed([question.text])[0]
        assert set(np.argsort(-scores)[:2]) == {row_of[first], row_of[question.names[1]]}


def test_an_entitys_texts_have_its_vector_however_a_system_writes_them(small: Prepared) -> None:
    entity = small.entities[37]
    texts = [
        f"{entity.name}\n{entity.description}",
        entity.name.upper() + entity.description,
        f"[PERSON] {entity.name.upper()}",
    ]
    assert np.array_equal(small.embed(texts), np.stack([small.vectors[37]] * 3))


def test_a_text_without_a_name_has_a_unit_vector_of_its_own(small: Prepared) -> None:
    first, second, again = small.embed(["of nothing", "of something", "of nothing"])
    assert np.array_equal(first, again)
    assert abs(float(first @ second)) < 0.5
    assert np.linalg.norm(first) == pytest.approx(1, abs=1e-6)


def test_what_is_saved_is_loaded(small: Prepared, tmp_path: Path) -> None:
    small.save(tmp_path / "input")
    back = Prepared.load(tmp_path / "input")
    assert back.entities == small.entities
    assert back.relations == small.relations
    assert back.passages == small.passages
    assert back.questions == small.questions
    assert back.budget == small.budget
    assert np.array_equal(back.vectors, small.vectors)
    assert np.array_equal(back.question_vectors, small.question_vectors)


def test_a_prompts_own_question_is_its_last(small: Prepared) -> None:
    prompt = f"Examples: What is this? (question 3)\nNow: {small.questions[7].text}"
    assert small.question_in(prompt) is small.questions[7]


def test_lightrag_gets_every_entity_relation_and_passage(small: Prepared) -> None:
    graph = knowledge(small)
    assert [len(graph[name]) for name in ("entities", "relationships", "chunks")] == [200, len(small.relations), 20]
    sources = {record["source_id"] for record in graph["chunks"]}
    assert {record["source_id"] for record in graph["entities"] + graph["relationships"]} <= sources
    assert min(record["weight"] for record in graph["relationships"]) == 1.0


def test_fast_graphrag_finds_both_ends_of_a_relation_in_its_passage(small: Prepared) -> None:
    passages = passages_with_relations(small)
    assert sorted(row for _, rows in passages for row in rows) == list(range(len(small.relations)))
    assert {row for named, _ in passages for row in named} == set(range(200))
    for named, rows in passages:
        names = {small.entities[row].name for row in named}
        assert all({small.relations[row].source, small.relations[row].target} <= names for row in rows)


def test_the_vocabulary_has_the_name_and_bytes_that_tiktoken_expects(tmp_path: Path) -> None:
    write_vocabulary(tmp_path)
    (only,) = tmp_path.iterdir()
    assert only.name == "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
    digest = hashlib.sha256(only.read_bytes()).hexdigest()
    assert digest == "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"


def test_clustering_peers_get_the_planted_vectors(tmp_path: Path) -> None:
    write_vectors(100, tmp_path)
    with np.load(tmp_path / "planted.npz") as arrays:
        assert arrays["vectors"].shape == (100, 384)
        assert arrays["labels"].shape == (100,)


async def _answer(text: str) -> str:
    return f"context of {text}"


def test_a_report_holds_figures_contexts_and_versions(small: Prepared, tmp_path: Path) -> None:
    import asyncio

    answered = asyncio.run(asked(small, _answer))
    assert answered.replies == tuple(f"context of {question.text}" for question in small.questions)
    report(tmp_path / "out.json", answered, contexts=answered.replies, insert_seconds=1.25, packages=("numpy",))
    written = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert written["contexts"] == list(answered.replies)
    assert written["versions"] == {"numpy": np.__version__}
    assert {"p50_ms", "best_ms", "processor_ms", "insert_seconds", "peak_gb"} == written["figures"].keys()


def test_an_empty_context_is_no_result(tmp_path: Path) -> None:
    answered = Asked((1.0, 2.0), (1.0, 2.0), ("a", ""))
    with pytest.raises(ValueError, match="question 1 got an empty context"):
        report(tmp_path / "out.json", answered, contexts=answered.replies, insert_seconds=0, packages=())


def test_peers_are_found_with_exact_versions() -> None:
    assert [peer.name for peer in peers("retrieval")] == ["fast_graphrag", "lightrag", "nano_graphrag"]
    assert [peer.requirements[0] for peer in peers("retrieval")] == [
        "fast-graphrag==0.0.5",
        "lightrag-hku==1.5.7",
        "nano-graphrag==0.0.8.2",
    ]
    assert [peer.name for peer in peers("clustering")] == ["umap_mixture"]


def test_an_environment_that_cannot_be_made_says_what_was_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = Peer("none", "Nothing", "retrieval", ("no-such-thing==1",))
    python = tmp_path / "none" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho 'ERROR: No matching distribution' >&2\nexit 1\n", encoding="utf-8")
    python.chmod(0o755)
    with pytest.raises(PeerUnavailable, match=r"Nothing could not be installed \(no-such-thing==1\): ERROR: No match"):
        interpreter(peer, tmp_path)
    python.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    assert interpreter(peer, tmp_path) == python
    monkeypatch.setattr(environments.subprocess, "run", None)  # a second time nothing is installed
    assert interpreter(peer, tmp_path) == python


def test_peers_are_measured_at_sizes_that_they_can_bear() -> None:
    assert sizes_of("retrieval", None) == (5_000,)
    assert sizes_of("clustering", (1_000, 20_000, 1_000_000)) == (1_000, 20_000)
    assert sizes_of("relations", None) == ()


def test_our_figures_are_listed_beside_theirs_and_a_failing_peer_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"seconds": 6.0, "processor_seconds": 5.0, "ari": 0.5}
    both = (Peer("good", "Good", "clustering", ()), Peer("bad", "Bad", "clustering", ()))
    monkeypatch.setattr(side_by_side, "peers", lambda section: both)
    monkeypatch.setattr(side_by_side, "interpreter", lambda peer, folder: Path(sys.executable))

    def measured(peer: Peer, python: Path, folder: Path, timeout_seconds: float | None) -> dict[str, object]:
        assert (folder / "planted.npz").is_file()
        if peer.name == "bad":
            return {"error": "it broke"}
        return {"figures": given, "versions": {"thing": "1"}}

    monkeypatch.setattr(side_by_side, "_measured", measured)
    ours = {"cluster_seconds": 0.5, "processor_seconds": 0.25, "ari": 0.9, "wall_seconds": 9.0}
    compared = compare("clustering", (60,), {60: ours})
    assert compared.rows == (
        {"size": 60, "system": "ours", "seconds": 0.5, "processor_seconds": 0.25, "ari": 0.9},
        {"size": 60, "system": "Good", **given, "times_ours": 12.0, "processor_times_ours": 20.0},
    )
    assert compared.versions["Good"] == {"thing": "1"}
    assert compared.failures == ("Bad at 60 failed: it broke",)


def test_a_peer_that_does_not_exist_is_reported_with_those_that_do(tmp_path: Path) -> None:
    compared = compare("retrieval", (), {}, only=["graphrag"], environments=tmp_path)
    assert compared.failures == ("retrieval has no peer 'graphrag'; it has fast_graphrag, lightrag, nano_graphrag",)
