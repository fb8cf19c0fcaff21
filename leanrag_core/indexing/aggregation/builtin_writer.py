"""F_entity and F_rel without a language model: names by c-TF-IDF, sentences chosen from the members' own."""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, count

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.aggregation.cluster_terms import BaseTerms, Candidate, base_terms, cluster_candidates
from leanrag_core.indexing.aggregation.extracts import choose_sentences, findings_of
from leanrag_core.indexing.aggregation.phrases import Lexicon, Phrase, folded, is_content, words
from leanrag_core.indexing.aggregation.relations import Texts
from leanrag_core.indexing.aggregation.writer import ClusterView, RelationGroupView, Sentence, Summary
from leanrag_core.indexing.extraction.language_neutral import is_latin
from leanrag_core.system.threads import collector_paused
from leanrag_core.types.graph import Layer, children_offsets

_LONGEST = 60  # characters
_LONGEST_ACRONYM = 6
_SMALL_WORDS = frozenset(("a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"))
_POSSESSIVE = re.compile(r"['’]s?$")
_JOINT = " and "
_OTHER_JOINT = " · "  # between terms of another script, where an English word would be odd
_TERMS_TRIED = 14
_SECOND = 0.7  # weight of the second term's score beside the first one's
_SAME_KIND, _OTHER_CASE = 0.25, -0.35
_GIVEN_BEFORE = 0.25  # taken off for each sibling that is named with the term


@dataclass(frozen=True)
class Term:
    """A term that may stand in a cluster's name. kind: what it denotes (person, location, ...); "" for common nouns."""

    surface: str
    score: float
    kind: str = ""


@dataclass(frozen=True)
class ClusterName:
    """A cluster's name and the terms it is made of."""

    text: str
    terms: tuple[str, ...]


def cluster_name(
    terms: Sequence[Term],
    *,
    forbidden: Container[str],
    used: Mapping[str, int] | None = None,
    numbered: dict[str, int] | None = None,
) -> ClusterName:
    """Choose the best pair of terms that share no word, of one kind where there is a choice, at most about 60
    characters.

    terms: best first. forbidden: casefolded names that must not come out (the members' own and those of siblings).
    used: how many siblings are named with each casefolded term. numbered: the last number that each name was given
    apart by, kept from call to call so that many equal names take no longer.
    """
    used = {} if used is None else used
    numbered = {} if numbered is None else numbered
    tried = [Term(shown(term.surface), term.score, term.kind) for term in terms[:_TERMS_TRIED]]
    forms = [folded_words(term.surface) for term in tried]
    pairs = [(tried[a], tried[b]) for a, b in combinations(range(len(tried)), 2) if not forms[a] & forms[b]]
    if not pairs:  # few words, or a script without spaces: two members, else the one of several
        pairs = [(first, second) for first, second in combinations(tried, 2) if first.surface != second.surface]
    if not pairs:
        pairs = [(Term("Group", 0.0), tried[0] if tried else Term("", 0.0))]
    pairs.sort(key=lambda pair: -_fit(pair[0], pair[1], used))  # stable: ties in the order of the terms
    for first, second in pairs:
        text = _joined(first, second)
        if text.casefold() not in forbidden:
            return ClusterName(text, (first.surface.casefold(), second.surface.casefold()))
    plain = _joined(*pairs[0])
    for number in count(numbered.get(plain, 1) + 1):
        numbered[plain] = number
        text = f"{plain} ({number})"
        if text.casefold() not in forbidden:
            break
    return ClusterName(text, (pairs[0][0].surface.casefold(), pairs[0][1].surface.casefold()))


def _fit(first: Term, second: Term, used: Mapping[str, int]) -> float:
    """Score how well two terms name a cluster together: both good ones, of one kind, and no sibling has them."""
    score = first.score + _SECOND * second.score
    if first.kind == second.kind:
        score += _SAME_KIND
    elif not first.kind or not second.kind:
        score += _OTHER_CASE
    taken = used.get(first.surface.casefold(), 0) + used.get(second.surface.casefold(), 0)
    return round(score - _GIVEN_BEFORE * taken, 9)


def overlap(first: str, second: str) -> bool:
    """Return whether two terms share a word, so that joining them would repeat it."""
    return bool(folded_words(first) & folded_words(second))


@lru_cache(maxsize=65_536)
def folded_words(term: str) -> frozenset[str]:
    """Return the words of a term in the form in which they are compared."""
    return frozenset(folded(word) for word in words(term))


def shown(phrase: str) -> str:
    """Return the term with single spaces and no possessive ending.

    The rest stays as the documents write it, but for several words in capitals or one long one, which are set in title
    case (acronyms are shorter).
    """
    phrase = _POSSESSIVE.sub("", " ".join(phrase.split()))
    if phrase.isupper() and (" " in phrase or len(phrase) > _LONGEST_ACRONYM):
        phrase = title_case(phrase)
    return phrase


def title_case(phrase: str) -> str:
    """Give each word a capital first letter, but for small words inside."""
    parts = phrase.lower().split()
    return " ".join(
        word if place and word in _SMALL_WORDS else word[:1].upper() + word[1:] for place, word in enumerate(parts)
    )


def _joined(first: Term, second: Term) -> str:
    """Join both terms in sentence case; a second one that is too long is cut."""
    start = first.surface[:1].upper() + first.surface[1:]
    joint = _JOINT if is_latin(first.surface + second.surface) else _OTHER_JOINT
    room = max(_LONGEST - len(start) - len(joint), 16)
    end = second.surface
    if len(end) > room:
        cut = end[: room - 1]
        end = (cut.rsplit(" ", 1)[0] if " " in cut else cut).rstrip(",;:- ") + "…"
    return f"{start}{joint}{end}"


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
        _, terms, read = self._base
        cluster_of = np.arange(len(layers[0]))
        for layer in layers[:-1]:
            cluster_of = layer.parent[cluster_of]
        cluster_of = np.asarray(labels)[cluster_of]
        n_clusters = int(np.max(labels)) + 1
        candidates = cluster_candidates(terms, cluster_of, n_clusters)
        names = layer_names(layers[0], read, cluster_of, layers[-1], np.asarray(labels), candidates)
        self._prepared = _Prepared(layers[-1].number + 1, terms, names)

    def entity(self, members: ClusterView) -> Summary:
        """Write a name, two to four of the members' sentences, and findings from members and inside relations."""
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
        """Say which kinds of relations join the two groups, and how many; no member is named."""
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
    """Return "1 verb", "11 co-occurrences", "3 stated"."""
    return f"{count} {kind}" if count == 1 or kind == "stated" else f"{count} {kind}s"


def centrality_order(vectors: np.ndarray, degrees: np.ndarray) -> list[int]:
    """Return the positions of members, the most central first. vectors: (members, d) unit rows; degrees: (members,)."""
    order: list[int] = np.argsort(-np.round(centrality(vectors, degrees), 6), kind="stable").tolist()
    return order


def _folded(names: Sequence[str]) -> frozenset[str]:
    return frozenset(name.casefold() for name in names)


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
