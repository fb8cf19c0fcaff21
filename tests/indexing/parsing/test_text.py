from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leanrag_core.indexing.parsing.blocks import Block, Parsed, assemble, clean, fold_lines
from leanrag_core.types.corpus import Heading, Span
from tests.indexing.parsing.conftest import Read


def test_paragraphs_are_separated_by_empty_lines(read: Read) -> None:
    document = read("a.txt", "Bees dance.  \r\nIn the hive.\r\n \t\r\n\r\n\r\n   Ants walk.\r")
    assert document.text == "Bees dance.\nIn the hive.\n\nAnts walk."
    assert (document.media_type, document.pages, document.headings) == ("text", (), ())


def test_a_lone_line_in_capitals_is_a_heading(read: Read) -> None:
    document = read("a.txt", "ON BEES\n\nThey dance.\n\nTHEY SHOUT.\n\nABC\n\n1234")
    assert document.headings == (Heading("ON BEES", 2, 0, 7),)
    assert document.title == "ON BEES"


def test_without_a_heading_the_title_is_the_files_name(read: Read) -> None:
    assert read("my_notes on bees.v2.txt", "They dance.").title == "my notes on bees.v2"


def test_the_same_content_has_the_same_id_under_any_name(read: Read) -> None:
    first, second, other = read("a.txt", "Bees."), read("b.txt", "Bees.\r\n"), read("a.txt", "Ants.")
    assert first.id == second.id != other.id


def test_composed_and_decomposed_letters_are_one(read: Read) -> None:
    assert read("a.txt", "Cafe\u0301").text == "Café"
    assert read("a.txt", "Cafe\u200b\u0301").text == "Café"


def test_control_characters_go_and_rare_line_ends_are_line_ends(read: Read) -> None:
    assert read("a.txt", "one\x85two\vthree\u2028four\ffive\x1b\x07!").text == "one\ntwo\nthree\nfour\nfive!"


@pytest.mark.parametrize(
    "text",
    [
        "© 2026 The Bee Society",
        "Copyright 2026 The Bee Society",
        "All rights reserved.",
        "Contents",
        "Table of contents",
        "Cookie settings",
        "This website uses cookies to serve you.",
        "Privacy policy | Terms of use",
        "Bees ........ 3\nAnts . . . . . 14\nWasps    20",
    ],
)
def test_boilerplate_is_marked_in_its_place(read: Read, text: str) -> None:
    document = read("a.txt", f"Bees dance in the hive.\n\n{text}\n\nAnts walk.")
    assert document.boilerplate == (Span(25, 25 + len(text)),)


@pytest.mark.parametrize(
    "text",
    [
        "Cookies are baked at 180 degrees.",
        "Copyright law protects authors.",
        "Privacy policy differs from land to land.",
        "Wait .... and see.",
        "In 1914",
    ],
)
def test_sentences_that_only_begin_like_boilerplate_are_text(read: Read, text: str) -> None:
    assert read("a.txt", f"Bees dance.\n\n{text}").boilerplate == ()


@pytest.mark.parametrize("line", ["a" + " " * 200_000 + "b", "x\ny\n" + "." * 200_000 + "z", "x\ny\n" + ". " * 100_000])
@pytest.mark.timeout(60)  # quadratic time takes minutes
def test_long_runs_of_spaces_or_dots_are_read_in_linear_time(read: Read, line: str) -> None:
    assert line[-1] in read("a.txt", line).text


def test_hard_wrapped_lines_are_folded() -> None:
    assert fold_lines("Bees collect nec-\ntar in  the\nfields of\n\nNew-\nYork") == (
        "Bees collect nectar in the fields of New- York"
    )
    assert fold_lines("蜂は\n踊る。") == "蜂は踊る。"
    assert fold_lines("벌은\n춤을") == "벌은 춤을"  # Korean has spaces


def test_blocks_that_go_on_join_their_paragraph_and_pages_start_in_it() -> None:
    blocks = (Block("Bees", page=1), Block("dance.", page=3, joins=True), Block("Ants", "heading", 2, 3))
    document = assemble("a.pdf", "pdf", Parsed(blocks))
    assert document.text == "Bees dance.\n\nAnts"
    assert document.pages == (Span(0, 5), Span(5, 5), Span(5, 17))
    assert document.headings == (Heading("Ants", 2, 13, 17),)


@settings(max_examples=200)
@given(st.text(st.characters(codec=None) | st.sampled_from(" \n\r\t\u0301e\x85\u2028\xad"), max_size=40))
def test_what_is_clean_stays_as_it_is(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    once.encode("utf-8")  # which raises for half a surrogate pair
    assert not {"\r", "\x00", "\xad"} & set(once)
    assert not any(line != line.rstrip() for line in once.split("\n"))
    assert "\n\n\n" not in once


KINDS = st.sampled_from(["paragraph", "heading", "boilerplate"])


@settings(max_examples=100)
@given(
    st.lists(st.builds(Block, st.text(max_size=12), KINDS, st.just(1), st.integers(0, 4), st.booleans()), max_size=8)
)
def test_every_position_lies_in_the_text(blocks: list[Block]) -> None:
    in_order = sorted(blocks, key=lambda block: block.page)
    document = assemble("a.pdf", "pdf", Parsed((*in_order, Block("an end of letters 蜂"))))
    for heading in document.headings:
        assert " ".join(document.text[heading.start : heading.end].split()) == heading.title
    for span in document.boilerplate:
        assert 0 <= span.start < span.end <= len(document.text)
    if document.pages:
        assert document.pages[-1].end == len(document.text)
        for left, right in pairwise(document.pages):
            assert left.end == right.start
