import pytest

from leanrag_core.types.corpus import Heading, Span
from tests.indexing.parsing.conftest import Read


def test_a_reader_sees_text_without_scripts_styles_and_navigation(read: Read) -> None:
    page = """<html><head><title>On Bees</title><style>p {}</style></head><body><nav>Home</nav>
    <p>They <b>dance</b>.</p><script>alert(1)</script><!-- note --><footer>Contact</footer></body></html>"""
    document = read("a.html", page)
    assert (document.title, document.text, document.media_type) == ("On Bees", "They dance.", "html")


def test_headings_are_known_by_level_and_place(read: Read) -> None:
    document = read("a.htm", "<h1>Bees &amp; ants</h1><p>One.</p><h3>Dance</h3>")
    assert document.text == "Bees & ants\n\nOne.\n\nDance"
    assert document.headings == (Heading("Bees & ants", 1, 0, 11), Heading("Dance", 3, 19, 24))


def test_the_sign_beside_a_heading_that_leads_to_itself_is_no_text(read: Read) -> None:
    page = """<h2>Dance<a class="headerlink" href="#dance">¶</a></h2><h3><a href="#c">#</a> C#</h3>
    <p>See <a href="#dance">it</a> and note <a href="other.html">*</a>.</p>"""
    document = read("a.html", page)
    assert [heading.title for heading in document.headings] == ["Dance", "C#"]
    assert document.text.endswith("See it and note *.")


def test_a_table_row_is_a_paragraph_of_cells(read: Read) -> None:
    page = "<table><tr><th>Insect</th><th>Legs</th></tr><tr><td><p>bee</p><p>wasp</p></td><td>6</td></tr></table>"
    assert read("a.html", page).text == "Insect | Legs\n\nbee wasp | 6"


def test_list_items_are_marked_and_white_space_is_folded(read: Read) -> None:
    assert read("a.html", "<ul><li>bees\n   dance<li>ants</ul>one<br>two").text == "- bees dance\n\n- ants\n\none two"


@pytest.mark.parametrize(
    "listing",
    [
        "<pre>\n# ls  -l\ntotal 0\n</pre>",
        "<pre># ls  -l<br>total 0</pre>",
        "<pre><div># ls  -l</div><div>total 0</div></pre>",
        '<pre class="screen"><code># </code><b>ls  -l\n</b>total 0</pre>',
    ],
)
def test_preformatted_text_keeps_its_lines(read: Read, listing: str) -> None:
    document = read("a.html", f"<p>List the\nfiles:</p>{listing}<p>Nothing is there.</p>")
    assert document.text == "List the files:\n\n# ls  -l\ntotal 0\n\nNothing is there."
    assert document.preformatted == (Span(17, 33),)


def test_preformatted_text_in_a_cell_is_folded_with_it(read: Read) -> None:
    page = "<table><tr><td><pre>a\nb</pre></td><td>6</td></tr></table><p>One\ntwo</p>"
    document = read("a.html", page)
    assert (document.text, document.preformatted) == ("a b | 6\n\nOne two", ())


def test_a_page_within_a_form_is_read_without_its_controls(read: Read) -> None:
    page = (
        "<form><label>Search</label><select><option>All</option></select><p>Bees dance.</p><button>Go</button></form>"
    )
    assert read("a.html", page).text == "Bees dance."


def test_soft_hyphens_and_marks_without_width_are_left_out(read: Read) -> None:
    assert read("a.html", "<p>co\u00adope\u200brate</p>").text == "cooperate"


@pytest.mark.parametrize("text", ["Café naïve", "co-öperate", "蜂は踊る。", "Ås"])
def test_utf_8_without_a_declaration_is_read_as_utf_8(read: Read, text: str) -> None:
    document = read("a.html", f"<p>{text}</p>")
    assert (document.text, document.notes) == (text, ())


def test_a_declared_encoding_is_followed(read: Read) -> None:
    document = read("a.html", '<meta charset="iso-8859-1"><p>Café</p>'.encode("latin-1"))
    assert (document.text, document.notes) == ("Café", ())


def test_a_guessed_encoding_is_reported(read: Read) -> None:
    page = "<p>蜂は踊る。花は咲く。今日は天気がいいですね。</p>".encode("shift_jis")
    document = read("a.html", page)
    assert document.text.startswith("蜂は踊る。花は咲く。")
    assert document.notes == ("Read as CP932; the file does not say its encoding.",)


def test_a_page_nested_ten_thousand_deep_is_read(read: Read) -> None:
    assert read("a.html", "<div>" * 10_000 + "Bees dance." + "</div>" * 10_000).text == "Bees dance."


def test_broken_markup_is_read_as_far_as_it_goes(read: Read) -> None:
    assert read("a.html", "<p>Bees <b>dance<p>Ants < walk").text == "Bees dance\n\nAnts < walk"


@pytest.mark.parametrize(
    "opened",
    [
        '<svg viewBox="0 0 9 9"><title>logo</title><text>drawn</text><path d="M0 0">',
        "<svg><g>",
        "<button>menu",
        "<button type=button>menu <svg></svg>",
        "<label>menu",
        "<select><option>menu",
        "<nav>menu",
        "<noscript>",
        "<object>",
    ],
)
@pytest.mark.parametrize("content", ["<h1>Bees</h1><p>They dance.</p>", f"<div>{'They dance. ' * 30}</div>"])
def test_an_element_that_is_never_closed_hides_nothing(read: Read, opened: str, content: str) -> None:
    text = read("a.html", f"<body><p>Ants walk.</p>{opened}{content}</body>").text
    assert text.startswith("Ants walk.")
    assert "They dance." in text
    assert "logo" not in text
    assert "drawn" not in text


def test_text_within_the_paragraph_of_an_unclosed_drawing_is_kept(read: Read) -> None:
    assert (
        read("a.html", "<p>Bees <svg><path d='M0 0'> dance.</p><p>Ants walk.</p>").text == "Bees dance.\n\nAnts walk."
    )


def test_closed_elements_stay_silent_beside_unclosed_ones(read: Read) -> None:
    markup = "<nav><p>menu</p></nav><button><p>press</p></button><svg/><svg><p>They dance.</p>"
    assert read("a.html", markup).text == "They dance."


def test_what_is_written_in_a_script_opens_nothing(read: Read) -> None:
    markup = "<script>x = '<button>'</script><button>press</button><p>They dance.</p>"
    assert read("a.html", markup).text == "They dance."


def test_links_to_the_neighbours_of_a_page_are_boilerplate_and_prose_with_such_a_link_is_not(read: Read) -> None:
    line = (
        '<p>Next: <a href="c.html" accesskey="n" rel="next">Hives</a>, Previous: <a href="a.html" rel="prev">Bees</a>, '
        'Up: <a href="i.html" rel="up">Manual</a> &nbsp; [<a href="x.html" rel="index">Index</a>]</p>'
    )
    prose = '<p>How a colony is wintered is told <a href="c.html" rel="next">on the next page</a>, after the hives.</p>'
    by_itself = '<ul><li><a href="c.html" rel="next">Hives</a></li></ul>'
    document = read("a.html", f"{line}{prose}{by_itself}")
    left_out = [document.text[span.start : span.end] for span in document.boilerplate]
    assert left_out == ["Next: Hives, Previous: Bees, Up: Manual [Index]", "- Hives"]
    assert "on the next page" in document.text
