"""F_entity and F_rel without a language model: names by c-TF-IDF, sentences chosen from the members' own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.aggregation.cluster_terms import BaseTerms, Candidate, base_terms, cluster_candidates
from leanrag_core.indexing.aggregation.columns import Texts
from leanrag_core.indexing.aggregation.extracts import choose_sentences, findings_of
from leanrag_core.indexing.aggregation.lexicon import Lexicon
from leanrag_core.indexing.aggregation.naming import cluster_name, title_case, written
from leanrag_core.indexing.aggregation.writer import ClusterView, RelationGroupView, Sentence, Summary
from leanrag_core.types.graph import Layer, children_offsets

_DEGREE_SHARE = 0.4  # how much inside relations count beside nearness to the centroid
_PROPER_NAME, _SEVERAL_WORDS = 0.15, 0.05
_FRESH = 0.5  # of the best phrase's score
_SENTENCES = 4
_DESCRIPTION_TOKENS = 120
_KEYWORDS_SHOWN = 3


@dataclass(frozen=True, eq=False)
class _Prepared:
    """What `prepare` leaves for the clusters of one layer."""

    layer: int
    terms: BaseTerms
    names: list[str]


class BuiltinWriter:
    """Writes from the members' words alone, in no time and for nothing. See AggregationWriter."""

    def __init__(self) -> None:
        self._base: tuple[pa.Table, BaseTerms] | None = None
        self._prepared: _Prepared | None = None

    def prepare(self, layers: Sequence[Layer], labels: np.ndarray) -> None:
        """Phrases and names of all clusters of the coming layer are decided, so that siblings differ."""
        entities = layers[0].entities
        if self._base is None or self._base[0] is not entities:
            self._base = (entities, base_terms(entities))
        terms = self._base[1]
        cluster_of = np.arange(len(layers[0]))
        for layer in layers[:-1]:
            cluster_of = layer.parent[cluster_of]
        cluster_of = np.asarray(labels)[cluster_of]
        n_clusters = int(np.max(labels)) + 1
        names = _names(layers[-1], np.asarray(labels), n_clusters, cluster_candidates(terms, cluster_of, n_clusters))
        self._prepared = _Prepared(layers[-1].number + 1, terms, names)

    def entity(self, members: ClusterView) -> Summary:
        """A name, two to four of the members' sentences, and findings from members and inside relations."""
        prepared = self._prepared
        ready = prepared is not None and prepared.layer == members.layer and members.label < len(prepared.names)
        lexicon = prepared.terms.lexicon if prepared else Lexicon()
        weights = prepared.terms.word_weight if prepared else np.ones(0)
        order = centrality_order(members.vectors, np.array(members.degrees))
        if ready and prepared is not None:
            name = prepared.names[members.label]
        else:
            name = cluster_name(
                [], [members.names[place] for place in order], forbidden=_folded(members.names), joint=" and "
            )
        description = choose_sentences(
            members.descriptions,
            members.vectors,
            lexicon,
            weights,
            n_sentences=_SENTENCES,
            max_tokens=_DESCRIPTION_TOKENS,
        )
        if not description:
            description = f"A group of {len(members.names)}: " + ", ".join(members.names[place] for place in order[:8])
        return Summary(name, description, findings_of(members, order))

    def relation(self, view: RelationGroupView) -> Sentence:
        """Which kinds of relations join the two groups, and how many; no member is named."""
        total = sum(count for _, count in view.base_kinds)
        noun = "relation" if view.strength == 1 else "relations"
        joined = f"“{view.left_name}” and “{view.right_name}” are joined by {view.strength} {noun}"
        if total > view.strength:
            joined += f", which stand for {total} between their entities"
        members = _folded(view.member_names)
        shown = [f"“{word}”" for word in view.keywords if word.casefold() not in members][:_KEYWORDS_SHOWN]
        words = f"; in words such as {_listed(shown)}" if shown else ""
        kinds = () if [kind for kind, _ in view.base_kinds] == ["stated"] else view.base_kinds
        parts = [_counted(kind, count) for kind, count in kinds]
        return Sentence(f"{joined}: {_listed(parts)}{words}." if parts else f"{joined}{words}.")


def _counted(kind: str, count: int) -> str:
    """ "1 verb", "11 co-occurrences", "3 stated"."""
    return f"{count} {kind}" if count == 1 or kind == "stated" else f"{count} {kind}s"


def centrality_order(vectors: np.ndarray, degrees: np.ndarray, bonus: np.ndarray | float = 0.0) -> list[int]:
    """Positions of members, the most central first: nearest to the centroid and best connected inside.

    vectors: (members, d) unit rows; degrees: (members,); bonus: added to each member's score.
    """
    centroid = vectors.mean(axis=0, dtype=np.float64)
    nearness = vectors @ (centroid / max(float(np.linalg.norm(centroid)), 1e-12))
    score = nearness + _DEGREE_SHARE * degrees / max(int(degrees.max(initial=0)), 1) + bonus
    order: list[int] = np.argsort(-np.round(score, 6), kind="stable").tolist()
    return order


def _names(below: Layer, labels: np.ndarray, n_clusters: int, candidates: Iterable[list[Candidate]]) -> list[str]:
    """A name for every cluster, none given twice in the layer as long as there is a choice."""
    below_names = Texts(below.entities["name"])
    # Some extractors write every name in capitals; there these say nothing about acronyms.
    shouted = 2 * sum(name.isupper() for name in below_names) > len(below_names)
    degrees = _inside_degrees(below, labels)
    offsets, order = children_offsets(labels, n_clusters)
    taken = _Taken()
    used: set[str] = set()
    names = []
    for label, phrases in enumerate(candidates):
        rows = order[offsets[label] : offsets[label + 1]]
        members = below_names.of(rows)
        if len(rows) == 1:  # promoted: keeps its child's name
            names.append(members[0])
        else:
            appeal = np.array([0.0 if shouted else _appeal(name) for name in members])
            order_inside = centrality_order(below.vectors[rows], degrees[rows], appeal)
            central = [members[place] for place in order_inside]
            if shouted:
                central = [title_case(name) for name in central]
            phrases = _fresh_first(phrases, used)
            # Above layer 1 the members' names are phrases already; joining them on would grow "a: b: c: d".
            partners = central if below.number == 0 else [phrase.surface for phrase in phrases]
            joint = ": " if below.number == 0 else " and "
            taken.own = _folded(members)
            name = cluster_name(phrases, partners or central, forbidden=taken, joint=joint, numbered=taken.numbered)
            names.append(name)
            used.add(name.partition(joint)[0].casefold())
        taken.given.add(names[-1].casefold())
    return names


class _Taken:
    """Names that a cluster cannot have: its members' own, and those given to siblings. numbered: see cluster_name."""

    def __init__(self) -> None:
        self.own: frozenset[str] = frozenset()
        self.given: set[str] = set()
        self.numbered: dict[str, int] = {}

    def __contains__(self, name: object) -> bool:
        return name in self.given or name in self.own


def _appeal(name: str) -> float:
    """How well a member's name serves as half of a cluster's: proper names and names of several words say more."""
    return _PROPER_NAME * any(letter.isupper() for letter in name) + _SEVERAL_WORDS * (" " in name)


def _fresh_first(phrases: list[Candidate], used: set[str]) -> list[Candidate]:
    """The phrases with those that no sibling leads with in front, unless these are far worse."""
    fresh = [written(phrase.surface).casefold() not in used for phrase in phrases]
    first = fresh.index(True) if True in fresh else -1
    if first < 0 or phrases[first].score < _FRESH * phrases[0].score:
        return phrases
    return [
        phrase
        for wanted in (True, False)
        for phrase, is_fresh in zip(phrases, fresh, strict=True)
        if is_fresh is wanted
    ]


def _inside_degrees(below: Layer, labels: np.ndarray) -> np.ndarray:
    ends = below.ends
    inside = ends[labels[ends[:, 0]] == labels[ends[:, 1]]]
    return np.bincount(inside.ravel(), minlength=len(below))


def _folded(names: Sequence[str]) -> frozenset[str]:
    return frozenset(name.casefold() for name in names)


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
