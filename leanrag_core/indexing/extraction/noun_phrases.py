"""The entities of a parsed English sentence: names and noun phrases, trimmed to what they denote."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from leanrag_core.indexing.extraction.english_words import (
    GENERIC,
    HONORIFICS,
    LEADING,
    LEGAL_FORMS,
    MAY_BELONG,
    RANKS,
)
from leanrag_core.indexing.extraction.sentences import Sighting

MAX_TOKENS = 5
MAX_LENGTH = 100  # characters; what is longer is a code or a damaged table
_MAX_NAME_TOKENS = 9
_NAMED = {
    "PERSON": "person",
    "ORG": "organization",
    "GPE": "location",
    "LOC": "location",
    "FAC": "location",
    "NORP": "group",
    "WORK_OF_ART": "work",
    "LAW": "law",
    "EVENT": "event",
    "PRODUCT": "product",
    "LANGUAGE": "language",
}
_MEASURES = frozenset(["DATE", "TIME", "CARDINAL", "ORDINAL", "PERCENT", "QUANTITY", "MONEY"])
_STOPS = frozenset([",", "–", ":", ";", "/", "|", "...", "…", "•"])
_BRACKETS = frozenset('()[]{}<>"“”«»„')
_MARKUP = re.compile(r"[<>=\[\]{}|\\\"~^#@]|&\w+;")
_EDGE = re.compile(r"['’]s$|^[\W_]+|[^\w.)+#]+$|(?<![A-Z])\.$")


@dataclass(frozen=True)
class Phrases:
    """Sightings in order of their heads, and the phrases that were too general."""

    sightings: tuple[Sighting, ...]
    left_out: tuple[str, ...]


def phrases_of(sentence: Any, titles: Sequence[tuple[int, int]] = ()) -> Phrases:
    """Names, then the noun phrases that no name covers.

    sentence: a parsed spaCy Span. titles: token spans of the sentence that spell a document's title.
    """
    names = list(_names(sentence, titles))
    covered = {token: name for name in names for token in range(name.start, name.end)}
    sightings = list(names)
    left_out = []
    for chunk in sentence.noun_chunks:
        head = chunk.root
        if head.i in covered or head.ent_type_ in _MEASURES or head.pos_ == "PRON":
            continue
        tokens = _denoting(list(chunk), covered)
        if not tokens:
            continue
        surface = _concept_surface(tokens)
        if _too_general(tokens, surface):
            left_out.append(surface)
            continue
        kind = _NAMED.get(head.ent_type_, "concept")
        sightings.append(Sighting(surface, _concept_key(tokens, surface), kind, tokens[0].i, tokens[-1].i + 1, head.i))
    once: dict[tuple[int, int], Sighting] = {}
    for sighting in sorted(sightings, key=lambda phrase: (phrase.start, phrase.end)):
        once.setdefault((sighting.start, sighting.end), sighting)
    return Phrases(tuple(once.values()), tuple(left_out))


def _names(sentence: Any, titles: Sequence[tuple[int, int]]) -> Iterator[Sighting]:
    """Named entities and document titles, the longer one where they overlap."""
    doc = sentence.doc
    spans: list[tuple[int, int, str]] = []
    for entity in sentence.ents:
        if entity.label_ in _NAMED:
            start, end = _trimmed_name(list(entity))
            if start < end and _is_name(doc[start:end]):
                spans.append((_with_honorific(doc, start, sentence.start), end, _NAMED[entity.label_]))
    for start, end in titles:
        inside = [label for s, e, label in spans if start <= s and e <= end]
        spans.append((start, end, inside[0] if inside else "title"))
    taken: set[int] = set()
    for start, end, label in sorted(spans, key=lambda span: (span[0] - span[1], span[0], span[2] == "title")):
        if taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
            surface = _tidy(doc[start:end].text)
            if sum(map(str.isalpha, surface)) > 1 and len(surface) <= MAX_LENGTH and not _MARKUP.search(surface):
                yield Sighting(surface, surface.casefold(), label, start, end, doc[start:end].root.i)


def _trimmed_name(tokens: list[Any]) -> tuple[int, int]:
    """Token range of a name without articles, possessives and what stands outside a bracket or quote."""
    while tokens and (tokens[0].pos_ in ("DET", "PUNCT", "SYM", "SPACE") or tokens[0].tag_ in ("PRP$", "POS", "CC")):
        tokens = tokens[1:]
    if len(tokens) > 1 and tokens[0].is_sent_start and tokens[0].pos_ == "ADV":  # "Later Curie wrote"
        tokens = tokens[1:]
    person = bool(tokens) and tokens[0].ent_type_ == "PERSON"
    while person and len(tokens) > 1 and tokens[0].lower_ in RANKS:
        tokens = tokens[1:]
    for place, token in enumerate(tokens):
        outside = token.text in _BRACKETS or token.text in ("–", "|", ":", ";")
        repeated = person and place > 0 and token.text == tokens[place - 1].text
        if outside or repeated or (person and (token.text in (",", "and", "&") or token.pos_ in ("VERB", "AUX"))):
            tokens = tokens[:place]
            break
    if tokens and _hyphenated(tokens[-1]):  # half of a compound: "National League All" of "All-Star"
        tokens = tokens[:-1]
    while tokens and (tokens[-1].tag_ == "POS" or tokens[-1].pos_ in ("PUNCT", "SPACE", "CCONJ", "ADP", "DET")):
        tokens = tokens[:-1]
    return (tokens[0].i, tokens[-1].i + 1) if tokens else (0, 0)


def _hyphenated(token: Any) -> bool:
    """The token is written in one with what follows a hyphen."""
    after = token.i + 1
    doc = token.doc
    return (
        not token.whitespace_ and after + 1 < len(doc) and doc[after].text in ("-", "‑") and not doc[after].whitespace_
    )


def _is_name(span: Any) -> bool:
    if len(span) > _MAX_NAME_TOKENS or not any(letter.isalpha() for letter in span.text):
        return False
    if span.text.lower() in LEGAL_FORMS:
        return False
    capital = [token for token in span if any(letter.isupper() for letter in token.text)]
    if not capital:
        return False
    if all(token.is_stop or token.pos_ in ("INTJ", "ADV", "VERB", "AUX", "PRON", "ADP", "SCONJ") for token in capital):
        return False
    # A capital at the start of a sentence proves nothing.
    return len(span) > 1 or not span[0].is_sent_start or span[0].pos_ in ("PROPN", "NOUN", "ADJ")


def _with_honorific(doc: Any, start: int, first: int) -> int:
    """Mrs. Cratchit is not Mr. Cratchit, and King George is a king."""
    before = start - 1
    return before if before >= first and doc[before].lower_ in HONORIFICS and doc[before].text[0].isupper() else start


def _denoting(tokens: list[Any], covered: dict[int, Sighting]) -> list[Any]:
    """The phrase without determiners, possessors, quantities, adverbs and what stands before a bracket."""
    for place in range(len(tokens) - 1, -1, -1):
        token = tokens[place]
        if token.i in covered or _hyphenated(token):
            continue
        outside = token.tag_ == "POS" or token.is_quote or token.text in _BRACKETS or token.text in _STOPS
        if outside or token.pos_ in ("PRON", "DET", "CCONJ", "SPACE"):
            tokens = tokens[place + 1 :]
            break
    if tokens and tokens[-1].pos_ == "PROPN" and tokens[-1].i not in covered:  # "free agent Bo Outlaw"
        first = len(tokens) - 1
        while first > 0 and (
            tokens[first - 1].pos_ == "PROPN" or tokens[first - 1].text in "-.&’'" or _starts_term(tokens[first - 1])
        ):
            first -= 1
        tokens = tokens[first:]
    while tokens and tokens[0].i not in covered and _leads(tokens[0], alone=len(tokens) == 1):
        tokens = tokens[1:]
    while tokens and (tokens[-1].pos_ not in ("NOUN", "PROPN", "X", "NUM", "ADJ", "VERB") or _wordless(tokens[-1])):
        tokens = tokens[:-1]
    while len(tokens) > MAX_TOKENS:
        tokens = tokens[1:]
        while tokens and (tokens[0].is_punct or _leads(tokens[0], alone=False)):
            tokens = tokens[1:]
    return tokens if tokens and tokens[-1].pos_ in ("NOUN", "PROPN", "X") else []


def _leads(token: Any, *, alone: bool) -> bool:
    if _hyphenated(token) or (not alone and _starts_term(token)):
        return False
    if token.pos_ == "VERB" and not alone and token.dep_ not in ("amod", "compound"):
        return True
    if token.pos_ in ("DET", "PRON", "NUM", "ADV", "PUNCT", "SYM", "CCONJ", "ADP", "INTJ", "AUX", "PART", "SCONJ"):
        return True
    return token.is_stop or (not alone and token.lower_ in LEADING and token.lower_ not in MAY_BELONG)


def _starts_term(token: Any) -> bool:
    """A capital inside a sentence, before another one: "First" of "First Lien Agent"."""
    after = token.i + 1
    capital = token.text[0].isupper() and token.pos_ not in ("DET", "PRON") and not token.is_sent_start
    return bool(capital and after < len(token.doc) and token.doc[after].text[0].isupper())


def _wordless(token: Any) -> bool:
    return not any(letter.isalpha() for letter in token.text)


def _concept_surface(tokens: list[Any]) -> str:
    """The phrase as it is written, but without the capital that only the start of a sentence gives it."""
    parts = []
    for token in tokens:
        initial = token.is_sent_start and token.pos_ != "PROPN" and not token.ent_type_ and token.text[1:].islower()
        parts.append((token.lower_ if initial else token.text) + token.whitespace_)
    return _tidy("".join(parts))


def _tidy(text: str) -> str:
    """The phrase without outer punctuation and without half a pair of brackets."""
    if "(" in text and ")" not in text:
        text = text[: text.index("(")]
    elif ")" in text and "(" not in text:
        text = text[text.rindex(")") + 1 :]
    return _EDGE.sub("", " ".join(text.split()))


def _concept_key(tokens: list[Any], surface: str) -> str:
    """The surface with its last word in the singular, so that "insects" and "Insect" meet."""
    last = tokens[-1]
    if last.tag_ != "NNS" or not surface.endswith(last.text if last.text in surface else last.lower_):
        return surface.casefold()
    return str(surface[: len(surface) - len(last.text)] + last.lemma_).casefold()


def _too_general(tokens: list[Any], surface: str) -> bool:
    last = tokens[-1]
    if (
        not 2 <= len(surface) <= MAX_LENGTH
        or _MARKUP.search(surface)
        or sum(letter.isalpha() for letter in surface) < 2
    ):
        return True
    if len(surface) == 2 and not surface.isupper():
        return True
    if len(tokens) == 1 and (last.is_stop or last.lower_ in LEADING or last.lower_ in LEGAL_FORMS):
        return True
    if last.lemma_.lower() not in GENERIC and last.lower_ not in GENERIC:
        return False
    return not any(token.pos_ in ("NOUN", "PROPN") for token in tokens[:-1])


def title_key(title: str) -> str:
    """The key of a document title or heading."""
    return " ".join(title.split()).casefold()
