"""HTML of pages and of files: values are text, whatever they hold."""

import json
import re
from html import unescape

import pytest
from markupsafe import Markup

from leanrag_core.figures.html import NOTHING, html, html_file, joined

HOSTILE = "</b><script>alert(1)</script>\"' onclick=x {0} {name}"


def test_a_value_is_text_in_an_element_and_in_an_attribute() -> None:
    made = html('<b title="{}">{name}</b>', HOSTILE, name="<i>")
    assert made == (
        '<b title="&lt;/b&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39; onclick=x {0} {name}">&lt;i&gt;</b>'
    )


def test_what_was_made_before_is_filled_in_as_it_is() -> None:
    inner = html("<i>{}</i>", "a & b")
    assert html("<b>{}</b>", inner) == "<b><i>a &amp; b</i></b>"
    assert joined([inner, "<br>", NOTHING, 7], "<br>") == "<i>a &amp; b</i><br>&lt;br&gt;<br><br>7"


def test_numbers_are_written_as_their_template_says() -> None:
    assert html("{:,} of {n:.1f} %", 1234, n=3.456) == "1,234 of 3.5 %"


@pytest.mark.parametrize("text", ["cod\u202efdp.exe", "a\x00b"])
def test_characters_that_are_not_seen_are_shown_as_marks(text: str) -> None:
    assert "[U+" in html("<b>{}</b>", text)
    assert "[U+" in joined([text])
    assert "[U+" in html("{}", html("{}", text)), "once is enough"
    assert html("{}", html("{}", text)) == html("{}", text)


def test_html_is_markup_so_that_a_plain_text_cannot_replace_it() -> None:
    assert isinstance(html("<b></b>"), Markup)
    assert html("<b></b>") + "<i>" == "<b></b>&lt;i&gt;"


def test_a_file_without_a_script_allows_none() -> None:
    page = html_file(html("<p>{}</p>", HOSTILE), title=HOSTILE, language="en", styles="p{margin:0}")
    assert "default-src 'none'; script-src 'none'; style-src 'unsafe-inline'" in unescape(page)
    assert "<script" not in page
    assert page.count("&lt;script&gt;alert(1)") == 2
    assert "p{margin:0}</style>" in page


def test_values_of_a_file_cannot_end_their_block() -> None:
    values = {"b": [HOSTILE, "<!--"], "a": 1.5}
    page = html_file(NOTHING, title="t", language="en", styles="", script="f(values)", values=values)
    assert page.count("<script") == page.count("</script>") == 2
    [block] = re.findall(r'<script type="application/json" id="values">(.*?)</script>', page)
    assert json.loads(block) == values
    with pytest.raises(ValueError, match="not JSON compliant"):
        html_file(NOTHING, title="t", language="en", styles="", script="f(values)", values={"a": float("nan")})
