"""Published figures, to be laid beside one's own and marked as published.

leanrag.csv: Tables 1 to 4 of the paper (LeanRAG, Zhang et al., AAAI-26, arXiv 2508.10391) as printed, and the ratio
that its text gives with Figure 3. Table 4 has the win rate of LeanRAG against each system, in percent.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

SCORES, RELATIONS, CONTEXT, WIN_RATES, TOKENS = "scores", "relations", "context", "win-rates", "tokens"
TABLES = (SCORES, RELATIONS, CONTEXT, WIN_RATES, TOKENS)  # Tables 1 to 4, and Figure 3
DATASETS = ("Mix", "CS", "Legal", "Agriculture")
_FILE = Path(__file__).with_name("leanrag.csv")


@dataclass(frozen=True)
class PublishedFigure:
    """A figure of a published table. spread: as the table gives it, None where it gives none."""

    table: str
    dataset: str
    criterion: str
    system: str
    value: float
    spread: float | None = None


def published_figures(table: str, dataset: str = "") -> tuple[PublishedFigure, ...]:
    """Return the figures of a table, of one data set or of all, in the order of the paper."""
    with _FILE.open(encoding="utf-8", newline="") as file:
        figures = tuple(_figure(row) for row in csv.DictReader(file))
    return tuple(each for each in figures if each.table == table and dataset in ("", each.dataset))


def _figure(row: dict[str, str]) -> PublishedFigure:
    spread = float(row["spread"]) if row["spread"] else None
    return PublishedFigure(row["table"], row["dataset"], row["criterion"], row["system"], float(row["value"]), spread)
