"""Names of clusters without a language model: terms of base entities that set a cluster apart and are central to it."""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leanrag_core.indexing.aggregation.cluster_terms import Candidate
from leanrag_core.indexing.aggregation.joined_names import (
    Term,
    cluster_name,
    folded_form,
    overlap,
    terms_in,
    title_case,
)
from leanrag_core.indexing.aggregation.phrases import Phrase, folded, is_content, words
from leanrag_core.indexing.aggregation.relations import Texts
from leanrag_core.indexing.extraction.english import GENERAL_NOUNS, LEADING, RELATIVE
from leanrag_core.text.chinese import is_chinese
from leanrag_core.types.graph import Layer, children_offsets

DEGREE_SHARE = 0.4  # how much inside relations count beside nearness to the centroid
_SEVERAL_WORDS, _HEADING, _PERSON = 1.15, 0.45, 0.9
_SPANNED_FROM = 2  # lowest layer whose clusters are named with terms of several members
_FEWEST_FOR_THREE = 12  # base entities of a cluster that is named with three terms
_LONGEST_TERM = 4  # words; longer ones are titles and sentences
_COMMON_KINDS = frozenset(["concept", "method", "organism", "product", "unknown", ""])
_HEADINGS = frozenset(["heading", "title"])
_SENTENCE = re.compile(r"[?!:;,]")
_EVALUATING = LEADING | RELATIVE
_FEWEST_HEADS, _HEAD_SHARE = 3, 0.12  # members whose names end with the same noun, at least, for it to name the cluster
_HEAD_SCORE = 0.45


@dataclass(frozen=True)
class NameWeights:
    """What counts in a term of a cluster's name.

    distinction, nearness, links: weights of its c-TF-IDF, of its cosine to the centroid, of its relations inside.
    single_word: factor of common nouns of one word. passages: factors of terms that one, two, three, and more passages
    mention. general_noun: factor of terms that are general nouns. own_links: relations inside the cluster count as a
    share of all relations of the entity. three: larger clusters are named with three terms. spans: clusters of
    aggregated clusters are named with terms of several children.
    """

    distinction: float
    nearness: float
    links: float
    single_word: float
    passages: tuple[float, float, float, float]
    general_noun: float
    own_links: bool
    three: bool
    spans: bool


OF_DESCRIPTIONS = NameWeights(
    0.45, 0.25, 0.3, 0.85, (1.0, 1.0, 1.0, 1.0), 1.0, own_links=False, three=False, spans=False
)
# Where rules find the entities, an entity with links all over the corpus says little about a cluster, and one that a
# single passage mentions is often a turn of phrase.
OF_MENTIONS = NameWeights(0.4, 0.2, 0.4, 0.8, (0.6, 1.0, 1.08, 1.15), 0.5, own_links=True, three=True, spans=True)


@dataclass(frozen=True, eq=False)
class BaseNames:
    """The base entities as terms.

    folded: the folded words of each name; rows_of: the rows that have those words. written: every word of the corpus as
    it is written somewhere. shouted: most names are in capitals.
    """

    names: list[str]
    types: list[str]
    folded: list[Phrase]
    rows_of: dict[Phrase, list[int]]
    written: Container[str]
    shouted: bool


def base_names(base: Layer, written: Container[str]) -> BaseNames:
    """Read the names of the base layer, once for all layers. written: see BaseNames."""
    names = list(Texts(base.entities["name"]))
    forms = [folded_form(name) for name in names]
    rows_of: dict[Phrase, list[int]] = defaultdict(list)
    for row, form in enumerate(forms):
        rows_of[form].append(row)
    # Some extractors write every name in capitals; there these say nothing about acronyms.
    shouted = 2 * sum(name.isupper() for name in names) > len(names)
    return BaseNames(names, list(Texts(base.entities["type"])), forms, dict(rows_of), written, shouted)


def layer_names(
    base: Layer,
    entities: BaseNames,
    child_of: np.ndarray,
    below: Layer,
    labels: np.ndarray,
    candidates: Iterable[Sequence[Candidate]],
    weights: NameWeights,
) -> list[str]:
    """Return a name for every cluster, none given twice in the layer as long as there is a choice.

    child_of: (n,) int, for each of the n base entities the entity of `below` that it is in. labels: (m,) int, the
    cluster of each of the m entities of `below`. candidates: for each cluster the phrases that set it apart, best
    first. A promoted cluster keeps its child's name.
    """
    n_clusters = int(np.max(labels)) + 1
    cluster_of = labels[child_of]
    below_names = Texts(below.entities["name"])
    spans = weights.spans and below.number >= _SPANNED_FROM
    offsets, order = children_offsets(labels, n_clusters)
    base_offsets, base_order = children_offsets(cluster_of, n_clusters)
    inside = inside_degrees(base, cluster_of)
    links = np.log1p(inside)
    if weights.own_links:
        links *= inside / np.maximum(np.bincount(base.ends.ravel(), minlength=len(base)), 1)
    forbidden = _Taken()
    used: Counter[str] = Counter()
    names = []
    for label, phrases in enumerate(candidates):
        members = below_names.of(order[offsets[label] : offsets[label + 1]])
        if len(members) == 1:
            names.append(members[0])
        else:
            rows = base_order[base_offsets[label] : base_offsets[label + 1]]
            forbidden.own = frozenset(name.casefold() for name in members)
            spanning = _spanning_terms(base, entities, rows, child_of, inside, below_names) if spans else []
            terms = spanning if len(spanning) > 1 else _terms(base, entities, rows, inside, links, phrases, weights)
            third = weights.three and len(rows) >= _FEWEST_FOR_THREE
            name = cluster_name(terms, forbidden=forbidden, used=used, numbered=forbidden.numbered, with_third=third)
            names.append(name.text)
            used.update(name.terms)
        forbidden.given.add(names[-1].casefold())
    return names


def _spanning_terms(
    base: Layer, entities: BaseNames, rows: np.ndarray, child_of: np.ndarray, inside: np.ndarray, below_names: Texts
) -> list[Term]:
    """Return for each child of a cluster the term of the child's name with most relations inside the cluster, best
    first.

    The phrases that set a large cluster of clusters apart are often details of one child; the children's own terms
    together say what it spans. rows: (k,) int, the cluster's base entities. child_of: see layer_names(). inside: (n,)
    int, relations of each base entity inside its cluster.
    """
    children = np.unique(child_of[rows]).tolist()
    terms_of = {child: {folded_form(term) for term in terms_in(below_names[child])} for child in children}
    best: dict[int, int] = {}
    for row in rows.tolist():
        child, form = int(child_of[row]), entities.folded[row]
        most_inside = inside[best[child]] if child in best else 0
        if inside[row] > most_inside and form in terms_of[child] and not suits_many(form):
            best[child] = row
    ties = np.log1p(inside[list(best.values())])
    scores = ties / max(float(ties.max(initial=0)), 1e-12)
    terms = [
        _term(entities, row, score, recurs=len(base.chunks_of(row)) > 1)
        for row, score in zip(best.values(), scores.tolist(), strict=True)
    ]
    # Such a cluster holds entities of many kinds, so that the kind of a term does not decide which terms fit together.
    return sorted((replace(term, kind="") for term in terms), key=lambda term: -round(term.score, 9))


class _Taken:
    """Names that a cluster cannot have: its members' own, and those given to siblings. numbered: see cluster_name."""

    def __init__(self) -> None:
        self.own: frozenset[str] = frozenset()
        self.given: set[str] = set()
        self.numbered: dict[str, int] = {}

    def __contains__(self, name: object) -> bool:
        return name in self.given or name in self.own


def inside_degrees(below: Layer, labels: np.ndarray) -> np.ndarray:
    """Count the relations of each entity inside its cluster, (n,) int64. labels: (n,) cluster of each entity."""
    ends = below.ends
    inside = ends[labels[ends[:, 0]] == labels[ends[:, 1]]]
    return np.bincount(inside.ravel(), minlength=len(below))


def centrality(vectors: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Score how central each member is: near to the centroid, well connected inside; (members,) float64.

    vectors: (members, d) unit rows. degrees: (members,) numbers, how tied each is to the cluster.
    """
    centroid = vectors.mean(axis=0, dtype=np.float64)
    nearness = vectors @ (centroid / max(float(np.linalg.norm(centroid)), 1e-12))
    central: np.ndarray = nearness + DEGREE_SHARE * degrees / max(float(degrees.max(initial=0)), 1e-12)
    return central


def _terms(
    base: Layer,
    entities: BaseNames,
    rows: np.ndarray,
    degrees: np.ndarray,
    links: np.ndarray,
    phrases: Sequence[Candidate],
    weights: NameWeights,
) -> list[Term]:
    """Return the terms of a cluster, best first: its base entities that its distinctive phrases name, and shared head
    nouns.

    rows: (k,) int, its base entities. degrees, links: (base entities,) relations inside the cluster, and their weight
    in the score. Where fewer than two terms are distinctive, the most central entities follow.
    """
    vectors = base.vectors[rows]
    place_of = {row: place for place, row in enumerate(rows.tolist())}
    distinction: dict[int, float] = {}
    for phrase in phrases:
        for row in entities.rows_of.get(phrase.words, ()):
            if row in place_of:
                distinction.setdefault(row, phrase.score)
    named = [row for row in distinction if _may_name(entities.names[row], entities.types[row])]
    terms: list[Term] = []
    if named:
        centroid = vectors.mean(axis=0, dtype=np.float64)
        nearness = base.vectors[named] @ (centroid / max(float(np.linalg.norm(centroid)), 1e-12))
        tied = links[named]
        best = max(distinction[row] for row in named)
        score = (
            weights.distinction * np.array([distinction[row] for row in named]) / max(best, 1e-12)
            + weights.nearness * nearness / max(float(nearness.max()), 1e-12)
            + weights.links * tied / max(float(tied.max()), 1e-12)
        )
        score *= [_shape(entities.names[row], entities.types[row], weights.single_word) for row in named]
        recurring = [len(base.chunks_of(row)) for row in named]
        score *= [_general_noun_factor(entities.folded[row], weights) for row in named]
        score *= [weights.passages[min(max(n, 1), len(weights.passages)) - 1] for n in recurring]
        terms = [
            _term(entities, row, float(value), recurs=n > 1)
            for row, value, n in zip(named, score.tolist(), recurring, strict=True)
        ]
    heads = [
        Term(head.surface, (_HEAD_SCORE + head.n / len(rows)) * _general_noun_factor((folded(head.surface),), weights))
        for head in shared_heads(entities, rows)
    ]
    terms = sorted([*heads, *terms], key=lambda term: -round(term.score, 9))
    if not any(not overlap(term.surface, terms[0].surface) for term in terms[1:]):
        central = np.argsort(-np.round(centrality(vectors, degrees[rows]), 6), kind="stable").tolist()
        terms += [_term(entities, int(rows[place]), 0.0) for place in central]
    return terms


def _term(entities: BaseNames, row: int, score: float, *, recurs: bool = True) -> Term:
    name, kind = entities.names[row], entities.types[row]
    if entities.shouted:
        return Term(title_case(name), score, kind, recurs)
    if kind in _HEADINGS or kind in _COMMON_KINDS:
        small = name[:1].lower() + name[1:]
        if " " in name and name[1:].islower() and small.partition(" ")[0] in entities.written:
            name = small  # the capital of a heading or a sentence's start
        proper = kind != "organism" and any(letter.isupper() for letter in name)
        kind = "name" if proper else ""
    return Term(name, score, kind, recurs)


def _may_name(name: str, kind: str) -> bool:
    """Return whether a name says something by itself and is no sentence."""
    name_words = words(name)
    if not any(is_content(word) for word in name_words) or len(name_words) > _LONGEST_TERM:
        return False
    return not (kind in _HEADINGS and _SENTENCE.search(name))


def _general_noun_factor(name: Phrase, weights: NameWeights) -> float:
    return weights.general_noun if suits_many(name) else 1.0


def suits_many(name: Phrase) -> bool:
    """Return whether a name would suit many clusters: general nouns with words that only evaluate."""
    before = all(word in _EVALUATING or word in GENERAL_NOUNS for word in name[:-1])
    return bool(name) and name[-1] in GENERAL_NOUNS and before


def _shape(name: str, kind: str, single_word: float) -> float:
    """Weigh how well a name serves in a cluster's: names of several words say more, headings less."""
    name_words = words(name)
    counts_in_full = any(map(str.isupper, name)) or is_chinese(name)  # a Chinese word says as much as several
    weight = _SEVERAL_WORDS if len(name_words) > 1 else 1.0 if counts_in_full else single_word
    return weight * (_HEADING if kind in _HEADINGS else _PERSON if kind == "person" else 1.0)


@dataclass(frozen=True)
class SharedHead:
    """A noun that ends the names of several common-noun members, as it is written most often. n: number of these."""

    surface: str
    n: int


def shared_heads(entities: BaseNames, rows: np.ndarray) -> list[SharedHead]:
    """Return the nouns that end the names of three members and more, in the order of the members: "combs".

    rows: (k,) int, the cluster's base entities.
    """
    spellings_of: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows.tolist():
        name_words = words(entities.names[row])
        if len(name_words) > 1 and entities.types[row] in _COMMON_KINDS and is_content(name_words[-1]):
            spellings_of[entities.folded[row][-1]][name_words[-1]] += 1
    heads = []
    for forms in spellings_of.values():
        if forms.total() >= max(_FEWEST_HEADS, _HEAD_SHARE * len(rows)):
            surface = min(forms, key=lambda form: (-forms[form], form))
            heads.append(SharedHead(surface.lower() if surface[1:].islower() else surface, forms.total()))
    return heads
