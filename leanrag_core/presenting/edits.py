"""What a person changes of a stored presentation: order, slides left out, own words, title, logo and notes.

An edit holds words and places alone. Figures, counts, answers and claims stay those of the stored run; a figure in
words that were typed over is compared with the slide's own (numbers_beyond).
"""

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from annotated_types import MaxLen, Predicate

from leanrag_core.errors import InvalidConfig
from leanrag_core.files.records import absent_at_default

MAX_TITLE, MAX_NOTES = 120, 2_000  # characters
MAX_SLIDE_TITLE, MAX_SUBTITLE, MAX_TEXT, MAX_QUOTATION = 90, 160, 600, 400
MAX_SLIDES = 60
MAX_LOGO_BYTES = 100_000
MAX_LOGO = MAX_LOGO_BYTES * 4 // 3 + 100  # characters of its data URI
TEXT = "text"  # the kind of a slide of own words, and the beginning of its key

_KEY = re.compile(r"[a-z]+(-[a-z0-9]{1,12})?")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")
_PNG, _SVG = "data:image/png;base64,", "data:image/svg+xml;base64,"
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Drawn as the source of an <img>, where a browser runs no script and loads nothing; they are refused nevertheless.
_ACTIVE = re.compile(
    rb"<!entity|<\s*script|<\s*foreignobject|<[^>]*\son[a-z]+\s*=|href\s*=\s*[\"']?\s*javascript:", re.IGNORECASE
)


def _is_key(text: str) -> bool:
    return _KEY.fullmatch(text) is not None


def _is_image_or_none(text: str) -> bool:
    return not text or is_image(text)


def is_image(text: str) -> bool:
    """Tell whether the text is a data URI of a PNG, or of an SVG without scripts and without entities."""
    begin = next((each for each in (_PNG, _SVG) if text.startswith(each)), None)
    if begin is None:
        return False
    try:
        content = base64.b64decode(text.removeprefix(begin), validate=True)
    except binascii.Error:
        return False
    if begin == _PNG:
        return content.startswith(_PNG_SIGNATURE)
    return b"<svg" in content[:2_000] and _ACTIVE.search(content) is None


def require_logo(logo: str) -> None:
    """Raise InvalidConfig for a logo, as a data URI, that is too large or of another kind."""
    if len(logo) > MAX_LOGO:
        raise InvalidConfig("present.logo_large", limit=MAX_LOGO_BYTES)
    if logo and not is_image(logo):
        raise InvalidConfig("present.logo_kind")


Key = Annotated[str, MaxLen(40), Predicate(_is_key)]
Logo = Annotated[str, MaxLen(MAX_LOGO), Predicate(_is_image_or_none)]


@dataclass(frozen=True)
class Wording:
    """Words typed over those of a slide; an empty one is as stored. text, quotation: of a slide of own words alone."""

    title: Annotated[str, MaxLen(MAX_SLIDE_TITLE)] = absent_at_default("")
    subtitle: Annotated[str, MaxLen(MAX_SUBTITLE)] = absent_at_default("")
    text: Annotated[str, MaxLen(MAX_TEXT)] = absent_at_default("")
    quotation: Annotated[str, MaxLen(MAX_QUOTATION)] = absent_at_default("")


@dataclass(frozen=True)
class Edits:
    """Changes of a stored presentation. title, subtitle, logo: of the whole, empty as stored. order: keys of slides;
    stored slides that it does not name come behind it, added ones are not shown. words, notes: by key."""

    title: Annotated[str, MaxLen(MAX_TITLE)] = absent_at_default("")
    subtitle: Annotated[str, MaxLen(MAX_TITLE)] = absent_at_default("")
    logo: Logo = absent_at_default("")
    order: Annotated[tuple[Key, ...], MaxLen(MAX_SLIDES)] = absent_at_default(())
    left_out: Annotated[tuple[Key, ...], MaxLen(MAX_SLIDES)] = absent_at_default(())
    words: Annotated[Mapping[Key, Wording], MaxLen(4 * MAX_SLIDES)] = absent_at_default(factory=dict)
    notes: Annotated[Mapping[Key, Annotated[str, MaxLen(MAX_NOTES)]], MaxLen(4 * MAX_SLIDES)] = absent_at_default(
        factory=dict
    )


def ordered(edits: Edits, stored: Sequence[str], added: Iterable[str]) -> tuple[str, ...]:
    """Return the keys of all slides in their order, each once. stored: of the story, in its own order; added: of those
    that may be there beside slides of own words, whose keys begin with TEXT."""
    known = {*stored, *added}
    named = [key for key in edits.order if key in known or key.partition("-")[0] == TEXT]
    return tuple(dict.fromkeys([*named, *stored]))


def numbers_in(text: str) -> list[str]:
    """Return the numbers that are written in digits, without what separates thousands, in their order."""
    number_texts = _NUMBER.findall(unicodedata.normalize("NFKC", text))
    return [_plain(number) for number in number_texts]


def _plain(number: str) -> str:
    if _THOUSANDS.fullmatch(number):
        return number.replace(",", "")
    return number.replace(",", ".")


def numbers_beyond(typed: str, stored: Iterable[str]) -> tuple[str, ...]:
    """Return the numbers of typed words that none of the stored texts has."""
    known = {number for text in stored for number in numbers_in(text)}
    return tuple(dict.fromkeys(number for number in numbers_in(typed) if number not in known))
