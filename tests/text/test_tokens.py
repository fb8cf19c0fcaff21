import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leanrag_core.errors import ModelUnavailable
from leanrag_core.text import tokens
from leanrag_core.text.tokens import count_tokens, token_offsets, trim_to_tokens

ANY_TEXT = st.text(st.characters(codec=None) | st.sampled_from("ab. \n蜂🐝é\u0301한"), max_size=60)


# Counts that the vocabulary's makers publish for cl100k.
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("hello world", 2),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 9),
        ("tiktoken is great!", 6),
    ],
)
def test_counts_are_the_published_ones(text: str, count: int) -> None:
    assert count_tokens(text) == count


def test_digits_are_taken_three_at_a_time() -> None:
    assert token_offsets("1234567") == [0, 3, 6, 7]


def test_the_name_of_a_special_token_is_ordinary_text() -> None:
    assert count_tokens("<|endoftext|>") > 1


def test_offsets_are_the_ends_of_the_tokens() -> None:
    assert token_offsets("hello world") == [0, 5, 11]


def test_a_token_inside_a_character_counts_to_the_characters_end() -> None:
    # The bee takes several tokens; every one of them ends, in characters, after it.
    assert count_tokens("🐝") == 3
    assert token_offsets("🐝") == [0, 1, 1, 1]


@settings(max_examples=150)
@given(ANY_TEXT)
def test_offsets_ascend_from_start_to_end_one_for_each_token(text: str) -> None:
    offsets = token_offsets(text)
    assert offsets[0] == 0
    assert offsets[-1] == len(text)
    assert offsets == sorted(offsets)
    assert len(offsets) == count_tokens(text) + 1


@pytest.mark.parametrize("run", [" " * 1_000_000, "\n \t" * 300_000, "\u3000" * 1_000_000, "a" * 1_000_000])
def test_a_run_of_a_million_characters_is_counted_and_cut_like_any_text(run: str) -> None:
    text = f"Ada{run}Bob"
    assert token_offsets(text)[-1] == len(text)
    assert text.startswith(trim_to_tokens(text, 50))


@given(st.text(st.sampled_from("a \n"), max_size=30), st.integers(1990, 4010), st.sampled_from("a \n"))
def test_pieces_are_the_text_and_none_has_a_longer_run(rest: str, length: int, character: str) -> None:
    pieces = tokens._pieces(rest + character * length + rest)
    assert "".join(pieces) == rest + character * length + rest
    assert not any(re.search(r"\S{2001}|\s{2001}", piece) for piece in pieces)


def test_half_a_surrogate_pair_counts_as_the_replacement_character() -> None:
    assert count_tokens("a\ud800b") == count_tokens("a\ufffdb")
    assert token_offsets("a\ud800b")[-1] == 3


def test_a_long_run_without_spaces_is_counted_in_time() -> None:
    text = "a" * 200_000  # as one piece this takes minutes
    assert count_tokens(text) == 100 * count_tokens("a" * 2000)
    assert token_offsets(text)[-1] == 200_000


def test_trimming_keeps_a_text_that_fits() -> None:
    assert trim_to_tokens("hello world", 2) == "hello world"


def test_trimming_cuts_at_a_token_boundary() -> None:
    assert trim_to_tokens("hello world", 1) == "hello"


@pytest.mark.parametrize("limit", [0, -1])
def test_trimming_to_no_tokens_leaves_nothing(limit: int) -> None:
    assert trim_to_tokens("hello world", limit) == ""


def test_trimming_never_cuts_a_character() -> None:
    assert trim_to_tokens("🐝", 2) == ""
    assert trim_to_tokens("a🐝", 2) == "a"


@settings(max_examples=150)
@given(ANY_TEXT, st.integers(0, 20))
def test_a_trimmed_text_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    trimmed = trim_to_tokens(text, limit)
    assert text.startswith(trimmed)
    assert count_tokens(trimmed) <= limit


@pytest.mark.parametrize("content", [None, b"IQ== 0\n"])
def test_a_missing_or_changed_vocabulary_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    vocabulary = tmp_path / "vocabulary.tiktoken"
    if content:
        vocabulary.write_bytes(content)
    monkeypatch.setattr(tokens, "_VOCABULARY", vocabulary)
    tokens._encoding.cache_clear()
    try:
        with pytest.raises(ModelUnavailable, match=r"vocabulary\.tiktoken is missing or not the published one"):
            count_tokens("hello")
    finally:
        tokens._encoding.cache_clear()
