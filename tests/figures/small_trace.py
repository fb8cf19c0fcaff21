"""Traces written by hand, in LeanRAG's roles: nodes, relations and what came of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from leanrag_core.messages.message import message
from leanrag_core.retrieval.leanrag_paths import STYLES
from leanrag_core.types.trace import (
    Context,
    Source,
    Trace,
    TraceIndex,
    TraceItem,
    TraceRelation,
    TraceStep,
)

NO_CONTEXT = Context("", 0, ())
_REASONS = {"path": message("leanrag.reason.path"), "lca": message("leanrag.reason.lca")}


def node(id_: str, layer: int, parent: str | None = None, *, rank: int | None = None, role: str = "") -> TraceItem:
    """Return a seed when it has a rank, else a node on the path."""
    role = role or ("path" if rank is None else "seed")
    return TraceItem(
        id=id_,
        kind="aggregated-entity" if layer else "entity",
        name=id_,
        roles=(role,),
        layer=layer,
        row=0,
        score=None if rank is None else 0.5,
        rank=rank,
        reason=_REASONS.get(role) or message("leanrag.reason.seed", rank=rank, score=0.5),
        parent=parent,
        type="concept",
        text=f"About {id_}.",
    )


def step(name: str, items: tuple[str, ...] = (), relations: tuple[str, ...] = ()) -> TraceStep:
    return TraceStep(name, message("leanrag.step.seeds"), message("plain", text=f"{name}."), items, relations)


def relation(source: str, target: str, layer: int, role: str = "tree", strength: float = 1.0) -> TraceRelation:
    return TraceRelation(f"{source}>{target}", source, target, role, layer, "concatenated", strength, "They meet.")


def trace_of(
    nodes: Sequence[TraceItem],
    relations: Sequence[TraceRelation] = (),
    *,
    lca: TraceItem | None = None,
    chunks: Sequence[TraceItem] = (),
    steps: Sequence[TraceStep] = (),
    tokens: int = 0,
    strategy: str = "leanrag",
    sizes: Sequence[int] = (6, 2, 1),
    **parameters: Any,
) -> Trace:
    """Return a trace of those nodes; the one that is the lowest common ancestor has that role too."""
    items = [
        replace(each, roles=tuple(dict.fromkeys((*each.roles, "lca")))) if lca and each.id == lca.id else each
        for each in nodes
    ]
    return Trace(
        question="what?",
        strategy=strategy,
        title=message("plain", text=strategy),
        parameters=parameters,
        items=(*items, *chunks),
        relations=tuple(relations),
        context=Context("", tokens, ()),
        steps=tuple(steps),
        styles=STYLES,
        index=TraceIndex("i1", "bees", tuple(sizes)),
    )


def chunk(row: int, title: str, page: int | None = None) -> TraceItem:
    source = Source(f"{title}.txt", 0, title, 0, 1, page, 1, ("a",))
    return TraceItem(
        f"chunk-{row}", "passage", title, ("passage",), row=row, score=0.5, rank=1, text="x", source=source
    )
