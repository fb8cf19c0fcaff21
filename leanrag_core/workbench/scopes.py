"""Scopes of questions: which documents one holds, the index cut to them, and its parts made of what is inside."""

import hashlib
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from leanrag_core.errors import InvalidConfig, LeanRAGError
from leanrag_core.indexing.part_base import PartInfo, PartTools
from leanrag_core.prompts.catalog import PromptBook
from leanrag_core.scoping.cutting import cut_index, documents_of, rows_in, with_data
from leanrag_core.system.threads import BoundedCache
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import LANGUAGE
from leanrag_core.types.rows import numbers
from leanrag_core.types.scope import ALL, Data, Scope, ScopedDocument
from leanrag_core.workbench.corpora import Corpora
from leanrag_core.workbench.models import ModelAccess

_KEPT = 8  # indexes that were cut, the parts of each with them
_Key = tuple[str, str, str]  # index, its id, digest of the documents


@dataclass(frozen=True)
class ScopeSize:
    """How much of an index a scope holds."""

    documents: int
    chunks: int
    all_documents: int


class Scopes:
    """Cuts indexes to scopes, for all sessions. What was cut last is kept, so that only its first question waits."""

    def __init__(self, corpora: Corpora, models: ModelAccess) -> None:
        self._corpora, self._models = corpora, models
        self._cut: BoundedCache[_Key, Index] = BoundedCache(_KEPT)
        self._plain: BoundedCache[tuple[str, str], tuple[ScopedDocument, ...]] = BoundedCache(_KEPT)
        self._cutting = threading.Lock()

    def documents(self, index: Index) -> tuple[ScopedDocument, ...]:
        """Return folder, tags and date of each document of the index, by which scopes select."""
        whole = _whole(index)
        plain = self._plain.get_or_make(_identity(whole), lambda: documents_of(whole))
        return with_data(plain, self._data(whole))

    def size(self, index: Index, scope: Scope) -> ScopeSize:
        """Return how many documents and chunks the scope holds. Raises InvalidConfig, see index()."""
        whole = _whole(index)
        rows = rows_in(scope, self.documents(whole))
        n_chunks = int(np.isin(numbers(whole.chunks["document"]), rows).sum())
        return ScopeSize(len(rows), n_chunks, whole.documents.num_rows)

    def index(self, index: Index, scope: Scope | None) -> Index:
        """Return the index of the documents that the scope holds, as of its date; the index itself where that leaves
        nothing out.

        It numbers its rows itself; ids of documents, chunks, base entities and relations are those of the index. Texts
        that rested on other documents too are embedded again by the index's own model. Raises InvalidConfig for a
        document, folder or tag that the index does not have, and for a scope in which there is nothing.
        """
        if scope is None or scope == ALL:
            return index
        whole = _whole(index)
        documents = self.documents(whole)
        rows = rows_in(scope, documents)
        if len(rows) == whole.documents.num_rows and not scope.as_of:
            return whole
        dates = [document.date for document in documents] if scope.as_of else []
        inside = rows.tobytes() + "\n".join([scope.as_of, *dates]).encode()
        key = (*_identity(whole), hashlib.sha256(inside).hexdigest())
        with self._cutting:  # the same scope is not cut twice at the same time
            embed = self._models.embedder_of(whole)
            view = self._cut.get_or_make(key, lambda: cut_index(whole, rows, scope, embed, dates))
        assert view.cut is not None
        return view if view.cut.scope == scope else replace(view, cut=replace(view.cut, scope=scope))

    def _data(self, index: Index) -> Data:
        try:
            return self._corpora.data(index.manifest.corpus.id)
        except LeanRAGError:  # the corpus was deleted, or the index was built of none
            return {}


def _identity(index: Index) -> tuple[str, str]:
    return str(index.path or id(index)), index.id


def _whole(index: Index) -> Index:
    return index.cut.whole if index.cut is not None else index


class CutParts:
    """The parts of cut indexes, made of the documents inside, with the built-in writer, when they are first read.

    A part of the whole index would rest on documents outside.
    """

    def __init__(self, models: ModelAccess) -> None:
        self._models = models
        self._made: BoundedCache[tuple[str, str, str], _Made] = BoundedCache(_KEPT * 4)
        self._making = threading.RLock()  # a part may need another one

    def read(self, index: Index, info: PartInfo, options: dict[str, Any], part: Callable[[str], Any]) -> Any:
        """Return what the part's read() gives. index: the cut one. options: of the whole index's part. part: reads the
        parts that this one needs. Raises InvalidConfig for one that needs a language model."""
        if LANGUAGE in info.part.needs:
            raise InvalidConfig("scope.part_needs_model", part=info.name)
        with self._making:
            key = (index.id, info.name, repr(sorted(options.items())))
            return self._made.get_or_make(key, lambda: self._make(index, info, options, part)).content

    def _make(self, index: Index, info: PartInfo, options: dict[str, Any], part: Callable[[str], Any]) -> "_Made":
        tools = PartTools(
            embed=self._models.embedder_of(index),
            prompts=PromptBook(index.manifest.config.prompts),
            part=part,
        )
        folder = tempfile.TemporaryDirectory(prefix="leanrag-scope-")
        info.part.build(index, Path(folder.name), info.configured(options), tools)
        return _Made(info.part.read(Path(folder.name), index), folder)


@dataclass(frozen=True, eq=False)
class _Made:
    """content: what read() gave. folder: where it was made; it lasts as long as this does."""

    content: Any
    folder: "tempfile.TemporaryDirectory[str]"
