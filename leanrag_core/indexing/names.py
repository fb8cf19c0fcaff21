"""Keys of names, by which entities are merged, and the ids that follow from them."""

import hashlib
import unicodedata
from functools import lru_cache

_OPENING = {"(": ")", "[": "]", "{": "}"}
_OUTER = " \t\"'“”‘’«»„‚`*_.,;:!?…·•|–—-/\\"
_KEPT_AT_END = ".)!?+"  # "Inc.", "Lilu (mythology)", "Yahoo!", "C++"
_CUT_AT_END = "".join(mark for mark in _OUTER if mark not in _KEPT_AT_END)
_MASKS = "*_"  # "A****", "F*"


@lru_cache(maxsize=200_000)
def tidy_name(name: str) -> str:
    """Return the name in NFKC, white space folded, without outer quotes and punctuation (section 2, step 3).

    A final ! or ?, a full stop after a capital or an abbreviation, and a closed bracket, belong to the name. So do
    stars and underscores right behind it, which mask letters; as many of them as stand before it are emphasis.
    """
    text = " ".join(unicodedata.normalize("NFKC", name).split())
    while True:
        before = text
        text = text.lstrip(_OUTER)
        emphasis = sum(mark in _MASKS for mark in before[: len(before) - len(text)])
        cut = text.rstrip(_CUT_AT_END)
        behind = text[len(cut) :]
        mask = behind[: len(behind) - len(behind.lstrip(_MASKS))]
        text = cut + mask[emphasis:] if cut else ""
        if text.endswith(".") and not _abbreviated(text):
            text = text[:-1]
        if len(text) > 1 and _OPENING.get(text[0]) == text[-1] and text[0] not in text[1:]:
            text = text[1:-1]
        if text == before:
            return text


def _abbreviated(text: str) -> bool:
    last = text.split()[-1]
    return last.count(".") > 1 or (2 <= len(last) <= 5 and last[0].isupper())


@lru_cache(maxsize=200_000)
def name_key(name: str) -> str:
    """Return what equal names share: the tidy name without regard to case, final mark or kind of quotes."""
    key = tidy_name(name).casefold().rstrip(".!?")
    return key.replace("’", "'").replace("‘", "'").replace("–", "-")


def entity_id(key: str) -> str:
    """Return the id of the entity with that key."""
    return f"ent-{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def relation_id(source_id: str, target_id: str) -> str:
    """Return the id of the relation between two entities, whichever way round."""
    low, high = sorted((source_id, target_id))
    return f"rel-{hashlib.sha256(f'{low}|{high}'.encode()).hexdigest()[:16]}"
