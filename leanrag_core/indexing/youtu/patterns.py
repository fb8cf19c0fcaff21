"""What texts say of an entity and of a relation, by patterns such as "X is a Y"; no language model is needed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from leanrag_core.text.sentences import split_sentences
from leanrag_core.types.graph import Layer
from leanrag_core.types.youtu import RELATED

KIND, FEATURE, STATE, YEAR, AMOUNT = "kind", "feature", "state", "year", "amount"
SEED_TYPES = (KIND, FEATURE, STATE, YEAR, AMOUNT)
_MOST_WORDS, _MOST_CHARACTERS = 10, 24
_ARTICLE = r"(?:an?|the|one) "
_STOP = r"(?=$|[,.](?!\d)|[;:()]| (?:which|that|who|whose|because|but|and|while|when|where)\b"
_END, _SHORT_END = f"{_STOP})", rf"{_STOP}| (?:as|with|for|in|on|at|by|from)\b)"
_VERB = r"(?:is|are|was|were) "
_COUNTED = r"(?:an?|the|its|their|no|many|several|few|two|three|four|five|\d[\d,.]*) "
# Patterns of the text after the name; the group is the value. The first that fits a sentence counts.
_AFTER_NAME = (
    (KIND, re.compile(rf",? {_VERB}(?:also |still )?{_ARTICLE}(.+?){_SHORT_END}")),
    (KIND, re.compile(rf", {_ARTICLE}(.+?)(?=,|\.$)")),
    (STATE, re.compile(rf" {_VERB}(?:also |still |now )?((?!(?:it|he|she|they|there|not|to)\b)\w.*?){_END}")),
    (FEATURE, re.compile(rf" (?:has|have|had) ({_COUNTED}.+?){_SHORT_END}")),
)
_HAS_A = re.compile(rf" (?:has|have|had) an? ([a-z]+) of (?:about )?(.+?){_END}")
_YEAR = re.compile(r"\b(?:in|since|until|by) ((?:1[0-9]|20)\d\d)\b")
_AMOUNT = re.compile(
    r"\b(\d[\d,.]*(?: to \d[\d,.]*)? ?(?:%|percent|per cent|kilograms?|kg|grams?|g|metres?|m|km|kilometres?|cm|mm|"
    r"litres?|degrees?|hours?|days?|weeks?|months?|years?|eggs|people|members|shares|dollars))(?!\w)"
)
# The name is compared as text: a pattern made for each name would have to be compiled for each entity.
_OF = re.compile(r"(?:the )?([a-z]+) of (?:the |an? )?", re.IGNORECASE)
_SAID = re.compile(rf" {_VERB}(?:about )?(.+?){_END}", re.IGNORECASE)
_OWN = re.compile(rf"(?:'s|’s|') ([a-z]+) {_VERB}(?:about )?(.+?){_END}", re.IGNORECASE)
_ARTICLES = ("", "the ", "a ", "an ")
_CHINESE = ((KIND, re.compile(r"^是(?:一[种个座位部名])?([^，。；、,]+)")), (FEATURE, re.compile(r"^有([^，。；,]+)")))


@dataclass(frozen=True)
class AttributeFact:
    """An attribute of an entity. type: a word of the patterns, or of the text itself."""

    type: str
    value: str


def attribute_facts(name: str, description: str) -> list[AttributeFact]:
    """Return what the description says of the entity of that name, each once, in the order of the sentences."""
    facts = (fact for sentence in split_sentences(description) for fact in _of_sentence(name, sentence))
    return list(dict.fromkeys(facts))


def _of_sentence(name: str, sentence: str) -> Iterator[AttributeFact]:
    if name.casefold() not in sentence.casefold():
        return
    if (
        (of_match := _OF.match(sentence))
        and (predicate := _behind(name, sentence[of_match.end() :]))
        and (value := _SAID.match(predicate))
    ):
        yield from _fact(of_match[1].lower(), value[1])
        return
    lowered = sentence.lower()
    article = next((word for word in _ARTICLES if lowered.startswith(f"{word}{name.lower()}")), None)
    if article is None:
        return
    after_name = sentence[len(article) + len(name) :]
    if possessive := _OWN.match(after_name):
        yield from _fact(possessive[1].lower(), possessive[2])
        return
    if after_name[:1].isascii():
        if match := _HAS_A.match(after_name):
            yield from _fact(match[1].lower(), match[2])
        else:
            matches = ((type_, pattern.match(after_name)) for type_, pattern in _AFTER_NAME)
            yield from next((_fact(type_, match[1]) for type_, match in matches if match), ())
        for type_, pattern in ((YEAR, _YEAR), (AMOUNT, _AMOUNT)):
            if match := pattern.search(after_name):
                yield from _fact(type_, match[1])
        return
    for type_, pattern in _CHINESE:
        if match := pattern.match(after_name):
            yield from _fact(type_, match[1])


def _behind(name: str, text: str) -> str:
    """Return what follows the name at the beginning of the text, "" where it does not begin with it."""
    return text[len(name) :] if text.lower().startswith(name.lower()) else ""


def _fact(type_: str, value: str) -> list[AttributeFact]:
    words = value.split()
    if not words or len(words) > _MOST_WORDS or (not value.isascii() and len(value) > _MOST_CHARACTERS * _MOST_WORDS):
        return []
    return [AttributeFact(type_, " ".join(words).strip("\"'“”«» "))]


_BY_KIND = {"apposition": "is", "heading": "is the heading of", "co-occurrence": RELATED}
_MOST_LABEL_WORDS = 3
_SAME = {"are": "is", "was": "is", "were": "is", "have": "has", "had": "has"}


def relation_labels(base: Layer) -> list[str]:
    """Return a label for each base relation, in lower case; RELATED where nothing says more."""
    names = base.entities["name"].to_pylist()
    columns = (base.relations[name].to_pylist() for name in ("keywords", "kind", "description"))
    return [
        _label(names[source], names[target], keywords, kind, description)
        for (source, target), keywords, kind, description in zip(base.ends.tolist(), *columns, strict=True)
    ]


def _label(source: str, target: str, keywords: list[str] | None, kind: str, description: str) -> str:
    if keywords:
        return " ".join(keywords[0].split()).lower() or RELATED
    if kind in _BY_KIND:
        return _BY_KIND[kind]
    # The built-in extractor writes "mites from Java: ..." for a preposition.
    lead = description.partition(":")[0]
    for first, second in ((source, target), (target, source)):
        if lead.startswith(f"{first} ") and lead.endswith(f" {second}"):
            between = lead[len(first) : len(lead) - len(second)].split()
            if 0 < len(between) <= _MOST_LABEL_WORDS:
                label = " ".join(between).lower()
                return _SAME.get(label, label)
    return RELATED
