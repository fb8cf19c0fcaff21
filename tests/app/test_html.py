"""HTML of the pages: values are text, whatever they hold."""

import pytest
from markupsafe import Markup

from pages.common.html import NOTHING, html, joined

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
