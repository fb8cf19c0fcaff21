import pytest

from leanrag_core.errors import ReplyError
from leanrag_core.indexing.extraction.delimited import parse_delimited
from leanrag_core.types.extraction import Mention, RelationMention

MILL = '("entity"<|>"Carrow mill"<|>"PRODUCT"<|>"The Carrow mill grinds barley.")'
LUNN = '("entity"<|>"Hester Lunn"<|>"PERSON"<|>"Hester Lunn built the mill (in 1788).")'
BUILT = '("relationship"<|>"Hester Lunn"<|>"Carrow mill"<|>"She built it."<|>9)'
REPLY = f"{MILL}##\n{LUNN}##\n{BUILT}<|COMPLETE|>"


def names(text: str) -> list[str]:
    return [mention.name for mention in parse_delimited(text, "c1").mentions]


def ends(text: str) -> list[tuple[str, str, float]]:
    return [(relation.source, relation.target, relation.strength) for relation in parse_delimited(text, "c1").relations]


def test_a_well_formed_reply_gives_all_its_records():
    reply = parse_delimited(REPLY, "c1")
    assert reply.mentions == (
        Mention("Carrow mill", "product", "The Carrow mill grinds barley.", "c1"),
        Mention("Hester Lunn", "person", "Hester Lunn built the mill (in 1788).", "c1"),
    )
    assert reply.relations == (RelationMention("Hester Lunn", "Carrow mill", "She built it.", "c1", (), 9.0),)
    assert reply.done
    assert reply.drops == ()


def test_lightrag_keywords_come_before_the_strength():
    record = '("relationship"<|>"A1"<|>"B1"<|>"A1 feeds B1."<|>"water, supply"<|>7)'
    reply = parse_delimited(f'{record}##("content_keywords"<|>"mills")<|COMPLETE|>', "c1")
    assert reply.relations == (RelationMention("A1", "B1", "A1 feeds B1.", "c1", ("water", "supply"), 7.0),)
    assert reply.drops == ()


@pytest.mark.parametrize(
    "text",
    [
        REPLY.replace('"', ""),
        REPLY.replace('"', "“", 1).replace('"', "”", 1),
        REPLY.replace("##", ""),
        REPLY.replace("##\n", " ## "),
        REPLY.replace(")##", "##").replace("9)", "9"),
        REPLY.replace("(", "", 1),
        f"Found:\n\n**Entities:**\n1. {MILL}\n2. {LUNN}\n\n**Relations:**\n1. {BUILT}\n\nI hope it helps.",
        f"```\n{MILL}\n##\n{LUNN}\n##\n{BUILT}\n```",
        REPLY.replace("<|COMPLETE|>", ""),
        REPLY.replace("<|COMPLETE|>", "<|complete|>"),
        REPLY.replace(".\"<|>9", ".\"</|>9"),
        REPLY.replace("Carrow mill\"<|>\"PRODUCT", "Carrow\n mill\"<|> \"PRODUCT"),
    ],
    ids=[
        "no quotes", "typographic quotes", "no record marks", "spaces around marks", "no closing parentheses",
        "no opening parenthesis", "prose and numbering", "fence", "no end mark", "end mark in small letters",
        "mistyped delimiter", "broken lines",
    ],
)  # fmt: skip
def test_what_models_do_to_the_form_loses_nothing(text: str):
    assert names(text) == ["Carrow mill", "Hester Lunn"]
    assert ends(text) == [("Hester Lunn", "Carrow mill", 9.0)]
    assert parse_delimited(text, "c1").drops == ()


def test_a_type_may_be_called_entity():
    reply = parse_delimited('("entity"<|>"Node"<|>"entity"<|>"A node is one.")', "c1")
    assert reply.mentions == (Mention("Node", "entity", "A node is one.", "c1"),)


def test_parentheses_and_quotes_inside_of_fields_stay():
    reply = parse_delimited('("entity"<|>"Bank (river)"<|>"geo"<|>"Called "the Lee" by all (or most).")', "c1")
    assert reply.mentions[0].name == "Bank (river)"
    assert reply.mentions[0].description == 'Called "the Lee" by all (or most).'


def test_entities_of_markup_are_read_as_characters():
    assert names('("entity"<|>"Marks &amp; Co"<|>"shop"<|>"A shop.")') == ["Marks & Co"]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ('("entity"<|>"Alone"<|>"person")', "here are 2 of 3"),
        ('("entity"<|>""<|>"person"<|>"Nobody.")', "a name is empty"),
        ('("relationship"<|>"A1"<|>5)', "here are 2 of 3"),
        ('("event"<|>"Flood"<|>"x"<|>"The flood came.")', "not 'event'"),
    ],
)
def test_a_broken_record_is_a_drop_and_the_others_stay(record: str, reason: str):
    reply = parse_delimited(f"{MILL}##\n{record}##\n{LUNN}<|COMPLETE|>", "c1")
    assert [mention.name for mention in reply.mentions] == ["Carrow mill", "Hester Lunn"]
    assert len(reply.drops) == 1
    assert reason in reply.drops[0].reason
    assert "chunk c1" in reply.drops[0].item


def test_a_record_that_breaks_off_is_dropped_not_kept_in_part():
    reply = parse_delimited(f'{MILL}##\n("entity"<|>"Hester Lunn"<|>"PERSON"<|>"Hester Lunn bui', "c1")
    assert [mention.name for mention in reply.mentions] == ["Carrow mill"]
    assert reply.drops[0].reason == "the reply breaks off in the middle of this record"
    assert not reply.done


@pytest.mark.parametrize(("written", "strength"), [("9", 9.0), ('"8"', 8.0), ("7/10", 7.0), ("12", 10.0), ("-1", 0.0)])
def test_strengths_are_numbers_from_0_to_10(written: str, strength: float):
    assert ends(f'("relationship"<|>"A1"<|>"B1"<|>"d."<|>{written})') == [("A1", "B1", strength)]


def test_a_relation_without_strength_counts_1():
    assert ends('("relationship"<|>"A1"<|>"B1"<|>"A1 meets B1.")') == [("A1", "B1", 1.0)]


def test_a_complete_reply_without_records_is_empty():
    reply = parse_delimited("<|COMPLETE|>", "c1")
    assert (reply.mentions, reply.relations, reply.done) == ((), (), True)


@pytest.mark.parametrize("text", ["", "YES", '{"entities": []}', "I cannot help with that."])
def test_another_form_is_refused(text: str):
    with pytest.raises(ReplyError, match="no delimited record"):
        parse_delimited(text, "c1")
