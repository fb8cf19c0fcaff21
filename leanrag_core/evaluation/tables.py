"""Tables of an experiment: means with intervals and letters, by kind of question, and differences of two runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from leanrag_core.evaluation.base import LOWER, measure_infos
from leanrag_core.evaluation.relative import relative
from leanrag_core.evaluation.statistics.intervals import Interval, difference_interval, mean_interval
from leanrag_core.evaluation.statistics.letters import compact_letters
from leanrag_core.evaluation.statistics.rank_tests import holm, paired_test
from leanrag_core.types.experiment import ExperimentResult, QuestionRow, RunSpec

TOKENS, RECALL, RELATIVE, RECALL_PER_1000 = "context-tokens", "evidence-recall", "relative-context", "recall-per-1000"
_EQUAL = 1e-9  # means that differ by less are equal


@dataclass(frozen=True)
class Cell:
    """A mean with its interval. interval: None where nothing is measured. letters: runs of the column that share one
    cannot be told apart. is_best: no mean of the column is better, and some are worse."""

    interval: Interval | None
    letters: str = ""
    is_best: bool = False


@dataclass(frozen=True)
class TableRow:
    """A run with its cells, by measure. latency_ms: median of the retrievals. cost: of all its calls, None where no
    model was paid. errors: questions that failed."""

    run: RunSpec
    cells: Mapping[str, Cell]
    latency_ms: float | None
    cost: float | None
    errors: int


@dataclass(frozen=True)
class ScoreTable:
    """The runs of an experiment over the questions of a kind, "" for all. p_values: of each pair of runs (a before b in
    the experiment) by measure, corrected after Holm over the pairs of the measure."""

    kind: str
    measures: tuple[str, ...]
    rows: tuple[TableRow, ...]
    questions: int
    p_values: Mapping[str, Mapping[tuple[str, str], float]]


@dataclass(frozen=True)
class KindDifference:
    """Run a minus run b over the questions of a kind that both have a score for. interval: None below two of these."""

    kind: str
    interval: Interval | None
    p: float


def kinds_of(result: ExperimentResult) -> tuple[str, ...]:
    """The kinds of questions, in the order in which they come; without those that have none."""
    return tuple(dict.fromkeys(row.kind for row in result.rows if row.kind))


def questions_of(result: ExperimentResult, kind: str = "") -> tuple[str, ...]:
    """The questions of that kind, all for "", in the order of the rows."""
    return tuple(dict.fromkeys(row.question for row in result.rows if not kind or row.kind == kind))


def measured(result: ExperimentResult, *, only_main: bool = True) -> tuple[str, ...]:
    """The measures that the experiment has scores of, in the order of tables. Relative context is among them where
    there is a baseline."""
    have = {name for row in result.rows for name, score in row.scores.items() if score is not None}
    names = [info.name for info in measure_infos() if info.name in have and (info.is_main or not only_main)]
    if result.spec.baseline and TOKENS in names:
        names.insert(names.index(TOKENS) + 1, RELATIVE)
    return tuple(names)


def scores_of(
    result: ExperimentResult, measure: str, questions: Sequence[str]
) -> Mapping[str, tuple[float | None, ...]]:
    """Of each run the scores of these questions, None where there is none."""
    if measure == RELATIVE:
        tokens = scores_of(result, TOKENS, questions)
        baseline = tokens.get(result.spec.baseline, (None,) * len(questions))
        return {run: relative(scores, baseline) for run, scores in tokens.items()}
    scores = {(row.run, row.question): row.scores.get(measure) for row in result.rows}
    return {run.name: tuple(scores.get((run.name, question)) for question in questions) for run in result.spec.runs}


def score_table(result: ExperimentResult, kind: str = "", measures: Sequence[str] = ()) -> ScoreTable:
    """The table. measures: its columns, the main ones by default."""
    columns, questions = tuple(measures) or measured(result), questions_of(result, kind)
    cells: dict[str, Mapping[str, Cell]] = {}
    p_values: dict[str, Mapping[tuple[str, str], float]] = {}
    for measure in columns:
        scores = scores_of(result, measure, questions)
        p_values[measure] = pair_tests(scores)
        cells[measure] = cells_of(scores, p_values[measure], less_is_better(measure), result.spec.seed)
    asked = set(questions)
    rows = tuple(
        _row(result, run, {name: cells[name][run.name] for name in columns}, asked) for run in result.spec.runs
    )
    return ScoreTable(kind, columns, rows, len(questions), p_values)


def less_is_better(measure: str) -> bool:
    """Whether the lower mean of the measure is the better one."""
    return measure == RELATIVE or any(info.name == measure and info.better == LOWER for info in measure_infos())


def pair_tests(scores: Mapping[str, Sequence[float | None]]) -> Mapping[tuple[str, str], float]:
    """Of each pair of runs the p of the paired rank test, corrected over all pairs after Holm."""
    names = list(scores)
    pairs = [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
    return dict(zip(pairs, holm([paired_test(scores[a], scores[b]) for a, b in pairs]), strict=True))


def cells_of(
    scores: Mapping[str, Sequence[float | None]], p_values: Mapping[tuple[str, str], float], less: bool, seed: int
) -> Mapping[str, Cell]:
    """The cells of a column. less: whether the lowest mean is the best."""
    names = list(scores)
    intervals = [mean_interval(scores[name], seed) for name in names]
    means = [None if each is None else (-each.value if less else each.value) for each in intervals]
    known = [mean for mean in means if mean is not None]
    differ = bool(known) and max(known) - min(known) > _EQUAL
    matrix = [[p_values.get((a, b), p_values.get((b, a), 1.0)) for b in names] for a in names]
    letters = compact_letters(names, matrix, means) if len(known) > 1 else dict.fromkeys(names, "")
    return {
        name: Cell(interval, letters[name], differ and mean is not None and mean >= max(known) - _EQUAL)
        for name, interval, mean in zip(names, intervals, means, strict=True)
    }


def pays(result: ExperimentResult, a: str, b: str, measure: str = RECALL) -> tuple[KindDifference, ...]:
    """When run a pays beside run b: the paired difference for each kind of question, those of all questions first.

    p: of the rank test, corrected over the kinds after Holm.
    """
    differences = []
    for kind in ("", *kinds_of(result)):
        scores = scores_of(result, measure, questions_of(result, kind))
        interval = difference_interval(scores[a], scores[b], result.spec.seed)
        enough = interval is not None and interval.n > 1
        differences.append((kind, interval if enough else None, paired_test(scores[a], scores[b])))
    by_kind = holm([p for _, _, p in differences[1:]])
    return tuple(
        KindDifference(kind, interval, p)
        for (kind, interval, _), p in zip(differences, (differences[0][2], *by_kind), strict=True)
    )


def _row(result: ExperimentResult, run: RunSpec, cells: Mapping[str, Cell], asked: set[str]) -> TableRow:
    rows = [row for row in result.rows if row.run == run.name and row.question in asked]
    failed = {row.question for row in rows if row.error}
    costs = [cost for cost in result.costs if cost.run == run.name and cost.question in asked - failed]
    paid = [cost.cost for cost in costs if cost.cost is not None]
    times = [cost.retrieval_ms for cost in costs]
    return TableRow(run, cells, median(times) if times else None, sum(paid) if paid else None, len(failed))


def mean_of(rows: Sequence[QuestionRow], measure: str) -> float | None:
    """The mean of the rows that have a score; None where none has."""
    known = [score for row in rows if (score := row.scores.get(measure)) is not None]
    return fmean(known) if known else None
