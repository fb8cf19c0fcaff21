"""The relations of a parsed English sentence: who does what to whom, what is of, in or by what, what is called what."""

from collections.abc import Iterator, Sequence
from typing import Any

from leanrag_core.indexing.extraction.english_words import GENERIC
from leanrag_core.indexing.extraction.sentences import Link, Sighting

_STRENGTH = {"verb": 4.0, "apposition": 4.0, "preposition": 3.0}
_OBJECTS = ("dobj", "obj", "attr", "dative", "oprd")
_SUBJECTS = ("nsubj", "nsubjpass")
_NO_KEYWORD = ("be", "have", "do", "get", "go", "make")
_MAX_JOINED = 6  # members of one enumeration ("X, Y and Z founded ...")


def links_of(sentence: Any, sightings: Sequence[Sighting]) -> list[Link]:
    """Return for each pair of sightings the strongest relation that the parse states, in order of appearance."""
    place_of = {
        token: place for place, sighting in enumerate(sightings) for token in range(sighting.start, sighting.end)
    }
    # A name inside a longer phrase owns its tokens, the phrase its head.
    place_of.update({sighting.head: place for place, sighting in enumerate(sightings)})
    best: dict[tuple[int, int], Link] = {}
    for link in _stated(sentence, place_of):
        pair = (min(link.source, link.target), max(link.source, link.target))
        if pair[0] != pair[1] and (pair not in best or best[pair].strength < link.strength):
            best[pair] = link
    return list(best.values())


def _stated(sentence: Any, place_of: dict[int, int]) -> Iterator[Link]:
    for token in sentence:
        if token.pos_ in ("VERB", "AUX"):
            yield from _of_verb(token, place_of)
        if token.dep_ == "appos":
            yield from _pairs([token.head], [token], "apposition", "", "", place_of)
        if token.dep_ == "poss":
            yield from _pairs([token.head], [token], "preposition", "of", "", place_of)
        if token.i in place_of and token.pos_ in ("NOUN", "PROPN"):
            for preposition, thing in _prepositional(token):
                yield from _pairs([token], _joined(thing), "preposition", preposition, "", place_of)


def _of_verb(verb: Any, place_of: dict[int, int]) -> Iterator[Link]:
    subjects = _subjects(verb)
    if not subjects:
        return
    words = [child for child in verb.children if child.dep_ in ("auxpass", "neg", "prt")]
    label = " ".join(word.lower_ for word in sorted([*words, verb], key=lambda word: word.i))
    keyword = "" if verb.lemma_ in _NO_KEYWORD else verb.lemma_.lower()
    for child in verb.children:
        if child.dep_ in _OBJECTS:
            yield from _pairs(subjects, _joined(child), "verb", label, keyword, place_of)
        elif child.dep_ == "agent":
            for thing in (noun for noun in child.children if noun.dep_ == "pobj"):
                yield from _pairs(subjects, _joined(thing), "verb", f"{label} {child.lower_}", keyword, place_of)
    for preposition, thing in _prepositional(verb):
        yield from _pairs(subjects, _joined(thing), "preposition", f"{label} {preposition}", keyword, place_of)


def _subjects(verb: Any) -> list[Any]:
    """Return subjects of a verb; of a verb without its own, those of the verb or noun that it hangs on."""
    for _ in range(4):
        own = [child for child in verb.children if child.dep_ in _SUBJECTS]
        if own:
            subjects = []
            for subject in own:
                relative = subject.tag_ in ("WDT", "WP") and verb.dep_ == "relcl"
                subjects += _joined(verb.head if relative else subject)
            return subjects
        if verb.dep_ == "acl":
            return [verb.head]
        if verb.dep_ not in ("conj", "xcomp", "advcl") or verb.head.pos_ not in ("VERB", "AUX"):
            return []
        verb = verb.head
    return []


def _prepositional(token: Any) -> Iterator[tuple[str, Any]]:
    """Yield (preposition, object) of a verb or noun, through one preposition more ("out of the house")."""
    for child in token.children:
        if child.dep_ == "prep":
            for below in child.children:
                if below.dep_ == "pobj":
                    yield child.lower_, below
                elif below.dep_ == "prep":
                    for thing in (noun for noun in below.children if noun.dep_ == "pobj"):
                        yield f"{child.lower_} {below.lower_}", thing


def _joined(token: Any) -> list[Any]:
    """Return a token and what is enumerated with it."""
    return [token, *[conjunct for conjunct in token.conjuncts if conjunct.i > token.i]][:_MAX_JOINED]


def _pairs(
    sources: Sequence[Any], targets: Sequence[Any], kind: str, label: str, keyword: str, place_of: dict[int, int]
) -> Iterator[Link]:
    for source in sources:
        for target in targets:
            if source.i in place_of and target.i in place_of:
                yield Link(place_of[source.i], place_of[target.i], kind, _STRENGTH[kind], label, keyword)


def content_words(sentence: Any) -> tuple[tuple[str, int], ...]:
    """Return the base forms of the sentence's verbs, nouns and adjectives that say something, with their token
    positions.
    """
    return tuple(
        (token.lemma_.lower(), token.i)
        for token in sentence
        if token.pos_ in ("VERB", "NOUN", "PROPN", "ADJ")
        and token.is_alpha
        and len(token.text) > 2
        and not token.is_stop
        and token.lemma_.lower() not in _NO_KEYWORD
        and token.lemma_.lower() not in GENERIC
    )


def informative(sentence: Any, sighting: Sighting) -> float:
    """Score how much the sentence says about the entity, 0 to about 4: it is the subject, it is defined, it comes
    early.
    """
    words = sum(1 for token in sentence if not token.is_punct and not token.is_space)
    root = sentence.root
    weight = min(words, 25) / 25
    if words < 5 or words > 70 or root.pos_ not in ("VERB", "AUX") or sentence.text.endswith("?"):
        weight -= 0.5
    head = sentence.doc[sighting.head]
    if head.dep_ in _SUBJECTS and head.head.i == root.i:
        weight += 1.0
        if root.lemma_ == "be" and any(child.dep_ == "attr" for child in root.children):
            weight += 1.0
    weight += 0.5 * (1 - (sighting.start - sentence.start) / max(1, len(sentence)))
    return float(round(max(weight, 0.0), 4))
