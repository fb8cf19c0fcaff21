"""Communities of concepts that were divided by hand."""

from collections.abc import Sequence

import pyarrow as pa

from leanrag_core.types.communities import CONCEPT_COMMUNITY_SCHEMA, ConceptCommunities

Row = tuple[int, int, list[int], list[int]]  # level, parent, concepts, chunks
# The small index: honey with the mite, rape with clover; the queen and the seed coat share no sentence with anything.
HIVE: tuple[Row, ...] = (
    (0, -1, [1, 2, 3, 4], [0, 1, 2]),
    (1, 0, [1, 2], [0, 1, 2]),
    (1, 0, [3, 4], [2]),
    (0, -1, [], [3]),
)


def concept_communities(rows: Sequence[Row], n_entities: int, n_chunks: int) -> ConceptCommunities:
    listed = [dict(zip(CONCEPT_COMMUNITY_SCHEMA.names, row, strict=True)) for row in rows]
    return ConceptCommunities(pa.Table.from_pylist(listed, schema=CONCEPT_COMMUNITY_SCHEMA), (n_entities, n_chunks))
