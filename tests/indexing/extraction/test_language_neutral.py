from leanrag_core.indexing.extraction.language_neutral import is_latin, read_neutral
from leanrag_core.types.corpus import Document


def phrases(text: str, language: str) -> list[list[str]]:
    (sentences,) = read_neutral([Document("d", "d", "", "text", text, language)], [0])
    return [[sighting.surface for sighting in sentence.sightings] for sentence in sentences]


def test_german_nouns_are_found_by_their_capitals() -> None:
    seen = phrases("Die Donau fließt durch Wien. Viele Schiffe fahren auf der Donau nach Budapest.", "de")
    assert "Wien" in seen[0]
    assert {"Donau", "Budapest"} <= set(seen[1])


def test_french_phrases_lie_between_function_words() -> None:
    text = "Le droit de vote est universel. Le droit de grève est reconnu. Le droit à la vie est sacré."
    seen = phrases(text, "fr")
    assert "vote" in seen[0]
    assert not any(word in ("le", "Le", "de", "est") for sentence in seen for word in sentence)


def test_a_chinese_verbal_noun_is_an_entity_where_it_recurs() -> None:
    seen = phrases("人人享有人身安全。教育应当免费。人人都有受教育的权利。", "zh")
    assert "人人" in {word for sentence in seen for word in sentence}
    assert "教育" in {word for sentence in seen for word in sentence}
    assert "权利" in seen[2]


def test_japanese_words_are_runs_of_kanji_or_katakana() -> None:
    seen = phrases("東京でコンピュータを買う。", "ja")
    assert seen == [["東京", "コンピュータ"]]


def test_sentences_keep_their_place_in_the_document() -> None:
    text = "# Titel\n\nErster Satz hier. Zweiter  Satz\nhier."
    (sentences,) = read_neutral([Document("d", "d", "", "text", text, "de")], [3])
    last = sentences[-1]
    assert last.document == 3
    assert last.text == "Zweiter Satz hier."
    assert text[last.start : last.end] == "Zweiter  Satz\nhier."


def test_scripts_are_distinguished() -> None:
    assert is_latin("Grüße aus Łódź")
    assert not is_latin("Привет, мир")
