"""E2GraphRAG: chunks that hold two entities of the question, or the nearest nodes of a summary tree."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import Options, Query, StrategyBase
from leanrag_core.retrieval.base_graph import entity_items
from leanrag_core.retrieval.budgets import section
from leanrag_core.retrieval.concepts import TOGETHER, together_links
from leanrag_core.retrieval.context import CHUNKS, context_caption, joined_sections, passage_line
from leanrag_core.retrieval.graph_traces import BETWEEN, ENTITY
from leanrag_core.retrieval.graph_walks import shortest_path
from leanrag_core.retrieval.passages import PASSAGE, PassageReason, passage_items
from leanrag_core.retrieval.text_trees import (
    SUMMARIES,
    SUMMARY,
    SUMS_UP,
    affordable_nodes,
    chunk_order,
    summary_items,
    summary_line,
    summed_up,
    tree_notes,
)
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import best_first, cosines
from leanrag_core.types.config import option
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.rows import entries_of
from leanrag_core.types.text_tree import TextTree
from leanrag_core.types.trace import Trace, TraceItem
from leanrag_core.types.walks import NounGraph

_STYLES = (ENTITY, BETWEEN, SUMMARY, PASSAGE, TOGETHER, SUMS_UP)
_WORD = re.compile(r"\w+", re.UNICODE)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]{2,}")
_LONGEST_RUN = 6  # words of a name
_LONGEST_UNSPACED = 8  # characters of a name in a script without blanks


@dataclass(frozen=True)
class Config(Options):
    """Options of E2GraphRAG."""

    # The release's limit of 4 counts the nodes of a path (`query.py`, `graph_filter`).
    most_hops: int = option(3, low=1, high=10, paper=3, help=message("e2graphrag.option.most_hops"), in_row=True)
    top_c: int = option(25, low=1, high=200, paper=25, help=message("vector.option.top_c"), link="c", scale=50)
    dense: int = option(50, low=1, high=400, paper=50, help=message("e2graphrag.option.dense"))
    max_tokens: int = option(30000, low=0, high=64000, help=message("option.max_tokens"))


@dataclass(frozen=True)
class NearPair:
    """Two entities of the question and a shortest path between them in the graph of nouns. chunks: rows of those that
    hold both."""

    path: tuple[int, ...]
    chunks: tuple[int, ...]

    @property
    def hops(self) -> int:
        """Return edges of the path."""
        return len(self.path) - 1


@dataclass(frozen=True)
class Tightened:
    """pairs: within the hops that were left. hops: the limit at the end. chunks: of the pairs, ascending."""

    pairs: tuple[NearPair, ...]
    hops: int
    chunks: tuple[int, ...]


@dataclass(frozen=True)
class _Nodes:
    """Nodes of the tree that are taken, best first. scores: sentences about the entities, or cosines."""

    taken: list[int]
    ranking: list[int]
    reasons: dict[int, Message]
    scores: dict[int, float]


class Strategy(StrategyBase[Config]):
    """Local retrieval by pairs of entities, and global retrieval where there are none."""

    name = "e2graphrag"
    badge = "own-part"
    parts = ("noun_graph", "sequential_tree")

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval; no language model is called."""
        config, run = self.config, Retrieval(self, query, index, tools)
        graph: NounGraph = tools.part("noun_graph")
        tree: TextTree = tools.part("sequential_tree")
        rows = named_entities(index.layers[0], query.text)
        run.lap("entities")
        pairs = near_pairs(graph, rows, most_hops=config.most_hops)
        chosen = tightened(pairs, most_hops=config.most_hops, most_chunks=config.top_c)
        run.lap("pairs")
        if chosen.chunks:
            nodes = self._local(graph, rows, list(chosen.chunks))
            caption = message("e2graphrag.local", n=len(nodes.taken), of=len(nodes.ranking), hops=chosen.hops)
        else:
            nodes = self._global(graph, rows, query, tree)
            caption = message("e2graphrag.global", n=len(nodes.taken), dense=config.dense)
        ranks = {row: rank for rank, row in enumerate(nodes.taken, start=1)}
        entities = entity_items(index, rows, reasons=dict.fromkeys(rows, message("e2graphrag.reason.named")))
        shown = chosen.pairs if chosen.chunks else tuple(pairs)
        between = [row for pair in shown for row in pair.path if row not in set(rows)]
        others = entity_items(index, list(dict.fromkeys(between)), role="between")
        edges = [edge for pair in shown for edge in pairwise(pair.path)]
        links = together_links(graph, edges, (*entities, *others))
        summaries = summary_items(
            tree, [row for row in nodes.taken if tree.layer[row]], nodes.scores, ranks, "e2graphrag.near"
        )
        passages = self._passages(index, graph, tree, nodes, entities)
        sums = summed_up(tree, [row for row in nodes.taken if tree.layer[row]])
        run.lap("chunks")
        above = section(SUMMARIES, [summary_line(each) for each in summaries], config.max_tokens)
        room = config.max_tokens - above.tokens
        context = joined_sections(above, section(CHUNKS, [passage_line(index, each) for each in passages], room))
        run.lap("context")

        run.notes += () if chosen.chunks else tree_notes(tree)
        n_pairs = message("e2graphrag.pairs", n=len(pairs), hops=config.most_hops)
        return run.trace(
            context,
            steps=(
                run.step("entities", message("e2graphrag.entities", n=len(entities)), entities),
                run.step("pairs", n_pairs, (*entities, *others), links),
                run.step("chunks", caption, (*summaries, *passages), sums),
                run.step("context", context_caption(context), (*summaries, *passages)),
            ),
            styles=_STYLES,
            items=(*entities, *others, *summaries, *passages),
            relations=(*links, *sums),
            ranked_chunks=chunk_order(tree, nodes.ranking),
        )

    def _local(self, graph: NounGraph, entities: list[int], chunks: list[int]) -> _Nodes:
        """Return chunks of the pairs, those with most of the entities first, then those with most sentences about
        them."""
        occurrences = by_occurrence(graph, entities, [[chunk] for chunk in chunks])
        order = np.lexsort((np.array(chunks), -occurrences[:, 1], -occurrences[:, 0])).tolist()
        rows = [chunks[place] for place in order]  # the tree's leaves are the chunks, in their order
        reasons, scores = {}, {}
        for row, place in zip(rows, order, strict=True):
            n, n_sentences = occurrences[place].tolist()
            reasons[row] = message("e2graphrag.reason.pair", n=int(n), sentences=int(n_sentences))
            scores[row] = float(n_sentences)
        return _Nodes(rows[: self.config.top_c], rows, reasons, scores)

    def _global(self, graph: NounGraph, entities: list[int], query: Query, tree: TextTree) -> _Nodes:
        """Return the nearest nodes of the tree, ordered by how often the entities occur there, then by cosine; nodes
        where none occurs are left out, unless there are no others."""
        near = cosines(tree.vectors, query.vector)
        ranking = best_first(near)
        best = ranking[: self.config.dense].tolist()
        below = [tree.chunk[tree.leaves_below(row)].tolist() for row in best]
        occurrences = by_occurrence(graph, entities, below)
        order = np.argsort(-occurrences[:, 1], kind="stable").tolist()
        rows = [best[place] for place in order]
        n_holding = np.count_nonzero(occurrences[:, 1]) or len(rows)
        return _Nodes(
            affordable_nodes(tree, rows[: min(self.config.top_c, n_holding)], self.config.max_tokens),
            [*rows, *ranking[self.config.dense :].tolist()],
            {
                row: message("e2graphrag.reason.near", n=int(occurrences[place, 1]), score=float(near[row]))
                for row, place in zip(rows, order, strict=True)
            },
            {row: float(near[row]) for row in rows},
        )

    def _passages(
        self, index: Index, graph: NounGraph, tree: TextTree, nodes: _Nodes, entities: Sequence[TraceItem]
    ) -> tuple[TraceItem, ...]:
        """Return the chunks among the nodes that are taken, each with the entities of the question that it mentions."""
        leaves = {int(tree.chunk[row]): row for row in nodes.taken if not tree.layer[row]}
        counts = graph.counts[[item.row for item in entities]].tocsc() if entities else None
        reasons: dict[int, PassageReason] = {}
        for chunk, row in leaves.items():
            places = [] if counts is None else entries_of(counts, chunk).tolist()
            reasons[chunk] = PassageReason(nodes.reasons[row], tuple(entities[place].id for place in sorted(places)))
        return passage_items(index, list(leaves), {chunk: nodes.scores[row] for chunk, row in leaves.items()}, reasons)


def named_entities(layer: Layer, question: str) -> list[int]:
    """Return rows of the entities whose name is a run of words of the question, in singular or plural; in the
    question's order. A name inside a longer one that is found does not count."""
    words = [word.lower() for word in _WORD.findall(question)]
    places: dict[str, tuple[int, int]] = {}
    for length in range(_LONGEST_RUN, 0, -1):
        for start in range(len(words) - length + 1):
            run = " ".join(words[start : start + length])
            for form in (run, run.removesuffix("s"), f"{run}s"):
                places.setdefault(form, (start, start + length))
    for match in _UNSPACED.finditer(question.lower()):
        for length in range(min(_LONGEST_UNSPACED, len(match[0])), 0, -1):
            for start in range(len(match[0]) - length + 1):
                first = match.start() + start
                places.setdefault(match[0][start : start + length], (first, first + length))
    rows = layer.rows_named(places).tolist()
    spans = {row: places[layer.plain_names[row].as_py()] for row in rows}
    longest = sorted(rows, key=lambda row: (spans[row][0] - spans[row][1], spans[row][0], row))
    kept: list[int] = []
    for row in longest:
        start, end = spans[row]
        if not any(spans[other][0] <= start and end <= spans[other][1] for other in kept):
            kept.append(row)
    return sorted(kept, key=lambda row: (spans[row][0], row))


def near_pairs(graph: NounGraph, entities: list[int], *, most_hops: int) -> list[NearPair]:
    """Return all pairs of those entities with a path of at most so many hops, in the order of the entities."""
    chunks_of = {row: set(entries_of(graph.counts, row).tolist()) for row in entities}
    pairs = []
    for first, second in combinations(entities, 2):
        path = shortest_path(graph.adjacency, first, second, most_hops=most_hops)
        if path:
            pairs.append(NearPair(tuple(path), tuple(sorted(chunks_of[first] & chunks_of[second]))))
    return pairs


def tightened(pairs: list[NearPair], *, most_hops: int, most_chunks: int) -> Tightened:
    """Return the pairs within the largest number of hops at which they have at most so many chunks. Where fewer hops
    would leave no chunk at all, those of the last limit that left some, however many.

    Source: the release of E2GraphRAG, `query.py`, `query`.
    """
    last = Tightened((), most_hops, ())
    for hops in range(most_hops, 0, -1):
        kept = tuple(pair for pair in pairs if pair.hops <= hops)
        chunks = tuple(sorted({chunk for pair in kept for chunk in pair.chunks}))
        if last.chunks and not chunks:
            break
        last = Tightened(kept, hops, chunks)
        if len(chunks) <= most_chunks:
            break
    return last


def by_occurrence(graph: NounGraph, entities: list[int], chunks: list[list[int]]) -> np.ndarray:
    """Return (n, 2) for each group of chunks: how many of the entities occur there, and in how many sentences in
    all."""
    if not entities:
        return np.zeros((len(chunks), 2))
    counts = graph.counts[entities].tocsc()
    sums = [np.asarray(counts[:, group].sum(axis=1)).ravel() for group in chunks]
    return np.array([[np.count_nonzero(each), each.sum()] for each in sums]).reshape(-1, 2)
