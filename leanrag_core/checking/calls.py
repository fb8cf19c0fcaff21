"""What an index records of model calls names things that the index has."""

from collections.abc import Iterator

import numpy as np

from leanrag_core.checking.problem import Note, Problem, Subject, at_rows
from leanrag_core.storage.ownership import CALLS
from leanrag_core.types.calls import KINDS
from leanrag_core.types.rows import numbers


def recorded(subject: Subject) -> Iterator[Problem | Note]:
    """Every recorded model call wrote a chunk's reading, an entity or a relation that the index has."""
    index = subject.index
    if index.calls is None:
        yield Note("no model call is recorded")
        return
    kinds, layers, targets = (index.calls[name].to_pylist() for name in ("kind", "layer", "target"))
    entities = [set(layer.entities["id"].to_pylist()) for layer in index.layers]
    relations = [set(layer.relations["id"].to_pylist()) for layer in index.layers]
    chunks = set(index.chunks["id"].to_pylist())
    may_have_written = {
        "extract": lambda layer: chunks if layer == 0 else set(),
        "condense": lambda layer: entities[0] | relations[0] if layer == 0 else set(),
        "entity": lambda layer: entities[layer],
        "relation": lambda layer: relations[layer],
    }
    unknown = [row for row, kind in enumerate(kinds) if kind not in KINDS]
    yield from at_rows(CALLS, unknown, "the call is of no known kind")
    n_layers, written = len(index.layers), list(zip(kinds, layers, targets, strict=True))
    astray = [
        row
        for row, (kind, layer, target) in enumerate(written)
        if kind in KINDS
        and not (layer is not None and 0 <= layer < n_layers and target in may_have_written[kind](layer))
    ]
    yield from at_rows(CALLS, astray, "what the call wrote is not there")
    columns = [numbers(index.calls[name]) for name in ("prompt_tokens", "completion_tokens", "cost")]
    yield from at_rows(CALLS, np.flatnonzero(np.min(columns, axis=0) < 0), "a count or cost is below zero")
