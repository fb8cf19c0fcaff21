"""The actions on an index of the table: explore, compare, duplicate, export, rename, delete and restore."""

import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from leanrag_core.exporting.base import broken_exporters, exporters
from leanrag_core.figures import numbers
from leanrag_core.figures.drawing import isolated
from leanrag_core.queries.index_table import short_title
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.visible import visible
from pages.build import parts_view, rewrite_view, settings_form, snapshots_view, update_view
from pages.common import buttons, choices, dialogs, downloads, forms, markup, session, state
from pages.common.frame import page_button, page_path, plain_errors
from pages.common.html import draw, html
from pages.common.messages import kept_fault, language, message, say, show_fault, words


def export_popover(index: IndexSummary) -> None:
    """Draw a download button for each format; the file is made when it is pressed."""
    with st.popover(say("build.download"), type="tertiary", icon=":material/download:", key="download_index"):
        for exporter in exporters():
            downloads.button(
                words(exporter.title),
                partial(_content, index.id, exporter.name),
                f"{downloads.name_from(index.name, 60, 'index')}{exporter.suffix}",
                exporter.media_type,
                key=f"download_{exporter.name}",
                icon=None,
                help=words(exporter.help),
            )
        for file in broken_exporters():
            message(words(file.message), kind="error", title=say("library.import.broken_format"))


def _content(index_id: str, format_name: str) -> bytes:
    """Return the exported file, whole: Streamlit takes downloads from memory."""
    workbench = session.workbench()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.zip"
        workbench.export(workbench.indexes.open(index_id), format_name, path, language=language())
        return path.read_bytes()


TICKED = "ticked"  # ids of the ticked indexes, separated by commas
_MOST_COMPARED, _LETTERS = 4, "abcd"
_TITLE = 40  # characters of an index's title on the button that deletes it
_FAULT = "lr_index_fault"  # why the last action failed


def row(indexes: Sequence[IndexSummary], ticked: Sequence[IndexSummary]) -> None:
    """Draw the actions on the ticked indexes, and for a single one the expanders for updates and parts."""
    show_fault(_FAULT)
    if not ticked:
        markup.note(say("build.tick_a_row"))
        return
    only = ticked[0] if len(ticked) == 1 else None
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        if only is not None:
            label, key = say("page.explore"), "explore_index"
            page_button("explore", label, "account_tree", key, state.remember, "index", only.id)
        if len(indexes) > 1:
            _compare({index.id: index for index in indexes}, [index.id for index in ticked])
        if only is not None:
            buttons.tertiary(
                say("build.duplicate"), "content_copy", "duplicate_index", settings_form.take_settings, only
            )
            export_popover(only)
            texts = say("build.rename.title"), say("build.column.name")
            dialogs.rename("index", only.id, only.name, texts, session.workbench().indexes.rename)
        label, ids = say("build.delete_several", n=len(ticked)), [index.id for index in ticked]
        if only is not None:
            label = say("build.delete_named", name=forms.plain(short_title(only, _TITLE)))
        buttons.tertiary(label, "delete", "delete_index", _delete, ids, help=say("build.delete.help"))
    if only is not None:
        update_view.fold(only)
        rewrite_view.fold(only)
        snapshots_view.fold(only)
        parts_view.fold(only)


def _compare(by_id: Mapping[str, IndexSummary], proposed: Sequence[str]) -> None:
    """Draw the choice of indexes for one question on Compare. proposed: ids of the ticked ones."""
    with st.popover(say("page.compare"), type="tertiary", icon=":material/view_column_2:", key="compare_indexes"):
        titles, key = {id_: visible(index.title) for id_, index in by_id.items()}, f"compared_{'_'.join(proposed)}"
        picked = choices.multiselect(
            say("build.compare.which"), titles, proposed[:_MOST_COMPARED], max_selections=_MOST_COMPARED, key=key
        )
        label, too_few = say("build.compare.open", n=len(picked)), len(picked) < 2
        if buttons.secondary(label, "", "open_compare", _to_compare, picked, disabled=too_few):
            st.switch_page(page_path("compare"))


def _to_compare(ids: Sequence[str]) -> None:
    """Give Compare a column with LeanRAG for each of the indexes. For callbacks."""
    state.remember("cols", _LETTERS[: len(ids)])
    for letter, id_ in zip(_LETTERS, ids, strict=False):
        state.remember(f"{letter}_index", id_)
        state.remember(f"{letter}_strategy", "leanrag")
    state.remember("index", ids[0])


def _delete(ids: Sequence[str]) -> None:
    """Delete the indexes; for a while they can be restored. For callbacks."""
    with kept_fault(_FAULT):
        for index_id in ids:
            session.workbench().indexes.hold(index_id)
            if state.recall("index") == index_id:  # otherwise the page would report it as missing
                state.forget("index")
        state.forget(TICKED)


def deleted() -> None:
    """Draw the recently deleted indexes, each with a button that restores it."""
    with plain_errors():
        for deleted_index in session.workbench().indexes.revocable():
            with st.container(
                horizontal=True, vertical_alignment="center", gap="small", key=f"held_{deleted_index.id}"
            ):
                end_time = time.strftime("%H:%M", time.localtime(deleted_index.until))
                size = numbers.size(deleted_index.size_bytes)
                note = say("build.deleted", name=isolated(deleted_index.name), size=size, time=end_time)
                draw(html('<div class="lr-msg note" role="status">{}</div>', note))
                buttons.secondary(
                    say("build.undo"), "undo", f"take_back_{deleted_index.id}", _take_back, deleted_index.id
                )
                end = kept_fault(_FAULT)(session.workbench().indexes.end_deletion)
                buttons.tertiary(say("build.delete_now"), "", f"end_deletion_{deleted_index.id}", end, deleted_index.id)


def _take_back(index_id: str) -> None:
    with kept_fault(_FAULT):
        session.workbench().indexes.take_back(index_id)
        state.remember(TICKED, index_id)
