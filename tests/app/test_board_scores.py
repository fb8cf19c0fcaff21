"""What the board measures of a question set: not for a move that a newer one took the place of, nor ahead of pages."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest

from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.execution.background import Superseded
from leanrag_core.retrieval.base import strategies
from leanrag_core.system.turns import Turns
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Context, Trace
from pages.common import session, state
from pages.compare import board_scores
from pages.compare.board_scores import Board


class Overtaken(BaseException):
    """A newer run of the session has begun."""


def test_a_move_that_a_newer_one_overtakes_is_measured_no_further_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def retrieve(question: str) -> Trace:
        asked.append(question)
        return cast(Trace, SimpleNamespace(context=Context("", 3, ()), passages=()))

    def memory() -> None:
        if len(asked) == 2:
            raise Overtaken

    asking = SimpleNamespace(retriever=lambda *given, **more: retrieve, naming_damage=lambda index: nullcontext())
    monkeypatch.setattr(session, "workbench", lambda: SimpleNamespace(questions=asking))
    monkeypatch.setattr(state, "memory", memory)
    questions = tuple(GoldQuestion(f"q{n}", f"Question {n}?") for n in range(5))
    unused: Any = SimpleNamespace(name="leanrag")
    board = Board(unused, unused, unused, questions, (), {}, {}, ("index", "created", "leanrag", 0))
    with pytest.raises(Overtaken):
        board.scored({})
    assert asked == ["Question 0?", "Question 1?"]
    monkeypatch.setattr(state, "memory", lambda: None)
    scores, _ = board.scored({})
    assert scores.tokens == (3.0,) * 5  # measured from the first question on: nothing of the other was kept


def test_nothing_is_measured_ahead_while_a_page_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = Turns(1, head_start_seconds=0, hold_seconds=60)
    monkeypatch.setattr(board_scores, "TURNS", turns)
    monkeypatch.setattr(board_scores, "_IDLE_WITHIN", 0.05)
    with turns.taken(quick=True):
        assert not board_scores._until_idle(lambda: None)
    assert board_scores._until_idle(lambda: None)


def test_a_newer_move_ends_the_wait_for_an_idle_server(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = Turns(1, head_start_seconds=0, hold_seconds=60)
    monkeypatch.setattr(board_scores, "TURNS", turns)

    def look() -> None:
        raise Superseded

    with turns.taken(quick=True), pytest.raises(Superseded):
        board_scores._until_idle(look)


def test_what_was_measured_over_another_question_set_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, index: Index
) -> None:
    monkeypatch.setattr(session, "open_index", lambda summary: index)
    monkeypatch.setattr(state, "recall", lambda name: "")
    info = next(each for each in strategies().strategies if each.name == "vector")
    summary = SimpleNamespace(id="index-small", created="2026-01-01")
    column: Any = SimpleNamespace(base=summary, info=info, chosen=SimpleNamespace(options={}), changed={})
    questions = tuple(GoldQuestion(f"q{n}", f"Question {n}?") for n in range(3))
    keys = [board_scores.board_of([column], info, asked).key for asked in (questions, questions[:], questions[:2])]
    assert keys[0] == keys[1]
    assert keys[0] != keys[2]
