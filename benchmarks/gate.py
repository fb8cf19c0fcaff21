"""How often a gate fails without a reason, and how often it finds a loss of .05, by simulated scores of questions."""

import numpy as np

from leanrag_core.evaluation.gating import Gated, gate, needed_questions

TITLE = "Gates: false alarms, and losses of .05 found, of 1,000 simulated gates each"
SIZES = (31, 100, 300)

_GATES = 1000
_SCORES, _SHARES = (0.0, 0.5, 1.0), (0.15, 0.2, 0.65)  # recall of questions with one or two gold passages
_CHANGED = (0.02, 0.1, 0.3)  # shares of the questions whose score is another one by chance
_LOSS = 0.05


def measure(size: int) -> dict[str, float | int | str]:
    """Return false alarms with `size` questions, a baseline and a floor at the true mean, by the share of questions
    that change by chance; and losses found with as many questions as are said to be needed, lost in whole questions."""
    rng = np.random.default_rng(size)
    figures: dict[str, float | int | str] = {}
    for changed in _CHANGED:
        figures[f"false_alarms_{changed}"] = np.mean([_alarm(rng, size, changed) for _ in range(_GATES)]).item()
        pilot = _scores(rng, size)
        needed = needed_questions((_changed(rng, pilot, changed) - pilot).tolist(), _LOSS)
        figures[f"needed_{changed}"] = needed
        figures[f"found_{changed}"] = np.mean([_finds(rng, needed, changed) for _ in range(_GATES)]).item()
    return figures


def _scores(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.choice(_SCORES, n, p=_SHARES)


def _changed(rng: np.random.Generator, scores: np.ndarray, share: float) -> np.ndarray:
    """Return the scores with that share drawn anew: neither better nor worse."""
    return np.where(rng.random(len(scores)) < share, _scores(rng, len(scores)), scores)


def _alarm(rng: np.random.Generator, n: int, changed: float) -> bool:
    """Return whether a gate fails although nothing was lost, and the mean is at its floor."""
    before = _scores(rng, n)
    after = _changed(rng, before, changed)
    mean = float(np.dot(_SCORES, _SHARES))
    return any(check.failed for check in gate([Gated("recall", after.tolist(), before.tolist(), mean)]))


def _finds(rng: np.random.Generator, n: int, changed: float) -> bool:
    """Return whether a gate finds that a share of _LOSS of the mean was lost, in whole questions."""
    before = _scores(rng, n)
    after = _changed(rng, before, changed)
    after = np.where(rng.random(n) < _LOSS / float(np.dot(_SCORES, _SHARES)), 0.0, after)
    return any(check.failed for check in gate([Gated("recall", after.tolist(), before.tolist())]))
