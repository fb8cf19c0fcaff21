"""Whether a phrase has the shape of a name: no address, no row of numbers, no piece of a formula or of a sentence."""

import re
from dataclasses import replace
from itertools import pairwise

from leanrag_core.indexing.extraction.english import GIVEN, english_dictionary
from leanrag_core.indexing.extraction.sentences import Link, ReadSentence, Sighting
from leanrag_core.text.words import FUNCTION_WORDS

SHAPE = "8"  # version of these rules; raise it when they let other names pass
_ADDRESS = re.compile(
    r"://|\bwww\.|\S@\S|^@|\b[\w-]+\.(?:com|org|net|edu|gov|html?|php)(?:/|\b.*/)|/.*/|/\S*\.\w", re.IGNORECASE
)
_SIGN = re.compile(
    r"[=<>^\\{}|~*•·…§¶©®™→⇒←↑↓×÷∑∏∫√≤≥≈≠≡∈∂∇∞$%`\"“”«»?!;\ufffd]|\.\.|--|\s[-–+/:,.]\s|\s[,.:]|\(\)|\('|"
    r"[a-z]- [a-z]|\bet al\b"
)
_NUMERIC = re.compile(r"^[\W_]*\d[\d.,:/’'–-]*[\W_]*$")
_CODE = re.compile(r"^(?=\S*\d)(?=\S*[a-f])[\da-f-]{7,}$|^0x|^v?\d+(?:\.\d+)+\S*$", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\b(?:[A-Z]{6,}|[A-Z]{2,}REF)\d+\b|^\d{4,}[A-Za-z]{2,}")
_HEXADECIMAL = re.compile(r"^[a-f]{6,}$")
_NUMBERED = re.compile(r"^[a-z]+\d+$")
# A number of an entry, and what the entry before it ends with: "ppc64 337285 fcntl commands"; not "10000 Maniacs".
_ENTRY = re.compile(r"(?:^| )(?!\d+000 )\d{5,} [^\d\W]")
_STOP = re.compile(r"[^\W\d_]{5,}[.!?] |\d\. |[.!?] [a-z]")
_DATE = """
january february march april may june july august september october november december jan feb mar apr jun jul aug sep
sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun am pm utc gmt th
st nd rd bc bce ad ce
"""
_CLAUSE = """
when which who whom whose where is are was were be been has have had will would can could must should may does did if
"""
_OPEN = "a an the and or of to in for with by at on from as than that into but nor"
_OF_A_PAGE = """
baz, foo, foobar, quux, click here, cf, eq, eqs, et al, fig, figs, ibid, ref, refs, tab, e-mail, email, e-mail
address, email address, here, home page, homepage, hyperlink, link, links, log in, login, menu, new window, page, read
more, sign in, sign up, skip to content, url, urls, wayback machine, web page, webpage
"""
# Months, days and what else makes a date: names of nothing.
_DATES = frozenset(_DATE.split())
# Words of programming languages that are none of English: what has one is a declaration.
_DECLARES = frozenset(["const", "elif", "fn", "impl", "int", "mut", "uint"])
# Begin or carry a clause.
_CLAUSES = frozenset(_CLAUSE.split())
# Neither begin nor end a name in small letters.
_OPEN_ENDS = frozenset(_OPEN.split())
# What pages say of themselves and their parts. Few, since asides.py recognises the rest by its place.
_OF_PAGES = frozenset(" ".join(_OF_A_PAGE.split()).split(", "))
_ROMAN = re.compile(r"^[IVX]{2,}$")
_FILE = re.compile(r"^[\w-]+\.[a-z]{1,4}$")
# A year after a name of persons, as in lists of holders of rights: "Ada Byron 2005", "Ada Byron 2005 Engines Inc".
_YEARED = re.compile(r"^(?:[A-Z][^\W\d]+[.,]? ){2,}(?:19|20)\d\d\b")
_TITLES = ("title", "heading")
_INITIALS = re.compile(r"^(?:[A-Z]\.-?)+$")


def named(sentence: ReadSentence) -> ReadSentence:
    """Return the sentence with those of its sightings that have the shape of a name, and the links between them."""
    kept = [place for place, sighting in enumerate(sentence.sightings) if is_name(sighting)]
    if len(kept) == len(sentence.sightings):
        return sentence
    place_of = {place: number for number, place in enumerate(kept)}
    links: list[Link] = [
        replace(link, source=place_of[link.source], target=place_of[link.target])
        for link in sentence.links
        if link.source in place_of and link.target in place_of
    ]
    return replace(sentence, sightings=tuple(sentence.sightings[place] for place in kept), links=tuple(links))


def is_name(sighting: Sighting) -> bool:
    """Return whether what is seen can be the name of something. Titles and headings may have the signs and verbs of a
    sentence; headings.title_of() has left out questions and whole sentences among them."""
    text = sighting.surface
    if not text.isascii() and not any(letter.isalpha() and letter < "\u0250" for letter in text):
        return sum(map(str.isalpha, text)) * 2 > len(text.replace(" ", ""))  # the other rules are of Latin letters
    titled = sighting.type in _TITLES
    tokens = text.split()
    low = [token.strip(".,;:()'’").casefold() for token in tokens]
    if _ADDRESS.search(text) or _PLACEHOLDER.search(text) or " ".join(low) in _OF_PAGES:
        return False
    if len(tokens) == 1 and (_CODE.match(text) or _ROMAN.match(text)):
        return False
    if any(text.count(opening) != text.count(closing) for opening, closing in ("()", "[]")):
        return False  # a piece of a call: "log(buf.read(2"
    if not titled and (_SIGN.search(text) or _STOP.search(text) or _ENTRY.search(text)):
        return False
    if _YEARED.match(text) and (sighting.type == "person" or low[0] in GIVEN):
        return False
    return _says_something(tokens, low) and (titled or not _is_clause(tokens, low))


def _says_something(tokens: list[str], low: list[str]) -> bool:
    """Return whether words make the phrase, and not numbers, dates, single letters and function words."""
    numeric = [bool(_NUMERIC.match(token)) for token in tokens]
    empty = [
        number or word in _DATES or len(word) < 2 or not any(map(str.isalpha, word))
        for number, word in zip(numeric, low, strict=True)
    ]
    if all(nothing or word in FUNCTION_WORDS for nothing, word in zip(empty, low, strict=True)):
        return False
    if sum(numeric) > 1 and 2 * sum(numeric) >= len(tokens):
        return False
    if any(first == second for first, second in pairwise(low)) or all(map(_INITIALS.match, tokens)):
        return False
    if len(tokens) > 1 and (all(map(_FILE.match, tokens)) or (tokens[0].islower() and _INITIALS.match(tokens[-1]))):
        return False
    if any(map(_unspelled, tokens)) or (
        len(tokens) > 2 and 2 * sum(map(bool, map(_NUMBERED.match, tokens))) > len(tokens)
    ):
        return False  # "deadbeef http", "extra2 val5 val6"
    if len(tokens) > 2 and len(low[0]) == 1 and tokens[0].islower():  # "r carriage return" of "\\r carriage return"
        return False
    if len(tokens) > 1 and not _DECLARES.isdisjoint(tokens):  # "fn timer", "unsigned int flags"
        return False
    letters = sum(len(word) == 1 and not _INITIALS.match(token) for token, word in zip(tokens, low, strict=True))
    return 2 * letters < len(tokens) or len(tokens) == 1


def _unspelled(token: str) -> bool:
    """Return whether the token is a hexadecimal number that has no digit, and no word of English."""
    return _HEXADECIMAL.match(token) is not None and not english_dictionary().has(token)


def _is_clause(tokens: list[str], low: list[str]) -> bool:
    """Return whether the phrase is broken off, or has the verb of a sentence in it."""
    tokens = low if " ".join(tokens).isupper() else tokens
    ends = {tokens[0], tokens[-1]} if len(tokens) > 1 else set()
    if not ends.isdisjoint(_OPEN_ENDS | _CLAUSES):
        return True
    inside = tokens[1:-1]
    return "now" in inside or (len(tokens) > 3 and not _CLAUSES.isdisjoint(inside))
