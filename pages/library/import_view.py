"""The import of a graph from another program: its files, a preview of the import, and the job."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import streamlit as st

from leanrag_core.errors import ImportFailed, LeanRAGError
from leanrag_core.figures.lines import import_lines
from leanrag_core.files.written_paths import written_path
from leanrag_core.importing.base import broken_importers, importers
from leanrag_core.storage.corpus_record import MAX_NAME
from leanrag_core.storage.import_uploads import UploadedFile
from leanrag_core.types.imported import ImportPreview
from leanrag_core.types.visible import shortened, visible
from pages.common import buttons, forms, markup, running_view, session, state, uploads
from pages.common.frame import plain_errors
from pages.common.html import draw, html
from pages.common.messages import message, say, words
from pages.common.page_change import open_page
from pages.library import adding_view

_OPEN, _LOOKED_AT, _CLEARED = "lr_import_open", "lr_import_preview", "lr_imports"
_RECOGNISE = ""
_MADE = 4  # facts that the tiles show
_LISTED = 60  # most left-out rows in a preview
_NAMED = 3  # most uploaded files that an error names


@dataclass(frozen=True)
class LookedAt:
    """Previewed files. shown: their name. uploaded: they lie in a folder of the workbench."""

    path: Path
    shown: str
    uploaded: bool
    preview: ImportPreview


def panel() -> None:
    """Draw the button that opens the form, or the form and a preview of what importing the files would give."""
    if not st.session_state.get(_OPEN, False):
        buttons.tertiary(say("library.import.open"), "hub", "open_import", _set_open, True)
        return
    with st.container(border=True, key="import_graph", gap="small"):
        template = (
            '<div class="lr-head"><span class="t" style="font-size:1.15rem" role="heading" aria-level="2">{}</span>'
            '<span class="s">{}</span></div>'
        )
        draw(html(template, say("library.import.title"), say("library.import.formats")))
        looked_at: LookedAt | None = st.session_state.get(_LOOKED_AT)
        if looked_at is None:
            _form()
        else:
            _preview(looked_at)
        for file in broken_importers():
            message(words(file.message), kind="error", title=say("library.import.broken_format"))


def _set_open(is_open: bool) -> None:
    st.session_state[_OPEN] = is_open
    _forget()


def _forget() -> None:
    """Forget the preview, and delete uploaded files from which nothing was built."""
    looked_at = st.session_state.pop(_LOOKED_AT, None)
    if looked_at is not None and looked_at.uploaded:
        session.workbench().imports.uploads.discard(looked_at.path)


def _form() -> None:
    titles = {importer.name: words(importer.title) for importer in importers()}
    key = f"import_files_{st.session_state.get(_CLEARED, 0)}"
    label, hint = say("library.import.files"), say("library.import.files_hint")
    files = uploads.field(label, key, accept_multiple_files=True, help=hint)
    left, right, button = st.columns([4, 3, 2], vertical_alignment="bottom")
    recognised = say("library.import.recognised")
    folder = ""
    if adding_view.may_read_here():
        folder = left.text_input(
            say("library.import.path"), key="import_path", placeholder="/home/me/lightrag/rag_storage"
        )
    format_name = right.selectbox(
        say("library.import.format"),
        [_RECOGNISE, *titles],
        format_func=lambda name: titles.get(name, recognised),
        key="import_format",
    )
    with button.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        looks = buttons.primary(
            say("library.import.preview"), "", "primary_preview_import", disabled=not (files or folder.strip())
        )
        buttons.tertiary(say("library.close"), "", "close_import", _set_open, False)
    if looks:
        with plain_errors(), st.spinner(say("library.reading_title")):
            st.session_state[_LOOKED_AT] = _look_at(files, folder.strip(), format_name)
            st.session_state[_CLEARED] = st.session_state.get(_CLEARED, 0) + 1
            st.rerun()


def _look_at(files: Sequence[IO[bytes]], folder: str, format_name: str) -> LookedAt:
    """Return what the files or the folder would give; delete uploaded files that cannot be read. Raises
    LeanRAGError."""
    workbench = session.workbench()
    if not files:
        path = written_path(folder)
        return LookedAt(path, path.name or str(path), False, _previewed(path, format_name, str(path)))
    uploads = [UploadedFile(file.name, file) for file in files]
    path = workbench.imports.uploads.add(uploads)
    try:
        names = forms.first_of([file.name for file in uploads], _NAMED)
        preview = _previewed(path, format_name, names)
    except LeanRAGError:
        workbench.imports.uploads.discard(path)
        raise
    stem = Path(uploads[0].name).stem
    return LookedAt(path, stem if len(uploads) == 1 else path.name, True, preview)


def _previewed(path: Path, format_name: str, chosen: str) -> ImportPreview:
    """Return what the path would give. chosen: as a person knows it, who has not seen the folder of uploaded files.
    Raises LeanRAGError, which names what was chosen, and formats by their titles."""
    try:
        return session.workbench().imports.preview(path, format_name)
    except ImportFailed as error:
        code, values = error.message.code, dict(error.message.values)
        values |= {name: chosen for name in ("path", "folder") if values.get(name) == str(path)}
        if code == "import.not_recognised":
            values["known"] = say("ask.comma").join(words(importer.title) for importer in importers())
        raise ImportFailed(code, **values) from error


def _preview(looked_at: LookedAt) -> None:
    preview = looked_at.preview
    titles = {importer.name: words(importer.title) for importer in importers()}
    tiles = [
        (say("build.entities"), f"{preview.entities:,}", titles.get(preview.format, preview.format)),
        (say("build.relations"), f"{preview.relations:,}", say("library.import.base_graph")),
        (say("build.chunks"), f"{preview.chunks:,}", say("count.documents", n=preview.documents)),
    ]
    if preview.communities:
        reports = say("library.import.reports", n=preview.reports)
        tiles.append((say("library.import.communities"), f"{preview.communities:,}", reports))
    draw(markup.tiles(tiles))
    lines = [(words(title), f"{n:,}") for title, n in import_lines(preview)[_MADE:]]
    left, right = st.columns([1, 1], gap="large")
    with left:
        if lines:
            title = say("library.import.rows")
            markup.block(title, markup.facts_table(("", ""), lines, caption=title))
        for note in preview.notes:
            markup.note(words(note))
        if preview.settings:
            title = say("library.import.carried")
            rows = [(each.name, each.value, each.usual or "–") for each in preview.settings]
            columns = (say("library.import.setting"), say("library.import.value"), say("library.import.usual"))
            markup.block(title, markup.facts_table(columns, rows, caption=title))
        for prompt in preview.prompts:
            markup.note(say("library.import.own_prompt", task=prompt.task))
            st.code(visible(prompt.text), language=None, wrap_lines=True)
    with right:
        _dropped(preview)
    name_field, right = st.columns([3, 4], vertical_alignment="bottom")
    label, default = say("build.index_name"), shortened(looked_at.shown, MAX_NAME)
    name = name_field.text_input(label, default, MAX_NAME, key=f"import_name_{looked_at.path}")
    with right.container(horizontal=True, gap="small"):
        starts = buttons.primary(say("library.import.start"), "hub", "primary_start_import")
        buttons.secondary(say("library.import.other"), "", "other_import", _forget)
        buttons.tertiary(say("library.close"), "", "close_import", _set_open, False)
    if preview.format != "archive":
        markup.note(say("library.import.settings"))
    if starts:
        with plain_errors():
            job = session.workbench().imports.start(
                looked_at.path, preview.format, name=name.strip() or looked_at.shown
            )
            st.session_state.pop(_LOOKED_AT)
            st.session_state[_OPEN] = False
            state.remember("job", job)
            running_view.choose_when_built(job)
            open_page("build")


def _dropped(preview: ImportPreview) -> None:
    """Draw the first rows that are left out, merged, or without a description."""
    if not preview.drops:
        draw(markup.label(say("library.import.left_out")), markup.muted(say("library.import.none_left_out")))
        return
    listed = preview.drops[:_LISTED]
    part = say("library.import.part_of", shown=len(listed), n=preview.n_drops)
    note = part if len(listed) < preview.n_drops else f"{preview.n_drops:,}"
    draw(markup.label(say("library.import.dropped"), note))
    with st.container(height=220, border=False, key="import_drops"):
        draw(markup.tagged_list((drop.stage, drop.item, drop.reason) for drop in listed))
