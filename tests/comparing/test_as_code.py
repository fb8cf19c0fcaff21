"""Code that repeats what a page shows: run as Python, and as a command that a real shell has split into words."""

import functools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leanrag_core import Workbench
from leanrag_core.__main__ import main
from leanrag_core.comparing.as_code import (
    Asked,
    Code,
    Explored,
    code_of_board,
    code_of_comparison,
    code_of_exploring,
    code_of_question,
)
from leanrag_core.comparing.board import FOUND, QuestionScorer
from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.gold import Evidence, GoldQuestion
from leanrag_core.models import (
    embed_task,  # noqa: F401  (it must import the class MiniLM before a fake replaces it)
    minilm,
)
from leanrag_core.queries.schema import Filters, filter_texts, filters_of
from leanrag_core.retrieval.base import strategies
from leanrag_core.retrieval.settings import official_settings, option_text, own_settings, parsed_option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from tests.workbench.test_workbench import BEES, HIVES

pytestmark = pytest.mark.slow
QUESTION = "What do beekeepers inspect?"
HOSTILE = (
    "'); __import__('os').mkdir('hit'); print('",
    '"; mkdir hit; echo "',
    "'; mkdir hit; '",
    "$(mkdir hit) `mkdir hit` ${HOME} && mkdir hit | # !!",
    "'''\nmkdir hit\n'''",
    "bees\x03\nmkdir hit\r\n\x1b[201~mkdir hit\n",
    "\\'; mkdir hit #\n\\",
    "--help",
    "-- 蜜蜂用什么防治瓦螨？ “mites” 🐝 \N{RIGHT-TO-LEFT OVERRIDE}etihw",
    "{question!r} %s \\N{BEE} \\x41 ' \" \N{NO-BREAK SPACE}",
)
_SHOW = "import json, os, sys; print(json.dumps([os.environ['LEANRAG_HOME'], sys.argv[1:]]))"


@pytest.fixture(scope="module", autouse=True)
def one_model() -> Iterator[None]:
    """Load the embedding model once for all workbenches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minilm, "MiniLM", functools.cache(minilm.MiniLM))
        yield


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench.default(tmp_path_factory.mktemp("an owner's home") / "ho'me")


@pytest.fixture(scope="module")
def index(bench: Workbench) -> Index:
    return bench.build(bench.add_documents("My bees", [("bees.md", BEES), ("hives.txt", HIVES)]).corpus_id)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bench: Workbench) -> Path:
    """Return an empty working folder, in which anything that broke out of its quotes would leave a folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEANRAG_HOME", str(bench.root))
    return tmp_path


def asked(index: Index, strategy: str = "leanrag", **options: Any) -> Asked:
    assert index.path is not None
    return Asked(index.folder_name, index.path, strategy, options)


def executed(code: Code) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(code.python, names)
    return names


def words_of(code: Code, home: Path) -> list[str]:
    """Return the words that a shell makes of the command; it is one line, and holds nothing that a terminal acts on."""
    assert code.command.isprintable()
    assert code.command.count("python -m leanrag_core") == 1
    shown = code.command.replace("python -m leanrag_core", f'{sys.executable} -c "{_SHOW}"', 1)
    ran = subprocess.run(["bash", "-c", shown], capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    root, words = json.loads(ran.stdout)
    assert root == str(home)
    return list(words)


def commanded(code: Code, home: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    verb, *words = words_of(code, home)
    capsys.readouterr()
    assert main([verb, "--json", *words]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def facts(trace: Trace) -> tuple[Any, ...]:
    """Return the trace without its times."""
    return trace.question, trace.strategy, trace.parameters, trace.nodes, trace.passages, trace.context


def ids(trace: Trace) -> list[str]:
    return [passage.id for passage in trace.passages]


@pytest.mark.parametrize("question", [QUESTION, *HOSTILE])
def test_the_question_is_asked_again_and_nothing_else_is_done(
    bench: Workbench, index: Index, here: Path, capsys: pytest.CaptureFixture[str], question: str
) -> None:
    code = code_of_question(bench.root, asked(index, top_n=3, top_c=1), question)
    made = executed(code)
    assert facts(made["trace"]) == facts(bench.retrieve(index, question, top_n=3, top_c=1))
    assert [each["id"] for each in commanded(code, bench.root, capsys)["chunks"]] == ids(made["trace"])
    assert words_of(code, bench.root)[-1] == question
    assert list(here.iterdir()) == []


def test_every_strategy_is_repeated_with_options_that_are_not_official(
    bench: Workbench, index: Index, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repeated = []
    for info in strategies().strategies:
        if info.calls_model or info.parts:
            continue
        official = official_settings(info)
        moved = {name: not value if isinstance(value, bool) else value for name, value in official.items()}
        options = own_settings(info, moved | ({"top_c": 2} if "top_c" in official else {}))
        trace = bench.retrieve(index, QUESTION, info.name, **options)
        code = code_of_question(bench.root, asked(index, info.name, **options), QUESTION)
        assert facts(executed(code)["trace"]) == facts(trace)
        shown = commanded(code, bench.root, capsys)
        assert [each["id"] for each in shown["chunks"]] == ids(trace)
        repeated.append(info.name)
    assert {"leanrag", "vector"} <= set(repeated)


def test_columns_are_repeated_a_trial_among_them_also_after_it_was_cleared_away(
    bench: Workbench, index: Index, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trial = bench.trials.make(index, {"cluster_size": 3})
    assert trial.path is not None
    of_trial = Asked(index.folder_name, trial.path, "leanrag", {"top_n": 2}, {"cluster_size": 3})
    columns = {"A": asked(index, top_n=4, ties="cosine"), "B": of_trial, "D": asked(index, "vector", top_c=1)}
    code = code_of_comparison(bench.root, columns, HOSTILE[0])
    expected = {
        "A": bench.retrieve(index, HOSTILE[0], top_n=4),
        "B": bench.retrieve(trial, HOSTILE[0], top_n=2),
        "D": bench.retrieve(index, HOSTILE[0], "vector", top_c=1),
    }
    shown = commanded(code, bench.root, capsys)["columns"]
    passages = [[each["id"] for each in column["passages"]] for column in shown.values()]
    assert passages == [ids(trace) for trace in expected.values()]
    bench.trials.clear()
    made = executed(code)
    assert {letter: facts(trace) for letter, trace in made["traces"].items()} == {
        letter: facts(trace) for letter, trace in expected.items()
    }
    assert all(answer.text for answer in made["answers"].values())
    bench.trials.clear()


def test_a_set_is_asked_again_with_both_settings(
    bench: Workbench, index: Index, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quote = HIVES.decode().strip().split(". ")[-1]
    questions = [
        GoldQuestion("1", QUESTION, evidence=(Evidence("hives.txt", quote),)),
        GoldQuestion("2", "What weakens honey bees?"),
    ]
    set_id = bench.question_sets.add("Bees'", questions, corpus_id=index.manifest.corpus.id)
    settings = {"now": asked(index, top_n=1, top_c=1), "pinned": asked(index)}
    code = code_of_board(bench.root, settings, set_id, FOUND)
    scorer = QuestionScorer(questions)
    expected = {
        name: scorer.score(bench.questions.retriever(index, "leanrag", each.options)) for name, each in settings.items()
    }
    assert executed(code)["scores"] == expected
    shown = commanded(code, bench.root, capsys)["columns"]
    assert [column["tokens"] for column in shown.values()] == [
        sum(scores.tokens) / len(questions) for scores in expected.values()
    ]
    alone = code_of_board(bench.root, {"now": settings["now"]}, set_id, FOUND)
    assert list(commanded(alone, bench.root, capsys)["columns"]) == ["A"]


def explored(index: Index, thing: str = "", filters: Filters | None = None) -> Explored:
    assert index.path is not None
    return Explored(index.folder_name, index.path, thing, filters or Filters())


def test_what_is_chosen_in_explore_is_shown_again(
    bench: Workbench, index: Index, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = index.layers[1].entity(0)
    code = code_of_exploring(bench.root, explored(index, cluster.id))
    made = executed(code)
    assert (made["thing"].name, made["thing"].text) == (cluster.name, cluster.description)
    assert len(made["children"]) == len(index.children_of(1, 0)) > 0
    assert commanded(code, bench.root, capsys)["name"] == cluster.name
    relation = index.layers[0].relation(0)
    code = code_of_exploring(bench.root, explored(index, relation.id))
    assert executed(code)["thing"].text == relation.description
    assert commanded(code, bench.root, capsys)["text"] == relation.description


def test_filters_let_the_same_entities_through_as_code_and_as_a_command(
    bench: Workbench, index: Index, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filters = Filters(layers=frozenset({0}), least_strength=2, connected="main", types=frozenset({*HOSTILE, "concept"}))
    code = code_of_exploring(bench.root, explored(index, filters=filters))
    expected = index.layers[0].entities.filter(filters.allows(index, 0))["id"].to_pylist()
    made = executed(code)
    assert made["filters"] == filters
    assert made["passing"][0]["id"].to_pylist() == expected
    shown = commanded(code, bench.root, capsys)["layers"]
    assert sorted(each["id"] for each in shown[0]["entities"]) == sorted(expected)
    assert filters_of(filter_texts(filters)) == filters
    assert list(here.iterdir()) == []


def test_a_text_that_is_no_filter_is_refused() -> None:
    for text in ("layers=first", "colour=red", "connected=somewhat", "types"):
        with pytest.raises(InvalidConfig, match="is no filter"):
            filters_of([text])


@pytest.mark.parametrize(
    "value", [True, None, 3, 0.25, "", "all", "None", "TRUE", "12", "NaN", "a,b@c=d:e", ' "x" ', "\\u002c", *HOSTILE]
)
def test_an_option_is_read_as_it_was_written(value: Any) -> None:
    text = option_text(value)
    assert parsed_option(text) == value
    assert type(parsed_option(text)) is type(value)
    assert not {",", "@"} & set(text)


def test_a_person_may_write_values_as_python_does() -> None:
    assert [parsed_option(text) for text in ("True", "false", "NONE", "8", "Infinity")] == [
        True,
        False,
        "NONE",
        8,
        "Infinity",
    ]
