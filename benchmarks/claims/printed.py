"""Claims that a paper's text makes of its printed tables; the tables come with the program, so nothing is fetched."""

import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.claims.manifest import FOLDER
from benchmarks.claims.measures import Arguments, Files, Found
from leanrag_core.evaluation.paper_tables import PublishedFigure, published_figures
from leanrag_core.evaluation.statistics import ALPHA, holm

_TABLE_6 = FOLDER / "graphrag_table6.csv"
_EVEN = 50.0
_PERCENT = 100.0
_VECTOR, _SOURCES = "SS", "TS"  # GraphRAG's names for vector search and for source texts without a graph
_QUESTIONS = {
    "LeanRAG": {"Mix": 130, "CS": 100, "Legal": 100, "Agriculture": 100},
    "LightRAG": defaultdict(lambda: 125),
}


def cells_ahead(_files: Files, arguments: Arguments) -> Found:
    """Return how many win rates are above 50 %."""
    figures = _figures(arguments)
    return Found(sum(figure.value > _EVEN for figure in figures), n=len(figures))


def cells_told(_files: Files, arguments: Arguments) -> Found:
    """Return how many win rates the number of questions tells from 50 %: those whose Wilson interval lies above it.

    Repeats and orders of a question are no questions of their own, so the interval is that of one verdict a question.
    """
    from statsmodels.stats.proportion import proportion_confint

    figures = _figures(arguments)
    n_told = 0
    for figure in figures:
        n = _QUESTIONS[figure.source.split(",")[0]][figure.dataset]
        low, _ = proportion_confint(figure.value / _PERCENT * n, n, method="wilson")
        n_told += _PERCENT * float(low) > _EVEN
    return Found(n_told, n=len(figures))


def cells_outside(_files: Files, arguments: Arguments) -> Found:
    """Return how many figures lie outside of the two bounds."""
    figures = _figures(arguments)
    low, high = float(arguments["low"]), float(arguments["high"])
    return Found(sum(not low <= figure.value <= high for figure in figures), n=len(figures))


def lowest(_files: Files, arguments: Arguments) -> Found:
    """Return the smallest figure."""
    figures = _figures(arguments)
    return Found(min(figure.value for figure in figures), n=len(figures))


def cells_best(_files: Files, arguments: Arguments) -> Found:
    """Return in how many cells no other system has as high a figure."""
    cells: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for figure in _figures({"table": arguments["table"]}):
        cells[figure.dataset, figure.criterion][figure.system] = figure.value
    own = arguments["system"]
    best = sum(all(value < cell[own] for name, value in cell.items() if name != own) for cell in cells.values())
    return Found(best, n=len(cells))


def not_falling(_files: Files, arguments: Arguments) -> Found:
    """Return on how many data sets the score of LeanRAG is not higher than without source chunks."""
    pairs = _pairs("context", arguments["criterion"])
    return Found(sum(first <= second for first, second in pairs), n=len(pairs))


def pairs_not_100(_files: Files, arguments: Arguments) -> Found:
    """Return how many pairs of win rates do not add up to 100 %, the tolerance aside."""
    pairs = _pairs(arguments["table"])
    return Found(
        sum(abs(first + second - _PERCENT) > float(arguments["tolerance"]) for first, second in pairs), n=len(pairs)
    )


def _pairs(table: str, criterion: str = "") -> Sequence[tuple[float, float]]:
    """Return the two figures of each cell of an ablation."""
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    for figure in published_figures(table):
        if criterion in ("", figure.criterion):
            cells[figure.dataset, figure.criterion].append(figure.value)
    return [(first, second) for first, second in cells.values()]


def _figures(arguments: Arguments) -> Sequence[PublishedFigure]:
    """Return the figures of the table, of some systems and data sets where these are named."""
    systems = arguments.get("systems", arguments.get("system", ""))
    wanted = {"system": set(filter(None, systems.split(",")))}
    wanted["dataset"] = set(filter(None, arguments.get("datasets", "").split(",")))
    return [
        figure
        for figure in published_figures(arguments["table"])
        if all(not names or getattr(figure, field) in names for field, names in wanted.items())
    ]


@dataclass(frozen=True)
class _Test:
    """A row of GraphRAG's Table 6."""

    dataset: str
    criterion: str
    first: str
    second: str
    mean_first: float
    z: float
    p: str


def _tests() -> Sequence[_Test]:
    with _TABLE_6.open(encoding="utf-8", newline="") as file:
        return [
            _Test(
                row["dataset"],
                row["criterion"],
                row["first"],
                row["second"],
                float(row["mean_first"]),
                float(row["z"]),
                row["p"],
            )
            for row in csv.DictReader(file)
        ]


def against(_files: Files, arguments: Arguments) -> Found:
    """Return the lowest or highest win rate of an approach against vector search."""
    rates = [
        test.mean_first
        for test in _tests()
        if test.second == _VECTOR and (test.dataset, test.criterion) == (arguments["dataset"], arguments["criterion"])
    ]
    return Found(_end(rates, arguments), n=len(rates))


def holm_disagreements(_files: Files, _arguments: Arguments) -> Found:
    """Return how many tests are significant by the printed p alone or by the corrected p of the printed z alone."""
    from scipy.stats import norm

    families: dict[tuple[str, str], list[_Test]] = defaultdict(list)
    for test in _tests():
        families[test.dataset, test.criterion].append(test)
    n = 0
    for family in families.values():
        corrected = holm([2 * float(norm.sf(abs(test.z))) for test in family])
        n += sum((p < ALPHA) != (_p(test.p) < ALPHA) for p, test in zip(corrected, family, strict=True))
    return Found(n, n=sum(len(family) for family in families.values()))


def _p(printed: str) -> float:
    """Return a printed p; "<0.001" as just below it."""
    return float(printed.removeprefix("<")) * (0.999 if printed.startswith("<") else 1.0)


def tokens_saved(_files: Files, arguments: Arguments) -> Found:
    """Return the percent of the source texts' tokens that the communities spare."""
    shares = [_PERCENT * (1 - own / sources) for own, sources in _token_pairs(arguments["system"])]
    return Found(_end(shares, arguments), n=len(shares))


def times_tokens(_files: Files, arguments: Arguments) -> Found:
    """Return how many times the communities' tokens the source texts have."""
    times = [sources / own for own, sources in _token_pairs(arguments["system"])]
    return Found(_end(times, arguments), n=len(times))


def _token_pairs(system: str) -> Sequence[tuple[float, float]]:
    tokens: Mapping[str, dict[str, float]] = defaultdict(dict)
    for figure in published_figures("graphrag-tokens"):
        tokens[figure.dataset][figure.system] = figure.value
    return [(each[system], each[_SOURCES]) for each in tokens.values()]


def _end(values: Sequence[float], arguments: Arguments) -> float:
    return {"lowest": min, "highest": max}[arguments["end"]](values)


MEASURES = {
    "cells-ahead": cells_ahead,
    "cells-told": cells_told,
    "cells-outside": cells_outside,
    "lowest": lowest,
    "cells-best": cells_best,
    "not-falling": not_falling,
    "pairs-not-100": pairs_not_100,
    "against": against,
    "holm-disagreements": holm_disagreements,
    "tokens-saved": tokens_saved,
    "times-tokens": times_tokens,
}
