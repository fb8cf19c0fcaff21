"""The retrieval beside an answer: its steps, the layered subgraph or its tables, and the chosen node."""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from leanrag_core.figures import numbers
from leanrag_core.figures.direction import isolated
from leanrag_core.figures.layered import MEDIUM, NARROW, WIDE, LayeredGraph, layered_graph
from leanrag_core.figures.layered_lines import MOST_ARCS
from leanrag_core.messages.message import message as message_of
from leanrag_core.queries import browse
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace, TraceItem
from pages._shared.ask import layered_graph as drawing
from pages._shared.ask import reference_view, roles
from pages._shared.common import forms, markup, state, widgets
from pages._shared.common.html import NOTHING, draw, html, joined
from pages._shared.common.messages import language, message, say, words
from pages._shared.common.scope import Scope

_WIDER_ABOVE = 10  # ranked nodes, such as seeds; the figure then takes more of the page


def columns(trace: Trace) -> list[DeltaGenerator]:
    """Room for the answer and, beside it, for the figure."""
    n_ranked = sum(node.rank is not None for node in trace.nodes)
    # Many of them are drawn in trays, which need room for their names.
    return st.columns([5, 7] if n_ranked <= _WIDER_ABOVE else [4, 9], gap="large")


def pick_node(scope: Scope, node_id: str) -> None:
    """Chooses the node; choosing it twice chooses none."""
    name = scope.name("node")
    state.remember(name, None if state.recall(name) == node_id else node_id)


def show(scope: Scope, index: Index | None, trace: Trace) -> None:
    """Steps, caption, subgraph or table, legend, and the chosen node. index: None where there is only the trace."""
    titles = {"answer": say("ask.answer")} | {step.name: words(step.title) for step in trace.steps}
    titles["answer"] = titles.pop("answer")  # comes last
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
                format_func=lambda name: f"{names.index(name) + 1} {forms.plain(titles[name])}",
                label_visibility="collapsed",
                width="stretch",
                wrap=True,
            ),
            allowed=lambda value: value in names,
            form=widgets.labels(titles),
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
        text = with_isolated_names(trace, caption(trace, step))
        draw(html('<div class="lr-cap" aria-live="polite">{}</div>', text))
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


def figure(scope: Scope, index: Index | None, trace: Trace, place: int, label: str) -> None:
    """The subgraph, over it the card of the chosen node, and below it the legend and what is not drawn."""
    layouts = [layered_graph(trace, place, plot_px=width, language=language()) for width in (NARROW, MEDIUM, WIDE)]
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
    draw(roles.legend(trace, layouts[-1]), markup.muted(not_drawn(layouts[-1])))


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
    if not trace.passages:
        message(say("ask.nothing_retrieved"))
        return
    message(say("ask.without_graph"))
    table = pd.DataFrame(
        {
            say("table.rank"): range(1, len(trace.passages) + 1),
            say("table.document"): [passage.name for passage in trace.passages],
            say("table.score"): [round(passage.score or 0.0, 2) for passage in trace.passages],
            say("table.tokens"): [passage.source.tokens for passage in trace.passages if passage.source],
        }
    )
    st.dataframe(
        forms.visible_cells(table), hide_index=True, column_config=_scores(), height=forms.table_height(len(table), 360)
    )


def _scores() -> dict[str, Any]:
    """Both digits of a score: 0.60, under 0.67, not 0.6."""
    return {say("table.score"): st.column_config.NumberColumn(format="%.2f")}


def node_table(trace: Trace) -> None:
    """Nodes and relations of the subgraph as tables, for readers who prefer them to the figure."""
    names = roles.names_of(trace)
    nodes = pd.DataFrame(
        {
            say("table.rank"): [node.rank for node in trace.nodes],
            say("table.name"): [node.name for node in trace.nodes],
            say("table.role"): [roles.role_title(trace, node.role) for node in trace.nodes],
            say("table.layer"): [roles.layer_name(node.layer) for node in trace.nodes],
            say("table.score"): [None if node.score is None else round(node.score, 2) for node in trace.nodes],
            say("table.parent"): [names.get(node.parent or "", "–") for node in trace.nodes],
        }
    )
    st.dataframe(
        forms.visible_cells(nodes),
        hide_index=True,
        placeholder="–",
        column_config=_scores(),
        height=forms.table_height(len(nodes), 330),
    )
    others = roles.related(trace)
    if others:
        head = [say(f"table.{name}") for name in ("from", "to", "kind", "layer", "strength", "text")]
        rows = [
            (
                *roles.ends(trace, relation),
                roles.role_title(trace, relation.role),
                roles.layer_name(relation.layer),
                numbers.decimal(relation.strength, 0 if relation.layer else 1),
                relation.description,
            )
            for relation in others
        ]
        draw(markup.reading_table(head, rows, caption=say("ask.relations_of_subgraph")))


def node_card(scope: Scope, index: Index | None, trace: Trace, node: TraceItem, *, side: str) -> None:
    """The chosen node of the subgraph, in short, with the way to Explore; over that side of the figure."""
    below = [item for item in trace.nodes if item.parent == node.id and item.rank is not None]
    below.sort(key=lambda item: item.rank or 0)
    with st.container(border=True, gap="xsmall", key=scope.name(f"node_card_{side}")):
        draw(
            html('<div class="lr-insp-top">{}{}</div>', roles.tag(node), roles.reason(trace, node)),
            html('<div class="lr-name" dir="auto">{}</div>', node.name),
        )
        with st.container(horizontal=True, gap="small"):  # above the text, which may have to be scrolled
            if index is not None and browse.locate(index, node.id):
                explore = say("ask.open_in_explore")
                if st.button(explore, icon=":material/account_tree:", key=scope.name("node_explore")):
                    reference_view.open_explore(scope, node.id)
            st.button(
                say("ask.close"),
                type="tertiary",
                key=scope.name("node_close"),
                on_click=state.remember,
                args=(scope.name("node"), None),
            )
        listed = NOTHING
        if below:
            lines = joined(html("<div><b>{}</b> {}</div>", item.rank, markup.name(item.name)) for item in below)
            title = say(roles.first_known(f"ask.below.{roles.code_part(below[0].role)}", "ask.below"))
            listed = markup.label(title, f"{len(below)}") + html('<div class="lr-seeds">{}</div>', lines)
        draw(listed, html('<div class="lr-read" dir="auto" style="font-size:.95rem">{}</div>', node.text[:600]))
