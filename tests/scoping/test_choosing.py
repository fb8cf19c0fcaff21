"""Which documents a scope holds."""

import json
from pathlib import Path

import pytest

from leanrag_core.__main__ import main
from leanrag_core.errors import InvalidConfig
from leanrag_core.storage.layout import read_index
from leanrag_core.text.dates import date_of_text
from leanrag_core.types.index import FOLDER
from leanrag_core.types.scope import ALL, Scope, ScopedDocument, read_scope, written

PAPER = ScopedDocument("doc-1", "paper.pdf", "reports/2024/may", ("law", "bees"), "2024-05-31")
UNDATED = ScopedDocument("doc-2", "notes.md")


@pytest.mark.parametrize(
    "scope",
    [
        ALL,
        Scope(documents=("doc-1",)),
        Scope(documents=("paper.pdf",)),
        Scope(documents=("other.pdf",), folders=("reports",)),
        Scope(folders=("/reports/2024/",)),
        Scope(tags=("law", "tax")),
        Scope(since="2024", until="2024"),
        Scope(since="2024-05-31", until="2024-05"),
        Scope(documents=("paper.pdf",), tags=("bees",), since="2023-12"),
    ],
)
def test_a_document_is_in_a_scope_whose_conditions_it_meets(scope: Scope) -> None:
    assert scope.holds(PAPER)


@pytest.mark.parametrize(
    "scope",
    [
        Scope(documents=("doc-2",)),
        Scope(folders=("report",)),
        Scope(folders=("2024",)),
        Scope(tags=("tax",)),
        Scope(since="2024-06"),
        Scope(until="2024-05-30"),
        Scope(documents=("paper.pdf",), tags=("tax",)),
    ],
)
def test_a_document_is_outside_when_it_misses_one(scope: Scope) -> None:
    assert not scope.holds(PAPER)


def test_a_document_without_a_date_is_in_no_scope_with_dates() -> None:
    assert not Scope(since="1900").holds(UNDATED)
    assert not Scope(until="2100").holds(UNDATED)
    assert Scope(folders=("",)).holds(UNDATED)


@pytest.mark.parametrize("date", ["May", "2024-13", "24-05-01", "2024-5-1", "2024-05-01T00:00"])
def test_a_date_is_a_day_a_month_or_a_year(date: str) -> None:
    with pytest.raises(InvalidConfig):
        Scope(since=date)


def test_the_first_date_comes_first() -> None:
    with pytest.raises(InvalidConfig):
        Scope(since="2024-06", until="2024-05")


@pytest.mark.parametrize(
    "scope",
    [
        ALL,
        Scope(documents=("a b;c.md", "100%:x.txt"), folders=("reports/2024",), tags=("养蜂", "law")),
        Scope(folders=("r",), since="2024", until="2025-01"),
    ],
)
def test_a_written_scope_is_read_again(scope: Scope) -> None:
    assert read_scope(written(scope)) == scope


@pytest.mark.parametrize("text", ["tag", "tag:", "colour:red", "from:2024;from:2025", "from:May"])
def test_a_line_that_is_no_scope_is_refused(text: str) -> None:
    with pytest.raises(InvalidConfig):
        read_scope(text)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("---\ntitle: Bees\ndate: 2024-05-01\n---\nText", "2024-05-01"),
        ("# Bees\n\n**Published:** 2024/5/1\n", "2024-05-01"),
        ("Bees. 2024-05-01 was a warm day.", ""),
        ("日期：2023年11月\n蜜蜂", "2023-11"),
        ('"created": "2021-07-09T10:00:00"', "2021-07-09"),
        ("Date: 2024-19-01", ""),
        ("x" * 3000 + "\nDate: 2024-05-01", ""),
    ],
)
def test_a_text_may_give_its_own_date_at_its_beginning(text: str, date: str) -> None:
    assert date_of_text(text) == date


def test_the_command_line_asks_within_a_folder_and_a_date(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "docs/top.md": "Lorenzo Langstroth built the movable frames. Beekeepers inspect movable frames.",
        "docs/care/old/mites.md": "Date: 2019-03-01\n\nVarroa destructor is a mite. Beekeepers treat it.",
        "docs/care/acid.md": "Date: 2024-03-01\n\nOxalic acid kills Varroa destructor. Beekeepers use oxalic acid.",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    out = str(tmp_path / "index")
    assert main(["build", str(tmp_path / "docs"), "--out", out, "--cluster-size", "2"]) == 0
    index = read_index(Path(out))
    folders = dict(zip(index.documents["name"].to_pylist(), index.documents[FOLDER].to_pylist(), strict=True))
    assert folders == {"acid.md": "care", "mites.md": "care/old", "top.md": ""}
    assert index.document(0).folder == "care"
    capsys.readouterr()

    def asked(*more: str) -> tuple[set[str], object]:
        assert main(["ask", out, "What do beekeepers use?", "--strategy", "vector", "--json", *more]) == 0
        record = json.loads(capsys.readouterr().out)
        return {chunk["document"] for chunk in record["chunks"]}, record.get("scope")

    assert asked("--option", "least_cosine=0") == ({"acid.md", "mites.md", "top.md"}, None)
    inside = asked("--in", "care", "--option", "least_cosine=0")
    assert inside == ({"acid.md", "mites.md"}, {"folders": ["care"]})
    assert asked("--in", "care", "--to", "2020", "--option", "least_cosine=0")[0] == {"mites.md"}
    assert asked("--from", "2020-01")[0] == {"acid.md"}
    assert asked("--document", "top.md")[0] == {"top.md"}
    assert main(["ask", out, "What?", "--tag", "law"]) == 2
    assert "no document of this index has the tag 'law'" in capsys.readouterr().err
    assert main(["compare", out, "What do beekeepers use?", "--in", "care/old", "--no-answer", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["columns"]) == {"A", "B"}
