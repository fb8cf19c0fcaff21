"""Names for all clusters of a layer: the terms of each cluster ranked, and its best pair taken."""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.indexing.aggregation.cluster_terms import Candidate
from leanrag_core.indexing.aggregation.columns import Texts
from leanrag_core.indexing.aggregation.naming import Term, cluster_name, overlap, title_case
from leanrag_core.indexing.aggregation.phrases import Phrase, folded, is_content, words
from leanrag_core.types.graph import Layer, children_offsets

DEGREE_SHARE = 0.4  # how much inside relations count beside nearness to the centroid
_DISTINCTION, _NEARNESS, _LINKS = 0.45, 0.25, 0.3
_SEVERAL_WORDS, _SINGLE_WORD, _HEADING, _PERSON = 1.15, 0.85, 0.45, 0.9
_LONGEST_TERM = 4  # words; longer ones are titles and sentences
_COMMON_KINDS = frozenset(["concept", "method", "organism", "product", "unknown", ""])
_HEADINGS = frozenset(["heading", "title"])
_SENTENCE = re.compile(r"[?!:;,]")
_FEWEST_HEADS, _HEAD_SHARE = 3, 0.12  # members whose names end with one noun, for the noun to name the cluster
_HEAD_SCORE = 0.45


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
    forms = [tuple(folded(word) for word in words(name)) for name in names]
    rows_of: dict[Phrase, list[int]] = defaultdict(list)
    for row, form in enumerate(forms):
        rows_of[form].append(row)
    # Some extractors write every name in capitals; there these say nothing about acronyms.
    shouted = 2 * sum(name.isupper() for name in names) > len(names)
    return BaseNames(names, list(Texts(base.entities["type"])), forms, dict(rows_of), written, shouted)


def layer_names(
    base: Layer,
    read: BaseNames,
    cluster_of: np.ndarray,
    below: Layer,
    labels: np.ndarray,
    candidates: Iterable[Sequence[Candidate]],
) -> list[str]:
    """Return a name for every cluster, none given twice in the layer as long as there is a choice.

    cluster_of: (base entities,) cluster of each. labels: (entities of `below`,) the same for the layer below.
    candidates: for each cluster the phrases that set it apart, best first. A promoted cluster keeps its child's name.
    """
    n_clusters = int(np.max(labels)) + 1
    below_names = Texts(below.entities["name"])
    offsets, order = children_offsets(labels, n_clusters)
    base_offsets, base_order = children_offsets(cluster_of, n_clusters)
    degrees = inside_degrees(base, cluster_of)
    taken = _Taken()
    used: Counter[str] = Counter()
    names = []
    for label, phrases in enumerate(candidates):
        members = below_names.of(order[offsets[label] : offsets[label + 1]])
        if len(members) == 1:
            names.append(members[0])
        else:
            rows = base_order[base_offsets[label] : base_offsets[label + 1]]
            taken.own = frozenset(name.casefold() for name in members)
            terms = _terms(base, read, rows, degrees, phrases)
            name = cluster_name(terms, forbidden=taken, used=used, numbered=taken.numbered)
            names.append(name.text)
            used.update(name.terms)
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


def inside_degrees(below: Layer, labels: np.ndarray) -> np.ndarray:
    """Count the relations of each entity inside its cluster, (n,) int64. labels: (n,) cluster of each entity."""
    ends = below.ends
    inside = ends[labels[ends[:, 0]] == labels[ends[:, 1]]]
    return np.bincount(inside.ravel(), minlength=len(below))


def centrality(vectors: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Score how central each member is: near to the centroid, well connected inside; (members,) float64.

    vectors: (members, d) unit rows. degrees: (members,) int, relations inside the cluster.
    """
    centroid = vectors.mean(axis=0, dtype=np.float64)
    nearness = vectors @ (centroid / max(float(np.linalg.norm(centroid)), 1e-12))
    central: np.ndarray = nearness + DEGREE_SHARE * degrees / max(int(degrees.max(initial=0)), 1)
    return central


def _terms(
    base: Layer, read: BaseNames, rows: np.ndarray, degrees: np.ndarray, phrases: Sequence[Candidate]
) -> list[Term]:
    """Return the terms of a cluster, best first: its base entities that its distinctive phrases name, and shared head
    nouns.

    rows: (k,) int, its base entities. degrees: (base entities,). Where fewer than two terms are distinctive, the most
    central entities follow.
    """
    vectors = base.vectors[rows]
    place_of = {row: place for place, row in enumerate(rows.tolist())}
    distinction: dict[int, float] = {}
    for phrase in phrases:
        for row in read.rows_of.get(phrase.words, ()):
            if row in place_of:
                distinction.setdefault(row, phrase.score)
    named = [row for row in distinction if _may_name(read.names[row], read.types[row])]
    terms: list[Term] = []
    if named:
        centroid = vectors.mean(axis=0, dtype=np.float64)
        nearness = base.vectors[named] @ (centroid / max(float(np.linalg.norm(centroid)), 1e-12))
        links = np.log1p(degrees[named])
        best = max(distinction[row] for row in named)
        score = (
            _DISTINCTION * np.array([distinction[row] for row in named]) / max(best, 1e-12)
            + _NEARNESS * nearness / max(float(nearness.max()), 1e-12)
            + _LINKS * links / max(float(links.max()), 1e-12)
        )
        score *= [_shape(read.names[row], read.types[row]) for row in named]
        terms = [_term(read, row, float(value)) for row, value in zip(named, score.tolist(), strict=True)]
    terms = sorted([*_shared_heads(read, rows), *terms], key=lambda term: -round(term.score, 9))
    if not any(not overlap(term.surface, terms[0].surface) for term in terms[1:]):
        central = np.argsort(-np.round(centrality(vectors, degrees[rows]), 6), kind="stable").tolist()
        terms += [_term(read, int(rows[place]), 0.0) for place in central]
    return terms


def _term(read: BaseNames, row: int, score: float) -> Term:
    name, kind = read.names[row], read.types[row]
    if read.shouted:
        return Term(title_case(name), score, kind)
    if kind in _HEADINGS or kind in _COMMON_KINDS:
        small = name[:1].lower() + name[1:]
        if " " in name and name[1:].islower() and small.partition(" ")[0] in read.written:
            name = small  # the capital of a heading or a sentence's start
        proper = kind != "organism" and any(letter.isupper() for letter in name)
        kind = "name" if proper else ""
    return Term(name, score, kind)


def _may_name(name: str, kind: str) -> bool:
    """Return whether a name says something by itself and is no sentence."""
    spoken = words(name)
    if not any(is_content(word) for word in spoken) or len(spoken) > _LONGEST_TERM:
        return False
    return not (kind in _HEADINGS and _SENTENCE.search(name))


def _shape(name: str, kind: str) -> float:
    """Weigh how well a name serves in a cluster's: names of several words say more, headings less."""
    spoken = words(name)
    weight = _SEVERAL_WORDS if len(spoken) > 1 else 1.0 if any(map(str.isupper, name)) else _SINGLE_WORD
    return weight * (_HEADING if kind in _HEADINGS else _PERSON if kind == "person" else 1.0)


def _shared_heads(read: BaseNames, rows: np.ndarray) -> list[Term]:
    """Return nouns that end the names of several common-noun members, as they are written most often: "combs".

    rows: (k,) int, the cluster's base entities.
    """
    written: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows.tolist():
        spoken = words(read.names[row])
        if len(spoken) > 1 and read.types[row] in _COMMON_KINDS and is_content(spoken[-1]):
            written[read.folded[row][-1]][spoken[-1]] += 1
    terms = []
    for forms in written.values():
        n = forms.total()
        if n >= _FEWEST_HEADS and n >= _HEAD_SHARE * len(rows):
            surface = min(forms, key=lambda form: (-forms[form], form))
            terms.append(Term(surface.lower() if surface[1:].islower() else surface, _HEAD_SCORE + n / len(rows)))
    return terms
