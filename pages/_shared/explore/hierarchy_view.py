"""The hierarchy of an index as blocks, or as a table."""

import streamlit as st
from markupsafe import Markup

from leanrag_core.figures import blocks, icicle
from leanrag_core.figures.direction import isolated
from leanrag_core.figures.icicle import HierarchyView
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from pages._shared.common import forms, markup, state
from pages._shared.common.html import draw, html, joined
from pages._shared.common.messages import say
from pages._shared.explore import blocks as drawing
from pages._shared.explore import table_view
from pages._shared.explore.choices import segments
from pages._shared.explore.exploring import Exploring, name_and_id

SHAPES = ("icicle", "treemap")


def show(exploring: Exploring) -> None:
    """The picture, or the table that is in its place."""
    shape = segments("shape", {name: say(f"explore.shape.{name}") for name in SHAPES}, say("explore.shape"))
    if exploring.search or state.recall("table"):
        table_view.show(exploring)
        return
    breadcrumb(exploring)
    figure(exploring, shape)
    st.button(say("figure.as_table"), type="tertiary", key="as_table", on_click=state.remember, args=("table", "1"))


def focus_of(index: Index, place: Place) -> Place:
    """The block that the figure shows outermost: the chosen one, or the cluster that a base entity is in."""
    if place.layer > 0 or len(index.layers) == 1:
        return place
    return Place(1, int(index.layers[0].parent[place.row]))


def breadcrumb(exploring: Exploring) -> None:
    """The way from the root to the chosen entity."""
    index, place = exploring.index, exploring.place
    trail = [Place(*above) for above in reversed(index.ancestors(place.layer, place.row))]
    longest = 32 if len(trail) < 3 else 20
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key="crumbs"):
        for step in trail:
            name, id_ = name_and_id(index, step)
            short = name if len(name) <= longest else f"{name[: longest - 1].rstrip()}…"
            st.button(
                f"L{step.layer} {forms.plain(isolated(short))}  ›",
                key=f"crumb_{id_}",
                type="tertiary",
                on_click=exploring.go,
                args=(id_,),
            )
        name, _ = name_and_id(index, place)
        draw(html('<span class="lr-small">{}<b>{}</b></span>', markup.layer_tag(place.layer), markup.name(name[:60])))


def column_heads(view: HierarchyView, widths: tuple[float, ...]) -> Markup:
    """Above each column: its layer, and how many of it are drawn."""
    heads = []
    for (layer, shown, total), width in zip(view.columns, widths, strict=True):
        if layer == view.columns[0][0]:
            said = say("explore.open")
        else:
            said = say("explore.shown_of", shown=shown, total=total) if shown < total else f"{total:,}"
        heads.append(html('<span style="flex:{:.3f} 1 0">{}{}</span>', width, markup.layer_tag(layer), said))
    return html('<div class="lr-cols">{}</div>', joined(heads))


def figure(exploring: Exploring, shape: str) -> None:
    """The blocks below the focus; a click chooses."""
    index, place, go = exploring.index, exploring.place, exploring.go
    focus = focus_of(index, place)
    view = icicle.hierarchy_view(index, focus, index.leaf_counts)
    _, chosen_id = name_and_id(index, place)
    if shape == "icicle":
        drawn = blocks.icicle_blocks(view)
        draw(column_heads(view, drawn.columns))
    else:
        drawn = blocks.treemap_blocks(view)

    def clicked(clicked_id: str) -> None:
        if clicked_id == chosen_id == view.focus:
            above = index.ancestors(focus.layer, focus.row)
            if above:
                go(name_and_id(index, Place(*above[0]))[1])
        else:
            go(clicked_id)

    label = say("explore.blocks_below", shape=say(f"explore.shape.{shape}"), n=len(drawn.blocks))
    drawing.show(drawn, label=label, picked=chosen_id, key="blocks", on_pick=clicked)
    if view.hidden:
        markup.note(say("explore.hidden_nodes", n=view.hidden, layer=view.hidden_layer))
    else:
        markup.note(say("explore.click_a_block"))
