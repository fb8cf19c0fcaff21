"""Words, sentences and phrases of entity descriptions, as far as names for clusters need them."""

import re
from collections.abc import Iterator, Sequence

_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"”’)\]]*\s+(?=[\"“‘(\[]?[^\Wa-z_])|(?<=[。！？])|\s*\n+\s*|\s+\|\s+")
_ABBREVIATION = re.compile(
    r"(?:\b[A-Z]|\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|No|Nos|Inc|Ltd|Co|Corp|Gen|Col|Lt|Capt|Rev|Fig|ca|cf|e\.g|i\.e))\.$"
)
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
    """The sentences of a text, in order, without empty ones; abbreviations and initials do not end one."""
    found: list[str] = []
    for piece in _SENTENCE_END.split(text):
        piece = piece.strip()
        if found and _ABBREVIATION.search(found[-1]):
            found[-1] = f"{found[-1]} {piece}"
        elif piece:
            found.append(piece)
    return found


def runs(text: str) -> Iterator[list[str]]:
    """Stretches of words that only spaces part; a phrase never crosses a comma."""
    run: list[str] = []
    end = -1
    for match in _WORD.finditer(text):
        if run and text[end : match.start()].strip():
            yield run
            run = []
        run.append(match.group())
        end = match.end()
    if run:
        yield run


Phrase = tuple[str, ...]


def phrases(text: str, names: frozenset[Phrase]) -> Iterator[tuple[Phrase, str]]:
    """Phrases of a sentence with their surface: known names, and single content words and pairs outside of them.

    names: folded names of two or more words. What lies inside a name is no phrase of its own, so that no cluster is
    called "York City"; a name within a longer name counts.
    """
    for run in runs(text):
        keys = [folded(word) for word in run]
        content = [is_content(word) for word in run]
        start, open_from = 0, 0
        while start < len(run):
            length = _longest_name(keys, start, names)
            if length:
                yield from _outside(run, keys, content, open_from, start)
                yield tuple(keys[start : start + length]), " ".join(run[start : start + length])
                yield from _names_within(run, keys, start, length, names)
                open_from = start + length
            start += length or 1
        yield from _outside(run, keys, content, open_from, len(run))


def _longest_name(keys: Sequence[str], start: int, names: frozenset[Phrase]) -> int:
    for length in range(min(LONGEST_NAME, len(keys) - start), 1, -1):
        if tuple(keys[start : start + length]) in names:
            return length
    return 0


def _names_within(
    run: Sequence[str], keys: Sequence[str], start: int, length: int, names: frozenset[Phrase]
) -> Iterator[tuple[Phrase, str]]:
    for shorter in range(2, length):
        for offset in range(start, start + length - shorter + 1):
            if tuple(keys[offset : offset + shorter]) in names:
                yield tuple(keys[offset : offset + shorter]), " ".join(run[offset : offset + shorter])


def _outside(
    run: Sequence[str], keys: Sequence[str], content: Sequence[bool], start: int, stop: int
) -> Iterator[tuple[Phrase, str]]:
    for place in range(start, stop):
        if content[place]:
            yield (keys[place],), run[place]
            if place + 1 < stop and content[place + 1] and keys[place] != keys[place + 1]:
                yield (keys[place], keys[place + 1]), f"{run[place]} {run[place + 1]}"
