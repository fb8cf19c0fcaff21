"""The clusters of two indexes of one corpus: how far they agree, and which overlap."""

import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.queries.clusters import ClusterOverlap, cluster_overlap
from leanrag_core.types.index import Index
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.visible import visible
from pages.common import choices, markup, session
from pages.common.frame import plain_errors
from pages.common.html import draw, html
from pages.common.messages import say
from pages.explore.exploring import Exploring

_NOBODY = ""  # no index is chosen


def show(exploring: Exploring, number: int) -> None:
    """The choice of another index, and what its clusters have in common with these."""
    summary = exploring.summary
    others = {other.id: other for other in session.index_list().indexes if _comparable(summary, other)}
    draw(html('<div class="lr-section" role="heading" aria-level="2">{}</div>', say("explore.overlap.title")))
    if not others:
        markup.note(say("explore.overlap.no_other"))
        return
    titles = {_NOBODY: say("explore.overlap.choose")} | {id_: visible(other.title) for id_, other in others.items()}
    chosen = choices.dropdown("versus", say("explore.overlap.with"), titles)
    if chosen:
        with plain_errors(), session.reading(others[chosen]) as other:
            _compared(exploring, number, other, others[chosen])


def _comparable(summary: IndexSummary, other: IndexSummary) -> bool:
    """Whether the other index is of the same corpus, and has clusters."""
    return other.id != summary.id and other.corpus_id == summary.corpus_id != "" and len(other.layers) > 1


def _compared(exploring: Exploring, number: int, other: Index, there: IndexSummary) -> None:
    index, here = exploring.index, exploring.summary
    other_number = min(number, len(other.layers) - 1)
    overlap = _overlap((here.id, here.created, number), (there.id, there.created, other_number), index, other)
    if overlap is None:
        markup.note(say("explore.overlap.nothing"))
        return
    shared = say("explore.overlap.common_note", here=overlap.only_here, there=overlap.only_there)
    draw(
        markup.tiles(
            [
                (say("explore.overlap.ari"), numbers.score(overlap.adjusted_rand), say("explore.overlap.ari_note")),
                (
                    say("explore.overlap.nmi"),
                    numbers.score(overlap.mutual_information),
                    say("explore.overlap.nmi_note"),
                ),
                (say("explore.overlap.common"), f"{overlap.common:,}", shared),
            ]
        )
    )
    names_here, names_there = index.layers[number].entity_cells["name"], other.layers[other_number].entity_cells["name"]
    head = tuple(say(f"explore.overlap.column.{name}") for name in ("here", "there", "shared", "of_here", "of_there"))
    rows = [
        (
            names_here[row.here].as_py(),
            names_there[row.there].as_py(),
            f"{row.shared:,}",
            f"{numbers.share(row.shared / row.n_here)} / {row.n_here:,}",
            f"{numbers.share(row.shared / row.n_there)} / {row.n_there:,}",
        )
        for row in overlap.rows
    ]
    caption = say("explore.overlap.rows", shown=len(rows), n=overlap.n_pairs)
    draw(markup.label(caption), markup.reading_table(head, rows, caption=caption))
    if other_number != number:
        markup.note(say("explore.overlap.other_layer", layer=other_number))
    if overlap.by_name:
        markup.note(say("explore.overlap.by_name"))


@st.cache_resource(max_entries=16, show_spinner=False)
def _overlap(
    here: tuple[str, str, int], there: tuple[str, str, int], _index: Index, _other: Index
) -> ClusterOverlap | None:
    return cluster_overlap(_index, here[2], _other, there[2])
