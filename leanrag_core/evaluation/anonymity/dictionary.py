"""Which placeholder stands for which entity: made from an index, the same for its documents and all questions."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from leanrag_core.types.index import Index

# Types that hold common nouns and parts of documents; replacing these would leave no text to read.
ORDINARY = frozenset(("concept", "heading", "title", "other", "unknown", ""))
ALL_TYPES = "all"
_NO_LETTER = re.compile(r"[^A-Z]+")
_SHORTEST = 2  # characters of a name


@dataclass(frozen=True)
class Placeholder:
    """An entity and what stands for it, such as PERSON_12. names: all its names, the shown one first."""

    placeholder: str
    type: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Dictionary:
    """All placeholders, in the order of the index's entities. index: the id of the index that they were taken from."""

    index: str
    entries: tuple[Placeholder, ...]

    def by_name(self) -> dict[str, Placeholder]:
        """Map each name to its entry; a name that several entries have maps to the first of them."""
        entries: dict[str, Placeholder] = {}
        for entry in self.entries:
            for name in entry.names:
                entries.setdefault(name, entry)
        return entries


def dictionary_of(index: Index, types: Collection[str] = ()) -> Dictionary:
    """Make a placeholder for each entity of those types. types: in any case; empty: all but ORDINARY; "all": every
    type.

    Only names with a capital letter are replaced, and those of a script without capitals: others are common nouns. A
    placeholder that a document contains already is passed over.
    """
    wanted = frozenset(name.casefold() for name in types)
    layer = index.layers[0]
    aliases = _by_entity(index.report.aliases)
    taken = _taken(index)
    numbers: Counter[str] = Counter()
    entries = []
    for name, type_ in zip(layer.entities["name"].to_pylist(), layer.entities["type"].to_pylist(), strict=True):
        names = tuple(each for each in dict.fromkeys((name, *aliases.get(name, ()))) if _is_name(each))
        if not names or not _is_wanted(type_, wanted):
            continue
        label = _NO_LETTER.sub("", type_.upper()) or "ENTITY"
        numbers[label] += 1
        while f"{label}_{numbers[label]}" in taken:
            numbers[label] += 1
        entries.append(Placeholder(f"{label}_{numbers[label]}", type_, names))
    return Dictionary(index.id, tuple(entries))


def _by_entity(aliases: Mapping[str, str]) -> Mapping[str, list[str]]:
    names: dict[str, list[str]] = {}
    for alias, name in sorted(aliases.items()):
        names.setdefault(name, []).append(alias)
    return names


def _is_wanted(type_: str, wanted: frozenset[str]) -> bool:
    if not wanted:
        return type_.casefold() not in ORDINARY
    return ALL_TYPES in wanted or type_.casefold() in wanted


def _is_name(name: str) -> bool:
    has_capitals = name.upper() != name.lower()
    return len(name) >= _SHORTEST and (name != name.lower() or not has_capitals)


def _taken(index: Index) -> frozenset[str]:
    """Return the words of the documents that look like placeholders."""
    texts: Iterable[str] = index.documents["text"].to_pylist()
    return frozenset(match.upper() for text in texts for match in re.findall(r"\b[A-Za-z]+_\d+\b", text))
