"""The inspector: what one entity is, where it stands, and what it rests on; everything in it leads on."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.figures.direction import isolated
from leanrag_core.queries import browse
from leanrag_core.types.graph import Entity, Place, Relation
from leanrag_core.types.index import Index
from pages._shared.ask import asking
from pages._shared.common import markup, passage_view, state
from pages._shared.common.forms import plain, table_height, visible_cells
from pages._shared.common.frame import page_path
from pages._shared.common.html import draw, html, joined
from pages._shared.common.scope import PAGE
from pages._shared.explore import edit_view

_CHUNKS_AT_ONCE = 6
_STRONGEST = 4
_RELATIONS = 50  # rows of a table of relations; a hub has tens of thousands
_CHILDREN = 300
_COUNTS = ("Entities", "Entities below", "Relations", "Chunks")


def inspect(index: Index, place: Place, *, go: Callable[[str], None]) -> None:
    """The entity with its parents, findings, children, relations and chunks. go: called with an entity id to show."""
    entity = index.layers[place.layer].entity(place.row)
    _head(index, entity, go)
    n_below = len(index.children_of(place.layer, place.row))
    n_related = len(index.layers[place.layer].relations_of(place.row))
    contents: dict[str, Callable[[], None]] = {
        "Summary": lambda: _summary(entity, browse.neighbours(index, place, _STRONGEST), n_related)
    }
    if place.layer:
        contents[f"Children {n_below:,}"] = lambda: _children(
            browse.children(index, place, _CHILDREN), n_below, entity.id, go
        )
    contents[f"Relations {n_related:,}"] = lambda: _relations(
        index, entity, browse.neighbours(index, place, _RELATIONS), n_related, go
    )
    names = [entity.name] if place.layer == 0 else []
    contents[f"Chunks {len(entity.chunks):,}"] = lambda: _chunks(index, entity.chunks, names, entity.id)
    tabs = st.tabs(list(contents), key=f"tabs_{entity.id}", on_change="rerun")
    for tab, draw_content in zip(tabs, contents.values(), strict=True):
        if tab.open:
            with tab:
                draw_content()


def _head(index: Index, entity: Entity, go: Callable[[str], None]) -> None:
    what = "Aggregated entity" if entity.layer else "Entity"
    kind = f", {entity.type}" if entity.type and entity.type not in ("aggregated", "unknown") else ""
    promoted = ", promoted from a cluster of one" if entity.promoted else ""
    draw(
        html(
            '<div class="lr-insp-top">{}{}{}{}</div><div class="lr-name" role="heading" aria-level="2">{}</div>{}',
            markup.layer_tag(entity.layer),
            what,
            kind,
            promoted,
            entity.name,
            markup.chain(index, entity),
        )
    )
    with st.container(horizontal=True, gap="small"):
        if st.button("Ask about this", icon=":material/forum:", key=f"ask_{entity.id}"):
            question = f"What do the documents say about {entity.name}?"
            state.remember("q", question)
            asking.want(PAGE, question)
            st.switch_page(page_path("ask"))
        edit_view.popover(index, entity)
        above = index.ancestors(entity.layer, entity.row)
        if above:
            layer, row = above[0]
            parent = index.layers[layer].entities.slice(row, 1)
            parent_name = parent["name"][0].as_py()
            st.button(
                f"Up to L{layer}",
                icon=":material/arrow_upward:",
                type="tertiary",
                key=f"up_{entity.id}",
                help=plain(parent_name),
                on_click=go,
                args=(parent["id"][0].as_py(),),
            )


def _summary(entity: Entity, related: Sequence[browse.Neighbour], n_related: int) -> None:
    draw(html('<div class="lr-read">{}</div>', entity.description or "No description."))
    if entity.findings:
        summary_html = joined(
            html('<div class="lr-find"><b>{}</b> {}</div>', finding.summary, finding.explanation)
            for finding in entity.findings
        )
        draw(markup.label("Findings", f"{len(entity.findings)}") + summary_html)
    if related:
        rows = [(listed.name, _strength(listed.relation), listed.relation.kind) for listed in related]
        head = ("", "λ" if entity.layer else "Weight", "Made")
        draw(markup.label("Strongest relations", f"of {n_related:,}") + markup.facts_table(head, rows))


def _strength(relation: Relation) -> str:
    return f"{relation.strength:,}" if relation.layer else f"{relation.weight:g}"


def _first_of(shown: int, total: int, order: str) -> str:
    """The beginning of a table's note, where not all rows are in it."""
    return f"The {shown:,} {order}, {total - shown:,} more are not listed. " if shown < total else ""


def _children(below: Sequence[browse.EntityRow], n_below: int, entity_id: str, go: Callable[[str], None]) -> None:
    import pandas as pd

    layered = bool(below) and below[0].layer > 0
    table = pd.DataFrame(
        {
            "Name": [child.name for child in below],
            "Entities" if layered else "Type": [child.below if layered else child.type for child in below],
            "Relations": [child.relations for child in below],
        }
    )
    note = _first_of(len(below), n_below, "largest" if layered else "best linked") + "Click a row to go there."
    pick_row(table, [child.id for child in below], key=f"children_{entity_id}", on_pick=go, note=note)


def _relations(
    index: Index, entity: Entity, related: Sequence[browse.Neighbour], n_related: int, go: Callable[[str], None]
) -> None:
    import pandas as pd

    if not related:
        markup.note("No relation in this layer.")
        return
    open_relation = _relation_of(index, state.recall("rel"))
    if open_relation is not None and (
        _has_end(open_relation, entity) or st.session_state.get("lr_rel_of") == entity.id
    ):
        _relation(index, open_relation, go, entity.id)
        draw(html('<hr class="lr-rule">'))
    table = pd.DataFrame(
        {
            "With": [neighbour.name for neighbour in related],
            "λ" if entity.layer else "Weight": [
                neighbour.relation.strength if entity.layer else neighbour.relation.weight for neighbour in related
            ],
            "Made": [neighbour.relation.kind for neighbour in related],
        }
    )

    def open_one(relation_id: str) -> None:
        state.remember("rel", relation_id)
        st.session_state["lr_rel_of"] = entity.id

    note = _first_of(len(related), n_related, "strongest")
    note += "Click a row to unfold the relation." if entity.layer else "Click a row to read the relation."
    pick_row(
        table,
        [neighbour.relation.id for neighbour in related],
        key=f"relations_{entity.id}",
        on_pick=open_one,
        note=note,
    )


def _has_end(relation: Relation, entity: Entity) -> bool:
    return relation.layer == entity.layer and entity.row in (relation.source, relation.target)


def _relation_of(index: Index, relation_id: str) -> Relation | None:
    if not relation_id:
        return None
    for layer in index.layers:
        row = layer.relation_row_of.get(relation_id)
        if row is not None:
            return layer.relation(row)
    return None


def _relation(index: Index, relation: Relation, go: Callable[[str], None], owner: str) -> None:
    import pandas as pd

    layer = index.layers[relation.layer]
    ends = [layer.entities.slice(row, 1) for row in (relation.source, relation.target)]
    names = [end["name"][0].as_py() for end in ends]
    if relation.layer:
        what = f"λ {relation.strength:,}, {relation.kind} from {numbers.counted(len(relation.members), 'relation')}"
    else:
        what = f"{relation.kind}, weight {relation.weight:g}"
    draw(
        html(
            '<div class="lr-relhead">{}<b>{}</b> and '
            "<b>{}</b><br><span>{}</span></div>"
            '<div class="lr-read" style="font-size:.95rem">{}</div>',
            markup.layer_tag(relation.layer),
            names[0],
            names[1],
            what,
            relation.description,
        )
    )
    with st.container(horizontal=True, gap="small"):
        for number, end in enumerate(ends):
            if end["id"][0].as_py() != owner:
                st.button(
                    plain(f"Go to {isolated(names[number][:40])}"),
                    key=f"end_{relation.id}_{number}",
                    type="tertiary",
                    icon=":material/arrow_forward:",
                    on_click=go,
                    args=(end["id"][0].as_py(),),
                )
        st.button(
            "Close",
            key=f"close_{relation.id}",
            type="tertiary",
            icon=":material/close:",
            on_click=state.remember,
            args=("rel", None),
        )
    members = browse.unfold(index, relation, _RELATIONS)
    if members:
        table = pd.DataFrame(
            {
                "From": [member.source for member in members],
                "To": [member.target for member in members],
                "λ" if relation.layer > 1 else "Weight": [
                    member.relation.strength if relation.layer > 1 else member.relation.weight for member in members
                ],
                "Says": [member.relation.description for member in members],
            }
        )
        draw(markup.label("Stands for", f"{len(relation.members):,} in layer {relation.layer - 1}"))
        pick_row(
            table,
            [member.relation.id for member in members],
            key=f"members_{relation.id}",
            on_pick=lambda id_: state.remember("rel", id_),
            note=_first_of(len(members), len(relation.members), "strongest") + "Click a row to read or unfold it.",
        )
    chunks = browse.chunks_of_relation(index, relation)
    if chunks:
        with st.expander(f"Rests on {numbers.counted(len(chunks), 'chunk')}"):
            _chunks(index, chunks, names if relation.layer == 0 else [], relation.id)


def _chunks(index: Index, rows: Sequence[int], names: Sequence[str], owner: str) -> None:
    shown_key = f"shown_{owner}"
    shown = st.session_state.get(shown_key, _CHUNKS_AT_ONCE)
    if not rows:
        markup.note("No source chunk.")
    for row in rows[:shown]:
        passage_view.short_card(
            index,
            row,
            names,
            on_open=lambda row=row: passage_view.ask_for(row, names=names),  # type: ignore[misc]
            key=f"open_{owner}_{row}",
        )
        draw(html('<hr class="lr-rule">'))
    if len(rows) > shown:
        label = f"Show {min(_CHUNKS_AT_ONCE, len(rows) - shown)} of {len(rows) - shown:,} more"

        def more() -> None:
            st.session_state[shown_key] = shown + _CHUNKS_AT_ONCE

        st.button(label, key=f"more_{owner}", type="tertiary", on_click=more)


def pick_row(
    table: Any, ids: Sequence[str], *, key: str, on_pick: Callable[[str], None], note: str = "", height: int = 0
) -> None:
    """A table whose rows can be clicked anywhere; on_pick is called with the id of the row."""

    def picked() -> None:
        cells = st.session_state[key]["selection"]["cells"]
        if cells:
            on_pick(ids[int(cells[0][0])])

    if note:
        draw(html('<div class="lr-small lr-muted lr-listed">{}</div>', note))
    st.dataframe(
        visible_cells(table),
        hide_index=True,
        placeholder="–",
        key=key,
        on_select=picked,
        selection_mode="single-cell",
        height=height or table_height(len(ids), 400),
        column_config={
            # Widths that the inspector has room for at 1,440 px; a row that was clicked shows its text whole.
            "With": st.column_config.TextColumn(width=215),
            "From": st.column_config.TextColumn(width=100),
            "To": st.column_config.TextColumn(width=100),
            "Made": st.column_config.TextColumn(width=95),
            "Says": st.column_config.TextColumn(width=105),
            "λ": st.column_config.NumberColumn(width=60, format="localized"),
            "Weight": st.column_config.NumberColumn(width=65, format="%.1f"),
            **{name: st.column_config.NumberColumn(format="localized") for name in _COUNTS},
        },
    )
