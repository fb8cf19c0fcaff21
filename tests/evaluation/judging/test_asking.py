import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core.errors import BudgetSpent, InvalidConfig
from leanrag_core.evaluation.audit.judges import audit
from leanrag_core.evaluation.judging.asking import judge
from leanrag_core.evaluation.judging.tables import grades, mean_scores, win_rates
from leanrag_core.evaluation.judging.tasks import JudgeTask, missing, tasks
from leanrag_core.models.registry import Models
from leanrag_core.storage.calls import CallStore
from leanrag_core.types.calls import Budget
from leanrag_core.types.experiment import ABSOLUTE, GRADED, PAIRWISE, Judgement
from leanrag_core.types.settings import Settings
from tests.endpoint.scripted_model import ScriptedModel
from tests.endpoint.server import EndpointServer
from tests.evaluation.judging.scripted import QUESTIONS, longer_wins, rows, score_reply, shown, spec, winner_reply

PAIR, SCORE, GOLD = "You compare two answers", "You score an answer", "You check an answer"


class Counting:
    """Gives the replies in turn, then the last one again."""

    def __init__(self, *replies: str) -> None:
        self.replies, self.n = replies, 0

    def __call__(self, prompt: str) -> str:
        self.n += 1
        return self.replies[min(self.n, len(self.replies)) - 1]


@pytest.fixture
def serving() -> Iterator[Callable[..., EndpointServer]]:
    servers: list[EndpointServer] = []

    def serve(*further: tuple[str, Callable[[str], str]]) -> EndpointServer:
        servers.append(EndpointServer(ScriptedModel(further=further)).__enter__())
        return servers[-1]

    yield serve
    for server in servers:
        server.__exit__(None, None, None)


def models(server: EndpointServer, folder: Path, budget: Budget | None = None) -> Models:
    settings = Settings(base_url=server.url, timeout_seconds=3, retries=1)
    return Models(settings, CallStore(folder / "calls"), budget or Budget())


def judged(given: tuple[JudgeTask, ...], used: Models) -> tuple[Judgement, ...]:
    return tuple(judge(task, used) for task in given)


def test_a_judge_is_shown_both_orders_and_its_reply_is_kept(
    serving: Callable[..., EndpointServer], tmp_path: Path
) -> None:
    server = serving((PAIR, longer_wins))
    first, swapped = judged(tasks(spec(PAIRWISE), rows(), QUESTIONS)[:2], models(server, tmp_path))
    assert (first.verdicts["overall"], swapped.verdicts["overall"]) == (1, 2)
    assert list(first.verdicts) == ["comprehensiveness", "empowerment", "diversity", "directness", "overall"]
    assert "Why do bees dance?" in first.prompt
    assert json.loads(first.reply)["overall"]["winner"] == 1
    assert first.words == (14, 3)
    assert swapped.words == (3, 14)


def test_every_repeat_asks_the_model_and_judging_again_asks_nothing(
    serving: Callable[..., EndpointServer], tmp_path: Path
) -> None:
    scores = Counting(*(score_reply(score) for score in (6, 8)))
    server = serving((SCORE, scores))
    one_answer = [
        task for task in tasks(spec(ABSOLUTE), rows(), QUESTIONS) if (task.first, task.question) == ("long", "q1")
    ]
    made = judged(tuple(one_answer), models(server, tmp_path))
    assert [each.verdicts["overall"] for each in made] == [6, 8]
    again = models(server, tmp_path)
    assert judged(one_answer, again) == made
    assert again.meter.read().usage.calls == 0
    assert again.meter.read().reused == 2


def test_an_unreadable_reply_is_asked_for_again_once_and_never_counts_as_a_tie(
    serving: Callable[..., EndpointServer], tmp_path: Path
) -> None:
    listed = tasks(spec(PAIRWISE), rows(), QUESTIONS)
    half = json.dumps({"overall": {"winner": 1}})
    second_time = Counting("I like both.", winner_reply(2))
    assert judge(listed[0], models(serving((PAIR, second_time)), tmp_path)).verdicts["overall"] == 2
    never = Counting("I like both.", half)
    server = serving((PAIR, never))
    lost = judge(listed[1], models(server, tmp_path))
    assert set(lost.verdicts.values()) == {None}
    assert lost.reply == half
    assert never.n == 2
    assert judge(listed[1], models(server, tmp_path)) == lost
    assert never.n == 2, "replies that cannot be read are not paid for again either"
    (overall,) = (row for row in win_rates([lost]) if row.criterion == "overall")
    assert (overall.win_rate, overall.unparsed) == (None, 1)


def test_a_budget_stops_the_next_call(serving: Callable[..., EndpointServer], tmp_path: Path) -> None:
    server = serving((PAIR, longer_wins))
    listed = tasks(spec(PAIRWISE), rows(), QUESTIONS)
    limited = models(server, tmp_path, Budget(calls=1))
    judge(listed[0], limited)
    with pytest.raises(BudgetSpent):
        judge(listed[1], limited)
    assert len(server.answered()) == 1


def test_the_builtin_engine_cannot_judge(serving: Callable[..., EndpointServer], tmp_path: Path) -> None:
    (task, *_) = tasks(spec(), rows())
    with pytest.raises(InvalidConfig, match="no language model"):
        judge(replace(task, judge="builtin"), models(serving(), tmp_path))


def test_a_whole_experiment_is_judged_resumed_and_audited(
    serving: Callable[..., EndpointServer], tmp_path: Path
) -> None:
    def graded(prompt: str) -> str:
        (answer,) = shown(prompt)
        verdict = "declined" if "do not say" in answer else "right" if "direction" in answer else "wrong"
        return json.dumps({"explanation": "Compared.", "verdict": verdict})

    server = serving((PAIR, longer_wins), (SCORE, lambda prompt: score_reply(7)), (GOLD, graded))
    chosen = spec(ABSOLUTE, PAIRWISE, GRADED)
    listed = missing(chosen, rows(), (), QUESTIONS)
    begun = judged(listed[:5], models(server, tmp_path))
    n_calls = len(server.answered())
    rest = judged(missing(chosen, rows(), begun, QUESTIONS), models(server, tmp_path))
    assert len(server.answered()) == len(listed) == 24
    assert n_calls == 5
    both = (*begun, *rest)
    assert missing(chosen, rows(), both, QUESTIONS) == ()

    overall = next(row for row in win_rates(both) if row.criterion == "overall")
    assert (overall.a, overall.b, overall.win_rate.value if overall.win_rate else 0) == ("long", "short", 1)
    assert overall.by_question == {"q1": 1, "q2": 1}
    scored = mean_scores(both)
    assert {row.mean.value for row in scored if row.mean} == {7}
    assert {row.spread for row in scored} == {0}
    shares = {(row.run, row.criterion): row.mean.value for row in grades(both) if row.mean}
    assert shares["long", "right"] == shares["long", "declined"] == 0.5
    assert shares["short", "wrong"] == 0.5
    (audited,) = audit(both).judges
    assert audited.longer_wins is not None
    assert audited.longer_wins.value == 1
    assert audited.faults == (), "a run that always writes more may simply be better"


def test_spread_is_that_of_the_means_of_repeats() -> None:
    def scored(question: str, repeat: int, score: float | None) -> Judgement:
        return Judgement("j", ABSOLUTE, question, "a", "", repeat, {"overall": score}, "", "")

    given = [scored("q1", 0, 6), scored("q2", 0, 8), scored("q1", 1, 8), scored("q2", 1, 10), scored("q3", 0, None)]
    (row,) = mean_scores(given)
    assert row.mean is not None
    assert row.mean.value == 8
    assert row.spread == pytest.approx(2**0.5)  # 7 and 9
    assert row.by_question == {"q1": 7, "q2": 9}
    assert row.unparsed == 1
