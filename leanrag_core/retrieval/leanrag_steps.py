"""How LeanRAG tells its retrieval: the styles of its roles, its steps with their captions, and notes for the reader."""

from collections.abc import Mapping

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.anchoring import Anchors, Seed
from leanrag_core.retrieval.captions import context_caption
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
_TITLES = {
    name: message(f"leanrag.step.{name}") for name in ("seeds", "climb", "lca", "relations", "chunks", "context")
}
_HUB_SHARE = 0.2  # a seed in more than this share of all chunks says little about any of them
_HUB_CORPUS = 20  # chunks; below, every entity is in a large share


def steps(
    index: Index,
    seeds: tuple[Seed, ...],
    top: TraceItem,
    nodes: tuple[TraceItem, ...],
    relations: tuple[TraceRelation, ...],
    passages: tuple[TraceItem, ...],
    n_candidates: int,
    context: Context,
    milliseconds: Mapping[str, float],
) -> tuple[TraceStep, ...]:
    """Seeds, climb, lca, relations, chunks, context: caption and what each lights up. milliseconds: by name."""
    inter = tuple(relation.id for relation in relations if relation.role == "inter-cluster")
    base = tuple(relation.id for relation in relations if relation.role == "base")
    tree = tuple(relation.id for relation in relations if relation.role == "tree")
    every = tuple(node.id for node in nodes)
    path = tuple(node.id for node in nodes if node.id != top.id or len(nodes) == 1)
    in_chunks = [id_ for passage in passages if passage.source for id_ in (passage.id, *passage.source.items)]

    def step(name: str, caption: Message, items: tuple[str, ...], lit: tuple[str, ...] = ()) -> TraceStep:
        return TraceStep(name, _TITLES[name], caption, items, lit, milliseconds=milliseconds.get(name, 0.0))

    return (
        step("seeds", _seeds_caption(seeds), tuple(seed.id for seed in seeds)),
        step("climb", _climb_caption(nodes, top), path, tree),
        step("lca", _lca_caption(top, len(index.layers) - 1), (top.id,), tree),
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
        step(
            "chunks",
            message("leanrag.chunks", n=len(passages), candidates=n_candidates),
            tuple(dict.fromkeys(in_chunks)),
        ),
        step("context", context_caption(context), every),
    )


def _seeds_caption(seeds: tuple[Seed, ...]) -> Message:
    best, last = seeds[0], seeds[-1]
    if len(seeds) == 1:
        return message("leanrag.seeds.single", n=1, best=best.name, score=best.score)
    return message(
        "leanrag.seeds", n=len(seeds), best=best.name, score=best.score, last=last.name, last_score=last.score
    )


def _climb_caption(nodes: tuple[TraceItem, ...], top: TraceItem) -> Message:
    if len(nodes) == 1:
        return message("leanrag.climb.single")
    between = [(number, row) for number, row in nodes_by_layer(nodes).items() if 0 < number < (top.layer or 0)]
    if not between:
        return message("leanrag.climb.direct")
    return message(
        "leanrag.climb",
        nodes=tuple(message("leanrag.climb.layer", n=len(row), layer=number) for number, row in between),
    )


def _lca_caption(top: TraceItem, height: int) -> Message:
    if top.layer == height:
        return message("leanrag.lca.root", name=top.name)
    return message("leanrag.lca", name=top.name, layer=top.layer, height=height)


def notes(
    index: Index, anchors: Anchors, top: TraceItem, passages: tuple[TraceItem, ...], wanted: int, n_candidates: int
) -> tuple[Message, ...]:
    """What the reader should know: an unfilled top-C, hubs, an LCA at the root, an approximate or failed search."""
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
    if top.layer == len(index.layers) - 1 and len(seeds) > 1:
        lines.append(message("leanrag.note.root"))
    if anchors.search != EXACT:
        if anchors.recall is None:
            lines.append(message("search.note.approximate"))
        else:
            lines.append(message("search.note.approximate_recall", percent=100 * anchors.recall))
    if anchors.instead:
        lines.append(message("search.note.exact_instead", reason=anchors.instead))
    return tuple(lines)
