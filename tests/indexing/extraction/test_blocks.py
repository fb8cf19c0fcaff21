from leanrag_core.indexing.extraction.blocks import MAX_BLOCK, blocks_of
from leanrag_core.types.corpus import Document, Heading, Span


def texts(text: str, **more: object) -> list[str]:
    return [block.text for block in blocks_of(Document("d", "d", "", "text", text, "en", **more))]


def test_wrapped_lines_are_one_block_and_items_are_their_own() -> None:
    text = "The mill was built in the year of the great flood\nand burnt down later.\n\n1. First item\n2. Second item"
    assert texts(text) == [
        "The mill was built in the year of the great flood and burnt down later.",
        "First item",
        "Second item",
    ]


def test_table_rows_are_read_cell_by_cell() -> None:
    assert texts("| City | River |\n|---|---|\n| Vienna | Danube |") == ["City, River", "Vienna, Danube"]


def test_headings_boilerplate_and_code_are_left_out() -> None:
    text = "Title\nBody one.\n```\ncode = 1\n```\nBody two. Footer"
    block_texts = texts(text, headings=(Heading("Title", 1, 0, 5),), boilerplate=(Span(len(text) - 6, len(text)),))
    assert block_texts == ["Body one.", "Body two."]


def test_every_character_knows_where_it_came_from() -> None:
    text = "See **Marie  Curie** and [Ada](http://x.org/a) too."
    (block,) = blocks_of(Document("d", "d", "", "text", text))
    assert block.text == "See Marie Curie and Ada too."
    for word in ("Marie", "Curie", "Ada", "too"):
        assert block.source(block.text.index(word)) == text.index(word)


def test_a_label_is_a_speaker_only_when_it_returns() -> None:
    text = "Ada: hello there\nBob: hi\nAda: bye\nNote: x\nNote: y"
    speakers = [block.speaker for block in blocks_of(Document("d", "d", "", "text", text))]
    assert speakers == ["Ada", "", "Ada", "", ""]


def test_a_huge_paragraph_is_cut_at_sentences() -> None:
    block_texts = texts("A short sentence. " * 3000)
    assert len(block_texts) == 3
    assert all(len(text) <= MAX_BLOCK and text.endswith(".") for text in block_texts)
