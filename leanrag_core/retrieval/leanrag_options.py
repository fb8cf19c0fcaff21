"""The options that LeanRAG and LeanRAG-walk share: seeds, paths, relations, context. The defaults are the paper's."""

from dataclasses import dataclass

from leanrag_core.messages.message import message
from leanrag_core.retrieval.anchoring import SEED_LAYERS
from leanrag_core.retrieval.context import Budgets
from leanrag_core.retrieval.vector_search import KINDS
from leanrag_core.storage.search_store import EXACT_UP_TO
from leanrag_core.types.config import option, validate

CONTEXTS = ("full", "compact")


@dataclass(frozen=True)
class PathOptions:
    """Options of everything but the ranking of chunks."""

    top_n: int = option(
        10, low=1, high=100, paper=10, help=message("leanrag.option.top_n"), in_row=True, link="n", scale=30
    )
    top_c: int = option(
        5, low=0, high=50, paper=5, help=message("leanrag.option.top_c"), in_row=True, link="c", scale=20
    )
    inter_cluster: bool = option(True, paper=True, help=message("leanrag.option.inter_cluster"), in_row=True)
    source_chunks: bool = option(True, paper=True, help=message("leanrag.option.source_chunks"), in_row=True)
    findings: bool = option(False, help=message("leanrag.option.findings"), in_row=True)
    context: str = option("full", choices=CONTEXTS, paper="full", help=message("leanrag.option.context"))
    seed_layers: str = option("base", choices=SEED_LAYERS, paper="base", help=message("leanrag.option.seed_layers"))
    lca: str = option("one", choices=("one", "pairwise"), paper="one", help=message("leanrag.option.lca"))
    pairs: str = option("all", choices=("all", "nearest"), paper="all", help=message("leanrag.option.pairs"))
    inter_cluster_ends: str = option(
        "both", choices=("both", "any"), paper="both", help=message("leanrag.option.inter_cluster_ends")
    )
    base_relations: bool = option(True, paper=True, help=message("leanrag.option.base_relations"))
    root: bool = option(True, help=message("leanrag.option.root"))
    match_names: bool = option(False, help=message("leanrag.option.match_names"))
    search: str = option("auto", choices=KINDS, help=message("leanrag.option.search", limit=EXACT_UP_TO))
    max_tokens: int = option(37_000, low=0, high=128_000, help=message("leanrag.option.max_tokens"))
    budgets: str = option("sections", choices=("sections", "released"), help=message("leanrag.option.budgets"))
    entity_tokens: int = option(9000, low=0, high=32000, help=message("leanrag.option.entity_tokens"))
    aggregated_tokens: int = option(8000, low=0, high=32000, help=message("leanrag.option.aggregated_tokens"))
    relation_tokens: int = option(8000, low=0, high=32000, help=message("leanrag.option.relation_tokens"))
    inter_cluster_share: int = option(60, low=0, high=100, help=message("leanrag.option.inter_cluster_share"))
    chunk_tokens: int = option(12000, low=0, high=64000, help=message("leanrag.option.chunk_tokens"))

    def __post_init__(self) -> None:
        validate(self)

    def token_budgets(self) -> Budgets:
        """The budgets of the context."""
        return Budgets(
            self.entity_tokens,
            self.aggregated_tokens,
            self.relation_tokens,
            self.chunk_tokens,
            self.inter_cluster_share,
            self.max_tokens,
        )
