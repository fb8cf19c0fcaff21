"""One sentence for each step of a retrieval, and what its reader should know."""

from leanrag_core.figures.numbers import share
from leanrag_core.retrieval.anchoring import Anchors
from leanrag_core.retrieval.subgraph import nodes_by_layer
from leanrag_core.retrieval.vector_search import EXACT
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Context, RetrievedChunk, Seed, TraceNode, TraceRelation, TraceStep

_HUB_SHARE = 0.2  # a seed in more than this share of all chunks says little about any of them
_KINDS = {
    "seed": ("seed entity", "seed entities"),
    "aggregated": ("aggregated entity", "aggregated entities"),
    "findings": ("set of findings", "sets of findings"),
    "inter-cluster": ("inter-cluster relation", "inter-cluster relations"),
    "base": ("base relation", "base relations"),
    "chunk": ("source chunk", "source chunks"),
}
_SECTIONS = {
    "entities": "the entities",
    "aggregated": "the aggregated entities",
    "relations": "the relations",
    "chunks": "the source chunks",
}
_HUB_CORPUS = 20  # chunks; below, every entity is in a large share


def count(n: int, one: str, many: str = "") -> str:
    """ "1 chunk", "1,234 chunks"."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def losses(context: Context) -> tuple[str, ...]:
    """What the context lacks for want of room, a sentence for each kind; none when everything is in it whole."""
    said = []
    for section in context.sections:
        for lost in section.lost:
            one, many = _KINDS[lost.kind]
            parts = []
            if lost.left_out:
                parts.append(f"{lost.left_out:,} of {count(lost.offered, one, many)} did not fit")
            if lost.trimmed:
                of = "" if lost.left_out else f" of {count(lost.offered, one, many)}"
                parts.append(f"{lost.trimmed:,}{of} {'was' if lost.trimmed == 1 else 'were'} trimmed to fit")
            said.append(f"{' and '.join(parts)} the {section.budget:,} tokens of {_SECTIONS[section.name]}.")
    return tuple(said)


def steps(
    index: Index,
    seeds: tuple[Seed, ...],
    top: TraceNode,
    nodes: tuple[TraceNode, ...],
    relations: tuple[TraceRelation, ...],
    chunks: tuple[RetrievedChunk, ...],
    n_candidates: int,
    context: Context,
) -> tuple[TraceStep, ...]:
    """Seeds, climb, lca, relations, chunks, context: caption and what each lights up."""
    seed_ids = tuple(seed.id for seed in seeds)
    best, last = seeds[0], seeds[-1]
    seeds_said = f"{count(len(seeds), 'seed entity', 'seed entities')}: {best.name} is closest, cosine {best.score:.2f}"
    seeds_said += f"; {last.name} is last, {last.score:.2f}." if len(seeds) > 1 else "."

    between = {number: row for number, row in nodes_by_layer(nodes).items() if number > 0 and number < top.layer}
    parts = [f"{count(len(row), 'node')} in layer {number}" for number, row in between.items()]
    climb_said = (
        f"On the way up lie {' and '.join(parts)}." if parts else "The seeds meet one step up; nothing lies between."
    )
    if len(nodes) == 1:
        climb_said = "One seed: the path is the seed alone."

    height = len(index.layers) - 1
    where = "the root of the hierarchy" if top.layer == height else f"layer {top.layer} of {height}"
    lca_said = f"All paths meet at {top.name}, {where}. Nothing above it is taken."

    inter = tuple(one for one in relations if one.kind == "inter-cluster")
    base = tuple(one for one in relations if one.kind == "base")
    relations_said = (
        f"{count(len(inter), 'inter-cluster relation')} join{'s' if len(inter) == 1 else ''} nodes of one layer, "
        f"{count(len(base), 'base relation')} join{'s' if len(base) == 1 else ''} seeds."
    )
    chunks_said = (
        f"{count(len(chunks), 'source chunk')} of {n_candidates:,} that mention a seed, "
        "ranked by how many seeds each one holds."
    )
    filled = sum(bool(section.items) for section in context.sections)
    context_said = f"{context.tokens:,} tokens in {count(filled, 'section')}. "
    context_said += " ".join(losses(context)) or "Everything fitted the budgets."
    path_ids = tuple(node.id for node in nodes if node.id != top.id or len(nodes) == 1)
    tree_ids = tuple(one.id for one in relations if one.kind == "tree")
    lit_relations = tuple(one.id for one in (*inter, *base))
    every = tuple(node.id for node in nodes)
    return (
        TraceStep("seeds", seeds_said, seed_ids),
        TraceStep("climb", climb_said, path_ids, tree_ids),
        TraceStep("lca", lca_said, (top.id,), tree_ids),
        TraceStep("relations", relations_said, every, lit_relations),
        TraceStep("chunks", chunks_said, tuple(id_ for chunk in chunks for id_ in chunk.seeds)),
        TraceStep("context", context_said, every),
    )


def notes(
    index: Index,
    anchors: Anchors,
    top: TraceNode,
    chunks: tuple[RetrievedChunk, ...],
    wanted: int,
    n_candidates: int,
) -> tuple[str, ...]:
    """What the reader should know: an unfilled top-C, hubs, an LCA at the root, an approximate or failed search."""
    said, seeds = [], anchors.seeds
    if len(chunks) < wanted:
        said.append(
            f"Top-C is not filled: {len(chunks)} of {wanted}. "
            f"The {count(len(seeds), 'seed')} {'occurs' if len(seeds) == 1 else 'occur'} in "
            f"{count(n_candidates, 'chunk')} only."
        )
    total = index.chunks.num_rows
    for seed in seeds:
        mentions = len(index.layers[seed.layer].chunks_of(seed.row))
        if total >= _HUB_CORPUS and seed.layer == 0 and mentions > _HUB_SHARE * total:
            said.append(
                f"{seed.name} is a hub: it occurs in {share(mentions / total)} of the chunks, so it hardly tells "
                "them apart."
            )
    if top.layer == len(index.layers) - 1 and len(seeds) > 1:
        said.append("The seeds spread over the whole tree: their lowest common ancestor is the root.")
    if anchors.search != EXACT:
        measured = "" if anchors.recall is None else f", which finds {share(anchors.recall, 1)} of the ten nearest"
        said.append(f"The seeds come from the approximate search index{measured}.")
    if anchors.instead:
        said.append(f"The seeds were searched exactly, without the search index: {anchors.instead}.")
    return tuple(said)
