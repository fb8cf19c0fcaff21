"""Youtu-GraphRAG's knowledge tree: communities by dual perception, their keywords, triples, attributes.

Source: Youtu-GraphRAG (Dong et al. 2025), section 3.2.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from leanrag_core.clustering.leiden import CommunityTree
from leanrag_core.errors import PartDamaged
from leanrag_core.indexing.communities.files import read_communities, write_communities
from leanrag_core.indexing.communities.making import community_table, embedded
from leanrag_core.indexing.part_base import Options, PartBase, PartModels, PartTools, model_forecast
from leanrag_core.indexing.youtu.fusion import (
    affinity,
    first_count,
    fused_communities,
    keywords_of,
    named_communities,
    perception,
)
from leanrag_core.messages.message import message
from leanrag_core.types.communities import CLAIM_SCHEMA, Communities
from leanrag_core.types.config import option
from leanrag_core.types.forecast import ZERO, Forecast, Range, StageForecast
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import ENTITIES, RELATIONS, VECTORS
from leanrag_core.types.youtu import KnowledgeTree, Schema

_ARRAYS = ("community_of", "keywords", "keyword_of")
_SECONDS_AN_ENTITY = Range(0.0001, 0.0005, 0.002)


@dataclass(frozen=True)
class Config(Options):
    """Options of the communities. The weight is the release's: .3 for structure, .7 for meaning."""

    weight: float = option(7 / 3, low=0.0, high=100.0, help=message("part.youtu_tree.option.weight"))
    epsilon: float = option(0.3, low=0.0, high=1.0, help=message("part.youtu_tree.option.epsilon"))
    rounds: int = option(10, low=0, high=100, help=message("part.youtu_tree.option.rounds"))
    keywords: int = option(5, low=1, high=50, help=message("part.youtu_tree.option.keywords"))


class Part(PartBase):
    """Communities with names and descriptions, and for each entity the keyword that it is below."""

    name = "youtu_tree"
    needs: tuple[str, ...] = (ENTITIES, RELATIONS, VECTORS, "schema")
    writes_texts = True

    def forecast(self, index: Index, config: Config, models: PartModels) -> Forecast:
        """Estimate the seconds by the number of entities; with a language model a call for each community."""
        n = len(index.layers[0])
        seconds = Range(0.05, 0.5, 2.0) + _SECONDS_AN_ENTITY.scaled(n)
        most_clusters = first_count(n)
        calls = Range(1, most_clusters, most_clusters)
        stage = StageForecast("make", calls, calls.scaled(250), calls.scaled(60), ZERO)
        return model_forecast(seconds, models, stage, calls.scaled(1.0))

    def build(self, index: Index, folder: Path, config: Config, tools: PartTools) -> None:
        """Write the tree; replies of an earlier attempt come from the store of calls."""
        base, n = index.layers[0], len(index.layers[0])
        schema = self.schema_of(index, tools)
        tools.report(Progress("make", 0, n, "entities"))
        perceived = perception(np.asarray(base.vectors), base.ends, schema, config.weight)
        labels = fused_communities(perceived, epsilon=config.epsilon, rounds=config.rounds)
        keywords = keywords_of(perceived, labels, config.keywords)
        order = np.lexsort((np.arange(n), -np.round(affinity(perceived, labels), 6), labels))
        offsets = np.searchsorted(labels[order], np.arange(int(labels.max()) + 2)).astype(np.int32)
        ranked = np.split(order, offsets[1:-1])
        reports = named_communities(base, ranked, tools)
        members = np.concatenate([np.sort(rows) for rows in ranked]).astype(np.int32)
        m = len(ranked)
        flat = CommunityTree(np.zeros(m, dtype=np.int32), np.full(m, -1, dtype=np.int32), offsets, members)
        table = community_table(flat, reports)
        vectors = embedded(table, int(base.vectors.shape[1]), tools)
        write_communities(folder, Communities(table, vectors, CLAIM_SCHEMA.empty_table(), n))
        arrays = (labels, keywords.entities, keywords.keyword_of)
        for name, array in zip(_ARRAYS, arrays, strict=True):
            np.save(folder / f"{name}.npy", array, allow_pickle=False)

    def schema_of(self, index: Index, tools: PartTools) -> Schema:
        """Return the schema whose types the communities are perceived by."""
        schema: Schema = tools.part("schema")
        return schema

    def read(self, folder: Path, index: Index) -> KnowledgeTree:
        """Return the tree of the index. Raises PartDamaged."""
        arrays = [np.load(folder / f"{name}.npy", allow_pickle=False) for name in _ARRAYS]
        base = index.layers[0]
        if not len(arrays[0]) == len(arrays[2]) == len(base):
            raise PartDamaged("part.of_another_index", part=self.name)
        communities = read_communities(folder, n_nodes=len(base), dimension=int(base.vectors.shape[1]))
        return KnowledgeTree(communities, *arrays)
