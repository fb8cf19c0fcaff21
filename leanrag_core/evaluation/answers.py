"""What an answer says, whether it declines or is right, by matching words: no model is asked.

And its claims, with how many different subjects they have (GraphRAG, section 4.2).
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from leanrag_core.answering.extractive import NOTHING_FITS
from leanrag_core.answering.written import NOT_IN_CONTEXT
from leanrag_core.evaluation.base import Outcome
from leanrag_core.evaluation.gold import GoldQuestion, is_named, normalised
from leanrag_core.retrieval.repeats import WORD
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


_LETTERS = "ABCDEFGH"
_OPTION = re.compile(rf"(?:^|(?<=\s))\(?([{_LETTERS}])[.)：:．、]\s*(?=\S)")
_GOLD_LETTER = re.compile(rf"\W*([{_LETTERS}])(?:[.):]\s.*)?\W*", re.DOTALL)
# A letter alone, or behind words that announce it: "A long story" chooses nothing.
_LETTER_FIRST = re.compile(rf"\W*([{_LETTERS}])(?=\s*(?:[.),:;\]*]|\[|\Z))")
_ANNOUNCED = re.compile(rf"(?i:\b(?:answer|option|choice)(?:\s+is)?|答案是?|选)[\s:：*(]*([{_LETTERS}])(?![\w'])")


def options_of(question: GoldQuestion) -> Mapping[str, str]:
    """Return the text of each option by its letter, of a question of multiple choice; empty for another one.

    The question lists them as "A. ..." from A on, and its gold answers are letters among them.
    """
    if not question.answers or not all(_letter(answer) for answer in question.answers):
        return {}
    starts = list(_OPTION.finditer(question.question))
    first = next((place for place, match in enumerate(starts) if match[1] == _LETTERS[0]), len(starts))
    marks = starts[first:]
    ends = [*(match.start() for match in marks[1:]), len(question.question)]
    options = {
        match[1]: normalised(question.question[match.end() : end]) for match, end in zip(marks, ends, strict=False)
    }
    is_listed = len(options) > 1 and "".join(options) == _LETTERS[: len(options)]
    return options if is_listed and all(_letter(answer) in options for answer in question.answers) else {}


def _letter(answer: str) -> str:
    match = _GOLD_LETTER.fullmatch(answer)
    return match[1] if match else ""


def chosen_option(answer: str, options: Mapping[str, str]) -> str:
    """Return the letter that the answer chooses: one at its beginning, one that is announced ("the answer is B"), or
    that of the only option whose words it holds; "" where it chooses none or several."""
    if match := _LETTER_FIRST.match(answer):
        return match[1] if match[1] in options else ""
    announced = set(_ANNOUNCED.findall(answer)) & options.keys()
    if announced:
        return announced.pop() if len(announced) == 1 else ""
    plain_answer = normalised(answer)
    named = [letter for letter, text in options.items() if text and is_named((text,), plain_answer)]
    return named[0] if len(named) == 1 else ""


def grade(question: GoldQuestion, answer: str) -> str | None:
    """Return one of GRADES; None where the question has no short gold answers, and is not unanswerable.

    An answer is right that has a gold answer as whole words, without case, articles and punctuation. To an unanswerable
    question the only right answer is none: one that declines. A question of multiple choice is right by its letter.
    """
    if question.kind == UNANSWERABLE:
        return RIGHT if declines(answer) else WRONG
    if options := options_of(question):
        if declines(answer):
            return DECLINED
        return RIGHT if chosen_option(answer, options) in map(_letter, question.answers) else WRONG
    gold = tuple(filter(None, map(normalised, question.answers)))
    if not gold:
        return None
    if declines(answer):
        return DECLINED
    return RIGHT if is_named(gold, normalised(answer)) else WRONG


def exact_match(question: GoldQuestion, answer: Answer) -> float | None:
    """Return 1 where the answer is a gold answer, else 0; of an unanswerable question where it declines. None without
    gold."""
    if question.kind == UNANSWERABLE:
        return float(declined(answer))
    gold = _gold_texts(question)
    return float(_given_text(answer) in gold) if gold else None


def f1(question: GoldQuestion, answer: Answer) -> float | None:
    """Return the best overlap of words with a gold answer; of an unanswerable question as exact_match()."""
    if question.kind == UNANSWERABLE:
        return float(declined(answer))
    answer_words = Counter(WORD.findall(_given_text(answer)))
    return max((_overlap(answer_words, Counter(WORD.findall(gold))) for gold in _gold_texts(question)), default=None)


def _gold_texts(question: GoldQuestion) -> list[str]:
    return [text for text in map(normalised, (*question.answers, question.answer)) if text]


def _given_text(answer: Answer) -> str:
    return normalised(plain_text(answer)) if not declined(answer) else ""


def _overlap(answer_words: Counter[str], gold_words: Counter[str]) -> float:
    return 2 * (answer_words & gold_words).total() / (answer_words.total() + gold_words.total())


def claims_of(outcome: Outcome) -> tuple[str, ...]:
    """Return the distinct claims of the outcome's answer: those that a language model listed, else its sentences.

    None of an answer that declines; equal ones, without case and punctuation, count once.
    """
    answer = outcome.answer
    if answer is None or declined(answer):
        return ()
    claims = sentences_of(answer) if outcome.claims is None else outcome.claims
    distinct = {normalised(claim): claim for claim in reversed(claims)}
    return tuple(claim for claim in claims if normalised(claim) and distinct[normalised(claim)] is claim)


def claim_clusters(claims: Sequence[str], distance: float) -> int:
    """Count the clusters of the claims under complete linkage, distance 1 - ROUGE-L, cut at the distance."""
    if len(claims) < 2:
        return len(claims)
    from scipy.cluster.hierarchy import fcluster, linkage

    distances = [1 - rouge_l(first, second) for first, second in combinations(claims, 2)]
    return int(fcluster(linkage(distances, method="complete"), distance, criterion="distance").max())


def rouge_l(first: str, second: str) -> float:
    """Return the F-measure of the longest common subsequence of words, in lower case without punctuation, unstemmed."""
    from rapidfuzz.distance import LCSseq

    words, others = (WORD.findall(text.lower()) for text in (first, second))
    both = len(words) + len(others)
    return 2 * LCSseq.similarity(words, others) / both if both else 0.0
