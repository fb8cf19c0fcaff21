"""What several retrievals of a question have in common: for each kind of items, whose context has what."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from leanrag_core.figures.passages import passage_name
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.types.trace import Answer, Trace, TraceItem, TraceRelation
from leanrag_core.types.visible import ShownInNotebooks

ENTITIES, AGGREGATED, RELATIONS, CHUNKS, OTHERS = "entities", "aggregated", "relations", "chunks", "others"
KINDS = (ENTITIES, AGGREGATED, RELATIONS, CHUNKS, OTHERS)


@dataclass(frozen=True)
class Intersection:
    """The items that exactly these columns' contexts have. letters: of the columns, in order; names: of the items."""

    letters: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Sharing:
    """A kind of items. sizes: how many the context of each column has; intersections: those of most columns first."""

    kind: str
    sizes: Mapping[str, int]
    intersections: tuple[Intersection, ...]

    @property
    def total(self) -> int:
        """How many different items there are."""
        return sum(len(part.names) for part in self.intersections)

    def of(self, *letters: str) -> tuple[str, ...]:
        """Return the names of the items that exactly these columns have."""
        return next((part.names for part in self.intersections if part.letters == letters), ())


@dataclass(frozen=True)
class Shared:
    """What contexts share, and who retrieved what. owners: letters of the columns that retrieved it, in their context
    or not, by column and by id of item or relation."""

    kinds: tuple[Sharing, ...]
    owners: Mapping[str, Mapping[str, str]]

    def kind(self, name: str) -> Sharing:
        """Return the items of that kind; an empty one where no column has any."""
        return next((sharing for sharing in self.kinds if sharing.kind == name), Sharing(name, {}, ()))


@dataclass(frozen=True)
class _Named:
    """The key that an item has in all columns, and the name that it is listed by."""

    kind: str
    key: str
    name: str


def compare(traces: Mapping[str, Trace], language: str = "en") -> Shared:
    """Compare what the columns share, as their budgets left it. traces: by the letters of their columns. language: of
    the places of passages.

    Items of the same index are the same where their ids are; of different indexes, where their names are, or the places
    of passages in their documents.
    """
    by_id = len({trace.index.id for trace in traces.values()}) <= 1
    named = {letter: _named_items(trace, language, by_id=by_id) for letter, trace in traces.items()}
    kept = {
        letter: {ref: named[letter][ref] for ref in trace.context.mark_of if ref in named[letter]}
        for letter, trace in traces.items()
    }
    owners_of, holders_of = _letters(named), _letters(kept)
    names = {(item.kind, item.key): item.name for items in reversed(named.values()) for item in items.values()}
    owners = {
        letter: {id_: owners_of[item.kind, item.key] for id_, item in items.items()} for letter, items in named.items()
    }
    kinds = (_sharing(kind, tuple(traces), holders_of, names) for kind in KINDS)
    return Shared(tuple(sharing for sharing in kinds if sharing.intersections), owners)


def _letters(named: Mapping[str, Mapping[str, _Named]]) -> dict[tuple[str, str], str]:
    """Return by kind and key the letters of the columns that have the item, in the order of the items."""
    letters: dict[tuple[str, str], str] = {}
    for letter, items in named.items():
        for key in dict.fromkeys((item.kind, item.key) for item in items.values()):
            letters[key] = letters.get(key, "") + letter
    return letters


def _sharing(
    kind: str, letters: tuple[str, ...], owners_of: Mapping[tuple[str, str], str], names: Mapping[tuple[str, str], str]
) -> Sharing:
    groups: dict[str, list[str]] = {}
    for key, owners in owners_of.items():
        if key[0] == kind:
            groups.setdefault(owners, []).append(names[key])
    sizes = {letter: sum(len(group) for owners, group in groups.items() if letter in owners) for letter in letters}
    order = sorted(groups, key=lambda owners: (-len(owners), [letters.index(letter) for letter in owners]))
    return Sharing(kind, sizes, tuple(Intersection(tuple(owners), tuple(groups[owners])) for owners in order))


def _named_items(trace: Trace, language: str, *, by_id: bool) -> dict[str, _Named]:
    """Return every item and relation of the trace by its id. Links to a parent say nothing that their ends do not."""
    named = {item.id: _named_item(item, language, by_id=by_id) for item in trace.items}
    for relation in trace.relations:
        if relation.id not in trace.tree_links:
            named[relation.id] = _named_relation(relation, named, language, by_id=by_id)
    return named


def _named_item(item: TraceItem, language: str, *, by_id: bool) -> _Named:
    if item.source is not None:
        source = item.source
        key = item.id if by_id else f"{source.document}:{source.start}-{source.end}"
        return _Named(CHUNKS, key, passage_name(item, language))
    kinds = {"entity": ENTITIES, "aggregated-entity": AGGREGATED}
    kind = kinds.get(item.kind, OTHERS)
    return _Named(kind, item.id if by_id else f"{item.layer} {item.name.casefold()}", item.name)


def _named_relation(relation: TraceRelation, named: Mapping[str, _Named], language: str, *, by_id: bool) -> _Named:
    ends = [named[id_].name if id_ in named else id_ for id_ in (relation.source, relation.target)]
    key = relation.id if by_id else f"{relation.layer} {' '.join(sorted(end.casefold() for end in ends))}"
    return _Named(RELATIONS, key, sentence(message("ask.comma"), language).join(ends))


@dataclass(frozen=True)
class Comparison(ShownInNotebooks):
    """traces: by the letters of their columns, all of one question. answers: by the same letters, or none."""

    traces: Mapping[str, Trace]
    answers: Mapping[str, Answer]

    @cached_property
    def shared(self) -> Shared:
        """Who retrieved what."""
        return compare(self.traces)
