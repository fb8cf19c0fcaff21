"""One step up: a layer's clusters become the entities and relations of the layer above (eq. 4 and 5)."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.clustering.options import n_components
from leanrag_core.indexing.aggregation.relations import (
    RelationGroups,
    group_keywords,
    group_relations,
    lift_counts,
    strongest_first,
)
from leanrag_core.indexing.aggregation.rules import RELEASED, AggregationRules, records_of
from leanrag_core.indexing.aggregation.tables import (
    LayerColumns,
    NewEntity,
    NewRelations,
    cluster_view,
    columns_of,
    inside_rows,
    layer_tables,
    relation_view,
    union_chunks,
)
from leanrag_core.indexing.aggregation.writer import AggregationWriter, RelationGroupView
from leanrag_core.text.tokens import count_many, trim_to_tokens
from leanrag_core.types.calls import CallMade, Kind, Usage, WrittenCall
from leanrag_core.types.extraction import Drop
from leanrag_core.types.graph import Finding, Graph, Layer, children_offsets
from leanrag_core.types.job import Progress, Report
from leanrag_core.types.settings import Apply

_UNITS = {
    "embed": "texts",
    "cluster": "layers",
    "aggregate entities": "clusters",
    "aggregate relations": "relations",
}


def expected_totals(n: int, cluster_size: int) -> dict[str, int]:
    """Estimate what each stage of a hierarchy over n entities has to do."""
    sizes = [n]
    while sizes[-1] > 1:
        sizes.append(n_components(sizes[-1], cluster_size))
    above = sum(sizes[1:])
    return {"embed": sum(sizes), "cluster": len(sizes) - 1, "aggregate entities": above, "aggregate relations": 0}


class StageProgress:
    """Counts each stage over all layers. totals: by stage, estimates where a layer is not there yet."""

    def __init__(self, report: Report, totals: Mapping[str, int]) -> None:
        self._report = report
        self._done = dict.fromkeys(totals, 0)
        self._total = dict(totals)

    def expect(self, stage: str, total: int) -> None:
        """Announce that the stage has begun, with at least `total` steps ahead; its first step may wait long for a
        server.
        """
        self._total[stage] = max(self._total[stage], self._done[stage] + total)
        if total:
            self.advance(stage, 0)

    def advance(self, stage: str, steps: int, text: str = "", made: Layer | None = None) -> None:
        """Report that so many more steps are done. text: what was written. made: a layer that has its clusters now."""
        self._done[stage] += steps
        total = max(self._total[stage], self._done[stage])
        self._report(Progress(stage, self._done[stage], total, _UNITS[stage], text, made=made))

    def finish(self) -> None:
        """Report every stage as finished, with what was done as its total."""
        for stage, done in self._done.items():
            self._report(Progress(stage, done, done, _UNITS[stage]))


# Short words join others and say little; in scripts without spaces each sign is taken for a word.
_WORD = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]|\w{4,}")
Words = frozenset[str]


@dataclass(frozen=True)
class Concatenation:
    """Joined text. cut: distinct descriptions that were shortened or left out."""

    text: str
    cut: int


def words_of(text: str) -> Words:
    """Return the words by which texts are compared."""
    return frozenset(_WORD.findall(text.casefold()))


def _about_nothing(_: int) -> tuple[Words, Words]:
    return frozenset(), frozenset()


def concatenate(
    groups: Sequence[Iterable[str]],
    *,
    max_tokens: int,
    about: Callable[[int], tuple[Words, Words]] = _about_nothing,
) -> list[Concatenation]:
    """Join the distinct descriptions of each group by spaces, in their order, at most max_tokens long.

    When they do not all fit, those stay that share most words with both of the entities that the relation joins, of
    equals the first; when not even one fits, the best is shortened. about: the words of these two, by the place of the
    group.
    """
    distinct = [
        list(dict.fromkeys(text for text in (description.strip() for description in group) if text)) for group in groups
    ]
    joined = [" ".join(texts) for texts in distinct]
    # A token is a byte or more, and a text a token or more.
    long = [row for row, text in enumerate(joined) if len(text) > max_tokens or len(text.encode()) > max_tokens]
    totals = dict(zip(long, count_many([joined[row] for row in long]).tolist(), strict=True))
    over = [row for row in long if totals[row] > max_tokens]
    ranked = [_most_relevant(distinct[row], *about(row))[: max_tokens + 1] for row in over]
    texts = [distinct[row][place] for row, places in zip(over, ranked, strict=True) for place in places]
    costs = zip(count_many(texts).tolist(), count_many([f" {text}" for text in texts]).tolist(), strict=True)
    cut = {}
    for row, places in zip(over, ranked, strict=True):
        kept = _fitting({place: next(costs) for place in places}, max_tokens)
        text = " ".join(distinct[row][place] for place in kept)
        cut[row] = Concatenation(
            text or trim_to_tokens(distinct[row][places[0]], max_tokens), len(distinct[row]) - len(kept)
        )
    return [cut.get(row) or Concatenation(text, 0) for row, text in enumerate(joined)]


def _fitting(costs: Mapping[int, tuple[int, int]], max_tokens: int) -> list[int]:
    """Return the places of the texts that fit, taken in the order of the costs, ascending.

    costs: tokens of a text alone, and with the space before it. No token reaches from one text over the space before
    the next, so that the tokens of a join are those of its parts.
    """
    kept: list[int] = []
    used = 0
    for place, (alone, spaced) in costs.items():
        cost, first = spaced if kept else alone, min(kept, default=place)
        if place < first:  # the one that was first gets a space before it
            cost = alone + costs[first][1] - costs[first][0]
        if used + cost <= max_tokens:
            kept.append(place)
            used += cost
    return sorted(kept)


def _most_relevant(texts: Sequence[str], left: Words, right: Words) -> list[int]:
    """Return the places of the texts, the most relevant first.

    First come those whose words have the largest product of cosines to both sides, then those with the largest share of
    words of either side; else they keep their order.
    """
    if not left and not right:
        return list(range(len(texts)))
    keys = []
    for place, text in enumerate(texts):
        words = words_of(text)
        in_left, in_right, n = len(words & left), len(words & right), max(len(words), 1)
        keys.append((-in_left * in_right / n, -(in_left + in_right) / n, place))
    return [key[2] for key in sorted(keys)]


AGGREGATED = "aggregated"  # type of an entity that stands for a cluster
_BLOCK = 4096  # relations whose texts are made together


@dataclass(frozen=True)
class RelationCounts:
    """Counts of the relations below a new layer.

    relations_inside: of them with both ends in one cluster; summarised, concatenated: new ones, of lambda above tau and
    up to it; descriptions_cut: descriptions that were shortened or left out.
    """

    tau: float
    relations_below: int
    relations_inside: int
    summarised: int
    concatenated: int
    descriptions_cut: int


class LayerStep:
    """The aggregation of one layer. counts, drops, usage, calls: results of `run`; groups: the relations between
    clusters.
    """

    counts: RelationCounts

    def __init__(
        self,
        below: Layer,
        writer: AggregationWriter,
        rules: AggregationRules,
        apply: Apply,
        progress: StageProgress,
        depth: int,
    ) -> None:
        self.rules, self.depth = rules, depth
        self.below, self.writer, self.apply, self.progress = below, writer, apply, progress
        self.number = below.number + 1
        self.n_parents = int(below.parent.max()) + 1
        self.columns: LayerColumns = columns_of(below)
        dropped = rules.dropped(below.ends, below.parent)
        self.n_dropped = int(dropped.sum())
        # A dropped relation gets the same node at both ends, so that it joins no two clusters.
        ends = np.where(dropped[:, None], below.ends[:, :1], below.ends) if self.n_dropped else below.ends
        self.groups: RelationGroups = group_relations(ends, self.columns.weights, below.parent, self.n_parents)
        self.drops: list[Drop] = []
        self.usage = Usage()
        self.calls: list[WrittenCall] = []
        self._made: dict[Kind, dict[int, CallMade]] = {"entity": {}, "relation": {}}  # by row of the new layer

    def run(self, kinds: Sequence[str], kind_counts: np.ndarray) -> Graph:
        """Build the graph G_i over the clusters of layer i-1.

        kind_counts: (r, kinds) int64, base relations of each kind that each relation of layer i-1 stands for.
        """
        offsets, order = children_offsets(self.below.parent, self.n_parents)
        children = [order[offsets[row] : offsets[row + 1]] for row in range(self.n_parents)]
        parents = self._entities(children)
        relations = self._relations(parents, kinds, lift_counts(kind_counts, self.groups))
        ids = self.columns.ids
        chunks = union_chunks(self.below.entities["chunks"], self.below.parent, self.n_parents)
        child_ids = (ids.of(rows) for rows in children)
        graph = layer_tables(self.number, parents, child_ids, chunks, relations)
        self._record("entity", graph.entities)
        self._record("relation", graph.relations)
        self.progress.advance("aggregate relations", 0)  # ids and tables are part of it
        return graph

    def _record(self, kind: Kind, table: pa.Table) -> None:
        """Record the calls that wrote rows of the new table, under the ids that these rows have by now."""
        ids = table["id"].take(pa.array(list(self._made[kind]), pa.int64())).to_pylist()
        calls = zip(ids, self._made[kind].values(), strict=True)
        self.calls += [WrittenCall(kind, self.number, id_, call) for id_, call in calls]

    def _entities(self, children: Sequence[np.ndarray]) -> list[NewEntity]:
        """Write the entity of each cluster. children: (k,) int rows of layer i-1 for each cluster."""
        columns, stage = self.columns, "aggregate entities"
        self.progress.expect(stage, len(children))
        offsets, rows = inside_rows(self.below.ends, self.below.parent, self.n_parents)
        written = iter(
            self.apply(
                self.writer.entity,
                (
                    cluster_view(self.below, columns, label, members, rows[offsets[label] : offsets[label + 1]])
                    for label, members in enumerate(children)
                    if len(members) > 1
                ),
            )
        )
        entities = list[NewEntity]()
        for members in children:
            if len(members) > 1:
                summary = next(written)
                if summary.call is not None:
                    self._made["entity"][len(entities)] = summary.call
                self.usage = self.usage + summary.usage
                self.drops.extend(summary.drops)
                entities.append(NewEntity(summary.name, AGGREGATED, summary.description, summary.findings, False))
            else:
                entities.append(self._promoted(int(members[0])))
            self.progress.advance(stage, 1, entities[-1].name if len(members) > 1 else "")
        return entities

    def _promoted(self, row: int) -> NewEntity:
        columns = self.columns
        cells = self.below.entities["findings"][row].as_py() or ()
        findings = tuple(Finding(**finding) for finding in cells)
        return NewEntity(columns.names[row], columns.types[row], columns.descriptions[row], findings, True)

    def _relations(self, parents: Sequence[NewEntity], kinds: Sequence[str], counts: np.ndarray) -> NewRelations:
        """Write the relations between the new entities. counts: (p, kinds) int64, base relations of each kind by
        group.
        """
        groups, columns = self.groups, self.columns
        self.progress.expect("aggregate relations", len(groups))
        tau, strong = self._strong()
        ranked = strongest_first(groups, columns.strengths, columns.weights)
        keywords = group_keywords(self.below.relations["keywords"], groups)

        def view(group: int) -> RelationGroupView:
            rows = ranked[groups.offsets[group] : groups.offsets[group + 1]]
            findings = self.rules.relation_input != "descriptions"
            of_group = relation_view(self.below, columns, groups, group, rows, parents, findings=findings)
            kinds_of_group = tuple(_ranked(kinds, counts[group]))
            return replace(of_group, base_kinds=kinds_of_group, keywords=tuple(keywords[group].as_py()))

        written = iter(self.apply(self.writer.relation, map(view, np.flatnonzero(strong).tolist())))

        @cache
        def words(parent: int) -> Words:
            return words_of(f"{parents[parent].name} {parents[parent].description}")

        blocks, cut, shortened = [], 0, 0
        for start in range(0, len(groups), _BLOCK):
            texts, cuts = self._texts(range(start, min(start + _BLOCK, len(groups))), strong, ranked, written, words)
            blocks.append(pa.array(texts, pa.string()))
            cut, shortened = cut + sum(cuts), shortened + sum(n_cut > 0 for n_cut in cuts)
        if cut:
            self._record_drop(
                f"{shortened} concatenated relations exceed {self.rules.concatenation_tokens} tokens: {cut} "
                "descriptions of their members were shortened or left out"
            )
        if self.n_dropped:
            self._record_drop(
                f"{self.n_dropped} relations of nodes that are alone in their cluster, by the rule for them"
            )
        self.counts = RelationCounts(
            tau=tau,
            relations_below=len(columns.weights),
            relations_inside=int(groups.inside.sum()) - self.n_dropped,
            summarised=int(strong.sum()),
            concatenated=int((~strong).sum()),
            descriptions_cut=cut,
        )
        return NewRelations(
            ends=np.stack([groups.left, groups.right], axis=1),
            weight=groups.weight,
            strength=groups.strength,
            summarised=strong,
            descriptions=pa.chunked_array(blocks, pa.string()),
            keywords=keywords,
            offsets=groups.offsets,
            members=groups.rows,
        )

    def _strong(self) -> tuple[float, np.ndarray]:
        """Return the threshold, and whether each group exceeds it: (p,) bool."""
        groups = self.groups
        if self.rules.relation_rule == RELEASED:
            tau = float(self.rules.allowed_tokens(self.below.number, self.depth))
            return tau, count_many([self._records(groups.members(group)) for group in range(len(groups))]) > tau
        tau = self.rules.tau.threshold(self.number, groups.strength)
        return tau, groups.strength > tau

    def _record_drop(self, reason: str) -> None:
        self.drops.append(Drop("aggregate relations", f"layer {self.number}", reason))

    def _records(self, rows: np.ndarray) -> str:
        """Return those relations of the layer below as the released code joins them. rows: (k,) int."""
        return records_of(rows, self.below.ends, self.columns.names.of, self.columns.relation_descriptions.of(rows))

    def _texts(
        self,
        block: range,
        strong: np.ndarray,
        ranked: np.ndarray,
        written: Iterator[Any],
        words: Callable[[int], Words],
    ) -> tuple[list[str], list[int]]:
        """Write the descriptions of a block of groups; count, for each concatenated one, the members' descriptions that
        were cut.

        strong: (p,) bool, summarised groups. ranked: (rows of all groups,) int, strongest first within a group. words:
        of the name and description of a new entity.
        """
        stage, descriptions = "aggregate relations", self.columns.relation_descriptions
        offsets = self.groups.offsets[block.start : block.stop + 1].tolist()
        texts, weak = list[str](), list[int]()
        for place in range(len(block)):
            if strong[block[place]]:
                sentence = next(written)
                if sentence.call is not None:
                    self._made["relation"][block[place]] = sentence.call
                self.usage = self.usage + sentence.usage
                self.drops.extend(sentence.drops)
                texts.append(sentence.text)
                self.progress.advance(stage, 1, sentence.text)
            else:
                texts.append("")
                weak.append(place)
        rows = [ranked[offsets[place] : offsets[place + 1]] for place in weak]
        groups = self.groups
        if self.rules.concatenation == "records":
            for place, of_group in zip(weak, rows, strict=True):
                texts[place] = trim_to_tokens(self._records(of_group), self.rules.concatenation_tokens)
            self.progress.advance(stage, len(weak))
            return texts, []

        def about(place: int) -> tuple[Words, Words]:
            group = block[weak[place]]
            return words(int(groups.left[group])), words(int(groups.right[group]))

        members = [descriptions.of(of_group) for of_group in rows]
        joined = concatenate(members, max_tokens=self.rules.concatenation_tokens, about=about)
        for place, concatenation in zip(weak, joined, strict=True):
            texts[place] = concatenation.text
        self.progress.advance(stage, len(weak))
        return texts, [concatenation.cut for concatenation in joined]


def _ranked(kinds: Sequence[str], counts: np.ndarray) -> list[tuple[str, int]]:
    """Return the kinds that are present with their counts, most first. counts: (kinds,) int64."""
    present = [(kind, int(count)) for kind, count in zip(kinds, counts, strict=True) if count]
    return sorted(present, key=lambda pair: (-pair[1], pair[0]))
