"""What a context takes, trims and leaves out when its budgets are small; the hierarchy is that of tests.small_index."""

from dataclasses import replace

import pytest

from leanrag_core.answering.record import ask_record
from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.retrieval.context import Budgets, context_lines, filled, losses
from leanrag_core.retrieval.strategies.leanrag import Config
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Source, Trace, TraceItem, TraceRelation
from tests.retrieval.tools import TOOLS
from tests.small_index import entity, layer, relation, unit

SENTENCE = "Every hive of the valley is looked after by somebody who knows its queen. "
FINDING = {"summary": "Bees are kept.", "explanation": "Each hive has a keeper."}


def retrieve(index: Index, **options: object) -> Trace:
    return strategy("leanrag", {"top_n": 6, "top_c": 4, **options}).retrieve(
        Query("bees?", unit([[1, 0.9, 0.3, 0.3]])[0]), index, TOOLS
    )


def with_texts(index: Index, number: int, **descriptions: str) -> Index:
    """Return the index with other descriptions of a layer's entities, by name, and findings for all of them."""
    changed = index.layers[number]
    rows = [
        row | {"description": descriptions.get(row["name"], row["description"]), "findings": [FINDING] * 3}
        for row in changed.entities.to_pylist()
    ]
    table = type(changed.entities).from_pylist(rows, schema=changed.entities.schema)
    return replace(
        index,
        layers=tuple(replace(old, entities=table) if old.number == number else old for old in index.layers),
    )


def names(trace: Trace, section: str) -> list[str]:
    name_of = {node.id: node.name for node in trace.nodes}
    return [name_of[item.ref] for item in trace.context.section(section).items]


def test_the_lowest_common_ancestor_comes_first_then_the_path_downward_and_findings_last(index: Index) -> None:
    for number in (1, 2):
        index = with_texts(index, number)
    trace = retrieve(index, findings=True)
    assert names(trace, "aggregated") == ["farm", "bees", "fields", "farm", "bees", "fields"]
    items = trace.context.section("aggregated").items
    assert [item.kind for item in items] == ["aggregated"] * 3 + ["findings"] * 3
    assert items[3].text == "farm (findings):\n" + "\n".join(["- Bees are kept. Each hive has a keeper."] * 3)


def test_where_tokens_are_short_the_findings_are_left_out(index: Index) -> None:
    for number in (1, 2):
        index = with_texts(index, number)
    room = 1 + count_tokens(retrieve(index).context.section("aggregated").text)  # one for the line's end
    trace = retrieve(index, findings=True, aggregated_tokens=room)
    assert names(trace, "aggregated") == ["farm", "bees", "fields"]
    assert trace.context.section("aggregated").left_out == 3
    assert [(loss.kind, loss.left_out) for loss in trace.context.section("aggregated").lost] == [("findings", 3)]


def test_an_aggregated_entity_says_of_what_it_is_a_part(index: Index) -> None:
    items = retrieve(index).context.section("aggregated").items
    assert [item.text for item in items] == [
        "farm: About farm.",
        "bees (part of farm): About bees.",
        "fields (part of farm): About fields.",
    ]


def test_one_long_description_is_trimmed_to_whole_sentences_and_the_others_stay(index: Index) -> None:
    trace = retrieve(with_texts(index, 1, bees=SENTENCE * 40), aggregated_tokens=200)
    assert names(trace, "aggregated") == ["farm", "bees", "fields"]
    section = trace.context.section("aggregated")
    long = section.items[1]
    assert long.trimmed
    assert long.text.removeprefix("bees (part of farm): ").replace(SENTENCE, "") == "[…]"
    assert (section.left_out, section.trimmed) == (0, 1)
    assert 150 < section.tokens == count_tokens(section.text) <= 200


def test_a_sentence_without_an_end_is_cut_between_tokens(index: Index) -> None:
    trace = retrieve(with_texts(index, 1, bees="bee " * 900), aggregated_tokens=120)
    long = trace.context.section("aggregated").items[1]
    assert long.text.endswith("bee bee […]")
    assert trace.context.section("aggregated").tokens <= 120


@pytest.mark.parametrize("budget", range(0, 400, 7))
def test_budgets_are_kept_whatever_is_trimmed(index: Index, budget: int) -> None:
    index = with_texts(with_texts(index, 1, bees=SENTENCE * 40), 0, queen=SENTENCE * 9, rape="rape " * 300)
    options = dict.fromkeys(("entity_tokens", "aggregated_tokens", "relation_tokens", "chunk_tokens"), budget)
    context = retrieve(index, findings=True, **options).context
    for section in context.sections:
        assert section.tokens == count_tokens(section.text) <= budget
        assert section.left_out == sum(loss.left_out for loss in section.lost)
        assert section.trimmed == sum(item.trimmed for item in section.items)
        for item in section.items:
            assert item.tokens == count_tokens(f"[{item.mark}] {item.text}\n")
            assert item.text[item.lead :].endswith("[…]") is item.trimmed


def crowded() -> tuple[Index, list[TraceItem], list[TraceRelation]]:
    """Return a layer of 12 nodes under one root, 30 base relations and 20 inter-cluster ones of equal length."""
    rows = [entity(f"n{row}", []) for row in range(12)]
    vectors = unit([[1, row / 10] for row in range(12)])
    bottom: Layer = layer(0, rows, [], vectors, list(range(12)))
    middle = layer(1, [entity(f"m{row}", []) for row in range(12)], [], vectors, [0] * 12)
    top = layer(2, [entity("top", [])], [], unit([[1, 1]]), [])
    index = Index({}, bottom.entities, bottom.entities, (bottom, middle, top), vectors, {})
    nodes = [
        TraceItem(f"id-{'nm'[number]}{row}", "entity", f"{'nm'[number]}{row}", ("seed",), layer=number, row=row)
        for number in (0, 1)
        for row in range(12)
    ]
    pairs = [(larger, other) for larger in range(12) for other in range(larger)]

    def made(role: str, letter: str, number: int, count: int) -> list[TraceRelation]:
        return [
            TraceRelation(f"{role}-{i:02}", f"id-{letter}{a}", f"id-{letter}{b}", role, number, "verb", i % 4, SENTENCE)
            for i, (a, b) in enumerate(pairs[:count])
        ]

    return index, nodes, [*made("base", "n", 0, 30), *made("inter-cluster", "m", 1, 20)]


def kinds(index: Index, nodes: list[TraceItem], relations: list[TraceRelation], budgets: Budgets) -> list[str]:
    context = filled(context_lines(index, nodes, relations, (), findings=False, vector=unit([[1, 0]])[0]), budgets)
    assert context.section("relations").tokens <= budgets.relations
    return [item.kind for item in context.section("relations").items]


def test_each_kind_of_relation_has_its_share() -> None:
    # Lines of 30 and 25 tokens in 496: three fifths hold 9 of the first, the other 226 hold 9 of the second.
    shown = kinds(*crowded(), Budgets(relations=500, inter_cluster_share=60))
    assert shown == ["inter-cluster"] * 9 + ["base"] * 9


def test_room_that_one_kind_does_not_use_goes_to_the_other() -> None:
    index, nodes, relations = crowded()
    few = [listed for listed in relations if listed.role == "base"][:2] + [
        listed for listed in relations if listed.role != "base"
    ]
    shown = kinds(index, nodes, few, Budgets(relations=500, inter_cluster_share=60))
    assert (shown.count("inter-cluster"), shown.count("base")) == (14, 2)
    few = [listed for listed in relations if listed.role == "base"] + [
        listed for listed in relations if listed.role != "base"
    ][:2]
    shown = kinds(index, nodes, few, Budgets(relations=500, inter_cluster_share=60))
    assert (shown.count("inter-cluster"), shown.count("base")) == (2, 17)


def test_the_strongest_relations_stay_and_of_equals_those_nearest_to_the_question() -> None:
    index, nodes, relations = crowded()
    lines = context_lines(index, nodes, relations, (), findings=False, vector=unit([[1, 0]])[0])
    context = filled(lines, Budgets(relations=300))
    of = {listed.id: listed for listed in relations}
    shown = [of[item.ref] for item in context.section("relations").items if item.kind == "inter-cluster"]
    assert [listed.strength for listed in shown] == sorted((listed.strength for listed in shown), reverse=True)
    strongest = [listed for listed in relations if listed.role == "inter-cluster" and listed.strength == 3]
    # The nodes' vectors turn away from the question with their number.
    numbers = {listed.id: int(listed.source[4:]) + int(listed.target[4:]) for listed in strongest}
    assert shown[0].id == min(numbers, key=lambda id_: numbers[id_])


def test_the_default_budgets_hold_fifteen_seeds_and_ten_chunks_of_1024_tokens() -> None:
    index, nodes, _ = crowded()
    text = "hive " * 499
    seeds = [
        replace(node, id=f"s{place}", row=0, text=text, parent=nodes[12].id)
        for place, node in enumerate([nodes[0]] * 15)
    ]
    long = "hive " * 1023
    title = "A title of a usual length, 1898"
    source = Source("d", 0, title, 0, 9, 12, 1023)
    chunks = [
        TraceItem(f"c{row}", "passage", title, ("passage",), row=row, text=long, source=source) for row in range(10)
    ]
    options = Config()
    budgets = Budgets()
    assert (options.entity_tokens, options.chunk_tokens) == (budgets.entities, budgets.chunks)
    context = filled(context_lines(index, [*seeds, nodes[12]], (), chunks, findings=False), budgets)
    assert (len(context.section("entities").items), len(context.section("chunks").items)) == (15, 10)
    assert context.section("chunks").tokens > 10 * 1024
    assert losses(context) == ()


def test_what_is_lost_is_reported_in_words_and_in_the_record(index: Index) -> None:
    trace = retrieve(with_texts(index, 1, bees=SENTENCE * 40), aggregated_tokens=200, entity_tokens=40)
    sentences = [sentence(loss) for loss in losses(trace.context)]
    assert sentences[0].endswith("of 6 seed entities did not fit the 40 tokens of the entities.")
    assert sentences[1] == "1 of 3 aggregated entities was trimmed to fit the 200 tokens of the aggregated entities."
    assert all(loss in sentence(trace.steps[-1].caption) for loss in sentences)
    record = ask_record(trace, None)["context"]
    assert record["trimmed"]["aggregated"] == 1
    assert {"kind": "aggregated", "offered": 3, "left_out": 0, "trimmed": 1} in record["lost"]


def test_a_chunk_that_is_too_long_makes_way_for_a_shorter_one(index: Index) -> None:
    lengths = [count_tokens(item.text) for item in retrieve(index).context.section("chunks").items]
    assert len(lengths) == 4
    trace = retrieve(index, chunk_tokens=sum(lengths))  # the marks and the heading do not fit beside all four
    section = trace.context.section("chunks")
    assert len(section.items) == 3
    assert [(loss.kind, loss.left_out) for loss in section.lost] == [("chunk", 1)]


def test_a_relation_of_the_small_hierarchy_is_written_as_before(index: Index) -> None:
    items = retrieve(index).context.section("relations").items
    assert items[0].text == "bees and fields (2 relations, concatenated): Bees meet fields."
    assert relation(0, 1)["description"] in items[1].text
