import pytest

from leanrag_core.types.visible import escape, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cod\u202efdp.exe", "cod[U+202E]fdp.exe"),
        ("\u2066a\u2069\u202ab\u202c", "[U+2066]a[U+2069][U+202A]b[U+202C]"),
        ("\u2068שלום\u2069: 3, \u2068a\u202e\u2069", "\u2068שלום\u2069: 3, \u2068a[U+202E]\u2069"),
        ("\u2068a\u2069b\u2069, \u2068c, \u2067d\u2069", "\u2068a\u2069b[U+2069], [U+2068]c, [U+2067]d[U+2069]"),
        ("\x1b[31mred\x9b\x7f\x00", "[U+001B][31mred[U+009B][U+007F][U+0000]"),
        ("two\nlines\tof text\r\n", "two\nlines\tof text\r\n"),
        ("שלום\u200f, \u0645\u06cc\u200c\u062e, 蜂, é", "שלום\u200f, \u0645\u06cc\u200c\u062e, 蜂, é"),
    ],
)
def test_what_changes_how_text_is_read_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_html_is_shown_and_not_done() -> None:
    assert escape('<b title="x">\u202e&') == "&lt;b title=&quot;x&quot;&gt;[U+202E]&amp;"
