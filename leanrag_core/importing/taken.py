"""Entities and relations that an import takes, before rows of one name are merged."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TakenEntity:
    """An entity that is taken. key: what equal names share. chunks: ids of its sources."""

    key: str
    name: str
    type: str
    description: str
    chunks: tuple[str, ...]


@dataclass(frozen=True)
class TakenRelation:
    """A relation that is taken. id: what the other system calls it, else empty."""

    source: TakenEntity
    target: TakenEntity
    description: str
    keywords: tuple[str, ...]
    weight: float
    chunks: tuple[str, ...]
    id: str = ""
