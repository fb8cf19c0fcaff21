"""Communities of the base graph with a report on each, as GraphRAG makes them."""

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from leanrag_core.clustering.leiden import hierarchical_communities
from leanrag_core.indexing.communities.elements import graph_of_layer
from leanrag_core.indexing.communities.files import read_communities, write_communities
from leanrag_core.indexing.communities.making import communities_of, extract_claims, given_communities
from leanrag_core.indexing.part_base import (
    Options,
    PartBase,
    PartModels,
    PartTools,
    fingerprint_of,
    text_forecast,
    with_language,
)
from leanrag_core.messages.message import message
from leanrag_core.storage.layout import read_imported
from leanrag_core.storage.ownership import IMPORTED
from leanrag_core.types.communities import CLAIM_SCHEMA, Communities
from leanrag_core.types.config import option
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.imported import NO_EXTRAS
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import CHUNKS, ENTITIES, RELATIONS

SEED = 0xDEADBEEF  # that of the released GraphRAG


@dataclass(frozen=True)
class Config(Options):
    """Options of the communities."""

    max_size: int = option(10, low=2, high=1000, paper=10, help=message("part.communities.option.max_size"))
    largest_component: bool = option(True, help=message("part.communities.option.largest_component"))
    report_tokens: int = option(
        8000, low=500, high=100_000, paper=8000, help=message("part.communities.option.report_tokens")
    )
    claims: bool = option(False, help=message("part.communities.option.claims"))
    imported: bool = option(True, help=message("part.communities.option.imported"))


class Part(PartBase):
    """Hierarchical Leiden communities, their reports with vectors, and claims where a model is to find them."""

    name = "communities"
    needs: tuple[str, ...] = (ENTITIES, RELATIONS, CHUNKS)

    def fingerprint(self, index: Index, config: Config, models: PartModels) -> str:
        """Return a hash of the graph, the options, and what is imported or the model and prompts that write the
        reports.
        """
        own = fingerprint_of(self, self.version, index, config, models)
        files = (index.manifest.files or {}) if config.imported else {}
        if IMPORTED in files:
            return hashlib.sha256(f"{own}{files[IMPORTED].sha256}".encode()).hexdigest()[:16]
        return with_language(own, index, models)

    def forecast(self, index: Index, config: Config, models: PartModels) -> Forecast:
        """Estimate calls and seconds by the number of entities."""
        n_claims = index.chunks.num_rows if config.claims else 0
        return text_forecast(len(index.layers[0]), config.report_tokens, models, more_calls=n_claims)

    def build(self, index: Index, folder: Path, config: Config, tools: PartTools) -> None:
        """Write the communities; replies of an earlier attempt come from the store of calls."""
        tools.report(Progress("make", 0, 0, "communities"))
        imported = read_imported(index.path) if config.imported and index.path is not None else NO_EXTRAS
        if imported.communities:
            write_communities(folder, given_communities(index, imported, tools))
            return
        base = index.layers[0]
        claims = CLAIM_SCHEMA.empty_table()
        if config.claims and tools.language is not None:
            claims = extract_claims(index, tools.language, tools)
        texts = defaultdict(list)
        for entity, text in zip(claims["entity"].to_pylist(), claims["description"].to_pylist(), strict=True):
            texts[entity].append(text)
        graph = graph_of_layer(base, dict(texts))
        tree = hierarchical_communities(
            graph.ends,
            graph.weights,
            max_size=config.max_size,
            seed=SEED,
            largest_component=config.largest_component,
        )
        dimension = int(base.vectors.shape[1])
        communities = communities_of(
            graph, tree, tools, max_tokens=config.report_tokens, dimension=dimension, claims=claims
        )
        write_communities(folder, communities)

    def read(self, folder: Path, index: Index) -> Communities:
        """Return the communities of the index."""
        base = index.layers[0]
        return read_communities(folder, n_nodes=len(base), dimension=int(base.vectors.shape[1]))
