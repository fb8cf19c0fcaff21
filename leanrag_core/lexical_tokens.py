"""Words of a text for lexical search: lower case, and pairs of characters where a script writes no blanks."""

import re
import unicodedata

from leanrag_core.combining_marks import MARKS

_EASTERN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = rf"(?:[^\W_{_EASTERN}][{MARKS}]*)+"
_RUN = re.compile(rf"[{_EASTERN}]+|{_WORD}(?:['’]{_WORD})*")
_POSSESSIVE = re.compile("['’ʼ]s?$")
_IS_EASTERN = re.compile(rf"[{_EASTERN}]")


def lexical_tokens(text: str) -> list[str]:
    """Return the tokens in order, without the ending of an English possessive; a lone Chinese or Japanese character
    is a token of its own."""
    tokens: list[str] = []
    for run in _RUN.findall(unicodedata.normalize("NFKC", text).lower()):
        if _IS_EASTERN.match(run) and len(run) > 1:
            tokens += [run[place : place + 2] for place in range(len(run) - 1)]
        else:
            tokens.append(_POSSESSIVE.sub("", run))
    return tokens
