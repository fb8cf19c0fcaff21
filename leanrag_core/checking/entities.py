"""Checks that entities have a text, and aggregated ones a name that no member has (eq. 4)."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from leanrag_core.checking.problem import Note, Problem, Subject, at_rows, flat
from leanrag_core.types.graph import Layer
from leanrag_core.types.rows import numbers

_CARRIED = ("name", "type", "description", "findings")


def texts(subject: Subject) -> Iterator[Problem | Note]:
    """Every entity has a name and a description, every finding a summary."""
    for layer in subject.index.layers:
        file = subject.table(f"entities-{layer.number}")
        for name in ("name", "description"):
            empty = [row for row, text in enumerate(layer.entities[name].to_pylist()) if not (text and text.strip())]
            yield from at_rows(file, empty, f"the {name} is empty")
        lists = layer.entities["findings"].to_pylist()
        without_summary = [
            row
            for row, findings in enumerate(lists)
            if any(not (finding["summary"] or "").strip() for finding in findings or ())
        ]
        yield from at_rows(file, without_summary, "a finding has no summary")


def names(subject: Subject) -> Iterator[Problem | Note]:
    """An aggregated entity's name differs from its members'; with a single child it has that child's texts."""
    base = subject.index.layers[0]
    promoted = np.flatnonzero(base.entities["promoted"].to_numpy(zero_copy_only=False))
    yield from at_rows(subject.table("entities-0"), promoted, "a base entity cannot be promoted")
    for place, (below, above) in enumerate(pairwise(subject.index.layers)):
        offsets, order = subject.index.children[place]
        yield from _names(subject.table(f"entities-{above.number}"), below, above, np.asarray(offsets), order)


def _names(file: str, below: Layer, above: Layer, offsets: np.ndarray, order: np.ndarray) -> Iterator[Problem]:
    """Yield the faulty names of one layer. offsets: (n above + 1,). order: (n below,) children by parent."""
    folded = [_folded(name) for name in below.entities["name"].to_pylist()]
    own = [_folded(name) for name in above.entities["name"].to_pylist()]
    promoted = above.entities["promoted"].to_pylist()
    single = np.diff(offsets) == 1
    wrong = np.flatnonzero(np.array(promoted, dtype=bool) != single)
    yield from at_rows(file, wrong, "promoted says otherwise than its number of members")
    alike = [
        row
        for row in range(len(above))
        if not single[row] and own[row] in {folded[child] for child in order[offsets[row] : offsets[row + 1]]}
    ]
    yield from at_rows(file, alike, "the name is a member's")
    for row in np.flatnonzero(single).tolist():
        child = int(order[offsets[row]])
        for name in _CARRIED:
            if above.entities[name][row].as_py() != below.entities[name][child].as_py():
                yield Problem(file, row, f"it has a single member, but its {name} is not that of the member")


def _folded(name: str) -> str:
    return " ".join((name or "").split()).casefold()


def chunks(subject: Subject) -> Iterator[Problem | Note]:
    """An entity's chunks are the sorted union of its children's; base entities and relations name chunks that exist."""
    index = subject.index
    span, base = index.chunks.num_rows, index.layers[0]
    for name, table in (("entities-0", base.entities), ("relations-0", base.relations)):
        owner, rows = flat(table["chunks"])
        outside = (rows < 0) | (rows >= span)
        yield from at_rows(subject.table(name), np.unique(owner[outside]), "it names a chunk that is not there")
        unsorted = np.flatnonzero((np.diff(rows) <= 0) & (np.diff(owner) == 0))
        yield from at_rows(subject.table(name), np.unique(owner[unsorted]), "its chunks are not in order, each once")
        bare = np.flatnonzero(np.bincount(owner, minlength=table.num_rows) == 0)
        # Imported graphs may have no sources of relations at all; that is no damage.
        if name == "entities-0" or len(rows):
            yield from at_rows(subject.table(name), bare, "it has no chunk")
    for below, above in pairwise(index.layers):
        owner, rows = flat(below.entities["chunks"])
        expected = np.unique(np.asarray(below.parent, dtype=np.int64)[owner] * (span + 1) + rows)
        owner, rows = flat(above.entities["chunks"])
        stored = owner * (span + 1) + rows
        if not np.array_equal(stored, expected):
            different = np.setxor1d(stored, expected) // (span + 1)
            unsorted = owner[np.flatnonzero(np.diff(stored) <= 0)]
            file = subject.table(f"entities-{above.number}")
            text = "its chunks are not the sorted union of its children's"
            yield from at_rows(file, np.unique(np.concatenate([different, unsorted])), text)


def tokens(subject: Subject) -> Iterator[Problem | Note]:
    """The stored token counts of entities and relations are those of their texts."""
    from leanrag_core.storage.tables import entities_with_tokens, relations_with_tokens

    for layer in subject.index.layers:
        counted = (("entities", entities_with_tokens(layer)), ("relations", relations_with_tokens(layer)))
        for kind, table in counted:
            for column in (name for name in table.column_names if name in layer.token_counts):
                wrong = np.flatnonzero(numbers(table[column]) != layer.token_counts[column])
                file = subject.table(f"{kind}-{layer.number}")
                yield from at_rows(file, wrong, f"{column} is not the number of tokens of its text")
