"""The schema part: types by counting and by a model, attributes within its bounds, and what a person accepts."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from leanrag_core.errors import BudgetSpent
from leanrag_core.indexing.part_base import PartModels, PartTools, ProposingPart, parts
from leanrag_core.indexing.part_building import build_part, read_part
from leanrag_core.indexing.youtu.schema_making import Sighting, counted
from leanrag_core.messages.catalog import sentence
from leanrag_core.models.pacing import Meter
from leanrag_core.storage.layout import read_index, write_index
from leanrag_core.types.calls import Budget
from leanrag_core.types.index import Index
from leanrag_core.types.youtu import ATTRIBUTE, ENTITY, RELATION, Schema, incident_types
from tests.retrieval.scripted import ScriptedLanguage
from tests.small_index import entity, layer, relation, small_index, unit

TYPES = ("insect", "substance", "insect", "plant", "plant", "plant")
DESCRIPTIONS = (
    "The queen is the mother of the colony.",
    "Honey has a weight of 1.4 kg. The mite spoils honey.",
    "A mite is an external parasite.",
    "Rape is yellow.",
    "The height of clover is 30 cm.",
    "About seed coats.",
)


def labelled_index() -> Index:
    """Return the small index with types, descriptions, and keywords of its relations."""
    small = small_index()
    old = small.layers[0]
    names = old.entities["name"].to_pylist()
    entities = [
        entity(name, chunks, description, type=type_)
        for name, chunks, description, type_ in zip(
            names, old.entities["chunks"].to_pylist(), DESCRIPTIONS, TYPES, strict=True
        )
    ]
    relations = [
        relation(0, 1, keywords=["makes"]),
        relation(1, 2, keywords=["spoils"]),
        relation(1, 3, keywords=["makes"]),
        relation(3, 4, kind="co-occurrence"),
        relation(2, 5, keywords=["makes"]),
    ]
    base = layer(0, entities, relations, old.vectors, old.parent.tolist())
    return replace(small, layers=(base, *small.layers[1:]))


def embed(texts: Sequence[str]) -> np.ndarray:
    """Return a direction of its own for each word that the tests use; "harms" is near to "spoils", all others are
    apart."""
    words = ("spoils", "makes", "related to", "has attribute")
    rows = []
    for text in texts:
        row = np.zeros(64)
        row[words.index(text) if text in words else 8 + sum(text.encode()) % 56] = 1.0
        if text == "harms":
            row[:] = 0
            row[0] = 1.0
        rows.append(row[:4] if row[:4].any() else np.array([0.5, -0.5, 0.5, -0.5]) * (1 if len(text) % 2 else -1))
    return unit(rows)


def made(tmp_path: Path, model: ScriptedLanguage | None = None, **options: object) -> Schema:
    directory = tmp_path / "index"
    if not directory.exists():
        directory.mkdir()
        write_index(directory, labelled_index())
    index, info = read_index(directory), parts().named("schema")
    tools = PartTools(embed, model, meter=model.meter if model else Meter())
    build_part(index, info, info.configured(options), PartModels(model), tools)
    schema: Schema = read_part(index, info)
    return schema


def attributes(schema: Schema) -> list[tuple[int, str, str, int]]:
    names = schema.names(ATTRIBUTE)
    return [(row["entity"], names[row["type"]], row["value"], row["chunk"]) for row in schema.attributes.to_pylist()]


def test_without_a_model_types_are_counted_and_patterns_find_attributes(tmp_path: Path) -> None:
    schema = made(tmp_path)
    assert schema.names(ENTITY) == ("plant", "insect", "substance")
    assert schema.names(RELATION) == ("related to", "has attribute", "makes", "spoils")
    assert schema.names(ATTRIBUTE) == ("kind", "amount", "state")
    assert schema.entity_type.tolist() == [1, 2, 1, 0, 0, 0]
    assert schema.relation_type.tolist() == [2, 3, 2, 0, 2]
    # "weight" and "height" are words of the text; they are no types before a person accepts them.
    assert attributes(schema) == [
        (0, "kind", "mother of the colony", -1),
        (1, "amount", "1.4 kg", -1),
        (2, "kind", "external parasite", -1),
        (3, "state", "yellow", -1),
    ]
    assert dict(zip(schema.types["name"].to_pylist(), schema.types["frequency"].to_pylist(), strict=True)) == {
        "plant": 3, "insect": 2, "substance": 1, "related to": 1, "has attribute": 4, "makes": 3, "spoils": 1,
        "kind": 2, "amount": 1, "state": 1,
    }  # fmt: skip
    assert not schema.by_model


def test_incident_types_count_relations_and_attributes(tmp_path: Path) -> None:
    schema = made(tmp_path)
    counts = incident_types(6, labelled_index().layers[0].ends, schema).toarray()
    # Columns: related to, has attribute, makes, spoils.
    assert counts.tolist() == [[0, 1, 1, 0], [0, 1, 2, 1], [0, 1, 1, 1], [1, 1, 1, 0], [1, 0, 0, 0], [0, 0, 1, 0]]


def test_confidence_is_the_share_of_the_commonest_context() -> None:
    seen = [Sighting("treats", "a b"), Sighting("treats", "a b"), Sighting("treats", "a c"), Sighting("is", "")]
    assert [(each.name, each.frequency, round(each.confidence, 2)) for each in counted(RELATION, seen)] == [
        ("treats", 3, 0.67),
        ("is", 1, 1.0),
    ]


def test_what_is_frequent_and_certain_is_proposed_and_belongs_to_the_schema_when_accepted(tmp_path: Path) -> None:
    # The queen is related to a substance alone, the mite to a substance and a plant: insects are .5 consistent.
    bounds = {"most_types": 1, "frequency": 1, "confidence": 0.5}
    schema = made(tmp_path, **bounds)
    assert schema.names(RELATION) == ("related to", "has attribute", "makes")
    shown = [(row["kind"], row["name"], row["accepted"]) for row in schema.proposals.to_pylist()]
    assert shown == [
        ("entity", "insect", False),
        ("entity", "substance", False),
        ("relation", "spoils", False),
        ("attribute", "height", False),
        ("attribute", "weight", False),
    ]
    assert made(tmp_path, **{**bounds, "frequency": 2}).proposals["name"].to_pylist() == ["insect"]
    assert made(tmp_path, **{**bounds, "confidence": 0.6}).proposals["name"][0].as_py() == "substance"
    accepting = made(tmp_path, **bounds, accept="attribute:weight, spoils")
    assert accepting.names(RELATION) == ("related to", "has attribute", "makes", "spoils")
    assert (1, "weight", "1.4 kg", -1) in attributes(accepting)
    assert [row["name"] for row in accepting.proposals.to_pylist() if row["accepted"]] == ["spoils", "weight"]


def test_a_proposal_is_a_sentence_with_its_frequency_and_confidence(tmp_path: Path) -> None:
    part = parts().named("schema").part
    assert isinstance(part, ProposingPart)
    proposals = part.proposals(made(tmp_path, most_types=1, frequency=1, confidence=0.5))
    assert proposals[2].value == "relation:spoils"
    assert sentence(proposals[2].text) == "Relation type “spoils”: 1 occurrence, 100% certain, such as honey, mite"


def test_a_label_outside_the_schema_has_the_nearest_type_where_it_is_near(tmp_path: Path) -> None:
    types = {"entity_types": ["insect"], "relation_types": ["harms"], "attribute_types": ["colour"]}
    schema = made(tmp_path, ScriptedLanguage(lambda prompt: reply(prompt, types)))
    assert schema.names(RELATION) == ("related to", "has attribute", "harms")
    assert schema.relation_type.tolist() == [0, 2, 0, 0, 0]  # "spoils" is near to "harms", "makes" is not


def reply(prompt: str, types: dict[str, list[str]], **by_text: object) -> str:
    """Return the schema, and for the passage that holds a text what is said of it there."""
    if prompt.startswith("Below is a first schema"):
        return json.dumps(types)
    passage = prompt.rsplit("Passage:", 1)[1]
    return json.dumps(next((said for text, said in by_text.items() if text in passage), {"attributes": []}))


SEED = {"entity_types": ["insect"], "relation_types": ["spoils"], "attribute_types": ["colour"]}
QUEEN = {
    "attributes": [
        {"entity": "Queen", "type": "Colour", "value": "brown"},
        {"entity": "queen", "type": "mood", "value": "bad"},
        {"entity": "drone", "type": "colour", "value": "black"},
    ],
    "proposals": [
        {"kind": "attribute", "name": "Task", "entity": "queen", "value": "lays eggs", "confidence": 0.9},
        {"kind": "entity", "name": "ruler", "entity": "queen", "value": "", "confidence": 0.4},
        {"kind": "relation", "name": "stores", "entity": "queen", "value": "honey", "confidence": 1.0},
        {"kind": "relation", "name": "stores", "entity": "bear", "value": "honey", "confidence": 1.0},
    ],
}


def scripted() -> ScriptedLanguage:
    return ScriptedLanguage(lambda prompt: reply(prompt, SEED, queen=QUEEN))


def test_a_model_reads_each_chunk_within_the_schema_and_proposes_what_lacks(tmp_path: Path) -> None:
    model = scripted()
    schema = made(tmp_path, model, frequency=1)
    assert schema.by_model
    assert attributes(schema) == [(0, "colour", "brown", 0)]
    assert [row["name"] for row in schema.proposals.to_pylist()] == ["task", "stores"]
    assert len(model.prompts) == 1 + 4
    assert "attribute types: colour" in model.prompts[1]
    assert not any(prompt for prompt in model.prompts[1:] if "- bees" in prompt)


def test_accepting_a_proposal_of_a_model_asks_the_same_and_types_what_showed_it(tmp_path: Path) -> None:
    first, second = scripted(), scripted()
    made(tmp_path, first, frequency=1)
    schema = made(tmp_path, second, frequency=1, accept="all")
    assert sorted(second.prompts) == sorted(first.prompts)  # so that every reply comes from the store of calls
    assert attributes(schema) == [(0, "colour", "brown", 0), (0, "task", "lays eggs", 0)]
    assert schema.names(RELATION)[schema.relation_type[0]] == "stores"  # queen - honey


def test_a_reply_that_cannot_be_used_leaves_the_seed_and_no_attributes(tmp_path: Path) -> None:
    model = ScriptedLanguage(lambda prompt: "no JSON")
    schema = made(tmp_path, model)
    assert schema.names(RELATION) == ("related to", "has attribute", "makes", "spoils")
    assert (schema.attributes.num_rows, schema.by_model) == (0, True)


def test_a_budget_ends_the_reading(tmp_path: Path) -> None:
    model = ScriptedLanguage(scripted().reply, Meter(Budget(calls=2)))
    with pytest.raises(BudgetSpent):
        made(tmp_path, model)
