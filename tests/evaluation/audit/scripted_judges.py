"""Judgements by judges whose rule is known: three runs of known quality, both orders, repeats."""

import random
from collections.abc import Callable
from itertools import combinations

from leanrag_core.types.experiment import PAIRWISE, Judgement

# Quality and length do not go together: the best run is neither the longest nor the shortest.
QUALITY = {"good": 3, "fair": 2, "poor": 1}
N_QUESTIONS = 40
N_REPEATS = 4

Rule = Callable[[str, str, tuple[int, int], int], float]
"""The verdict (1, 2, or 0 for a tie) from the runs shown first and second, their words, and the repeat."""


def words_of(run: str, question: int) -> int:
    """Return a number of words from 100 to 300; on every question another run is the longest."""
    return 100 + 100 * ((list(QUALITY).index(run) + question) % 3)


def judged(rule: Rule, judge: str = "judge", criterion: str = "overall") -> tuple[Judgement, ...]:
    judgements = []
    for pair in combinations(QUALITY, 2):
        for question in range(N_QUESTIONS):
            for first, second in (pair, pair[::-1]):
                for repeat in range(N_REPEATS):
                    words = words_of(first, question), words_of(second, question)
                    verdicts = {criterion: rule(first, second, words, repeat)}
                    judgements.append(
                        Judgement(judge, PAIRWISE, f"q{question}", first, second, repeat, verdicts, "", "", words)
                    )
    return tuple(judgements)


def perfect(first: str, second: str, words: tuple[int, int], repeat: int) -> float:
    return 1.0 if QUALITY[first] > QUALITY[second] else 2.0


def always_first(first: str, second: str, words: tuple[int, int], repeat: int) -> float:
    return 1.0


def always_second(first: str, second: str, words: tuple[int, int], repeat: int) -> float:
    return 2.0


def prefers_longer(first: str, second: str, words: tuple[int, int], repeat: int) -> float:
    return 1.0 if words[0] > words[1] else 2.0


def always_tie(first: str, second: str, words: tuple[int, int], repeat: int) -> float:
    return 0.0


def inconsistent(first: str, second: str, words: tuple[int, int], repeat: int) -> float:
    """Judge right at first, and wrong when asked again."""
    right = perfect(first, second, words, repeat)
    return right if repeat % 2 == 0 else 3 - right


def at_random(seed: int) -> Rule:
    coin = random.Random(seed)
    return lambda first, second, words, repeat: float(coin.choice((1, 2)))
