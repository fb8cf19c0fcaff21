"""Texts of clusters and pairs that an update does not touch, taken over from the index before."""

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.aggregation.tables import LayerColumns, cluster_view, columns_of, inside_rows
from leanrag_core.indexing.aggregation.writer import (
    AggregationWriter,
    ClusterView,
    RelationGroupView,
    Sentence,
    Summary,
)
from leanrag_core.types.build_report import BuildReport
from leanrag_core.types.calls import CallMade, Usage, WrittenCall
from leanrag_core.types.extraction import Drop
from leanrag_core.types.graph import Finding, Layer, children_offsets
from leanrag_core.types.rows import Lists

SMALL_CHANGE = 0.2  # share of members and relations inside a cluster
ENTITIES, RELATIONS = "aggregate entities", "aggregate relations"


class KeptTexts:
    """A writer that takes a text from the index before where what it is written from is the same, in any order.

    A cluster's text is written from names, types and descriptions of its members and the relations inside. A relation's
    sentence is written from the relations of its group and the names of both ends; also from the ends' descriptions
    where `exact`, which an update needs that takes text away. What the built-in writer wrote in a model's place is
    never kept.

    Where nothing is taken away, a cluster of base entities with the same members keeps its text also when a fifth of
    what it is written from has changed, and a cluster that has only grown keeps its name. Such a text, and a sentence
    about ends that have another description by now, is outdated: it may say what no member says any more. An update
    that takes something away writes all of these again, so that nothing of a removed document stays in them.
    relations: whether sentences of a layer are kept, by its number. entities_kept, relations_kept: how many were taken
    over. outdated: layer and label of clusters; outdated_pairs:
    layer and names of both ends.
    """

    def __init__(
        self,
        writer: AggregationWriter,
        layers: Sequence[Layer],
        report: BuildReport,
        *,
        relations: Callable[[int], bool],
        exact: bool,
        calls: pa.Table | None = None,
    ) -> None:
        self._writer, self._exact = writer, exact
        self._drops: dict[tuple[str, str], tuple[Drop, ...]] = {}
        for drop in listed_drops(report):
            text = drop.stage, drop.item
            self._drops[text] = (*self._drops.get(text, ()), drop)
        recorded = recorded_calls(calls)
        self._calls = {each.target: each.call for each in recorded if each.kind in ("entity", "relation")}
        self._entities: list[dict[bytes, _Kept]] = []
        self._by_members: dict[tuple[str, ...], _Kept] = {}
        self._of_member: list[dict[str, _Kept]] = []
        self._outdated_before = frozenset(report.update.outdated if report.update else ())
        self.outdated: set[tuple[int, int]] = set()
        self.outdated_pairs: set[tuple[int, frozenset[str]]] = set()
        self._sentences: list[dict[bytes, _KeptSentence]] = []
        for below, above in pairwise(layers):
            columns = columns_of(below)
            kept = list(self._summaries(below, above, columns))
            self._entities.append({_digest(each.content): each for each in kept})
            self._of_member.append({} if exact else {name: each for each in kept for name in each.content.names})
            if above.number == 1 and not exact:
                self._by_members = {each.content.names: each for each in kept}
            kept_here = relations(above.number)
            self._sentences.append(dict(self._stored_sentences(below, above, columns)) if kept_here else {})
        self._depth = len(self._entities)
        self._lock = threading.Lock()
        self.entities_kept = self.entities_written = self.relations_kept = self.relations_written = 0

    def prepare(self, layers: Sequence[Layer], labels: np.ndarray) -> None:
        """Prepare the writer that writes what is not kept. labels: (n,) int."""
        self._writer.prepare(layers, labels)

    def entity(self, members: ClusterView) -> Summary:
        """Return the text that the same members had; else what the writer makes of them."""
        content = _Content.of(members)
        kept = self._entities[members.layer - 1].get(_digest(content)) if members.layer <= self._depth else None
        if kept is not None and kept.outdated and self._exact:
            kept = None
        outdated = kept is not None and kept.outdated
        if kept is None and members.layer == 1:
            kept = self._nearly(content)
            outdated = kept is not None
        if kept is not None:
            drops = tuple(replace(drop, item=members.item) for drop in kept.summary.drops)
            summary = replace(kept.summary, drops=drops)
        else:
            written = self._writer.entity(members)
            summary = self._under_its_name(members, written)
            outdated = summary.name != written.name
        with self._lock:
            self.entities_kept += kept is not None
            self.entities_written += kept is None
            if outdated:
                self.outdated.add((members.layer, members.label))
        return summary

    def _under_its_name(self, members: ClusterView, written: Summary) -> Summary:
        """Give the new text of a cluster that has only grown the name that people, links and sentences already use."""
        before = self._of_member[members.layer - 1] if members.layer <= self._depth else {}
        candidates = [before[name] for name in members.names if name in before]
        member_names = set(members.names)
        for kept in sorted(candidates, key=lambda each: -len(each.content.names))[:1]:
            name = kept.summary.name
            if member_names.issuperset(kept.content.names) and name.casefold() not in {
                each.casefold() for each in member_names
            }:
                return _renamed(written, name)
        return written

    def _nearly(self, content: "_Content") -> "_Kept | None":
        """Return the text of the same members where little of its sources has changed, in this update and before."""
        kept = self._by_members.get(content.names)
        if kept is None or kept.outdated:
            return None
        parts = {*content.members, *content.relations}
        new = parts - {*kept.content.members, *kept.content.relations}
        return kept if len(new) <= SMALL_CHANGE * len(parts) else None

    def relation(self, view: RelationGroupView) -> Sentence:
        """Return the sentence that the same group had; else what the writer makes of it."""
        ends = sorted([(view.left_name, view.left_description), (view.right_name, view.right_description)])
        key = self._group_key(ends, list(zip(view.pairs, view.descriptions, strict=True)))
        kept = self._sentences[view.layer - 1].get(key) if view.layer <= self._depth else None
        outdated = kept is not None and (kept.outdated or kept.ends != ends)
        if outdated and self._exact:
            kept, outdated = None, False
        with self._lock:
            self.relations_kept += kept is not None
            self.relations_written += kept is None
            if outdated:
                self.outdated_pairs.add((view.layer, frozenset([view.left_name, view.right_name])))
        return kept.sentence if kept is not None else self._writer.relation(view)

    def _summaries(self, below: Layer, above: Layer, columns: LayerColumns) -> "Iterator[_Kept]":
        n_parents = len(above)
        offsets, order = children_offsets(np.asarray(below.parent), n_parents)
        inside, rows = inside_rows(below.ends, np.asarray(below.parent), n_parents)
        for label in range(n_parents):
            members = order[offsets[label] : offsets[label + 1]]
            if len(members) < 2:
                continue
            view = cluster_view(below, columns, label, members, rows[inside[label] : inside[label + 1]])
            entity = above.entity(label)
            drops = self._drops.get((ENTITIES, view.item), ())
            if not any(drop.by_builtin for drop in drops):
                call = self._calls.get(entity.id)
                summary = Summary(entity.name, entity.description, entity.findings, drops=drops, call=call)
                outdated = entity.id in self._outdated_before
                yield _Kept(_Content.of(view), summary, outdated)

    def _stored_sentences(
        self, below: Layer, above: Layer, columns: LayerColumns
    ) -> "Iterator[tuple[bytes, _KeptSentence]]":
        ids = above.relations["id"].to_pylist()
        names, descriptions = (above.entities[name].to_pylist() for name in ("name", "description"))
        kinds, texts = (above.relations[name].to_pylist() for name in ("kind", "description"))
        members = Lists(above.relations["members"])
        for row, (left, right) in enumerate(above.ends.tolist()):
            if kinds[row] != "summarised":
                continue
            ends = below.ends[members[row]]
            pairs = zip(*(columns.names.of(side) for side in ends.T.copy()), strict=True)
            group = list(zip(pairs, columns.relation_descriptions.of(members[row]), strict=True))
            named = sorted([(names[left], descriptions[left]), (names[right], descriptions[right])])
            key = self._group_key(named, group)
            drops = self._drops.get((RELATIONS, f"{names[left]} / {names[right]}"), ())
            if not any(drop.by_builtin for drop in drops):
                outdated = ids[row] in self._outdated_before
                yield (
                    key,
                    _KeptSentence(named, Sentence(texts[row], drops=drops, call=self._calls.get(ids[row])), outdated),
                )

    @staticmethod
    def _group_key(ends: Sequence[tuple[str, str]], group: Sequence[tuple[tuple[str, str], str]]) -> bytes:
        """Return the hash of the names of both ends and of the group's relations. ends: names and descriptions,
        sorted.
        """
        listed = sorted((*sorted(pair), description) for pair, description in group)
        return _digest(([name for name, _ in ends], listed))


@dataclass(frozen=True)
class _Content:
    """What a writer sees of a cluster, in a fixed order. Of aggregated relations it sees lambda and keywords."""

    members: tuple[tuple[str, ...], ...]
    relations: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, view: ClusterView) -> "_Content":
        relations = (
            (
                *sorted((view.names[inner.source], view.names[inner.target])),
                *((inner.description,) if view.layer == 1 else (str(inner.strength), *inner.keywords)),
            )
            for inner in view.relations
        )
        return cls(tuple(sorted(zip(view.names, view.types, view.descriptions, strict=True))), tuple(sorted(relations)))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the members."""
        return tuple(name for name, *_ in self.members)


@dataclass(frozen=True)
class _Kept:
    """A text of the index before. outdated: some of its content has changed since it was written."""

    content: _Content
    summary: Summary
    outdated: bool


@dataclass(frozen=True)
class _KeptSentence:
    """A sentence of the index before. ends: names and descriptions of both ends, sorted. outdated: see _Kept."""

    ends: list[tuple[str, str]]
    sentence: Sentence
    outdated: bool


def _renamed(summary: Summary, name: str) -> Summary:
    """Return the text with that name, also where it speaks of itself."""
    findings = tuple(
        Finding(each.summary.replace(summary.name, name), each.explanation.replace(summary.name, name))
        for each in summary.findings
    )
    description = summary.description.replace(summary.name, name)
    return replace(summary, name=name, description=description, findings=findings)


def _digest(content: object) -> bytes:
    return hashlib.blake2b(repr(content).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def recorded_calls(calls: pa.Table | None) -> Iterator[WrittenCall]:
    """Yield the calls that an index records, in their order."""
    for row in calls.to_pylist() if calls is not None else ():
        usage = Usage(1, row["prompt_tokens"], row["completion_tokens"], cost=row["cost"])
        yield WrittenCall(row["kind"], row["layer"], row["target"], CallMade(row["key"], usage))


def listed_drops(report: BuildReport) -> Iterator[Drop]:
    """Yield what the report lists as lost of the texts of aggregated layers."""
    for stage in (ENTITIES, RELATIONS):
        for listed in report.dropped.get(stage, ()):
            yield Drop(stage, listed.item, listed.reason, listed.by_builtin)
