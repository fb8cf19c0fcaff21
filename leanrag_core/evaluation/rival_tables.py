"""Tables that the papers of GraphRAG and LightRAG print, made again on one's own index and questions.

GraphRAG (Edge et al., arXiv 2404.16130): win rates of its community levels, of map-reduce over the source texts (TS)
and of vector search (SS) (Figure 2, Table 6), and its study of context windows (appendix C), which found 8k best.
LightRAG (Guo et al., arXiv 2410.05779): win rates (Table 1), ablations against naive RAG (Table 2), tokens and calls of
retrieval (its second figure). The published figures are in paper_tables.csv, beside one's own as in paper_tables.py.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.judging.asking import COMPARED
from leanrag_core.evaluation.judging.tables import WinRate, win_rates
from leanrag_core.evaluation.paper_tables import PaperCell, PaperTable, cells_of, in_percent, published_figures
from leanrag_core.evaluation.statistics import Interval, mean_interval
from leanrag_core.evaluation.tables import questions_of, scores_of
from leanrag_core.retrieval.base import strategies
from leanrag_core.types.experiment import PAIRWISE, ExperimentResult, ExperimentSpec, JudgeSpec, Parameter, RunSpec

WINDOW, LEVEL_RATES = "graphrag-window", "graphrag-win-rates"
LIGHT_RATES, ABLATIONS, COST = "lightrag-win-rates", "lightrag-ablations", "lightrag-cost"
RIVAL_TABLES = (WINDOW, LEVEL_RATES, LIGHT_RATES, ABLATIONS, COST)

_NAIVE, _LIGHT, _GRAPH = "NaiveRAG", "LightRAG", "GraphRAG"
_WINDOWS = {"8k": 8_000, "16k": 16_000, "32k": 32_000, "64k": 64_000}
_SMALLEST = "8k"
_MEAN_OF_WINDOWS = "8k against 16k, 32k and 64k"
_LEVELS = ("C0", "C1", "C2", "C3")
_VECTOR, _TEXTS = "SS", "TS"  # GraphRAG's names for naive vector search, and for map-reduce over the source texts
_MOST_PASSAGES = 50  # of vector search, so that the window ends a context and not the number of passages
_GRAPHRAG_WINDOW = 8_000
_TOKENS, _CALLS, _CONTEXT = "tokens", "calls", "context-tokens"

Options = Mapping[str, Parameter]


@dataclass(frozen=True)
class _Pair:
    """Two runs whose answers are compared. label: what the table calls the win rate of the first."""

    first: str
    second: str
    label: str


@dataclass(frozen=True)
class _Design:
    """The runs of a table, by name their strategy and options, and the pairs of them."""

    runs: Mapping[str, tuple[str, Options]]
    pairs: tuple[_Pair, ...] = ()


def _design(table: str) -> _Design:
    if table == WINDOW:
        runs = {name: _vector(tokens) for name, tokens in _WINDOWS.items()}
        others = [name for name in _WINDOWS if name != _SMALLEST]
        return _Design(runs, tuple(_Pair(_SMALLEST, name, f"{_SMALLEST} against {name}") for name in others))
    if table == LEVEL_RATES:
        levels = {level: ("graphrag_global", {**_paper("graphrag_global"), "level": level}) for level in _LEVELS}
        names = [(figure.system, *figure.system.split(" against ")) for figure in published_figures(LEVEL_RATES)]
        without_graph: dict[str, tuple[str, Options]] = {
            _VECTOR: _vector(_GRAPHRAG_WINDOW),
            _TEXTS: ("graphrag_ts", _paper("graphrag_ts")),
        }
        known = {*_LEVELS, *without_graph}
        pairs = [_Pair(a, b, label) for label, a, b in dict.fromkeys(names) if {a, b} <= known]
        return _Design({**without_graph, **levels}, tuple(pairs))
    light = _paper("lightrag")
    naive: tuple[str, Options] = ("vector", {})
    if table == LIGHT_RATES:
        others_of: dict[str, tuple[str, Options]] = {
            _NAIVE: naive,
            "RQ-RAG": ("rq_rag", {}),
            "HyDE": ("hyde", {}),
            _GRAPH: ("graphrag_global", _paper("graphrag_global")),
        }
        return _Design(
            {_LIGHT: ("lightrag", light), **others_of}, tuple(_Pair(_LIGHT, name, name) for name in others_of)
        )
    if table == ABLATIONS:
        variants: dict[str, tuple[str, Options]] = {
            _LIGHT: ("lightrag", light),
            "-High": ("lightrag", {**light, "mode": "low"}),
            "-Low": ("lightrag", {**light, "mode": "high"}),
            "-Origin": ("lightrag", {**light, "chunk_tokens": 0, "top_c": 0}),
        }
        return _Design({_NAIVE: naive, **variants}, tuple(_Pair(name, _NAIVE, name) for name in variants))
    if table == COST:
        return _Design({_LIGHT: ("lightrag", light), _GRAPH: ("graphrag_global", _paper("graphrag_global"))})
    raise InvalidConfig("option.not_a_choice", option="table", value=table, choices=", ".join(RIVAL_TABLES))


def _vector(max_tokens: int) -> tuple[str, Options]:
    return "vector", {"top_c": _MOST_PASSAGES, "least_cosine": 0.0, "max_tokens": max_tokens}


def _paper(strategy: str) -> Options:
    """Return the options of a strategy as its paper has them."""
    return next(preset.options for preset in strategies().named(strategy).presets if preset.name == "paper")


def rival_spec(
    table: str, index: str, question_set: str, *, judges: Sequence[JudgeSpec] = (), title: str = ""
) -> ExperimentSpec:
    """Specify the experiment that makes the table on that index. Raises InvalidConfig for an unknown table."""
    design = _design(table)
    pairs = tuple((pair.first, pair.second) for pair in design.pairs)
    return ExperimentSpec(
        title=title or f"Paper, {table}",
        question_set=question_set,
        runs=tuple(RunSpec(name, index, strategy, dict(options)) for name, (strategy, options) in design.runs.items()),
        baseline=next(iter(design.runs)),
        judges=tuple(replace(judge, kinds=(PAIRWISE,), pairs=pairs) for judge in judges) if pairs else (),
    )


def rival_table(table: str, result: ExperimentResult) -> tuple[PaperTable, ...]:
    """Return the table from the experiment, one for each judge; with the published figures alone where nothing is
    judged. Win rates are in percent, of the first run of each pair. Raises InvalidConfig for an unknown table."""
    design = _design(table)
    if table == COST:
        return (PaperTable(table, "", cells_of(table, _costs(result), COMPARED)),)
    rates = win_rates(result.judgements, result.spec.seed)
    contexts = _contexts(result) if table == WINDOW else []
    judges = tuple(dict.fromkeys(rate.judge for rate in rates)) or ("",)
    own = {judge: [*_own_rates(table, design, rates, judge, result), *contexts] for judge in judges}
    return tuple(PaperTable(table, judge, cells_of(table, cells, COMPARED)) for judge, cells in own.items())


def _own_rates(
    table: str, design: _Design, rates: Sequence[WinRate], judge: str, result: ExperimentResult
) -> list[PaperCell]:
    pair_of = {frozenset((pair.first, pair.second)): pair for pair in design.pairs}
    own: list[PaperCell] = []
    by_question: dict[str, list[Mapping[str, float]]] = defaultdict(list)
    for rate in rates:
        pair = pair_of.get(frozenset((rate.a, rate.b)))
        if rate.judge != judge or pair is None or rate.win_rate is None:
            continue
        is_turned = rate.a != pair.first
        won = in_percent(rate.win_rate, is_turned=is_turned)
        own.append(PaperCell(rate.criterion, pair.label, won, {}, p=rate.p_holm))
        by_question[rate.criterion].append(
            {question: 1 - score if is_turned else score for question, score in rate.by_question.items()}
        )
    if table == WINDOW:
        for criterion, scores in by_question.items():
            mean = _mean_over_pairs(scores, result.spec.seed)
            own.append(PaperCell(criterion, _MEAN_OF_WINDOWS, mean, {}))
    return own


def _mean_over_pairs(scores: Sequence[Mapping[str, float]], seed: int) -> Interval | None:
    """Return the mean win rate over the pairs in percent, with an interval over the questions that all of them have."""
    questions = [question for question in scores[0] if all(question in each for each in scores)]
    interval = mean_interval([fmean(each[question] for each in scores) for question in questions], seed)
    return None if interval is None else in_percent(interval, is_turned=False)


def _contexts(result: ExperimentResult) -> list[PaperCell]:
    """Return the mean tokens of each run's contexts: whether its window was filled at all."""
    tokens = scores_of(result, _CONTEXT, questions_of(result))
    return [PaperCell(_CONTEXT, run, mean_interval(scores, result.spec.seed), {}) for run, scores in tokens.items()]


def _costs(result: ExperimentResult) -> list[PaperCell]:
    """Return the mean tokens and calls that models were paid for, a question, the answer included."""
    own: list[PaperCell] = []
    for run in dict.fromkeys(cost.run for cost in result.costs):
        costs = [cost for cost in result.costs if cost.run == run]
        figures = {
            _TOKENS: [float(cost.prompt_tokens + cost.completion_tokens) for cost in costs],
            _CALLS: [float(cost.calls) for cost in costs],
        }
        for criterion, values in figures.items():
            own.append(PaperCell(criterion, run, mean_interval(values, result.spec.seed), {}))
    return own
