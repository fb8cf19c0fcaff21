"""Quotes and names find their places, and the chunks that overlap these."""

from leanrag_core.indexing.reference.anchoring import Anchors, QuotedText, name_pattern
from leanrag_core.indexing.reference.records import Quote
from leanrag_core.types.corpus import Chunk, Span
from tests.indexing.reference.hives import DOCUMENT, TEXT


def _chunk(position: int, start: int, end: int) -> Chunk:
    return Chunk(f"chunk-{position}", DOCUMENT.id, position, start, end, 1, TEXT[start:end])


MIDDLE = TEXT.index("Workers")
CHUNKS = [_chunk(0, 0, 20), _chunk(1, 10, MIDDLE - 1), _chunk(2, MIDDLE, len(TEXT))]


def _positions(chunks: list[Chunk]) -> list[int]:
    return [chunk.position for chunk in chunks]


def test_a_quote_is_found_whatever_the_white_space_between_its_words():
    (span,) = QuotedText(TEXT).spans("queen lays eggs in the brood nest")
    assert TEXT[span.start : span.end] == "queen lays eggs\nin the  brood nest"


def test_a_quote_may_begin_and_end_within_a_word():
    (span,) = QuotedText(TEXT).spans("ggs in the bro")
    assert TEXT[span.start : span.end] == "ggs\nin the  bro"


def test_every_place_of_a_quote_counts():
    assert QuotedText("a bee, a bee").spans("a bee") == [Span(0, 5), Span(7, 12)]


def test_a_quote_with_other_letters_is_nowhere():
    assert QuotedText(TEXT).spans("Queen lays eggs") == []


def test_a_quote_across_a_cut_belongs_to_both_chunks():
    anchors = Anchors([DOCUMENT], CHUNKS)
    assert _positions(anchors.quote_chunks([Quote("hive.md", "eggs in the brood")])) == [0, 1]
    assert _positions(anchors.quote_chunks([Quote("hive.md", "Drones mate")])) == [2]
    assert anchors.quote_chunks([Quote("other.md", "Drones mate")]) == []


def test_names_count_as_whole_words_in_any_case():
    anchors = Anchors([DOCUMENT], CHUNKS)
    assert _positions(anchors.name_chunks(["Queen"])) == [0, 2]
    assert anchors.name_chunks(["drone"]) == []
    assert _positions(anchors.name_chunks(["drone", "brood  nest"])) == [1]


def test_capitals_count_in_abbreviations():
    assert name_pattern("IT").search("it is") is None
    assert name_pattern("IT").search("the IT office") is not None
