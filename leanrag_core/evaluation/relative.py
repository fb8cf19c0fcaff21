"""Scores relative to a baseline's, question by question."""

from collections.abc import Sequence


def relative(scores: Sequence[float | None], baseline: Sequence[float | None]) -> tuple[float | None, ...]:
    """Each score over the baseline's of the same question, as in relative context tokens.

    None where either is unknown or the baseline's is 0. Raises ValueError where the two differ in length.
    """
    pairs = zip(scores, baseline, strict=True)
    return tuple(ours / theirs if ours is not None and theirs else None for ours, theirs in pairs)
