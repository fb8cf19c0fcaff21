import json
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.__main__ import main
from leanrag_core.evaluation.anonymity import anonymised, dictionary_of
from leanrag_core.evaluation.gold import Evidence, GoldQuestion
from leanrag_core.evaluation.question_sets.reading import read_questions, to_jsonl
from leanrag_core.types.index import Index

LIVES = b"""Emmy Noether was born in Erlangen. Emmy Noether worked with David Hilbert in Gottingen. David Hilbert
defended Emmy Noether. In Erlangen Emmy Noether took her doctorate. PERSON_1 is a label in a form."""
QUESTION = GoldQuestion(
    "q1", "Where was Emmy Noether born?", ("Erlangen",), (Evidence("lives.txt", "Noether was born in Erlangen"),)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("anonymity")
    bench = Workbench(root / "home")
    corpus = bench.add_documents("Lives", [("lives.txt", LIVES)]).corpus_id
    built = bench.build(corpus, IndexConfig(cluster_size=4))
    assert built.path is not None
    (root / "index").symlink_to(built.path)
    (root / "questions.jsonl").write_bytes(to_jsonl([QUESTION]))
    return root


@pytest.fixture(scope="module")
def index(folder: Path) -> Index:
    from leanrag_core import open_index

    return open_index((folder / "index").resolve())


def test_each_entity_has_its_own_placeholder_and_one_that_the_text_uses_is_left_to_it(index: Index) -> None:
    by_name = dictionary_of(index).by_name()
    assert {by_name[name].placeholder for name in ("Emmy Noether", "David Hilbert")} == {"PERSON_2", "PERSON_3"}
    assert by_name["Erlangen"].type == "location"
    only = dictionary_of(index, ("Location",))
    assert {entry.type for entry in only.entries} == {"location"}
    assert len(dictionary_of(index, ("all",)).entries) >= len(dictionary_of(index).entries)


def test_documents_and_questions_agree_and_no_name_is_left(index: Index) -> None:
    made = anonymised(index, [QUESTION])
    (document,) = made.documents
    (question,) = made.questions
    assert (document.name, document.original) == ("document-1.txt", "lives.txt")
    assert not any(name in document.text for name in ("Noether", "Hilbert", "Erlangen"))
    (evidence,) = question.evidence
    assert evidence.document == document.name
    assert evidence.quote in document.text
    assert question.answers[0] in evidence.quote
    assert question.question.startswith("Where was PERSON_")
    assert anonymised(index, [QUESTION]) == made


def test_entities_of_a_gold_answer_are_compared_by_their_placeholders(index: Index) -> None:
    asked = replace(QUESTION, entities=(("emmy noether", "noether"), ("wax",)))
    (question,) = anonymised(index, [asked]).questions
    placeholder = dictionary_of(index).by_name()["Emmy Noether"].placeholder
    assert question.entities[0][0] == placeholder.replace("_", " ").lower()
    assert question.entities[1] == ("wax",)


def test_the_commands_write_an_anonymous_corpus_and_score_answers_to_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder / "out"
    command = ["anonymise", str(folder / "index"), "--out", str(out), "--questions", str(folder / "questions.jsonl")]
    assert main([*command, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["documents"], said["questions"]) == (1, 1)
    assert said["replaced"] >= 8
    assert main(command) == 2, "a folder that holds something is not written to"
    (question,) = read_questions(out / "questions.jsonl")
    right = {"id": "q1", "answer": f"In {question.answers[0]}."}
    remembered = {"id": "q1", "answer": "In Erlangen, as PERSON_77 says."}
    (folder / "answers.jsonl").write_text(f"{json.dumps(right)}\n{json.dumps(remembered)}\n", encoding="utf-8")
    capsys.readouterr()
    revert = ["revert", str(out / "dictionary.json"), str(folder / "answers.jsonl")]
    assert main([*revert, "--questions", str(folder / "questions.jsonl"), "--json"]) == 0
    score = json.loads(capsys.readouterr().out)
    assert score["answers"][0]["text"] == "In Erlangen."
    assert score["shares"]["right"] == 1
    assert score["answers"][1]["remembered"] == ["Erlangen"]
    assert (score["reverted"], score["remembering"]) == (0.5, 0.5)
    assert main(revert) == 0
    assert "placeholders reverted 50.0 %" in capsys.readouterr().out
