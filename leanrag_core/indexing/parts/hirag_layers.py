"""Communities of all layers of the hierarchy joined, with a report on each, as HiRAG makes them."""

from dataclasses import dataclass
from pathlib import Path

from leanrag_core.clustering.leiden import hierarchical_communities
from leanrag_core.indexing.communities.files import read_communities, write_communities
from leanrag_core.indexing.communities.making import communities_of, joined_edges, joined_graph, joined_layers
from leanrag_core.indexing.part_base import Options, PartBase, PartModels, PartTools, text_forecast
from leanrag_core.messages.message import message
from leanrag_core.types.communities import LayeredCommunities
from leanrag_core.types.config import option
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.graph import symmetric
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import ENTITIES, RELATIONS

SEED = 0xDEADBEEF  # that of the release


@dataclass(frozen=True)
class Config(Options):
    """Options of HiRAG's communities."""

    max_size: int = option(10, low=2, high=1000, paper=10, help=message("part.communities.option.max_size"))
    report_tokens: int = option(
        8000, low=500, high=100_000, paper=8000, help=message("part.communities.option.report_tokens")
    )


class Part(PartBase):
    """The index's own hierarchy is the layered knowledge: entities clustered by a Gaussian mixture, summed up by one
    entity each, layer by layer. Its layers, joined by the links to the parents, are divided into communities."""

    name = "hirag_layers"
    needs: tuple[str, ...] = (ENTITIES, RELATIONS)
    writes_texts = True

    def forecast(self, index: Index, config: Config, models: PartModels) -> Forecast:
        """Estimate calls and seconds by the number of entities on all layers."""
        return text_forecast(sum(map(len, joined_layers(index))), config.report_tokens, models)

    def build(self, index: Index, folder: Path, config: Config, tools: PartTools) -> None:
        """Write the communities; replies of an earlier attempt come from the store of calls."""
        tools.report(Progress("make", 0, 0, "communities"))
        graph = joined_graph(joined_layers(index))
        tree = hierarchical_communities(
            graph.ends, graph.weights, max_size=config.max_size, seed=SEED, largest_component=False
        )
        # Their communities are found through entities, so that no report needs a vector.
        write_communities(folder, communities_of(graph, tree, tools, max_tokens=config.report_tokens, dimension=0))

    def read(self, folder: Path, index: Index) -> LayeredCommunities:
        """Return the communities, and the graph that they divide."""
        edges = joined_edges(joined_layers(index))
        n = int(edges.starts[-1])
        adjacency = symmetric(edges.ends, edges.weights, n)
        return LayeredCommunities(read_communities(folder, n_nodes=n, dimension=0), edges.starts, adjacency)
