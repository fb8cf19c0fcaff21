"""The small index with communities that were divided by hand.

C0   K0 queen honey mite     K1 rape clover seed coat
C1   K2 queen honey, K3 mite
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from leanrag_core.clustering.leiden import CommunityTree
from leanrag_core.indexing.communities.making import community_table
from leanrag_core.indexing.communities.reports import Report
from leanrag_core.types.communities import CLAIM_SCHEMA, Communities
from leanrag_core.types.graph import RELATION_SCHEMA, Finding
from leanrag_core.types.index import Index
from tests.small_index import relation, small_index, unit

TREE = CommunityTree(
    level=np.array([0, 0, 1, 1], dtype=np.int32),
    parent=np.array([-1, -1, 0, 0], dtype=np.int32),
    offsets=np.array([0, 3, 6, 8, 9], dtype=np.int32),
    nodes=np.array([0, 1, 2, 3, 4, 5, 0, 1, 2], dtype=np.int32),
)
TITLES = ("Hive", "Fields", "Honey", "Mite")
RATINGS = (9.0, 7.0, 5.0, 6.0)


def hand_communities(claims: Sequence[tuple[int, int, str]] = (), *, by_model: bool = True) -> Communities:
    reports = [
        Report(title, f"About the {title.lower()}.", rating, "", (Finding(f"{title} point.", "Because."),), by_model)
        for title, rating in zip(TITLES, RATINGS, strict=True)
    ]
    rows = [dict(zip(CLAIM_SCHEMA.names, claim, strict=True)) for claim in claims]
    vectors = unit([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0], [0, 1, 0, 0]])
    return Communities(community_table(TREE, reports), vectors, pa.Table.from_pylist(rows, schema=CLAIM_SCHEMA), 6)


def index_with_chunks_of_relations() -> Index:
    """Return the small index, whose relations are in chunks: honey has two in chunk 1, one in chunk 0, none in chunk
    2."""
    small = small_index()
    relations = [
        relation(0, 1, weight=4.0, chunks=[0]),
        relation(1, 2, chunks=[1]),
        relation(1, 3, chunks=[1]),
        relation(3, 4, weight=2.0, chunks=[2]),
        relation(2, 5, chunks=[1]),
    ]
    base = replace(small.layers[0], relations=pa.Table.from_pylist(relations, schema=RELATION_SCHEMA))
    return replace(small, layers=(base, *small.layers[1:]))
