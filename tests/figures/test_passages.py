from itertools import pairwise

import pytest

from leanrag_core.figures.passages import Piece, around, excerpt, name_spans, passage, passage_place, sentence_spans

TEXT = "The queen lays eggs. Honey bees store honey. A mite spoils it."
#       0123456789012345678901234567890123456789012345678901234567890


def marked(text: str, names: list[str]) -> list[str]:
    return [text[start:end] for start, end in name_spans(text, names)]


def test_names_are_found_as_whole_words_in_any_case() -> None:
    assert name_spans(TEXT, ["HONEY"]) == [(21, 26), (38, 43)]
    assert name_spans(TEXT, ["hone", "ee", "egg"]) == []


def test_a_passage_is_named_with_its_page_else_its_chunk_in_the_readers_language() -> None:
    assert [passage_place("Bees", page, row, "en") for page, row in ((3, 7), (None, 1233), (None, None))] == [
        "Bees, p. 3",
        "Bees, chunk 1,234",
        "Bees",
    ]
    assert [passage_place("蜜蜂", page, row, "zh") for page, row in ((3, 7), (None, 7))] == [
        "蜜蜂，第 3 页",
        "蜜蜂，第 8 个文本块",
    ]


def test_of_names_that_overlap_the_longest_wins() -> None:
    assert marked(TEXT, ["honey", "honey bees", "bees"]) == ["Honey bees", "honey"]
    assert marked("New York City Hall", ["York City Hall", "New York"]) == ["New York"], "the first to begin is kept"


def test_a_name_is_found_across_a_line_break() -> None:
    assert marked("of honey\n  bees", ["honey bees"]) == ["honey\n  bees"]


@pytest.mark.parametrize("name", ["C++ (lang)", ".*", "[a-z]+", "a|b", "$x^2$", "\\d", "<b>"])
def test_signs_of_patterns_in_a_name_are_taken_literally(name: str) -> None:
    assert marked(f"abc 12 {name} xyz", [name]) == [name]
    assert marked("abc 12 xyz", [name]) == []


def test_no_names_or_blank_ones_mark_nothing() -> None:
    assert name_spans(TEXT, []) == name_spans(TEXT, ["", "  "]) == []


def test_sentences_are_found_whatever_white_space_lies_between_their_words() -> None:
    assert sentence_spans("One.\nTwo  words\nhere. Three.", ["Two words here.", "Four.", ""]) == [(5, 21)]


def test_sentences_come_in_order_of_the_text() -> None:
    assert sentence_spans(TEXT, ["A mite spoils it.", "The queen lays eggs."]) == [(0, 20), (45, 62)]


def test_overlapping_spans_are_cut_where_each_begins_and_ends() -> None:
    got = passage(TEXT, 21, 44, names=["honey"], cited=["bees store honey."])
    assert [(piece.text, sorted(piece.marks)) for piece in got.pieces] == [
        ("The queen lays eggs. ", []),
        ("Honey", ["chunk", "name"]),
        (" ", ["chunk"]),
        ("bees store ", ["chunk", "cited"]),
        ("honey", ["chunk", "cited", "name"]),
        (".", ["chunk", "cited"]),
        (" A mite spoils it.", []),
    ]


def test_names_outside_the_chunk_are_not_marked() -> None:
    got = passage(TEXT, 21, 44, names=["queen", "mite"])
    assert not any("name" in piece.marks for piece in got.pieces)


def test_the_pieces_joined_are_the_document_from_start_to_end() -> None:
    text = " ".join(f"word{n}" for n in range(2000))
    got = passage(text, 6000, 7000, names=["word700", "word701 word702"], cited=["word703 word704"])
    assert "".join(piece.text for piece in got.pieces) == text[got.start : got.end]
    assert all(piece.text for piece in got.pieces)
    assert all(left.marks != right.marks for left, right in pairwise(got.pieces))


def test_the_edges_are_moved_outward_to_white_space() -> None:
    text = "alpha beta gamma delta epsilon"
    got = passage(text, 11, 16, before=3, after=3)
    assert text[got.start : got.end] == "beta gamma delta"
    assert (got.cut_before, got.cut_after) == (True, True)


def test_a_short_document_is_shown_whole() -> None:
    got = passage(TEXT, 0, len(TEXT))
    assert (got.start, got.end, got.cut_before, got.cut_after) == (0, len(TEXT), False, False)
    assert got.pieces == (Piece(TEXT, frozenset({"chunk"})),)


def test_a_text_without_white_space_is_not_cut_inside_a_word() -> None:
    text = "x" * 5000
    got = passage(text, 2000, 2100)
    assert (got.start, got.end) == (0, 5000)
    assert [len(piece.text) for piece in got.pieces] == [2000, 100, 2900]


def test_markup_in_a_document_stays_text() -> None:
    text = "Before <script>alert(1)</script> after."
    got = passage(text, 0, len(text), names=["<script>alert(1)</script>"])
    assert Piece("<script>alert(1)</script>", frozenset({"chunk", "name"})) in got.pieces


def test_a_short_text_is_its_own_excerpt() -> None:
    pieces = excerpt(TEXT, ["mite"])
    assert [(piece.text, sorted(piece.marks)) for piece in pieces] == [
        (TEXT[:47], []),
        ("mite", ["name"]),
        (" spoils it.", []),
    ]


def test_an_excerpt_holds_the_stretch_with_most_names_and_begins_with_its_sentence() -> None:
    filler = "Nothing of note happens here at all. " * 20
    text = f"A queen. {filler}The queen and the mite and the clover meet. {filler}"
    pieces = excerpt(text, ["queen", "mite", "clover"], longest=120)
    joined = "".join(piece.text for piece in pieces)
    assert [piece.text for piece in pieces if piece.marks] == ["queen", "mite", "clover"]
    assert joined.startswith("… ")
    assert joined.endswith(" …")
    # 40 characters before the first name lies the sentence before; the excerpt begins where that one does
    assert joined.removeprefix("… ").startswith("Nothing of note")
    assert len(joined) < 120 + 60


def test_an_excerpt_without_a_name_is_the_beginning() -> None:
    text = "First words. " + "More and more words follow. " * 40
    pieces = excerpt(text, ["absent"], longest=60)
    assert pieces[0].text.startswith("First words.")
    assert pieces[-1].text == " …"
    assert all(not piece.marks for piece in pieces)


def test_an_empty_text_has_no_pieces() -> None:
    assert excerpt("", ["a"]) == ()


def test_a_sentence_is_quoted_with_what_stands_around_it() -> None:
    text = "First comes the head. " * 20 + "Bees store honey. " + "Then comes the tail. " * 20
    pieces = around(text, "Bees store honey.", longest=100)
    assert [piece.text for piece in pieces if "cited" in piece.marks] == ["Bees store honey."]
    joined = "".join(piece.text for piece in pieces)
    assert joined.startswith("… First comes the head. ")
    assert joined.endswith(" …")
    assert 80 <= len(joined) <= 140
    whole = around(text, "Bees store honey.", longest=17)
    assert [piece.text for piece in whole if "cited" in piece.marks] == ["Bees store honey."]
    named = around(text, "Bees store honey.", ["honey"], longest=100)
    assert [piece.text for piece in named if piece.marks == {"cited", "name"}] == ["honey"]


def test_a_sentence_that_is_not_there_leaves_the_beginning() -> None:
    assert [piece.text for piece in around("Bees store honey.", "Wasps sting.")] == ["Bees store honey."]
    assert "".join(piece.text for piece in around("word " * 100, "", longest=22)) == "word word word word  …"
