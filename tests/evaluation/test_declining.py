import pytest

from leanrag_core.answering.extractive import NOTHING_FITS
from leanrag_core.evaluation.answers import declines, grade
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.types.question_set import UNANSWERABLE

KNOWN = GoldQuestion("q", "What did she use?", ("electrometer", "an electrometer"))
UNKNOWN = GoldQuestion("u", "Who owns the moon?", kind=UNANSWERABLE)


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        (KNOWN, "She used an Electrometer, built by others. [C1]", "right"),
        (KNOWN, "She used electrometers.", "wrong"),
        (KNOWN, "NOT IN THE CONTEXT: the instrument is not named.", "declined"),
        (KNOWN, f"{NOTHING_FITS} Nearest: an electrometer was sold.", "declined"),
        (UNKNOWN, "**Not in the context**: no owner is named.", "right"),
        (UNKNOWN, "Nobody does.", "wrong"),
        # Scripts without blanks have no whole words; Korean joins particles to them.
        (GoldQuestion("zh", "谁迁的祠？", ("刘季连",)), "益州刺史刘季连把望帝祠迁到郫县。 [C3]", "right"),
        (GoldQuestion("zh", "谁迁的祠？", ("刘季连",)), "李冰的石像在伏龙观。", "wrong"),
        (GoldQuestion("ko", "누가?", ("세종",)), "세종이 한글을 만들었다.", "right"),
        (GoldQuestion("w", "What is this about?"), "Bees.", None),
    ],
)
def test_an_answer_is_graded_by_its_words(question: GoldQuestion, answer: str, expected: str | None) -> None:
    assert grade(question, answer) == expected


def test_only_the_beginning_of_an_answer_declines() -> None:
    assert not declines("The letter was not in the context of the trial.")
