"""What the columns share: as a sentence, as UpSet plots, and as a list."""

from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup

from leanrag_core.comparing.sharing import CHUNKS, ENTITIES, Shared, Sharing
from leanrag_core.figures.drawing import Drawing
from leanrag_core.figures.overlaps import upset
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.messages.message import message as message_of
from pages.common import buttons, drawing_view, markup, state
from pages.common.html import draw, html
from pages.common.messages import say, words
from pages.compare.gold_view import GoldOf
from pages.compare.loading import Loaded, traces_of

_WIDTHS = (230, 340)
_LISTED = 12  # names of an intersection in the list


def strip(loaded: Sequence[Loaded], shared: Shared, gold: GoldOf) -> None:
    """Draw the strip below the columns."""
    traces = traces_of(loaded)
    if len(traces) < 2:
        return
    as_list = state.recall("shared") == "list"
    with st.container(border=True, key="compare_share", gap="small"):
        draw(html('<div class="lr-h3">{}</div>', say("compare.what_they_share")))
        draw(markup.muted(sentence(loaded, shared, gold)))
        if as_list:
            draw(table(shared))
        else:
            with st.grid(len(shared.kinds), min_column_width=210, gap="medium"):
                for sharing in shared.kinds:
                    with st.container(gap="xxsmall"):
                        total = words(message_of(f"compare.in_all.{sharing.kind}", n=sharing.total))
                        title = say(f"compare.kind.{sharing.kind}")
                        draw(html('<div class="lr-upset">{}<span>{}</span></div>', title, total))
                        drawing_view.show(pictures(sharing), key=f"compare_upset_{sharing.kind}")
        label, icon, other = say("compare.show_list"), "table_rows", "list"
        if as_list:
            label, icon, other = say("compare.show_pictures"), "bar_chart", ""
        buttons.tertiary(label, icon, "compare_shared_list", state.remember, "shared", other)


def pictures(sharing: Sharing) -> list[Drawing]:
    """Return the UpSet plot of one kind of items, in a narrow and a wide version."""
    parts = [(part.letters, len(part.names)) for part in sharing.intersections]
    label = say("compare.upset_label", kind=say(f"compare.kind.{sharing.kind}"), parts=in_words(sharing))
    return [upset(sharing.sizes, parts, width=width, label=label, none=say("compare.none")) for width in _WIDTHS]


def in_words(sharing: Sharing) -> str:
    """Return the intersections as text, such as "A and B 3, A 5"."""
    return say("ask.comma").join(
        f"{say('compare.and').join(part.letters)} {len(part.names):,}" for part in sharing.intersections
    )


def sentence(loaded: Sequence[Loaded], shared: Shared, gold: GoldOf) -> str:
    """Return the main finding: passages that all columns share, gold that only one has, and the meaning of the tint."""
    traces, chunks, entities = traces_of(loaded), shared.kind(CHUNKS), shared.kind(ENTITIES)
    parts = [
        say("compare.passages_in_all", n=len(chunks.of(*traces)), columns=message_of("count.columns", n=len(traces)))
    ]
    configs = [each.live.summary.config for each in loaded if each.live is not None and each.trace is not None]
    if len({(config.chunk_tokens, config.overlap_tokens) for config in configs}) > 1:
        parts.append(say("compare.cut_otherwise"))
    having = [letter for letter in traces if entities.sizes.get(letter)]
    if len(having) > 1:
        parts.append(
            say("compare.entities_in_all", n=len(entities.of(*having)), letters=say("compare.and").join(having))
        )
    for letter in gold.lanes if len(gold.lanes) > 1 else ():
        if n_only := gold.n_only_in(letter):
            parts.append(say("compare.gold_only_in", n=n_only, letter=letter))
    parts.append(say("compare.tint"))
    return joined_sentences(parts)


def table(shared: Shared) -> Markup:
    """Return the intersections of all kinds as a table, with the names in each."""
    rows = []
    for sharing in shared.kinds:
        for part in sharing.intersections:
            more = say("change.more", n=len(part.names) - _LISTED) if len(part.names) > _LISTED else ""
            rows.append(
                (
                    say(f"compare.kind.{sharing.kind}"),
                    say("compare.and").join(part.letters),
                    f"{len(part.names):,}",
                    say("text.semicolon").join(part.names[:_LISTED]) + more,
                )
            )
    head = [say(f"compare.table.{name}") for name in ("kind", "columns", "count", "items")]
    return markup.reading_table(head, rows, caption=say("compare.what_they_share"))
