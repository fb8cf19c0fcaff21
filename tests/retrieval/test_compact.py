"""The compact context, and the sentences it takes for repeated."""

from dataclasses import replace

import pyarrow as pa
import pytest

from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.retrieval.repeats import WORD, SeenSentences, words_of
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from tests.retrieval.tools import TOOLS
from tests.small_index import unit


@pytest.mark.parametrize(
    ("said", "text", "new"),
    [
        ("The queen lays eggs all day long.", "the QUEEN lays eggs, all day long!", ""),
        ("The queen lays eggs all day long.", "The queen lays eggs all day. Drones do not.", "Drones do not."),
        # Runs of five: "a b c d e", "b c d e f", "c d e f x" of which two of three, less than four of five, were said.
        ("a b c d e f", "a b c d e f x", "a b c d e f x"),
        ("a b c d e f g h i", "a b c d e f g h x", ""),  # four of five runs
        ("The mite drinks.", "A mite drinks.", "A mite drinks."),
        ("So the mite drinks it.", "The mite drinks.", ""),
        ("养蜂人用草酸治疗瓦螨。", "用草酸治疗瓦螨。蜂王产卵。", "蜂王产卵。"),
        ("", "", ""),
    ],
)
def test_a_sentence_is_repeated_when_most_of_its_runs_of_five_words_were_said(said: str, text: str, new: str) -> None:
    so_far = SeenSentences()
    so_far.add([said])
    assert so_far.new(text) == new


def test_words_of_plain_letters_are_found_as_all_words_are() -> None:
    for text in (
        "".join(map(chr, range(128))),
        "The old_mill's trade, 1999 - it's SOLD.",
        "K\u212a Kelvin, Zürich, 蜂箱",
    ):
        assert words_of(text) == WORD.findall(text.lower())


def test_a_text_repeats_what_an_earlier_one_has_kept() -> None:
    said = SeenSentences()
    assert said.new("Bees build comb of wax.") == "Bees build comb of wax."
    assert said.new("Bees build comb of wax. Mites do not.") == "Mites do not."
    assert said.n_dropped == 1
    assert said.new("- Bees build comb of wax.\n- Wasps build paper nests.", lines=True) == "- Wasps build paper nests."


def test_of_a_long_text_the_first_new_sentences_are_kept() -> None:
    said = SeenSentences()
    assert said.new("Bees fly. Bees dance. Bees sleep. Bees eat.", most=2) == "Bees fly. Bees dance."
    assert said.new("Bees fly. Bees sleep.", most=2) == "Bees sleep."
    assert said.n_dropped == 3


def with_descriptions(index: Index, number: int, descriptions: dict[str, str]) -> Index:
    changed = index.layers[number]
    table = [
        row | {"description": descriptions.get(row["name"], row["description"])} for row in changed.entities.to_pylist()
    ]
    entities = pa.Table.from_pylist(table, schema=changed.entities.schema)
    layers = tuple(replace(each, entities=entities) if each.number == number else each for each in index.layers)
    return replace(index, layers=layers)


def retrieve(index: Index, **options: object) -> Trace:
    vector = unit([[1, 0, 1, 0]])[0]
    return strategy("leanrag", {"top_n": 4, "top_c": 4, **options}).retrieve(Query("?", vector), index, TOOLS)


def test_a_compact_context_has_no_sentence_twice_and_the_common_ancestor_alone(index: Index) -> None:
    index = with_descriptions(
        index, 0, {"queen": "The queen lays eggs. She lives for years.", "rape": "Oilseed rape and clover give honey."}
    )
    index = with_descriptions(index, 2, {"farm": "She lives for years. A farm joins bees and fields."})
    trace = retrieve(index, context="compact")
    assert [item.text for item in trace.context.section("entities").items] == [
        "queen (part of bees): She lives for years.",  # chunk 0 says the first sentence
        "rape (part of fields)",  # chunk 2 says all of it
        "honey (part of bees): About honey.",
        "clover (part of fields): About clover.",
    ]
    assert [item.text for item in trace.context.section("aggregated").items] == ["farm: A farm joins bees and fields."]
    assert [item.text for item in trace.context.section("chunks").items] == [
        item.text for item in retrieve(index).context.section("chunks").items
    ]
    assert "3 sentences of entities and relations are left out" in sentence(trace.notes[-1])
    for section in trace.context.sections:
        assert section.tokens == count_tokens(section.text) <= section.budget


def test_a_relation_that_says_nothing_new_is_left_out(index: Index) -> None:
    assert "Bees meet fields." in retrieve(index, context="compact").context.section("relations").text
    index = with_descriptions(index, 2, {"farm": "On a farm bees meet fields."})
    text = retrieve(index, context="compact").context.section("relations").text
    assert "bees and fields" not in text
    assert "queen and honey: 0 meets 1." in text
