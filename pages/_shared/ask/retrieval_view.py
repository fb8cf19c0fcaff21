"""The retrieval beside an answer: its steps, the layered subgraph, the context's tokens, the chunks."""

from functools import partial

import pandas as pd
import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.figures.direction import isolated
from leanrag_core.figures.layered import MEDIUM, NARROW, WIDE, LayeredGraph, layered_graph
from leanrag_core.figures.layered_lines import MOST_ARCS
from leanrag_core.messages.message import Message
from leanrag_core.messages.message import message as message_of
from leanrag_core.queries import browse
from leanrag_core.retrieval.captions import losses
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, ContextSection, Trace, TraceItem
from leanrag_core.types.visible import escape
from pages._shared.ask import layered_graph as drawing
from pages._shared.common import forms, markup, passage_view, state, widgets
from pages._shared.common.frame import page_path
from pages._shared.common.html import draw, html
from pages._shared.common.messages import known, message, say, words
from pages._shared.common.scope import Scope


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
    titles = {step.name: words(step.title) for step in trace.steps} | {"answer": say("ask.answer")}
    names = list(titles)
    with st.container(key=scope.name("steps")):
        step = widgets.remembered(
            scope.name("step"),
            names[-1],
            lambda mount: st.segmented_control(
                say("ask.retrieval_step"),
                names,
                default=mount.value,
                key=mount.key,
                on_change=mount.changed,
                required=True,
                format_func=lambda name: f"{names.index(name) + 1} {titles[name]}",
                label_visibility="collapsed",
                width="stretch",
                wrap=True,
            ),
            allowed=lambda value: value in names,
            form=tuple(names),
        )
    place = names.index(step)
    with st.container(horizontal=True, wrap=False, gap="xsmall", vertical_alignment="center"):
        for label, icon, move in (
            (say("ask.previous_step"), "chevron_left", -1),
            (say("ask.next_step"), "chevron_right", 1),
        ):
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
        st.html(
            f'<div class="lr-cap" aria-live="polite">{escape(with_isolated_names(trace, caption(trace, step)))}</div>'
        )
    if not trace.nodes:
        without_graph(trace)
        return
    as_table = state.recall(scope.name("show")) == "table"
    if as_table:
        node_table(trace)
    else:
        label = say("ask.subgraph_label", n=len(trace.nodes), step=place + 1, steps=len(names))
        figure(scope, index, trace, place, label)
    with st.container(horizontal=True, gap="small"):
        st.button(
            say("ask.show_as_graph") if as_table else say("ask.show_as_table"),
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
    st.html(
        f'{markup.legend(legend_entries(trace))}<div class="lr-small lr-muted">{escape(not_drawn(layouts[-1]))}</div>'
    )


def not_drawn(graph: LayeredGraph) -> str:
    """What the figure leaves to the table, in a sentence; nothing when it leaves out nothing."""
    if not graph.hidden:
        return ""
    code = "ask.not_drawn_trays" if graph.trays else "ask.not_drawn"
    return say(code, relations=message_of("count.relations", n=graph.hidden), limit=MOST_ARCS)


def caption(trace: Trace, step: str) -> str:
    """What happened in the step, in a sentence."""
    of_step = next((each.caption for each in trace.steps if each.name == step), None)
    if of_step is not None:
        return words(of_step)
    n_items = sum(len(section.items) for section in trace.context.sections)
    time = numbers.duration(trace.timings_ms.get("total", 0.0) / 1000)
    return say("ask.caption_of_answer", time=time, items=message_of("count.items", n=n_items))


def with_isolated_names(trace: Trace, text: str) -> str:
    """A sentence about a retrieval with the names in it isolated."""
    for name in sorted({node.name for node in trace.nodes}, key=len, reverse=True):
        if isolated(name) != name:
            text = text.replace(name, isolated(name))
    return text


def without_graph(trace: Trace) -> None:
    """The passages of a strategy that does not use the hierarchy."""
    message(say("ask.without_graph"))
    table = pd.DataFrame(
        {
            say("table.rank"): range(1, len(trace.passages) + 1),
            say("table.document"): [passage.name for passage in trace.passages],
            say("table.score"): [round(passage.score or 0.0, 2) for passage in trace.passages],
            say("table.tokens"): [passage.source.tokens for passage in trace.passages if passage.source],
        }
    )
    st.dataframe(forms.visible_cells(table), hide_index=True, height=forms.table_height(len(table), 360))


def node_table(trace: Trace) -> None:
    """Nodes and relations of the subgraph as tables, for readers who prefer them to the figure."""
    name_of = {node.id: node.name for node in trace.nodes}
    nodes = pd.DataFrame(
        {
            say("table.rank"): [node.rank for node in trace.nodes],
            say("table.name"): [node.name for node in trace.nodes],
            say("table.role"): [role_title(trace, node.role) for node in trace.nodes],
            say("table.layer"): [f"L{node.layer}" for node in trace.nodes],
            say("table.cosine"): [None if node.score is None else round(node.score, 2) for node in trace.nodes],
            say("table.parent"): [name_of.get(node.parent or "", "–") for node in trace.nodes],
        }
    )
    st.dataframe(
        forms.visible_cells(nodes), hide_index=True, placeholder="–", height=forms.table_height(len(nodes), 330)
    )
    others = [relation for relation in trace.relations if relation.role != "tree"]
    if others:
        head = [say(f"table.{name}") for name in ("from", "to", "kind", "layer", "strength", "text")]
        rows = [
            (
                name_of[relation.source],
                name_of[relation.target],
                role_title(trace, relation.role),
                f"L{relation.layer}",
                numbers.decimal(relation.strength, 0 if relation.layer else 1),
                relation.description,
            )
            for relation in others
        ]
        st.html(markup.reading_table(head, rows, caption=say("ask.relations_of_subgraph")))


def node_card(scope: Scope, index: Index, trace: Trace, node: TraceItem, *, side: str) -> None:
    """The chosen node of the subgraph, in short, with the way to Explore; over that side of the figure."""
    place = browse.locate(index, node.id)
    why = words(node.reason) if node.reason else role_title(trace, node.role)
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
            if place and st.button(
                say("ask.open_in_explore"), icon=":material/account_tree:", key=scope.name("node_explore")
            ):
                open_explore(scope, node.id)
            st.button(
                say("ask.close"),
                type="tertiary",
                key=scope.name("node_close"),
                on_click=state.remember,
                args=(scope.name("node"), None),
            )
        st.html(
            (
                f'{markup.label(say("ask.seeds_below"), f"{len(below)}")}<div class="lr-seeds">{seeds}</div>'
                if below
                else ""
            )
            + f'<div class="lr-read" dir="auto" style="font-size:.95rem">{escape(node.text[:600])}</div>'
        )


def context_panel(scope: Scope, trace: Trace) -> None:
    """How the context's tokens are spent, section by section."""
    totals = {section.name: _total(section) for section in trace.context.sections}
    chunks, candidates = trace.context.section("chunks"), len(trace.ranked_chunks)
    if candidates:
        n = len(chunks.items)
        total = message_of("ask.taken_of_candidates", n=n, offered=candidates)
        totals["chunks"] = _joined(total, message_of("ask.did_not_fit", n=chunks.left_out), _trimmed(chunks))
    draw(html('<div style="margin-top:.6rem">{}</div>', markup.token_bar(trace.context, totals)))
    lacking = losses(trace.context)
    if lacking:
        message(
            f"{' '.join(map(words, lacking))} {say('ask.raise_budgets')}",
            title=say("ask.context_incomplete"),
        )
    with st.expander(say("ask.context_text"), key=scope.name("context_fold")):
        markup.code(trace.context.text, height=320, key=scope.name("code_context"))


def _total(section: ContextSection) -> str:
    """How many items of a section are in the context, such as "5 of 23, 18 left out"."""
    n = len(section.items)
    total = message_of("ask.taken_of", n=n, offered=n + section.left_out)
    return _joined(total, message_of("ask.left_out", n=section.left_out), _trimmed(section))


def _trimmed(section: ContextSection) -> Message:
    return message_of("ask.trimmed", n=section.trimmed)


def _joined(total: Message, *more: Message) -> str:
    """The total, and what of the rest counts something."""
    return say("ask.comma").join(words(part) for part in (total, *more) if part is total or part.values["n"])


def role_title(trace: Trace, role: str) -> str:
    """What the strategy calls that role of an item or a relation."""
    code, style = f"role.{role.replace('-', '_')}", trace.style(role) or trace.style(role, on="relation")
    if known(code):
        return say(code)
    return words(style.title) if style else role


def made_title(made: str) -> str:
    """How the description of a relation came about."""
    code = f"made.{made.replace('-', '_')}"
    return say(code) if known(code) else made


def legend_entries(trace: Trace) -> list[tuple[str, str]]:
    """A sign and its meaning for each style of the trace, in the strategy's order."""
    signs = {"inter-cluster": "inter"}
    entries = [
        (signs.get(style.role, style.role), words(style.title)) for style in trace.styles if style.shape != "chip"
    ]
    return [*entries, ("later", say("ask.not_yet_reached"))]


def chunk_cards(scope: Scope, trace: Trace) -> None:
    """The source chunks as cards."""
    mark_of = {item.ref: item.mark for item in trace.context.section("chunks").items}
    if not trace.passages:
        if trace.parameters.get("source_chunks") is False:
            draw(markup.muted(say("ask.chunks_off")))
        return
    code = "ask.chunks_by_seeds" if trace.with_role("seed") else "ask.chunks_by_similarity"
    note = say(code, shown=len(trace.passages), candidates=len(trace.ranked_chunks))
    draw(markup.label(say("section.chunks.title"), note))
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
