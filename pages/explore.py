"""Explore: the hierarchy of an index as blocks, a map of its embeddings or a list, and the inspector beside it."""

import pandas as pd
import streamlit as st
from markupsafe import Markup

from leanrag_core.figures import blocks, icicle, numbers
from leanrag_core.figures.direction import isolated
from leanrag_core.figures.icicle import HierarchyView
from leanrag_core.queries import browse, entity_search
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from pages._shared.build import job_view
from pages._shared.common import forms, markup, passage_view, session, state, widgets
from pages._shared.common.frame import enter, gone_index, heading, kind_line, message, plain_errors
from pages._shared.common.html import draw, html, joined
from pages._shared.explore import blocks as drawing
from pages._shared.explore import inspector, map_view, neighbourhood_view

URL = ("index", "view", "layer", "points", "colour", "near", "node", "rel")
VIEWS = ("Icicle", "Treemap", "Map", "Neighbourhood", "Table")
LISTED = 200
PAUSE = "100ms"  # without a key, before what is written is looked for


def go(entity_id: str) -> None:
    """That entity is the chosen one; a search is over."""
    state.remember("node", entity_id)
    state.remember("rel", None)
    state.remember("find", None)


def chosen_place(index: Index) -> Place:
    """The chosen entity, the root when none is."""
    place = browse.locate(index, state.recall("node")) if state.recall("node") else None
    if place is None:
        if state.recall("node"):
            state.remember("node", None)
        return Place(len(index.layers) - 1, 0)
    return place


def focus_of(index: Index, place: Place) -> Place:
    """The block that the figure shows outermost: the chosen one, or the cluster that a base entity is in."""
    if place.layer > 0 or len(index.layers) == 1:
        return place
    return Place(1, int(index.layers[0].parent[place.row]))


def name_and_id(index: Index, place: Place) -> tuple[str, str]:
    cells = index.layers[place.layer].entities.slice(place.row, 1)
    return cells["name"][0].as_py(), cells["id"][0].as_py()


def breadcrumb(index: Index, place: Place) -> None:
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
                on_click=go,
                args=(id_,),
            )
        name, _ = name_and_id(index, place)
        draw(html('<span class="lr-small">{}<b>{}</b></span>', markup.layer_tag(place.layer), markup.name(name[:60])))


def column_heads(view: HierarchyView, widths: tuple[float, ...]) -> Markup:
    heads = []
    for (layer, shown, total), width in zip(view.columns, widths, strict=True):
        said = "open" if layer == view.columns[0][0] else f"{shown:,} of {total:,}" if shown < total else f"{total:,}"
        heads.append(html('<span style="flex:{:.3f} 1 0">{}{}</span>', width, markup.layer_tag(layer), said))
    return html('<div class="lr-cols">{}</div>', joined(heads))


def figure(index: Index, place: Place, shape: str) -> None:
    focus = focus_of(index, place)
    view = icicle.hierarchy_view(index, focus, index.leaf_counts)
    _, chosen_id = name_and_id(index, place)
    if shape == "Icicle":
        found = blocks.icicle_blocks(view)
        draw(column_heads(view, found.columns))
    else:
        found = blocks.treemap_blocks(view)

    def clicked(clicked_id: str) -> None:
        if clicked_id == chosen_id == view.focus:
            above = index.ancestors(focus.layer, focus.row)
            if above:
                go(name_and_id(index, Place(*above[0]))[1])
        else:
            go(clicked_id)

    said = f"{shape} of {len(found.blocks):,} blocks below the chosen one; arrows move, Enter opens"
    drawing.show(found, label=said, picked=chosen_id, key="blocks", on_pick=clicked)
    if view.hidden:
        said = f"{numbers.counted(view.hidden, 'node')} of layer {view.hidden_layer} appear when a block is opened."
    else:
        said = "Click a block to open it; click the outermost one to go back up."
    draw(html('<div class="lr-small lr-muted">{}</div>', said))


def search_results(index: Index, wanted: str) -> None:
    matches = entity_search.find_entities(index, wanted, limit=LISTED)
    if not matches.rows:
        near = entity_search.nearest_names(index, wanted)
        summary = f"No entity is called “{wanted}”."
        message(f"{summary} Nearest: {', '.join(near)}." if near else f"{summary} Try part of its name.")
        return
    note = f"{numbers.of_unit(matches.total, 'entities')}. Click a row to open it."
    if matches.total > len(matches.rows):
        note = f"The first {len(matches.rows):,} of {matches.total:,}; type more of the name to see others."
    entity_table(matches.rows, key="found", note=note)


def entity_table(rows: tuple[browse.EntityRow, ...] | list[browse.EntityRow], *, key: str, note: str) -> None:
    table = pd.DataFrame(
        {
            "Layer": [f"L{row.layer}" for row in rows],
            "Name": [row.name for row in rows],
            "Type": [row.type if row.layer == 0 else "aggregated" for row in rows],
            "Entities below": pd.array([row.below if row.layer else None for row in rows], dtype="Int64"),
            "Relations": [row.relations for row in rows],
            "Chunks": [row.chunks for row in rows],
        }
    )
    inspector.pick_row(table, [row.id for row in rows], key=key, on_pick=go, note=note, height=580)


def listing(index: Index, wanted_layer: int | None) -> None:
    matches = entity_search.find_entities(index, "", layer=wanted_layer, limit=LISTED)
    note = "Click a row to open it."
    if matches.total > len(matches.rows):
        note = f"The first {len(matches.rows):,} of {matches.total:,}, largest first. Find by name to see others."
    entity_table(matches.rows, key=f"table_{wanted_layer}", note=note)


def toolbar(index: Index) -> tuple[str, str]:
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        view = widgets.one_of(
            "view",
            VIEWS,
            lambda mount: st.segmented_control(
                "View",
                VIEWS,
                default=mount.value,
                key=mount.key,
                on_change=mount.changed,
                required=True,
                label_visibility="collapsed",
            ),
        )
        wanted = widgets.remembered(
            "find",
            "",
            lambda mount: st.text_input(
                "Find",
                value=mount.value,
                type="search",
                placeholder="Find an entity",
                key=mount.key,
                on_change=mount.changed,
                label_visibility="collapsed",
                live=PAUSE,
                width=280,
            ),
            key="find_entity",
        )
    return view, (wanted or "").strip()


def layer_choice(layers: list[str]) -> str:
    return widgets.one_of(
        "layer",
        layers,
        lambda mount: st.pills(
            "Layer",
            layers,
            default=mount.value,
            key=mount.key,
            on_change=mount.changed,
            required=True,
            label_visibility="collapsed",
        ),
        form=tuple(layers),
    )


def page() -> None:
    summary = enter("explore")
    if summary is None:
        heading("Explore")
        if not gone_index():
            job_view.no_index()
        state.publish(URL)
        return
    with plain_errors(), session.reading(summary) as index:
        aggregated = " + ".join(f"{layer.entities:,}" for layer in summary.layers[1:]) or "0"
        facts = f"{isolated(summary.title)}: {summary.layers[0].entities:,} entities in {len(summary.layers)} layers, "
        heading("Explore", f"{facts}{aggregated} aggregated")
        kind_line(summary)
        view, wanted = toolbar(index)
        place = chosen_place(index)
        left, right = st.columns([8, 5], gap="medium")
        with left:
            if wanted:
                search_results(index, wanted)
            elif view == "Table":
                layers = ["All layers", *(f"L{layer.number}" for layer in reversed(index.layers))]
                shown = layer_choice(layers)
                listing(index, None if shown == layers[0] else int(shown[1:]))
            elif view == "Map":
                map_view.show(index, summary, place, go=go)
            elif view == "Neighbourhood":
                breadcrumb(index, place)
                neighbourhood_view.show(index, place, go=go)
            else:
                breadcrumb(index, place)
                figure(index, place, view)
        with right, st.container(border=True, gap="xsmall", key="inspector", height=680):
            inspector.inspect(index, place, go=go)
        passage_view.drawer(index)
    state.publish(URL)


page()
