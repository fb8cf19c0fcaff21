"""The catalog of sentences: one gettext file (locale/LANGUAGE.po) a language, read with Babel when first needed.

msgid is a message's code, msgstr a template for str.format, such as "{n:,} chunks". A language that lacks a code takes
the English sentence.
"""

from collections.abc import Callable, Mapping
from functools import cache
from gettext import c2py
from pathlib import Path

from leanrag_core.messages.message import Message, Value

ENGLISH = "en"
Say = Callable[..., str]  # writes a code and named values as a sentence of some language
FOLDER = Path(__file__).parent / "locale"


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
    return template.format(**{name: _as_text(value, language) for name, value in message.values.items()})


def saying(language: str) -> Say:
    """Return the function that writes a code and its values as a sentence of that language."""

    def say(code: str, /, **values: Value) -> str:
        return sentence(Message(code, values), language)

    return say


def _as_text(value: Value, language: str) -> object:
    if isinstance(value, Message):
        return sentence(value, language)
    if isinstance(value, tuple):
        return _joined([sentence(part, language) for part in value], language)
    return value


def _joined(parts: list[str], language: str) -> str:
    if language == ENGLISH:  # no comma before the last "and"
        return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    from babel.lists import format_list

    return format_list(parts, locale=language)


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
    from babel.messages.pofile import read_po

    with (FOLDER / f"{language}.po").open("rb") as file:
        entries = read_po(file, locale=language)
    by_code: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        code = entry.id if isinstance(entry.id, str) else entry.id[0]
        forms = (entry.string,) if isinstance(entry.string, str) else tuple(entry.string or ("",))
        if code and forms[0]:
            by_code[code] = forms
    return by_code


@cache
def _plural(language: str) -> Callable[[int], int]:
    """Return a function from a count to the place of its plural form."""
    from babel.messages.plurals import get_plural

    form: Callable[[int], int] = c2py(get_plural(language).plural_expr)
    return form
