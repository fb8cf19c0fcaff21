"""The verdicts in a judge's reply: a winner or a score for each criterion."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from leanrag_core.errors import ReplyError

OVERALL = "overall"
DIRECTNESS = "directness"  # the control criterion of GraphRAG, section 3.3: short answers should win it
SCORED = ("comprehensiveness", "empowerment", "diversity", OVERALL)
COMPARED = ("comprehensiveness", "empowerment", "diversity", DIRECTNESS, OVERALL)

FIRST, SECOND, TIE = 1.0, 2.0, 0.0
LOWEST, HIGHEST = 1.0, 10.0

_WINNER = re.compile(r"[\W_]*(?:(?:answer|assistant|response)[\W_]*)?([12])[\W_]*", re.IGNORECASE)
_NAMED = {"first": FIRST, "second": SECOND, "a": FIRST, "b": SECOND}
_TIES = frozenset(("0", "tie", "draw", "equal", "both", "neither"))
_NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:/\s*10)?\s*")


def winner_of(value: object) -> float | None:
    """Return FIRST, SECOND or TIE as the value says it ("Answer 1", 2, "tie", {"winner": ...}); None when it says
    nothing."""
    if isinstance(value, Mapping):
        return next((winner_of(inner) for key, inner in value.items() if _is_key(key, "winner")), None)
    if isinstance(value, bool) or value is None:
        return None
    text = str(value).strip().casefold()
    if text.endswith(".0"):
        text = text.removesuffix(".0")
    if match := _WINNER.fullmatch(text):
        return float(match[1])
    word = text.strip("[]()*\"'. ").removeprefix("answer ")
    return TIE if word in _TIES else _NAMED.get(word)


def score_of(value: object) -> float | None:
    """Read a score from 1 to 10 out of the value (7, "7/10", {"score": 7}); None when it has none."""
    if isinstance(value, Mapping):
        return next((score_of(inner) for key, inner in value.items() if _is_key(key, "score")), None)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    match = _NUMBER.fullmatch(str(value))
    score = float(match[1]) if match else math.nan
    return score if LOWEST <= score <= HIGHEST else None


def criterion_of(name: object) -> str:
    """Return the criterion's name as judgements hold it: "Overall Winner" is "overall"."""
    words = re.sub(r"[\W_]+", " ", str(name)).strip().casefold()
    return words.removesuffix(" winner").removesuffix(" score") or words


def pair_verdicts(cells: Mapping[str, Any]) -> dict[str, float]:
    """Return the winner by criterion, for every key of the object that names one."""
    winners = {criterion_of(key): winner_of(value) for key, value in cells.items()}
    return {name: winner for name, winner in winners.items() if winner is not None}


def required_verdicts(cells: Mapping[str, Any], criteria: Sequence[str], *, is_pair: bool) -> dict[str, float]:
    """Return the verdict on each criterion. Raises ReplyError where the object lacks any: half a reply is none."""
    read = winner_of if is_pair else score_of
    by_name = {criterion_of(key): read(value) for key, value in cells.items()}
    verdicts = {name: value for name in criteria if (value := by_name.get(name)) is not None}
    lacking = [name for name in criteria if name not in verdicts]
    if lacking:
        raise ReplyError("judge.reply_lacks", criteria=", ".join(lacking))
    return verdicts


def _is_key(key: object, wanted: str) -> bool:
    return wanted in str(key).casefold()
