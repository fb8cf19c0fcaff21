"""What an answer says, and whether it declines or is right, by matching words: no model is asked."""

import re

from leanrag_core.answering.extractive import NOTHING_FITS
from leanrag_core.answering.written import NOT_IN_CONTEXT
from leanrag_core.evaluation.gold import GoldQuestion, is_named, normalised
from leanrag_core.text.sentences import split_sentences
from leanrag_core.types.question_set import UNANSWERABLE
from leanrag_core.types.trace import Answer


def plain_text(answer: Answer) -> str:
    """Return the answer's sentences without marks; its whole text where it has no parts, as a refusal has none."""
    return " ".join(part.text for part in answer.parts) if answer.parts else answer.text


def sentences_of(answer: Answer) -> tuple[str, ...]:
    """Return the answer's sentences without marks."""
    texts = [part.text for part in answer.parts] or [answer.text]
    return tuple(sentence for text in texts for sentence in split_sentences(text))


RIGHT, WRONG, DECLINED = "right", "wrong", "declined"
GRADES = (RIGHT, WRONG, DECLINED)
_DECLINES = re.compile(rf"[\W_]*(?:{re.escape(NOT_IN_CONTEXT)}|{re.escape(NOTHING_FITS)})", re.IGNORECASE)


def declines(answer: str) -> bool:
    """Return whether the answer declines: it begins as answers in reject mode do where the context does not suffice,
    or is the built-in engine's refusal."""
    return _DECLINES.match(answer) is not None


def declined(answer: Answer) -> bool:
    """Return whether the answer declines. In open mode an answer without a citation is no refusal: the model may know
    it itself."""
    return declines(plain_text(answer)) or (answer.extractive and not answer.grounded)


def grade(question: GoldQuestion, answer: str) -> str | None:
    """Return one of GRADES; None where the question has no short gold answers, and is not unanswerable.

    An answer is right that has a gold answer as whole words, without case, articles and punctuation. To an unanswerable
    question the only right answer is none: one that declines.
    """
    if question.kind == UNANSWERABLE:
        return RIGHT if declines(answer) else WRONG
    gold = tuple(filter(None, map(normalised, question.answers)))
    if not gold:
        return None
    if declines(answer):
        return DECLINED
    return RIGHT if is_named(gold, normalised(answer)) else WRONG
