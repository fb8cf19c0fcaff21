"""The search index holds every layer's vectors, row by row."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from leanrag_core.checking.problem import Note, Problem, Subject, at_rows
from leanrag_core.errors import SearchIndexFailed
from leanrag_core.messages.catalog import sentence
from leanrag_core.storage.search_connection import (
    DATABASE,
    REMEDY,
    SEARCH,
    SearchIndex,
    SearchPlace,
    changed_file,
    connect_to_files,
    layer_searches,
    place_in,
    recorded,
)
from leanrag_core.types.graph import Layer

_TOLERANCE = 1e-4


def rows(subject: Subject) -> Iterator[Problem | Note]:
    """Chroma's rows are the entities of each layer, with their vectors; its files are those that were written."""
    layers = subject.index.layers
    place = place_in(subject.folder) if subject.folder is not None else None
    if subject.folder is None or place is None:
        yield Note("the index has no search index")
        return
    below = place.folder.relative_to(subject.folder).as_posix()
    try:
        measured = {of_layer.layer: of_layer for of_layer in layer_searches(place.folder)}
        changed = changed_file(place.folder, recorded(place.folder))
    except SearchIndexFailed as error:
        yield Problem(f"{below}/{SEARCH}", None, str(error))
        return
    if not measured:
        yield Note("the search index says nothing of its layers, or is of format 1")
        return
    for layer in layers:
        if layer.number not in measured or measured[layer.number].rows != len(layer):
            counted = measured[layer.number].rows if layer.number in measured else "no"
            text = f"it counts {counted} rows of layer {layer.number}, there are {len(layer)}"
            yield Problem(f"{below}/{SEARCH}", None, text)
    if changed:
        text = f"was changed or deleted after it was written: {sentence(REMEDY)}"
        yield Problem(f"{below}/{changed}", None, text)
        return
    if not place.database.is_file():
        yield Note("not checked: the search index is on a Chroma server")
        return
    # Chroma writes into a folder that it opens, and only one process may use it: the app may have it open.
    with tempfile.TemporaryDirectory(prefix="leanrag-check-") as temporary:
        copy = Path(temporary) / "copy"
        try:
            shutil.copytree(place.folder, copy)
        except OSError as error:
            yield Note(f"its rows are not checked: no room for a copy of the files ({error.strerror})")
            return
        yield from _rows(SearchPlace(subject.folder, copy), layers, f"{below}/{DATABASE}")


def _rows(place: SearchPlace, layers: Sequence[Layer], file: str) -> Iterator[Problem]:
    try:
        searcher = SearchIndex(place, connect_to_files)
        try:
            for layer in layers:
                yield from _different(searcher, layer.number, np.asarray(layer.vectors), file)
        finally:
            searcher.close()
    except SearchIndexFailed as error:
        yield Problem(file, None, str(error))


def _different(searcher: SearchIndex, number: int, vectors: np.ndarray, file: str) -> Iterator[Problem]:
    """Yield the rows of a layer that the search index lacks or holds with another vector. vectors: (n, d) float32."""
    stored = searcher.stored(number, len(vectors))
    missing = np.isnan(stored[:, 0]) if stored.shape[1] else np.ones(len(vectors), dtype=bool)
    yield from at_rows(file, np.flatnonzero(missing), f"the entity in that row of layer {number} is not there")
    if stored.shape[1] != vectors.shape[1]:
        return
    different = ~missing & ~(np.abs(stored - vectors).max(axis=1) <= _TOLERANCE)
    yield from at_rows(file, np.flatnonzero(different), f"its vector is not that of the row in layer {number}")
    extra = searcher.count(number) - int((~missing).sum())
    if extra:
        yield Problem(file, None, f"layer {number} has {extra} rows that are no entities")
