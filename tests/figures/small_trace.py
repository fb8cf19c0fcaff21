"""Traces written by hand: nodes, relations and what came of them."""

from collections.abc import Sequence
from typing import Any

from leanrag_core.types.trace import Context, RetrievedChunk, Seed, Trace, TraceNode, TraceRelation, TraceStep

NO_CONTEXT = Context("", 0, ())


def node(id_: str, layer: int, parent: str | None = None, *, rank: int | None = None, role: str = "") -> TraceNode:
    """A seed when it has a rank, else a node on the path."""
    role = role or ("path" if rank is None else "seed")
    return TraceNode(id_, id_, layer, 0, role, "concept", f"About {id_}.", parent, rank)


def relation(source: str, target: str, layer: int, kind: str = "tree", strength: float = 1.0) -> TraceRelation:
    return TraceRelation(f"{source}>{target}", source, target, layer, kind, "concatenated", strength, "They meet.")


def trace_of(
    nodes: Sequence[TraceNode],
    relations: Sequence[TraceRelation] = (),
    *,
    lca: TraceNode | None = None,
    chunks: Sequence[RetrievedChunk] = (),
    steps: Sequence[TraceStep] = (),
    tokens: int = 0,
    strategy: str = "leanrag",
    **parameters: Any,
) -> Trace:
    seeds = [Seed(one.id, one.name, one.layer, one.row, 0.5, one.rank) for one in nodes if one.rank is not None]
    return Trace(
        question="what?",
        strategy=strategy,
        parameters=parameters,
        seeds=tuple(seeds),
        lca=lca,
        nodes=tuple(nodes),
        relations=tuple(relations),
        chunks=tuple(chunks),
        context=Context("", tokens, ()),
        steps=tuple(steps),
    )


def chunk(row: int, title: str, page: int | None = None) -> RetrievedChunk:
    return RetrievedChunk(f"chunk-{row}", row, f"{title}.txt", 0, title, 0, 1, page, 1, ("a",), 1, 0.5, "x", 1)
