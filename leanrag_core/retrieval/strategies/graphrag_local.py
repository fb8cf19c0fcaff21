"""GraphRAG, local search: entities near to the question with their communities, relations and chunks."""

from dataclasses import dataclass

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import COSINE, Options, Query, StrategyBase
from leanrag_core.retrieval.communities import COMMUNITY, LEVELS, MEMBER, community_notes, member_links
from leanrag_core.retrieval.context import context_caption
from leanrag_core.retrieval.graph_traces import ENTITY
from leanrag_core.retrieval.local_search import local_evidence
from leanrag_core.retrieval.passages import PASSAGE
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.types.communities import Communities
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Style, Trace

_STYLES = (
    ENTITY,
    Style("neighbour", message("style.neighbour"), "base", "disc"),
    COMMUNITY,
    PASSAGE,
    MEMBER,
    Style("inside", message("style.inside"), "inter", "arc", on="relation"),
    Style("outside", message("style.outside"), "base", "dotted", on="relation"),
)


@dataclass(frozen=True)
class Config(Options):
    """Options of the local search."""

    top_k: int = option(10, low=1, high=100, help=message("graphrag_local.option.top_k"), in_row=True, scale=30)
    level: str = option("C2", choices=LEVELS, help=message("graphrag.option.level"))
    community_percent: int = option(15, low=0, high=100, help=message("graphrag_local.option.community_percent"))
    text_percent: int = option(50, low=0, high=100, help=message("graphrag_local.option.text_percent"))
    top_relations: int = option(10, low=0, high=100, help=message("graphrag_local.option.top_relations"))
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))


class Strategy(StrategyBase[Config]):
    """Local search of the release; the paper describes global search alone."""

    name = "graphrag_local"
    badge = "own-part"
    score = COSINE
    parts = ("communities",)

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval; no language model is called."""
        run = Retrieval(self, query, index, tools)
        communities: Communities = tools.part("communities")
        evidence = local_evidence(run, communities, query.vector, self.config.max_tokens, run.lap)
        entities, reports, passages, context = evidence.entities, evidence.reports, evidence.passages, evidence.context
        kept = context.mark_of
        drawn = tuple(each for each in evidence.relations if each.id in kept)
        ends = {end for each in drawn for end in (each.source, each.target)}
        neighbours = tuple(item for item in evidence.others if item.id in ends)
        members = member_links(communities, reports, {item.row: item.id for item in entities if item.row is not None})
        run.search = evidence.near.kind
        run.notes += community_notes(communities)
        run.note(None if communities.claims.num_rows else message("communities.note.no_claims"))
        reached = message("count.communities", n=evidence.n_holding)
        near_reports = message("graphrag_local.communities", n=len(reports), of=reached)
        related = message(
            "graphrag_local.relations",
            inside=message("count.relations", n=len(evidence.around.inside)),
            outside=message("count.relations", n=len(evidence.around.outside)),
        )
        n_chunks = message("count.chunks", n=len(evidence.chunks))
        return run.trace(
            context,
            steps=(
                run.step("entities", message("graphrag_local.entities", n=len(entities)), entities),
                run.step("communities", near_reports, (*reports, *entities), members),
                run.step("relations", related, (*entities, *neighbours), drawn),
                run.step("chunks", message("graphrag_local.chunks", n=len(passages), of=n_chunks), passages),
                run.step("context", context_caption(context), (*reports, *entities, *neighbours, *passages), drawn),
            ),
            styles=_STYLES,
            items=(*entities, *neighbours, *reports, *passages),
            relations=(*drawn, *members),
            ranked_chunks=[chunk.row for chunk in evidence.chunks],
        )
