"""Changes of an update, and what it would take."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from leanrag_core.errors import InvalidConfig
from leanrag_core.indexing.chunking import chunks_of_build
from leanrag_core.indexing.updating.kept_texts import SMALL_CHANGE
from leanrag_core.types.calls import Usage
from leanrag_core.types.config import is_remote
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import IMPORTED, Manifest
from leanrag_core.types.rows import numbers
from leanrag_core.types.updating import DocumentChanges, UpdatePreview, layer_writers, writer_of


def require_updatable(manifest: Manifest) -> None:
    """Raise InvalidConfig for an index whose graph was not extracted from its documents by this program."""
    if manifest.kind == IMPORTED or not manifest.extractor:
        raise InvalidConfig("update.imported", index=manifest.name)


def changes_to(index: Index, documents: Sequence[Document]) -> DocumentChanges:
    """Return the changes that add these documents: one of the same name is replaced, one that is there already stays.

    Raises InvalidConfig for an index that cannot be updated.
    """
    require_updatable(index.manifest)
    ids_of = _ids_by_name(index)
    known = {(name, id_) for name, ids in ids_of.items() for id_ in ids}
    by_id = {document.id: document for document in documents}
    new = [document for document in by_id.values() if (document.name, document.id) not in known]
    unchanged = tuple(document.name for document in by_id.values() if (document.name, document.id) in known)
    replaced = tuple(id_ for document in new for id_ in ids_of.get(document.name, ()) if id_ not in by_id)
    # The same content under another name: the id stays, so the former document goes.
    renamed = tuple(document.id for document in new if any(document.id in ids for ids in ids_of.values()))
    return DocumentChanges(tuple(new), tuple(dict.fromkeys((*replaced, *renamed))), (), unchanged)


def changes_to_match(
    index: Index, listed: Iterable[tuple[str, str]], read: Callable[[str], Document]
) -> DocumentChanges:
    """Return the changes after which the index holds the listed documents, pairs of id and name, and no others. read:
    gives the document of an id; only new ones are read.
    """
    listed_documents = list(listed)
    has = set(_ids_with_names(index))
    changes = changes_to(index, [read(id_) for id_, name in listed_documents if (id_, name) not in has])
    kept_ids = {id_ for id_, _ in listed_documents} | set(changes.replaced)
    gone_ids = tuple(id_ for id_ in index.documents["id"].to_pylist() if id_ not in kept_ids)
    unchanged = tuple(name for id_, name in listed_documents if (id_, name) in has)
    return DocumentChanges(changes.added, changes.replaced, gone_ids, unchanged)


def removal(index: Index, ids_or_names: Iterable[str]) -> DocumentChanges:
    """Return the changes that remove the documents of those ids or names.

    Raises InvalidConfig for one that the index does not have, and for an index that cannot be updated.
    """
    require_updatable(index.manifest)
    ids_of, ids = _ids_by_name(index), set(index.documents["id"].to_pylist())
    removed: list[str] = []
    for name in ids_or_names:
        if name not in ids and name not in ids_of:
            raise InvalidConfig("update.no_document", document=name, index=index.manifest.name)
        removed += [name] if name in ids else ids_of[name]
    return DocumentChanges(removed=tuple(dict.fromkeys(removed)))


def documents_after(index: Index, changes: DocumentChanges) -> list[Document]:
    """Return the documents of the changed index. Raises InvalidConfig where none would be left."""
    gone_ids = {*changes.replaced, *changes.removed}
    rows = [row for row, id_ in enumerate(index.documents["id"].to_pylist()) if id_ not in gone_ids]
    documents = [*(index.document(row) for row in rows), *changes.added]
    if not documents:
        raise InvalidConfig("update.nothing_left", index=index.manifest.name)
    return documents


def _ids_with_names(index: Index) -> Iterator[tuple[str, str]]:
    return zip(index.documents["id"].to_pylist(), index.documents["name"].to_pylist(), strict=True)


def _ids_by_name(index: Index) -> dict[str, list[str]]:
    ids: dict[str, list[str]] = defaultdict(list)
    for id_, name in _ids_with_names(index):
        ids[name].append(id_)
    return ids


_SHORTEST_NAME = 3  # characters of a name that is looked for in new documents
_WORD = re.compile(r"\w+")


def preview_update(index: Index, changes: DocumentChanges, is_answered: Callable[[Chunk], bool]) -> UpdatePreview:
    """Return the preview of an update. is_answered: whether all replies about a chunk are stored.

    Chunks are counted; entities of new chunks are looked for by their names, and as many new ones are expected as the
    chunks of the index have on average. Tokens and cost of a call are the mean of what the index has taken so far.
    """
    config = index.manifest.config
    new, gone_rows = _come_and_gone(index, changes)
    n_before = index.chunks.num_rows
    kept_rows = np.setdiff1d(np.arange(n_before), gone_rows)
    touched = _named_in(index, gone_rows) | _occurring_in(index, new)
    n_new_entities = round(len(new) * len(index.layers[0]) / max(1, n_before))
    new_clusters = math.ceil(n_new_entities / config.cluster_size)
    touched_clusters = _clusters_of(index, touched, 0.0)
    # Where nothing is taken away, a small change leaves a cluster's text (see KeptTexts).
    grows_alone = not (changes.replaced or changes.removed)
    changed = [_clusters_of(index, touched, SMALL_CHANGE)] if grows_alone else [touched_clusters]
    for layer in index.layers[1:-1]:
        changed.append(sorted({int(layer.parent[row]) for row in (changed[-1] or touched_clusters)}))
    calls, forgotten = 0, 0
    if is_remote(config.model):
        forgotten = sum(not is_answered(index.chunk(row)) for row in kept_rows.tolist())
        calls += (1 + config.gleaning_rounds) * (len(new) + forgotten)
    writers = layer_writers(config.aggregation_model or config.model, index.manifest.lineage)
    if is_remote(writer_of(writers, 1)):
        calls += new_clusters
    rewritten = [rows if is_remote(writer_of(writers, number)) else [] for number, rows in enumerate(changed, start=1)]
    calls += sum(map(len, rewritten)) + _sentences_between(index, rewritten)
    usage = index.report.usage
    mean = (1 / usage.calls) if usage.calls else 0.0
    name_of = dict(_ids_with_names(index))
    replaced = {name_of[id_] for id_ in changes.replaced}
    return UpdatePreview(
        added=tuple(document.name for document in changes.added if document.name not in replaced),
        changed=tuple(sorted(replaced)),
        removed=tuple(name_of[id_] for id_ in changes.removed),
        chunks_added=len(new),
        chunks_removed=len(gone_rows),
        chunks_kept=len(kept_rows),
        calls_forgotten=forgotten,
        entities_touched=len(touched) + n_new_entities,
        clusters_touched=len(touched_clusters) + new_clusters,
        clusters=len(index.layers[1]) if len(index.layers) > 1 else 0,
        usage=Usage(
            calls,
            round(calls * usage.prompt_tokens * mean),
            round(calls * usage.completion_tokens * mean),
            cost=calls * usage.cost * mean,
        ),
        fresh_calls=_calls_of_a_build(index, len(kept_rows) + len(new)),
    )


def _clusters_of(index: Index, rows: set[int], share: float) -> list[int]:
    """Return the clusters of base entities of which more than that share are among the rows."""
    if len(index.layers) == 1 or not rows:
        return []
    parent = np.asarray(index.layers[0].parent)
    counts = np.bincount(parent[sorted(rows)], minlength=len(index.layers[1]))
    return np.flatnonzero((counts > 0) & (counts > share * np.bincount(parent))).tolist()


def _come_and_gone(index: Index, changes: DocumentChanges) -> tuple[list[Chunk], np.ndarray]:
    """Return the chunks that the index does not have yet, and the rows of those that go."""
    come = chunks_of_build(changes.added, index.manifest.config)
    before = index.chunks["id"].to_pylist()
    leaving = {*changes.replaced, *changes.removed}
    goes = [row for row, id_ in enumerate(index.documents["id"].to_pylist()) if id_ in leaving]
    in_gone = np.isin(numbers(index.chunks["document"]), goes)
    # The same content under another name keeps the ids of its chunks.
    gone_rows = np.flatnonzero(in_gone & ~np.isin(np.array(before), sorted({chunk.id for chunk in come})))
    known = set(before)
    return [chunk for chunk in come if chunk.id not in known], gone_rows


def _named_in(index: Index, chunk_rows: np.ndarray) -> set[int]:
    """Return the rows of the base entities that these chunks mention. chunk_rows: (k,) int."""
    offsets, values = index.layers[0].mention_lists
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return set(owner[np.isin(values, chunk_rows)].tolist())


def _occurring_in(index: Index, chunks: Sequence[Chunk]) -> set[int]:
    """Return the rows of the base entities whose names occur in these chunks as whole words, whatever their case."""
    text = " ".join(" ".join(_WORD.findall(chunk.text.casefold())) for chunk in chunks)
    rows = set()
    for row, name in enumerate(index.layers[0].entities["name"].to_pylist() if text else ()):
        words = " ".join(_WORD.findall(name.casefold()))
        if len(words) >= _SHORTEST_NAME and f" {words} " in f" {text} ":
            rows.add(row)
    return rows


def _sentences_between(index: Index, changed: Sequence[Sequence[int]]) -> int:
    """Count the summarised relations above the base with both ends in clusters that change, since their groups may
    change.
    """
    n = 0
    for layer, rows in zip(index.layers[1:], changed, strict=False):
        summarised = np.array(layer.relations["kind"].to_pylist()) == "summarised"
        n += int((np.isin(layer.ends, rows).all(axis=1) & summarised).sum()) if len(summarised) else 0
    return n


def _calls_of_a_build(index: Index, n_chunks: int) -> int:
    """Estimate the calls of language models that a build of so many chunks with these settings takes."""
    config, calls = index.manifest.config, 0
    if is_remote(config.model):
        calls += (1 + config.gleaning_rounds) * n_chunks
    if is_remote(config.aggregation_model or config.model):
        for _, above in pairwise(index.layers):
            calls += above.entities["promoted"].to_pylist().count(False)
            calls += above.relations["kind"].to_pylist().count("summarised")
    return calls
