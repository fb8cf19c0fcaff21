import pytest

from leanrag_core.types.corpus import Heading, Span
from tests.indexing.parsing.conftest import Read


def test_markup_goes_and_text_stays(read: Read) -> None:
    document = read("a.md", "One **bold** and `code` and [a link](http://x.org) and ![a picture](y.png).")
    assert document.text == "One bold and code and a link and a picture."
    assert document.media_type == "markdown"


def test_headings_are_known_by_level_and_place(read: Read) -> None:
    document = read("a.md", "# Bees\n\nThey dance.\n\n### The *waggle* dance\n\nIn the hive.\n\nAnts\n----\n")
    assert document.text == "Bees\n\nThey dance.\n\nThe waggle dance\n\nIn the hive.\n\nAnts"
    assert document.headings == (
        Heading("Bees", 1, 0, 4),
        Heading("The waggle dance", 3, 19, 35),
        Heading("Ants", 2, 51, 55),
    )
    assert all(document.text[heading.start : heading.end] == heading.title for heading in document.headings)
    assert document.title == "Bees"


def test_the_front_matter_gives_the_title_and_is_no_text(read: Read) -> None:
    document = read("a.md", '---\r\ntitle: "On Bees"\r\ntags: [x]\r\n---\r\nThey dance.\r\n')
    assert (document.title, document.text) == ("On Bees", "They dance.")


def test_text_between_two_lines_across_the_page_is_no_front_matter(read: Read) -> None:
    assert read("a.md", "---\nThe intro stands here.\n\n---\nThe rest.\n").text == "The intro stands here.\n\nThe rest."


def test_a_table_row_is_a_paragraph_of_cells(read: Read) -> None:
    document = read("a.md", "| Insect | Legs |\n|---|---|\n| bee<br>wasp | **6** |\n")
    assert document.text == "Insect | Legs\n\nbee wasp | 6"


def test_list_items_are_marked_and_code_is_kept_without_its_fence(read: Read) -> None:
    document = read("a.md", "- bees\n- ants\n\n```python\nx = 1\n```\n")
    assert document.text == "- bees\n\n- ants\n\nx = 1"
    assert document.preformatted == (Span(16, 21),)


def test_wrapped_lines_are_one_paragraph_and_hard_breaks_are_kept(read: Read) -> None:
    assert read("a.md", "Bees\ndance  \nin the hive.").text == "Bees dance\nin the hive."


def test_html_within_is_read_and_scripts_are_not(read: Read) -> None:
    document = read("a.md", "Before.\n\n<div><p>Inside.</p></div>\n\n<script>alert(1)</script>\n\n<!-- note -->\n")
    assert document.text == "Before.\n\nInside."


@pytest.mark.slow
@pytest.mark.timeout(120)  # quadratic time takes ten minutes
def test_many_headings_are_read_in_linear_time(read: Read) -> None:
    assert len(read("a.md", "".join(f"# H{n}\n\nx\n\n" for n in range(30_000))).headings) == 30_000
