import codecs
import random

import pytest

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing.encoding import decode

JAPANESE = "蜂は踊る。花は咲く。今日は天気がいいですね。"
GUESSED = "Read as {}; the file does not say its encoding."


def test_utf_8_is_read_with_or_without_its_mark_and_needs_no_note() -> None:
    for content in ("Café 🐝".encode(), codecs.BOM_UTF8 + "Café 🐝".encode()):
        decoded = decode(content)
        assert (decoded.text, decoded.notes) == ("Café 🐝", ())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_byte_order_mark_decides_the_width_and_the_order(encoding: str) -> None:
    decoded = decode("\ufeffCafé 🐝".encode(encoding))
    assert (decoded.text, decoded.notes) == ("Café 🐝", (f"Read as {encoding[:6].upper()}.",))


@pytest.mark.parametrize(
    "text",
    [
        "Le café",
        "Le garçon boit un café au lait près de la forêt.",
        "El niño comió una manzana.",
        "Smørrebrød på dansk, æbler og øl i Århus.",
        "Die Müllerin fährt über die Brücke.",
        "question,answer\nWas ist Öl?,x\n",
        "id,question\n1,Wie heißt der Ort?\n",
    ],
)
def test_western_bytes_are_read_as_windows_1252(text: str) -> None:
    decoded = decode(text.encode("cp1252"))
    assert (decoded.text, decoded.notes[-1:]) == (text, decoded.notes)
    assert decoded.notes in ((GUESSED.format("CP1252"),), (GUESSED.format("CP1250"),))


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy."),
        ("cp1250", "Az őszi erdőben sétáltunk, és gyűjtöttük a gombát egész délután."),
        ("cp1251", "Привет, это обычный русский текст о пчелах и муравьях."),
        ("cp1253", "Το μέλι είναι γλυκό και ωραίο."),
        ("cp932", JAPANESE),
        ("cp1250", "pytanie\nCo zbierają pszczoły?\n"),
        ("gb18030", "question,answer\n什么是蜜蜂？,昆虫\n"),
        ("cp949", "질문\n벌이란 무엇인가?\n"),
    ],
)
def test_other_bytes_are_guessed_and_the_guess_is_reported(encoding: str, text: str) -> None:
    decoded = decode(text.encode(encoding))
    assert (decoded.text, decoded.notes) == (text, (GUESSED.format(encoding.upper()),))


def test_iso_2022_jp_is_known_by_its_escapes_though_it_is_ascii() -> None:
    decoded = decode(JAPANESE.encode("iso2022_jp"))
    assert (decoded.text, decoded.notes) == (JAPANESE, ("Read as ISO-2022-JP.",))


@pytest.mark.parametrize("lost", [1, 2])
def test_a_cut_last_character_is_left_out_and_reported(lost: int) -> None:
    decoded = decode("蜂は踊る".encode()[:-lost])
    assert (decoded.text, decoded.notes) == ("蜂は踊", ("The last character is cut off and was left out.",))


def test_a_last_character_of_four_bytes_may_lack_one() -> None:
    decoded = decode("Bees 🐝".encode()[:-1])
    assert (decoded.text, decoded.notes) == ("Bees ", ("The last character is cut off and was left out.",))


def test_an_accent_at_the_end_of_a_western_text_is_no_cut_character() -> None:
    assert decode(b"Le caf\xe9").text == "Le café"


def test_nul_characters_are_left_out_and_counted() -> None:
    decoded = decode(b"Bees\x00 dance\x00.")
    assert (decoded.text, decoded.notes) == ("Bees dance.", ("2 NUL characters were left out.",))


@pytest.mark.parametrize("head", [b"", b"\x89PNG\r\n\x1a\n", b"PK\x03\x04"])
def test_bytes_that_are_no_text_are_refused(head: bytes) -> None:
    with pytest.raises(UnreadableDocument, match="is not a text file"):
        decode(head + random.Random(1).randbytes(4000))
