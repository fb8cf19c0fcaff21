"""Whether the context answers a question, judged by the form of the question: a known topic alone does not answer it.

The rule: a part of a question is answered where a sentence, with the two before it, holds a value of the kind that is
asked for, and enough of the words of its main clause. Names may stand anywhere in the same item: a text goes on with
pronouns. A name of several words counts once, its numbers with it; rare words count more. Where nothing but names is
left, the word for what is asked counts too. Questions of several clauses need less, since
their parts stand in several places; open questions ("how", yes or no) need three tenths of their words, anywhere in the
context; those about the whole collection need nothing.
Measured by `python -m benchmarks.abstention`; English alone.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from leanrag_core.answering.asked import (
    DATE,
    NAMED,
    NUMBER,
    OPEN,
    PERSON,
    PLACE,
    REASON,
    THING,
    Asked,
    asked_parts,
    has_clauses,
    is_open_in_english,
    is_survey,
    key,
    keys,
    meet,
    plain_words,
    weighted_share,
)
from leanrag_core.answering.chinese import chinese_parts, holds_chinese_value, is_answered_in_chinese
from leanrag_core.text.chinese import is_chinese
from leanrag_core.text.sentences import split_sentences
from leanrag_core.text.words import FUNCTION_WORDS, word_set
from leanrag_core.types.trace import Trace

_ENOUGH = 0.55  # share of the clause's words, by weight
_ENOUGH_NAMED = 0.6  # "which variety": no form tells a value of the kind, so the words must tell more
_ENOUGH_OF_CLAUSES = 0.35
_ENOUGH_ANYWHERE = 0.3  # answerable open questions of the samples, of HotpotQA and of LiHua have .34 or more
_BEFORE = 2  # sentences that a sentence goes on from
_UNIT_NEAR = 3  # words of a number and its unit, "21,300,000 dollars" being four
_NEAR = 4  # words between a number and what it counts
# The built-in writer's: how many relations there are, not what they say.
COUNTED = re.compile(r"“.+” and “.+” are joined by \d|“.+”与“.+”之间有\d[\d,]*条关系")
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_NUMBERS = word_set("""
annually billion both daily dozen each eight eighteen eighty eleven every fifteen fifth fifty five four fourteen
forty half hourly hundred million monthly nine nineteen ninety no none once one quarter second seven seventeen
seventy single six sixteen sixty ten tenth third thirteen thirty thousand three thrice twelve twenty twice two
weekly yearly
""")
_DATES = word_set("""
april august autumn december evening february friday january july june march may monday morning night noon november
october saturday september spring summer sunday thursday today tuesday wednesday winter yesterday
""")
_PROPORTIONS = frozenset(["fraction", "percent", "percentage", "proportion", "rate", "ratio", "share"])
_CURRENCIES = "cent dollar euro gbp pound usd yen yuan"
_TIME_UNITS = "second minute hour day week month year decade century"
_LENGTH_UNITS = "mm cm m km millimetre centimetre metre meter kilometre kilometer mile foot feet inch yard"
# The unit behind a number says what is measured: "sets at 14 °C" need not say that this is a temperature.
_UNITS = {
    key(measure): frozenset(map(key, units.split()))
    for measures, units in (
        ("temperature", "degree celsius fahrenheit kelvin c f k"),
        ("budget charge cost fee fine income loss pay payment premium price profit rent revenue salary", _CURRENCIES),
        ("sum tax toll total wage value amount", _CURRENCIES),
        ("age duration interval period time", _TIME_UNITS),
        ("depth distance height length size width margin", _LENGTH_UNITS),
        ("dosage dose mass weight", "mg g kg milligram gram kilogram ton tonne ounce pound"),
        ("area size", "ha hectare acre square"),
        ("capacity dosage dose volume", "ml l millilitre milliliter litre liter gallon cubic"),
        ("speed", "kmh mph knot"),
    )
    for measure in measures.split()
}
_SIGNS = str.maketrans(
    {"%": " percent ", "$": " dollar ", "€": " euro ", "£": " pound ", "¥": " yuan ", "°": " degree "}
)
_CAUSE = re.compile(
    r"\b(although|as|because|but|caused?|causes|due|for|hence|if|in order|leads?|led|lest|means?|otherwise|owing"
    r"|prevents?|reasons?|result|since|so|therefore|thus|to|which is why|without)\b",
    re.I,
)
_UPPER = re.compile(r"\b[^\W\d_a-z][^\W_]*")


@dataclass(frozen=True)
class _Window:
    """A sentence and the text with those before it. keys: of that text; item: keys of the whole item, with its
    title."""

    sentence: str
    text: str
    keys: frozenset[str]
    item: frozenset[str]


def parts_asked(question: str) -> tuple[Asked, ...]:
    """Return the parts of the question in order, as far as its language is read."""
    return chinese_parts(question) if is_chinese(question) else asked_parts(question)


def is_answered(question: str, trace: Trace) -> bool:
    """Return whether some part of the question is answered in the trace's context, as far as its form tells."""
    if is_chinese(question):
        return is_answered_in_chinese(question, trace)
    parts = asked_parts(question)
    if is_survey(question):
        return True
    windows = [window for item in trace.context.items for window in _windows_of(item.text, item.lead)]
    if any(part.kind == OPEN for part in parts):
        n_with = _windows_with(sorted(keys(question)), windows)
        return not is_open_in_english(question) or weighted_share(n_with, len(windows)) >= _ENOUGH_ANYWHERE
    question_words = frozenset(plain_words(question))
    clauses = has_clauses(question)
    return any(_share(part, windows, question_words) >= _enough(part, clauses) for part in parts)


def _enough(part: Asked, clauses: bool) -> float:
    if clauses:
        return _ENOUGH_OF_CLAUSES
    return _ENOUGH_NAMED if part.kind == NAMED else _ENOUGH


@lru_cache(maxsize=512)  # a moved slider asks again for most of the context
def _windows_of(text: str, lead: int) -> tuple[_Window, ...]:
    """Return the windows of an item. lead: characters of its text that are its title."""
    windows = []
    sentences = split_sentences(text[lead:])
    of_item, of_sentence = keys(text), [keys(sentence) for sentence in sentences]
    for place, sentence in enumerate(sentences):
        if not COUNTED.match(sentence):
            span = slice(max(0, place - _BEFORE), place + 1)
            of_window = frozenset[str]().union(*of_sentence[span])
            windows.append(_Window(sentence, " ".join(sentences[span]), of_window, of_item))
    return tuple(windows)


def _windows_with(words: Sequence[str], windows: Sequence[_Window]) -> dict[str, int]:
    """Return of each word in how many windows it stands."""
    forms = _forms(words, windows)
    return {word: sum(not forms[word].isdisjoint(window.keys) for window in windows) for word in words}


def _forms(words: Sequence[str], windows: Sequence[_Window]) -> dict[str, frozenset[str]]:
    """Return for each word what it meets in the windows."""
    vocabulary = frozenset[str]().union(*(window.item for window in windows))
    # Words that meet begin alike; to look at that first is quicker than to ask for all.
    return {
        word: frozenset(known for known in vocabulary if known[:4] == word[:4] and meet(word, known)) for word in words
    }


def _share(part: Asked, windows: Sequence[_Window], question_words: frozenset[str]) -> float:
    """Return the largest share of the clause's words, by weight, in a window that holds a value of the kind;
    rounded.

    question_words: in small letters; they are no values.
    """
    wanted = sorted(keys(part.clause))
    names = frozenset[str]().union(*part.names)
    forms = _forms(wanted, windows)

    def held(word: str, window: _Window) -> bool:
        return not forms[word].isdisjoint(window.item if word in names else window.keys)

    def is_held(words: Sequence[str], window: _Window) -> bool:
        numbers = [word for word in words if word.isdigit()]  # "Debian 13" is not "Debian 11"
        return any(held(word, window) for word in words) and all(held(number, window) for number in numbers)

    weight = {word: math.log(1 + len(windows) / (1 + sum(held(word, window) for window in windows))) for word in wanted}
    units = [(tuple(sorted(name & weight.keys())), name) for name in part.names]
    counted = [(words, max(weight[word] for word in words)) for words, _ in units if words]
    # An answer names an electrometer or a year, and need not say that it is an instrument or a year.
    heads = frozenset(map(key, part.asked)) if part.kind != THING and not part.counted else frozenset[str]()
    others = [((word,), weight[word]) for word in wanted if word not in names]
    counted += [each for each in others if heads.isdisjoint(each[0])] or others
    total = math.fsum(value for _, value in counted)
    if not total:
        return 1.0
    best = 0.0
    for window in windows:
        share = math.fsum(value for words, value in counted if is_held(words, window)) / total
        if share > best and holds_value(part, window.sentence, window.text, question_words):
            best = share
    return round(best, 6)


def holds_value(part: Asked, sentence: str, text: str, question_words: frozenset[str]) -> bool:
    """Return whether the sentence holds something of the part's kind that the question does not say itself.

    text: the sentence with those before it. question_words: in lower case.
    """
    if is_chinese(part.text):
        return holds_chinese_value(part.kind, sentence)
    if part.kind == NUMBER:
        return _holds_number(part, plain_words(sentence.translate(_SIGNS)), plain_words(text), question_words)
    if part.kind == DATE:
        words = plain_words(sentence)
        return any(
            (word[0].isdigit() or word in _DATES or word in _NUMBERS) and word not in question_words for word in words
        )
    if part.kind in (PERSON, PLACE):
        names = (name.lower() for name in _UPPER.findall(sentence))
        return any(name not in question_words and name not in FUNCTION_WORDS for name in names)
    return part.kind != REASON or _CAUSE.search(text) is not None


def _holds_number(part: Asked, words: Sequence[str], window: Sequence[str], question_words: frozenset[str]) -> bool:
    """Return whether the words hold such a number. window: them and the words before, which may name what is
    measured."""
    places = [
        place
        for place, word in enumerate(words)
        if (word[0].isdigit() or word in _NUMBERS) and word not in question_words and not _YEAR.fullmatch(word)
    ]
    if part.counted and part.asked:
        counted = key(part.asked[-1])
        return any(meet(counted, key(word)) for place in places for word in words[place + 1 : place + 1 + _NEAR])
    measured = [key(word) for word in part.asked if word not in ("amount", "number", "total", "value", "values")]
    if "percent" in words and _PROPORTIONS.intersection(part.asked):
        return bool(places)
    units = frozenset[str]().union(*(_UNITS.get(each, frozenset()) for each in measured))
    beside = (key(word) for place in places for word in words[max(0, place - 1) : place + 1 + _UNIT_NEAR])
    return bool(places) and (
        not measured
        or any(meet(each, key(word)) for each in measured for word in window)
        or not units.isdisjoint(beside)
    )
