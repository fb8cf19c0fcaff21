"""The entities of a parsed English sentence: names and noun phrases, trimmed to what they denote."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leanrag_core.indexing.extraction.english import (
    CHANGES,
    GENERIC,
    LEADING,
    LEGAL_FORMS,
    LIGHT,
    MAY_BELONG,
    QUANTITIES,
    RELATIVE,
    TERM_COMPARATIVES,
    english_dictionary,
)
from leanrag_core.indexing.extraction.english_names import (
    BRACKETS,
    MARKUP,
    MAX_LENGTH,
    NAMED,
    WEEKDAYS,
    begins_entry,
    hyphenated,
    is_dated,
    names_of,
    points_to_part,
    tidy,
)
from leanrag_core.indexing.extraction.sentences import Sighting

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
        if head.text in WEEKDAYS and is_dated(head):
            continue
        tokens = _with_hyphenated_rest(_denoting(list(chunk), covered), covered)
        if not tokens or points_to_part(sentence.doc, tokens[0].i, tokens[-1].i + 1):
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


def _with_hyphenated_rest(tokens: list[Any], covered: Container[int]) -> list[Any]:
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
    begins = capital or begins_entry(token)
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
