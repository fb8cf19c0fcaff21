"""What an English question asks for, part by part: a number, a date, a person, a place, a reason, a named thing.

Read from its question words and the words beside them, without a model. A question in another language has no part that
asks for anything, and is not judged by what it asks for.
"""

import itertools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from leanrag_core.text.words import FUNCTION_WORDS, word_set

NUMBER, DATE, PERSON, PLACE = "number", "date", "person", "place"
REASON, NAMED, THING, OPEN = "reason", "named", "thing", "open"
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")  # "LiHua" is "Li Hua"
_ASKS = re.compile(r"\b(who|whom|whose|what|which|when|where|why|how)\b", re.I)
_PREPOSITION = r"(?:about|against|at|between|by|during|for|from|in|into|of|on|through|to|under|with)"
# A further part begins with a question word after a mark or "and".
_NEXT_PART = re.compile(
    rf"(?:[;:?.]\s+(?:and\s+)?|,\s+and\s+|,\s+|\s+and\s+)(?=(?:{_PREPOSITION}\s+)?{_ASKS.pattern})", re.I
)
_SUBORDINATE = re.compile(
    r",?\s+(?:who|whom|whose|which|that|when|where|while|after|before|although|because|since|so that|if|as|according to"
    r"|until|instead)\b",
    re.I,
)
# A question about the whole collection has its answer spread over it, so that no single place answers it.
_SURVEY = re.compile(
    r"\b(?:the|these|those|this|all)\s+(?:(?:\w+\s+)?(?:documents?|corpus|texts?|readers?|handbook|books?|collection|chapters?"
    r"|reports?|papers?|articles?|sources?|biograph(?:y|ies)|portraits?|notes?|minutes|files?)"
    r"|(?:[\w'’-]+\s+){2,5}documents)\b",
    re.I,
)
# "Was" is German for "what", unless other words are English.
_OPEN_IN_ENGLISH = re.compile(
    r"\bhow\b|^\W*(?:are|can|could|did|do|does|had|has|have|is|may|might|must|shall|should|were|will|would"
    r"|was\b(?=.* (?:a|by|for|he|her|his|it|of|she|that|the|there|they|this|to)\b))\b",
    re.I,
)
_NAME = re.compile(r"[A-Z][\w.&'-]*(?:\s+(?:(?:of|de|von|van)\s+)?[A-Z0-9][\w.&'-]*)*")
_IS_THE = re.compile(r"\w+\s+(?:is|are|was|were)\s+(?:the|an?)\s+(.*)", re.I)
_AUXILIARIES = frozenset(["had", "has", "have", "did", "do", "does", "might", "must"])
_DEGREES = frozenset(
    ["big", "deep", "far", "fast", "heavy", "high", "hot", "large", "long", "old", "often", "tall", "wide"]
)
_UNITS_OF = frozenset(["amount", "number", "total", "value", "values"])  # the thing measured follows "of"
_TIMES = frozenset(["century", "date", "day", "decade", "hour", "month", "season", "week", "year"])
_REASONS = frozenset(["purpose", "purposes", "reason", "reasons"])
_QUANTITIES = word_set("""
age amount amounts area budget capacity charge concentration cost costs count depth discount distance dosage dose
duration fee fees figure figures fine fraction frequency height income interest length level limit loss margin mass
number numbers pay payment percent percentage period population premium pressure price prices profit proportion
quantities quantity rate rates ratio rent revenue salaries salary score share shares size speed sum tax temperature
threshold toll total value values volume wage wages weight width
""")
# Words that carry a question and do not say what it is about: light verbs, verbs of saying, general nouns, prepositions
# beyond the function words.
_SAYS_LITTLE = word_set("""
above across after against along among around before behind below beneath beside beyond despite down except inside near
off onto out outside past per regarding since throughout toward towards until via within without
advice announce announced appreciate appreciates ask asked asks aspect aspects become becomes became call called
came claim claimed claims come comes common consider considered considering considers conversation corpus describe
described did discuss discussed discusses discussion document documents done ever example exactly explain explained
explains express expressed expresses feel feeling feels gave get gets give given gives go goes got happen happened
he her highlight highlighted highlights him his idea ideas itself kind kinds latest made mainly make makes making
mention mentioned moment name named one opinion own particular propose proposed proposes purpose purposes put
question reason reasons recommend recommendation recommended recommends regarding report reported reports role roles
say says share shared shares she significant solution sort sorts specific specifically state stated states such
suggest suggested suggestion suggestions suggests take taken takes talk tell tells term terms text texts thing
things think three tip tips told took two type types use used uses using usual usually way ways went
""")
_KINDS_OF_NOUNS = ((NUMBER, _QUANTITIES), (DATE, _TIMES), (REASON, _REASONS))


@dataclass(frozen=True)
class Asked:
    """One part of a question. text: of the part. kind: of answer, one of the above. clause: its main clause. asked: the
    words of what is asked for, in small letters ("learning rate"). counted: "how many" of it. names: the keys of the
    words of each name in the clause."""

    text: str
    kind: str
    clause: str
    asked: tuple[str, ...]
    counted: bool
    names: tuple[frozenset[str], ...]


def asked_parts(question: str) -> tuple[Asked, ...]:
    """Return the parts of the question in order; one of kind OPEN where it has no English question word."""
    return tuple(_part(piece) for piece in _pieces(question))


def _pieces(question: str) -> list[str]:
    breaks = list(_NEXT_PART.finditer(question))
    starts, ends = [0, *(gap.end() for gap in breaks)], [*(gap.start() for gap in breaks), len(question)]
    return [question[start:end] for start, end in zip(starts, ends, strict=True) if question[start:end].strip()]


def is_survey(question: str) -> bool:
    """Return whether the question is about the collection as a whole."""
    return _SURVEY.search(question) is not None


def is_open_in_english(question: str) -> bool:
    """Return whether the question asks "how", or yes or no, in English words."""
    return _OPEN_IN_ENGLISH.search(question) is not None


def has_clauses(question: str) -> bool:
    """Return whether the question has several parts or clauses, which may stand in several places."""
    return len(_ASKS.findall(question)) > 1 or len(_pieces(question)) > 1


def plain_words(text: str) -> list[str]:
    """Return the words of the text in small letters, in order; a name in one word is two ("LiHua")."""
    return [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text))]


def keys(text: str) -> frozenset[str]:
    """Return the words of the text that say what it is about, without endings."""
    words = (word for word in plain_words(text) if word not in FUNCTION_WORDS and word not in _SAYS_LITTLE)
    return frozenset(key(word) for word in words if len(word) > 1 or word.isdigit() or not word.isascii())


def key(word: str) -> str:
    """Return the word without its ending, so that "store" meets "stored"."""
    return stem(word).removesuffix("e")


# Irregular verbs, each followed by the forms that are mapped to it.
_VERBS = """
arise arose arisen/bear bore borne born/become became/begin began begun/bind bound/bite bit bitten/blow blew blown
break broke broken/breed bred/bring brought/build built/buy bought/catch caught/choose chose chosen/come came/deal dealt
draw drew drawn/drink drank drunk/drive drove driven/eat ate eaten/fall fell fallen/feed fed/feel felt/fight fought
find found/fly flew flown/forget forgot forgotten/freeze froze frozen/get got gotten/give gave given/go went gone
grow grew grown/hang hung/hear heard/hide hid hidden/hold held/keep kept/know knew known/lay laid/lead led/leave left
lend lent/lose lost/make made/mean meant/meet met/pay paid/ride rode ridden/rise rose risen/run ran/say said
see saw seen/seek sought/sell sold/send sent/shake shook shaken/shoot shot/show shown/sing sang sung
sink sank sunk/sit sat
sleep slept/speak spoke spoken/spend spent/stand stood/steal stole stolen/stick stuck/strike struck/swim swam swum
take took taken/teach taught/tell told/think thought/throw threw thrown/understand understood/wear wore worn/win won
write wrote written
"""
_IRREGULAR = {form: forms.split()[0] for forms in _VERBS.replace("\n", "/").split("/") for form in forms.split()[1:]}


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Cut off plural, past and -ing endings, and replace irregular forms by their verb; enough to match "treatments"
    with "treatment" and "paid" with "pay"."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for ending in ("ingly", "edly", "ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


def weighted_share(n_with: Mapping[str, int], n_windows: int) -> float:
    """Return the share of the words, by weight, that stand somewhere; rounded. n_with: of each word in how many of the
    windows it stands."""
    weight = {word: math.log(1 + n_windows / (1 + n)) for word, n in n_with.items()}
    total = math.fsum(weight.values())
    return round(math.fsum(weight[word] for word, n in n_with.items() if n) / total, 6) if total else 1.0


_SHORT_KEY = 6  # letters


def meet(left: str, right: str) -> bool:
    """Return whether two keys are of one word or of words that are derived alike ("translate", "translation")."""
    if left == right:
        return True
    shortest = min(len(left), len(right))
    shared = max(4, shortest - (2 if shortest > _SHORT_KEY else 1))  # "invent" is not "invest"
    return shortest >= 4 and left[:shared] == right[:shared] and abs(len(left) - len(right)) <= 4


def _part(piece: str) -> Asked:
    question_word = _ASKS.search(piece)
    if question_word is None:
        last = plain_words(piece)[-1:]  # "Karl von Frisch's Nobel Prize year?"
        kind = next((kind for kind, nouns in _KINDS_OF_NOUNS if nouns.intersection(last)), OPEN)
        return Asked(piece, kind, piece, tuple(last) if kind != OPEN else (), False, _names(piece))
    rest = piece[question_word.start() :]
    end = _SUBORDINATE.search(rest, len(question_word.group()))
    clause = rest[: end.start()] if end else rest
    if len(keys(clause)) < 2:
        clause = rest
    word = question_word.group().lower()
    kind, asked = _kind(word, rest)
    counted = word == "how" and plain_words(rest)[1:2] == ["many"]
    return Asked(piece, kind, clause, asked, counted, _names(clause.partition(" ")[2]))


def _kind(word: str, rest: str) -> tuple[str, tuple[str, ...]]:
    """Return the kind of answer and the words of what is asked for. rest: from the question word on."""
    following = plain_words(rest)[1:]
    if word in ("what", "which"):
        return _of_noun(following, rest)
    if word == "how" and following[:1] in (["many"], ["much"]):
        return NUMBER, _run(following[1:])
    if word == "how":
        return (NUMBER if following and following[0] in _DEGREES else OPEN), ()
    kinds = {"when": DATE, "where": PLACE, "why": REASON}
    return kinds.get(word, PERSON), ()


def _of_noun(following: list[str], rest: str) -> tuple[str, tuple[str, ...]]:
    run = _run(following)
    if not run:
        match = _IS_THE.match(rest)
        run = _run(plain_words(match.group(1))) if match else ()
        return (NUMBER if _QUANTITIES.intersection(run) else THING), run
    if run[-1] in _UNITS_OF and following[len(run) : len(run) + 1] == ["of"]:
        beyond = itertools.takewhile(lambda word: word not in _AUXILIARIES, following[len(run) + 1 :])
        run = (*run, *(word for word in beyond if word not in FUNCTION_WORDS))
    for kind, nouns in _KINDS_OF_NOUNS:
        if nouns.intersection(run):
            return kind, run
    return NAMED, run


def _run(words: list[str]) -> tuple[str, ...]:
    """Return the first words, up to a function word or an auxiliary."""
    return tuple(itertools.takewhile(lambda word: word not in FUNCTION_WORDS and word not in _AUXILIARIES, words))


def _names(text: str) -> tuple[frozenset[str], ...]:
    return tuple(filter(None, (keys(name) for name in _NAME.findall(_CAMEL.sub(" ", text)))))
