import pytest

from leanrag_core.indexing.names import entity_id, name_key, tidy_name
from leanrag_core.indexing.resolution import most_telling, resolve, trim_sentence
from leanrag_core.types.corpus import Chunk
from leanrag_core.types.extraction import Extraction, Mention, RelationMention
from leanrag_core.types.graph import ENTITY_SCHEMA, RELATION_SCHEMA

CHUNKS = [Chunk(f"c{n}", "d", n, 0, 1, 1, "x") for n in range(4)]


def entity(name: str, chunk: int = 0, description: str = "", kind: str = "person", weight: float = 0.0) -> Mention:
    return Mention(name, kind, description, f"c{chunk}", weight)


def relation(source: str, target: str, chunk: int = 0, description: str = "r", **more: object) -> RelationMention:
    return RelationMention(source, target, description, f"c{chunk}", **more)


def extractions(*mentions: Mention | RelationMention) -> list[Extraction]:
    return [
        Extraction(
            chunk.id,
            tuple(mention for mention in mentions if isinstance(mention, Mention) and mention.chunk_id == chunk.id),
            tuple(
                mention for mention in mentions if isinstance(mention, RelationMention) and mention.chunk_id == chunk.id
            ),
        )
        for chunk in CHUNKS
    ]


def test_spellings_of_one_name_become_one_entity_shown_in_its_most_frequent_form() -> None:
    merged = resolve(
        extractions(entity("marie curie"), entity("“Marie  Curie”", 1), entity("Marie Curie", 2), entity("Ｃurie", 3)),
        CHUNKS,
        heuristic=False,
    )
    assert merged.graph.entities["name"].to_pylist() == ["Marie Curie", "Curie"]
    assert merged.graph.entities["chunks"].to_pylist() == [[0, 1, 2], [3]]
    assert merged.aliases == {"marie curie": "Marie Curie"}


def test_equally_frequent_forms_are_decided_by_the_alphabet() -> None:
    merged = resolve(extractions(entity("radium"), entity("Radium", 1)), CHUNKS, heuristic=False)
    assert merged.graph.entities["name"].to_pylist() == ["Radium"]


@pytest.mark.parametrize(
    ("name", "tidy"),
    [
        ('"Radium,"', "Radium"),
        ("Tarnwick Inc.", "Tarnwick Inc."),
        ("the end of it.", "the end of it"),
        ("Lilu (mythology)", "Lilu (mythology)"),
        ("(Radium)", "Radium"),
        ("C++", "C++"),
        ("Yahoo!", "Yahoo!"),
        ("  a\n b ", "a b"),
        ("*?*", ""),
        ("A****", "A****"),
        ('"A****",', "A****"),
        ("F*.", "F*."),
        ("C#", "C#"),
        ("J____", "J____"),
        ("**Radium**", "Radium"),
        ("**A******", "A****"),
        ("_Radium_,", "Radium"),
        ("* Radium", "Radium"),
        ("***", ""),
    ],
)
def test_outer_quotes_and_punctuation_do_not_belong_to_a_name(name: str, tidy: str) -> None:
    assert tidy_name(name) == tidy


def test_what_is_masked_or_marked_is_another_name() -> None:
    names = ("A", "A*", "A****", "A__", "A+", "A#", "C", "C++", "C#", "F", "F*")
    assert len({name_key(name) for name in names}) == len(names)
    assert name_key("F*.") == name_key("f*")


def test_a_final_stop_does_not_part_two_names() -> None:
    assert name_key("U.S.") == name_key("u.s")


def test_the_majority_of_types_wins_and_vague_types_count_only_alone() -> None:
    merged = resolve(
        extractions(
            entity("A", kind="person"),
            entity("A", 1, kind="organization"),
            entity("A", 2, kind="organization"),
            entity("B", kind="title"),
            entity("B", 1, kind="title"),
            entity("B", 2, kind="work"),
            entity("C", kind="person"),
            entity("C", kind="event"),
            entity("D", kind="unknown"),
        ),
        CHUNKS,
        heuristic=False,
    )
    types = dict(zip(merged.graph.entities["name"].to_pylist(), merged.graph.entities["type"].to_pylist(), strict=True))
    assert types == {"A": "organization", "B": "work", "C": "event", "D": "unknown"}


def test_a_model_graph_keeps_each_description_once() -> None:
    merged = resolve(
        extractions(entity("A", 0, "One."), entity("A", 1, "Two."), entity("A", 2, "One.")), CHUNKS, heuristic=False
    )
    assert merged.graph.entities["description"].to_pylist() == ["One. Two."]


def test_a_heuristic_graph_keeps_the_three_sentences_that_say_most_from_different_chunks() -> None:
    sentences = [(0, "a", 5.0), (0, "b", 4.0), (1, "c", 3.0), (2, "d", 1.0), (3, "e", 0.5)]
    merged = resolve(extractions(*(entity("A", c, text, weight=w) for c, text, w in sentences)), CHUNKS, heuristic=True)
    assert merged.graph.entities["description"].to_pylist() == ["a c d"]


def test_sentences_of_one_chunk_fill_up_when_there_are_no_other_chunks() -> None:
    assert most_telling([(1.0, 0, "x"), (2.0, 0, "y"), (2.0, 0, "y"), (0.5, 0, "z")], 2) == ["y", "x"]


def test_a_long_sentence_ends_at_a_clause() -> None:
    words = " ".join(f"w{n}" for n in range(40)) + "; " + " ".join(f"v{n}" for n in range(40))
    assert trim_sentence(words).endswith("w39 …")
    assert trim_sentence("short enough.") == "short enough."
    assert len(trim_sentence("word " * 100).split()) == 61


def test_relations_merge_on_the_unordered_pair_and_weights_add_up() -> None:
    merged = resolve(
        extractions(
            entity("A"),
            entity("B"),
            relation("A", "B", 0, "A made B", strength=4.0, kind="verb", keywords=("make",)),
            relation("b", "a", 2, "A and B", strength=1.0, kind="co-occurrence", keywords=("make", "meet")),
        ),
        CHUNKS,
        heuristic=False,
    )
    (row,) = merged.graph.relations.to_pylist()
    assert (row["source"], row["target"], row["weight"], row["kind"]) == (0, 1, 5.0, "verb")
    assert row["description"] == "A made B A and B"
    assert row["keywords"] == ["make", "meet"]
    assert row["chunks"] == [0, 2]
    assert (row["strength"], row["members"]) == (1, [])


def test_a_sentence_that_two_chunks_share_counts_once_in_a_heuristic_graph() -> None:
    twice = extractions(entity("A"), entity("B"), relation("A", "B", 0, "same"), relation("A", "B", 1, "same"))
    assert resolve(twice, CHUNKS, heuristic=True).graph.relations["weight"].to_pylist() == [1.0]
    assert resolve(twice, CHUNKS, heuristic=False).graph.relations["weight"].to_pylist() == [2.0]
    assert resolve(twice, CHUNKS, heuristic=True).graph.relations["chunks"].to_pylist() == [[0, 1]]


def test_a_heuristic_relation_keeps_five_sentences_the_strongest_first() -> None:
    relations = [relation("A", "B", 0, f"s{n}", strength=float(n)) for n in range(7)]
    merged = resolve(extractions(entity("A"), entity("B"), *relations), CHUNKS, heuristic=True)
    assert merged.graph.relations["description"].to_pylist() == ["s6 s5 s4 s3 s2"]


def test_what_cannot_be_kept_is_reported() -> None:
    merged = resolve(
        extractions(entity("A"), entity("..."), relation("A", '"a"'), relation("A", "!?")), CHUNKS, heuristic=False
    )
    assert merged.graph.relations.num_rows == 0
    assert [(drop.stage, drop.item) for drop in merged.drops] == [
        ("merge", "entity '...'"),
        ("merge", 'relation A – "a"'),
        ("merge", "relation A – !?"),
    ]


def test_an_end_that_nobody_mentions_becomes_an_entity_of_unknown_type() -> None:
    merged = resolve(extractions(entity("A"), relation("A", "B", 1, "A knows B")), CHUNKS, heuristic=False)
    row = merged.graph.entities.to_pylist()[1]
    assert (row["name"], row["type"], row["description"], row["chunks"]) == ("B", "unknown", "A knows B", [1])


def test_entities_are_sorted_by_their_first_chunk_then_by_their_key() -> None:
    merged = resolve(extractions(entity("z"), entity("b"), entity("a", 1), entity("z", 1)), CHUNKS, heuristic=False)
    assert merged.graph.entities["name"].to_pylist() == ["b", "z", "a"]


def test_ids_follow_from_names_and_tables_from_the_schemas() -> None:
    merged = resolve(
        extractions(entity("Radium"), entity("Paris"), relation("Radium", "Paris")), CHUNKS, heuristic=True
    )
    assert merged.graph.entities.schema == ENTITY_SCHEMA
    assert merged.graph.relations.schema == RELATION_SCHEMA
    assert merged.graph.entities["id"].to_pylist() == [entity_id("paris"), entity_id("radium")]
    assert entity_id("radium") == "ent-023dfb3b81fc4ae0"
    assert len(merged.graph.relations["id"].to_pylist()[0]) == len("rel-") + 16


def test_nothing_found_gives_empty_tables() -> None:
    merged = resolve(extractions(), CHUNKS, heuristic=True)
    assert (merged.graph.entities.num_rows, merged.graph.relations.num_rows) == (0, 0)
    assert merged.graph.ends.shape == (0, 2)


def test_short_forms_are_listed_as_aliases_of_the_entity_with_most_mentions() -> None:
    seen = [
        Mention("John Smith", "person", "x", "c0", surface="Smith"),
        Mention("Adam Smith", "person", "y", "c1", surface="Smith"),
        Mention("Adam Smith", "person", "z", "c2"),
    ]
    assert resolve(extractions(*seen), CHUNKS, heuristic=True).aliases == {"Smith": "Adam Smith"}


@pytest.mark.parametrize("heuristic", [True, False])
def test_ten_thousand_mentions_of_one_name_become_one_entity_with_all_its_relations(heuristic: bool) -> None:
    n = 10_000
    chunks = [Chunk(f"c{row}", "d", row, 0, 1, 1, "x") for row in range(n)]
    seen = [
        Extraction(
            chunk.id,
            (Mention("Bee", "insect", f"The bee lands on flower {row}.", chunk.id, row / n),),
            (RelationMention("Bee", f"Flower {row}", "lands", chunk.id),),
        )
        for row, chunk in enumerate(chunks)
    ]
    graph = resolve(seen, chunks, heuristic=heuristic).graph
    assert graph.entities.num_rows == n + 1
    assert graph.relations.num_rows == n
    bee = graph.entities.slice(0, 1).to_pylist()[0]
    assert bee["name"] == "Bee"
    assert bee["chunks"] == list(range(n))
    assert graph.relations["source"].to_pylist() == [0] * n
    first = "The bee lands on flower 9999." if heuristic else "The bee lands on flower 0."
    assert bee["description"].startswith(first)
    assert bee["description"].count("flower") == (3 if heuristic else n)


def test_a_pair_that_ten_thousand_chunks_relate_is_one_relation() -> None:
    n = 10_000
    chunks = [Chunk(f"c{row}", "d", row, 0, 1, 1, "x") for row in range(n)]
    seen = [
        Extraction(chunk.id, (), (RelationMention("a", "b", f"Time {row}.", chunk.id, strength=1.0),))
        for row, chunk in enumerate(chunks)
    ]
    graph = resolve(seen, chunks, heuristic=True).graph
    assert graph.relations["weight"].to_pylist() == [n]
    assert graph.relations["chunks"].to_pylist() == [list(range(n))]
    assert graph.relations["description"].to_pylist() == ["Time 0. Time 1. Time 2. Time 3. Time 4."]
