"""A graph while it is built: what was found since the last report, and the part of it that is drawn."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Found:
    """Entities and relations before merging. names: by key, as they are shown; links: pairs of keys."""

    names: Mapping[str, str]
    links: tuple[tuple[str, str], ...]


class News:
    """Collects what an extractor finds, until it is taken. For one thread, or under the extractor's own lock."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._links: list[tuple[str, str]] = []

    def add(self, names: Mapping[str, str], links: Iterable[tuple[str, str]]) -> None:
        """Add names by key, and pairs of keys."""
        self._names.update(names)
        self._links += links

    def take(self) -> Found:
        """Return what was added since the last time."""
        added = Found(self._names, tuple(self._links))
        self._names, self._links = {}, []
        return added


@dataclass(frozen=True)
class Growth:
    """The part of a graph that is drawn while it is built: its first entities, and what became of them.

    links: pairs of places in names. gone: places of names that merging took away. clusters: by layer from below, for
    each name, or for each cluster of the layer below, the place of its cluster in the next layer; -1 for what is gone.
    titles: by layer, the names of its clusters where they are written. n_clusters: by layer, of the whole graph.
    """

    names: tuple[str, ...] = ()
    links: tuple[tuple[int, int], ...] = ()
    gone: tuple[int, ...] = ()
    clusters: tuple[tuple[int, ...], ...] = ()
    titles: tuple[tuple[str, ...], ...] = ()
    n_clusters: tuple[int, ...] = ()
