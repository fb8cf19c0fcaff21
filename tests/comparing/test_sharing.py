"""Who retrieved what, over traces written by hand."""

from collections.abc import Sequence
from dataclasses import replace

from leanrag_core.comparing.context_rows import context_rows
from leanrag_core.comparing.sentences import said_alone, say_the_same
from leanrag_core.comparing.sharing import CHUNKS, ENTITIES, RELATIONS, compare
from leanrag_core.messages.message import message
from leanrag_core.types.trace import (
    Answer,
    AnswerPart,
    Context,
    ContextItem,
    ContextSection,
    Source,
    Trace,
    TraceIndex,
    TraceItem,
    TraceRelation,
)

INDEX = TraceIndex("i", "Bees", (6, 2, 1))


def entity(name: str, parent: str | None = None) -> TraceItem:
    return TraceItem(f"id-{name}", "entity", name, ("seed",), layer=0, parent=parent)


def passage(row: int) -> TraceItem:
    return TraceItem(
        f"chunk-{row}", "passage", "Bees", ("passage",), row=row, source=Source("b.md", 0, "Bees", 10 * row, 9, None, 5)
    )


def relation(source: str, target: str, role: str = "base") -> TraceRelation:
    return TraceRelation(f"rel-{source}-{target}", f"id-{source}", f"id-{target}", role, 0, "verb", 1.0, "meet")


def trace(items: Sequence[TraceItem], relations: Sequence[TraceRelation] = (), index: TraceIndex = INDEX) -> Trace:
    """Return a retrieval whose context has all of it."""
    passages = [item for item in items if item.source]
    facts = [*(item for item in items if not item.source), *relations]
    sections = tuple(
        ContextSection(name, message(f"section.{name}.title"), letter, "chunk", tuple(kept), "", 5, 100)
        for name, letter, kept in (
            (
                "chunks",
                "C",
                [ContextItem(f"C{n}", each.id, each.text, 5, "chunk") for n, each in enumerate(passages, 1)],
            ),
            ("entities", "E", [ContextItem(f"E{n}", each.id, "", 5, "fact") for n, each in enumerate(facts, 1)]),
        )
    )
    return Trace(
        question="?",
        strategy="s",
        title=message("strategy.leanrag.title"),
        parameters={},
        items=tuple(items),
        relations=tuple(relations),
        context=Context("", 5, sections),
        steps=(),
        styles=(),
        index=index,
    )


A = trace([entity("queen", "id-bees"), entity("honey"), passage(0), passage(1)], [relation("queen", "honey")])
B = trace([entity("honey"), entity("mite"), passage(1), passage(2)])
C = trace([passage(1)])


def test_items_are_sorted_by_the_columns_that_have_them() -> None:
    shared = compare({"A": A, "B": B, "C": C})
    entities = shared.kind(ENTITIES)
    assert entities.sizes == {"A": 2, "B": 2, "C": 0}
    assert [(part.letters, part.names) for part in entities.intersections] == [
        (("A", "B"), ("honey",)),
        (("A",), ("queen",)),
        (("B",), ("mite",)),
    ]
    assert entities.total == 3
    chunks = shared.kind(CHUNKS)
    assert chunks.of("A", "B", "C") == ("Bees, chunk 2",)
    assert chunks.of("A", "B") == (), "what three columns have is not counted for two of them"
    assert shared.kind(RELATIONS).of("A") == ("queen, honey",)
    assert shared.owners["B"]["chunk-1"] == "ABC"
    assert shared.owners["A"]["id-queen"] == "A"

    chinese = compare({"A": A, "B": B, "C": C}, "zh").kind(CHUNKS)
    assert chinese.of("A", "B", "C") == ("Bees，第 2 个文本块",), "places are named in the language that is asked for"
    assert chinese.sizes == chunks.sizes


def test_what_a_budget_left_out_is_not_shared_but_still_retrieved() -> None:
    chunks, facts = A.context.sections
    short = replace(A, context=replace(A.context, sections=(replace(chunks, items=chunks.items[:1]), facts)))
    shared = compare({"A": short, "B": B})
    assert shared.kind(CHUNKS).sizes == {"A": 1, "B": 2}, "of A only its first passage is in the context"
    assert shared.kind(CHUNKS).of("A", "B") == ()
    assert compare({"A": A, "B": B}).kind(CHUNKS).of("A", "B") == ("Bees, chunk 2",)
    assert shared.owners["A"]["chunk-1"] == "AB", "both retrieved it, and the drawing says so"


def test_a_link_to_a_parent_is_no_relation_of_its_own() -> None:
    child, parent = entity("queen", "id-bees"), replace(entity("bees"), kind="aggregated-entity", layer=1)
    tree = relation("queen", "bees", "tree")
    assert compare({"A": trace([child, parent], [tree])}).kind(RELATIONS).intersections == ()


def test_items_of_two_indexes_are_the_same_by_name_and_by_place_in_the_document() -> None:
    other = TraceIndex("j", "Bees again", (6, 2, 1))
    elsewhere = trace([replace(entity("Honey"), id="other-1"), replace(passage(1), id="other-chunk")], index=other)
    shared = compare({"A": A, "B": elsewhere})
    assert shared.kind(ENTITIES).of("A", "B") == ("honey",)
    assert shared.owners["B"]["other-chunk"] == "AB"
    assert compare({"A": A, "B": replace(elsewhere, index=INDEX)}).kind(ENTITIES).of("A", "B") == ()


def test_the_same_item_stands_in_the_same_row_of_the_contexts() -> None:
    rows = [row for row in context_rows({"A": A, "B": B, "C": C}, baseline="B") if row.section == "C"]
    assert [
        (row.name, row.letters, [cell.mark for cell in row.cells.values()]) for row in rows if row.section == "C"
    ] == [
        ("Bees, chunk 2", "ABC", ["C2", "C1", "C1"]),
        ("Bees, chunk 3", "B", ["C2"]),
        ("Bees, chunk 1", "A", ["C1"]),
    ]


def test_the_seed_of_one_strategy_and_the_entity_of_another_are_in_one_row() -> None:
    def with_kind(kind: str) -> Trace:
        item = ContextItem("E1", "id-honey", "honey", 3, kind)
        section = ContextSection("entities", message("section.entities.title"), "E", "entity", (item,), "", 3, 100)
        return replace(A, context=Context("", 3, (section,)))

    rows = context_rows({"A": with_kind("seed"), "B": with_kind("entity")})
    assert [(row.name, row.letters) for row in rows] == [("honey", "AB")]


def answer(*sentences: str, grounded: bool = True) -> Answer:
    parts = tuple(AnswerPart(text, ("C1",)) for text in sentences)
    return Answer("", parts, ("C1",), grounded, extractive=False, model="m", trace=A)


def test_a_sentence_is_said_alone_when_less_than_six_of_ten_of_its_words_are_in_another_answers_sentence() -> None:
    answers = {
        "A": answer("Workers store the honey in combs.", "Mites drink blood."),
        "B": answer("The worker stored honey in a comb."),
        "C": answer("Nothing answers this.", grounded=False),
    }
    assert said_alone(answers) == {"A": frozenset({1}), "B": frozenset(), "C": frozenset()}


def test_the_only_answer_says_nothing_alone() -> None:
    assert said_alone({"A": answer("Mites drink blood.")}) == {"A": frozenset()}


def test_answers_say_the_same_when_none_says_more_or_less() -> None:
    stored, in_other_words = answer("Workers store the honey."), answer("The worker stored honey.")
    assert say_the_same({"A": stored, "B": in_other_words})
    assert not say_the_same({"A": stored}), "one answer alone"
    assert not say_the_same({"A": stored, "B": answer("Workers store the honey.", "A worker stores honey.")})
    assert not say_the_same({"A": stored, "B": answer("Mites drink blood.")})
    refused = answer("Nothing answers this.", grounded=False)
    assert not say_the_same({"A": refused, "B": refused})
