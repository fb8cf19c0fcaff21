"""Columns of one strategy that differ in settings: what differs, what is equal, and what each is called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from leanrag_core.messages.catalog import codes
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import RERANK
from leanrag_core.retrieval.settings import option_title, option_value, setting_list
from leanrag_core.types.config import ONE_VALUE, IndexConfig

_MOST_NAMED = 2  # settings in a column's name; of more, the first is named and the others are counted


@dataclass(frozen=True)
class Setting:
    """A setting by its name. of_index: of the index, not of the retrieval; both may have one of the same name."""

    name: str
    of_index: bool = False

    @property
    def title(self) -> Message:
        """The short title that stands beside its value."""
        code = f"option.short.{self.name}"
        if code in codes() and not (self.name == "chunk_tokens" and not self.of_index):
            return message(code)
        return option_title(self.name, of_index=self.of_index)

    def words(self, value: Any) -> Message:
        """Return the setting with a value, such as "clustersize 8"."""
        if self.name == RERANK:
            return message("setting.rerank", n=value) if value else message("setting.not_reranked")
        return message("setting.value", option=self.title, value=self.value_words(value))

    def value_words(self, value: Any) -> Message:
        """Return the value in words."""
        if self.name == "tau" and value in (None, ""):
            return message("setting.from_data")
        return option_value(self.name, value)


@dataclass(frozen=True)
class VariantSettings:
    """What a column runs with. index: every setting of its index, by name."""

    strategy: str
    options: Mapping[str, Any]
    index: Mapping[str, Any]

    def value(self, setting: Setting) -> Any:
        """Return the column's value of that setting."""
        return (self.index if setting.of_index else self.options).get(setting.name)


@dataclass(frozen=True, eq=False)
class Group:
    """Columns of one strategy. settings: of each, by letter. differing, equal: settings of the index first."""

    settings: Mapping[str, VariantSettings]
    differing: tuple[Setting, ...]
    equal: tuple[Setting, ...]

    def name(self, letter: str) -> Message | None:
        """Return what that column is called: its values of what differs; None where nothing does."""
        column = self.settings[letter]
        parts = [setting.words(column.value(setting)) for setting in self.differing]
        if len(parts) > _MOST_NAMED:
            return message("compare.variant_more", first=parts[0], n=len(parts) - 1)
        return setting_list(parts) if parts else None


def groups(columns: Mapping[str, VariantSettings]) -> tuple[Group, ...]:
    """Return the strategies that more than one column has, in the order of the columns."""
    by_strategy: dict[str, dict[str, VariantSettings]] = {}
    for letter, settings in columns.items():
        by_strategy.setdefault(settings.strategy, {})[letter] = settings
    return tuple(_group(members) for members in by_strategy.values() if len(members) > 1)


def _group(members: Mapping[str, VariantSettings]) -> Group:
    first = next(iter(members.values()))
    settings = [Setting(name, of_index=True) for name in first.index if name in ONE_VALUE]
    # An option that is absent at its default may be in some of the columns alone.
    options = dict.fromkeys(name for column in members.values() for name in column.options)
    settings += [Setting(name) for name in options]
    differing = [
        setting for setting in settings if len({_compared(column.value(setting)) for column in members.values()}) > 1
    ]
    return Group(members, tuple(differing), tuple(setting for setting in settings if setting not in differing))


def _compared(value: Any) -> str:
    """Return the value as it is compared: tau may be written as a number or as text."""
    return "" if value is None else str(value)


def index_settings(values: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of an index that has those values with some of them changed, in the order of IndexConfig."""
    merged = {**values, **changed}
    return {spec.name: merged[spec.name] for spec in fields(IndexConfig) if spec.name in merged}


def changed_settings(values: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the wanted settings that differ from the index's values."""
    return {name: value for name, value in wanted.items() if _compared(value) != _compared(values.get(name))}


def settings_in_words(settings: Sequence[Setting], column: VariantSettings) -> Message:
    """Return the settings with their values, in one line."""
    return setting_list([setting.words(column.value(setting)) for setting in settings])
