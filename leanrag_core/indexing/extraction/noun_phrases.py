"""The entities of a parsed English sentence: names and noun phrases, trimmed to what they denote."""

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from leanrag_core.indexing.extraction.english import (
    CHANGES,
    GENERIC,
    GIVEN,
    HONORIFICS,
    HUMAN_VERBS,
    LEADING,
    LEGAL_FORMS,
    LIGHT,
    MAY_BELONG,
    PARTICLES,
    QUANTITIES,
    RANKS,
    RELATIVE,
    TERM_COMPARATIVES,
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
_BULLETS = frozenset(["*", "-", "–", "•", "·", "o"])
_WEEKDAYS = frozenset(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"])
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
            if start < end and _is_name(doc[start:end]):
                spans.append((_with_honorific(doc, start, sentence.start), end, NAMED[entity.label_]))
    spans = [
        (start, end - hyphenated(doc[end - 1]), label) for start, end, label in spans
    ]  # "Apple co" of "co-founder"
    spans = [(start, end, label) for start, end, label in spans if start < end]
    for start, end in titles:
        inside = [label for s, e, label in spans if start <= s and e <= end]
        spans.append((start, end, inside[0] if inside else "title"))
    taken: set[int] = set()
    spans.sort(key=lambda span: (span[0] - span[1], span[0], span[2] == "title"))
    for start, end, label in (*species, *spans):
        if taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
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
    if len(tokens) > 1 and _begins_entry(tokens[0]) and tokens[0].lower_ in CHANGES:  # "Update Unicode"
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


def _begins_entry(token: Any) -> bool:
    """Return whether a sentence begins with the token, or an entry of a list: "* Update Coverity"."""
    if hyphenated(token):
        return False
    return bool(token.is_sent_start or (token.i and token.nbor(-1).text in _BULLETS and token.nbor(-1).whitespace_))


def _without_date(tokens: list[Any]) -> list[Any]:
    """Return the name without the date of the line that ends in it: "Bo Outlaw Fri" of "Bo Outlaw Fri, 12 May", and
    the year of a person or an organization where the sentence is a list of years and names."""
    last = len(tokens)
    if last > 1 and tokens[-1].text in _WEEKDAYS and _is_dated(tokens[-1]):
        last -= 1
    if last > 1 and tokens[0].ent_type_ in ("PERSON", "ORG") and _YEARS.fullmatch(tokens[last - 1].text):
        while last > 1 and _lists_years(tokens[0].sent) and _YEARS_OR_DASH.fullmatch(tokens[last - 1].text):
            last -= 1
    return tokens[:last]


def _is_dated(weekday: Any) -> bool:
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
        rest = [other.lower_ for other in tokens[place + 1 :]]
        return not rest or not (rest[0] in LEGAL_FORMS or "and" in rest or "&" in rest)
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
    """Return where the name starts with its honorific and words the recogniser missed, so that Mrs. and Mr. Cratchit
    differ.
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


MAX_TOKENS = 5
_MEASURES = frozenset(["DATE", "TIME", "CARDINAL", "ORDINAL", "PERCENT", "QUANTITY", "MONEY"])
_STOPS = frozenset([",", "–", ":", ";", "/", "|", "...", "…", "•"])


@dataclass(frozen=True)
class Phrases:
    """Sightings in order of their heads, and the phrases that were too general."""

    sightings: tuple[Sighting, ...]
    left_out: tuple[str, ...]


def phrases_of(sentence: Any, titles: Sequence[tuple[int, int]], noun_chunks: Sequence[Any]) -> Phrases:
    """Return the names, then the noun phrases that no name covers.

    sentence: a parsed spaCy Span. titles: token spans of the sentence that spell a document's title. noun_chunks: of
    the sentence; spaCy goes through the whole text to find them, which is done once for all its sentences.
    """
    names = list(names_of(sentence, titles))
    covered = {token: name for name in names for token in range(name.start, name.end)}
    sightings = list(names)
    left_out = []
    for chunk in noun_chunks:
        head = chunk.root
        if head.i in covered or head.ent_type_ in _MEASURES or head.pos_ == "PRON":
            continue
        if head.text in _WEEKDAYS and _is_dated(head):
            continue
        tokens = _with_hyphened(_denoting(list(chunk), covered), covered)
        if not tokens:
            continue
        surface = _concept_surface(tokens)
        if tokens[0].text.startswith(("-", "–")) or (tokens[0].i and tokens[0].nbor(-1).text in ("-", "--")):
            continue  # an option of a command: "-p port"
        if _too_general(tokens, surface):
            left_out.append(surface)
            continue
        kind = NAMED.get(head.ent_type_, "concept")
        sighting = Sighting(surface, _concept_key(tokens, surface), kind, tokens[0].i, tokens[-1].i + 1, head.i)
        bare = _without_relative(tokens)
        if len(bare) < len(tokens):
            short = _concept_surface(bare)
            sighting = replace(sighting, bare=short, bare_key=_concept_key(bare, short))
        sightings.append(sighting)
    once: dict[tuple[int, int], Sighting] = {}
    for sighting in sorted(sightings, key=lambda phrase: (phrase.start, phrase.end)):
        once.setdefault((sighting.start, sighting.end), sighting)
    return Phrases(tuple(once.values()), tuple(left_out))


def _with_hyphened(tokens: list[Any], covered: Container[int]) -> list[Any]:
    """Return the phrase with the rest of its last word: "plug" of "plug-in", "Anti" of "Anti-Erase"."""
    while tokens and hyphenated(tokens[-1]):
        hyphen, rest = (tokens[-1].nbor(step) for step in (1, 2))
        if rest.i in covered or _wordless(rest):
            break
        tokens = [*tokens, hyphen, rest]
    return tokens


def _denoting(tokens: list[Any], covered: dict[int, Sighting]) -> list[Any]:
    """Return the phrase without determiners, possessors, quantities, adverbs and what comes before a bracket."""
    for place in range(len(tokens) - 1, -1, -1):
        token = tokens[place]
        if token.i in covered or hyphenated(token):
            continue
        outside = token.tag_ == "POS" or token.is_quote or token.text in BRACKETS or token.text in _STOPS
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
    tokens = _after_quantity(tokens)
    while tokens and tokens[0].i not in covered and (_is_sign(tokens[0]) or _leads(tokens[0], alone=len(tokens) == 1)):
        tokens = tokens[1:]
    while tokens and (tokens[-1].pos_ not in ("NOUN", "PROPN", "X", "NUM", "ADJ", "VERB") or _wordless(tokens[-1])):
        tokens = tokens[:-1]
    while len(tokens) > MAX_TOKENS:
        tokens = tokens[1:]
        while tokens and (tokens[0].is_punct or _leads(tokens[0], alone=False)):
            tokens = tokens[1:]
    return tokens if tokens and tokens[-1].pos_ in ("NOUN", "PROPN", "X") else []


def _after_quantity(tokens: list[Any]) -> list[Any]:
    """Return the phrase after its quantity: "ratings" of "little over 100 million ratings", but "type 2 diabetes"
    whole.
    """
    for place in range(len(tokens) - 2, -1, -1):
        token = tokens[place]
        counts = token.pos_ == "NUM" and token.ent_type_ in _MEASURES and not hyphenated(token)
        if counts and not (place and tokens[place - 1].pos_ in ("NOUN", "PROPN")):
            return tokens[place + 1 :]
    return tokens


def _without_relative(tokens: list[Any]) -> list[Any]:
    """Return the phrase without the words in front that only evaluate or compare: "queens" of "new queens"."""
    while len(tokens) > 1 and tokens[0].text.islower() and not hyphenated(tokens[0]) and _is_relative(tokens[0]):
        tokens = tokens[1:]
    return tokens


def _is_relative(token: Any) -> bool:
    if token.lower_ in TERM_COMPARATIVES:
        return False
    leading = token.lower_ in LEADING and token.lower_ not in MAY_BELONG
    return token.tag_ in ("JJR", "JJS") or token.lower_ in RELATIVE or leading


def _leads(token: Any, *, alone: bool) -> bool:
    capital = not alone and token.text[0].isupper() and token.nbor(1).text.islower() and not hyphenated(token)
    begins = capital or _begins_entry(token)
    # "Update npm registry keys", "“Fix broken guard”", "Inherits settings"
    if begins and not alone and (token.lower_ in CHANGES or english_dictionary().only_verb(token.lower_)):
        return True
    if hyphenated(token) or (not alone and _starts_term(token)):
        return False
    if not alone and token.text.islower() and english_dictionary().only_verb(token.text):  # "scatters bees"
        return True
    if token.pos_ == "VERB" and not alone and token.dep_ not in ("amod", "compound"):
        return True
    if token.pos_ in ("DET", "PRON", "NUM", "ADV", "PUNCT", "SYM", "CCONJ", "ADP", "INTJ", "AUX", "PART", "SCONJ"):
        return True
    return token.is_stop or (not alone and token.lower_ in LEADING and token.lower_ not in MAY_BELONG)


def _starts_term(token: Any) -> bool:
    """Return whether a capital stands inside a sentence, before another one: "First" of "First Lien Agent"."""
    after = token.i + 1
    capital = token.text[0].isupper() and token.pos_ not in ("DET", "PRON") and not token.is_sent_start
    return bool(capital and after < len(token.doc) and token.doc[after].text[0].isupper())


def _wordless(token: Any) -> bool:
    return not any(letter.isalpha() for letter in token.text)


def _is_sign(token: Any) -> bool:
    return not any(map(str.isalnum, token.text))  # "%", which the tagger takes for a noun


def _concept_surface(tokens: list[Any]) -> str:
    """Return the phrase as it is written, but without the capital that only the start of a sentence gives it."""
    parts = []
    for token in tokens:
        initial = token.is_sent_start and token.pos_ != "PROPN" and not token.ent_type_ and token.text[1:].islower()
        parts.append((token.lower_ if initial else token.text) + token.whitespace_)
    return tidy("".join(parts))


def _concept_key(tokens: list[Any], surface: str) -> str:
    """Return the surface with its last word in the singular, so that "insects" and "Insect" meet."""
    last = tokens[-1]
    if last.tag_ != "NNS" or not surface.endswith(last.text if last.text in surface else last.lower_):
        return surface.casefold()
    return str(surface[: len(surface) - len(last.text)] + last.lemma_).casefold()


def _too_general(tokens: list[Any], surface: str) -> bool:
    words, last = english_dictionary(), tokens[-1]
    if not 2 <= len(surface) <= MAX_LENGTH or MARKUP.search(surface) or sum(letter.isalpha() for letter in surface) < 2:
        return True
    if len(surface) == 2 and not surface.isupper():
        return True
    if len(tokens) == 1 and (last.is_stop or last.lower_ in LEADING or last.lower_ in LEGAL_FORMS):
        return True
    if len(tokens) == 1 and tokens[0].is_sent_start and last.lower_ in CHANGES:
        return True
    if surface.islower() and _only_adjective(last):  # "user configurable"
        return True
    shouted = len(surface) > 4 and surface.isupper()
    plain = surface.islower() or shouted or (last.is_sent_start and last.text[1:].islower())
    if len(tokens) == 1 and not last.ent_type_ and last.text[1:].islower() and words.only_verb(last.lower_):
        return True  # "Require" of a row of a table
    if len(tokens) == 1 and plain and _no_noun(last.lower_, last.lemma_.lower()):
        return True
    lemma = last.lemma_.lower()
    if len(tokens) == 1 and last.lower_.removesuffix("s") in GENERIC | LIGHT:  # "uses", which was taken for a name
        return True
    if len(tokens) == 3 and tokens[0].lower_ == "re" and words.only_verb(last.lower_):  # "re-encodes"
        return True
    only_evaluated = all(_is_relative(token) for token in tokens[:-1])
    if only_evaluated and (lemma in LIGHT or last.lower_ in LIGHT or (len(tokens) > 1 and lemma in QUANTITIES)):
        return True
    if lemma not in GENERIC and last.lower_ not in GENERIC:
        return False
    return not any(token.pos_ in ("NOUN", "PROPN") for token in tokens[:-1])


def _only_adjective(token: Any) -> bool:
    words = english_dictionary()
    return token.lower_ in words.adjectives and words.nouns.isdisjoint((token.lower_, token.lemma_.lower()))


def _no_noun(word: str, lemma: str) -> bool:
    """Return whether the dictionary has the word as a verb or an adjective only: the tagger took "shortens" for a
    noun.
    """
    words = english_dictionary()
    if word in words.nouns or lemma in words.nouns:
        return False
    return words.only_verb(word) or word in words.adjectives


def title_key(title: str) -> str:
    """Return the key of a document title or heading."""
    return " ".join(title.split()).casefold()
