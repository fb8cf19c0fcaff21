"""Communities and reports that another system made, for an index of its graph."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from leanrag_core.clustering.leiden import CommunityTree
from leanrag_core.indexing.communities.builtin_report import HIGHEST_RATING, Report
from leanrag_core.indexing.communities.making import community_table, embedded
from leanrag_core.indexing.part_base import PartTools
from leanrag_core.types.communities import CLAIM_SCHEMA, Communities
from leanrag_core.types.imported import ImportedClaim, ImportedCommunity, ImportedExtras
from leanrag_core.types.index import Index
from leanrag_core.types.rows import RowOf


def given_communities(index: Index, imported: ImportedExtras, tools: PartTools) -> Communities:
    """Return the communities and claims of an import as the index part holds them; entities that the index does not
    have are left out, and communities without any. Levels are counted from the coarsest that there is.
    """
    given = imported.communities
    row_of = index.layers[0].row_of
    held = [(sorted({row_of[id_] for id_ in each.entities if id_ in row_of}), each) for each in given]
    kept = sorted(
        ((nodes, each) for nodes, each in held if nodes), key=lambda pair: (pair[1].level, pair[0][0], pair[1].id)
    )
    place_of = {each.id: place for place, (_, each) in enumerate(kept)}
    first = min((each.level for _, each in kept), default=0)
    tree = CommunityTree(
        np.array([each.level - first for _, each in kept], dtype=np.int32),
        np.array([place_of.get(each.parent, -1) for _, each in kept], dtype=np.int32),
        np.cumsum([0, *(len(nodes) for nodes, _ in kept)]).astype(np.int32),
        np.array([node for nodes, _ in kept for node in nodes], dtype=np.int32),
    )
    table = community_table(tree, [_report(each) for _, each in kept], [each.title or each.id for _, each in kept])
    vectors = embedded(table, int(index.layers[0].vectors.shape[1]), tools)
    return Communities(table, vectors, _claims(index, imported.claims), len(index.layers[0]))


def _claims(index: Index, given: Sequence[ImportedClaim]) -> pa.Table:
    row_of, chunk_of = index.layers[0].row_of, RowOf(index.chunks["id"])
    rows = sorted(
        (row_of[claim.subject], chunk_of.get(claim.chunk, -1), claim.description)
        for claim in given
        if claim.subject in row_of and claim.description
    )
    columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
    return pa.table(dict(zip(CLAIM_SCHEMA.names, columns, strict=True)), schema=CLAIM_SCHEMA)


def _report(community: ImportedCommunity) -> Report | None:
    report = community.report
    if report is None:
        return None
    rating = min(max(report.rating or 0.0, 0.0), HIGHEST_RATING)
    return Report(report.title or community.title, report.summary, rating, "", tuple(report.findings), by_model=True)
