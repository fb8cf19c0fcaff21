import json
from pathlib import Path

import pytest

from leanrag_core.__main__ import main
from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.audit.files import (
    JudgeFile,
    SystemAnswers,
    aligned,
    read_answers,
    read_judge_files,
    system_of,
)
from leanrag_core.files.records import to_json
from leanrag_core.types.experiment import PAIRWISE, Judgement

NAME = "set_eval_hi_naive_result_openai.jsonl"
COLUMNS = "judge,question,first,second,repeat,criterion,verdict"
QUESTIONS = ("Why do bees dance?", "How is wax made?", "When do drones fly?")
HI = SystemAnswers(QUESTIONS, ("The dance tells direction.", "Glands sweat scales of wax.", "On warm afternoons."))
NAIVE = SystemAnswers(QUESTIONS, ("For food.", "By bees.", "In May, when it is warm."))


def reply(winner: str, about: str = "") -> str:
    said = {"Winner": winner, "Explanation": about}
    return json.dumps({"Comprehensiveness": said, "Overall Winner": said})


def file(*lines: str, name: str = NAME) -> JudgeFile:
    return JudgeFile(name, "\n".join(lines).encode())


def test_the_second_half_of_hirags_replies_is_the_swapped_one() -> None:
    replies = [reply("Answer 1")] * 2 + [reply("Answer 2"), reply("Answer 1")]
    judgements = read_judge_files([file(*replies)]).judgements
    assert [(each.first, each.second, each.verdicts["overall"]) for each in judgements] == [
        ("hi", "naive", 1),
        ("hi", "naive", 1),
        ("naive", "hi", 2),
        ("naive", "hi", 1),
    ]
    assert [each.question for each in judgements] == ["set: question 1", "set: question 2"] * 2
    assert {each.judge for each in judgements} == {"openai"}
    untitled = read_judge_files([file(*replies, name="mine.jsonl")]).judgements
    assert [each.question for each in untitled] == ["question 1", "question 2"] * 2, "the name tells no data set"


def test_replies_are_read_out_of_texts_and_batches_and_broken_ones_are_unparsed() -> None:
    batch = json.dumps({"response": {"body": {"choices": [{"message": {"content": reply("Answer 2")}}]}}})
    fenced = json.dumps(f"Here is my evaluation:\n```json\n{reply('Answer 1')}\n```")
    judgements = read_judge_files([file(batch, fenced, "I cannot judge these.", reply("a draw"))]).judgements
    assert [each.verdicts.get("overall") for each in judgements] == [2, 1, None, None]
    assert judgements[2].reply == "I cannot judge these."


def test_replies_beside_a_gap_are_laid_beside_their_questions() -> None:
    about = ("dance and direction", "wax from glands", "drones on warm afternoons")
    replies = [reply("Answer 1", about[0]), reply("Answer 1", about[2])] + [reply("Answer 2", each) for each in about]
    read = read_judge_files([file(*replies)], {"hi": HI, "naive": NAIVE})
    assert [each.question.removeprefix("set: ") for each in read.judgements] == [*QUESTIONS[::2], *QUESTIONS]
    assert [each.first for each in read.judgements] == ["hi", "hi", "naive", "naive", "naive"]
    assert read.judgements[0].words == (4, 2)
    assert read.judgements[2].words == (2, 4), "the words follow the order shown"
    assert [note.code for note in read.notes] == ["judge_file.lacks_replies"]
    unplaced = read_judge_files([file(*replies)])
    assert [note.code for note in unplaced.notes] == ["judge_file.lacks_replies_unplaced"]
    assert [each.first for each in unplaced.judgements] == ["hi", "hi", "hi", "naive", "naive"], "as HiRAG counts"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", f"{COLUMNS}\n\nj,q,a,b,0,overall,1\n \nj,q\n".encode()),
        ("a.jsonl", b'\n{"verdicts": {"overall": 1}, "question": "q", "first": "a"}\n\n\n{"verdicts": 3}'),
    ],
)
def test_a_line_that_cannot_be_read_has_its_number_in_the_file(name: str, content: bytes) -> None:
    with pytest.raises(InvalidConfig, match="line 5"):
        read_judge_files([JudgeFile(name, content)])


def test_answers_are_known_by_hirags_names_of_systems() -> None:
    file_of_graphrag = file(*[reply("Answer 1")] * 6, name="set_eval_HI_graphrag_result_openai.jsonl")
    (first, *_) = read_judge_files([file_of_graphrag], {"hi": HI, "local": NAIVE}).judgements
    assert (first.first, first.second, first.words) == ("HI", "graphrag", (4, 2))


def test_alignment_passes_over_what_has_no_reply() -> None:
    assert aligned(["wax", "drones"], ["dance", "wax", "nectar", "drones"]) == [1, 3]
    assert aligned(["one", "two"], ["one", "two"]) == [0, 1]


def test_of_texts_with_the_same_words_a_reply_is_about_the_first() -> None:
    """However their weights are added up, which depends on the order of a set."""
    for start in range(20):
        words = [f"word{number}" for number in range(start, start + 60)]
        others = [" ".join(words[:n]) for n in range(1, 50, 3)]
        assert aligned([" ".join(words)], [" ".join(words), " ".join(reversed(words)), *others]) == [0]


def test_our_own_records_and_rows_read_as_they_were_written() -> None:
    judgement = Judgement("j", PAIRWISE, "q1", "a", "b", 1, {"overall": 2.0, "directness": None}, "p", "r", (5, 7))
    (read,) = read_judge_files([JudgeFile("own.jsonl", to_json(judgement))]).judgements
    assert read == judgement
    rows = "j,q1,a,b,0,overall,Answer 1\nj,q1,a,b,0,Directness,tie\n"
    (row,) = read_judge_files([JudgeFile("own.csv", f"{COLUMNS}\n{rows}".encode())]).judgements
    assert row.verdicts == {"overall": 1, "directness": 0}
    short = json.dumps({"question": "q", "first": "a", "second": "b", "verdicts": {"Overall Winner": "Answer 2"}})
    (least,) = read_judge_files([JudgeFile("own.jsonl", short.encode())], {"a": NAIVE, "b": HI}).judgements
    assert least.verdicts == {"overall": 2}


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        (
            "a.jsonl",
            b'{"verdicts": {"overall": 1}, "question": "q", "first": "a"}\n{"verdicts": 3}',
            "judge_file.bad_line",
        ),
        ("a.jsonl", b'{"custom_id": "request-1"}', "judge_file.no_judgements"),
        ("a.csv", b"judge,question\nj,q", "judge_file.lacks_columns"),
        ("a.csv", b"judge,question,first,second,repeat,criterion,verdict\nj,q,a,b,x,overall,1", "judge_file.bad_line"),
        ("a.jsonl", b"\xff\xfe", "judge_file.not_utf8"),
        ("a.jsonl", b"", "judge_file.no_judgements"),
        ("a.csv", b"judge,question,first,second,repeat,criterion,verdict\n", "judge_file.no_judgements"),
        ("a.csv", b"judge,question,first,second,repeat,criterion,verdict\nj,q", "judge_file.bad_line"),
        ("a.csv", b"judge,question,first,second,repeat,criterion,verdict\nj,q,,b,0,overall,1", "judge_file.bad_line"),
        ("a.jsonl", b'{"question": "q", "first": "a", "second": "b", "verdict": 1}', "judge_file.bad_line"),
        (
            "a.jsonl",
            b'{"verdicts": {"overall": 1}, "question": "q", "first": "a"}\n{"question": "q", "first": "a"}',
            "judge_file.bad_line",
        ),
        ("a.jsonl", b'{"verdicts": {"overall": 1}, "question": "", "first": "a"}', "judge_file.bad_line"),
        ("a.jsonl", b'{"verdicts": {"overall": 1}, "question": "q", "first": "a", "kind": "x"}', "judge_file.bad_line"),
        (
            "a.jsonl",
            b'{"verdicts": {"overall": 1}, "question": "q", "first": "a", "second": "b", "words": [1%s, 1]}'
            % (b"0" * 400),
            "judge_file.bad_line",
        ),
    ],
)
def test_other_files_are_refused_by_name(name: str, content: bytes, code: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        read_judge_files([JudgeFile(name, content)])
    assert refused.value.message.code == code
    assert refused.value.message.values["file"] == name


def test_answers_are_known_by_the_name_of_their_file() -> None:
    assert system_of("mix_hi_naiveR_result_deepseek.jsonl") == "hi_naiver"
    assert system_of("mine.jsonl") == "mine"
    assert read_answers(JudgeFile("x", b'{"query": "Why?", "answer": "So."}')).answers == ("So.",)
    with pytest.raises(InvalidConfig, match="line 2"):
        read_answers(JudgeFile("x", b'{"query": "Why?", "answer": "So."}\n[]'))
    with pytest.raises(InvalidConfig, match="line 3"):
        read_answers(JudgeFile("x", b'{"query": "Why?", "answer": "So."}\n\n[]'))


def test_the_command_prints_the_audit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judgements, answers = tmp_path / NAME, tmp_path / "set_hi_result_x.jsonl"
    judgements.write_text("\n".join([reply("Answer 1")] * 6), encoding="utf-8")
    rows = zip(QUESTIONS, HI.answers, strict=True)
    answers.write_text("\n".join(json.dumps({"query": q, "answer": a}) for q, a in rows), encoding="utf-8")
    assert main(["audit", str(judgements), "--answers", str(answers), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["pairs"][-1]["win_rate"]["value"] == 0.5
    swaps = shown["judges"][0]["swaps"]
    assert (swaps["n"], swaps["flipped"], swaps["flip_rate"]) == (3, 3, 1.0)
    assert swaps["rate"]["low"] == pytest.approx(0.4385, abs=1e-4)  # Wilson, three of three
    assert len(shown["flips"]) == 3
    assert main(["audit", str(judgements), "--answers", f"naive={answers}"]) == 0
    printed = capsys.readouterr().out
    assert "This judge cannot tell hi from naive: 100 % (95 %: 44 % to 100 %, 3 questions)" in printed
    assert "verdicts that flip 100 % (44–100)" in printed
    assert main(["audit", str(tmp_path / "no.jsonl")]) == 2
