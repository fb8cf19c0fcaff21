"""F_entity and F_rel without a language model: texts made of the most central members and of what ties them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.aggregation.cluster_names import (
    OF_DESCRIPTIONS,
    OF_MENTIONS,
    BaseNames,
    base_names,
    centrality,
    layer_names,
)
from leanrag_core.indexing.aggregation.cluster_openings import listed, openings
from leanrag_core.indexing.aggregation.cluster_terms import BaseTerms, base_terms, cluster_candidates
from leanrag_core.indexing.aggregation.extracts import choose_sentences, findings_of, joined_sentences
from leanrag_core.indexing.aggregation.joined_names import Term, cluster_name, terms_in
from leanrag_core.indexing.aggregation.phrases import Lexicon
from leanrag_core.indexing.aggregation.writer import ClusterView, RelationGroupView, Sentence, Summary
from leanrag_core.system.threads import collector_paused
from leanrag_core.text.chinese import is_chinese
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.graph import Layer

_SENTENCES, _AFTER_OPENING = 4, 3
_DESCRIPTION_TOKENS = 120
_KEYWORDS_SHOWN = 3
Kinds = Sequence[tuple[str, int]]  # of base relations, and how many there are of each


@dataclass(frozen=True, eq=False)
class _Prepared:
    """What `prepare` leaves for the clusters of one layer. cluster_of: (n_base,) int, of each base entity."""

    layer: int
    cluster_of: np.ndarray
    terms: BaseTerms
    names: list[str]
    openings: list[str]
    below: list[str]  # openings of the layer below, in its order


class BuiltinWriter:
    """Writes from the members' words alone, without a model call. See AggregationWriter.

    of_mentions: descriptions are sentences that mention their entity beside others. A text then begins with what the
    members are, and takes only sentences that connect some of them. Without it, each description is about its entity
    alone.
    """

    def __init__(self, *, of_mentions: bool = False) -> None:
        self.of_mentions = of_mentions
        self._base: tuple[pa.Table, BaseTerms, BaseNames] | None = None
        self._prepared: _Prepared | None = None

    @collector_paused()
    def prepare(self, layers: Sequence[Layer], labels: np.ndarray) -> None:
        """Choose phrases and names for all clusters of the coming layer at once, so that siblings differ.

        labels: (n,) int, the cluster of each node of the top layer.
        """
        entities = layers[0].entities
        if self._base is None or self._base[0] is not entities:
            terms = base_terms(entities)
            self._base = (entities, terms, base_names(layers[0], frozenset(terms.lexicon.surfaces)))
        _, terms, entity_names = self._base
        child_of = np.arange(len(layers[0]))
        for layer in layers[:-1]:
            child_of = layer.parent[child_of]
        below = self._openings_below(layers, entity_names, child_of) if layers[-1].number else []
        cluster_of = np.asarray(labels)[child_of]
        n_clusters = int(np.max(labels)) + 1
        candidates = cluster_candidates(terms, cluster_of, n_clusters)
        weights = OF_MENTIONS if self.of_mentions else OF_DESCRIPTIONS
        names = layer_names(layers[0], entity_names, child_of, layers[-1], np.asarray(labels), candidates, weights)
        opened = self._openings(layers[0], entity_names, cluster_of, n_clusters)
        self._prepared = _Prepared(layers[-1].number + 1, cluster_of, terms, names, opened, below)

    def _openings_below(self, layers: Sequence[Layer], entities: BaseNames, child_of: np.ndarray) -> list[str]:
        """Return the openings of the top layer, as they were made with it where it is the same. child_of: (n_base,)
        int, its node that each base entity is in."""
        last, base = self._prepared, self._base
        is_of_base = last is not None and base is not None and last.terms is base[1]
        if last is not None and is_of_base and np.array_equal(last.cluster_of, child_of):
            return last.openings
        return self._openings(layers[0], entities, child_of, len(layers[-1]))

    def _openings(self, base: Layer, entities: BaseNames, cluster_of: np.ndarray, n_clusters: int) -> list[str]:
        """Return what the text of each cluster begins with; "" where descriptions are no mentions. cluster_of:
        (n_base,) int, the cluster of each base entity."""
        return openings(base, entities, cluster_of, n_clusters) if self.of_mentions else [""] * n_clusters

    def entity(self, members: ClusterView) -> Summary:
        """Write a name, what the members are, two to four of their sentences, and findings."""
        prepared = self._prepared
        ready = prepared is not None and prepared.layer == members.layer and members.label < len(prepared.names)
        lexicon = prepared.terms.lexicon if prepared else Lexicon()
        weights = prepared.terms.word_weight if prepared else np.ones(0)
        order = centrality_order(members.vectors, np.array(members.degrees))
        if ready and prepared is not None:
            name = prepared.names[members.label]
        else:
            central = [Term(members.names[place], -float(rank)) for rank, place in enumerate(order)]
            name = cluster_name(central, forbidden=_folded(members.names)).text
        opening, texts, tied = "", members.descriptions, members.names if self.of_mentions else ()
        if self.of_mentions and ready and prepared is not None:
            opening = prepared.openings[members.label]
            if prepared.below:
                texts = tuple(
                    text.removeprefix(prepared.below[row]) for text, row in zip(texts, members.rows, strict=True)
                )
                tied = tuple(part for member in members.names for part in terms_in(member))
        chosen = choose_sentences(
            texts,
            members.vectors,
            lexicon,
            weights,
            names=tied,
            n_sentences=_AFTER_OPENING if opening else _SENTENCES,
            max_tokens=_DESCRIPTION_TOKENS - count_tokens(opening),
        )
        description = joined_sentences((opening, chosen))
        if not description:
            shown = [members.names[place] for place in order[:8]]
            description = f"A group of {len(members.names):,}: " + ", ".join(shown)
            if is_chinese(description.partition(": ")[2]):
                description = f"共{len(members.names):,}个实体：" + "、".join(shown)
        return Summary(name, description, findings_of(members, order))

    def relation(self, view: RelationGroupView) -> Sentence:
        """Say which kinds of relations join the two groups, and how many; no member is named."""
        members = _folded(view.member_names)
        keywords = [f"“{word}”" for word in view.keywords if word.casefold() not in members][:_KEYWORDS_SHOWN]
        kinds = () if [kind for kind, _ in view.base_kinds] == ["stated"] else view.base_kinds
        said = _in_chinese if is_chinese(view.left_name + view.right_name) else _in_english
        return Sentence(said(view, sum(count for _, count in view.base_kinds), kinds, keywords))


def _in_english(view: RelationGroupView, total: int, kinds: Kinds, keywords: Sequence[str]) -> str:
    """Say it in English. total: base relations that are stood for; keywords: in quotation marks."""
    noun = "relation" if view.strength == 1 else "relations"
    joined = f"“{view.left_name}” and “{view.right_name}” are joined by {view.strength:,} {noun}"
    if total > view.strength:
        joined += f", which stand for {total:,} between their entities"
    words = f"; in words such as {listed(keywords)}" if keywords else ""
    parts = [_counted(kind, count) for kind, count in kinds]
    return f"{joined}: {listed(parts)}{words}." if parts else f"{joined}{words}."


_KINDS_IN_CHINESE = {"stated": "陈述", "co-occurrence": "共现", "verb": "动词", "heading": "标题"}


def _in_chinese(view: RelationGroupView, total: int, kinds: Kinds, keywords: Sequence[str]) -> str:
    """Say it of two groups with Chinese names, as _in_english() does."""
    parts = "、".join(f"{count:,}条{_KINDS_IN_CHINESE.get(kind, kind)}" for kind, count in kinds)
    joined = f"“{view.left_name}”与“{view.right_name}”之间有{view.strength:,}条关系"
    joined += f"，代表其实体之间的{total:,}条" if total > view.strength else ""
    joined += f"：{parts}" if parts else ""
    return joined + (f"；所用的词如{''.join(keywords)}。" if keywords else "。")


def _counted(kind: str, count: int) -> str:
    """Return "1 verb", "11 co-occurrences", "3 stated"."""
    return f"{count:,} {kind}" if count == 1 or kind == "stated" else f"{count:,} {kind}s"


def centrality_order(vectors: np.ndarray, degrees: np.ndarray) -> list[int]:
    """Return the positions of members, the most central first. vectors: (members, d) unit rows; degrees: (members,)."""
    order: list[int] = np.argsort(-np.round(centrality(vectors, degrees), 6), kind="stable").tolist()
    return order


def _folded(names: Sequence[str]) -> frozenset[str]:
    return frozenset(name.casefold() for name in names)
