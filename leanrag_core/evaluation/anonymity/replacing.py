"""Names in texts replaced by placeholders, and put back."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from leanrag_core.evaluation.anonymity.dictionary import Dictionary
from leanrag_core.evaluation.gold import normalised

_EASTERN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_PLACE = re.compile(rf"(?<!\w)(?=\w)|(?=[{_EASTERN}])|(?=[^\w\s])")  # where a name may begin
_KEY = 2  # characters that names are looked up by
# Types whose names are written with a capital letter wherever they occur.
_ALWAYS_CAPITAL = frozenset(("person", "location", "organization", "group", "work", "event", "law", "language"))
# As models write placeholders: person_12, [PERSON#12], PERSON 12; "work 12 hours" is none.
_PLACEHOLDER = re.compile(r"\[?(?<!\w)(?:([A-Za-z]{2,})[_#]|([A-Z]{2,})[ -])(\d{1,7})(?!\w)\]?")


@dataclass(frozen=True)
class Replaced:
    """A text with placeholders. spans: start and end of each name in the original text, and its placeholder."""

    text: str
    spans: tuple[tuple[int, int, str], ...] = ()


@dataclass(frozen=True)
class Reverted:
    """A text with the names put back. known: placeholders that were; unknown: those that the dictionary lacks, which a
    model has made up."""

    text: str
    known: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Name:
    pattern: re.Pattern[str]
    placeholder: str


@dataclass
class Anonymiser:
    """Replaces names by their placeholders, the longest name first; wherever a line break divides a name, too."""

    dictionary: Dictionary
    _by_key: dict[str, list[_Name]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._by_key = defaultdict(list)
        by_name = self.dictionary.by_name()
        for name in sorted(by_name, key=lambda each: (-len(each), each)):
            entry = by_name[name]
            for form in dict.fromkeys(_forms(name, entry.type)):
                self._by_key[form[:_KEY]].append(_Name(_pattern(form), entry.placeholder))

    @cached_property
    def normalised_names(self) -> Mapping[str, str]:
        """Each name and its placeholder, both as gold answers are compared."""
        by_name = self.dictionary.by_name()
        return {normalised(name): normalised(entry.placeholder) for name, entry in by_name.items()}

    def __call__(self, text: str) -> Replaced:
        """Return the text with every name replaced."""
        pieces, spans, end = [], [], 0
        for place in _PLACE.finditer(text):
            start = place.start()
            if start < end:
                continue
            for name in self._by_key.get(text[start : start + _KEY], ()):
                if match := name.pattern.match(text, start):
                    pieces += [text[end:start], name.placeholder]
                    end = match.end()
                    spans.append((start, end, name.placeholder))
                    break
        return Replaced("".join((*pieces, text[end:])), tuple(spans))

    def of_quote(self, text: str, start: int, end: int) -> str:
        """Return the part of a text from start to end as the replaced text has it; names that start or end cuts are
        whole."""
        spans = self(text).spans
        start = min([start, *(left for left, right, _ in spans if left < start < right)])
        end = max([end, *(right for left, right, _ in spans if left < end < right)])
        pieces = []
        for left, right, placeholder in spans:
            if start <= left and right <= end:
                pieces += [text[start:left], placeholder]
                start = right
        return "".join((*pieces, text[start:end]))


def _forms(name: str, type_: str) -> Sequence[str]:
    """Return the name as it is, in capitals, and for a kind of thing ("Red clover") with a small first letter."""
    forms = [name, name.upper()]
    if type_.casefold() not in _ALWAYS_CAPITAL and name[1:] == name[1:].lower():
        forms.append(name[:1].lower() + name[1:])
    return forms


def _pattern(form: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, form.split()))
    is_open = re.search(r"[\w]$", form) and not re.search(rf"[{_EASTERN}]$", form)
    return re.compile(words + (r"(?!\w)" if is_open else ""))


def reverted(text: str, dictionary: Dictionary) -> Reverted:
    """Put the shown name in the place of each placeholder, also where a model wrote it another way (person_12,
    [PERSON#12], PERSON 12)."""
    name_of = {entry.placeholder: entry.names[0] for entry in dictionary.entries}
    labels = {placeholder.rsplit("_", 1)[0] for placeholder in name_of}
    known: list[str] = []
    unknown: list[str] = []

    def name(match: re.Match[str]) -> str:
        label = (match[1] or match[2]).upper()
        placeholder = f"{label}_{int(match[3])}"
        if label not in labels:
            return match[0]
        if placeholder not in name_of:
            unknown.append(placeholder)
            return match[0]
        known.append(placeholder)
        return name_of[placeholder]

    return Reverted(_PLACEHOLDER.sub(name, text), tuple(known), tuple(unknown))
