"""What every strategy takes and gives, and how strategies are found: one file each in strategies/."""

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np

from leanrag_core.errors import InvalidConfig
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace

MAX_QUESTION = 4_000  # characters: the page's address holds the question, at up to nine bytes for each


def require_question(text: str) -> None:
    """Nothing, or InvalidConfig for a question that is empty, too long, or no text."""
    if not text.strip():
        raise InvalidConfig("the question is empty: write one")
    if any("\ud800" <= sign <= "\udfff" for sign in text):  # so a command line is given bytes of another encoding
        raise InvalidConfig("the question holds bytes that are no UTF-8: write it in a terminal that uses UTF-8")
    if len(text) > MAX_QUESTION:
        raise InvalidConfig(
            f"the question has {len(text):,} characters, the limit is {MAX_QUESTION:,}: shorten it, and add long texts "
            "as documents"
        )


@dataclass(frozen=True, eq=False)
class Query:
    """A question and its embedding. vector: (d,) float32, unit length."""

    text: str
    vector: np.ndarray

    def __post_init__(self) -> None:
        require_question(self.text)


class Strategy(Protocol):
    """Finds evidence for a question in an index; its module also has `Config`, a dataclass of options."""

    name: str
    title: str
    help: str

    def __init__(self, config: Any) -> None: ...

    def retrieve(self, query: Query, index: Index, searches: SearchStore | None = None) -> Trace:
        """All that was found, with reasons. searches: opens the search indexes of large layers."""


@dataclass(frozen=True)
class StrategyInfo:
    """A strategy as a form shows it. config: its configuration dataclass."""

    name: str
    title: str
    help: str
    config: type
    strategy: type


@cache
def strategies() -> tuple[StrategyInfo, ...]:
    """All strategies of the strategies folder, LeanRAG first, then by name."""
    from leanrag_core.retrieval import strategies as folder

    found = []
    for module_info in pkgutil.iter_modules(folder.__path__):
        module = importlib.import_module(f"{folder.__name__}.{module_info.name}")
        made = module.Strategy
        found.append(StrategyInfo(made.name, made.title, made.help, module.Config, made))
    return tuple(sorted(found, key=lambda info: (info.name != "leanrag", info.name)))


def strategy(name: str, options: dict[str, Any]) -> Strategy:
    """The strategy of that name, configured. Raises InvalidConfig for an unknown name or option."""
    known = {info.name: info for info in strategies()}
    if name not in known:
        raise InvalidConfig(f"there is no strategy {name!r}; choose one of {', '.join(sorted(known))}")
    info = known[name]
    fields = set(info.config.__dataclass_fields__)  # type: ignore[attr-defined]
    unknown = sorted(set(options) - fields)
    if unknown:
        raise InvalidConfig(f"strategy {name} has no option {unknown[0]!r}; it has {', '.join(sorted(fields))}")
    made: Strategy = info.strategy(info.config(**options))
    return made
