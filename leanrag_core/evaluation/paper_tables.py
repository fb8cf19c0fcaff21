"""The paper's tables on one's own index: the experiment that each of them takes, and its cells from the result.

Tables 1 (scores), 2 (relations left out), 3 (source chunks left out) and 4 (win rates) are judged; Figure 3 (tokens of
contexts) is measured. Published figures are beside one's own, never among them: paper_tables.csv has Tables 1 to 4 of
the paper (LeanRAG, Zhang et al., AAAI-26, arXiv 2508.10391) as printed, and the ratio that its text gives with Figure
3. Table 4 has the win rate of LeanRAG against each system, in percent.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from leanrag_core.evaluation.judging.asking import SCORED
from leanrag_core.evaluation.judging.tables import mean_scores, win_rates
from leanrag_core.evaluation.statistics import Interval, mean_interval
from leanrag_core.evaluation.tables import questions_of, scores_of
from leanrag_core.types.config import require_choice
from leanrag_core.types.experiment import (
    ABSOLUTE,
    PAIRWISE,
    ExperimentResult,
    ExperimentSpec,
    JudgeSpec,
    Parameter,
    RunSpec,
)

SCORES, RELATIONS, CONTEXT, WIN_RATES, TOKENS = "scores", "relations", "context", "win-rates", "tokens"
TABLES = (SCORES, RELATIONS, CONTEXT, WIN_RATES, TOKENS)  # Tables 1 to 4, and Figure 3
DATASETS = ("Mix", "CS", "Legal", "Agriculture")
_FILE = Path(__file__).with_name("paper_tables.csv")


@dataclass(frozen=True)
class PublishedFigure:
    """A figure of a published table. spread: as the table gives it, None where it gives none. source: paper and
    table."""

    table: str
    dataset: str
    criterion: str
    system: str
    value: float
    spread: float | None = None
    source: str = ""


def published_figures(table: str, dataset: str = "") -> tuple[PublishedFigure, ...]:
    """Return the figures of a table, of one data set or of all, in the order of the paper."""
    with _FILE.open(encoding="utf-8", newline="") as file:
        figures = tuple(_figure(row) for row in csv.DictReader(file))
    return tuple(each for each in figures if each.table == table and dataset in ("", each.dataset))


def _figure(row: dict[str, str]) -> PublishedFigure:
    spread = float(row["spread"]) if row["spread"] else None
    value = float(row["value"])
    return PublishedFigure(row["table"], row["dataset"], row["criterion"], row["system"], value, spread, row["source"])


LEANRAG, NO_RELATIONS, NO_CHUNKS = "LeanRAG", "without relations", "without chunks"
SYSTEMS: Mapping[str, str] = {  # the paper's names, and our strategies; its GraphRAG is the local search
    LEANRAG: "leanrag",
    "HiRAG": "hirag",
    "NaiveRAG": "vector",
    "GraphRAG": "graphrag_local",
    "LightRAG": "lightrag",
    "FastGraphRAG": "fastgraphrag",
    "KAG": "kag",
}
FIGURE_3 = ("GraphRAG", "LightRAG", "HiRAG", "FastGraphRAG")  # those that its tokens are set against
RATIO = "ratio"  # LeanRAG's mean tokens over the mean of the others' means
_JUDGED = (SCORES, RELATIONS, CONTEXT, WIN_RATES)
_ABLATIONS: Mapping[str, tuple[str, Mapping[str, Parameter]]] = {
    RELATIONS: (NO_RELATIONS, {"inter_cluster": False}),
    CONTEXT: (NO_CHUNKS, {"source_chunks": False}),
}
_PERCENT = 100.0


@dataclass(frozen=True)
class PaperCell:
    """A figure of a table. own: from the experiment, None where it has none; p: that the pair does not differ, after
    Holm. published: as printed, by data set."""

    criterion: str
    system: str
    own: Interval | None
    published: Mapping[str, float]
    spread: float | None = None
    p: float | None = None


@dataclass(frozen=True)
class PaperTable:
    """A table made again. judge: whose judgements it shows, "" for what is measured. cells: by criterion, then system;
    win rates are LeanRAG's, in percent."""

    name: str
    judge: str
    cells: tuple[PaperCell, ...]


def paper_spec(
    table: str,
    index: str,
    question_set: str,
    *,
    judges: Sequence[JudgeSpec] = (),
    options: Mapping[str, Parameter] | None = None,
    title: str = "",
) -> ExperimentSpec:
    """Specify the experiment that makes the table on that index. judges: for the judged tables, each with the kind of
    judgement that the table takes. options: of LeanRAG, such as the data set's N and C. Raises InvalidConfig for an
    unknown table."""
    require_choice("table", table, TABLES)
    own = dict(options or {})
    leanrag = RunSpec(LEANRAG, index, SYSTEMS[LEANRAG], own)
    runs: tuple[RunSpec, ...]
    if table in _ABLATIONS:
        name, change = _ABLATIONS[table]
        runs = (leanrag, RunSpec(name, index, SYSTEMS[LEANRAG], {**own, **change}))
    else:
        others = FIGURE_3 if table == TOKENS else tuple(name for name in SYSTEMS if name != LEANRAG)
        runs = (leanrag, *(RunSpec(name, index, SYSTEMS[name]) for name in others))
    kind = ABSOLUTE if table in (SCORES, CONTEXT) else PAIRWISE
    pairs = tuple((LEANRAG, run.name) for run in runs[1:]) if kind == PAIRWISE else ()
    asked = tuple(replace(judge, kinds=(kind,), pairs=pairs) for judge in judges) if table in _JUDGED else ()
    return ExperimentSpec(
        title=title or f"Paper, {table}",
        question_set=question_set,
        runs=runs,
        baseline=LEANRAG,
        answers=table in _JUDGED,
        judges=asked,
    )


def paper_table(table: str, result: ExperimentResult) -> tuple[PaperTable, ...]:
    """Return the table from the experiment, one for each judge; with the published figures alone where nothing is
    judged.

    Runs are known by their names (paper_spec() gives them the paper's). Raises InvalidConfig for an unknown table.
    """
    require_choice("table", table, TABLES)
    if table == TOKENS:
        return (_tokens(result),)
    own = _own_scores(result) if table in (SCORES, CONTEXT) else _own_rates(result, table)
    return tuple(PaperTable(table, judge, cells_of(table, own.get(judge, ()), SCORED)) for judge in own or ("",))


_Own = Mapping[str, Sequence[PaperCell]]  # by judge


def _own_scores(result: ExperimentResult) -> _Own:
    own: dict[str, list[PaperCell]] = defaultdict(list)
    for each in mean_scores(result.judgements, ABSOLUTE, result.spec.seed):
        own[each.judge].append(PaperCell(each.criterion, each.run, each.mean, {}, each.spread))
    return own


def _own_rates(result: ExperimentResult, table: str) -> _Own:
    """Return LeanRAG's win rates in percent by the other system; in Table 2 those of both, which add up to 100."""
    own: dict[str, list[PaperCell]] = defaultdict(list)
    for each in win_rates(result.judgements, result.spec.seed):
        if LEANRAG not in (each.a, each.b) or each.win_rate is None:
            continue
        other = each.b if each.a == LEANRAG else each.a
        won = in_percent(each.win_rate, is_turned=each.a != LEANRAG)
        first = LEANRAG if table == RELATIONS else other
        own[each.judge].append(PaperCell(each.criterion, first, won, {}, p=each.p_holm))
        if table == RELATIONS:
            lost = in_percent(each.win_rate, is_turned=each.a == LEANRAG)
            own[each.judge].append(PaperCell(each.criterion, other, lost, {}, p=each.p_holm))
    return own


def in_percent(rate: Interval, *, is_turned: bool) -> Interval:
    """Return the win rate in percent. is_turned: that of the other run of the pair."""
    low, high = (None if bound is None else _PERCENT * bound for bound in (rate.low, rate.high))
    if not is_turned:
        return replace(rate, value=_PERCENT * rate.value, low=low, high=high)
    turned = [None if bound is None else _PERCENT - bound for bound in (high, low)]
    return replace(rate, value=_PERCENT - _PERCENT * rate.value, low=turned[0], high=turned[1])


def cells_of(table: str, own: Iterable[PaperCell], first_criteria: Sequence[str]) -> tuple[PaperCell, ...]:
    """Return the own and the published figures of a table: those criteria first, then the others in the order of the
    paper, then those that it does not have."""
    own_of = {(cell.criterion, cell.system): cell for cell in own}
    printed: dict[tuple[str, str], dict[str, float]] = {}
    for figure in published_figures(table):
        printed.setdefault((figure.criterion, figure.system), {})[figure.dataset] = figure.value
    keys = dict.fromkeys([*printed, *own_of])
    criteria = dict.fromkeys([*first_criteria, *(criterion for criterion, _ in keys)])
    return tuple(
        replace(own_of.get(key, PaperCell(*key, None, {})), published=printed.get(key, {}))
        for wanted in criteria
        for key in keys
        if key[0] == wanted
    )


def _tokens(result: ExperimentResult) -> PaperTable:
    """Return the mean tokens of each run, and the ratio of LeanRAG's to the mean of the others'."""
    tokens = scores_of(result, "context-tokens", questions_of(result))
    cells = [
        PaperCell("context-tokens", run, mean_interval(scores, result.spec.seed), {}) for run, scores in tokens.items()
    ]
    others = [scores for run, scores in tokens.items() if run in FIGURE_3]
    published = {figure.dataset: figure.value for figure in published_figures(TOKENS)}
    ratio = None
    if others and LEANRAG in tokens:
        ratio = _ratio(tokens[LEANRAG], others, result.spec.seed)
    cells.append(PaperCell(RATIO, LEANRAG, ratio, published))
    return PaperTable(TOKENS, "", tuple(cells))


def _ratio(ours: Sequence[float | None], others: Sequence[Sequence[float | None]], seed: int) -> Interval | None:
    """Divide our mean by the mean of the others, over the questions that all have. Its interval is that of our tokens
    in units of the others' mean."""
    complete = [
        (mine, [float(score) for score in theirs if score is not None])
        for mine, *theirs in zip(ours, *others, strict=True)
        if mine is not None and None not in theirs
    ]
    baseline = sum(sum(theirs) / len(theirs) for _, theirs in complete) / len(complete) if complete else 0.0
    return mean_interval([mine / baseline for mine, _ in complete], seed) if baseline else None
