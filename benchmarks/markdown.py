"""Tables in Markdown."""

from collections.abc import Iterable, Sequence


def markdown(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """The lines as a Markdown table, figures to the right."""
    rule = "|".join(["---", *["---:"] * (len(heads) - 1)])
    return "\n".join([f"| {' | '.join(heads)} |", f"|{rule}|", *(f"| {' | '.join(line)} |" for line in lines)])
