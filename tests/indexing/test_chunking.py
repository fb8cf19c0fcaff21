from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.corpus import Chunk, Document

# Pieces that split badly: several tokens a character, several characters a mark, marks and spaces in one token.
PIECES = st.sampled_from(
    [
        *"ab cdE.!?\n\t \"'),-012",
        "。",
        "蜂は",
        "🐝",
        "👩\u200d👩\u200d👧",
        "é",
        "e\u0301",
        "한",
        "ا",
        "\xa0",
        "....",
        "\n\n",
        "The bees dance. ",
        " word",
        "。」",
    ]
)
TEXTS = st.lists(PIECES, max_size=100).map("".join)


def document(text: str, id_: str = "doc-1") -> Document:
    return Document(id_, "a.txt", "a", "text", text)


def chunks_of(text: str, max_tokens: int, overlap_tokens: int = 0) -> list[Chunk]:
    return chunk_documents([document(text)], max_tokens=max_tokens, overlap_tokens=overlap_tokens)


def words(n: int) -> str:
    """Return a text of n tokens: " w" is one."""
    return " w" * n


def test_a_short_document_is_one_chunk() -> None:
    [chunk] = chunks_of("hello world", 32)
    assert (chunk.start, chunk.end, chunk.tokens, chunk.text, chunk.position) == (0, 11, 2, "hello world", 0)


@pytest.mark.parametrize("text", ["", " ", "\n\n \t"])
def test_an_empty_document_has_no_chunk(text: str) -> None:
    assert chunks_of(text, 32) == []


def test_windows_fill_the_limit_to_the_last_word_and_the_last_is_the_rest() -> None:
    assert count_tokens(words(20)) == 20
    chunks = chunks_of(words(20), 8)
    assert all(7 <= chunk.tokens <= 8 for chunk in chunks[:-1])
    assert "".join(chunk.text.replace(" ", "") for chunk in chunks) == "w" * 20
    assert chunks[-1].end == 40


def test_neighbours_share_the_overlap() -> None:
    # Sentences of three tokens, "Bees dance." with its space; four of them make twelve tokens.
    text = "Bees dance. " * 8
    chunks = chunks_of(text.strip(), 16, overlap_tokens=4)
    for left, right in pairwise(chunks):
        shared = text[right.start : left.end]
        assert shared
        assert 1 <= count_tokens(shared) <= 5
    assert chunks[-1].end == len(text.strip())


def test_without_overlap_no_character_is_in_two_chunks() -> None:
    chunks = chunks_of("The bees dance in the hive. " * 20, 16)
    assert all(left.end <= right.start for left, right in pairwise(chunks))


def test_a_window_ends_at_the_end_of_a_sentence_in_its_last_quarter() -> None:
    # 13 words and a full stop are 14 tokens: within the last quarter (12 to 16) of the first window.
    text = words(13).strip() + "." + words(20)
    first = chunks_of(text, 16)[0]
    assert first.text == words(13).strip() + "."


def test_an_early_end_of_a_sentence_does_not_cut_a_window_short() -> None:
    text = "w w." + words(30)
    assert chunks_of(text, 16)[0].tokens >= 12


def test_a_japanese_sentence_ends_a_window_without_a_space() -> None:
    text = "蜂は踊る。" * 12
    chunks = chunks_of(text, 32)
    assert len(chunks) > 1
    assert all(chunk.text.endswith("。") for chunk in chunks)


def test_a_character_of_several_tokens_is_never_cut() -> None:
    text = "🐝" * 30  # three tokens each
    chunks = chunks_of(text, 8)
    assert [len(chunk.text) for chunk in chunks] == [2] * 15
    assert all(chunk.tokens == 6 for chunk in chunks)


def test_positions_run_over_the_corpus_and_offsets_start_again_in_each_document() -> None:
    chunks = chunk_documents(
        [document("hello world", "doc-1"), document("", "doc-2"), document("hello bees", "doc-3")],
        max_tokens=32,
        overlap_tokens=0,
    )
    assert [(chunk.document_id, chunk.position, chunk.start) for chunk in chunks] == [("doc-1", 0, 0), ("doc-3", 1, 0)]


def test_an_id_says_document_and_span_and_nothing_else() -> None:
    alone = chunk_documents([document("hello world", "doc-1")], max_tokens=32, overlap_tokens=0)
    second = chunk_documents(
        [document("hello bees", "doc-0"), document("hello world", "doc-1")], max_tokens=64, overlap_tokens=8
    )
    assert second[1].id == alone[0].id
    assert second[0].id != alone[0].id
    assert chunks_of("hello world", 32)[0].id != chunks_of("hello worlds", 32)[0].id


def test_a_tail_of_white_space_gives_no_chunk_that_repeats_the_one_before() -> None:
    chunks = chunks_of("Bees dance in the hive." + " \n" * 40, 8, overlap_tokens=4)
    assert [chunk.end for chunk in chunks] == [23]


def test_a_long_run_without_spaces_is_cut_in_time() -> None:
    chunks = chunks_of("a" * 60_000, 512, overlap_tokens=64)
    assert all(chunk.tokens <= 512 for chunk in chunks)
    assert chunks[-1].end == 60_000


@settings(max_examples=250)
@given(TEXTS, st.integers(1, 40), st.integers(0, 39))
def test_chunks_are_exact_and_cover_all_but_white_space(text: str, max_tokens: int, overlap: int) -> None:
    chunks = chunks_of(text, max_tokens, min(overlap, max_tokens - 1))
    covered: set[int] = set()
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text
        assert chunk.text == chunk.text.strip() != ""
        assert chunk.tokens == count_tokens(chunk.text)
        # Below eight tokens a single token, cut out of its context, can count more than the limit.
        assert chunk.tokens <= max_tokens or max_tokens < 8
        covered |= set(range(chunk.start, chunk.end))
    assert all(character.isspace() or place in covered for place, character in enumerate(text))
    assert len({chunk.id for chunk in chunks}) == len(chunks)


@settings(max_examples=150)
@given(TEXTS, st.integers(1, 40), st.integers(0, 39))
def test_starts_and_ends_ascend_so_no_chunk_lies_within_its_neighbour(text: str, max_tokens: int, overlap: int) -> None:
    chunks = chunks_of(text, max_tokens, min(overlap, max_tokens - 1))
    for left, right in pairwise(chunks):
        assert left.start < right.start
        assert left.end < right.end
