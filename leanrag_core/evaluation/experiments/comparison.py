"""Two experiments beside each other: what changed for each question, regressions first."""

from collections.abc import Sequence
from dataclasses import dataclass

from leanrag_core.evaluation.statistics import Interval, difference_interval, holm, paired_test
from leanrag_core.evaluation.tables import RECALL, less_is_better, scores_for_mean
from leanrag_core.types.experiment import ExperimentResult, QuestionRow


@dataclass(frozen=True)
class QuestionDifference:
    """A question that both experiments have. difference: the later score minus the earlier; gain: the same, negative
    for a regression whichever way the measure goes. same_answer: the answers are equal, word for word."""

    question: str
    kind: str
    before: float
    after: float
    difference: float
    gain: float
    same_answer: bool


@dataclass(frozen=True)
class RunDifference:
    """A run before and after. questions: the largest regression first. interval: of the mean difference. p: after Holm
    over the runs. alone: questions that only one of the two has a score for."""

    before: str
    after: str
    questions: tuple[QuestionDifference, ...]
    interval: Interval | None
    p: float
    regressions: int
    gains: int
    alone: int


@dataclass(frozen=True)
class ExperimentDifference:
    """Two experiments by a measure. only_before, only_after: runs without a counterpart."""

    before: str
    after: str
    measure: str
    runs: tuple[RunDifference, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]


def compare_experiments(
    before: ExperimentResult, after: ExperimentResult, measure: str = RECALL
) -> ExperimentDifference:
    """Compare two experiments. Runs of the same name are set side by side; where both have a single run, these are.
    Questions are the same by their ids."""
    earlier, later = ([run.name for run in result.spec.runs] for result in (before, after))
    pairs = [(earlier[0], later[0])] if len(earlier) == len(later) == 1 else [(n, n) for n in earlier if n in later]
    tests = holm([paired_test(*_scores(after, pair[1], before, pair[0], measure)) for pair in pairs])
    return ExperimentDifference(
        before.id,
        after.id,
        measure,
        tuple(_of_run(before, after, pair, measure, p) for pair, p in zip(pairs, tests, strict=True)),
        tuple(name for name in earlier if name not in {pair[0] for pair in pairs}),
        tuple(name for name in later if name not in {pair[1] for pair in pairs}),
    )


def _of_run(
    before: ExperimentResult, after: ExperimentResult, pair: tuple[str, str], measure: str, p: float
) -> RunDifference:
    earlier, later = _rows(before, pair[0]), _rows(after, pair[1])
    sign = -1.0 if less_is_better(measure) else 1.0
    changes, alone = [], 0
    for question in dict.fromkeys([*earlier, *later]):
        old, new = (rows[question].scores.get(measure) if question in rows else None for rows in (earlier, later))
        if old is None or new is None:
            alone += (old is None) != (new is None)
            continue
        row = later[question]
        gain = sign * (new - old)
        same = earlier[question].answer == row.answer
        changes.append(QuestionDifference(question, row.kind, old, new, new - old, gain, same))
    return RunDifference(
        before=pair[0],
        after=pair[1],
        questions=tuple(sorted(changes, key=lambda change: change.gain)),
        interval=difference_interval(*_scores(after, pair[1], before, pair[0], measure), before.spec.seed),
        p=p,
        regressions=sum(change.gain < 0 for change in changes),
        gains=sum(change.gain > 0 for change in changes),
        alone=alone,
    )


def _rows(result: ExperimentResult, run: str) -> dict[str, QuestionRow]:
    return {row.question: row for row in result.rows if row.run == run}


def _scores(
    after: ExperimentResult, later: str, before: ExperimentResult, earlier: str, measure: str
) -> tuple[Sequence[float | None], Sequence[float | None]]:
    """Return the scores of both runs, question by question, those of the later run first."""
    rows = _rows(before, earlier), _rows(after, later)
    questions = [question for question in rows[0] if question in rows[1]]
    old, new = (
        scores_for_mean(measure, lambda name, run=run: [run[question].scores.get(name) for question in questions])  # type: ignore[misc]
        for run in rows
    )
    return new, old
