"""Which phrases of English text are entities, what they are called, and of which type."""

import pytest

from leanrag_core.indexing.extraction import aliases
from leanrag_core.indexing.extraction.builtin import BuiltinExtractor, keywords_of
from leanrag_core.indexing.extraction.english_names import tidy
from leanrag_core.indexing.extraction.sentences import Sighting
from leanrag_core.types.corpus import Chunk, Document, Heading
from leanrag_core.types.extraction import Extraction


def extract(*texts: str) -> list[Extraction]:
    documents = [Document(f"{n}", f"{n}.txt", "", "text", text, "en") for n, text in enumerate(texts)]
    chunks = [Chunk(f"c{n}", source.id, n, 0, len(source.text), 1, source.text) for n, source in enumerate(documents)]
    return BuiltinExtractor().extract(documents, chunks, lambda done: None)


def types(*texts: str) -> dict[str, str]:
    return {mention.name: mention.type for extraction in extract(*texts) for mention in extraction.mentions}


@pytest.mark.parametrize(
    ("text", "general"),
    [
        ("The count of mites rose during the following year.", {"count", "following year", "year"}),
        ("A good share of the honey stays in the hive.", {"good share", "share"}),
        ("The main difficulty is the number of cases.", {"main difficulty", "difficulty", "number", "cases"}),
        ("The scale is forty millimetres from the lamp.", {"millimetres"}),
    ],
)
def test_abstract_nouns_and_units_are_no_entities(text: str, general: set[str]) -> None:
    assert not general & set(types(text))


def test_the_same_nouns_stay_where_a_word_before_them_says_which() -> None:
    assert "flying distance" in types("The flying distance of a bee is five kilometres.")
    assert "data source" in types("Every data source has an owner.")


def test_a_heading_of_words_that_say_nothing_is_no_entity() -> None:
    text = "Preparation\n\nThe keeper feeds syrup.\n\nWinter feeding\n\nThe bees eat honey."
    starts = [(title, text.index(title)) for title in ("Preparation", "Winter feeding")]
    headings = tuple(Heading(title, 1, start, start + len(title)) for title, start in starts)
    source = Document("a", "a.txt", "", "text", text, "en", headings=headings)
    chunk = Chunk("c", source.id, 0, 0, len(text), 1, text)
    (extraction,) = BuiltinExtractor().extract([source], [chunk], lambda done: None)
    assert {mention.name for mention in extraction.mentions if mention.type == "heading"} == {"Winter feeding"}


def test_a_quantity_falls_off_the_front_of_a_phrase() -> None:
    assert set(types("The company stored over 100 million ratings in Denver.")) == {"company", "ratings", "Denver"}


@pytest.mark.parametrize(
    "text",
    [
        "Locks are kept by the server (see Section 9.27).",
        "Locks are described in Chapter 13.",
        "For the locks of the server see also Appendix B.",
        "The locks are listed in Table 9.2.",
        "A lock is taken in Section 9.27.10 by the server.",
    ],
)
def test_what_leads_to_another_part_of_the_text_names_nothing(text: str) -> None:
    assert not [name for name in types(text) if name.startswith(("Section", "Chapter", "Appendix", "Table"))]


def test_the_sections_of_a_contract_are_named() -> None:
    names = types("The Borrower owes a fee under Section 7.08. Section 7.11 of the Credit Agreement limits liens.")
    assert {"Section 7.08", "Section 7.11"} <= {name for name in names if name.startswith("Section")}


def test_a_plain_noun_that_a_large_corpus_says_once_is_passed_over_and_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "The keeper opens the hive with pleasure. The keeper feeds the bees. The hive holds Zephyrine and a gloxbox."
    assert "pleasure" in types(text)  # of a small corpus every noun is an entity
    monkeypatch.setattr(aliases, "_LARGE", 5)
    extractions = extract(text)
    names = {mention.name for extraction in extractions for mention in extraction.mentions}
    assert "pleasure" not in names
    assert {"keeper", "hive"} <= names  # said twice
    assert {"Zephyrine", "gloxbox"} <= names  # a name, and a word that no dictionary has
    assert not [link for each in extractions for link in each.relations if "pleasure" in (link.source, link.target)]
    assert any("plain nouns that the corpus says once, e.g. pleasure" in drop.reason for drop in extractions[0].drops)


def test_a_label_in_capitals_is_no_part_of_the_name_behind_it() -> None:
    labelled = ["CAUTION Network cables", "CAUTION The mail server starts first.", "CAUTION Backup tapes"]
    labelled += ["CAUTION Hard disks", "CAUTION Old printers"]
    elsewhere = "Network cables are sold separately (see “CAUTION Backup tapes”)."
    names = set(types("\n\n".join([*labelled, elsewhere])))
    assert {"mail server", "Backup tapes"} <= names
    assert not [name for name in names if "CAUTION" in name]
    assert len([name for name in names if name.lower() == "network cables"]) == 1


_LABELLED = ("Network cables", "Backup tapes", "Mail servers", "Hard disks", "Old printers")


@pytest.mark.parametrize(
    "texts",
    [
        ["CAUTION Network cables", "CAUTION Backup tapes"],  # too few to tell
        [*(f"CAUTION {each}" for each in _LABELLED), *["The CAUTION cables are sold."] * 5],
        [f"CAUTION Network sells {each}." for each in _LABELLED],
    ],
)
def test_capitals_that_stand_elsewhere_too_are_part_of_the_name(texts: list[str]) -> None:
    assert [name for name in types("\n\n".join(texts)) if name.startswith("CAUTION")]


def test_an_evaluating_word_falls_off_a_phrase_that_occurs_once() -> None:
    names = set(types("The keeper buys new queens. Every queen lays eggs."))
    assert {"keeper", "eggs"} <= names
    assert "new queens" not in names
    assert len(names & {"queen", "queens"}) == 1


def test_a_phrase_that_recurs_keeps_its_evaluating_word() -> None:
    assert "simple syrup" in types("Simple syrup feeds the bees. The keeper mixes simple syrup.")


def test_praise_and_doubt_fall_off_a_phrase_and_leave_nothing_of_an_abstract_noun() -> None:
    names = set(types("It was an interesting compromise. The fantastic hive stood under a valid subpoena."))
    assert {"hive", "subpoena"} <= names
    assert not names & {"interesting compromise", "compromise", "fantastic hive", "valid subpoena"}
    assert "valid subpoena" in types("A valid subpoena came. The lawyer read the valid subpoena."), "a term that recurs"


def test_a_word_with_a_hyphen_stays_whole_at_the_end_of_a_phrase() -> None:
    names = set(types("Each plug-in has options of its own. The plug-in exports metadata."))
    assert "plug-in" in names
    assert "plug" not in names


def test_a_sign_in_front_is_no_part_of_what_is_evaluated() -> None:
    assert not {"success", "% success"} & set(types("We cannot guarantee 100 % success."))


def test_a_verb_in_the_place_of_a_noun_is_no_entity() -> None:
    names = set(types("Re-encodes the given buffer from one encoding. See Intl. The Intl object formats dates."))
    assert not names & {"Re-encodes", "re-encodes", "See Intl"}


def test_a_heading_loses_a_quote_that_is_not_closed() -> None:
    assert tidy("Event: 'listening'") == "Event: listening"
    assert tidy("the bees' hive") == "the bees' hive"


def test_a_verb_that_the_tagger_takes_for_a_noun_is_no_entity() -> None:
    assert "shortens" not in types("Too much acid harms the bees and shortens their life.")


def test_a_verb_that_begins_an_entry_is_no_part_of_what_follows() -> None:
    assert "lists" in types(
        "Modify the settings. * Update lists of members. Every list has an owner. The lists are long."
    )
    names = set(types("# Inherits settings from the release profile.", "* Update Coverity on the build servers."))
    assert not names & {"Inherits settings", "Update Coverity", "Modify"}
    assert "compile-time selection" in types(
        "Compile-time selection needs a flag. The flag starts compile-time selection."
    )


def test_a_date_after_a_name_is_no_part_of_it() -> None:
    holders = "Copyright 2001 Bo Outlaw, 2002-2004 Acme Tools Inc, 2005 Mary Adler, 2006 Northern Software 2007."
    assert not {name for name in types(holders) if name.split()[-1].isdigit()}
    named = types("Michael Stone Fri, 12 May. Michael Stone wrote it. Michael Stone lives in Denver.")
    assert "Michael Stone" in named
    assert not any(name.endswith("Fri") for name in named)
    assert any(name.endswith("2022") for name in types("Brazil lost the World Cup 2022 in Qatar."))


def test_latin_names_of_two_words_are_organisms_and_so_is_their_genus() -> None:
    seen = types("Varroa destructor feeds on bees. Varroa spread in 1987. The mason bee Osmia cornuta flies in March.")
    assert seen["Varroa destructor"] == "organism"
    assert seen["Varroa"] == "organism"
    assert seen["Osmia cornuta"] == "organism"


def test_english_words_with_latin_endings_make_no_species() -> None:
    assert "organism" not in types("The Berlin campus of the school has a media area.").values()


def test_a_name_has_one_type_in_the_whole_corpus() -> None:
    first, second = extract("Marie Curie met Hendrik Lorentz in Brussels.", "Brussels was cold. Lorentz chaired.")
    kinds = {(mention.name, mention.type) for extraction in (first, second) for mention in extraction.mentions}
    assert {kind for name, kind in kinds if name == "Brussels"} == {"location"}
    assert {kind for name, kind in kinds if name == "Hendrik Lorentz"} == {"person"}


def test_the_last_word_of_a_name_decides_its_type() -> None:
    seen = types(
        "She studied at the University of Vienna. They met in India Street in June. "
        "The Uniform Commercial Code governs the sale. He won the Nobel Prize in 1922."
    )
    assert seen["University of Vienna"] == "organization"
    assert seen["India Street"] == "location"
    assert seen["Uniform Commercial Code"] == "law"
    assert seen["Nobel Prize"] == "concept"


def test_references_and_defined_terms_of_a_contract() -> None:
    seen = types(
        "Section 7.11 binds the Borrower. Each Lender consents to Section 7.11. Each Lender pays the Borrower. "
        "The lease was signed with Sable Creek Recycling LLC in Ohio. Sable Creek Recycling paid the rent."
    )
    assert seen["Section 7.11"] == "law"
    assert seen["Lender"] == "concept"
    assert seen["Borrower"] == "concept"
    assert seen["Sable Creek Recycling LLC"] == "organization"
    assert "Sable Creek Recycling" not in seen  # joined with its full form


def test_a_name_ends_where_another_phrase_begins() -> None:
    names = set(types("On the Closing Date the Lenders made loans to Robert van den Bosch."))
    assert "Robert van den Bosch" in names
    assert not any("the" in name.split() for name in names)


def test_a_relation_without_a_verb_has_the_words_of_its_sentence_as_keywords() -> None:
    (extraction,) = extract("In Vienna the mites and the bees spread a dangerous virus.")
    relation = next(link for link in extraction.relations if {link.source, link.target} == {"mites", "bees"})
    assert relation.kind == "co-occurrence"
    assert relation.keywords == ("vienna", "spread", "dangerous", "virus")


def test_keywords_between_the_ends_come_before_those_around_them() -> None:
    words = [
        ("alpha", 0),
        ("mite", 1),
        ("weaken", 2),
        ("old", 3),
        ("colony", 4),
        ("beta", 5),
        ("gamma", 9),
        ("omega", 12),
    ]
    mite = Sighting("mite", "mite", "concept", 1, 2, 1)
    colony = Sighting("colony", "colony", "concept", 4, 5, 4)
    # weaken and old lie between; alpha is one place before, beta one after the ends; gamma and omega lie further away.
    assert keywords_of(words, colony, mite) == ("alpha", "weaken", "old", "beta")
    assert keywords_of(words[1:2], colony, mite) == ()
