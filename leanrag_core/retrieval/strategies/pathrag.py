"""PathRAG: paths between the nodes nearest to the question, pruned by flow, the most reliable one last."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import numpy as np

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import COSINE, Options, Query, StrategyBase, published
from leanrag_core.retrieval.base_graph import chunks_by_entity, end_rows, entity_items, relation_items
from leanrag_core.retrieval.budgets import Candidate, affordable, choose, scaled, section, section_form, text_line
from leanrag_core.retrieval.graph_traces import (
    BETWEEN,
    ON_PATH,
    GraphContext,
    GraphStep,
    RankedGraph,
    asked_keywords,
    by_row,
    graph_context,
    graph_trace,
)
from leanrag_core.retrieval.passages import cosines_of
from leanrag_core.retrieval.question_terms import query_keywords
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import nearest_entities, nearest_rows
from leanrag_core.types.config import option
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Style, Trace, TraceItem, TraceRelation

if TYPE_CHECKING:  # scipy takes a tenth of a second to import
    from scipy.sparse import csr_array

_DECIMALS = 9  # of a reliability; the next ones depend on the order of a sum


@dataclass(frozen=True)
class FlowPath:
    """nodes: from one end to the other, 2 to 4 of them. reliability: the mean resource on its edges."""

    nodes: tuple[int, ...]
    reliability: float


def flow_paths(
    adjacency: "csr_array", nodes: Sequence[int], *, most: int, decay: float, threshold: float
) -> list[FlowPath]:
    """Return the most reliable paths of at most three edges between two of the nodes, the best first.

    adjacency: (n, n), symmetric; its weights do not count. Of each ordered pair the first node has a resource of 1 and
    shares it among the nodes that follow it on the pair's paths. Each node shares what it gets, times the decay, in
    turn; what comes over an edge and is not above the threshold is not passed on. A path between the same nodes counts
    once.

    Pairs are visited by the upper bound of their best path, so that most need no visit. Source: PathRAG (Chen et al.
    2025), flow-based pruning, as its release counts it (`operate.py`, `bfs_weighted_paths`).
    """
    ends, graph = list(dict.fromkeys(nodes)), _Neighbours(adjacency)
    n_first = _first_steps(adjacency, ends, graph)
    bounds = []
    for source, target in zip(*np.nonzero(n_first), strict=True):
        share = 1.0 / float(n_first[source, target])
        bound = _most_reliable(share, decay, threshold, is_joined=ends[target] in graph.of(ends[source]))
        bounds.append((-round(bound, _DECIMALS), int(source), int(target)))
    best: dict[tuple[int, ...], FlowPath] = {}
    least = 0.0
    for bound, source, target in sorted(bounds):
        if len(best) >= most and -bound <= least:
            break
        pair = _Pair(graph, ends[source], ends[target], int(n_first[source, target]))
        for path in pair.paths(decay, threshold, most, least if len(best) >= most else 0.0):
            key = tuple(sorted(path.nodes))
            if key not in best or best[key].reliability < path.reliability:
                best[key] = path
        if len(best) >= most:
            least = sorted((path.reliability for path in best.values()), reverse=True)[most - 1]
    # The sort is stable: equal paths stay in the order in which they were found.
    return sorted(best.values(), key=lambda path: -path.reliability)[:most]


def _most_reliable(share: float, decay: float, threshold: float, *, is_joined: bool) -> float:
    """Return an upper bound of the reliability of a pair's paths. share: the resource of each node that comes first.
    is_joined: whether an edge joins the pair."""
    if share <= threshold:
        return share if is_joined else share / 2
    # A node that comes first may come second too, and then passes on what the other first ones gave it.
    later = decay * share + (decay**2 * (1 - share) if decay * share > threshold else 0.0)
    return max(share if is_joined else 0.0, (share + later) / 2, (share + 2 * later) / 3)


class _Neighbours:
    """The other nodes that a node is joined to, looked up once each. adjacency: (n, n), symmetric."""

    def __init__(self, adjacency: "csr_array") -> None:
        self._adjacency = adjacency
        self._of: dict[int, frozenset[int]] = {}

    def of(self, node: int) -> frozenset[int]:
        """Return the neighbours of that node."""
        if node not in self._of:
            start, end = self._adjacency.indptr[node : node + 2]
            self._of[node] = frozenset(self._adjacency.indices[start:end].tolist()) - {node}
        return self._of[node]

    def shared(self, node: int, other: int) -> list[int]:
        """Return the nodes that both are joined to, ascending."""
        return sorted(self.of(node) & self.of(other))


def _first_steps(adjacency: "csr_array", ends: list[int], graph: _Neighbours) -> np.ndarray:
    """Return (k, k) int: for a path from end i to end j, how many nodes may come first after i; 0 on the diagonal."""
    from scipy.sparse import csr_array

    lists = [np.array(sorted(graph.of(end)), dtype=np.int64) for end in ends]
    reached = np.unique(np.concatenate([*lists, np.array(ends, dtype=np.int64)]))
    steps = adjacency[reached].astype(np.float32)
    steps.data = np.ones_like(steps.data)
    steps.data[steps.indices == np.repeat(reached, np.diff(steps.indptr))] = 0  # no step from a node to itself
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in lists])])
    columns = np.concatenate([*lists, np.zeros(0, dtype=np.int64)])
    to_ends = csr_array((np.ones(len(columns), dtype=np.float32), columns, offsets), shape=(len(ends), steps.shape[1]))
    to_ends = to_ends.T.tocsr()
    one_hop, two_hops = to_ends[reached].toarray() > 0, (steps @ to_ends).toarray()
    counts = np.zeros((len(ends), len(ends)), dtype=np.int64)
    for place, end in enumerate(ends):
        first = np.searchsorted(reached, lists[place])
        through_end = one_hop[np.searchsorted(reached, end)]  # a path does not come back to its start
        is_target = lists[place][:, None] == np.array(ends)
        counts[place] = (is_target | one_hop[first] | (two_hops[first] - through_end > 0)).sum(axis=0)
    np.fill_diagonal(counts, 0)
    return counts


@dataclass(frozen=True, eq=False)
class _Pair:
    """An ordered pair of nodes. n_first: how many nodes may come first after the source."""

    graph: _Neighbours
    source: int
    target: int
    n_first: int

    def paths(self, decay: float, threshold: float, most: int, least: float) -> list[FlowPath]:
        """Return its paths with a reliability above `least`. Where nothing flows beyond the first edge, paths of a
        length tie, and only the first `most` of three edges are listed."""
        share = 1.0 / self.n_first
        if share > threshold:
            routes = [*self._short(), *self._long()]
            flow = self._flow(routes, decay, threshold)
            reliable = [(nodes, sum(flow[edge] for edge in pairwise(nodes)) / (len(nodes) - 1)) for nodes in routes]
        else:  # nothing flows beyond the first edge
            reliable = [(nodes, share / (len(nodes) - 1)) for nodes in self._short()]
            if share / 3 > least:
                reliable += [(nodes, share / 3) for nodes in islice(self._long(), most)]
        rounded = [FlowPath(nodes, round(mean, _DECIMALS)) for nodes, mean in reliable]
        return [path for path in rounded if path.reliability > least]

    def _short(self) -> list[tuple[int, ...]]:
        """Return the paths of one and two edges."""
        is_joined = self.target in self.graph.of(self.source)
        direct: list[tuple[int, ...]] = [(self.source, self.target)] if is_joined else []
        return direct + [(self.source, node, self.target) for node in self.graph.shared(self.source, self.target)]

    def _long(self) -> Iterator[tuple[int, ...]]:
        """Return the paths of three edges, by their nodes."""
        for first in sorted(self.graph.of(self.source) - {self.target}):
            for second in self.graph.shared(first, self.target):
                if second != self.source:
                    yield self.source, first, second, self.target

    def _flow(
        self, routes: Sequence[tuple[int, ...]], decay: float, threshold: float
    ) -> defaultdict[tuple[int, int], float]:
        """Return the resource on each edge of those paths."""
        following: dict[int, dict[int, None]] = {}
        for nodes in routes:
            for node, after in pairwise(nodes):
                following.setdefault(node, {})[after] = None
        flow: defaultdict[tuple[int, int], float] = defaultdict(float)
        for first in sorted(following[self.source]):
            flow[self.source, first] += 1.0 / len(following[self.source])
            if first == self.target or flow[self.source, first] <= threshold:
                continue
            for second in sorted(following[first]):
                flow[first, second] += flow[self.source, first] * decay / len(following[first])
                if second == self.target or flow[first, second] <= threshold:
                    continue
                for third in sorted(following[second]):
                    flow[second, third] += flow[first, second] * decay / len(following[second])
        return flow


_PATHS = section_form("paths", "P", "path", "## Paths\n", {"path": "count.paths"})
_STYLES = (Style("path", message("style.path"), "path", "box"), BETWEEN, ON_PATH)


@dataclass(frozen=True)
class Config(Options):
    """Options of PathRAG; the defaults are the release's."""

    top_k: int = option(40, low=1, high=60, paper=40, help=message("pathrag.option.top_k"), in_row=True, scale=60)
    n_paths: int = option(15, low=0, high=100, paper=15, help=message("pathrag.option.n_paths"), in_row=True)
    decay: float = option(0.8, low=0.0, high=1.0, paper=0.8, help=message("pathrag.option.decay"))
    threshold: float = option(0.3, low=0.0, high=1.0, help=message("pathrag.option.threshold"))
    top_c: int = option(20, low=0, high=50, help=message("vector.option.top_c"), link="c", scale=20)
    entity_tokens: int = option(5000, low=0, high=32000, help=message("lightrag.option.entity_tokens"))
    relation_tokens: int = option(3000, low=0, high=32000, help=message("lightrag.option.relation_tokens"))
    path_tokens: int = option(5000, low=0, high=32000, help=message("pathrag.option.path_tokens"))
    chunk_tokens: int = option(8000, low=0, high=64000, help=message("leanrag.option.chunk_tokens"))
    max_tokens: int = option(21000, low=0, high=64000, help=message("option.max_tokens"))


class Strategy(StrategyBase[Config]):
    """Nodes by the details of the question, paths between them, relations by its themes."""

    name = "pathrag"
    badge = "faithful"
    score = COSINE
    calls_model = True
    parts = ("relation_vectors",)
    presets = (published("released"),)

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval: keywords, nodes and relations, paths, chunks."""
        config, run, base = self.config, Retrieval(self, query, index, tools), index.layers[0]
        keywords = query_keywords(query.text, tools)
        run.note(keywords.note)
        words = keywords.joined
        vectors = dict(zip(words, tools.embed(list(words.values())), strict=True))
        run.lap("keywords")
        nearest = self._found(index, vectors, tools)
        run.lap("nodes")
        paths = flow_paths(
            base.adjacency, nearest.entities, most=config.n_paths, decay=config.decay, threshold=config.threshold
        )
        run.lap("paths")
        themes = end_rows(index, nearest.relations)
        ranked = replace(nearest, entities=list(dict.fromkeys([*nearest.entities, *themes])))
        budgets = {name: getattr(config, f"{name}_tokens") for name in ("entity", "relation", "path", "chunk")}
        room = scaled(budgets, config.max_tokens)
        plural = {"entities": room["entity"], "relations": room["relation"], "chunks": room["chunk"]}
        filled = _with_paths(index, graph_context(run, ranked, plural, flowing=False), paths, room["path"])
        chunks = self._chunk_rows(index, nearest)
        chosen_rows = chunks[: config.top_c]
        ids = [f"keywords-{level}" for level in words]
        on_paths = list(dict.fromkeys(node for path in paths for node in path.nodes))
        n_words = message("lightrag.keywords", n=len(keywords.low) + len(keywords.high))
        n_entities = message("count.entities", n=len(nearest.entities))
        n_relations = message("count.relations", n=len(nearest.relations))
        nodes = message("pathrag.nodes", entities=n_entities, relations=n_relations)
        path_ids = [item.id for item in filled.drawn if item.kind == "path"]
        links = [each.id for each in filled.drawn_relations if each.role == "on-path"]
        steps = [
            GraphStep("keywords", n_words, asked=ids, title=message("lightrag.step.keywords")),
            GraphStep("nodes", nodes, ranked.entities, nearest.relations, ids),
            GraphStep("paths", message("pathrag.paths", n=len(paths)), on_paths, asked=path_ids, links=links),
        ]
        return graph_trace(
            run,
            replace(ranked, chunks=chunks, chunk_scores=cosines_of(index, query.vector, chosen_rows)),
            filled,
            steps=steps,
            chunk_caption=message("lightrag.chunks", n=len(chosen_rows)),
            asked=asked_keywords(words, {"low": nearest.entities, "high": themes}),
        )

    def _found(self, index: Index, vectors: dict[str, np.ndarray], tools: Tools) -> RankedGraph:
        """Return the entities nearest to the details, and the relations nearest to the themes by the degrees of their
        ends, then by weight, as many as the budget holds. vectors: (d,) by level."""
        base, k = index.layers[0], self.config.top_k
        entities, relations = list[int](), list[int]()
        entity_scores, relation_scores = dict[int, float](), dict[int, float]()
        if "low" in vectors:
            near = nearest_entities(index, vectors["low"], k, tools)
            entities, entity_scores = near.rows.tolist(), by_row(near.rows, near.scores)
        if "high" in vectors:
            related = nearest_rows(tools.part("relation_vectors"), vectors["high"], k, tools=tools)
            degrees = base.degrees[base.ends[related.rows]].sum(axis=1)
            order = np.lexsort((related.rows, -base.weights[related.rows], -degrees))
            relations, relation_scores = related.rows[order].tolist(), by_row(related.rows, related.scores)
        return RankedGraph(entities, relations, (), entity_scores, relation_scores, {}, "passage.near")

    def _chunk_rows(self, index: Index, nearest: RankedGraph) -> list[int]:
        """Return the chunks of the relations, then those of the entities, each as many as half of the budget holds;
        then the others."""
        of_relations = [row for each in nearest.relations for row in np.sort(index.chunks_of_relation(each)).tolist()]
        of_entities = [chunk.row for chunk in chunks_by_entity(index.layers[0], nearest.entities)]
        lists = [list(dict.fromkeys(rows)) for rows in (of_relations, of_entities)]
        tokens, room = index.chunks["tokens"], self.config.chunk_tokens // 2
        first = [row for rows in lists for row in affordable(tokens, rows, room)]
        return list(dict.fromkeys([*first, *(row for rows in lists for row in rows)]))


def _with_paths(index: Index, filled: GraphContext, paths: Sequence[FlowPath], budget: int) -> GraphContext:
    """Return the context with a section of paths after the chunks, the most reliable one last, and with the paths
    drawn."""
    base = index.layers[0]
    nodes = list(dict.fromkeys(node for path in paths for node in path.nodes))
    known, drawn = {item.row for item in filled.drawn}, {each.id for each in filled.drawn_relations}
    others = entity_items(index, [node for node in nodes if node not in known], role="between")
    others = tuple(replace(item, rank=None) for item in others)
    item_of = {item.row: item for item in (*filled.drawn, *others) if item.row is not None}
    rows = {path.nodes: [relation_between(base, *edge) for edge in pairwise(path.nodes)] for path in paths}
    on_paths = relation_items(index, list(dict.fromkeys(row for each in rows.values() for row in each)), role="on-path")
    by_relation = {each.row: each for each in on_paths}
    items, lines, links = [], [], []
    for rank, path in enumerate(paths, start=1):
        name = " – ".join(item_of[node].name for node in path.nodes)
        text = " ".join(by_relation[row].description.strip() for row in rows[path.nodes])
        score, reason = path.reliability, message("pathrag.reason", score=path.reliability)
        item = TraceItem(f"path-{rank}", "path", name, ("path",), score=score, rank=rank, reason=reason, text=text)
        items.append(item)
        lines.append(text_line("path", item.id, f"{name}:", text))
        links += [
            TraceRelation(f"{item.id}-{place}", item.id, item_of[node].id, "on-path", None, "path", 1.0, "")
            for place, node in enumerate(path.nodes)
        ]
    # The budget goes to the most reliable ones, the order of the prompt is the other way round.
    after = section(_PATHS, lines[::-1], budget, choice=_choose_last)
    return replace(
        filled,
        drawn=(*filled.drawn, *others, *items),
        drawn_relations=(*filled.drawn_relations, *(each for each in on_paths if each.id not in drawn), *links),
        styles=_STYLES,
        after=(after,),
    )


def _choose_last(candidates: Sequence[Candidate], marks: Sequence[str], budget: int) -> dict[int, Candidate]:
    """Return choose() with the last candidate first in turn, by place."""
    chosen = choose(candidates[::-1], marks[::-1], budget)
    return {len(candidates) - 1 - place: candidate for place, candidate in chosen.items()}


def relation_between(base: Layer, source: int, target: int) -> int:
    """Return the row of the strongest relation between two entities that are related, ties by row."""
    rows = base.relations_of(source)
    rows = rows[(base.ends[rows] == target).any(axis=1)]
    return int(rows[np.argmax(base.weights[rows])])
