"""Notes are stored in English and told in the language of the page; what a file says of itself is told as it is."""

import pytest

from leanrag_core.indexing.parsing.notes import note, note_in
from leanrag_core.indexing.parsing.upload import parse_upload
from leanrag_core.messages.catalog import sentence


@pytest.mark.parametrize(
    ("stored", "chinese"),
    [
        ("Read as GB18030; the file does not say its encoding.", "按 GB18030 读取；文件没有注明编码。"),
        ("Read as UTF-16.", "按 UTF-16 读取。"),
        ("The last character is cut off and was left out.", "最后一个字符不完整，已略去。"),
        ("1,204 NUL characters were left out.", "略去了 1,204 个 NUL 字符。"),
        ("12 running heads and page numbers were left out.", "略去了 12 处页眉、页脚和页码。"),
        ("2 of 9 chapters are missing in the file.", "文件中缺少 9 章中的 2 章。"),
        (
            "The file is damaged after page 7; what follows could not be read.",
            "文件在第 7 页之后损坏；其后的内容无法读取。",
        ),
        ("id: Read as a whole", "id: Read as a whole"),
    ],
)
def test_a_stored_note_is_told_in_chinese(stored: str, chinese: str) -> None:
    assert note_in("zh", stored) == chinese
    assert note_in("en", stored) == stored


def test_a_note_is_stored_in_english() -> None:
    assert note("running_heads", amount="3") == "3 running heads and page numbers were left out."


@pytest.mark.parametrize(
    ("name", "content", "chinese"),
    [
        ("a.docx", b"no archive", "不是可读取的 DOCX 文件：请在文字处理软件中打开并重新保存"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0 old", "是旧格式的 Excel 文件，或受密码保护：请不带密码另存为 .xlsx"),
        ("a.pdf", b"%PDF-1.4 damaged", "已损坏，无法读取：请在 PDF 阅读器中打开并重新保存"),
    ],
)
def test_a_refusal_is_told_wholly_in_chinese(name: str, content: bytes, chinese: str) -> None:
    [refusal] = parse_upload(name, content).refusals
    assert sentence(refusal.reason, "zh") == chinese


def test_the_formats_that_are_read_are_listed_in_the_language_of_the_page() -> None:
    [refusal] = parse_upload("a.xyz", b"text").refusals
    assert "PDF、纯文本、PPTX" in sentence(refusal.reason, "zh")
    assert "PDF, plain text, PPTX" in sentence(refusal.reason)
