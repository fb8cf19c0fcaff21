"""The paper's tables made again, as lines and as JSON values: own figures, and beside them the published ones."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from leanrag_core.types.visible import visible

if TYPE_CHECKING:
    from leanrag_core.evaluation.paper_tables import PaperCell, PaperTable

_CRITERION, _SYSTEM, _OWN = 20, 20, 26  # characters of columns


def print_paper_table(table: "PaperTable") -> None:
    """Print a line for each figure; published ones are said to be so."""
    print(f"{table.name}{f', judged by {visible(table.judge)}' if table.judge else ''}")
    for cell in table.cells:
        published = ", ".join(f"{dataset} {value:g}" for dataset, value in cell.published.items())
        beside = f"  published: {published}" if published else ""
        name = f"{visible(cell.criterion):<{_CRITERION}}{visible(cell.system):<{_SYSTEM}}"
        print(f"{name}{_own(cell):>{_OWN}}{beside}")


def _own(cell: "PaperCell") -> str:
    if cell.own is None:
        return "–"
    places = 0 if cell.own.value >= 1000 else 2
    if cell.own.low is None or cell.own.high is None:
        return f"{cell.own.value:,.{places}f}"
    return f"{cell.own.value:,.{places}f} [{cell.own.low:,.{places}f}, {cell.own.high:,.{places}f}]"


def paper_values(table: "PaperTable") -> dict[str, Any]:
    """Return the table as JSON values."""
    return asdict(table)
