"""Indexes beside each other: the settings that differ, and how often indexes were measured to find the evidence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from leanrag_core.types.config import IndexConfig
from leanrag_core.types.summary import IndexSummary


@dataclass(frozen=True)
class MeasuredRecall:
    """Evidence recall of an index over so many questions, in that experiment's run."""

    recall: float
    n_questions: int
    experiment: str
    run: str


def differing_settings(indexes: Sequence[IndexSummary]) -> tuple[str, ...]:
    """Return the names of the settings that are not the same in all of these indexes, in the order of the form; those
    of another version last.
    """
    settings = [index.config.by_name() for index in indexes]
    known = [spec.name for spec in fields(IndexConfig)]
    others = sorted({name for of_index in settings for name in of_index} - set(known))
    return tuple(name for name in (*known, *others) if len({_plain(each.get(name)) for each in settings}) > 1)


def common_settings(indexes: Sequence[IndexSummary], names: Iterable[str]) -> Mapping[str, Any]:
    """Return those of these settings that all of the indexes have in common, with their value."""
    differing = set(differing_settings(indexes))
    values = indexes[0].config.by_name()
    return {name: values[name] for name in names if name in values and name not in differing}


def grouped(indexes: Sequence[IndexSummary], by: str) -> list[IndexSummary]:
    """Return the indexes with those of one group together, groups in the order of their first index. by: an attribute
    of a summary, or a setting; "" for no groups.
    """
    if not by:
        return list(indexes)
    order: dict[str, int] = {}
    for index in indexes:
        order.setdefault(group_of(index, by), len(order))
    return sorted(indexes, key=lambda index: order[group_of(index, by)])


def group_of(index: IndexSummary, by: str) -> str:
    """Return the name of the group that the index belongs to."""
    if by in ("corpus_name", "kind"):
        return str(getattr(index, by))
    return str(index.config.by_name().get(by, ""))


def _plain(value: Any) -> str:
    return repr(value)
