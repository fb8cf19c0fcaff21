"""The contexts of several retrievals, row by row: the same item of each stands in the same row."""

from collections.abc import Mapping
from dataclasses import dataclass

from leanrag_core.comparing.sharing import passage_name
from leanrag_core.types.trace import ContextItem, Trace


@dataclass(frozen=True)
class ContextRow:
    """An item that some contexts hold. section: the letter of its section. cells: by column."""

    section: str
    name: str
    cells: Mapping[str, ContextItem]

    @property
    def letters(self) -> str:
        """The columns whose context holds it."""
        return "".join(self.cells)


def context_rows(traces: Mapping[str, Trace], *, baseline: str = "") -> tuple[ContextRow, ...]:
    """The items of all contexts: those of the baseline's sections first, then those that it lacks, each kind together.

    An item is the same where its section's letter, its kind and its id are; of different indexes, its name.
    """
    letters = sorted(traces, key=lambda letter: letter != baseline)
    rows: dict[tuple[str, str], tuple[str, dict[str, ContextItem]]] = {}
    by_id = len({trace.index.id for trace in traces.values()}) <= 1
    for letter in letters:
        trace = traces[letter]
        names = _names(trace)
        for section in trace.context.sections:
            for item in section.items:
                name = names.get(item.ref, item.text[:80])
                key = (f"{section.letter} {item.kind}", item.ref if by_id else name.casefold())
                rows.setdefault(key, (name, {}))[1].setdefault(letter, item)
    order = {key[0]: place for place, key in enumerate(dict.fromkeys((key[0], "") for key in rows))}
    ordered = sorted(rows.items(), key=lambda row: order[row[0][0]])
    return tuple(
        ContextRow(key[0].split()[0], name, {letter: cells[letter] for letter in traces if letter in cells})
        for key, (name, cells) in ordered
    )


def _names(trace: Trace) -> dict[str, str]:
    items = {item.id: passage_name(item) if item.source else item.name for item in trace.items}
    relations = {
        relation.id: f"{items.get(relation.source, relation.source)}, {items.get(relation.target, relation.target)}"
        for relation in trace.relations
    }
    return items | relations
