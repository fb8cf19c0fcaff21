"""The contexts of several retrievals, row by row: the same item of each is in the same row."""

from collections.abc import Mapping
from dataclasses import dataclass

from leanrag_core.figures.passages import trace_names
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


def context_rows(traces: Mapping[str, Trace], *, baseline: str = "", language: str = "en") -> tuple[ContextRow, ...]:
    """Return the items of all contexts: those of the baseline's sections first, then those that it lacks, each kind
    together.

    An item is the same where its section's letter and its id are; of different indexes, its name. Its kind may be
    another one in each: what is a seed of one strategy is an entity of the other. language: of the places of passages.
    """
    letters = sorted(traces, key=lambda letter: letter != baseline)
    rows: dict[tuple[str, str], tuple[str, str, dict[str, ContextItem]]] = {}
    by_id = len({trace.index.id for trace in traces.values()}) <= 1
    for letter in letters:
        trace = traces[letter]
        names = trace_names(trace, language)
        for section in trace.context.sections:
            for item in section.items:
                name = names.get(item.ref, item.text[:80])
                key = (section.letter, item.ref if by_id else name.casefold())
                rows.setdefault(key, (item.kind, name, {}))[2].setdefault(letter, item)
    letters_met = list(dict.fromkeys(section for section, _ in rows))
    kinds_met = list(dict.fromkeys(kind for kind, _, _ in rows.values()))
    ordered = sorted(rows.items(), key=lambda row: (letters_met.index(row[0][0]), kinds_met.index(row[1][0])))
    return tuple(
        ContextRow(section, name, {letter: cells[letter] for letter in traces if letter in cells})
        for (section, _), (_, name, cells) in ordered
    )
