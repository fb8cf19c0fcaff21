"""LazyGraphRAG's communities: of concepts that share sentences, without a report and without a language model.

Source: LazyGraphRAG (Microsoft Research 2024), "build index". The concepts are the index's own entities.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from leanrag_core.clustering.leiden import CommunityTree, hierarchical_communities
from leanrag_core.indexing.communities.files import require_parents
from leanrag_core.indexing.part_base import Options, PartBase, PartTools
from leanrag_core.messages.message import message
from leanrag_core.storage.tables import read_table, require_columns, require_range, write_table
from leanrag_core.types.communities import CONCEPT_COMMUNITY_SCHEMA, ConceptCommunities
from leanrag_core.types.config import option
from leanrag_core.types.forecast import Range
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import CHUNKS, ENTITIES
from leanrag_core.types.rows import Lists, numbers
from leanrag_core.types.walks import PAIR_SCHEMA, NounGraph

_COMMUNITIES = "communities.arrow"
_SEED = 42  # any number will do, as long as it stays


@dataclass(frozen=True)
class Config(Options):
    """Options of the concept communities."""

    max_size: int = option(10, low=2, high=1000, help=message("part.communities.option.max_size"))
    hub_deviations: float = option(4.0, low=0.0, high=20.0, help=message("part.noun_communities.option.hub_deviations"))


class Part(PartBase):
    """Hierarchical Leiden communities of the noun graph without its hubs, and the chunks of each."""

    name = "noun_communities"
    needs: tuple[str, ...] = (ENTITIES, CHUNKS, "noun_graph")
    seconds = Range(0.01, 0.1, 0.5)
    seconds_an_entity = Range(0.00005, 0.0003, 0.003)

    def build(self, index: Index, folder: Path, config: Config, tools: PartTools) -> None:
        """Write the communities."""
        tools.report(Progress("make", 0, 0, "communities"))
        graph: NounGraph = tools.part("noun_graph")
        communities = concept_communities(graph, max_size=config.max_size, hub_deviations=config.hub_deviations)
        write_table(folder / _COMMUNITIES, communities.table)

    def read(self, folder: Path, index: Index) -> ConceptCommunities:
        """Return the communities. Raises IndexDamaged where a number leads outside."""
        path, size = folder / _COMMUNITIES, (len(index.layers[0]), index.chunks.num_rows)
        table = read_table(path)
        require_columns(table, CONCEPT_COMMUNITY_SCHEMA, path)
        require_range(Lists(table["concepts"]).values, size[0], path, "concepts")
        require_range(Lists(table["chunks"]).values, size[1], path, "chunks")
        require_parents(table, path)
        return ConceptCommunities(table, size)


def concept_communities(graph: NounGraph, *, max_size: int, hub_deviations: float) -> ConceptCommunities:
    """Return the communities of the graph: those with more concepts than max_size are split again. A concept with more
    neighbours than the mean plus hub_deviations standard deviations would join unrelated concepts, and is in no
    community.
    """
    from scipy.sparse import csr_array

    ends = np.stack([numbers(graph.pairs[name]) for name in ("source", "target")], axis=1).astype(np.int64)
    kept = ~np.isin(ends, hubs(ends, graph.size[0], hub_deviations)).any(axis=1)
    weights = numbers(graph.pairs[PAIR_SCHEMA.names[2]])
    tree = hierarchical_communities(ends[kept], weights[kept], max_size=max_size, seed=_SEED, largest_component=False)
    unit_weights = np.ones(len(tree.nodes), dtype=np.float32)
    members = csr_array((unit_weights, tree.nodes, tree.offsets), shape=(len(tree), graph.size[0]))
    chunks = (members @ graph.counts).tocsr()
    chunks.sort_indices()
    return ConceptCommunities(_table(tree, chunks.indptr, chunks.indices, graph.size[1]), graph.size)


def hubs(ends: np.ndarray, n_nodes: int, deviations: float) -> np.ndarray:
    """Return the nodes with more neighbours than the mean plus so many standard deviations, over the nodes that have a
    neighbour; (k,) int64, ascending. ends: (r, 2) int, each pair once.

    Source: the Intelligence Toolkit of Microsoft Research, `query_text_data/graph_builder.py`.
    """
    degrees = np.bincount(ends.ravel(), minlength=n_nodes)
    n, total, squares = int(np.count_nonzero(degrees)), int(degrees.sum()), int((degrees**2).sum())
    # Whole numbers up to the root, so that no processor decides by its last bit.
    limit = (total + deviations * math.sqrt(n * squares - total * total)) / n if n else 0.0
    return np.flatnonzero(degrees > limit)


def _table(tree: CommunityTree, offsets: np.ndarray, chunks: np.ndarray, n_chunks: int) -> pa.Table:
    """Return the table; chunks in no community become a last one. offsets: (communities + 1,); the chunks of a
    community c are chunks[offsets[c] : offsets[c + 1]]."""
    loose_chunks = np.setdiff1d(np.arange(n_chunks, dtype=np.int32), chunks)
    last = np.ones(int(len(loose_chunks) > 0), dtype=np.int32)
    chunk_offsets = np.concatenate([offsets, (len(chunks) + len(loose_chunks)) * last]).astype(np.int32)
    concept_offsets = np.concatenate([tree.offsets, len(tree.nodes) * last]).astype(np.int32)
    all_chunks = np.concatenate([chunks, loose_chunks]).astype(np.int32)
    columns = {
        "level": np.concatenate([tree.level, 0 * last]),
        "parent": np.concatenate([tree.parent, -last]),
        "concepts": pa.ListArray.from_arrays(pa.array(concept_offsets), pa.array(tree.nodes)),
        "chunks": pa.ListArray.from_arrays(pa.array(chunk_offsets), pa.array(all_chunks)),
    }
    return pa.table(columns, schema=CONCEPT_COMMUNITY_SCHEMA)
