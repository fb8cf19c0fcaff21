"""Two experiments beside each other: what changed for each question, regressions first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from leanrag_core.evaluation.run_titles import run_titles
from leanrag_core.evaluation.statistics import Interval, difference_interval, holm, paired_test
from leanrag_core.evaluation.tables import RECALL, less_is_better, scores_for_mean
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.experiment import ExperimentResult, QuestionRow, RunSpec


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
    """A run before and after, by its titles. questions: the largest regression first. interval: of the mean
    difference. p: after Holm over the runs. alone: questions that only one of the two has a score for."""

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
    """Two experiments, by their ids, and a measure. only_before, only_after: titles of runs without a counterpart."""

    before: str
    after: str
    measure: str
    runs: tuple[RunDifference, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]


def compare_experiments(
    before: ExperimentResult, after: ExperimentResult, measure: str = RECALL
) -> ExperimentDifference:
    """Compare two experiments. Runs of the same title are set side by side, then those of one strategy and the same
    settings; where both have a single run, these are. Questions are the same by their ids."""
    earlier, later = _named(before), _named(after)
    pairs = _pairs(earlier, later)
    tests = holm([paired_test(*_scores(after, pair[1], before, pair[0], measure)) for pair in pairs])
    differences = (_of_run(before, after, pair, measure, p) for pair, p in zip(pairs, tests, strict=True))
    return ExperimentDifference(
        before.id,
        after.id,
        measure,
        tuple(replace(each, before=earlier[each.before].title, after=later[each.after].title) for each in differences),
        tuple(run.title for key, run in earlier.items() if key not in {pair[0] for pair in pairs}),
        tuple(run.title for key, run in later.items() if key not in {pair[1] for pair in pairs}),
    )


@dataclass(frozen=True)
class _NamedRun:
    """A run, and what it is called."""

    run: RunSpec
    title: str

    def has_title_of(self, other: "_NamedRun") -> bool:
        """Return whether both are called the same."""
        return self.title == other.title

    def has_settings_of(self, other: "_NamedRun") -> bool:
        """Return whether both are one strategy with the same options; not where both have a name of their own, since
        these differ."""
        ours, theirs = ((each.run.strategy, each.run.options) for each in (self, other))
        return ours == theirs and not (self.run.name and other.run.name)


def _named(result: ExperimentResult) -> dict[str, _NamedRun]:
    """Return the runs by their keys."""
    titles = run_titles(result.spec.runs)
    return {run.key: _NamedRun(run, sentence(titles[run.key])) for run in result.spec.runs}


def _pairs(before: Mapping[str, _NamedRun], after: Mapping[str, _NamedRun]) -> list[tuple[str, str]]:
    """Return the keys of the runs that are set side by side, in the order of the earlier ones."""
    if len(before) == len(after) == 1:
        return [(next(iter(before)), next(iter(after)))]
    pair_of: dict[str, str] = {}
    for is_same in (_NamedRun.has_title_of, _NamedRun.has_settings_of):
        for key, earlier in before.items():
            same = [
                other for other, later in after.items() if other not in pair_of.values() and is_same(earlier, later)
            ]
            if key not in pair_of and same:
                pair_of[key] = same[0]
    return [(key, pair_of[key]) for key in before if key in pair_of]


def _of_run(
    before: ExperimentResult, after: ExperimentResult, pair: tuple[str, str], measure: str, p: float
) -> RunDifference:
    """Compare a pair of runs, which are named by their keys."""
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
