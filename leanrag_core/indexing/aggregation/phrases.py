"""Words, sentences and phrases of entity descriptions, as far as texts for clusters need them."""

import re

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
_STOP_WORDS = """
a about above across after again against all almost alone along already also although always am among amongst an and
another any anyone anything are around as at away back be became because become becomes been before began behind being
below beside besides best better between beyond both but by call called came can cannot come comes could de did do does
doing done down due during each either else end enough especially etc even ever every everyone everything except far few
first five for former four from full further gave get gets give given gives go goes going gone got had has have having
he hence her here hers herself him himself his how however i if in include included includes including indeed instead
into is it its itself just kept known last later latter least less let like likely little long made mainly make makes
making many may me mean means meanwhile might mine more moreover most mostly much must my myself named namely near
nearly neither never nevertheless new next no nobody none nor not nothing now of off often old on once one ones only
onto or other others otherwise our ours out over own part perhaps place put quite rather re really said same saw say
says second see seem seemed seems seen set several shall she should show since six so some someone something sometimes
soon still such take taken takes ten than that the their theirs them themselves then there thereby therefore these they
thing things third this those though three through throughout thus time times to together told too took toward towards
two under until up upon us use used uses using usually various very via want was way ways we well went were what
whatever when where whereas whether which while who whole whom whose why will with within without would year years yes
yet you your yours yourself
born died based according different located work works day days people person name number kind kinds type types group
groups large small high low good great main major important per week month character individual figure story narrative
text event entity concept role example mentioned referred refers described depicted related associated involved
wrote written write read lived live went found find held hold left leave moved move worked taught asked stood brought
led grew spent met showed sent received think thought knew told tried turned paid kept wanted needed lost won end side
half life man men woman women king head simple
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def words(text: str) -> list[str]:
    """The words of a text, as written."""
    return _WORD.findall(text)


def folded(word: str) -> str:
    """The form under which words compare: lower case, without possessive and plain plural endings."""
    word = word.casefold().replace("’", "'")
    if word.endswith("'s"):
        word = word[:-2]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def is_content(word: str) -> bool:
    """Whether a word as written can stand in the name of a cluster: no stop word, number, adverb or single letter."""
    low = word.casefold()
    return len(low) > 2 and low not in STOP_WORDS and not low[0].isdigit() and not low.endswith("ly")


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order, without empty ones; abbreviations and initials do not end one.

    A sentence ends after . ! or ? (and closing quotes, which are left out) when white space and then a capital, a digit
    or a letter without case follow; after 。！？; at a new line; at a bar between spaces.
    """
    found: list[str] = []
    start = taken = 0  # the sentence begins at `start`; up to `taken` white space belongs to the last end already
    for mark in _MAY_END.finditer(text):
        place = mark.start()
        if place < taken:
            continue
        sign = text[place]
        if sign in ".!?":
            gap = _AFTER_MARK.match(text, place + 1)
            if gap:
                _add(found, text[start : place + 1])
                start = taken = gap.end()
        elif sign in "。！？":
            _add(found, text[start : place + 1])
            start = taken = place + 1
        elif sign == "\n" or (text[taken:place][-1:].isspace() and text[place + 1 : place + 2].isspace()):
            _add(found, text[start:place])
            start = taken = _SPACE.match(text, place + 1).end()  # type: ignore[union-attr]
    _add(found, text[start:])
    return found


def _add(found: list[str], piece: str) -> None:
    piece = piece.strip()
    last = found[-1] if found else ""
    if last.endswith(".") and _ABBREVIATION.search(last, max(0, len(last) - _LONGEST_ABBREVIATION)):
        found[-1] = f"{last} {piece}"
    elif piece:
        found.append(piece)


Phrase = tuple[str, ...]
