import json
from typing import Any

import pyarrow as pa
import pytest

from leanrag_core.errors import ReplyError
from leanrag_core.indexing.extraction.reply import parse_reply

ADA = {"name": "Ada", "type": "person", "description": "Ada wrote."}
BOB = {"name": "Bob", "type": "person", "description": "Bob read [1, 2} it."}
RELATED = {"source": "Ada", "target": "Bob", "description": "Ada wrote to Bob.", "keywords": ["letter"], "strength": 7}
WHOLE = json.dumps({"entities": [ADA, BOB], "relations": [RELATED]})


def relation_of(**cells: Any) -> Any:
    reply = parse_reply(json.dumps({"entities": [], "relations": [{**RELATED, **cells}]}), "c")
    return reply.relations[0], [drop.reason for drop in reply.drops]


def strengths(*given: Any) -> list[float]:
    relations = [{**RELATED, "strength": strength} for strength in given]
    return [relation.strength for relation in parse_reply(json.dumps({"relations": relations}), "c").relations]


@pytest.mark.parametrize("length", range(WHOLE.index("Ada"), WHOLE.rindex("7")))
def test_a_reply_without_its_end_is_known_wherever_it_breaks_off(length: int) -> None:
    assert parse_reply(WHOLE[:length], "c").breaks_off


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        WHOLE[:-1],
        f"```json\n{WHOLE}\n```",
        f"```json\n{WHOLE[:-1]},\n```",
        f"Here you are: {WHOLE} I hope this {{helps",
        WHOLE.replace("}]", "},]"),
        WHOLE.replace('"', "'"),
        WHOLE.replace("Ada wrote.", 'Ada, called "the {first", wrote.').replace("\\", ""),
        WHOLE.replace("Ada wrote.", "It's Ada's [book"),
        json.dumps([ADA]) + WHOLE,
    ],
)
def test_untidy_replies_that_lack_nothing_are_taken_as_whole(text: str) -> None:
    reply = parse_reply(text, "c")
    assert not reply.breaks_off
    assert [mention.name for mention in reply.mentions][-2:] == ["Ada", "Bob"]
    assert len(reply.relations) == 1


@pytest.mark.parametrize("key", ["relationships", "Relationships", "edges", "relation"])
def test_relations_may_be_listed_under_other_names(key: str) -> None:
    reply = parse_reply(json.dumps({"Entities": [ADA, BOB], key: [RELATED]}), "c")
    assert (len(reply.mentions), len(reply.relations)) == (2, 1)


def test_items_may_use_the_names_of_other_systems() -> None:
    fields = {
        "nodes": [{"entity_name": "Ada", "entity_type": "PERSON", "entity_description": "Ada wrote."}],
        "edges": [
            {
                "source_entity": "Ada",
                "target_entity": "Bob",
                "relationship_description": "They wrote.",
                "relationship_strength": "8",
                "relationship_keywords": "letters, friendship",
            }
        ],
    }
    reply = parse_reply(json.dumps(fields), "c")
    assert (reply.mentions[0].name, reply.mentions[0].type, reply.mentions[0].description) == (
        "Ada",
        "person",
        "Ada wrote.",
    )
    relation = reply.relations[0]
    assert (relation.target, relation.strength, relation.keywords) == ("Bob", 8.0, ("letters", "friendship"))


def test_entities_may_be_an_object_by_name() -> None:
    reply = parse_reply(json.dumps({"entities": {"Ada": {"type": "person", "description": "d"}}, "relations": []}), "c")
    assert [mention.name for mention in reply.mentions] == ["Ada"]


@pytest.mark.parametrize(
    ("given", "meant"),
    [("8/10", 8.0), ("85%", 8.5), ("70 of 100", 7.0), ("4/5", 8.0), ("7,5", 7.5), ("high", 8.0), (-3, 0.0), (11, 10.0)],
)
def test_strengths_are_recovered(given: Any, meant: float) -> None:
    assert strengths(given, 5, 5) == [meant, 5, 5]


def test_a_model_that_counts_to_a_hundred_is_understood_and_a_slip_is_limited_to_ten() -> None:
    assert strengths(90, 40, 5) == [9.0, 4.0, 0.5]
    assert strengths(90, 4, 5) == [10.0, 4.0, 5.0]


@pytest.mark.parametrize("given", ["rather", True, [3], {"of": 3}])
def test_a_strength_that_cannot_be_read_costs_itself_and_not_the_relation(given: Any) -> None:
    relation, reasons = relation_of(strength=given)
    assert relation.strength == 1.0
    assert len(reasons) == 1
    assert "strength" in reasons[0]


@pytest.mark.parametrize(
    "given", ["letter; friendship", "letter, friendship", ["letter", "friendship"], "letter、friendship"]
)
def test_keywords_may_be_a_text(given: Any) -> None:
    assert relation_of(keywords=given)[0].keywords == ("letter", "friendship")


def test_a_description_in_pieces_is_one_text() -> None:
    assert relation_of(description=["Ada wrote.", "Bob read."])[0].description == "Ada wrote.; Bob read."


def test_half_a_surrogate_pair_costs_one_character_and_not_the_build() -> None:
    text = '{"entities": [{"name": "Bee \\ud83d", "type": "x", "description": "A \\ud83d\\udc1d."}], "relations": []}'
    (bee,) = parse_reply(text, "c").mentions
    assert (bee.name, bee.description) == ("Bee \ufffd", "A \U0001f41d.")
    assert pa.array([bee.name]).to_pylist() == ["Bee \ufffd"]


def test_a_strength_of_hundreds_of_digits_is_a_strength() -> None:
    assert strengths(int("9" * 400), 3) == [10.0, 3.0]


def test_a_reply_that_is_nested_too_deeply_is_refused_as_one() -> None:
    deep = "[" * 5000 + "]" * 5000
    with pytest.raises(ReplyError):
        parse_reply(f'{{"entities": {deep}}}', "c")
