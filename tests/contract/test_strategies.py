"""What holds for every strategy on every index, one with foreign roles, kinds, sections, letters and steps included."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leanrag_core import Workbench
from leanrag_core.__main__ import main
from leanrag_core.answering.written import written_answer
from leanrag_core.errors import BudgetSpent, Cancelled
from leanrag_core.figures.layered import layered_graph
from leanrag_core.messages.message import message
from leanrag_core.models.base import Completion
from leanrag_core.models.pacing import Meter
from leanrag_core.retrieval import strategies as own_strategies
from leanrag_core.retrieval.base import Query, strategies, strategy
from leanrag_core.retrieval.tools import Tools
from leanrag_core.strategy_contract import CHECKS, QUESTION, TEXTS, Case, case, declarations, option_values, problems
from leanrag_core.types.calls import NO_USAGE, Budget, Usage
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.trace import Answer, Trace
from tests.contract.strategies import zoo

OWN = tuple(sorted(path.stem for path in Path(own_strategies.__file__).parent.glob("[!_]*.py")))
NAMES = (*OWN, "zoo", "zoo_keeper")
on_every_index = pytest.mark.parametrize("where", list(TEXTS))
of_every_strategy = pytest.mark.parametrize("name", NAMES)
CASES: dict[tuple[str, str], Case] = {}


def made_case(home: Workbench, indexes: dict[str, Index], name: str, where: str) -> Case:
    """Return the case, made once for all tests."""
    if (name, where) not in CASES:
        CASES[name, where] = case(home, indexes[where], name, where)
    return CASES[name, where]


def retrieve(home: Workbench, index: Index, name: str, where: str) -> Trace:
    return made_case(home, {where: index}, name, where).trace


def test_every_file_of_the_folder_is_a_strategy() -> None:
    listed = strategies()
    assert listed.broken == ()
    assert {info.name for info in listed.strategies} >= set(NAMES)  # and those of packages on this machine


def test_the_four_indexes_are_what_their_names_say(indexes: dict[str, Index]) -> None:
    assert indexes["one chunk"].chunks.num_rows == 1
    assert indexes["no relations"].layers[0].relations.num_rows == 0
    assert indexes["tiny"].layers[0].relations.num_rows > 0
    assert "蜜蜂" in indexes["chinese"].chunk(0).text


@of_every_strategy
@on_every_index
def test_what_holds_for_every_strategy(
    contract_home: Workbench, indexes: dict[str, Index], name: str, where: str
) -> None:
    assert problems(made_case(contract_home, indexes, name, where)) == []


@of_every_strategy
def test_presets_and_equal_budgets_are_options(name: str) -> None:
    assert list(declarations(name)) == []


# The contract finds what does not hold


def broken_traces(trace: Trace) -> dict[str, Trace]:
    """Return traces that break what each check is about, by the beginning of the problem."""
    passage, context = trace.passages[0], trace.context
    section = next(each for each in context.sections if each.items)
    others = tuple(each for each in context.sections if each is not section)
    lower = replace(section, letter=section.letter.lower())
    assert passage.source is not None
    moved = replace(passage, source=replace(passage.source, start=passage.source.start + 1))
    stranger = replace(trace.relations[0], target="nobody") if trace.relations else None
    without = tuple(item for item in trace.items if item is not passage)
    broken = {
        "references: two items": replace(trace, items=(*trace.items, passage)),
        "references: the context cites": replace(trace, items=without),
        "references: an item is drawn": replace(trace, styles=()),
        "references: there is no step": replace(trace, steps=()),
        "references: ranked_chunks": replace(trace, ranked_chunks=(10**6,)),
        "passages: chunks are ranked": replace(trace, items=trace.nodes),
        "passages: the text of": replace(trace, items=(*without, moved)),
        "budgets: the letter": replace(trace, context=replace(context, sections=(*others, lower))),
        "budgets: the context's tokens": replace(trace, context=replace(context, tokens=context.tokens + 1)),
        "budgets: the context's text": replace(trace, context=replace(context, text=context.text + ".")),
        "sentences: ": replace(trace, notes=(message("plain", text=" "),)),
        "repeatable: the same question": replace(trace, notes=(message("plain", text="another"),)),
    }
    return broken | ({"references: a relation leads to": replace(trace, relations=(stranger,))} if stranger else {})


def test_the_contract_says_what_does_not_hold(contract_home: Workbench, indexes: dict[str, Index]) -> None:
    whole = made_case(contract_home, indexes, "leanrag", "tiny")
    broken = broken_traces(whole.trace)
    assert len(broken) == 13
    for beginning, trace in broken.items():
        check = next(each for each in CHECKS if beginning.startswith(f"{each.__name__}: "))
        told = [f"{check.__name__}: {problem}" for problem in check(replace(whole, trace=trace))]
        assert any(problem.startswith(beginning) for problem in told), (beginning, told)


def test_an_option_whose_bound_raises_is_named(contract_home: Workbench, indexes: dict[str, Index]) -> None:
    class Failing(Case):
        def retrieve(self, **options: Any) -> Trace:
            if options == {"top_c": 50}:
                raise KeyError(13)
            return self.trace

    whole = made_case(contract_home, indexes, "vector", "tiny")
    failing = Failing(whole.bench, whole.index, whole.name, whole.question, whole.trace)
    assert list(option_values(failing)) == ["with top_c=50 there is no trace: 13 is missing"]


# The strategy with foreign roles


def test_foreign_marks_are_read_from_a_written_answer(contract_home: Workbench, indexes: dict[str, Index]) -> None:
    trace = retrieve(contract_home, indexes["tiny"], "zoo", "tiny")
    reply = Completion("Oxalic acid [P1]. A guess [HU2][HU99]. Not ours [E1].", "stop", NO_USAGE)
    written = written_answer(trace, reply, "a model")
    assert [(part.text, part.marks) for part in written.parts] == [
        ("Oxalic acid.", ("P1",)),
        ("A guess.", ("HU2",)),
        ("Not ours [E1].", ()),
    ]


def test_an_extractive_answer_takes_its_sentences_from_foreign_sections(
    contract_home: Workbench, indexes: dict[str, Index]
) -> None:
    answer = contract_home.answer(indexes["tiny"], retrieve(contract_home, indexes["tiny"], "zoo", "tiny"))
    assert "oxalic acid" in answer.text
    assert answer.parts[0].section == "proofs"
    assert answer.parts[0].marks[0].startswith("P")


def test_a_strategy_that_answers_is_not_answered_for(contract_home: Workbench, indexes: dict[str, Index]) -> None:
    index = indexes["tiny"]
    trace = retrieve(contract_home, index, "zoo_keeper", "tiny")
    heard: list[str] = []
    answers: list[Answer | None] = [
        contract_home.answer(index, trace),
        contract_home.questions.kept_answer(index, trace),
        contract_home.questions.stream_answer(index, trace, heard.append),
    ]
    assert [answer.model for answer in answers if answer] == ["the keeper"] * 3
    assert heard == [answers[0].text if answers[0] else ""]


def test_kinds_without_layers_have_bands_of_their_own_and_linked_passages_too(
    contract_home: Workbench, indexes: dict[str, Index]
) -> None:
    graph = layered_graph(retrieve(contract_home, indexes["tiny"], "zoo", "tiny"))
    assert [row.label for row in graph.rows] == ["Sub question", "Hunch", "Passage"]
    assert {dot.kind for dot in graph.nodes} == {"box", "double"}
    assert {edge.kind for edge in graph.edges} == {"supports"}
    assert graph.hidden == 0


def test_the_command_line_asks_and_shows_a_foreign_strategy(
    contract_home: Workbench, indexes: dict[str, Index], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, run = indexes["tiny"].path, tmp_path / "run.json"
    assert main(["ask", str(path), QUESTION, "--strategy", "zoo_keeper", "--save", str(run)]) == 0
    asked = capsys.readouterr().out
    assert "    guess: Guessed.\n" in asked
    assert "     note: Hunches may be wrong.\n" in asked
    assert "[HU1]" in asked
    assert main(["show-run", str(run)]) == 0
    assert capsys.readouterr().out.endswith(asked)
    assert main(["ask", str(path), QUESTION, "--strategy", "zoo", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert set(record["context"]["tokens"]) == {"total", "hunches", "proofs"}
    assert {node["role"] for node in record["nodes"]} == {"asked", "hunch"}
    assert (record["seeds"], record["lca"]) == ([], None)


class ScriptedModel:
    """Answers each call with one token and counts it, as models at an endpoint do."""

    name = fingerprint = "scripted"

    def __init__(self, meter: Meter) -> None:
        self.meter = meter

    def complete(self, messages: list[dict[str, str]], **options: object) -> Completion:
        usage = Usage(calls=1, prompt_tokens=5, completion_tokens=1)
        self.meter.add("hunches", usage)
        return Completion(f"So: {messages[0]['content']}", "stop", usage)


def tools(home: Workbench, index: Index, meter: Meter, cancelled: Callable[[], None], report: list[str]) -> Tools:
    def reported(progress: Progress) -> None:
        report.append(progress.stage)

    def embed(texts: Sequence[str]) -> np.ndarray:
        return np.array([home.questions.question_vector(index, text) for text in texts])

    return Tools(embed=embed, language=ScriptedModel(meter), meter=meter, report=reported, cancelled=cancelled)


def test_a_strategy_uses_the_model_within_its_budget_and_can_be_cancelled(
    contract_home: Workbench, indexes: dict[str, Index]
) -> None:
    index, query = indexes["tiny"], Query(QUESTION, contract_home.questions.question_vector(indexes["tiny"], QUESTION))
    made, reported, meter = strategy("zoo", {}), list[str](), Meter(Budget(calls=2))
    trace = made.retrieve(query, index, tools(contract_home, index, meter, lambda: None, reported))
    assert trace.steps[1].usage == Usage(calls=2, prompt_tokens=10, completion_tokens=2)
    assert reported == ["hunches", "hunches"]
    with pytest.raises(BudgetSpent):
        made.retrieve(query, index, tools(contract_home, index, meter, lambda: None, reported))

    def taken_back() -> None:
        raise Cancelled("job.cancelled")

    with pytest.raises(Cancelled):
        made.retrieve(query, index, tools(contract_home, index, Meter(), taken_back, reported))


def test_the_zoo_is_foreign(contract_home: Workbench, indexes: dict[str, Index]) -> None:
    own = retrieve(contract_home, indexes["tiny"], "leanrag", "tiny")
    assert not {style.role for style in zoo.STYLES} & {style.role for style in own.styles}
    assert not {zoo.HUNCHES.letter, zoo.PROOFS.letter} & {section.letter for section in own.context.sections}
