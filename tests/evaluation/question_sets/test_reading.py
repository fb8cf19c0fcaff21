"""Files of questions: what is read, what is refused and how the reason is said."""

import csv
import json
from pathlib import Path

import pytest

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.gold import Evidence, GoldQuestion
from leanrag_core.evaluation.question_sets import reading
from leanrag_core.evaluation.question_sets.reading import read_questions, read_set, to_jsonl

FULL = GoldQuestion(
    "q1",
    "Who kept bees in 蜂 Carrow?",
    ("Anne Hart", "Hart"),
    (Evidence("mill.md", "Anne Hart kept\u2028bees"), Evidence("hill.md", "")),
    "whole-corpus",
    (("anne hart", "hart"),),
    "Anne Hart did.",
)


def test_questions_are_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(
        '\ufeff{"id": "q1", "question": "When?", "answers": ["1788"], '
        '"evidence": [{"document": "mill.txt", "quote": "1788"}]}\n'
        '\n{"question": "Who?"}\n',
        encoding="utf-8",
    )
    assert read_questions(path) == (
        GoldQuestion("q1", "When?", ("1788",), (Evidence("mill.txt", "1788"),)),
        GoldQuestion("3", "Who?"),
    )
    with pytest.raises(InvalidConfig, match="cannot be read"):
        read_questions(tmp_path / "absent.jsonl")


def test_what_is_written_is_read_again_without_loss() -> None:
    questions = (FULL, GoldQuestion("2", "?", answer="1788"), GoldQuestion("3", "=cmd|'/c calc'!A1", kind="multi-hop"))
    assert read_set(to_jsonl(questions), "set.jsonl") == questions
    assert to_jsonl(questions) == to_jsonl(read_set(to_jsonl(questions), "set.jsonl"))


def test_a_table_of_any_spreadsheet_is_read() -> None:
    rows = 'ID;Question;Answer;Type;Document;Quote\n7;"When; and who?";1788;multi-hop;mill.md;"built in\n1788"\n;;;;;\n'
    expected = GoldQuestion(
        "7", "When; and who?", ("1788",), (Evidence("mill.md", "built in\n1788"),), "multi-hop", (), "1788"
    )
    assert read_set(rows.encode("utf-8-sig"), "set.csv") == (expected,)
    assert read_set(rows.replace(";", "\t").replace("When\t", "When;").encode("utf-16"), "set.TSV") == (expected,)
    listed = read_set(b'question,answers,evidence\nA?,x|y ,"[{""document"": ""d"", ""quote"": ""q""}]"\n', "s.csv")
    assert (listed[0].answers, listed[0].evidence) == (("x", "y"), (Evidence("d", "q"),))
    assert read_set(b"question\nWho?\n", "s.csv")[0] == GoldQuestion("2", "Who?")


def test_files_of_other_benchmarks_are_read() -> None:
    graphrag_bench = [
        {
            "id": "Novel-1",
            "source": "Novel",
            "question": "Who?",
            "answer": "A long answer of more than eight words is here.",
            "question_type": "Complex Reasoning",
            "evidence": ["It was Ann.", "Ann was there."],
            "evidence_relations": "x",
        }
    ]
    question = read_set(json.dumps(graphrag_bench).encode(), "novel.json")[0]
    assert (question.kind, question.answers) == ("Complex Reasoning", ())
    assert question.evidence == (Evidence("Novel", "It was Ann."), Evidence("Novel", "Ann was there."))
    hotpot = read_set(b'{"question": "Who?", "answers": ["yes"], "gold": ["Ann", "Bea"]}', "h.jsonl")[0]
    assert hotpot.evidence == (Evidence("Ann", ""), Evidence("Bea", ""))


def test_a_short_answer_counts_where_no_answers_are_listed() -> None:
    def answers(**cells: object) -> tuple[str, ...]:
        return read_set(json.dumps({"question": "?", **cells}).encode(), "s.jsonl")[0].answers

    assert answers(answer="Anne Hart") == ("Anne Hart",)
    assert answers(answer=1788) == ("1788",)
    assert answers(answer="Anne Hart", answers=[]) == ()
    assert answers(answer="The corpus does not say.", type="unanswerable") == ()
    assert answers(answer=["a", "b"]) == ("a", "b")


def test_characters_that_cannot_be_stored_are_replaced() -> None:
    question = read_set(b'{"question": "half \\ud83d \\u0000and whole \\ud83d\\udc1d"}', "s.jsonl")[0]
    assert question.question == "half \ufffd and whole \U0001f41d"
    assert read_set(to_jsonl((question,)), "s.jsonl") == (question,)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"question": "a"}\n[]', r"line 2 of s\.jsonl is no question"),
        ('{"question": "a"}\n\n{', "line 3 of"),
        ("[" * 100_000, "line 1 of"),
        ('[{"question": "a"},\n{"question" "b"}]', "line 2 of"),
        ('[{"question": "a"}, 5]', "line 2 of"),
        ('{"question": "a", "evidence": [1]}', '"evidence" is missing or of another form'),
        ('{"question": "a", "evidence": {"document": "d"}}', '"evidence"'),
        ('{"question": "a", "answers": {}}', '"answers"'),
        ('{"question": "a", "answer": {}}', '"answer"'),
        ('{"question": "  "}', '"question" is missing'),
        ('{"question": ["a"]}', '"question"'),
        ('{"answer": "a"}', '"question"'),
        (json.dumps({"question": "a" * 4_001}), '"question" has 4,001 characters, of which at most 4,000 are read'),
        (json.dumps({"question": "a", "id": "b" * 201}), '"id"'),
        (json.dumps({"question": "a", "answers": ["b"] * 201}), '"answers"'),
        ('{"question": "a", "id": 1}\n{"question": "b", "id": "1"}', "has the id '1' of line 1"),
        ("\n \n", "holds no question"),
        ("[]", "holds no question"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(content: str, reason: str) -> None:
    with pytest.raises(InvalidConfig, match=reason):
        read_set(content.encode(), "s.jsonl")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"ask,answer\nWho?,x\n", 'no column "question" .it has ask, answer.'),
        (b"", 'no column "question"'),
        (b"question\n", "holds no question"),
        (b'question,evidence\nWho?,"[{"\n', 'line 2 of s.csv is no question: "evidence"'),
        (b"\x00\x01\x02\x00\xff\xfe" * 50, "is no text"),
    ],
)
def test_a_table_that_is_none_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(InvalidConfig, match=reason):
        read_set(content, "s.csv")


def test_size_and_number_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_QUESTIONS", 2)
    with pytest.raises(InvalidConfig, match="more than 2 questions"):
        read_set(b"question\na\nb\nc\n", "s.csv")
    monkeypatch.setattr(reading, "MAX_VALUES", 3)
    with pytest.raises(InvalidConfig, match="more than 3 values"):
        read_set(b"[[],[],[],[],[]]", "s.json")
    monkeypatch.setattr(reading, "MAX_BYTES", 5)
    with pytest.raises(InvalidConfig, match="larger than"):
        read_set(b"question\na\n", "s.csv")


def test_the_delimiter_of_a_hostile_table_is_found_without_the_sniffer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(csv, "Sniffer")  # whose time grows with the square of a line: 16 s for 100 kB of this
    with pytest.raises(InvalidConfig, match='has no column "question"'):
        read_set(b'{"a":' * 20_000, "s.csv")
    assert read_set(b"question;answer\nWho, then?;Ada, Bob\n", "s.csv") == (
        GoldQuestion("2", "Who, then?", ("Ada, Bob",), answer="Ada, Bob"),
    )
