"""Columns of a comparison as a person writes them on a command line: NAME[:OPTION=VALUE,...][@DIR]."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leanrag_core.errors import InvalidConfig
from leanrag_core.retrieval.base import StrategyInfo, StrategyList, equal_budget
from leanrag_core.retrieval.settings import parsed_option

LETTERS = ("A", "B", "C", "D")
PRESET = "preset"  # an option of every column: the name of a preset, which its other options change


@dataclass(frozen=True)
class ColumnSpec:
    """A column: its letter, its strategy and options. index: another directory than that of the command."""

    letter: str
    info: StrategyInfo
    options: Mapping[str, Any]
    index: Path | None = None


def column_specs(
    texts: Sequence[str], known: StrategyList, *, equal_tokens: int | None = None, least: int = 2
) -> tuple[ColumnSpec, ...]:
    """Parse `least` to four columns. equal_tokens: the budget that all of them get. Raises InvalidConfig."""
    if not least <= len(texts) <= len(LETTERS):
        raise InvalidConfig("comparison.number_of_columns", n=len(texts), most=len(LETTERS))
    return tuple(_spec(letter, text, known, equal_tokens) for letter, text in zip(LETTERS, texts, strict=False))


def _spec(letter: str, text: str, known: StrategyList, equal_tokens: int | None) -> ColumnSpec:
    settings, at, index = text.partition("@")
    name, _, listed = settings.partition(":")
    info = known.named(name.strip().replace("-", "_"))
    options: dict[str, Any] = {}
    for pair in filter(None, listed.split(",")):
        option, separator, value = pair.partition("=")
        if not separator:
            raise InvalidConfig("command.option_without_value", option=pair)
        options[option.strip().replace("-", "_")] = parsed_option(value.strip())
    if PRESET in options:
        options = {**info.preset(str(options.pop(PRESET))).options, **options}
    if equal_tokens is not None:
        options |= equal_budget(info, equal_tokens)
    return ColumnSpec(letter, info, options, Path(index) if at else None)
