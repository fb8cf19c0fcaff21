"""Measures of agreement by hand, and what the released systems are given; none of them is installed here."""

import asyncio
import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.agreement import OURS, agreements, by_question, overlap, rank_biased_overlap, unique_names
from benchmarks.minirag_rules import RELEASED, Ranking, Rules
from benchmarks.peers.environments import peers
from benchmarks.peers.given import Embedding, Given, GivenEntity, GivenQuestion, GivenRelation, GivenReport, Retrieved
from benchmarks.peers.run_hipporag_retrieval import plain_names, triples
from benchmarks.peers.run_minirag_retrieval import Graph, Vectors, table_rows
from benchmarks.peers.run_nano_graphrag_retrieval import sections

GIVEN = Given(
    entities=(
        GivenEntity("Ant Hill", "place", "A hill.", (0,)),
        GivenEntity("Bee", "animal", "A bee.", (0, 1)),
        GivenEntity("Cat", "animal", "A cat.", (1,)),
    ),
    relations=(GivenRelation(0, 1, "They meet.", "meeting", 2.0, (0,)),),
    passages=("First.", "Second."),
    questions=(GivenQuestion("Who meets?", ("meets",), ("meeting",), (), ("who",)),),
    reports=(GivenReport("All", "All of them.", "All of them.", 5.0, 0, -1, (0, 1, 2)),),
    texts=("Who meets?", "meets"),
    vectors={"texts": np.eye(2, dtype=np.float32)},
)


def test_overlap_is_over_the_depth_or_the_longer_list() -> None:
    assert overlap([1, 2, 3], [3, 2, 1], 2) == 0.5
    assert overlap([1], [1, 2], 5) == 0.5
    assert overlap([1], [1, 2], None) == 0.5
    assert overlap([], [], 5) == 1


def test_rank_biased_overlap_by_hand() -> None:
    assert rank_biased_overlap([1, 2, 3], [1, 2, 3]) == pytest.approx(1)
    assert rank_biased_overlap([1, 2], [3, 4]) == 0
    # p = .5, shared items 0 and 2: (1 - p) / p * (0 + 2 / 2 * .25) + 2 / 2 * .25 = .5.
    assert rank_biased_overlap([1, 2], [2, 1], 0.5) == pytest.approx(0.5)
    # p = .5, lists of 1 and 2: (1 * .5 + 1 / 2 * .25 + 1 / 2 * .25) + ((1 - 1) / 2 + 1) * .25 = 1.
    assert rank_biased_overlap([1], [1, 2], 0.5) == pytest.approx(1)
    assert rank_biased_overlap([], []) == 1
    assert rank_biased_overlap([], [1]) == rank_biased_overlap([1], []) == 0


def test_a_kind_that_a_release_does_not_retrieve_has_no_line() -> None:
    ours = [Retrieved((1, 2), (3,), (4,)), Retrieved((1,), (), (5,))]
    theirs = [Retrieved((1, 2), None, (5,)), Retrieved((1,), None, (5,))]
    rows = {row.kind: row for row in agreements("x", "y", ours, theirs)}
    assert set(rows) == {"entities", "chunks"}
    assert (rows["entities"].identical, rows["chunks"].identical, rows["chunks"].least) == (1, 0.5, 0)
    assert by_question(["a", "b"], ours, theirs)[0] == {"question": "a", "entities": 1.0, "chunks": 0.0}


def test_what_is_given_is_the_same_after_saving(tmp_path: Path) -> None:
    GIVEN.save(tmp_path)
    read = Given.load(tmp_path)
    assert (read.entities, read.relations, read.questions) == (GIVEN.entities, GIVEN.relations, GIVEN.questions)
    assert (read.reports, read.passages, read.texts) == (GIVEN.reports, GIVEN.passages, GIVEN.texts)
    assert np.array_equal(read.vectors["texts"], GIVEN.vectors["texts"])


def test_a_text_that_nobody_announced_has_no_vector() -> None:
    embedding = Embedding(GIVEN)
    assert embedding.embed(["meets "]).tolist() == [[0, 1]]
    with pytest.raises(KeyError):
        embedding.embed(["Bee"])


def test_names_stay_apart_when_signs_and_case_are_dropped() -> None:
    assert unique_names(["C", "c++", "Bee", "\u8702"]) == ["C", "c++ 1", "Bee", "\u8702 3"]


def test_hipporag_gets_each_mention_and_each_relation_once_in_a_passage() -> None:
    names = plain_names(GIVEN)
    assert names == ["ant hill", "bee", "cat"]
    assert triples(GIVEN, names) == [
        [["ant hill", "relation 0", "bee"]],  # whatever its weight is
        [["bee", "mention", "bee"], ["cat", "mention", "cat"]],
    ]


def test_tables_of_nano_graphrag_are_read_although_texts_hold_quotes_and_lines() -> None:
    table = 'id,\tcontent\n0,\t"4 He said "no",\nand left."\n1,\t"2 Next."\n'
    context = f"\n-----Sources-----\n```csv\n{table}\n```\n"
    assert [cells[1].split()[0] for cells in sections(context)["sources"]] == ["4", "2"]


def test_each_release_has_a_strategy_to_compare_with() -> None:
    assert {peer.name for peer in peers("agreement")} == set(OURS)
    assert {peer.environment for peer in peers("agreement")} >= {"lightrag", "hipporag"}


# Ant - bee - cat, and ant - cat; the question names the ant, and a place may be the answer.
PATHS = replace(
    GIVEN,
    relations=(GivenRelation(0, 1, "Meet.", "", 1.0, (0,)), GivenRelation(1, 2, "Meet.", "", 1.0, (1,))),
    questions=(replace(GIVEN.questions[0], mapped=("meets",), types=("animal",)),),
    vectors={
        "texts": np.eye(2, dtype=np.float32),  # the question, and the name
        "names": np.array([[0, 1], [1, 0], [1, 0]], dtype=np.float32),
        "relations": np.array([[0, 1], [1, 0]], dtype=np.float32),
        "chunks": np.array([[0, 1], [1, 0]], dtype=np.float32),
    },
)


def test_paths_of_minirag_have_two_hops_and_end_where_nothing_follows() -> None:
    graph = Graph(PATHS)
    paths = graph.get_neighbors_within_k_hops
    assert asyncio.run(paths("Ant Hill", 2)) == [("Ant Hill", "Bee", "Cat")]
    assert asyncio.run(paths("Bee", 2)) == [("Bee", "Ant Hill"), ("Bee", "Cat")]
    assert asyncio.run(graph.get_edge("Cat", "Bee")) == {"source_id": "1"}
    assert [cells["entity_name"] for cells in asyncio.run(graph.get_node_from_types(["place"]))] == ["Ant Hill"]


def test_what_is_far_from_a_text_is_not_found_by_minirag() -> None:
    vectors = Vectors(
        np.array([[0.1, 0.9], [0.9, 0.1]], dtype=np.float32), [{"id": "a"}, {"id": "b"}], Embedding(GIVEN)
    )
    assert [each["id"] for each in asyncio.run(vectors.query("Who meets?", 2))] == ["b"]


def test_tables_of_minirag_are_read_although_texts_hold_signs_of_tables() -> None:
    texts = ['0 He said "no",\nand left.\n```\n', "1 Next."]
    table = io.StringIO()
    csv.writer(table).writerows([["id", "content"], *enumerate(texts)])
    context = "\n-----Entities-----\n```csv\nentity,score,description\r\nBee,1,b\r\n\n```\n-----Sources-----\n```csv\n"
    context += f"{table.getvalue()}\n```\n"
    assert table_rows(context, "Entities")[0][0] == "Bee"
    assert [cells[1][0] for cells in table_rows(context, "Sources") if cells] == ["0", "1"]


def test_chunks_of_minirag_by_each_rule() -> None:
    ranking, [question] = Ranking(PATHS), PATHS.questions
    # One path, ant - bee - cat: 1 and two of the type and one vote, 4. Chunk 0 is of ant and bee, 1 of bee and cat and
    # of the voted edge: 3 times 4 beside 2 times 4.
    assert ranking.chunks(question, Rules()) == (1, 0)
    # Nothing else is passed twice, so the rules of the release give the same here.
    assert ranking.chunks(question, RELEASED) == (1, 0)
    # Stored the other way round, the edge is not on the path for the release: chunk 0 comes first, as found first.
    turned = replace(PATHS, relations=(PATHS.relations[0], replace(PATHS.relations[1], source=2, target=1)))
    assert Ranking(turned).chunks(question, Rules()) == (1, 0)
    assert Ranking(turned).chunks(question, Rules(one_direction=True, order_of_finding=True)) == (0, 1)


def test_minirag_finds_nothing_where_nothing_is_near_to_the_last_name() -> None:
    far = replace(PATHS, vectors={**PATHS.vectors, "names": np.array([[1, 0]] * 3, dtype=np.float32)})
    [question] = far.questions
    assert Ranking(far).chunks(question, Rules(needs_last_name=True)) == ()
    assert Ranking(far).chunks(question, Rules()) == (1, 0)  # by their cosines to the question
