import json
from collections.abc import Callable

import pytest

from leanrag_core.indexing.parsing import parse_upload
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.corpus import Heading
from tests.indexing.parsing.conftest import Read
from tests.refusals import as_read


def test_an_object_with_a_text_is_that_text_under_its_title(read: Read) -> None:
    document = read("a.json", '{"title": "Bees", "content": "They dance.", "id": 7, "other": "unread"}')
    assert (document.text, document.title, document.name) == ("Bees\n\nThey dance.", "Bees", "7")
    assert document.headings == (Heading("Bees", 1, 0, 4),)
    assert (document.notes, document.media_type) == (("id: 7",), "json")


@pytest.mark.parametrize("key", ["text", "content", "body", "contents", "passage", "context", "page_content"])
def test_a_text_is_known_by_its_usual_names(read: Read, key: str) -> None:
    assert read("a.json", json.dumps([{key: "Bees dance."}])).text == "Bees dance."


def test_a_list_is_a_document_for_each_entry_with_a_text_and_a_refusal_for_the_others() -> None:
    upload = parse_upload("a.json", b'[{"text": "Bees."}, {"x": 1}, "Ants.", 5, {"text": "  "}]')
    assert [(document.name, document.text) for document in upload.documents] == [
        ("a.json #1", "Bees."),
        ("a.json #3", "Ants."),
    ]
    assert [refusal.name for refusal in upload.refusals] == ["a.json, entry 2", "a.json, entry 4", "a.json, entry 5"]
    assert sentence(upload.refusals[0].reason) == "has no text: one of text, content, body, contents is needed"


def test_other_json_is_read_as_lines_of_paths_and_values(read: Read) -> None:
    document = read("a.json", '{"bee": {"legs": 6, "wings": [4, null]}, "fly": true}')
    assert document.text == "bee.legs: 6\n\nbee.wings: 4\n\nfly: True"


def test_an_id_is_shown_whole_but_is_no_path(read: Read) -> None:
    assert read("a.json", '{"id": "../../etc/passwd", "text": "Bees."}').name == "..∕..∕etc∕passwd"


def test_half_a_surrogate_pair_becomes_the_replacement_character(read: Read) -> None:
    assert read("a.json", b'{"text": "Bees \\ud800 dance \\ud83d\\udc1d"}').text == "Bees \ufffd dance 🐝"


def test_invalid_json_is_refused_with_the_place(refused: Callable[..., str]) -> None:
    assert refused("a.json", '{"text": ') == (
        "is not valid JSON (Expecting value: line 1 column 10 (char 9)): mend it, or save it as text"
    )


def test_json_nested_too_deeply_is_refused(refused: Callable[..., str]) -> None:
    assert refused("a.json", "[" * 100_000 + "]" * 100_000) == "is nested too deeply to be read: simplify it"


@pytest.mark.parametrize("content", ["{}", "[]", "null", '{"text": ""}'])
def test_json_without_a_value_is_refused(refused: Callable[..., str], content: str) -> None:
    assert refused("a.json", content) == "has no text: there is nothing to index in it"


def test_each_line_of_jsonl_is_a_document_and_bad_lines_are_reported_by_number() -> None:
    lines = b'{"text": "Bees."}\r\n\n{broken\n[1]\n{"x": 1}\n{"title": "Ants", "text": "They walk."}'
    upload = parse_upload("a.jsonl", lines)
    assert [(document.name, document.text) for document in upload.documents] == [
        ("a.jsonl #1", "Bees."),
        ("a.jsonl #6", "Ants\n\nThey walk."),
    ]
    assert {refusal.name for refusal in upload.refusals} == {"a.jsonl, line 3", "a.jsonl, line 4", "a.jsonl, line 5"}
    assert ("a.jsonl, line 4", "is not a JSON object: one with a text is needed") in as_read(upload.refusals)


def test_jsonl_without_one_valid_line_is_refused_as_a_whole(refused: Callable[..., str]) -> None:
    assert refused("a.ndjson", "bees\nants\n") == ("has no line of valid JSON: each line must be one JSON object")


def test_a_line_separator_within_a_jsonl_text_does_not_end_the_line(read: Read) -> None:
    assert read("a.jsonl", '{"text": "Bees\u2028dance."}').text == "Bees\ndance."


def test_a_line_that_is_too_deep_costs_only_itself() -> None:
    deep = "[" * 100_000 + "]" * 100_000
    title = '{"title": ' + "[" * 900 + "]" * 900 + ', "text": "Wasps."}'
    lines = f'{{"text": "Bees."}}\n{{"text": "x", "more": {deep}}}\n{title}\n{{"text": "Ants."}}'
    upload = parse_upload("a.jsonl", lines.encode())
    assert [document.text for document in upload.documents if "Wasps" not in document.text] == ["Bees.", "Ants."]
    assert as_read(upload.refusals)[0] == ("a.jsonl, line 2", "is nested too deeply to be read: simplify it")


def test_a_file_of_one_line_that_is_too_deep_is_refused(refused: Callable[[str, str], str]) -> None:
    assert refused("a.jsonl", "[" * 100_000) == "is nested too deeply to be read: simplify it"
