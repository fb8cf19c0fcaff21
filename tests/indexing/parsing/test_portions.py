"""A file of many documents is read in portions, each of which counts as a part of its own."""

import json
from pathlib import Path

import pytest

from leanrag_core.indexing.parsing import upload
from leanrag_core.indexing.parsing.formats import json as json_format
from leanrag_core.indexing.parsing.upload import Begun, ParsedUpload, parse_parts, parse_upload
from leanrag_core.indexing.reading import each_file
from leanrag_core.messages.message import message
from leanrag_core.types.corpus import Refusal
from leanrag_core.workbench import Workbench

LINES = [json.dumps({"id": f"n{number}", "text": f"The mill number {number} grinds."}) for number in range(7)]


@pytest.fixture
def of_three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_format, "RECORDS", 3)


def shown(parts: list[Begun | ParsedUpload]) -> list[object]:
    return [part if isinstance(part, Begun) else [document.name for document in part.documents] for part in parts]


PORTIONS = [
    Begun("a.jsonl"),
    ["n0", "n1", "n2"],
    Begun("a.jsonl", portion=True),
    ["n3", "n4", "n5"],
    Begun("a.jsonl", portion=True),
    ["n6"],
]


@pytest.mark.usefixtures("of_three")
def test_a_file_of_many_lines_comes_in_portions_and_whole_it_is_the_same() -> None:
    content = "\n".join(LINES).encode()
    assert shown(list(parse_parts("a.jsonl", content))) == PORTIONS
    assert [document.name for document in parse_upload("a.jsonl", content).documents] == [f"n{n}" for n in range(7)]
    listed = f"[{','.join(LINES)}]".encode()
    assert [len(part) for part in shown(list(parse_parts("a.json", listed))) if isinstance(part, list)] == [3, 3, 1]


@pytest.mark.usefixtures("of_three")
def test_portions_that_were_begun_are_not_given_again() -> None:
    content = "\n".join(LINES).encode()
    assert shown(list(parse_parts("a.jsonl", content, done=2, broken=frozenset([1])))) == PORTIONS[4:]
    assert shown(list(parse_parts("a.jsonl", content, done=1, broken=frozenset([0])))) == []


@pytest.mark.usefixtures("of_three")
def test_lines_keep_their_numbers_and_a_portion_without_json_says_so() -> None:
    content = "\n".join([*LINES[:4], "{", LINES[4], "no", "none", "never", ""]).encode()
    refusals = parse_upload("a.jsonl", content).refusals
    assert [refusal.name for refusal in refusals] == ["a.jsonl, line 5", "a.jsonl"]
    assert refusals[-1] == Refusal("a.jsonl", message("file.no_json_line"))
    blank = upload.parse_upload("b.jsonl", "\n".join([*LINES[:3], "", "", "", LINES[3]]).encode())
    assert (len(blank.documents), blank.refusals) == (4, ())


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_long_texts_come_fewer_at_a_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_format, "CHARACTERS", 120)
    content = "\n".join(LINES) if name == "a.jsonl" else f"[{','.join(LINES)}]"
    sizes = [len(part) for part in shown(list(parse_parts(name, content.encode()))) if isinstance(part, list)]
    assert sum(sizes) == 7
    assert sizes == ([3, 3, 1] if name == "a.jsonl" else [5, 2]), "lines of 48 characters, texts of 26"


def test_a_large_file_comes_in_several_pieces_and_all_of_it_is_added(tmp_path: Path) -> None:
    texts = [f'{{"id": "n{number}", "text": "Mill {number}."}}' for number in range(json_format.RECORDS + 2)]
    path = tmp_path / "notes.jsonl"
    path.write_text("\n".join(texts))
    bench = Workbench(tmp_path / "home")
    pieces = list(each_file([path], bench.parser()))
    assert [(len(piece.parsed.documents), piece.begins, piece.ends) for piece in pieces] == [
        (json_format.RECORDS, True, False),
        (2, False, True),
    ]
    bench.parser().close()
