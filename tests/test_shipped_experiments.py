"""The experiments that come with the program: whole, without failures, on the questions that come with it."""

import pytest

from leanrag_core.evaluation.experiments.running import questions_digest
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.question_sets.reading import read_questions
from leanrag_core.evaluation.tables import RECALL, TOKENS, pays, score_table
from leanrag_core.retrieval.base import strategies
from leanrag_core.storage.experiments import ExperimentStore
from leanrag_core.workbench.samples import SAMPLES

SHIPPED = SAMPLES / "experiments"
IDS = sorted(path.parent.name for path in SHIPPED.glob("*/spec.json"))
AGAIN = "run `experiment run --samples` again, and with --equal 4000 --no-answers"


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> ExperimentStore:
    return ExperimentStore(tmp_path_factory.mktemp("home") / "experiments", SHIPPED)


def test_every_sample_corpus_has_one_with_official_and_one_with_equal_budgets(store: ExperimentStore) -> None:
    specs = [store.read(summary.id).spec for summary in store.all()]
    for answers in (True, False):
        sets = sorted(spec.question_set for spec in specs if spec.answers == answers)
        assert sets == ["sample-agriculture", "sample-cs", "sample-irrigation", "sample-legal", "sample-mix"]
    assert [spec.answers for spec in specs] == [True] * 5 + [False] * 5, "official budgets come first in lists"
    assert store.damaged() == ()


@pytest.mark.parametrize("id_", IDS)
def test_a_shipped_experiment_is_whole_and_on_the_questions_of_its_corpus(store: ExperimentStore, id_: str) -> None:
    result = store.read(id_)
    questions = store.questions(id_, GoldQuestion)
    assert result.is_complete
    assert result.is_shipped
    searching = {info.name for info in strategies().strategies} - {"zero_shot"}
    assert {run.strategy for run in result.spec.runs} == searching, AGAIN
    assert len(result.rows) == len(result.costs) == len(searching) * len(questions)
    assert not any(row.error for row in result.rows)
    name = result.spec.question_set.removeprefix("sample-")
    current = read_questions(SAMPLES / name / "questions.jsonl")
    assert questions_digest(current) == result.versions["questions"], AGAIN
    assert {run.index for run in result.spec.runs} == {
        name[6:] for name in result.versions if name.startswith("index ")
    }


def test_the_tables_of_a_shipped_experiment_say_something(store: ExperimentStore) -> None:
    result = store.read(IDS[0])
    table = score_table(result, measures=[RECALL, TOKENS])
    applies = [cell for row in table.rows if row.run.name != "GraphRAG global" for cell in row.cells.values()]
    assert all(cell.interval is not None and cell.letters for cell in applies)
    [without_passages] = [row for row in table.rows if row.run.name == "GraphRAG global"]
    assert without_passages.cells[RECALL].interval is None, "it retrieves no passages"
    every, *kinds = pays(result, ["LeanRAG"], result.spec.baseline)["LeanRAG"]
    assert every.interval is not None
    assert {each.kind for each in kinds} == {"single-hop", "multi-hop", "whole-corpus", "unanswerable"}
