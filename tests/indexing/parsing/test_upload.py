from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from leanrag_core.indexing import reading
from leanrag_core.indexing.parsing import parse_upload
from leanrag_core.indexing.parsing.blocks import shown_name
from leanrag_core.indexing.parsing.upload import formats
from leanrag_core.indexing.reading import read_files, sources_below
from leanrag_core.messages.catalog import sentence
from tests.indexing.parsing.conftest import Read
from tests.reading import read_uploads
from tests.refusals import as_read


def test_every_reader_of_the_folder_is_found() -> None:
    assert sorted({module.MEDIA_TYPE for module in formats().values()}) == [
        *("csv", "docx", "epub", "html", "json", "jsonl", "markdown", "pdf", "pptx", "text", "xlsx", "zip")
    ]
    assert {"md", "htm", "tsv", "ndjson", "txt"} <= set(formats())


def test_an_unknown_ending_is_refused_with_the_list_of_known_ones(refused: Callable[..., str]) -> None:
    assert refused("a.exe", "x") == (
        ".exe files are not read: save it as one of "
        "CSV, DOCX, EPUB, HTML, JSON, JSONL, Markdown, PDF, plain text, PPTX, XLSX and ZIP"
    )


def test_the_ending_may_be_in_capitals_and_a_name_without_one_is_text(read: Read) -> None:
    assert read("A.MD", "# Bees").media_type == "markdown"
    assert read("README", "Bees dance.").media_type == "text"


@pytest.mark.parametrize("content", ["", " \n\t "])
def test_an_empty_file_is_refused(refused: Callable[..., str], content: str) -> None:
    assert refused("a.txt", content) == "has no text: the file is empty"


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.csv"])
def test_a_file_of_signs_alone_is_refused(refused: Callable[..., str], name: str) -> None:
    assert refused(name, "--- ... !!!") == "has no text: there is nothing to index in it"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\x\\bees.txt", "bees.txt"),
        ("bees\x00\n.txt", "bees .txt"),
        ("/", "unnamed"),
        ("", "unnamed"),
        ("x" * 300, "x" * 200),
        ("蜂.txt", "蜂.txt"),
    ],
)
def test_a_shown_name_has_no_folders_and_no_control_characters(name: str, shown: str) -> None:
    assert shown_name(name) == shown


def test_the_document_has_the_shown_name(read: Read) -> None:
    assert read("../secret/bees.txt", "They dance.").name == "bees.txt"


def test_one_bad_file_does_not_stop_the_others() -> None:
    upload = read_uploads([("a.txt", b"Bees."), ("b.pdf", b"no pdf"), ("c.exe", b"MZ"), ("d.txt", b"Ants.")])
    assert [document.name for document in upload.documents] == ["a.txt", "d.txt"]
    assert [refusal.name for refusal in upload.refusals] == ["b.pdf", "c.exe"]


def test_repeated_content_is_taken_once_and_reported(tmp_path: Path) -> None:
    for name, content in (("a.txt", "Bees dance."), ("b.md", "Bees dance.\n"), ("c.txt", "Ants.")):
        (tmp_path / name).write_text(content)
    upload = read_files([tmp_path])
    assert [document.name for document in upload.documents] == ["a.txt", "c.txt"]
    assert as_read(upload.refusals) == [("b.md", "the same content as a.txt, which is taken once")]


def test_a_file_above_the_limit_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "large.txt").open("wb") as file:
        file.truncate(reading.MAX_FILE_BYTES + 1)  # sparse: takes no space on disk
    (tmp_path / "small.txt").write_text("Bees dance.")
    upload = read_files([tmp_path])
    assert [document.name for document in upload.documents] == ["small.txt"]
    assert as_read(upload.refusals) == [("large.txt", "larger than 200 MB: split it and add the parts")]


def test_an_upload_at_the_limit_is_read_and_one_above_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_FILE_BYTES", 5)
    upload = read_uploads([("x/a.txt", b"Bees."), ("x/b.txt", b"Bees.!")])
    assert [document.name for document in upload.documents] == ["a.txt"]
    assert as_read(upload.refusals) == [("b.txt", "larger than 200 MB: split it and add the parts")]


def test_a_missing_file_is_refused_with_what_to_check(tmp_path: Path) -> None:
    [refusal] = read_files([tmp_path / "none.txt"]).refusals
    assert refusal.name == "none.txt"
    assert sentence(refusal.reason).startswith("cannot be read (No such file or directory)")


def test_folders_are_read_in_order_of_paths_without_hidden_files(tmp_path: Path) -> None:
    for name in ["b/z.txt", "b/a.txt", "a.txt", ".hidden.txt", ".git/x.txt", "b/.x/y.txt"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    wanted = [tmp_path / "a.txt", tmp_path / "b/a.txt", tmp_path / "b/z.txt"]
    assert list(sources_below([tmp_path]).files) == wanted
    assert list(sources_below([tmp_path / "b/z.txt", tmp_path]).files) == [wanted[2], *wanted[:2]]


def test_a_folder_that_links_to_itself_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Bees.")
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    assert list(sources_below([tmp_path]).files) == [tmp_path / "a.txt"]


# PDF and DOCX are damaged byte by byte in their own files; a random start never gets past their gates.
@settings(max_examples=150)
@given(
    st.sampled_from(["txt", "md", "html", "csv", "json", "jsonl", "pdf", "docx", "epub", "zip", "xlsx", "pptx"]),
    st.binary(max_size=60) | st.text(st.sampled_from("\"',;|<>/a{}[]:#*-_`\n\t 1é"), max_size=60).map(str.encode),
)
@example("jsonl", b"\x00")
def test_no_content_of_any_format_raises(suffix: str, content: bytes) -> None:
    upload = parse_upload(f"a.{suffix}", content)
    assert upload.documents or upload.refusals


def test_what_turns_the_direction_of_a_file_name_is_shown_as_such() -> None:
    assert shown_name("cod\u202efdp.exe") == "cod[U+202E]fdp.exe"
    upload = parse_upload("cod\u202etxt.exe", b"MZ")
    assert upload.refusals[0].name == "cod[U+202E]txt.exe"


def test_a_file_with_a_very_long_name_is_read_by_its_suffix() -> None:
    upload = parse_upload(f"{'n' * 230}.csv", b"bee,job\nAda,nurse\n")
    assert [(document.media_type, document.text) for document in upload.documents] == [("csv", "bee: Ada\njob: nurse")]
    assert len(upload.documents[0].name) == 200
    assert upload.documents[0].name.endswith("n.csv")
    assert "are not read" in sentence(parse_upload(f"{'n' * 230}.exe", b"MZ").refusals[0].reason)
