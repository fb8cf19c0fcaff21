"""Parts of speech, morphology and base forms of English words, looked up by what they depend on.

The pipeline's rules and its lemmatizer decide; they are asked once for each combination of conditions.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_MAX_KEPT = 200_000  # combinations


@dataclass(frozen=True)
class _Met:
    """Rules that a word meets by itself, what they set, and the conditions of rules of several words that it meets."""

    rules: tuple[int, ...]
    sets: dict[int, Any]
    conditions: frozenset[int]


class WordAttributes:
    """Sets what spaCy's attribute ruler and lemmatizer would set."""

    def __init__(self, ruler: Any, lemmatizer: Any) -> None:
        """Take the rules. Raises ValueError for one with an operator, whose words could not be counted."""
        from spacy.matcher import Matcher

        self._sets: list[dict[int, Any]] = ruler.attrs
        self._lemmatizer = lemmatizer
        self._matcher = Matcher(ruler.vocab)
        self._rules_of: dict[int, list[int]] = defaultdict(list)  # by condition, of rules of one word
        self._sequences: list[tuple[int, int, tuple[int, ...]]] = []  # rule, which word it sets, conditions
        conditions: list[dict[str, Any]] = []
        for rule, entry in enumerate(ruler.patterns):
            for pattern in entry["patterns"]:
                places = [self._place(condition, conditions) for condition in pattern]
                if len(pattern) == 1:
                    self._rules_of[places[0]].append(rule)
                else:
                    self._sequences.append((rule, entry["index"] % len(pattern), tuple(places)))
        self._in_sequences = frozenset(number for _, _, conditions in self._sequences for number in conditions)
        self._texts, self._patterns = _mentioned(
            [condition["LOWER"] for condition in conditions if "LOWER" in condition]
        )
        self._mentioned: dict[int, int] = {}  # a word in small letters, 0 where no rule mentions it
        self._met: dict[tuple[int, ...], _Met] = {}
        self._lemmas: dict[tuple[int, ...], int] = {}
        _index_as_sets(lemmatizer)

    def _place(self, condition: dict[str, Any], conditions: list[dict[str, Any]]) -> int:
        """Return where the condition on one word stands among all; a new one is added to them and to the matcher."""
        if not condition.keys() <= {"TAG", "LOWER", "DEP", "IS_SPACE"}:
            raise ValueError(f"the English model has a rule of another kind than is known here: {condition}")
        if condition not in conditions:
            self._matcher.add(str(len(conditions)), [[condition]])
            conditions.append(condition)
        return conditions.index(condition)

    def __call__(self, doc: Any) -> Any:
        """Set the attributes of a document's words and return it."""
        self._apply_rules(doc)
        self._set_lemmas(doc)
        return doc

    def _apply_rules(self, doc: Any) -> None:
        from spacy.tokens._retokenize import set_token_attrs

        mentioned = self._mentioned
        rules_met = []
        for place, (word, tag, dependency) in enumerate(doc.to_array(["LOWER", "TAG", "DEP"]).tolist()):
            known = mentioned.get(word)
            key = (self._mention(doc[place]) if known is None else known, tag, dependency)
            rules_met.append(self._met.get(key) or self._look_up(doc, place, key))
        more = self._of_several_words(rules_met)
        for place, (token, word) in enumerate(zip(doc, rules_met, strict=True)):
            sets = self._merged(sorted((*word.rules, *more[place]))) if place in more else word.sets
            if sets:
                set_token_attrs(token, sets)

    def _mention(self, token: Any) -> int:
        """Return the word in small letters as its number, 0 where no rule tells it from other words."""
        text = token.lower_
        is_mentioned = token.is_space or text in self._texts or any(pattern.search(text) for pattern in self._patterns)
        if len(self._mentioned) >= _MAX_KEPT:
            self._mentioned.clear()
        self._mentioned[token.lower] = token.lower if is_mentioned else 0
        return self._mentioned[token.lower]

    def _look_up(self, doc: Any, place: int, key: tuple[int, ...]) -> _Met:
        matches = self._matcher(doc[place : place + 1], allow_missing=True, as_spans=False)
        conditions = {int(doc.vocab.strings[name]) for name, _, _ in matches}
        rules = tuple(sorted({rule for condition in conditions for rule in self._rules_of.get(condition, ())}))
        if len(self._met) >= _MAX_KEPT:
            self._met.clear()
        self._met[key] = _Met(rules, self._merged(rules), frozenset(conditions & self._in_sequences))
        return self._met[key]

    def _merged(self, rules: Sequence[int]) -> dict[int, Any]:
        """Return what the rules set together; later ones win."""
        merged: dict[int, Any] = {}
        for rule in rules:
            merged |= self._sets[rule]
        return merged

    def _of_several_words(self, rules_met: Sequence[_Met]) -> dict[int, list[int]]:
        """Return the rules of several words that are met, by the place of the word that they set."""
        rules: dict[int, list[int]] = defaultdict(list)
        for start, word in enumerate(rules_met):
            if not word.conditions:
                continue
            for rule, index, conditions in self._sequences:
                following = rules_met[start : start + len(conditions)]
                if len(following) == len(conditions) and all(
                    condition in other.conditions for condition, other in zip(conditions, following, strict=True)
                ):
                    rules[start + index].append(rule)
        return rules

    def _set_lemmas(self, doc: Any) -> None:
        """Set the base forms, which depend on word, part of speech and morphology, where no rule has set them."""
        words = doc.to_array(["LEMMA", "ORTH", "POS", "MORPH"]).tolist()
        for token, (lemma, *key) in zip(doc, words, strict=True):
            if lemma:
                continue
            known = self._lemmas.get(tuple(key))
            if known is None:
                if len(self._lemmas) >= _MAX_KEPT:
                    self._lemmas.clear()
                known = doc.vocab.strings.add(self._lemmatizer.lemmatize(token)[0])
                self._lemmas[tuple(key)] = known
            token.lemma = known


def _mentioned(values: Sequence[Any]) -> tuple[frozenset[str], list[re.Pattern[str]]]:
    """Return the words, and the expressions for words, that conditions on words in small letters speak of."""
    words: set[str] = set()
    patterns: list[re.Pattern[str]] = []
    for value in values:
        if isinstance(value, str):
            words.add(value)
        elif value.keys() == {"IN"} or value.keys() == {"NOT_IN"}:
            words.update(*value.values())
        elif value.keys() == {"REGEX"}:
            patterns.append(re.compile(value["REGEX"]))
        else:
            raise ValueError(f"the English model has a rule of another kind than is known here: {value}")
    return frozenset(words), patterns


def _index_as_sets(lemmatizer: Any) -> None:
    """Turn the lists of known words, which the lemmatizer goes through for each new word, into sets."""
    table = lemmatizer.lookups.get_table("lemma_index")
    for part_of_speech, words in list(table.items()):
        table[part_of_speech] = frozenset(words)
