"""Everything wrong with a reference graph is listed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core.errors import RecordDamaged, ReferenceDamaged
from leanrag_core.files.records import to_json
from leanrag_core.indexing.reference.faults import Quoted, faults, quoted_documents
from leanrag_core.indexing.reference.records import (
    AggregatedSentence,
    AggregatedText,
    Quote,
    ReferenceGraph,
    read_reference,
)
from leanrag_core.messages.catalog import sentence
from tests.indexing.reference.hives import DOCUMENT, ENTITIES, HIVE, RELATIONS, entity, relation
from tests.indexing.reference.text_faults import naming_faults, quote_faults


def _codes(graph: ReferenceGraph) -> list[str]:
    listed = faults(graph)
    assert all(sentence(fault) for fault in listed)
    return [fault.code for fault in listed]


def test_the_graph_of_the_hive_has_no_fault():
    assert faults(HIVE) == []
    assert naming_faults(HIVE) == []
    assert quote_faults(HIVE, [DOCUMENT]) == []
    assert quoted_documents(HIVE, ["hive.md"]) == [Quoted("hive.md", 4, 2)]


def test_names_and_aliases_belong_to_one_entity():
    doubled = replace(HIVE, entities=(*ENTITIES, entity("queen", "Drones"), entity("Bee", "Drones", "workers")))
    assert _codes(doubled) == [
        "reference.name_twice",  # Queen
        "reference.alias_twice",  # workers, of Worker
        "reference.name_twice",  # queen
        "reference.alias_twice",  # workers, of Bee
    ]


@pytest.mark.parametrize(
    ("extra", "codes"),
    [
        (relation("Queen", "Hive", "Drones"), ["reference.no_end"]),
        (relation("Queen", "queen", "Drones"), ["reference.same_ends"]),
        (relation("Drone", "Queen", "Drones"), ["reference.pair_twice", "reference.pair_twice"]),
    ],
)
def test_relations_join_two_entities_once(extra, codes):
    assert _codes(replace(HIVE, relations=(*RELATIONS, extra))) == codes


def test_texts_of_clusters_name_what_is_there():
    first, second = HIVE.aggregated_entities
    assert _codes(replace(HIVE, aggregated_entities=(replace(first, members=("Queen", "King")), second))) == [
        "reference.no_member"
    ]
    assert _codes(replace(HIVE, aggregated_entities=(first, replace(first, name="Mating"), second))) == [
        "reference.members_twice",
        "reference.members_twice",
    ]
    assert _codes(replace(HIVE, aggregated_entities=(first,))) == ["reference.no_aggregated_end"]


def test_a_quote_that_is_nowhere_and_a_document_that_is_not_there_are_listed():
    lost = replace(ENTITIES[0], quotes=(Quote("hive.md", "The king"), Quote("other.md", "The queen")))
    assert quote_faults(replace(HIVE, entities=(lost, *ENTITIES[1:])), [DOCUMENT]) == [
        f"{lost.name}: hive.md does not hold the quote “The king”",
        f"{lost.name}: the corpus has no document other.md",
    ]


def _write(folder: Path, graph: ReferenceGraph) -> None:
    for name in ("entities", "relations", "aggregated_entities", "aggregated_relations"):
        (folder / f"{name}.jsonl").write_bytes(b"".join(to_json(row) + b"\n" for row in getattr(graph, name)))


def test_what_is_written_is_read(tmp_path: Path):
    _write(tmp_path, HIVE)
    assert read_reference(tmp_path) == HIVE


def test_a_line_with_a_wrong_field_is_refused_with_its_place(tmp_path: Path):
    _write(tmp_path, HIVE)
    row = json.loads(to_json(RELATIONS[0])) | {"strength": 11}
    (tmp_path / "relations.jsonl").write_text(f"\n{json.dumps(row)}\n")
    with pytest.raises(RecordDamaged, match=r"relations\.jsonl line 2.*strength"):
        read_reference(tmp_path)
    row = json.loads(to_json(RELATIONS[0])) | {"weight": 1}
    (tmp_path / "relations.jsonl").write_text(json.dumps(row))
    with pytest.raises(RecordDamaged, match="weight"):
        read_reference(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(ReferenceDamaged, match=r"entities\.jsonl"):
        read_reference(tmp_path)


@pytest.mark.parametrize("name", ["worker", "Larvae", "Brood care"])
def test_an_aggregated_entity_does_not_bear_the_name_of_anything_below_it(name):
    members = ("Queen", "Drone", "Worker", "Larva")
    graph = replace(HIVE, aggregated_entities=(*HIVE.aggregated_entities, AggregatedText(2, members, name, "All.", ())))
    assert naming_faults(graph) == [f"{name}: an entity below this aggregated entity of layer 2 has the same name"]


@pytest.mark.parametrize(
    ("description", "named"),
    [
        ("What is laid must be fed.", []),
        ("The queen lays what must be fed.", ["Queen"]),
        ("Workers feed the larvae.", ["workers", "larvae"]),
        ("Dronelike insects are fed.", []),
    ],
)
def test_an_aggregated_relation_names_no_member_of_its_ends(description, named):
    relation = AggregatedSentence(1, "Reproduction", "Brood care", description)
    label = "Reproduction – Brood care"
    assert naming_faults(replace(HIVE, aggregated_relations=(relation,))) == [
        f"{label}: names the member {name}; the sentence is about the groups as wholes" for name in named
    ]
