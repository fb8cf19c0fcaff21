"""Of what type a name is, decided once for the whole corpus: by its words, its casing, and the labels it was given."""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from leanrag_core.indexing.extraction.english import (
    CONCEPT_NOUNS,
    EVENT_NOUNS,
    GIVEN,
    HONORIFICS,
    LAW_NOUNS,
    LEGAL_FORMS,
    LOCATION_NOUNS,
    METHOD_NOUNS,
    ORGANIZATION_NOUNS,
    PARTICLES,
    PERSON_NOUNS,
)
from leanrag_core.indexing.extraction.sentences import ReadSentence

VAGUE = ("title", "heading")
_KINDS = (
    ("concept", CONCEPT_NOUNS),
    ("organization", ORGANIZATION_NOUNS),
    ("law", LAW_NOUNS),
    ("event", EVENT_NOUNS),
    ("location", LOCATION_NOUNS),
)
_DETERMINERS = frozenset(["a", "an", "any", "each", "every", "its", "no", "such", "that", "the", "their", "this"])
_DISTRIBUTIVE = frozenset(["any", "each", "every", "such"])  # before common nouns only: "each Lender"
_BEFORE_PLACE = frozenset(["in", "into", "near", "river"])
_COUNTRIES = frozenset(["EU", "UAE", "UK", "US", "USA", "USSR", "U.S.", "U.K."])
_EPONYMS = frozenset(
    ["bayesian", "boolean", "brownian", "cartesian", "euclidean", "gaussian", "gaussians", "newtonian", "noetherian"]
)
_REFERENCE = re.compile(
    r"(?:section|article|clause|rule|schedule|annex|exhibit|resolution)s? (?:\d|[IVXLC]+\b|[A-Z]\b)|regulation [A-Z\d]",
    re.I,
)
_SMALL = re.compile(r"\b[^\W\d_A-Z][^\W\d_]+\b")
_HEAD_ENDS = frozenset(["of", "for", "in", "at", "on", "and", "under", "to", "with"])
_ACRONYM = re.compile(r"[A-Z][A-Z&.\d-]{1,6}")
_MIXED = re.compile(r".*[a-z][A-Z]|.*[A-Za-z]\d|.*[A-Z]{2,}[a-z]|.*\+\+")
_METHOD_ENDING = re.compile(r".+(?:Rank|GCN|VAE|Rec|Walk|2vec|Hash|Boost|UCB|Log|CF|SVD)\W*$|.*\d[A-Z]?[a-z]+$")
_CHEMICAL = re.compile(r".*(?:mycin|cillin|cide|azole|idine|oxide|traz|phos|thrin|inate|prid|cline)s?$", re.I)
_MICROBE = re.compile(r".*(?:bacillus|coccus|bacter|rhizobium|clostridium|myces|spora|sphaera|otinia)$", re.I)
_YEAR = re.compile(r".* of \d{4}$")


@dataclass
class _Seen:
    """What the corpus shows of one key."""

    surfaces: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    before: Counter[str] = field(default_factory=Counter)
    human: int = 0
    ordinary: bool = False


@dataclass(frozen=True)
class _Corpus:
    """Words of all texts: small, those written in small letters somewhere; genera, first words of species; given and
    family, parts of persons' names; companies, names that some document writes with a legal form."""

    small: Container[str]
    genera: Container[str]
    given: Container[str]
    family: Container[str]
    companies: Container[str]


def settled_types(sentences: Sequence[ReadSentence]) -> dict[str, str]:
    """Return the type of each key that is seen in running text."""
    names: dict[str, _Seen] = defaultdict(_Seen)
    small: set[str] = set()
    for sentence in sentences:
        small.update(_SMALL.findall(sentence.text))
        for sighting in sentence.sightings:
            if sighting.type not in VAGUE:
                key = names[sighting.key]
                key.surfaces[sighting.surface] += 1
                key.labels[sighting.type] += 1
                key.before[sighting.before] += 1
                key.human += sighting.human
                key.ordinary |= sighting.ordinary
    genera = {key.split()[0] for key, name in names.items() if "organism" in name.labels}
    people = [key.split() for key, name in names.items() if _majority(name.labels) == "person" and " " in key]
    first = Counter(words[0] for words in people if words[0] not in small)
    given = GIVEN | {word for word, n in first.items() if n > 1 and word not in small}
    family = {words[-1] for words in people if words[0] in given and words[-1] not in small}
    companies = {company_of(key) for key in names} - {""}
    corpus = _Corpus(small, genera, given, family, companies)
    return {key: _type(name, corpus) for key, name in names.items()}


def company_of(key: str) -> str:
    """Return the name without the legal form that ends it; "" for a name without one."""
    short, _, last = key.rpartition(" ")
    return short.rstrip(", ") if last in LEGAL_FORMS else ""


def _majority(counted: Counter[str]) -> str:
    """Return the most frequent label, of equal ones a named type before a concept."""
    return min(counted, key=lambda label: (-counted[label], label == "concept", label))


def _type(name: _Seen, corpus: _Corpus) -> str:
    surface = min(name.surfaces, key=lambda text: (-name.surfaces[text], text))
    label = _majority(name.labels)
    named = {kind: n for kind, n in name.labels.items() if kind != "concept"}
    words = [word for word in (part.strip(",.;:()\"'") for part in surface.split()) if word]
    if "organism" in named or surface.casefold() in corpus.genera or (len(words) == 1 and _MICROBE.match(surface)):
        return "organism"
    if not words or surface[:1].islower():
        return _of_common_noun(words)
    if named and label == "concept" and name.labels["concept"] <= 2 * sum(named.values()):
        label = min(named, key=lambda kind: (-named[kind], kind))
    distributive = sum(name.before[word] for word in _DISTRIBUTIVE)
    if distributive and label not in ("group", "person"):
        return "concept"
    by_words = _by_words(surface, words, label, corpus)
    if by_words:
        return by_words
    if not named or label == "concept":
        return _of_common_noun(words)
    if len(words) == 1:
        return _of_single_word(surface, label, name, corpus)
    return _of_several_words(words, label, name, corpus)


def _of_common_noun(words: Sequence[str]) -> str:
    return "method" if words and words[-1].casefold() in METHOD_NOUNS else "concept"


def _by_words(surface: str, words: Sequence[str], label: str, corpus: _Corpus) -> str:
    """Return what the words of a name alone decide; "" when they decide nothing."""
    low = [word.casefold() for word in words]
    if _REFERENCE.match(surface):
        return "law"
    if (low[-1] in LEGAL_FORMS and len(low) > 1) or surface.casefold() in corpus.companies:
        return "organization"
    if label == "work":
        plain = low[-1] in CONCEPT_NOUNS and _HEAD_ENDS.isdisjoint(low)
        return "concept" if low[0] == "nobel" or plain else "work"
    if label not in ("event", "law") and _is_person(words, corpus):
        return "person"
    if len(low) < 2:
        if low[0] in ORGANIZATION_NOUNS:
            return label if label in ("organization", "location") else "concept"
        return "concept" if low[0] in CONCEPT_NOUNS and label != "person" else ""
    end = next((place for place, word in enumerate(low) if place and word in _HEAD_ENDS), len(low))
    if not all(word[0].isupper() for word in words[:end]):
        return ""
    for kind, nouns in _KINDS:
        unlabelled = label == "concept" and (kind not in ("organization", "law") or len(words) < 3)
        if low[end - 1] in nouns and not unlabelled:
            return kind
    if _YEAR.match(surface):
        return "event"
    if label == "law":
        return "concept"
    return "person" if low[0] in PERSON_NOUNS or low[0] in HONORIFICS else ""


def _is_person(words: Sequence[str], corpus: _Corpus) -> bool:
    """Return whether the name has two to five words, the first a given name, the last no noun that ends other names."""
    low = [word.casefold() for word in words]
    if "of" in low[2:]:
        words, low = words[: low.index("of")], low[: low.index("of")]
    if not 2 <= len(words) <= 5 or (low[0] not in corpus.given and low[0].split("-")[0] not in corpus.given):
        return False
    if not all(word[0].isupper() or word in PARTICLES for word in words) or low[-1] in PARTICLES:
        return False
    return low[-1] in corpus.family or not any(low[-1] in nouns for _, nouns in _KINDS)


def _of_single_word(surface: str, label: str, name: _Seen, corpus: _Corpus) -> str:
    low = surface.casefold()
    total = name.labels.total()
    determined = 2 * sum(name.before[word] for word in _DETERMINERS) >= total
    placed = 2 * sum(name.before[word] for word in _BEFORE_PLACE) >= total
    if low in _EPONYMS or _CHEMICAL.match(surface):
        return "concept"
    if _ACRONYM.fullmatch(surface):
        return _of_acronym(surface, label, name, determined)
    if _METHOD_ENDING.match(surface) and sum(map(str.isupper, surface)) > 1:
        return "method"
    if _MIXED.match(surface):
        return label if label in ("organization", "product") else "product"
    if label == "language":
        return label
    common = low in corpus.small or low.removesuffix("s") in corpus.small or f"{low}s" in corpus.small
    if common and (label != "location" or total < 3):
        return "concept"
    if placed and label in ("group", "person", "organization", "product") and not (label == "group" and name.ordinary):
        return "location"
    if low in corpus.family and not placed:
        return "person"
    if label == "group":
        return label
    if 3 * name.human >= total and not (label == "location" and placed):
        return "person"
    if name.ordinary and label != "location" and name.before[""] == total and low not in corpus.given:
        return "concept"  # a capital at the start of a sentence or table cell
    if determined and label in ("organization", "person", "product", "work", "law", "event"):
        return "concept"
    return label


def _of_acronym(surface: str, label: str, name: _Seen, determined: bool) -> str:
    if label == "location":
        return "location" if surface in _COUNTRIES or name.labels.total() > 2 else "concept"
    placed = name.before["at"] or name.before["from"] or name.before["joined"]
    always = name.labels["organization"] == name.labels.total() > 2
    is_organization = placed or "&" in surface or (always and determined)
    return "organization" if label == "organization" and is_organization else "concept"


def _of_several_words(words: Sequence[str], label: str, name: _Seen, corpus: _Corpus) -> str:
    low = [word.casefold() for word in words]
    common = all(word in corpus.small or word.removesuffix("s") in corpus.small for word in low)
    shaped = all(word[0].isupper() or word in PARTICLES for word in words)
    if label == "person":
        return "person" if shaped and not common else "concept"
    if label in ("organization", "location", "product") and shaped and name.human and len(words) < 5 and not common:
        return "person"
    if words[-1].islower() and label in ("location", "product", "event", "group"):
        return "concept"
    if common and label in ("product", "group", "event"):
        return "concept"
    if common and label == "organization" and any(name.before[word] for word in _DETERMINERS):
        return "concept"
    return label
