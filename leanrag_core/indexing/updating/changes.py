"""Which documents of an index change, and the documents that it holds after that."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from leanrag_core.errors import InvalidConfig
from leanrag_core.types.corpus import Document
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import IMPORTED, Manifest
from leanrag_core.types.updating import DocumentChanges


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
    wanted = list(listed)
    has = set(zip(index.documents["id"].to_pylist(), index.documents["name"].to_pylist(), strict=True))
    changes = changes_to(index, [read(id_) for id_, name in wanted if (id_, name) not in has])
    kept = {id_ for id_, _ in wanted} | set(changes.replaced)
    gone = tuple(id_ for id_ in index.documents["id"].to_pylist() if id_ not in kept)
    unchanged = tuple(name for id_, name in wanted if (id_, name) in has)
    return DocumentChanges(changes.added, changes.replaced, gone, unchanged)


def removal(index: Index, wanted: Iterable[str]) -> DocumentChanges:
    """Return the changes that remove the documents of those ids or names.

    Raises InvalidConfig for one that the index does not have, and for an index that cannot be updated.
    """
    require_updatable(index.manifest)
    ids_of, ids = _ids_by_name(index), set(index.documents["id"].to_pylist())
    removed: list[str] = []
    for name in wanted:
        if name not in ids and name not in ids_of:
            raise InvalidConfig("update.no_document", document=name, index=index.manifest.name)
        removed += [name] if name in ids else ids_of[name]
    return DocumentChanges(removed=tuple(dict.fromkeys(removed)))


def documents_after(index: Index, changes: DocumentChanges) -> list[Document]:
    """Return the documents of the changed index. Raises InvalidConfig where none would be left."""
    gone = {*changes.replaced, *changes.removed}
    rows = [row for row, id_ in enumerate(index.documents["id"].to_pylist()) if id_ not in gone]
    documents = [*(index.document(row) for row in rows), *changes.added]
    if not documents:
        raise InvalidConfig("update.nothing_left", index=index.manifest.name)
    return documents


def _ids_by_name(index: Index) -> dict[str, list[str]]:
    ids: dict[str, list[str]] = defaultdict(list)
    for id_, name in zip(index.documents["id"].to_pylist(), index.documents["name"].to_pylist(), strict=True):
        ids[name].append(id_)
    return ids
