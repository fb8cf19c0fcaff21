"""Words, sentences and phrases of entity descriptions, as far as texts for clusters need them."""

import re

from leanrag_core.text.words import FUNCTION_WORDS

WORD = r"[^\W_]+(?:['’\-][^\W_]+)*"
_WORD = re.compile(WORD)
_MAY_END = re.compile(r"[.!?。！？\n|]")
_AFTER_MARK = re.compile(r"[\"”’)\]]*\s+(?=[\"“‘(\[]?[^\Wa-z_])")
_SPACE = re.compile(r"\s*")
_ABBREVIATION = re.compile(
    r"(?:\b[A-Z]|\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|No|Nos|Inc|Ltd|Co|Corp|Gen|Col|Lt|Capt|Rev|Fig|ca|cf|e\.g|i\.e))\.$"
)
_LONGEST_ABBREVIATION = 8  # characters, with room
LONGEST_NAME = 5  # words of the longest name that is looked for in running text
# Words that name no cluster although they say something about a text; index bytes depend on this list.
_TOO_GENERAL = """
above across after again against all almost alone along already although always am among amongst another anyone
anything around away back became because become becomes before began behind being below beside besides best better
beyond call called came cannot come comes de doing done down due either else end enough especially etc even ever every
everyone everything except far few first five former four full further gave get gets give given gives go goes going
gone got having he hence her here hers herself him himself his however include included includes including indeed
instead itself just kept known last later latter least less let like likely little long made mainly make makes making
mean means meanwhile might mine moreover mostly my myself named namely near nearly neither never nevertheless new next
nobody none nor nothing now off often old once one ones only onto others otherwise ours out own part perhaps place put
quite rather re really said same saw second see seem seemed seems seen set several she show since six someone
something sometimes soon still such take taken takes ten theirs themselves thereby therefore thing things third though
three throughout thus time times together told too took toward towards two until us use used uses using usually
various very via want way ways well went whatever whereas whether whole within without year years yes yet yours
yourself born died based different located work works day days people person name number kind kinds type types group
groups large small high low good great main major important per week month character individual figure story narrative
text event entity concept role example mentioned referred refers described depicted related associated involved wrote
written write read lived live found find held hold left leave moved move worked taught asked stood brought led grew
spent met showed sent received think thought knew tried turned paid wanted needed lost won side half life man men
woman women king head simple
"""
STOP_WORDS = FUNCTION_WORDS | frozenset(_TOO_GENERAL.split())


def words(text: str) -> list[str]:
    """Return the words of a text, as written."""
    return _WORD.findall(text)


def folded(word: str) -> str:
    """Return the form under which words compare: lower case, without possessive and plain plural endings."""
    word = word.casefold().replace("’", "'")
    if word.endswith("'s"):
        word = word[:-2]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def is_content(word: str) -> bool:
    """Return whether a word as written can stand in the name of a cluster: no stop word, number, adverb or single
    letter.
    """
    low = word.casefold()
    return len(low) > 2 and low not in STOP_WORDS and not low[0].isdigit() and not low.endswith("ly")


def sentences(text: str) -> list[str]:
    """Split a text into its sentences, without empty ones; abbreviations and initials do not end one.

    A sentence ends after . ! or ? (and closing quotes, which are left out) when white space and then a capital, a digit
    or a letter without case follow; after 。！？; at a new line; at a bar between spaces.
    """
    found_sentences: list[str] = []
    start = taken = 0  # the sentence begins at `start`; up to `taken` white space belongs to the last end already
    for mark in _MAY_END.finditer(text):
        place = mark.start()
        if place < taken:
            continue
        sign = text[place]
        if sign in ".!?":
            gap = _AFTER_MARK.match(text, place + 1)
            if gap:
                _add(found_sentences, text[start : place + 1])
                start = taken = gap.end()
        elif sign in "。！？":
            _add(found_sentences, text[start : place + 1])
            start = taken = place + 1
        elif sign == "\n" or (text[taken:place][-1:].isspace() and text[place + 1 : place + 2].isspace()):
            _add(found_sentences, text[start:place])
            start = taken = _SPACE.match(text, place + 1).end()  # type: ignore[union-attr]  # no space is a match too
    _add(found_sentences, text[start:])
    return found_sentences


def _add(found_sentences: list[str], piece: str) -> None:
    piece = piece.strip()
    last = found_sentences[-1] if found_sentences else ""
    if last.endswith(".") and _ABBREVIATION.search(last, max(0, len(last) - _LONGEST_ABBREVIATION)):
        found_sentences[-1] = f"{last} {piece}"
    elif piece:
        found_sentences.append(piece)


Phrase = tuple[str, ...]
