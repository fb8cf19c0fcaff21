"""Questions from a model behind a real server: the prompts of the project, one call each, nothing asked twice."""

import json
import re
from pathlib import Path

import pytest

from leanrag_core.errors import BudgetSpent, InvalidConfig
from leanrag_core.types.calls import Budget
from leanrag_core.types.question_set import Generation
from leanrag_core.types.settings import Settings
from leanrag_core.workbench import Workbench
from tests.endpoint.scripted_model import ScriptedModel
from tests.endpoint.server import EndpointServer
from tests.small_index import small_index

USERS = json.dumps({"users": [{"name": f"User {n}", "description": "wants to know"} for n in range(3)]})


def tasks(prompt: str) -> str:
    user = re.search(r"Person: (User \d)", prompt)
    assert user is not None
    return json.dumps({"tasks": [f"{user[1]} task {n}" for n in range(2)]})


def questions(prompt: str) -> str:
    task = re.search(r"Task: (.*)", prompt)
    assert task is not None
    return json.dumps({"questions": [f"{task[1]}, question {n}?" for n in range(4)]})


MODEL = ScriptedModel(
    further=(
        ("Imagine 3 different people", lambda prompt: USERS),
        ("Name 2 different tasks", tasks),
        ("Write 4 different", questions),
    )
)
HOW = Generation("openai:any", users=3, tasks=2, questions=4)


def n_chats(server: EndpointServer) -> int:
    return sum(request.path.endswith("/chat/completions") for request in server.log)


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


def test_users_tasks_and_questions_are_asked_for_once(bench: Workbench) -> None:
    with EndpointServer(MODEL) as server:
        bench.settings.save(Settings(base_url=server.url, timeout_seconds=3, retries=1))
        made = bench.question_sets.generated(small_index(), HOW)
        asked = n_chats(server)
        again = bench.question_sets.generated(small_index(), HOW)
        assert (len(made.questions), made.n_lost) == (3 * 2 * 4, 0)
        assert made.questions[0].question == "User 0 task 0, question 0?"
        assert made.questions[-1].question == "User 2 task 1, question 3?"
        assert asked == HOW.n_calls == 1 + 3 + 6
        assert (again, n_chats(server)) == (made, asked)


def test_a_spent_budget_ends_it_and_what_was_answered_is_not_paid_again(bench: Workbench) -> None:
    with EndpointServer(MODEL) as server:
        bench.settings.save(Settings(base_url=server.url, timeout_seconds=3, retries=1, concurrency=1))
        with pytest.raises(BudgetSpent):
            bench.question_sets.generated(small_index(), HOW, budget=Budget(calls=3))
        before = n_chats(server)
        assert bench.question_sets.generated(small_index(), HOW, budget=Budget(calls=HOW.n_calls)).n_lost == 0
        assert before >= 3
        assert n_chats(server) == HOW.n_calls


def test_a_graph_without_types_gives_a_reason(bench: Workbench) -> None:
    with pytest.raises(InvalidConfig, match="no question can be made from the graph of 'small'"):
        bench.question_sets.generated(small_index(), Generation(kinds=("comparison",)))
