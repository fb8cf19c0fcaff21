"""What an index keeps of an import names things that the index has."""

from collections.abc import Iterator

from leanrag_core.checking.problem import Note, Problem, Subject, at_rows
from leanrag_core.errors import IndexDamaged
from leanrag_core.storage.layout import read_imported
from leanrag_core.storage.ownership import FOREIGN_IDS, IMPORTED
from leanrag_core.types.imported import ImportedCommunity, ImportedExtras
from leanrag_core.types.index import Index


def kept(subject: Subject) -> Iterator[Problem | Note]:
    """Communities, claims and foreign ids lead to entities, relations, chunks and documents of the index; a community
    lies in one that is coarser."""
    if subject.folder is None:
        yield Note("the index is in memory alone")
        return
    try:
        extras = read_imported(subject.folder)
    except IndexDamaged as error:
        yield Problem(IMPORTED, None, str(error))
        return
    ids = _ids(subject.index)
    yield from _communities(extras, ids["entity"])
    claims = extras.claims
    without = [row for row, claim in enumerate(claims) if claim.subject not in ids["entity"]]
    yield from at_rows(IMPORTED, without, "the subject of the claim is no entity")
    unknown = [row for row, claim in enumerate(claims) if claim.chunk and claim.chunk not in ids["chunk"]]
    yield from at_rows(IMPORTED, unknown, "the chunk of the claim is not there")
    foreign = [row for row, each in enumerate(extras.foreign_ids) if each.id not in ids.get(each.kind, ())]
    yield from at_rows(FOREIGN_IDS, foreign, "the foreign id is of nothing that the index has")


def _ids(index: Index) -> dict[str, set[str]]:
    base = index.layers[0]
    tables = {"entity": base.entities, "relation": base.relations, "chunk": index.chunks, "document": index.documents}
    return {kind: set(table["id"].to_pylist()) for kind, table in tables.items()}


def _communities(extras: ImportedExtras, entities: set[str]) -> Iterator[Problem]:
    by_id = {community.id: community for community in extras.communities}
    if len(by_id) < len(extras.communities):
        yield Problem(IMPORTED, None, "two communities have one id")
    without = [row for row, each in enumerate(extras.communities) if not set(each.entities) <= entities]
    yield from at_rows(IMPORTED, without, "the community names an entity that is not there")
    astray = [row for row, each in enumerate(extras.communities) if each.parent and not _is_above(by_id, each)]
    yield from at_rows(IMPORTED, astray, "the parent of the community is not there, or of no coarser level")


def _is_above(by_id: dict[str, ImportedCommunity], community: ImportedCommunity) -> bool:
    parent = by_id.get(community.parent)
    return parent is not None and parent.level < community.level
