"""Tables of an experiment: means with intervals and letters, by kind of question, and differences of two runs."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, median

from leanrag_core.evaluation.base import LOWER, Mean, Outcome, Ratio
from leanrag_core.evaluation.measuring import measure_infos, measures
from leanrag_core.evaluation.run_titles import run_titles
from leanrag_core.evaluation.statistics import (
    Interval,
    compact_letters,
    differ,
    difference_interval,
    mean_interval,
    pair_tests,
)
from leanrag_core.messages.message import Message, message
from leanrag_core.types.experiment import ExperimentResult, RunSpec

_PLACES = 12  # of scores, so that the order of a sum decides no tie


def relative(scores: Sequence[float | None], baseline: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return scores whose mean is the mean over the baseline's, as in relative context tokens; see ratio_scores().

    None where either is unknown. Raises ValueError where the two differ in length.
    """
    return ratio_scores(Ratio(TOKENS, TOKENS, 1.0), scores, baseline)


def scores_for_mean(measure: str, scores: Callable[[str], Sequence[float | None]]) -> tuple[float | None, ...]:
    """Return the scores, question by question, whose mean is the figure of the measure. scores: of a measure, by its
    name.

    These are the measure's own scores, but where it declares a ratio: a mean of ratios would be decided by the question
    with the fewest tokens.
    """
    ratio = next((info.ratio for info in measure_infos() if info.name == measure), None)
    if ratio is None:
        return tuple(scores(measure))
    over, under = scores(ratio.over), scores(ratio.under)
    return ratio_scores(ratio, over, under) if over and under else ()


def ratio_scores(ratio: Ratio, over: Sequence[float | None], under: Sequence[float | None]) -> tuple[float | None, ...]:
    """Spread the ratio R of the means of over and under over the questions: R + (over - R under) / mean(under).

    Their mean is R, and the spread of their mean is that of R to first order, so that bootstraps and paired tests apply
    as to any score. None where either is unknown, and everywhere if the mean of under is 0.
    Source: Budylin et al., Consistent Transformation of Ratio Metrics (2018).
    """
    pairs = list(zip(over, under, strict=True))
    known = [(top, bottom) for top, bottom in pairs if top is not None and bottom is not None]
    mean_under = fmean(bottom for _, bottom in known) if known else 0.0
    if not mean_under:
        return (None,) * len(pairs)
    of_means = fmean(top for top, _ in known) / mean_under
    return tuple(
        None
        if top is None or bottom is None
        else round(ratio.scale * (of_means + (top - of_means * bottom) / mean_under), _PLACES)
        for top, bottom in pairs
    )


def means(outcomes: Sequence[Outcome], names: Collection[str] | None = None) -> tuple[Mean, ...]:
    """Return the mean of each measure over the outcomes. names: of the measures, None for all."""
    chosen = {measure.name: measure for measure in measures()}
    table = []
    for name, measure in chosen.items():
        if names is not None and name not in names:
            continue
        scores = scores_for_mean(
            name, lambda measure_name: [chosen[measure_name].score(outcome) for outcome in outcomes]
        )
        known = [score for score in scores if score is not None]
        table.append(Mean(name, measure.title, fmean(known) if known else None, len(known)))
    return tuple(table)


TOKENS, RECALL, RELATIVE = "context-tokens", "evidence-recall", "relative-context"
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
    """The runs of an experiment over the questions of a kind, "" for all."""

    kind: str
    measures: tuple[str, ...]
    rows: tuple[TableRow, ...]
    questions: int


@dataclass(frozen=True)
class KindDifference:
    """Run a minus run b over the questions of a kind that both have a score for. interval: None below two of these.
    p: that they are alike, corrected over all pairs of runs, as the letters of the table are."""

    kind: str
    interval: Interval | None
    p: float

    @property
    def is_told(self) -> bool:
        """Tell whether the two runs can be told apart; the letters say the same."""
        return self.interval is not None and differ(self.p)


def kinds_of(result: ExperimentResult) -> tuple[str, ...]:
    """Return the kinds of questions, in the order in which they come; without those that have none."""
    return tuple(dict.fromkeys(row.kind for row in result.rows if row.kind))


def questions_of(result: ExperimentResult, kind: str = "") -> tuple[str, ...]:
    """Return the questions of that kind, all for "", in the order of the rows."""
    return tuple(dict.fromkeys(row.question for row in result.rows if not kind or row.kind == kind))


def measured(result: ExperimentResult, *, only_main: bool = True) -> tuple[str, ...]:
    """Return the measures that the experiment has scores of, in the order of tables. Relative context is among them
    where there is a baseline."""
    scored = {name for row in result.rows for name, score in row.scores.items() if score is not None}
    names = [info.name for info in measure_infos() if info.name in scored and (info.is_main or not only_main)]
    if result.spec.baseline and TOKENS in names:
        names.insert(names.index(TOKENS) + 1, RELATIVE)
    return tuple(names)


def scores_of(
    result: ExperimentResult, measure: str, questions: Sequence[str]
) -> Mapping[str, tuple[float | None, ...]]:
    """Return for each run the scores of these questions whose mean is the run's figure (see scores_for_mean), None
    where there is none."""
    if measure == RELATIVE:
        tokens = scores_of(result, TOKENS, questions)
        baseline = tokens.get(result.spec.baseline, (None,) * len(questions))
        return {run: relative(scores, baseline) for run, scores in tokens.items()}
    rows = {(row.run, row.question): row.scores for row in result.rows}

    def of_run(run: str, name: str) -> tuple[float | None, ...]:
        return tuple(rows.get((run, question), {}).get(name) for question in questions)

    return {run.key: scores_for_mean(measure, partial(of_run, run.key)) for run in result.spec.runs}


def score_table(result: ExperimentResult, kind: str = "", measures: Sequence[str] = ()) -> ScoreTable:
    """Return the score table. measures: its columns, the main ones by default."""
    columns, questions = tuple(measures) or measured(result), questions_of(result, kind)
    cells: dict[str, Mapping[str, Cell]] = {}
    for measure in columns:
        scores = scores_of(result, measure, questions)
        cells[measure] = _cells(scores, less_is_better(measure), result.spec.seed)
    asked = set(questions)
    rows = tuple(_row(result, run, {name: cells[name][run.key] for name in columns}, asked) for run in result.spec.runs)
    return ScoreTable(kind, columns, rows, len(questions))


def less_is_better(measure: str) -> bool:
    """Return whether the lower mean of the measure is the better one."""
    return measure == RELATIVE or any(info.name == measure and info.better == LOWER for info in measure_infos())


def _cells(scores: Mapping[str, Sequence[float | None]], less: bool, seed: int) -> Mapping[str, Cell]:
    """Return the cells of a column. less: whether the lowest mean is the best."""
    names = list(scores)
    intervals = [mean_interval(scores[name], seed) for name in names]
    signed_means = [None if each is None else (-each.value if less else each.value) for each in intervals]
    known = [mean for mean in signed_means if mean is not None]
    some_differ = bool(known) and max(known) - min(known) > _EQUAL
    p_values = pair_tests(scores)
    matrix = [[p_values.get((a, b), p_values.get((b, a), 1.0)) for b in names] for a in names]
    letters = compact_letters(names, matrix, signed_means) if len(known) > 1 else dict.fromkeys(names, "")
    return {
        name: Cell(interval, letters[name], some_differ and mean is not None and mean >= max(known) - _EQUAL)
        for name, interval, mean in zip(names, intervals, signed_means, strict=True)
    }


def pays(
    result: ExperimentResult, runs: Sequence[str], against: str, measure: str = RECALL
) -> Mapping[str, tuple[KindDifference, ...]]:
    """Compare each of these runs with the run `against`: the paired difference for each kind of question, all questions
    first."""
    differences: dict[str, list[KindDifference]] = {run: [] for run in runs}
    for kind in ("", *kinds_of(result)):
        scores = scores_of(result, measure, questions_of(result, kind))
        p_values = pair_tests(scores)
        for run, listed in differences.items():
            interval = difference_interval(scores[run], scores[against], result.spec.seed)
            enough = interval is not None and interval.n > 1
            p = p_values.get((run, against), p_values.get((against, run), 1.0))
            listed.append(KindDifference(kind, interval if enough else None, p))
    return {run: tuple(listed) for run, listed in differences.items()}


def _row(result: ExperimentResult, run: RunSpec, cells: Mapping[str, Cell], asked: set[str]) -> TableRow:
    rows = [row for row in result.rows if row.run == run.key and row.question in asked]
    failed = {row.question for row in rows if row.error}
    costs = [cost for cost in result.costs if cost.run == run.key and cost.question in asked - failed]
    paid = [cost.cost for cost in costs if cost.cost is not None]
    times = [cost.retrieval_ms for cost in costs]
    return TableRow(run, cells, median(times) if times else None, sum(paid) if paid else None, len(failed))


# What an experiment records of its inputs beside their digests.
FROM_GRAPH = "questions generated from"  # the index whose graph they were made from
CORPUS_TOKENS = "tokens"  # and the name of an index: of the texts of its documents
_HALF = 0.5


def grounds(result: ExperimentResult, runs: Sequence[str], measure: str, kind: str = "") -> tuple[Message, ...]:
    """Say what a reader has to know of these runs compared by the measure, over the questions of a kind, "" for all."""
    questions = questions_of(result, kind)
    scores = scores_of(result, measure, questions)
    columns = {run: scores[run] for run in runs}
    remarks = []
    if result.versions.get(FROM_GRAPH):
        remarks.append(message("grounds.from_graph"))
    remarks += large_contexts(result, runs, questions)
    without = sum(not any(score is not None for score in row) for row in zip(*columns.values(), strict=True))
    if without:
        remarks.append(message("grounds.without_gold", n=without, all=len(questions)))
    if len(runs) > 1 and _is_level(columns, len(questions) - without):
        remarks.append(message("grounds.level"))
    return tuple(remarks)


def large_contexts(result: ExperimentResult, runs: Sequence[str], questions: Sequence[str]) -> list[Message]:
    """Say for each run whose mean context is larger than half of its corpus how large it is."""
    index_of, remarks = {run.key: run.index for run in result.spec.runs}, []
    titles = run_titles(result.spec.runs)
    tokens = scores_of(result, TOKENS, questions)
    for run in runs:
        known = [value for value in tokens[run] if value is not None]
        corpus = int(result.versions.get(f"{CORPUS_TOKENS} {index_of[run]}", "0"))
        if known and corpus and fmean(known) > _HALF * corpus:
            code = "grounds.whole_corpus" if fmean(known) >= corpus else "grounds.half_corpus"
            remarks.append(message(code, run=titles[run], tokens=round(fmean(known)), corpus=corpus))
    return remarks


def _is_level(columns: Mapping[str, Sequence[float | None]], n_scored: int) -> bool:
    """Return whether every question that has a score has the same with all runs."""
    rows = [[score for score in row if score is not None] for row in zip(*columns.values(), strict=True)]
    alike = [row for row in rows if len(row) == len(columns)]
    return 0 < n_scored == len(alike) and all(max(row) - min(row) <= _EQUAL for row in alike)
