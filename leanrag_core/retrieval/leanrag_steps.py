"""How LeanRAG tells its retrieval: the styles of its roles, its steps with their captions, and notes for the reader."""

from collections.abc import Mapping

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.anchoring import AdaptedN, Anchors, Seed
from leanrag_core.retrieval.captions import context_caption, in_order
from leanrag_core.retrieval.leanrag_paths import Paths
from leanrag_core.retrieval.subgraph import nodes_by_layer
from leanrag_core.retrieval.vector_search import EXACT
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Context, Style, TraceItem, TraceRelation, TraceStep

STYLES = (
    Style("seed", message("leanrag.style.seed"), "seed", "disc"),
    Style("path", message("leanrag.style.path"), "path", "box"),
    Style("lca", message("leanrag.style.lca"), "lca", "double"),
    Style("passage", message("style.passage"), "chunk", "chip"),
    Style("tree", message("leanrag.style.tree"), "path", "line", on="relation"),
    Style("inter-cluster", message("leanrag.style.inter_cluster"), "inter", "arc", on="relation"),
    Style("base", message("leanrag.style.base"), "base", "dotted", on="relation"),
)
NEIGHBOUR_STYLE = Style("neighbour", message("leanrag.style.neighbour"), "entered", "box")
WALK_STYLES = (
    *STYLES,
    Style("carrier", message("leanrag.style.carrier"), "entered", "disc"),
    Style("mass", message("leanrag.style.mass"), "chunk", "line", on="relation"),
)
TITLES = {
    name: message(f"leanrag.step.{name}")
    for name in ("seeds", "climb", "lca", "relations", "walk", "chunks", "context")
}
_HUB_SHARE = 0.2  # a seed in more than this share of all chunks says little about any of them
_HUB_CORPUS = 20  # chunks; below, every entity is in a large share


def steps(
    index: Index,
    paths: Paths,
    relations: tuple[TraceRelation, ...],
    passages: tuple[TraceItem, ...],
    chunks: Message,
    context: Context,
    milliseconds: Mapping[str, float],
    *,
    adapted_n: AdaptedN | None = None,
    walk: TraceStep | None = None,
) -> tuple[TraceStep, ...]:
    """Seeds, climb, lca, relations, (walk,) chunks, context: caption and what each lights up. relations: of the whole
    trace. chunks: caption of that step. milliseconds: by name. walk: the step between, where there is one."""
    nodes, tops, neighbours = paths.nodes, paths.tops, paths.related.neighbours
    inter = tuple(relation.id for relation in relations if relation.role == "inter-cluster")
    base = tuple(relation.id for relation in relations if relation.role == "base")
    tree = tuple(relation.id for relation in relations if relation.role == "tree")
    every, top_ids = tuple(node.id for node in (*nodes, *neighbours)), tuple(top.id for top in tops)
    path = tuple(node.id for node in nodes if node.id not in top_ids or len(nodes) == 1)
    in_chunks = [id_ for passage in passages if passage.source for id_ in (passage.id, *passage.source.items)]

    def step(name: str, caption: Message, items: tuple[str, ...], lit: tuple[str, ...] = ()) -> TraceStep:
        return TraceStep(name, TITLES[name], caption, items, lit, milliseconds=milliseconds.get(name, 0.0))

    return (
        step("seeds", _seeds_caption(paths.seeds, adapted_n), tuple(seed.id for seed in paths.seeds)),
        step("climb", _climb_caption(nodes, tops), path, tree),
        step("lca", _lca_caption(tops, len(index.layers) - 1), top_ids, tree),
        step(
            "relations",
            message(
                "leanrag.relations",
                inter_cluster=message("leanrag.relations.inter_cluster", n=len(inter)),
                base=message("leanrag.relations.base", n=len(base)),
            ),
            every,
            (*inter, *base),
        ),
        *((walk,) if walk else ()),
        step("chunks", chunks, tuple(dict.fromkeys(in_chunks))),
        step("context", context_caption(context), every),
    )


def _seeds_caption(seeds: tuple[Seed, ...], adapted_n: AdaptedN | None) -> Message:
    best, last = seeds[0], seeds[-1]
    if len(seeds) == 1:
        caption = message("leanrag.seeds.single", n=1, best=best.name, score=best.score)
    else:
        caption = message(
            "leanrag.seeds", n=len(seeds), best=best.name, score=best.score, last=last.name, last_score=last.score
        )
    return in_order((caption, _adapted_caption(adapted_n))) or caption if adapted_n else caption


def _adapted_caption(adapted_n: AdaptedN) -> Message:
    """Which N was taken, and why."""
    chunks = message("count.chunks", n=adapted_n.touched)
    if adapted_n.touched < adapted_n.wanted:
        return message("leanrag.adapted.bounded", n=adapted_n.n, chunks=chunks, wanted=adapted_n.wanted)
    if adapted_n.n <= adapted_n.asked:
        return message("leanrag.adapted.enough", n=adapted_n.n, chunks=chunks, wanted=adapted_n.wanted)
    return message(
        "leanrag.adapted.raised",
        n=adapted_n.n,
        asked=adapted_n.asked,
        before=message("count.chunks", n=adapted_n.before),
        chunks=chunks,
        wanted=adapted_n.wanted,
    )


def _climb_caption(nodes: tuple[TraceItem, ...], tops: tuple[TraceItem, ...]) -> Message:
    if len(nodes) == 1:
        return message("leanrag.climb.single")
    top_ids = {top.id for top in tops}
    inner = tuple(node for node in nodes if node.layer and node.id not in top_ids)
    between = [(number, row) for number, row in nodes_by_layer(inner).items() if number < (tops[0].layer or 0)]
    if not between:
        return message("leanrag.climb.direct")
    return message(
        "leanrag.climb",
        nodes=tuple(message("leanrag.climb.layer", n=len(row), layer=number) for number, row in between),
    )


def _lca_caption(tops: tuple[TraceItem, ...], height: int) -> Message:
    top = tops[0]
    if len(tops) > 1:
        return message("leanrag.lca.several", n=len(tops), names=", ".join(each.name for each in tops))
    if top.layer == height:
        return message("leanrag.lca.root", name=top.name)
    return message("leanrag.lca", name=top.name, layer=top.layer, height=height)


def notes(
    index: Index,
    anchors: Anchors,
    tops: tuple[TraceItem, ...],
    passages: tuple[TraceItem, ...],
    wanted: int,
    n_candidates: int,
    n_dropped: int = 0,
) -> tuple[Message, ...]:
    """What the reader should know: an unfilled top-C, hubs, an LCA at the root, an approximate or failed search,
    repeated sentences that a compact context lacks."""
    lines, seeds = [], anchors.seeds
    if len(passages) < wanted:
        lines.append(
            message(
                "leanrag.note.unfilled",
                n=len(seeds),
                taken=len(passages),
                wanted=wanted,
                chunks=message("count.chunks", n=n_candidates),
            )
        )
    total = index.chunks.num_rows
    for seed in seeds:
        mentions = len(index.layers[seed.layer].chunks_of(seed.row))
        if total >= _HUB_CORPUS and seed.layer == 0 and mentions > _HUB_SHARE * total:
            lines.append(message("leanrag.note.hub", name=seed.name, percent=100 * mentions / total))
    if tops[0].layer == len(index.layers) - 1 and len(tops) == 1 < len(seeds):
        lines.append(message("leanrag.note.root"))
    if anchors.search != EXACT:
        if anchors.recall is None:
            lines.append(message("search.note.approximate"))
        else:
            lines.append(message("search.note.approximate_recall", percent=100 * anchors.recall))
    if anchors.instead:
        lines.append(message("search.note.exact_instead", reason=anchors.instead))
    if n_dropped:
        lines.append(message("leanrag.note.repeated", n=n_dropped))
    return tuple(lines)
