"""The questions that were asked: kept, bounded, pinned, noted, deleted and restored."""

from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core.errors import InvalidConfig, RecordDamaged
from leanrag_core.storage import history
from leanrag_core.storage.history import QuestionHistory
from leanrag_core.types.question_set import MAX_ANSWER, MAX_NOTE, HistoryEntry, entry_id


def asked(number: int, **more: str) -> HistoryEntry:
    question = f"Question {number}?"
    return HistoryEntry(entry_id("i", question), question, "i", "Bees", "leanrag", f"2026-11-22T10:{number:02}", **more)


@pytest.fixture
def store(tmp_path: Path) -> QuestionHistory:
    return QuestionHistory(tmp_path / "history")


def numbers(store: QuestionHistory) -> list[str]:
    return [entry.question.split()[1] for entry in store.all()]


def test_the_question_asked_last_comes_first_and_survives_a_restart(store: QuestionHistory, tmp_path: Path) -> None:
    store.keep(asked(1))
    store.keep(asked(2, answer="x" * 1000))
    path = tmp_path / "history" / "questions.json"
    assert path.stat().st_mode & 0o077 == 0, "for its owner alone, before reading it would make it so"
    again = QuestionHistory(tmp_path / "history")
    assert numbers(again) == ["2?", "1?"]
    assert len(again.all()[0].answer) == MAX_ANSWER


def test_a_question_asked_again_keeps_its_pin_its_note_and_its_thread(store: QuestionHistory) -> None:
    first = asked(1, follows="before", written="And it?", way="rule")
    store.keep(first)
    store.keep(asked(2))
    store.pin(first.id, pinned=True)
    store.note(first.id, "  look again ")
    kept = store.keep(replace(asked(1), strategy="vector"))
    assert (kept.pinned, kept.note, kept.follows, kept.written, kept.way) == (
        True,
        "look again",
        "before",
        "And it?",
        "rule",
    )
    assert (kept.strategy, numbers(store)) == ("vector", ["1?", "2?"])


def test_the_oldest_goes_that_is_neither_pinned_nor_noted(
    store: QuestionHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "MOST", 3)
    for number in (1, 2, 3):
        store.keep(asked(number))
    store.pin(asked(1).id, pinned=True)
    store.note(asked(2).id, "mine")
    store.keep(asked(4))
    assert numbers(store) == ["4?", "2?", "1?"]


def test_what_was_deleted_comes_back_in_its_place(store: QuestionHistory) -> None:
    for number in (1, 2, 3):
        store.keep(asked(number))
    gone = store.all()[1]
    store.delete(gone.id)
    assert numbers(store) == ["3?", "1?"]
    store.restore(gone)
    assert numbers(store) == ["3?", "2?", "1?"]


def test_a_note_is_bounded_and_a_damaged_file_says_so(store: QuestionHistory, tmp_path: Path) -> None:
    store.keep(asked(1))
    with pytest.raises(InvalidConfig, match="2,001 characters"):
        store.note(asked(1).id, "x" * (MAX_NOTE + 1))
    (tmp_path / "history" / "questions.json").write_text("[{]", encoding="utf-8")
    with pytest.raises(RecordDamaged):
        store.all()


def test_a_search_wants_every_word_somewhere() -> None:
    entry = asked(1, answer="Drones develop from unfertilised eggs.", note="for Anna")
    assert entry.holds("QUESTION eggs anna")
    assert entry.holds("bees")
    assert not entry.holds("eggs wasp")
