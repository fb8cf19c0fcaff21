"""The retrieval beside an answer: its steps, the layered subgraph, the context's tokens, the chunks."""

from functools import partial

import pandas as pd
import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.figures.direction import isolated
from leanrag_core.figures.layered import MEDIUM, NARROW, WIDE, LayeredGraph, layered_graph
from leanrag_core.figures.layered_lines import MOST_ARCS
from leanrag_core.messages.catalog import sentence
from leanrag_core.queries import browse
from leanrag_core.retrieval.captions import losses
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, Trace, TraceItem
from leanrag_core.types.visible import escape
from pages._shared.ask import layered_graph as drawing
from pages._shared.common import forms, markup, passage_view, state, widgets
from pages._shared.common.frame import message, page_path
from pages._shared.common.scope import Scope

STEPS = {
    "seeds": "Seeds",
    "climb": "Climb",
    "lca": "LCA",
    "relations": "Relations",
    "chunks": "Chunks",
    "context": "Context",
    "answer": "Answer",
}


def seed_names(trace: Trace) -> list[str]:
    """Names of the seeds, best first."""
    return [seed.name for seed in trace.with_role("seed")]


def pick_node(scope: Scope, node_id: str) -> None:
    """Chooses the node; choosing it twice chooses none."""
    name = scope.name("node")
    state.remember(name, None if state.recall(name) == node_id else node_id)


def open_explore(scope: Scope, node_id: str, *, relation_id: str | None = None) -> None:
    """Leads to Explore, where the node of this scope's index is chosen, and one of its relations if that is given."""
    state.remember("index", state.recall(scope.name("index")) or state.recall("index"))
    state.remember("node", node_id)
    state.remember("rel", relation_id)
    if relation_id is not None:
        st.session_state["lr_rel_of"] = node_id
    st.switch_page(page_path("explore"))


def show(scope: Scope, index: Index, trace: Trace) -> None:
    """Steps, caption, subgraph or table, legend, and the chosen node."""
    names = [step.name for step in trace.steps] + ["answer"]
    with st.container(key=scope.name("steps")):
        step = widgets.remembered(
            scope.name("step"),
            names[-1],
            lambda mount: st.segmented_control(
                "Retrieval step",
                names,
                default=mount.value,
                key=mount.key,
                on_change=mount.changed,
                required=True,
                format_func=lambda name: f"{names.index(name) + 1} {STEPS.get(name, name.capitalize())}",
                label_visibility="collapsed",
                width="stretch",
                wrap=True,
            ),
            allowed=lambda value: value in names,
            form=tuple(names),
        )
    place = names.index(step)
    with st.container(horizontal=True, wrap=False, gap="xsmall", vertical_alignment="center"):
        for label, icon, move in (("Previous step", "chevron_left", -1), ("Next step", "chevron_right", 1)):
            to = place + move
            st.button(
                "",
                icon=f":material/{icon}:",
                help=label,
                key=scope.name(f"step_{icon}"),
                type="tertiary",
                disabled=not 0 <= to < len(names),
                on_click=state.remember,
                args=(scope.name("step"), names[to] if 0 <= to < len(names) - 1 else None),
            )
        st.html(f'<div class="lr-cap" aria-live="polite">{escape(told(trace, caption(trace, step)))}</div>')
    if not trace.nodes:
        without_graph(trace)
        return
    as_table = state.recall(scope.name("show")) == "table"
    if as_table:
        node_table(trace)
    else:
        said = f"Layered subgraph: {len(trace.nodes)} nodes, step {place + 1} of {len(names)}; arrows move, Enter opens"
        figure(scope, index, trace, place, said)
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Show as graph" if as_table else "Show as table",
            key=scope.name("graph_or_table"),
            type="tertiary",
            icon=":material/account_tree:" if as_table else ":material/table_rows:",
            on_click=state.remember,
            args=(scope.name("show"), None if as_table else "table"),
        )


def figure(scope: Scope, index: Index, trace: Trace, place: int, label: str) -> None:
    """The subgraph, over it the card of the chosen node, and below it the legend and what is not drawn."""
    layouts = [layered_graph(trace, place, plot_px=width) for width in (NARROW, MEDIUM, WIDE)]
    chosen = next((node for node in trace.nodes if node.id == state.recall(scope.name("node"))), None)
    with st.container(key=scope.key("figure"), gap=None):
        drawing.show(
            layouts,
            label=label,
            picked=state.recall(scope.name("node")),
            key=scope.name("subgraph"),
            on_pick=partial(pick_node, scope),
        )
        if chosen is not None:
            x = next((dot.x for dot in layouts[-1].nodes if dot.id == chosen.id), 1.0)
            node_card(scope, index, trace, chosen, side="left" if x > 0.5 else "right")
    st.html(f'{markup.legend()}<div class="lr-small lr-muted">{escape(not_drawn(layouts[-1]))}</div>')


def not_drawn(graph: LayeredGraph) -> str:
    """What the figure leaves to the table, in a sentence; nothing when it leaves out nothing."""
    if not graph.hidden:
        return ""
    said = f"{numbers.counted(graph.hidden, 'relation')} not drawn: "
    if graph.trays:
        return said + f"those between seeds, and those beyond the {MOST_ARCS} strongest of a layer. The table has them."
    return said + f"those beyond the {MOST_ARCS} strongest of a layer. The table has them."


def caption(trace: Trace, step: str) -> str:
    """What happened in the step, in a sentence."""
    said = next((each.caption for each in trace.steps if each.name == step), None)
    if said is not None:
        return sentence(said)
    held = numbers.counted(sum(len(section.items) for section in trace.context.sections), "item")
    total = trace.timings_ms.get("total", 0.0) / 1000
    return f"Retrieval took {numbers.duration(total)} and put {held} before the answer."


def told(trace: Trace, text: str) -> str:
    """A sentence about a retrieval with the names in it isolated."""
    for name in sorted({node.name for node in trace.nodes}, key=len, reverse=True):
        if isolated(name) != name:
            text = text.replace(name, isolated(name))
    return text


def without_graph(trace: Trace) -> None:
    """What a strategy that does not use the hierarchy found."""
    st.html(
        '<div class="lr-msg">This strategy does not use the hierarchy: no seeds, no paths, no relations. '
        "It took chunks by their similarity to the question.</div>"
    )
    table = pd.DataFrame(
        {
            "Rank": range(1, len(trace.passages) + 1),
            "Document": [passage.name for passage in trace.passages],
            "Score": [round(passage.score or 0.0, 2) for passage in trace.passages],
            "Tokens": [passage.source.tokens for passage in trace.passages if passage.source],
        }
    )
    st.dataframe(forms.visible_cells(table), hide_index=True, height=forms.table_height(len(table), 360))


def node_table(trace: Trace) -> None:
    """Nodes and relations of the subgraph as tables, for whoever does not want the picture."""
    name_of = {node.id: node.name for node in trace.nodes}
    nodes = pd.DataFrame(
        {
            "Rank": [node.rank for node in trace.nodes],
            "Name": [node.name for node in trace.nodes],
            "Role": [{"lca": "LCA"}.get(node.role, node.role) for node in trace.nodes],
            "Layer": [f"L{node.layer}" for node in trace.nodes],
            "Cosine": [None if node.score is None else round(node.score, 2) for node in trace.nodes],
            "Parent": [name_of.get(node.parent or "", "–") for node in trace.nodes],
        }
    )
    st.dataframe(
        forms.visible_cells(nodes), hide_index=True, placeholder="–", height=forms.table_height(len(nodes), 330)
    )
    others = [relation for relation in trace.relations if relation.role != "tree"]
    if others:
        head = ("From", "To", "Kind", "Layer", "λ or weight", "Says")
        rows = [
            (
                name_of[relation.source],
                name_of[relation.target],
                relation.role,
                f"L{relation.layer}",
                numbers.decimal(relation.strength, 0 if relation.layer else 1),
                relation.description,
            )
            for relation in others
        ]
        st.html(markup.reading_table(head, rows, caption="Relations of the subgraph"))


def node_card(scope: Scope, index: Index, trace: Trace, node: TraceItem, *, side: str) -> None:
    """The chosen node of the subgraph, in short, with the way to Explore; over that side of the figure."""
    place = browse.locate(index, node.id)
    why = sentence(node.reason) if node.reason else node.role
    below = sorted(
        (each for each in trace.nodes if each.parent == node.id and each.rank), key=lambda each: each.rank or 0
    )
    seeds = "".join(f"<div><b>{seed.rank}</b> {markup.name(seed.name)}</div>" for seed in below)
    with st.container(border=True, gap="xsmall", key=scope.name(f"node_card_{side}")):
        st.html(
            f'<div class="lr-insp-top">{markup.layer_tag(node.layer or 0)}{escape(why)}</div>'
            f'<div class="lr-name" dir="auto">{escape(node.name)}</div>'
        )
        with st.container(horizontal=True, gap="small"):  # above the text, which may have to be scrolled
            if place and st.button("Open in Explore", icon=":material/account_tree:", key=scope.name("node_explore")):
                open_explore(scope, node.id)
            st.button(
                "Close",
                type="tertiary",
                key=scope.name("node_close"),
                on_click=state.remember,
                args=(scope.name("node"), None),
            )
        st.html(
            (f'{markup.label("Seeds below it", f"{len(below)}")}<div class="lr-seeds">{seeds}</div>' if below else "")
            + f'<div class="lr-read" dir="auto" style="font-size:.95rem">{escape(node.text[:600])}</div>'
        )


def context_panel(scope: Scope, trace: Trace) -> None:
    """How the context's tokens are spent, section by section."""
    said = {}
    for section in trace.context.sections:
        n = len(section.items)
        out = f", {section.left_out:,} left out" if section.left_out else ""
        out += f", {section.trimmed:,} trimmed" if section.trimmed else ""
        said[section.name] = f"{n:,} of {n + section.left_out:,}{out}"
    chunks = trace.context.section("chunks")
    candidates = len(trace.ranked_chunks)
    if candidates:
        said["chunks"] = f"{len(chunks.items):,} of {candidates:,} candidates"
        said["chunks"] += f", {chunks.left_out:,} did not fit" if chunks.left_out else ""
        said["chunks"] += f", {chunks.trimmed:,} trimmed" if chunks.trimmed else ""
    st.html(f'<div style="margin-top:.6rem">{markup.token_bar(trace.context, said)}</div>')
    lacking = losses(trace.context)
    if lacking:
        message(
            f"{' '.join(map(sentence, lacking))} Raise the budgets under More settings.",
            title="The context is not complete.",
        )
    with st.expander("The context as the answer sees it", key=scope.name("context_fold")):
        markup.code(trace.context.text, height=320, key=scope.name("code_context"))


def chunk_cards(scope: Scope, trace: Trace) -> None:
    """The source chunks as cards."""
    mark_of = {item.ref: item.mark for item in trace.context.section("chunks").items}
    if not trace.passages:
        if trace.parameters.get("source_chunks") is False:
            st.html('<div class="lr-small lr-muted">Source chunks are switched off.</div>')
        return
    how = (
        "ranked by how many seeds occur in each" if trace.with_role("seed") else "ranked by similarity to the question"
    )
    note = f"{len(trace.passages):,} of {len(trace.ranked_chunks):,}, {how}"
    st.html(markup.label("Source chunks", note))
    names = seed_names(trace)
    with st.grid(3, min_column_width=280, gap="small"):
        for passage in trace.passages:
            passage_view.card(
                passage,
                mark=mark_of.get(passage.id, ""),
                names=names,
                n_seeds=len(names),
                on_open=lambda passage=passage: passage_view.ask_for(  # type: ignore[misc]
                    passage.row or 0, names=names, mark=mark_of.get(passage.id, ""), scope=scope
                ),
                key=scope.name(f"chunk_{passage.id}"),
            )


def cited_sentences(answer: Answer, mark: str) -> list[str]:
    """The sentences of an extractive answer that carry the mark."""
    return [part.text for part in answer.parts if mark in part.marks] if answer.extractive else []
