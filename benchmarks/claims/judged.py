"""Claims on judged answers: win rates, and which of two systems is ahead.

HiRAG's judge files hold a reply a line, first all questions with the first system as answer 1, then all with the two
swapped. Some replies are missing, so that later ones have moved up. A win rate counts the lines that are there, as its
authors do. Whether a system is ahead is a paired test over questions; there replies are laid beside their questions
by the words that they share with the answers, where the answers are given.
"""

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.claims.measures import Arguments, Files, Found
from leanrag_core.evaluation.audit.comparisons import (
    Comparison,
    comparisons,
    pairs_of,
    question_scores,
    rate,
)
from leanrag_core.evaluation.audit.files import JudgeFile, SystemAnswers, file_title, read_answers, read_judge_files
from leanrag_core.evaluation.statistics import Interval, paired_test

_PERCENT = 100.0
_HALF = 0.5


def win_rate(files: Files, arguments: Arguments) -> Found:
    """Return the win rate of a system in percent, over all replies, with an interval over questions."""
    interval = _rate(_compared(files[0], arguments, {}))
    low, high = (None if bound is None else _PERCENT * bound for bound in (interval.low, interval.high))
    return Found(_PERCENT * interval.value, low, high, interval.n)


def ahead(files: Files, arguments: Arguments) -> Found:
    """Return 1 where the system wins more than it loses, else 0, with Wilcoxon's p over questions.

    files: of judgements, then of the answers of the systems that it compares, in the order of its name.
    """
    title = file_title(files[0].name)
    answers = {name: read_answers(file) for name, file in zip((title.a, title.b), files[1:], strict=False)}
    compared = _compared(files[0], arguments, answers)
    interval = _rate(compared)
    scores = list(question_scores(compared).values())
    orders = [_rate([each for each in compared if each.is_a_first is first]) for first in (True, False)]
    is_ahead = interval.value > _HALF
    return Found(
        float(is_ahead),
        n=interval.n,
        p=paired_test(scores, [1 - score for score in scores]),
        in_both_orders=all((order.value > _HALF) is is_ahead and order.value != _HALF for order in orders),
    )


def _compared(file: JudgeFile, arguments: Arguments, answers: dict[str, SystemAnswers]) -> Sequence[Comparison]:
    """Return the comparisons of the system of the arguments with the other one of the file."""
    read = read_judge_files([file], answers, n_questions=int(arguments["questions"]))
    if len(pairs := pairs_of(read.judgements)) != 1:
        raise ValueError(f"{file.name} compares {len(pairs)} pairs of systems")
    (pair,) = pairs
    system = arguments["system"]
    compared = comparisons(read.judgements, pair, arguments["criterion"])
    if system not in (title_names := _names(file)):
        raise ValueError(f"{file.name} is not about {system}")
    return compared if title_names[0] == system else [_turned(each) for each in compared]


def _names(file: JudgeFile) -> tuple[str, str]:
    """Return the systems of the file, the first one first. The variants of HiRAG have a "_" in their names, which the
    file's name does not tell from the one between two systems."""
    title = file_title(file.name)
    joined = f"{title.a}_{title.b}"
    for first in ("hi_naiveR", "hi"):
        if joined.startswith(f"{first}_"):
            return first, joined.removeprefix(f"{first}_")
    return title.a, title.b


def _turned(comparison: Comparison) -> Comparison:
    won = None if comparison.won is None else 1 - comparison.won
    return replace(comparison, won=won, is_a_first=not comparison.is_a_first)


def _rate(compared: Sequence[Comparison]) -> Interval:
    interval = rate(compared, 0)
    if interval is None:
        raise ValueError("no reply can be read")
    return interval


MEASURES = {"win-rate": win_rate, "ahead": ahead}
