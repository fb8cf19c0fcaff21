"""Columns of a comparison and runs of an experiment as a person writes them: NAME[:OPTION=VALUE,...][@DIR]."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leanrag_core.errors import InvalidConfig
from leanrag_core.retrieval.base import StrategyInfo, StrategyList, equal_budget
from leanrag_core.retrieval.settings import parsed_option

LETTERS = ("A", "B", "C", "D")
PRESET = "preset"  # an option of every column: the name of a preset, which its other options change


@dataclass(frozen=True)
class WrittenRun:
    """A strategy with options, and the index that it is to have, None for that of the command."""

    info: StrategyInfo
    options: Mapping[str, Any]
    index: Path | None = None


@dataclass(frozen=True)
class ColumnSpec(WrittenRun):
    """A column: a run, whose index is another directory than that of the command, under its letter."""

    letter: str = field(kw_only=True)


def column_specs(
    texts: Sequence[str], known: StrategyList, *, equal_tokens: int | None = None, least: int = 2
) -> tuple[ColumnSpec, ...]:
    """Parse `least` to four columns. equal_tokens: the budget that all of them get. Raises InvalidConfig."""
    if not least <= len(texts) <= len(LETTERS):
        raise InvalidConfig("comparison.number_of_columns", n=len(texts), most=len(LETTERS))
    written = (written_run(text, known, equal_tokens) for text in texts)
    return tuple(ColumnSpec(**vars(run), letter=letter) for letter, run in zip(LETTERS, written, strict=False))


def written_run(text: str, known: StrategyList, equal_tokens: int | None = None) -> WrittenRun:
    """Parse NAME[:OPTION=VALUE,...][@DIR]. equal_tokens: the budget that it gets. Raises InvalidConfig."""
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
    return WrittenRun(info, options, Path(index) if at else None)
