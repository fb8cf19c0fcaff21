"""A short answer beside the gold answers, as SQuAD's scorer compares them."""

from collections import Counter

from leanrag_core.evaluation.answers import declined, plain_text
from leanrag_core.evaluation.gold import GoldQuestion, normalised
from leanrag_core.retrieval.repeats import WORD
from leanrag_core.types.question_set import UNANSWERABLE
from leanrag_core.types.trace import Answer


def exact_match(question: GoldQuestion, answer: Answer) -> float | None:
    """Return 1 where the answer is a gold answer, else 0; of an unanswerable question where it declines. None without
    gold."""
    if question.kind == UNANSWERABLE:
        return float(declined(answer))
    gold = _gold(question)
    return float(_given(answer) in gold) if gold else None


def f1(question: GoldQuestion, answer: Answer) -> float | None:
    """Return the best overlap of words with a gold answer; of an unanswerable question as exact_match()."""
    if question.kind == UNANSWERABLE:
        return float(declined(answer))
    given = Counter(WORD.findall(_given(answer)))
    return max((_overlap(given, Counter(WORD.findall(gold))) for gold in _gold(question)), default=None)


def _gold(question: GoldQuestion) -> list[str]:
    return [text for text in map(normalised, (*question.answers, question.answer)) if text]


def _given(answer: Answer) -> str:
    return normalised(plain_text(answer)) if not declined(answer) else ""


def _overlap(given: Counter[str], gold: Counter[str]) -> float:
    return 2 * (given & gold).total() / (given.total() + gold.total())
