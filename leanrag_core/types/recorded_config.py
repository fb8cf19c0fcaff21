"""The settings of an index as its record keeps them, also those of another version of the program."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from leanrag_core.errors import InvalidConfig, RecordDamaged
from leanrag_core.files.records import absent_at_default, from_values, may_be_absent, plain
from leanrag_core.types.config import IndexConfig


@dataclass(frozen=True)
class RecordedConfig(IndexConfig):
    """The settings as an index records them. No bounds: another version may have had others.

    lacking: settings that the record does not have; they hold today's defaults. others: settings that this version
    does not know, as JSON values.
    """

    lacking: tuple[str, ...] = absent_at_default(())
    others: Mapping[str, Any] = absent_at_default(factory=dict)

    def __post_init__(self) -> None:
        """Skip the checks of the base class: what was recorded is kept as it is."""

    @classmethod
    def of(cls, config: IndexConfig) -> Self:
        """Record those settings."""
        return cls(**_settings(config))

    def noting(self, values: Mapping[str, Any]) -> "RecordedConfig":
        """Return the same settings with what their JSON values lack, and what else they have."""
        known = _settings(self)
        lacking = tuple(
            spec.name for spec in fields(IndexConfig) if spec.name not in values and not may_be_absent(spec)
        )
        return RecordedConfig(
            **known, lacking=lacking, others={name: value for name, value in values.items() if name not in known}
        )

    def checked(self) -> IndexConfig:
        """Return the settings as this version takes them. Raises InvalidConfig for those of another version."""
        if self.others:
            raise InvalidConfig("config.other_version")
        try:
            return IndexConfig(**_settings(self))
        except (TypeError, ValueError) as error:
            raise InvalidConfig("config.other_version") from error

    def is_of(self, config: IndexConfig) -> bool:
        """Return whether these settings and no others were recorded."""
        return self == RecordedConfig.of(config)

    def by_name(self) -> dict[str, Any]:
        """Return every setting, those of another version too."""
        return _settings(self) | dict(self.others)

    def values(self) -> dict[str, Any]:
        """Return the settings as JSON values, as they are stored."""
        known = plain(RecordedConfig.of(self))
        return {name: value for name, value in known.items() if name not in self.lacking} | dict(self.others)


def recorded_config(values: Mapping[str, Any]) -> RecordedConfig:
    """Read the settings from their JSON values. Raises InvalidConfig for values of another type."""
    try:
        return from_values(RecordedConfig, values).noting(values)
    except RecordDamaged as error:
        raise InvalidConfig("config.other_version") from error


def _settings(config: IndexConfig) -> dict[str, Any]:
    return {spec.name: getattr(config, spec.name) for spec in fields(IndexConfig)}
