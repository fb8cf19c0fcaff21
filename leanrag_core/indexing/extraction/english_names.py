"""The names in a parsed English sentence: named entities, titles of documents and species, trimmed."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from leanrag_core.indexing.extraction.english import (
    CHANGES,
    GIVEN,
    HONORIFICS,
    HUMAN_VERBS,
    LEGAL_FORMS,
    PARTICLES,
    RANKS,
    english_dictionary,
)
from leanrag_core.indexing.extraction.sentences import Sighting

MAX_LENGTH = 100  # characters; what is longer is a code or a damaged table
_MAX_NAME_TOKENS = 9
NAMED = {
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
BRACKETS = frozenset('()[]{}<>"“”«»„')
MARKUP = re.compile(r"[<>=\[\]{}|\\\"~^#@]|&\w+;")
_GENUS = re.compile(r"[A-Z][a-z]+(?:us|a|um|is|es|on|os|ops|as|ix|ex|er|ys|ps|ium|yces)")
_EPITHET = re.compile(r"[a-z]{2,}(?:us|a|um|is|i|ae|ens|ense|ans|ons|or|es|ix|oides)")
_ALWAYS_POINTING = frozenset(["example", "figure", "listing", "table"])
_PARTS = _ALWAYS_POINTING | {"appendix", "chapter", "section"}
_NUMBER_OF_PART = re.compile(r"(?:[A-Z]|[A-Z]?\.?\d+)(?:[.-]\d+)*\.?")
_TELLS = frozenset(
    ["describe", "detail", "discuss", "document", "explain", "give", "list", "mention", "present", "show"]
)
_BULLETS = frozenset(["*", "-", "–", "•", "·", "o"])
WEEKDAYS = frozenset(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"])
_YEARS = re.compile(r"(?:19|20)\d\d(?:[-–]\d{2,4})?")
_YEARS_OR_DASH = re.compile(_YEARS.pattern + "|[-–]")
_FEWEST_YEARS = 3
_OPENING_QUOTE = re.compile(r"(?<=\s)'(?=\w)")
_EDGE = re.compile(r"['’]s$|^[\W_]+|[^\w.)+#]+$|(?<![A-Z])\.$")


def names_of(sentence: Any, titles: Sequence[tuple[int, int]]) -> Iterator[Sighting]:
    """Yield named entities and document titles, the longer one where they overlap."""
    doc = sentence.doc
    spans: list[tuple[int, int, str]] = []
    species = list(_species(sentence))
    for entity in sentence.ents:
        if entity.label_ in NAMED:
            start, end = _trimmed_name(list(entity))
            if start < end and _is_name(doc[start:end]) and not points_to_part(doc, start, end):
                spans.append((_with_honorific(doc, start, sentence.start), end, NAMED[entity.label_]))
    spans = [
        (start, end - hyphenated(doc[end - 1]), label) for start, end, label in spans
    ]  # "Apple co" of "co-founder"
    spans = [(start, end, label) for start, end, label in spans if start < end]
    for start, end in titles:
        inside = [label for s, e, label in spans if start <= s and e <= end]
        spans.append((start, end, inside[0] if inside else "title"))
    covered_tokens: set[int] = set()
    spans.sort(key=lambda span: (span[0] - span[1], span[0], span[2] == "title"))
    for start, end, label in (*species, *spans):
        if covered_tokens.isdisjoint(range(start, end)):
            covered_tokens.update(range(start, end))
            surface = tidy(doc[start:end].text)
            if sum(map(str.isalpha, surface)) > 1 and len(surface) <= MAX_LENGTH and not MARKUP.search(surface):
                before = doc[start - 1].lower_ if start > sentence.start else ""
                root = doc[start:end].root
                ordinary = end - start == 1 and english_dictionary().has(surface.casefold())
                yield Sighting(
                    surface,
                    surface.casefold(),
                    label,
                    start,
                    end,
                    root.i,
                    before=before,
                    human=_is_human(root),
                    ordinary=ordinary,
                )


def points_to_part(doc: Any, start: int, end: int) -> bool:
    """Return whether the tokens lead to another part of a text, "see Section 4.2", and name nothing: the parts of a
    contract, "under Section 7.08", do."""
    kind, numbers = doc[start].lower_.removesuffix("s"), doc[start + 1 : end].text
    if kind not in _PARTS or not _NUMBER_OF_PART.fullmatch(numbers):
        return False
    if kind in _ALWAYS_POINTING or numbers.count(".") > 1:
        return True
    before = [doc[place].lower_ for place in range(max(0, start - 4), start)]
    if "see" in before or "also" in before or (before and before[-1] in ("(", "[")):
        return True
    return len(before) > 1 and before[-1] == "in" and doc[start - 2].lemma_.lower() in _TELLS


def _is_human(root: Any) -> bool:
    """Return whether a name does what persons do, is a "who", or is enumerated with persons."""
    if root.dep_ in ("nsubj", "nsubjpass") and root.head.lemma_.lower() in HUMAN_VERBS:
        return True
    if any(child.dep_ == "relcl" and any(word.lower_ == "who" for word in child.children) for child in root.children):
        return True
    return any(other.ent_type_ == "PERSON" for other in root.conjuncts)


def _species(sentence: Any) -> Iterator[tuple[int, int, str]]:
    """Yield Latin names of two words: a capitalised genus and an epithet in small letters, both unknown to English."""
    words = english_dictionary()
    for token, after in pairwise(sentence):
        if not (_GENUS.fullmatch(token.text) and _EPITHET.fullmatch(after.text)):
            continue
        if after.is_stop or words.has(after.text) or words.has(after.lemma_.lower()) or after.text.endswith("ers"):
            continue
        if token.lower_ not in words.adjectives and token.lower_ not in words.verbs and not token.is_stop:
            yield token.i, after.i + 1, "organism"


def _trimmed_name(tokens: list[Any]) -> tuple[int, int]:
    """Return the token range of a name without articles, possessives and what is outside a bracket or quote."""
    while tokens and (tokens[0].pos_ in ("DET", "PUNCT", "SYM", "SPACE") or tokens[0].tag_ in ("PRP$", "POS", "CC")):
        tokens = tokens[1:]
    if len(tokens) > 1 and tokens[0].is_sent_start and tokens[0].pos_ in ("ADV", "ADP", "SCONJ"):  # "Later Curie wrote"
        tokens = tokens[1:]
    if len(tokens) > 1 and begins_entry(tokens[0]) and tokens[0].lower_ in CHANGES:  # "Update Unicode"
        tokens = tokens[1:]
    person = bool(tokens) and tokens[0].ent_type_ == "PERSON"
    tokens = _without_date(tokens)
    while person and len(tokens) > 1 and tokens[0].lower_ in RANKS:
        tokens = tokens[1:]
    for place, token in enumerate(tokens):
        outside = token.text in BRACKETS or token.text in ("–", "|", ":", ";") or _begins_another(tokens, place)
        repeated = person and place > 0 and token.text == tokens[place - 1].text
        if outside or repeated or (person and (token.text in (",", "and", "&") or token.pos_ in ("VERB", "AUX"))):
            tokens = tokens[:place]
            break
    if tokens and hyphenated(tokens[-1]):  # half of a compound: "National League All" of "All-Star"
        tokens = tokens[:-1]
    while tokens and (tokens[-1].tag_ == "POS" or tokens[-1].pos_ in ("PUNCT", "SPACE", "CCONJ", "ADP", "DET")):
        tokens = tokens[:-1]
    return (tokens[0].i, _completed(tokens, person)) if tokens else (0, 0)


def begins_entry(token: Any) -> bool:
    """Return whether a sentence begins with the token, or an entry of a list: "* Update Coverity"."""
    if hyphenated(token):
        return False
    return bool(token.is_sent_start or (token.i and token.nbor(-1).text in _BULLETS and token.nbor(-1).whitespace_))


def _without_date(tokens: list[Any]) -> list[Any]:
    """Return the name without the date of the line that ends in it: "Bo Outlaw Fri" of "Bo Outlaw Fri, 12 May", and
    the year of a person or an organization where the sentence is a list of years and names."""
    last = len(tokens)
    if last > 1 and tokens[-1].text in WEEKDAYS and is_dated(tokens[-1]):
        last -= 1
    if last > 1 and tokens[0].ent_type_ in ("PERSON", "ORG") and _YEARS.fullmatch(tokens[last - 1].text):
        while last > 1 and _lists_years(tokens[0].sent) and _YEARS_OR_DASH.fullmatch(tokens[last - 1].text):
            last -= 1
    return tokens[:last]


def is_dated(weekday: Any) -> bool:
    """Return whether a day's number follows: "Fri, 12 May"."""
    after = [token for token in weekday.doc[weekday.i + 1 : weekday.i + 3] if token.text != ","]
    return bool(after and after[0].like_num)


def _lists_years(sentence: Any) -> bool:
    return sum(bool(_YEARS.fullmatch(token.text)) for token in sentence) >= _FEWEST_YEARS


def _begins_another(tokens: list[Any], place: int) -> bool:
    """Return whether another name begins inside what was read as one: "Closing Date | the Lenders", "Princeton | ,
    Meitner".
    """
    token, before = tokens[place], tokens[place - 1] if place else None
    if before is None:
        return False
    if token.text == ",":
        following_words = [other.lower_ for other in tokens[place + 1 :]]
        return not following_words or not (
            following_words[0] in LEGAL_FORMS or "and" in following_words or "&" in following_words
        )
    if token.lower_ == "and":  # two persons that were read as an organization
        return tokens[0].lower_ in GIVEN and any(other.lower_ in GIVEN for other in tokens[place + 1 : place + 2])
    if token.pos_ == "DET":
        return token.ent_type_ != "PERSON" and bool(before.pos_ in ("NOUN", "PROPN") and before.text[0].isupper())
    return bool(token.text.islower() and token.pos_ == "VERB" and token.tag_ in ("VBD", "VBZ", "VBP"))


def _completed(tokens: list[Any], person: bool) -> int:
    """Return the end of a name. One that breaks off goes on to its number or family name: "Amendment No. | 2",
    "Robert van | den Bosch"."""
    doc, last = tokens[-1].doc, int(tokens[-1].i)
    end = last + 1
    if tokens[-1].lower_ in ("no", "no.") and len(tokens) > 1:
        end += end < len(doc) and doc[end].text == "."
        return end + 1 if end < len(doc) and doc[end].like_num else last
    if not person or tokens[-1].lower_ not in PARTICLES:
        return end
    while end < len(doc) and doc[end].lower_ in PARTICLES:
        end += 1
    return end + 1 if end < len(doc) and doc[end].text[0].isupper() else last + 1


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
    """Return the place where the name starts when its honorific and words that the recogniser missed are part of it, so
    that Mrs. and Mr. Cratchit differ.
    """
    while start > first and _is_left_out(doc[start - 1], doc[start]):
        start -= 1
    before = start - 1
    return before if before >= first and doc[before].lower_ in HONORIFICS and doc[before].text[0].isupper() else start


def _is_left_out(token: Any, following: Any) -> bool:
    """Return whether a capitalised word belongs to the name after it, although the recogniser began the name later."""
    if token.pos_ != "PROPN" or token.ent_type_ or token.dep_ != "compound" or not token.text[0].isupper():
        return False
    if token.lower_ in RANKS or (
        following.lower_ in GIVEN and token.lower_ not in GIVEN
    ):  # "President Thomas Jefferson"
        return False
    return bool(token.whitespace_ and token.text.isalpha() and not token.is_stop and token.head.i >= following.i)


def hyphenated(token: Any) -> bool:
    """Return whether the token is written in one with what follows a hyphen."""
    after = token.i + 1
    doc = token.doc
    return (
        not token.whitespace_ and after + 1 < len(doc) and doc[after].text in ("-", "‑") and not doc[after].whitespace_
    )


def tidy(text: str) -> str:
    """Return the phrase without outer punctuation and without half a pair of brackets."""
    if "(" in text and ")" not in text:
        text = text[: text.index("(")]
    elif ")" in text and "(" not in text:
        text = text[text.rindex(")") + 1 :]
    text = _EDGE.sub("", " ".join(text.split()))
    return _OPENING_QUOTE.sub("", text) if text.count("'") == 1 else text  # "Event: listening" of "Event: 'listening'"
