from collections import Counter
from itertools import pairwise

import pytest

from leanrag_core.indexing.extraction.builtin import BuiltinExtractor
from leanrag_core.indexing.extraction.headings import title_of, titles_of
from leanrag_core.types.corpus import Chunk, Document, Heading, Span
from leanrag_core.types.extraction import Extraction, Mention, RelationMention

CURIE = (
    "Marie Curie was a Polish physicist. She shared the Nobel Prize with Pierre in 1903. "
    "In Warsaw, Curie founded a radium institute. The results were published by the Academy of Sciences."
)


def document(text: str, name: str = "a.txt", title: str = "", language: str = "en", **more: object) -> Document:
    return Document(name, name, title, "text", text, language, **more)


def whole(*documents: Document) -> list[Chunk]:
    return [Chunk(f"c{n}", source.id, n, 0, len(source.text), 1, source.text) for n, source in enumerate(documents)]


def extract(*documents: Document, chunks: list[Chunk] | None = None) -> list[Extraction]:
    return BuiltinExtractor().extract(documents, whole(*documents) if chunks is None else chunks, lambda done: None)


def mentions(extraction: Extraction) -> dict[str, Mention]:
    return {mention.name: mention for mention in extraction.mentions}


def relation(extraction: Extraction, source: str, target: str) -> RelationMention:
    return next(relation for relation in extraction.relations if {relation.source, relation.target} == {source, target})


@pytest.fixture(scope="module")
def curie() -> Extraction:
    return extract(document(CURIE))[0]


def test_names_are_typed_and_described_by_their_sentence(curie: Extraction) -> None:
    seen = mentions(curie)
    assert seen["Marie Curie"].type == "person"
    assert seen["Warsaw"].type == "location"
    assert seen["Warsaw"].description == "In Warsaw, Curie founded a radium institute."
    assert seen["radium institute"].type == "concept"


def test_a_relation_keeps_the_no_before_its_object_and_the_not_of_its_verb() -> None:
    text = "The Libffi library has no special support for records. Marie Curie did not visit Warsaw."
    (extraction,) = extract(document(text))
    heads = {relation.description.partition(":")[0] for relation in extraction.relations}
    assert "Libffi library has no special support" in heads
    assert "Marie Curie did not visit Warsaw" in heads


def test_dates_pronouns_and_articles_are_no_part_of_a_name(curie: Extraction) -> None:
    names = {name.lower() for name in mentions(curie)}
    assert not names & {"1903", "she", "the nobel prize", "a radium institute", "in", "the results"}
    assert {"nobel prize", "academy of sciences"} <= names


def test_a_short_form_is_joined_with_the_one_long_name_that_ends_with_it(curie: Extraction) -> None:
    assert "Curie" not in mentions(curie)
    joined = [mention for mention in curie.mentions if mention.surface == "Curie"]
    assert [entity.name for entity in joined] == ["Marie Curie"]


def test_subject_verb_and_object_make_a_relation_with_its_sentence(curie: Extraction) -> None:
    founded = relation(curie, "Marie Curie", "radium institute")
    assert (founded.kind, founded.strength, founded.keywords) == ("verb", 4.0, ("found",))
    assert founded.description == ("Marie Curie founded radium institute: In Warsaw, Curie founded a radium institute.")


def test_a_defining_sentence_weighs_more_than_one_in_passing(curie: Extraction) -> None:
    weights = [mention.weight for mention in curie.mentions if mention.name == "Marie Curie"]
    assert weights[0] > weights[1]


def test_a_short_form_with_two_long_names_stays_itself() -> None:
    text = "Marie Curie met Albert Einstein. Pierre Curie met Paul Langevin. Later Curie wrote to Einstein."
    counts = Counter(mention.name for mention in extract(document(text))[0].mentions)
    assert counts["Curie"] == 1
    assert counts["Albert Einstein"] == 2


def test_an_acronym_in_brackets_is_its_long_form_everywhere_in_the_corpus() -> None:
    first = document("Integrated Pest Management (IPM) protects wheat. Farmers like IPM.", "a.txt")
    second = document("Many growers adopted IPM in spring.", "b.txt")
    first_extraction, two = extract(first, second)
    assert "IPM" not in mentions(first_extraction)
    assert "Integrated Pest Management" in mentions(two)


def test_plural_and_singular_are_one_concept() -> None:
    counts = Counter(
        mention.name
        for mention in extract(document("Insects eat leaves. An insect eats a leaf. The insect left."))[0].mentions
    )
    assert counts["insect"] == 3


def test_titles_and_headings_are_entities_described_by_what_follows() -> None:
    text = "Bees\n\nAlpine honey\n\nThe honey of the Alps is dark. Beekeepers sell it in autumn."
    headings = (Heading("Alpine honey", 2, 6, 18),)
    extraction = extract(document(text, title="Bees of Tyrol", headings=headings, boilerplate=(Span(0, 4),)))[0]
    by_type = {mention.type: mention for mention in extraction.mentions if mention.type in ("title", "heading")}
    assert by_type["title"].name == "Bees of Tyrol"
    assert by_type["heading"].name == "Alpine honey"
    assert by_type["heading"].description.startswith(("The honey", "Beekeepers"))
    section = relation(extraction, "Alpine honey", "Bees of Tyrol")
    assert section.kind == "heading"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("11.12. Clothify", "Clothify"),
        ("6. The Image Menu.html", "The Image Menu"),
        ("2001 A Space Odyssey", "2001 A Space Odyssey"),
        ("7 Habits", "7 Habits"),
        ("Part I. Image Formats", "Image Formats"),
        ("Part I. Getting Started", "Part I. Getting Started"),
        ("Part of the river", "Part of the river"),
        ("Experimental distribution¶", "Experimental distribution"),
        ("St. Louis and its river", "St. Louis and its river"),
        ("Yahoo! and its rivals", "Yahoo! and its rivals"),
        ("Why does the log show so many lines?", ""),
        ("No sites can be reached. The proxy blocks them", ""),
        ("都江堰是什么？", ""),
    ],
)
def test_a_title_is_a_name_without_its_number_and_no_sentence(title: str, name: str) -> None:
    assert title_of(title) == name


def test_the_name_of_a_site_is_no_part_of_its_titles() -> None:
    pages = ["Buffer | Manual of Node", "Timers | Manual of Node", "Index | Manual of Node", "Streams - a primer"]
    assert titles_of(pages) == ["Buffer", "Timers", "Index | Manual of Node", "Streams - a primer"]
    assert titles_of(pages[:2]) == pages[:2], "two titles may be about one thing"
    assert titles_of(["A - B | C", "D - B | C", "E - B | C"]) == ["A - B", "D - B", "E - B"]
    assert titles_of([*pages, *map(str.lower, "ABCDEF")])[:2] == pages[:2], "not half of all"


def test_a_title_in_small_letters_does_not_change_how_the_text_spells_a_name() -> None:
    texts = ["SQLite stores a table in a tree.", "A tree of SQLite has pages.", "The pages of SQLite are small."]
    found = extract(*(document(text, f"{n}.txt", title="sqlite") for n, text in enumerate(texts)))
    assert "SQLite" in mentions(found[1])
    assert not any("sqlite" in mentions(each) for each in found)
    shouted = extract(document("The varroa mite sucks.", title="Varroa Mite"))
    assert "Varroa Mite" in mentions(shouted[0]), "of other titles the spelling is preferred"


def test_a_title_is_found_where_another_document_spells_it() -> None:
    first = document("It is a collectible game of luck.", "a.txt", title="Demon Dice")
    second = document("Lester Smith also designed Demon Dice for his friends.", "b.txt")
    extractions = extract(first, second)
    assert "Demon Dice" in mentions(extractions[1])
    assert "Demon Dice" in mentions(extractions[0])


def test_boilerplate_is_not_read() -> None:
    text = "Contents of Copenhagen. Real talk about Berlin follows."
    seen = mentions(extract(document(text, boilerplate=(Span(0, 23),)))[0])
    assert "Berlin" in seen
    assert "Copenhagen" not in seen


def test_a_sentence_belongs_to_every_chunk_that_holds_it_and_else_to_where_it_starts() -> None:
    text = "Ada lives in Paris. Bob lives in Rome. Eve lives in Oslo."
    source = document(text)
    chunks = [Chunk("x", source.id, 0, 0, 38, 1, text[:38]), Chunk("y", source.id, 1, 20, 45, 1, text[20:45])]
    first, second = extract(source, chunks=chunks)
    assert {"Paris", "Rome"} <= set(mentions(first))
    assert "Oslo" not in mentions(first)
    assert {"Rome", "Oslo"} <= set(mentions(second))
    assert "Paris" not in mentions(second)


def test_a_crowded_sentence_links_neighbours_and_reports_what_it_left_out() -> None:
    cities = [
        "Paris",
        "Rome",
        "Oslo",
        "Berlin",
        "Madrid",
        "Lisbon",
        "Vienna",
        "Prague",
        "Warsaw",
        "Dublin",
        "London",
        "Athens",
    ]
    extraction = extract(document("They visited " + ", ".join(cities[:-1]) + " and " + cities[-1] + "."))[0]
    pairs = {frozenset((relation.source, relation.target)) for relation in extraction.relations}
    assert all(frozenset(pair) in pairs for pair in pairwise(cities))
    assert len(extraction.relations) <= 21
    (drop,) = [drop for drop in extraction.drops if "not linked" in drop.reason]
    assert drop.reason.startswith(f"{12 * 11 // 2 - len(pairs)} pairs")


def test_phrases_that_are_too_general_are_counted() -> None:
    extraction = extract(document("The thing is a way. The lighthouse is an example."))[0]
    assert set(mentions(extraction)) == {"lighthouse"}
    assert [drop.reason for drop in extraction.drops] == [
        "3 phrases too general for an entity, e.g. example, thing, way"
    ]


def test_a_speaker_is_an_entity_of_each_turn() -> None:
    text = "Wolfgang: I bought a piano today.\nLi Hua: Great news!\nWolfgang: The piano came from Hamburg."
    extraction = extract(document(text))[0]
    assert Counter(mention.name for mention in extraction.mentions)["Wolfgang"] == 2
    assert mentions(extraction)["Hamburg"].description == "Wolfgang: The piano came from Hamburg."


def test_markup_and_links_do_not_reach_the_names() -> None:
    text = (
        "- **Marie Curie** met [Albert Einstein](https://example.org/einstein) in _Brussels_.\n- See https://x.org/y."
    )
    names = set(mentions(extract(document(text))[0]))
    assert {"Marie Curie", "Albert Einstein", "Brussels"} <= names
    assert not any(mark in name for name in names for mark in "*_[]()/")


def test_another_language_is_read_without_a_model_and_the_report_says_so() -> None:
    german = document(
        "Der Bundestag wählt den Kanzler. Danach spricht der Bundestag über Haushalt.", "g.txt", language="de"
    )
    extraction = extract(german)[0]
    assert "Bundestag" in mentions(extraction)
    assert [drop.reason for drop in extraction.drops] == ["language de: language-neutral fallback"]
    assert {relation.kind for relation in extraction.relations} == {"co-occurrence"}


def test_progress_rises_to_the_number_of_chunks() -> None:
    documents = [document("Ada lives in Paris.", "a.txt"), document("Bob lives in Rome.", "b.txt")]
    reports: list[int] = []
    BuiltinExtractor().extract(documents, whole(*documents), reports.append)
    assert reports == sorted(reports)
    assert reports[-1] == 2


def test_two_runs_find_the_same() -> None:
    assert extract(document(CURIE)) == extract(document(CURIE))


@pytest.mark.parametrize(
    "text", ["", "   \n\n ", "12 345 – 67.", "((((", "x" * 30_000, "\ud800 bad \x00 text", "| --- | --- |"]
)
def test_text_without_sentences_yields_nothing_harmful(text: str) -> None:
    extraction = extract(document(text))[0]
    assert all(len(mention.name) <= 100 for mention in extraction.mentions)


def test_the_fingerprint_names_rules_and_model() -> None:
    assert "en_core_web_sm" in BuiltinExtractor().fingerprint
