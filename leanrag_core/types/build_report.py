"""What a build reports of itself: what was left out, how layers were clustered, what was spent."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from leanrag_core.files.records import Count, absent_at_default
from leanrag_core.types.updating import EditOutcome, UpdateReport

# How reports of older versions, which have no fields for it, name a lost chunk and a text by the built-in writer.
_OLD_LOST_CHUNK = re.compile(r"chunk (\S+)")
_OLD_BY_BUILTIN = "the built-in writer wrote"

Setting = str | int | float | bool | None


@dataclass(frozen=True)
class DroppedItem:
    """Something that was left out of the index, and why.

    chunk: id of the chunk, when its whole reply was lost. by_builtin: the built-in writer wrote it, not the model.
    """

    item: str
    reason: str
    chunk: str = absent_at_default("")
    by_builtin: bool = absent_at_default(False)


@dataclass(frozen=True)
class LayerClusters:
    """How a layer was grouped into the next one. None: not said by the version that built the index.

    layer: the new one. nodes, relations_below: of the layer below. components: of the mixture. smallest, median,
    largest, singletons: of the clusters' sizes. neighbours_inside: share of a node's 10 nearest neighbours that are in
    its cluster. relations_inside: relations with both ends in one cluster. likelihood: mean log density of a node, None
    for one cluster. cap: most nodes of a cluster. options: of the clustering, by name. tau: above it lambda makes a
    summarised relation. descriptions_cut: descriptions of members that were shortened or left out.
    """

    layer: int | None = None
    nodes: int | None = None
    components: int | None = None
    likelihood: float | None = None
    clusters: int | None = None
    smallest: int | None = None
    median: float | None = None
    largest: int | None = None
    singletons: int | None = None
    neighbours_inside: float | None = None
    cap: int | None = None
    covariance: str | None = None
    options: Mapping[str, Setting] | None = None
    tau: float | None = None
    relations_below: int | None = None
    relations_inside: int | None = None
    summarised: int | None = None
    concatenated: int | None = None
    descriptions_cut: int | None = None


@dataclass(frozen=True)
class Spent:
    """Calls, tokens and US dollars of a build. No seconds, so that equal builds give equal bytes."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0


@dataclass(frozen=True)
class BuildReport:
    """report.json of an index. drops: how many things were left out, by stage; dropped: those of them that are listed.
    aliases: names that were merged into others. empty_chunks: ids of chunks in which nothing was found. clustering: of
    each layer but the base, the lowest first. edits: what each edit by hand changed. update: what the update that made
    this index changed; None for a build."""

    drops: Mapping[str, Count]
    empty_chunks: tuple[str, ...]
    usage: Spent
    dropped: Mapping[str, tuple[DroppedItem, ...]] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    clustering: tuple[LayerClusters, ...] = ()
    edits: tuple[EditOutcome, ...] = absent_at_default(())
    update: UpdateReport | None = absent_at_default()

    @property
    def lost_chunks(self) -> dict[str, str]:
        """Return why a chunk's reply was lost, by the chunk's id."""
        chunks = {_lost_chunk(drop): drop.reason for drop in self.dropped.get("extract", ())}
        return {chunk: reason for chunk, reason in chunks.items() if chunk}

    def after(self, before: "BuildReport", *, without: Collection[str]) -> "BuildReport":
        """Return the report with the drops of the one before, but for those of some stages, before its own."""
        drops = {stage: n for stage, n in before.drops.items() if stage not in without}
        dropped = {stage: listed for stage, listed in before.dropped.items() if stage not in without}
        return replace(self, drops={**drops, **self.drops}, dropped={**dropped, **self.dropped})

    @property
    def listed_by_builtin(self) -> int:
        """How many listed items the built-in writer wrote; the index's manifest counts all of them, except in old
        indexes."""
        drops = [drop for listed in self.dropped.values() for drop in listed]
        return sum(drop.by_builtin or _OLD_BY_BUILTIN in drop.reason for drop in drops)


def _lost_chunk(drop: DroppedItem) -> str:
    old = _OLD_LOST_CHUNK.fullmatch(drop.item)
    return drop.chunk or (old[1] if old else "")
