"""The search index holds every layer's vectors, row by row."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from leanrag_core.checking.problem import Note, Problem, Subject, at_rows
from leanrag_core.errors import SearchIndexFailed
from leanrag_core.storage.layout import CHROMA, SEARCH
from leanrag_core.storage.search_files import DATABASE, changed_file, layer_searches, recorded
from leanrag_core.storage.search_index import SearchIndex, connect_to_files, has_files
from leanrag_core.types.graph import Layer

_TOLERANCE = 1e-4


def rows(subject: Subject) -> Iterator[Problem | Note]:
    """Chroma's rows are the entities of each layer, with their vectors; its files are those that were written."""
    folder, layers = subject.folder, subject.index.layers
    if folder is None or not (folder / CHROMA).exists():
        yield Note("the index has no search index")
        return
    try:
        known = {one.layer: one for one in layer_searches(folder)}
        changed = changed_file(folder, recorded(folder))
    except SearchIndexFailed as error:
        yield Problem(SEARCH, None, str(error))
        return
    if not known:
        yield Note("the search index says nothing of its layers, or is of format 1")
        return
    for layer in layers:
        if layer.number not in known or known[layer.number].rows != len(layer):
            held = known[layer.number].rows if layer.number in known else "no"
            yield Problem(SEARCH, None, f"it counts {held} rows of layer {layer.number}, there are {len(layer)}")
    if changed:
        yield Problem(f"{CHROMA}/{changed}", None, "was changed after it was written")
        return
    if not has_files(folder):
        yield Note("not checked: the search index is on a Chroma server")
        return
    # Chroma writes into a folder that it opens, and bears no second process there: the app may have it open.
    with tempfile.TemporaryDirectory(prefix="leanrag-check-") as copy:
        try:
            shutil.copytree(folder / CHROMA, Path(copy) / CHROMA)
        except OSError as error:
            yield Note(f"its rows are not checked: no room for a copy of the files ({error.strerror})")
            return
        yield from _rows(Path(copy), layers)


def _rows(directory: Path, layers: Sequence[Layer]) -> Iterator[Problem]:
    try:
        searcher = SearchIndex(directory, connect_to_files)
        try:
            for layer in layers:
                yield from _different(searcher, layer.number, np.asarray(layer.vectors))
        finally:
            searcher.close()
    except SearchIndexFailed as error:
        yield Problem(f"{CHROMA}/{DATABASE}", None, str(error))


def _different(searcher: SearchIndex, number: int, vectors: np.ndarray) -> Iterator[Problem]:
    held = searcher.stored(number, len(vectors))
    file = f"{CHROMA}/{DATABASE}"
    missing = np.isnan(held[:, 0]) if held.shape[1] else np.ones(len(vectors), dtype=bool)
    yield from at_rows(file, np.flatnonzero(missing), f"the entity in that row of layer {number} is not there")
    if held.shape[1] != vectors.shape[1]:
        return
    far = ~missing & ~(np.abs(held - vectors).max(axis=1) <= _TOLERANCE)
    yield from at_rows(file, np.flatnonzero(far), f"its vector is not that of the row in layer {number}")
    extra = searcher.count(number) - int((~missing).sum())
    if extra:
        yield Problem(file, None, f"layer {number} has {extra} rows that are no entities")
