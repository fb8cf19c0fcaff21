"""The catalog of sentences: one gettext file (locale/LANGUAGE.po) a language, read when first needed.

msgid is a message's code, msgstr a template for str.format, such as "{n:,} chunks". A language that lacks a code takes
the English sentence. Babel needs .3 s for a file, in every process: what it read is kept beside compiled modules, as
Python keeps those, under the digest of the file.
"""

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from gettext import c2py
from io import BytesIO
from pathlib import Path

from leanrag_core.messages.message import Message, Value

ENGLISH = "en"
Say = Callable[..., str]  # writes a code and named values as a sentence of some language
FOLDER = Path(__file__).parent / "locale"
_FULL_WIDTH = "。！？；：，、）」』》"
_OPENING = "（「『《"
_VALUE_BESIDE_HAN = re.compile(r"(?<=[\u4e00-\u9fff])(?=\{)|(?<=\})(?=[\u4e00-\u9fff])")
# A letter or digit of a script with blanks, a sign of a number, or a {name} that a script fills; isolated or not.
_STARTS_APART = re.compile(r"\u2068?(?:[^\W\u3040-\u9fff]|[{.+−])")
_ENDS_APART = re.compile(r"(?:[^\W\u3040-\u9fff]|[}%).])\u2069?$")


@cache
def languages() -> tuple[str, ...]:
    """Return the codes of the languages that have a catalog, English first."""
    return tuple(sorted((path.stem for path in FOLDER.glob("*.po")), key=lambda code: (code != ENGLISH, code)))


@cache
def codes(language: str = ENGLISH) -> frozenset[str]:
    """Return the codes that the language's catalog has a sentence for."""
    return frozenset(_templates(language))


def templates(code: str, language: str = ENGLISH) -> tuple[str, ...]:
    """Return the templates of a code, one for each plural form, or one alone. Raises KeyError."""
    return _templates(language)[code]


def sentence(message: Message, language: str = ENGLISH) -> str:
    """Write the message as a sentence of that language. Raises KeyError for a code that the English catalog lacks,
    and for a value that its template names and the message lacks."""
    template = _template(message.code, message.values.get("n"), language)
    values = {name: _as_text(value, language) for name, value in message.values.items()}
    if language == ENGLISH:
        return template.format(**values)
    return _filled(template, **values)


def saying(language: str) -> Say:
    """Return the function that writes a code and its values as a sentence of that language."""

    def say(code: str, /, **values: Value) -> str:
        return sentence(Message(code, values), language)

    return say


def joined_sentences(sentences: Iterable[str]) -> str:
    """Join the sentences that are not empty by spaces, as their languages do."""
    joined = ""
    for each in sentences:
        joined += space_between(joined, each) + each
    return joined


def space_between(before: str, after: str) -> str:
    """Return the space between two texts of a line: none where one is empty, and none beside full-width punctuation,
    which holds its own."""
    return "" if not before or not after or before[-1] in _FULL_WIDTH or after[0] in _OPENING else " "


def _as_text(value: Value, language: str) -> object:
    if isinstance(value, Message):
        return sentence(value, language)
    if isinstance(value, tuple):
        return _joined([sentence(part, language) for part in value], language)
    return value


@cache
def _pieces(template: str) -> tuple[str, ...]:
    """Return the parts of a template, divided where a value stands beside a Chinese character."""
    return tuple(_VALUE_BESIDE_HAN.split(template))


def _filled(template: str, *places: object, **values: object) -> str:
    """Return the template with its values. Where a Chinese character and another script or a number meet, a blank
    stands between them, as the templates have it around their own words."""
    whole = ""
    for piece in _pieces(template):
        text = piece.format(*places, **values)
        is_apart = bool(whole and text) and (_ENDS_APART.search(whole) or _STARTS_APART.match(text))
        whole += f" {text}" if is_apart else text
    return whole


def _joined(parts: list[str], language: str) -> str:
    if language == ENGLISH:  # no comma before the last "and"
        return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    from babel.lists import format_list

    return _filled(format_list([f"{{{place}}}" for place in range(len(parts))], locale=language), *parts)


def _template(code: str, n: Value, language: str) -> str:
    if code not in _templates(language) and language != ENGLISH:
        language = ENGLISH
    forms = _templates(language)[code]
    if len(forms) == 1 or not isinstance(n, int | float):
        return forms[-1]
    return forms[_plural(language)(int(n))]


@cache
def _templates(language: str) -> Mapping[str, tuple[str, ...]]:
    """Read each code's templates, one for each plural form."""
    written = (FOLDER / f"{language}.po").read_bytes()
    kept = FOLDER / "__pycache__" / f"{language}.{hashlib.sha256(written).hexdigest()}.json"
    try:
        return {code: tuple(forms) for code, forms in json.loads(kept.read_bytes()).items()}
    except (OSError, ValueError, AttributeError):  # not kept, or not wholly
        by_code = read_catalog(written, language)
        _keep(kept, by_code)
        return by_code


def read_catalog(written: bytes, language: str) -> dict[str, tuple[str, ...]]:
    """Return the templates of each code that a gettext file holds. Raises ValueError for a file that is none."""
    from babel.messages.pofile import read_po

    by_code: dict[str, tuple[str, ...]] = {}
    for entry in read_po(BytesIO(written), locale=language):
        code = entry.id if isinstance(entry.id, str) else entry.id[0]
        forms = (entry.string,) if isinstance(entry.string, str) else tuple(entry.string or ("",))
        if code and forms[0]:
            by_code[code] = forms
    return by_code


def _keep(path: Path, by_code: Mapping[str, tuple[str, ...]]) -> None:
    """Keep what was read, and nothing of earlier files; where nothing can be written, each process reads anew."""
    if sys.dont_write_bytecode:
        return
    own = path.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        own.write_text(json.dumps(by_code), encoding="utf-8")
        for earlier in path.parent.glob(f"{path.name.partition('.')[0]}.*.json"):
            earlier.unlink(missing_ok=True)
        own.replace(path)


@cache
def _plural(language: str) -> Callable[[int], int]:
    """Return a function from a count to the place of its plural form."""
    from babel.messages.plurals import get_plural

    form: Callable[[int], int] = c2py(get_plural(language).plural_expr)
    return form
