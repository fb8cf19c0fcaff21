from leanrag_core.text.words import words_around


def test_words_around_a_place_are_whole_and_characters_where_there_are_no_blanks() -> None:
    text = "one two three QUOTE four five six"
    at = text.index("QUOTE")
    first, last = words_around(text, at, at + 5, 11)
    assert text[first:last] == "two three QUOTE four five"
    assert words_around(text, at, at + 5, 100) == (0, len(text))
    assert words_around("甲" * 20 + "引" + "乙" * 20, 20, 21, 5) == (15, 26)
    assert words_around("", 0, 0, 5) == (0, 0)
