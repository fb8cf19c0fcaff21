"""LazyGraphRAG (style): no text is summed up before a question; a budget of relevance tests is spent over communities
of concepts, and the answer is made from claims of the relevant chunks (Microsoft Research 2024)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leanrag_core.execution.executors import ThreadMap
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import Options, Preset, Query, StrategyBase
from leanrag_core.retrieval.base_graph import entity_items
from leanrag_core.retrieval.budgets import Candidate, section
from leanrag_core.retrieval.communities import COMMUNITY, MEMBER
from leanrag_core.retrieval.concepts import (
    TOGETHER,
    ChunkGroup,
    ConceptCounts,
    chunk_groups,
    concepts_in,
    pairs_among,
    theme,
    together_links,
)
from leanrag_core.retrieval.context import CHUNKS, context_caption, joined_sections, passage_line
from leanrag_core.retrieval.deepening_search import SearchResult, SentenceTest, deepening_search
from leanrag_core.retrieval.graph_traces import ENTITY
from leanrag_core.retrieval.map_reduce import (
    CALLS_AT_ONCE,
    GIVES,
    POINT,
    POINTS,
    Faults,
    MapStep,
    Point,
    affordable_points,
    builtin_chunk_points,
    drawn_points,
    helpfulness_of,
    mapped_points,
    reduced_answer,
)
from leanrag_core.retrieval.passages import (
    PASSAGE,
    SEARCHED,
    SUB_QUESTION,
    PassageReason,
    document_title,
    passage_items,
    question_item,
    search_ids,
)
from leanrag_core.retrieval.question_terms import Subqueries, subqueries
from leanrag_core.retrieval.report_points import BEST_RATING
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval, link
from leanrag_core.retrieval.vector_search import best_first, similarity
from leanrag_core.storage.layout import CHUNKS as CHUNK_VECTORS
from leanrag_core.types.communities import ConceptCommunities
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, ContextSection, Trace, TraceItem, TraceRelation
from leanrag_core.types.walks import NounGraph

_STYLES = (SUB_QUESTION, COMMUNITY, ENTITY, PASSAGE, POINT, SEARCHED, MEMBER, TOGETHER, GIVES)
_DRAWN = 20  # concepts of the picture
_DRAWN_COMMUNITIES = 8  # that gave a relevant chunk, and as many of the groups
_EXPANDED = "expanded-query"


@dataclass(frozen=True)
class Config(Options):
    """Options of LazyGraphRAG. Communities and their chunks are taken by fives, as in the Intelligence Toolkit."""

    relevance_tests: int = option(
        100, low=1, high=5000, help=message("lazygraphrag.option.relevance_tests"), in_row=True, scale=1500
    )
    most_subqueries: int = option(5, low=1, high=10, help=message("lazygraphrag.option.most_subqueries"))
    top_k: int = option(5, low=1, high=50, help=message("lazygraphrag.option.top_k"))
    most_misses: int = option(5, low=1, high=50, help=message("lazygraphrag.option.most_misses"))
    map_tokens: int = option(8000, low=16, high=64000, help=message("graphrag_ts.option.map_tokens"))
    sources: bool = option(False, equal=True, help=message("lazygraphrag.option.sources"))
    top_c: int = option(20, low=1, high=50, help=message("vector.option.top_c"), link="c", scale=20)
    max_tokens: int = option(8000, low=0, high=64000, help=message("option.max_tokens"))


@dataclass(frozen=True, eq=False)
class _Search:
    """A subquery and what it led to. near: (n_chunks,) cosines. relevant: rows, best first. groups: of these."""

    text: str
    near: np.ndarray
    result: SearchResult
    relevant: tuple[int, ...]
    groups: tuple[ChunkGroup, ...]


@dataclass(frozen=True)
class _Relevant:
    """A relevant chunk. rating: the best of all subqueries. place: the first that it has among the relevant chunks of
    a subquery. ids: of the subqueries that it is relevant to."""

    row: int
    rating: int
    place: int
    ids: tuple[str, ...]


class Strategy(StrategyBase[Config]):
    """Subqueries, relevance tests best first over communities, claims by group, one answer."""

    name = "lazygraphrag"
    badge = "style-of"
    score = message("lazygraphrag.score")
    calls_model = True
    parts = ("noun_graph", "noun_communities")
    presets = (
        Preset("z100", message("lazygraphrag.preset.z100")),
        Preset("z500", message("lazygraphrag.preset.z500"), {"relevance_tests": 500}),
        Preset("z1500", message("lazygraphrag.preset.z1500"), {"relevance_tests": 1500}),
    )

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval: subqueries, relevance tests, the graph of concepts, claims."""
        config, run = self.config, Retrieval(self, query, index, tools)
        graph: NounGraph = tools.part("noun_graph")
        communities: ConceptCommunities = tools.part("noun_communities")
        refined = subqueries(run, most=config.most_subqueries)
        run.lap("refine")
        n_searches = message("lazygraphrag.refine", n=len(refined.texts))
        run.announce(run.step("refine", n_searches))
        faults = Faults()
        searches = self._searches(run, refined, graph, communities, faults)
        run.notes += faults.notes(message("lazygraphrag.step.match"), message("lazygraphrag.built_in_test"))
        ranked = _ranked(searches)
        run.lap("match")
        visits = [visit for search in searches for visit in search.result.visits]
        matched = message(
            "lazygraphrag.match",
            n=len(ranked),
            tests=message("count.relevance_tests", n=sum(search.result.n_tested for search in searches)),
            communities=message("count.communities", n=len({visit.community for visit in visits})),
        )
        run.announce(run.step("match", matched))
        claims = self._claims(run, searches, graph, communities)
        run.lap("map")

        occurring = concepts_in(graph, [each.row for each in ranked])
        concepts = _concept_items(index, occurring)
        groups = _community_items(index, graph, communities, searches, ranked)
        passages = self._passages(index, communities, claims, groups, ranked)
        drawn = drawn_points(claims, {item.row: item for item in passages if item.row is not None})
        context = joined_sections(*self._sections(index, drawn.lines, passages))
        run.lap("reduce")
        questions = _question_items(refined)
        searched = _searched(passages, questions)
        together = together_links(graph, pairs_among(graph, [item.row or 0 for item in concepts]), concepts)
        members = _member_links(communities, groups, concepts)
        marks = context.mark_of
        in_context = [item for item in (*drawn.items, *passages) if item.id in marks]
        return run.trace(
            context,
            steps=(
                run.step("refine", n_searches, questions),
                run.step("match", matched, (*questions, *passages), searched),
                run.step("graph", _graph_caption(occurring, searches), (*groups, *concepts), (*members, *together)),
                run.step("map", message("lazygraphrag.map", n=len(claims)), (*passages, *drawn.items), drawn.links),
                run.step("reduce", context_caption(context), in_context),
            ),
            styles=_STYLES,
            items=(*questions, *groups, *concepts, *drawn.items, *passages),
            relations=(*searched, *members, *together, *drawn.links),
            ranked_chunks=[each.row for each in ranked],
        )

    def answer(self, trace: Trace, tools: Tools) -> Answer:
        """Return one answer to the expanded query from the claims: see reduced_answer()."""
        expanded = next((item.text for item in trace.items if item.id == _EXPANDED), "")
        nothing = sentence(message("lazygraphrag.do_not_know"))
        return reduced_answer(trace, tools, task="reduce_text_points", nothing=nothing, question=expanded)

    @property
    def _claim_tokens(self) -> int:
        """Tokens that the claims may take: half where source chunks follow them."""
        return self.config.max_tokens // 2 if self.config.sources else self.config.max_tokens

    def _sections(
        self, index: Index, lines: Sequence[Candidate], passages: Sequence[TraceItem]
    ) -> list[ContextSection]:
        """Return the claims and, where sources are wanted, the first relevant chunks in the room that the claims
        leave."""
        claims = section(POINTS, lines, self._claim_tokens)
        if not self.config.sources:
            return [claims]
        chunks = [passage_line(index, item) for item in passages[: self.config.top_c]]
        return [claims, section(CHUNKS, chunks, self.config.max_tokens - claims.tokens)]

    def _passages(
        self,
        index: Index,
        communities: ConceptCommunities,
        claims: Sequence[Point],
        groups: Sequence[TraceItem],
        ranked: Sequence[_Relevant],
    ) -> tuple[TraceItem, ...]:
        """Return the first relevant chunks and those that a claim rests on, in the order of the ranking, each with the
        subqueries and the drawn communities that led to it."""
        stated = {row for claim in claims for row in claim.sources}
        chosen = [each for place, each in enumerate(ranked) if place < self.config.top_c or each.row in stated]
        chunks_of_group = {item.id: set(communities.chunks[item.row or 0].tolist()) for item in groups}
        reasons = {
            each.row: PassageReason(
                message("lazygraphrag.reason.relevant", rating=each.rating, best=BEST_RATING),
                (*each.ids, *(id_ for id_, rows in chunks_of_group.items() if each.row in rows)),
            )
            for each in chosen
        }
        ratings = {each.row: float(each.rating) for each in chosen}
        return passage_items(index, [each.row for each in chosen], ratings, reasons)

    def _searches(
        self, run: Retrieval, refined: Subqueries, graph: NounGraph, communities: ConceptCommunities, faults: Faults
    ) -> list[_Search]:
        """Return the search for each subquery, which has an equal share of the tests; several at once where a model
        is asked."""
        config, index, texts = self.config, run.index, refined.texts
        others = [text for text in texts if text != run.query.text]
        vectors = dict(zip(others, run.tools.embed(others), strict=True)) if others else {}

        def search(text: str) -> _Search:
            # Rounded, so that processors which add up in another order rank alike.
            near = similarity(index, CHUNK_VECTORS, vectors.get(text, run.query.vector))
            near = np.round(near.astype(np.float64), 5)
            ranking = best_first(near)
            result = deepening_search(
                communities,
                ranking,
                SentenceTest(run, text, near, faults),
                most_tests=max(1, config.relevance_tests // len(texts)),
                top_k=config.top_k,
                most_misses=config.most_misses,
            )
            rows = np.array(sorted(result.ratings), dtype=np.int64)
            ratings = np.array([result.ratings[row] for row in rows.tolist()], dtype=np.int64)
            relevant = rows[np.lexsort((rows, -near[rows], -ratings))].tolist()
            return _Search(text, near, result, tuple(relevant), tuple(chunk_groups(communities, graph, relevant)))

        searches = list(ThreadMap(CALLS_AT_ONCE if run.tools.language is not None else 1)(search, texts))
        faults.spent += sum(each.result.budget_spent for each in searches)
        return searches

    def _claims(
        self, run: Retrieval, searches: Sequence[_Search], graph: NounGraph, communities: ConceptCommunities
    ) -> list[Point]:
        """Return the claims of all subqueries, the most helpful first, each once: of each subquery as many as its
        share of the budget holds."""
        share = self._claim_tokens // len(searches)
        listed: list[Point] = []
        for done, search in enumerate(searches, start=1):
            rows = [row for group in search.groups for row in group.chunks]
            mapped = mapped_points(run, _map_step(run, search, graph, communities, share), rows)
            for note in mapped.notes:
                run.note(note)
            listed += affordable_points(mapped.points, share)
            run.lap("map")
            run.announce(run.step("map", message("lazygraphrag.mapped", n=done, total=len(searches))))
        best = sorted(listed, key=lambda claim: -claim.score)
        first = {claim.text.casefold(): claim for claim in reversed(best)}
        return [claim for claim in best if first[claim.text.casefold()] is claim]


def _map_step(
    run: Retrieval, search: _Search, graph: NounGraph, communities: ConceptCommunities, max_tokens: int
) -> MapStep:
    """Return how the relevant chunks of a subquery are mapped to claims, group after group."""
    index = run.index
    community_of = {row: group.community for group in search.groups for row in group.chunks}

    def text_of(row: int) -> str:
        title, community = document_title(index, row), community_of[row]
        subject = theme(index, graph, communities.concepts[community]) if community >= 0 else ""
        above = f"{title} ({subject})" if subject else title
        return f"{above}\n{index.chunk(row).text.strip()}"

    # A model may find a chunk relevant that is not like the subquery.
    scores = np.maximum(helpfulness_of(search.near, index.across_scale), 1)
    return MapStep(
        "map_claims",
        "texts",
        text_of,
        lambda rows: builtin_chunk_points(index, search.text, rows, scores, max_tokens),
        message("lazygraphrag.step.map"),
        message("graphrag_ts.built_in_points"),
        question=search.text,
        shuffled=False,
    )


def _ranked(searches: Sequence[_Search]) -> list[_Relevant]:
    """Return the relevant chunks of all subqueries: by rating, then by their place in a subquery's ranking."""
    ids = search_ids(len(searches))
    ratings: dict[int, int] = {}
    places: dict[int, int] = {}
    led_by: dict[int, list[str]] = {}
    for id_, search in zip(ids, searches, strict=True):
        for place, row in enumerate(search.relevant):
            ratings[row] = max(search.result.ratings[row], ratings.get(row, 0))
            places[row] = min(place, places.get(row, place))
            led_by.setdefault(row, []).append(id_)
    ranked = [_Relevant(row, ratings[row], places[row], tuple(led_by[row])) for row in ratings]
    return sorted(ranked, key=lambda each: (-each.rating, each.place, each.row))


def _question_items(refined: Subqueries) -> tuple[TraceItem, ...]:
    """Return the subqueries, and the expanded query where it is another text, as items."""
    reason = "lazygraphrag.reason.asked" if refined.texts == (refined.expanded,) else "lazygraphrag.reason.subquery"
    items = tuple(
        question_item(id_, text, message(reason), rank=rank)
        for rank, (id_, text) in enumerate(zip(search_ids(len(refined.texts)), refined.texts, strict=True), start=1)
    )
    if refined.texts == (refined.expanded,):
        return items
    return (*items, question_item(_EXPANDED, refined.expanded, message("lazygraphrag.reason.expanded")))


def _graph_caption(occurring: ConceptCounts, searches: Sequence[_Search]) -> Message:
    n_groups = len({group.community for search in searches for group in search.groups})
    return message("lazygraphrag.graph", n=len(occurring.rows), groups=message("count.chunk_groups", n=n_groups))


def _concept_items(index: Index, occurring: ConceptCounts) -> tuple[TraceItem, ...]:
    """Return the concepts that are in most relevant chunks, as items."""
    counts = dict(zip(occurring.rows[:_DRAWN].tolist(), occurring.counts[:_DRAWN].tolist(), strict=True))
    reasons = {row: message("lazygraphrag.reason.holds", n=count) for row, count in counts.items()}
    return entity_items(index, list(counts), {row: float(count) for row, count in counts.items()}, reasons=reasons)


def _community_items(
    index: Index,
    graph: NounGraph,
    communities: ConceptCommunities,
    searches: Sequence[_Search],
    ranked: Sequence[_Relevant],
) -> tuple[TraceItem, ...]:
    """Return the first communities that gave a relevant chunk, and those of the largest groups, as items: those with
    most relevant chunks first."""
    visited = [visit.community for search in searches for visit in search.result.visits if visit.relevant]
    sizes = Counter[int]()
    for search in searches:
        sizes.update({group.community: len(group.chunks) for group in search.groups})
    largest = sorted(sizes, key=lambda row: (-sizes[row], row))
    named = [
        [row for row in dict.fromkeys(rows) if row >= 0 and len(communities.concepts[row])][:_DRAWN_COMMUNITIES]
        for rows in (visited, largest)
    ]
    relevant = [each.row for each in ranked]
    counts = {row: int(np.isin(communities.chunks[row], relevant).sum()) for rows in named for row in rows}
    items = []
    for rank, row in enumerate(sorted(counts, key=lambda row: (-counts[row], row)), start=1):
        name = theme(index, graph, communities.concepts[row])
        found = {"score": float(counts[row]), "reason": message("lazygraphrag.reason.holds", n=counts[row])}
        of_row: dict[str, Any] = {"row": row, "rank": rank, "type": f"C{int(communities.level[row])}", **found}
        items.append(TraceItem(f"concepts-{row}", "community", name, ("community",), text=name, **of_row))
    return tuple(items)


def _member_links(
    communities: ConceptCommunities, groups: Sequence[TraceItem], concepts: Sequence[TraceItem]
) -> tuple[TraceRelation, ...]:
    """Return a link from each drawn community to each drawn concept in it."""
    concepts_of_group = {item.id: set(communities.concepts[item.row or 0].tolist()) for item in groups}
    return tuple(
        link(id_, concept.id, "member", "member")
        for id_, rows in concepts_of_group.items()
        for concept in concepts
        if concept.row in rows
    )


def _searched(passages: Sequence[TraceItem], questions: Sequence[TraceItem]) -> tuple[TraceRelation, ...]:
    """Return a link from each subquery to each passage that is relevant to it."""
    asked = {item.id for item in questions}
    return tuple(
        link(id_, passage.id, "searched", "search")
        for passage in passages
        if passage.source is not None
        for id_ in passage.source.items
        if id_ in asked
    )
