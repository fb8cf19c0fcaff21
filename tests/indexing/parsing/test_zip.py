import io
import random
import zipfile
from collections.abc import Callable

import pytest

from leanrag_core.indexing.parsing import limits as limits
from leanrag_core.indexing.parsing import parse_upload
from leanrag_core.indexing.parsing.upload import Begun, parse_parts
from leanrag_core.messages.catalog import sentence
from tests.refusals import as_read


def packed(files: dict[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def names(content: bytes) -> list[str]:
    return [document.name for document in parse_upload("a.zip", content).documents]


def test_each_file_is_a_document_under_its_own_name() -> None:
    upload = parse_upload("a.zip", packed({"my_bees.txt": "Bees dance.", "in/b.md": "# Ants\n\nThey walk."}))
    assert [(document.name, document.title, document.media_type) for document in upload.documents] == [
        ("my_bees.txt", "my bees", "text"),
        ("b.md", "Ants", "markdown"),
    ]
    assert upload.refusals == ()


def test_what_cannot_be_read_is_named_in_the_archive() -> None:
    upload = parse_upload("a.zip", packed({"in/b.pdf": "no pdf", "c.exe": "MZ", "d.txt": "", "e.txt": "Bees."}))
    assert [document.name for document in upload.documents] == ["e.txt"]
    assert [refusal.name for refusal in upload.refusals] == ["a.zip, in/b.pdf", "a.zip, c.exe", "a.zip, d.txt"]
    assert sentence(upload.refusals[2].reason) == "has no text: the file is empty"


def test_unseen_characters_in_the_name_of_a_file_that_is_not_read_are_shown() -> None:
    upload = parse_upload("a.zip", packed({"in/\x1b[2Jcod\u202efdp.exe": "MZ", f"{'n' * 5000}.exe": "MZ"}))
    first, second = [refusal.name for refusal in upload.refusals]
    assert first == "a.zip, in/[2Jcod[U+202E]fdp.exe"
    assert len(second) == len("a.zip, ") + 200


def test_names_never_become_paths_and_hidden_files_are_left_out() -> None:
    content = packed(
        {
            "../../etc/passwd.txt": "Bees.",
            "/root/b.txt": "Ants.",
            "C:\\c.txt": "Wasps.",
            "__MACOSX/d.txt": "x",
            ".e": "x",
        }
    )
    assert names(content) == ["passwd.txt", "b.txt", "c.txt"]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_every_usual_way_of_packing_is_read(method: int) -> None:
    assert names(packed({"a.txt": "Bees dance."}, method)) == ["a.txt"]


def test_names_in_utf8_are_read_where_the_archive_does_not_say_so() -> None:
    content = packed({"蜂.txt": "Bees dance."})
    unsaid = bytearray(content)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = unsaid.index(mark) + offset
        unsaid[place : place + 2] = b"\x00\x00"
    assert names(bytes(unsaid)) == ["蜂.txt"]


def test_archives_in_archives_are_read_to_a_depth() -> None:
    content = packed({"a.txt": "Bees 0"})
    for depth in range(1, 4):
        content = packed({"inner.zip": content, "b.txt": f"Bees {depth}"})
    upload = parse_upload("a.zip", content)
    assert sorted(document.text for document in upload.documents) == ["Bees 1", "Bees 2", "Bees 3"]
    [refusal] = upload.refusals
    assert as_read([refusal])[0] == (
        "a.zip, inner.zip, inner.zip, inner.zip",
        "lies in more than 3 archives: take it out and add it alone",
    )


def test_an_archive_of_too_many_files_is_refused(refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_FILES", 3)
    assert names(packed({f"{n}.txt": f"Bees {n}" for n in range(3)})) == ["0.txt", "1.txt", "2.txt"]
    error_text = "holds more than 3 files: take the texts out and add those"
    assert refused("a.zip", packed({f"{n}.txt": "Bees" for n in range(4)})) == error_text
    inner = packed({f"{n}.txt": f"Bees {n}" for n in range(2)})
    upload = parse_upload("a.zip", packed({"in.zip": inner, "b.txt": "Ants"}))
    assert as_read(upload.refusals) == [("a.zip, in.zip", error_text)], "counted over all archives of a file"
    assert [document.name for document in upload.documents] == ["b.txt"]


def test_what_unpacks_to_too_much_is_refused(refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_BYTES", 3 << 20)
    text = random.Random(5).randbytes(1 << 20).hex()
    assert refused("a.zip", packed({"a.txt": text, "b.txt": text})) == (
        "unpacks to more than 3 MB: split it and add the parts"
    )
    monkeypatch.setattr(limits, "MAX_FILE_BYTES", 1 << 20)
    upload = parse_upload("a.zip", packed({"a.txt": text, "b.txt": "Ants walk."}))
    assert [document.name for document in upload.documents] == ["b.txt"]
    assert as_read(upload.refusals) == [("a.zip, a.txt", "unpacks to more than 1 MB: split it and add the parts")]


def test_what_is_packed_as_no_text_is_costs_only_itself() -> None:
    upload = parse_upload("a.zip", packed({"zeros.txt": bytes(11 << 20), "b.txt": "Ants walk."}))
    assert [document.name for document in upload.documents] == ["b.txt"]
    [refusal] = upload.refusals
    assert sentence(refusal.reason) == "unpacks to more than 200 times its size, as no text does: it is not read"


def test_a_small_file_may_be_packed_as_tightly_as_it_likes() -> None:
    text = "Bees dance. " * 20_000
    content = packed({"a.txt": text})
    assert len(content) * limits.MAX_RATIO < len(text)
    assert names(content) == ["a.txt"]


def test_a_file_with_a_password_costs_only_itself() -> None:
    content = bytearray(packed({"a.txt": "Bees dance.", "b.txt": "Ants walk."}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + offset] |= 1
    upload = parse_upload("a.zip", bytes(content))
    assert [document.name for document in upload.documents] == ["b.txt"]
    assert as_read(upload.refusals) == [("a.zip, a.txt", "needs a password: unpack the archive, then add the file")]


def test_a_damaged_file_costs_only_itself() -> None:
    content = bytearray(packed({"a.txt": "Bees dance.", "b.txt": "Ants walk."}, zipfile.ZIP_STORED))
    content[content.index(b"dance")] ^= 1
    upload = parse_upload("a.zip", bytes(content))
    assert [document.name for document in upload.documents] == ["b.txt"]
    assert as_read(upload.refusals) == [("a.zip, a.txt", "is damaged in its archive: pack it again")]


def test_what_is_no_archive_is_refused(refused: Callable[..., str]) -> None:
    whole = packed({"a.txt": "Bees dance."})
    for content in (b"Bees dance.", whole[: len(whole) // 2], b"%PDF-1.4", b"Rar!\x1a\x07\x01\x00"):
        assert refused("a.zip", content) == "is not a readable ZIP archive: pack the files again"
    assert refused("a.zip", packed({})) == "holds no files: there is nothing to read in it"
    assert refused("a.zip", b"") == "has no text: the file is empty"


def test_parts_that_were_read_before_are_not_given_again() -> None:
    inner = packed({"b.txt": "Ants", "c.txt": "Wasps"})
    content = packed({"a.txt": "Bees", "in.zip": inner, "d.txt": "Flies"})
    begun = [part.name for part in parse_parts("x.zip", content) if isinstance(part, Begun)]
    assert begun == [
        "x.zip",
        "x.zip, a.txt",
        "x.zip, in.zip",
        *(f"x.zip, in.zip, {n}.txt" for n in "bc"),
        "x.zip, d.txt",
    ]
    again = list(parse_parts("x.zip", content, done=4, broken=frozenset([3])))
    assert [part.name if isinstance(part, Begun) else part.documents[0].text for part in again] == [
        *("x.zip, in.zip, c.txt", "Wasps"),
        *("x.zip, d.txt", "Flies"),
    ]
    skipped = parse_parts("x.zip", content, done=3, broken=frozenset([2]))
    assert [part.name for part in skipped if isinstance(part, Begun)] == ["x.zip, d.txt"]


def test_a_damaged_archive_never_raises() -> None:
    whole = packed({"a.txt": "Bees dance.", "b.md": "# Ants"})
    chance = random.Random(5)
    for _ in range(200):
        damaged = bytearray(whole)
        for _ in range(chance.choice([1, 5, 30])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        upload = parse_upload("a.zip", bytes(damaged))
        assert upload.documents or upload.refusals
