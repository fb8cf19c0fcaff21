"""Communities of a graph with their reports and claims, and those of concepts with the chunks that these occur in, as
index parts hold them."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from leanrag_core.types.rows import Lists, Rows, numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

BY_MODEL, BY_RULE, IMPORTED = "language model", "built-in writer", "imported"
COMMUNITY_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("level", pa.int32()),  # 0 for the roots (C0)
        ("parent", pa.int32()),  # row in this table, -1 for a root
        ("nodes", pa.list_(pa.int32())),  # sorted rows of the graph's nodes
        ("title", pa.string()),
        ("summary", pa.string()),
        ("rating", pa.float32()),  # 0 to 10, how much the community matters
        ("reason", pa.string()),  # of the rating
        ("findings", pa.list_(pa.struct([("summary", pa.string()), ("explanation", pa.string())]))),
        ("made", pa.string()),  # BY_MODEL, BY_RULE or IMPORTED
        ("tokens", pa.int32()),  # of the report as the rest of a line
    ]
)
CLAIM_SCHEMA = pa.schema(
    [
        ("entity", pa.int32()),  # row in layer 0
        ("chunk", pa.int32()),  # row of the chunk table, -1 when it is not known
        ("description", pa.string()),
    ]
)


def report_text(summary: str, findings: list[tuple[str, str]]) -> str:
    """Return the text of a report below its title: the summary, then a line for each finding."""
    lines = (f"- {finding} {explanation}".rstrip() for finding, explanation in findings)
    return "\n".join([summary, *lines]).strip()


class _Levels(Rows):
    """Communities as the rows of a table, each with its level and the row of its parent."""

    @cached_property
    def level(self) -> np.ndarray:
        """The level of each community, (m,) int32."""
        return numbers(self.table["level"])

    @cached_property
    def parent(self) -> np.ndarray:
        """The row of each community's parent, -1 for a root; (m,) int32."""
        return numbers(self.table["parent"])


@dataclass(frozen=True, eq=False)
class Communities(_Levels):
    """Communities of a graph with their reports and claims.

    table: of COMMUNITY_SCHEMA, by level. vectors: (m, d) float32 unit rows, of title and summary of each report.
    claims: of CLAIM_SCHEMA, by entity. n_nodes: of the graph that was divided.
    """

    table: pa.Table
    vectors: np.ndarray
    claims: pa.Table
    n_nodes: int

    @cached_property
    def rating(self) -> np.ndarray:
        """The rating of each community, (m,) float32."""
        return numbers(self.table["rating"])

    @cached_property
    def nodes(self) -> Lists:
        """The nodes of each community, ascending."""
        return Lists(self.table["nodes"])

    @cached_property
    def n_by_rule(self) -> int:
        """Number of reports that no language model wrote, where a model wrote others; else 0."""
        makers = self.table["made"].to_pylist()
        return makers.count(BY_RULE) if BY_MODEL in makers else 0

    @cached_property
    def by_rule(self) -> bool:
        """Whether all reports were written without a language model."""
        return len(self) > 0 and set(self.table["made"].unique().to_pylist()) == {BY_RULE}

    @cached_property
    def membership(self) -> "csr_array":
        """(n_nodes, m) float32: 1 where the community holds the node."""
        from scipy.sparse import csc_array

        offsets = self.nodes.offsets
        nodes = self.nodes.values[offsets[0] : offsets[-1]]
        ones = np.ones(len(nodes), dtype=np.float32)
        return csc_array((ones, nodes, offsets - offsets[0]), shape=(self.n_nodes, len(self))).tocsr()

    def at_level(self, level: int) -> np.ndarray:
        """Return the rows of the communities that divide the graph at that level, (k,) int64, ascending.

        These are those of the level, and those above it that were not split.
        """
        split = np.zeros(len(self), dtype=bool)
        split[self.parent[self.parent >= 0]] = True
        return np.flatnonzero((self.level == level) | ((self.level < level) & ~split))

    def children_of(self, row: int) -> np.ndarray:
        """Return the rows of the communities that it was split into, (k,) int64, ascending."""
        return np.flatnonzero(self.parent == row)

    def findings(self, row: int) -> list[tuple[str, str]]:
        """Return the summary and explanation of each finding of that report."""
        cells = self.cells.value("findings", row) or ()
        return [(cell["summary"], cell["explanation"]) for cell in cells]

    def report(self, row: int) -> str:
        """Return the report of that community below its title."""
        return report_text(self.cells.value("summary", row), self.findings(row))

    def claims_of(self, entities: np.ndarray) -> list[tuple[int, str]]:
        """Return entity and text of each claim on those entities, (k,) rows of layer 0, in the table's order."""
        rows = np.flatnonzero(np.isin(numbers(self.claims["entity"]), entities))
        entity_claims = self.claims.take(pa.array(rows))
        return list(zip(entity_claims["entity"].to_pylist(), entity_claims["description"].to_pylist(), strict=True))


@dataclass(frozen=True, eq=False)
class LayeredCommunities:
    """Communities of the layers joined into one graph.

    communities: of the joined graph. starts: (layers + 1,) the first node of each layer; node starts[i] + r is row r of
    layer i. adjacency: (n, n) float32, symmetric: relations of all layers, and a link from each entity to its parent.
    """

    communities: Communities
    starts: np.ndarray
    adjacency: "csr_array"

    def place(self, node: int) -> tuple[int, int]:
        """Return the layer and row of that node."""
        layer = int(np.searchsorted(self.starts, node, side="right")) - 1
        return layer, node - int(self.starts[layer])

    def node(self, layer: int, row: int) -> int:
        """Return the node of that row of the layer."""
        return int(self.starts[layer]) + row


CONCEPT_COMMUNITY_SCHEMA = pa.schema(
    [
        ("level", pa.int32()),  # 0 for the roots
        ("parent", pa.int32()),  # row in this table, -1 for a root
        ("concepts", pa.list_(pa.int32())),  # rows of base entities, ascending
        ("chunks", pa.list_(pa.int32())),  # that one of them occurs in, ascending
    ]
)


@dataclass(frozen=True, eq=False)
class ConceptCommunities(_Levels):
    """table: of CONCEPT_COMMUNITY_SCHEMA, m rows by level. Chunks without a concept that is in a community are in a
    last one, a root without concepts, so that each chunk is in one at least. size: entities and chunks of the index."""

    table: pa.Table
    size: tuple[int, int]

    @cached_property
    def concepts(self) -> Lists:
        """The concepts of each community."""
        return Lists(self.table["concepts"])

    @cached_property
    def chunks(self) -> Lists:
        """The chunks of each community."""
        return Lists(self.table["chunks"])

    @cached_property
    def finest(self) -> np.ndarray:
        """The smallest community of each entity, -1 for one that is in none; (n_entities,) int32."""
        finest = np.full(self.size[0], -1, dtype=np.int32)
        sizes = np.diff(self.concepts.offsets)
        rows = np.repeat(np.arange(len(self), dtype=np.int32), sizes)
        # A community stands behind the one that it is a part of, and of several values the largest stays.
        np.maximum.at(finest, self.concepts.values[self.concepts.offsets[0] : self.concepts.offsets[-1]], rows)
        return finest
