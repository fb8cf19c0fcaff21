"""Questions by templates over a graph of nine entities, and by a scripted model."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core.__main__ import main
from leanrag_core.errors import BudgetSpent, InvalidConfig, ReplyError
from leanrag_core.evaluation.gold import Evidence, GoldQuestion, normalised
from leanrag_core.evaluation.question_sets.from_index import questions_from_index
from leanrag_core.evaluation.question_sets.from_model import corpus_description, questions_from_model
from leanrag_core.evaluation.question_sets.reading import read_set
from leanrag_core.models.pacing import Meter
from leanrag_core.types.calls import Budget
from leanrag_core.types.corpus import Document
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.question_set import GENERATED, Generation
from leanrag_core.workbench import Workbench
from tests.retrieval.scripted import ScriptedLanguage
from tests.small_index import entity, layer, relation, small_index, unit

TEXTS = (
    "Ann Hart kept her hives at Carrow Mill. Ann Hart was taught by Ben Rook in the year before.",
    "Carrow Mill belonged to the Tide Company. Cid Vane was born near Carrow Mill.",
    "Later Carrow Mill was the seat of the Bee Society.",
)
# person Ann, Ben, Cid; place Carrow; organization Tide, Bee
ENTITIES = (
    ("Ann Hart", "person", [0]),
    ("Ben Rook", "person", [0]),
    ("Cid Vane", "person", [1]),
    ("Carrow Mill", "place", [0, 1, 2]),
    ("Tide Company", "organization", [1]),
    ("Bee Society", "society", [2]),
)
RELATIONS = ((0, 3, 0), (0, 1, 0), (2, 3, 1), (3, 4, 1), (3, 5, 2))


def graph_index(language: str = "en") -> Index:
    made = small_index()
    documents = [
        {"id": f"d{row}", "name": f"{row}.md", "title": f"Title {row}", "media_type": "text", "text": text,
         "language": language, "pages": [], "headings": [], "boilerplate": [], "notes": []}
        for row, text in enumerate(TEXTS)
    ]  # fmt: skip
    chunks = [
        {"id": f"c{row}", "document": row, "start": 0, "end": len(text), "tokens": 20} for row, text in enumerate(TEXTS)
    ]
    base = layer(
        0,
        [entity(name, rows, type=type_) for name, type_, rows in ENTITIES],
        [relation(source, target, chunks=[chunk]) for source, target, chunk in RELATIONS],
        unit([[1, 0, 0, 0]] * len(ENTITIES)),
        [0] * len(ENTITIES),
    )
    tables = made.documents.from_pylist(documents, schema=made.documents.schema.remove_metadata())
    return replace(
        made,
        documents=tables,
        chunks=made.chunks.from_pylist(chunks, schema=made.chunks.schema),
        layers=(base, *made.layers[1:]),
    )


def by_kind(index: Index, **options: int) -> dict[str, list[GoldQuestion]]:
    kinds: dict[str, list[GoldQuestion]] = {}
    for question in questions_from_index(index, n=9, **options):
        kinds.setdefault(question.kind, []).append(question)
    return kinds


def test_a_fact_asks_for_the_only_neighbour_of_its_type() -> None:
    # Carrow Mill has two persons beside it: no question asks for one of them.
    right = {
        ("place", "Ann Hart", "Carrow Mill"),
        ("person", "Ann Hart", "Ben Rook"),
        ("person", "Ben Rook", "Ann Hart"),
        ("place", "Cid Vane", "Carrow Mill"),
        ("organization", "Carrow Mill", "Tide Company"),
        ("society", "Carrow Mill", "Bee Society"),
        ("place", "Tide Company", "Carrow Mill"),
        ("place", "Bee Society", "Carrow Mill"),
    }
    expected = {f"Which {type_} do the documents connect with {name}?": answer for type_, name, answer in right}
    asked = {question.question: question for seed in range(8) for question in by_kind(graph_index(), seed=seed)["fact"]}
    assert {question: made.answers for question, made in asked.items()} == {
        question: (expected[question],) for question in asked
    }
    assert len(asked) >= 6
    made = asked["Which place do the documents connect with Cid Vane?"]
    assert made.evidence == (Evidence("1.md", "Cid Vane was born near Carrow Mill."),)


def test_two_hops_name_neither_the_middle_nor_in_a_sentence_both_ends() -> None:
    questions = by_kind(graph_index())["multi-hop"]
    asked = {question.question: question for question in questions}
    made = asked.get("Which place do the documents connect with the person that they connect with Ben Rook?")
    assert made is not None
    assert made.answers == ("Carrow Mill",)
    assert [quote.quote for quote in made.evidence] == [
        "Ann Hart was taught by Ben Rook in the year before.",
        "Ann Hart kept her hives at Carrow Mill.",
    ]


def test_a_comparison_asks_for_what_two_of_a_type_share() -> None:
    (made,) = by_kind(graph_index())["comparison"]
    assert made.question == "Which place do the documents connect with both Ann Hart and Cid Vane?"
    assert made.answers == ("Carrow Mill",)
    assert {quote.document for quote in made.evidence} == {"0.md", "1.md"}


def test_a_question_about_the_whole_corpus_reaches_over_three_documents() -> None:
    (made,) = by_kind(graph_index())["whole-corpus"]
    assert made.question == "What do the documents, taken together, connect with Carrow Mill?"
    assert set(made.answers) == {"Ann Hart", "Cid Vane", "Tide Company", "Bee Society"}
    assert made.entities == tuple((normalised(answer),) for answer in made.answers)
    assert {quote.document for quote in made.evidence} == {"0.md", "1.md", "2.md"}


def test_every_quote_is_in_its_document_word_for_word() -> None:
    index = graph_index()
    texts = {f"{row}.md": text for row, text in enumerate(TEXTS)}
    quotes = [quote for question in questions_from_index(index, n=9) for quote in question.evidence]
    assert len(quotes) > 5
    assert all(quote.quote in texts[quote.document] for quote in quotes)


def test_the_same_seed_gives_the_same_questions_and_n_bounds_each_kind() -> None:
    index = graph_index()
    assert questions_from_index(index, n=9, seed=3) == questions_from_index(index, n=9, seed=3)
    asked = [question.question for seed in range(6) for question in questions_from_index(index, n=1, seed=seed)]
    assert len(set(asked)) > len({question.kind for question in questions_from_index(index, n=1)})
    assert {len(questions) for questions in by_kind_of(index, n=1).values()} == {1}
    assert questions_from_index(index, n=9, kinds=()) == ()


def by_kind_of(index: Index, n: int) -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = {}
    for question in questions_from_index(index, n=n):
        kinds.setdefault(question.kind, []).append(question.id)
    return kinds


def test_questions_are_in_the_language_of_most_documents() -> None:
    assert all("文档" in question.question for question in questions_from_index(graph_index("zh"), n=9))
    assert all("documents" in question.question for question in questions_from_index(graph_index("fi"), n=9))


def replies(prompt: str) -> str:
    if prompt.startswith("Below is a description"):
        return '```json\n{"users": [{"name": "Keeper", "description": "wants honey"}, "Buyer"]}\n```'
    if "Name 2 different tasks" in prompt:
        return "no list" if "Buyer" in prompt else json.dumps({"tasks": ["Compare.", "Trace.", "Third."]})
    return json.dumps({"questions": ["How do they differ?", "how do they differ", f"What of {'Trace' in prompt}?"]})


def generated(reply: object, **options: object):
    meter = Meter(options.pop("budget", None))
    model = ScriptedLanguage(reply, meter)
    reports: list[Progress] = []
    made = questions_from_model("Bees.", model, meter, Generation("m", users=2, tasks=2, questions=2), reports.append)
    return made, model, reports


def test_a_model_imagines_users_tasks_and_questions_and_lost_replies_are_counted() -> None:
    made, model, reports = generated(replies)
    assert [(question.id, question.question, question.kind) for question in made.questions] == [
        ("1", "How do they differ?", "whole-corpus"),
    ]
    # 1 for the users; tasks of two users, the second asked again; 2 tasks x questions of the first
    assert (made.n_lost, len(model.prompts)) == (1, 1 + 3 + 2)
    assert "Keeper: wants honey" in model.prompts[-1]
    assert [report.done for report in reports] == [1, 2, 3, 4, 5]


def test_questions_that_differ_are_all_kept_up_to_the_number_asked_for() -> None:
    def reply(prompt: str) -> str:
        if "imagine" in prompt.lower() or "tasks" in prompt[:200] or "Name 2" in prompt:
            return replies(prompt)
        return json.dumps({"questions": [f"{'A' if 'Compare' in prompt else 'B'}{n}?" for n in range(5)]})

    made, _, _ = generated(reply)
    assert [question.question for question in made.questions] == ["A0?", "A1?", "B0?", "B1?"]


def test_a_model_that_imagines_nobody_ends_it_and_a_spent_budget_too() -> None:
    with pytest.raises(ReplyError, match="no list of users"):
        generated(lambda prompt: "{}")
    with pytest.raises(BudgetSpent):
        generated(replies, budget=Budget(calls=1))
    with pytest.raises(InvalidConfig, match="from 1 to 50"):
        questions_from_model("", ScriptedLanguage(replies), Meter(), Generation("m", users=51))


def test_the_description_names_titles_and_best_connected_entities() -> None:
    text = corpus_description(graph_index(), "Bees. Old notes.")
    assert text.splitlines()[:2] == ["Bees. Old notes.", "Documents (3): Title 0; Title 1; Title 2"]
    assert text.splitlines()[2].startswith("Much is said about: Carrow Mill, Ann Hart")


def test_generated_questions_are_a_set_of_the_store_and_a_file_of_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path / "home"))
    bench = Workbench.default()
    corpus = bench.corpora.create("Notes")
    texts = ("\n\n".join(f"{text}" for text in TEXTS), "Ann Hart met Cid Vane in London. London is in England.")
    bench.corpora.add(corpus, [Document(f"d{n}", f"{n}.md", f"T{n}", "text", t, "en") for n, t in enumerate(texts)])
    index = bench.build(corpus)
    set_id = bench.question_sets.generate(bench.indexes.open(bench.indexes.all()[0].id), Generation())
    card = bench.question_sets.card(set_id)
    assert (card.origin, card.corpus_id, card.about["seed"], card.n_evidence) == (GENERATED, corpus, 0, card.n)
    out = tmp_path / "questions.jsonl"
    assert main(["questions", "generate", str(index.path), "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["questions"] == card.n
    assert read_set(out.read_bytes(), "q.jsonl") == bench.question_sets.questions(set_id)
    assert main(["questions", "add", str(out), "--title", "Mine", "--json"]) == 0
    added = json.loads(capsys.readouterr().out)
    assert main(["questions", "list"]) == 0
    assert f"{added['id']}" in capsys.readouterr().out
    assert main(["questions", "show", added["id"]]) == 0
    assert capsys.readouterr().out == out.read_text(encoding="utf-8")
    assert main(["questions", "delete", added["id"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"deleted": added["id"]}
    assert main(["questions", "show", added["id"]]) == 1
