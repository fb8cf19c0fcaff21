"""Adding documents: files, a folder, pasted text, or a folder on the server's machine; and the result for each file."""

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from pathlib import Path

import pandas as pd
import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.figures.drawing import isolated
from leanrag_core.files.written_paths import is_there, written_path
from leanrag_core.indexing.parsing.notes import note_in
from leanrag_core.indexing.parsing.upload import broken_formats, known
from leanrag_core.indexing.reading import FileRead
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.queries.index_table import ADDED, FileRow, upload_rows
from leanrag_core.types.summary import CorpusSummary, UploadReport
from leanrag_core.workbench import Workbench
from leanrag_core.workbench.corpora import File
from pages.common import buttons, choices, deletion, dialogs, forms, markup, messages, paging, session, state, uploads
from pages.common.frame import plain_errors
from pages.common.html import draw, html
from pages.common.messages import language, message, say, words
from pages.common.page_change import open_page

_KEY = "lr_uploading"
_AT_ONCE = 1.5  # seconds; a few small files are added by then, so that the page is drawn only once


@dataclass
class Uploading:
    """An upload that runs in a thread. total: number of files, 0 if unknown. then_build: see begin_upload(). read,
    refused: files so far; documents: number of documents so far; in_file: of them, those of the current file. current:
    the file's name, if known. last: names read last. sizes: see upload_rows()."""

    total: int
    then_build: bool = False
    began: float = field(default_factory=time.monotonic)
    read: int = 0
    refused: int = 0
    documents: int = 0
    in_file: int = 0
    current: str = ""
    last: list[str] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    report: UploadReport | None = None
    error: LeanRAGError | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    def heard(self, file: FileRead) -> None:
        """Count a file that was read."""
        documents = file.parsed.documents
        alone = file.begins and file.ends
        if alone and file.size_bytes is not None and len(documents) + len(file.parsed.refusals) == 1:
            self.sizes[documents[0].id if documents else file.name] = file.size_bytes
        self.in_file = len(documents) if file.begins else self.in_file + len(documents)
        self.documents += len(documents)
        self.current = "" if file.ends else file.name
        if file.ends:
            self.refused += not self.in_file
            self.last = [file.name, *self.last[:3]]
            self.read += 1

    def run(self, bench: Workbench, corpus: str, files: Iterable[File]) -> None:
        """Add the files; runs in a thread."""
        try:
            self.report = bench.add_documents(corpus, files, on_file=self.heard)
        except LeanRAGError as error:
            self.error = error
        finally:
            self.ended.set()

    @property
    def seconds_left(self) -> float | None:
        """Return the expected seconds until the end, None while unknown."""
        passed = time.monotonic() - self.began
        if not self.total or self.read < 5 or passed < 2:
            return None
        return passed / self.read * (self.total - self.read)


def begin_upload(
    bench: Workbench, corpus: str, files: Iterable[File], total: int, *, first: str = "", then_build: bool = False
) -> None:
    """Begin to add the files to the corpus; few files are added before this returns. first: name of the first file.
    then_build: open Build if all of them could be read."""
    uploading = Uploading(total, then_build, current=first)
    threading.Thread(target=uploading.run, args=(bench, corpus, files), daemon=True, name="adding files").start()
    st.session_state[_KEY] = uploading
    uploading.ended.wait(_AT_ONCE)


def upload_under_way() -> Uploading | None:
    """Return this session's upload until its end has been handled."""
    uploading: Uploading | None = st.session_state.get(_KEY)
    return uploading


def take_upload() -> None:
    """Forget the upload after its end has been handled."""
    st.session_state.pop(_KEY, None)


NEW = "*new"  # stands for a new corpus; no id contains a star
_FILES, _FOLDER, _TEXT, _PATH = "files", "folder", "text", "path"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_REPORT = "upload_report"
_LISTED = 40  # most files that are listed with their remarks
_NAMED = 5  # most replaced files named in a sentence
_ROWS = 200  # rows per page of the table of files
_LOOKED_AT = 5_000  # rows searched for remarks; refused files come first


@dataclass(frozen=True)
class Chosen:
    """What a person chose to add. fault: why it cannot be added, "" if it can; shown after an attempt."""

    files: list[File]
    fault: str = ""
    waits: bool = False  # whether nothing is chosen yet


def panel(corpora: list[CorpusSummary], *, expanded: bool) -> None:
    """Draw the form, or the progress while files are being added."""
    if upload_under_way() is not None:
        st.fragment(_progress, run_every=0.5)()
        return
    own_corpora = {corpus.id: corpus.name for corpus in corpora if not corpus.sample}
    with st.expander(say("library.add"), icon=":material/upload_file:", expanded=expanded, key="upload"):
        for file in broken_formats():
            message(words(file.message), kind="error", title=say("library.import.broken_format"))
        modes = (_FILES, _FOLDER, _TEXT, *((_PATH,) if may_read_here() else ()))
        titles = {mode: say(f"library.add.{mode}") for mode in modes}
        mode = choices.segments("add_by", say("library.add.what"), titles, label_visibility="collapsed")
        chosen = _choose(mode)
        left, right = st.columns(2, vertical_alignment="bottom")
        with left:
            target = _target(own_corpora)
        with right:
            label, hint = say("library.new_name"), say("library.my_documents")
            name = choices.text("upload_name", label, placeholder=hint, disabled=target != NEW)
        label = say("library.add.button_text" if mode == _TEXT else "library.add.button")
        if mode in (_FILES, _FOLDER) and chosen.files:
            label = say("library.add.button_n", n=len(chosen.files))
        with st.container(horizontal=True, gap="small"):
            adds = buttons.primary(label, "", "primary_add", disabled=chosen.waits)
            builds = buttons.secondary(say("library.add.and_build"), "", "add_and_build", disabled=chosen.waits)
        if (adds or builds) and chosen.fault:
            message(chosen.fault, kind="error")
        elif adds or builds:
            corpus = target if target != NEW else name.strip() or say("library.my_documents")
            _begin(chosen.files, corpus, counted=mode != _PATH, then_build=builds)


def may_read_here() -> bool:
    """Tell whether the server answers only to its own machine, whose users can read the machine's folders anyway."""
    return st.get_option("server.address") in _LOOPBACK


def _choose(mode: str) -> Chosen:
    turn = st.session_state.get("uploads", 0)  # a new field after each upload
    if mode == _TEXT:
        title = st.text_input(
            say("library.text.title"), key=f"text_title_{turn}", placeholder=say("library.text.title_hint")
        )
        text = st.text_area(say("library.text.text"), key=f"text_{turn}", height=180)
        # The sign that ends a sentence is no part of its name.
        name = " ".join((title.strip() or text.strip()[:60].rstrip(".。 ")).split()) or say("library.text.untitled")
        # As plain text, since another format would interpret tags and signs in it.
        return Chosen([(f"{name}.txt", text.encode())], "" if text.strip() else say("library.text.empty"))
    if mode == _PATH:
        path = st.text_input(say("library.path.label"), key=f"path_{turn}", placeholder="/home/me/documents").strip()
        fault = "" if path else say("library.path.empty")
        if path and not is_there(written_path(path)):
            fault = say("library.path.missing", path=path)
        return Chosen([written_path(path)], fault)
    if mode == _FOLDER:
        label = say("library.folder.label", formats=_formats())
        help_text = say("library.folder.hint")
        files = uploads.field(label, f"folder_{turn}", accept_multiple_files="directory", help=help_text)
    else:
        label = say("library.files.label", formats=_formats())
        files = uploads.field(label, f"files_{turn}", accept_multiple_files=True, help=say("library.files.hint"))
    return Chosen([(file.name, file) for file in files or ()], waits=not files)  # see _contents


def _target(own_corpora: dict[str, str]) -> str:
    """Ask for the corpus that the documents go into, and return it: one of the person's own, or NEW."""
    chosen = state.recall("corpus")
    titles = {NEW: say("library.new_corpus"), **own_corpora}
    return choices.dropdown(
        "upload_into", say("library.into"), titles, default=chosen if chosen in own_corpora else NEW
    )


def _contents(files: list[File]) -> Iterator[File]:
    """Yield the files one after another, dropping each, so that memory is freed meanwhile."""
    while files:
        file = files.pop(0)
        if isinstance(file, tuple) and isinstance(file[1], BytesIO):
            yield file[0], file[1].getvalue()
        else:
            yield file


def _begin(files: list[File], corpus: str, *, counted: bool, then_build: bool) -> None:
    total = len(files) if counted else 0
    first = str(files[0][0]) if isinstance(files[0], tuple) else Path(files[0]).name
    begin_upload(session.workbench(), corpus, _contents(files), total, first=first, then_build=then_build)
    st.session_state["uploads"] = st.session_state.get("uploads", 0) + 1
    st.rerun()


def _progress() -> None:
    """Draw how many files were read; redraw the whole page once all are added."""
    under_way = upload_under_way()
    if under_way is None or under_way.ended.is_set():
        dialogs.refresh()
        return
    read, total = under_way.read, under_way.total
    with st.container(border=True, gap="xsmall", key="uploading"):
        left = messages.time_left(under_way.seconds_left)
        refused = say("library.reading_refused", n=under_way.refused) if under_way.refused else ""
        title = say("library.reading_title")
        pace = say("ask.comma").join(filter(None, (*_counts(under_way), refused, left)))
        draw(html('<div class="lr-big" role="status"><b>{}</b><span>{}</span></div>', title, pace))
        names = [say("library.reading_now", name=isolated(under_way.current))] if under_way.current else []
        last = say("ask.comma").join([*names, *map(isolated, under_way.last)])
        draw(markup.progress_bar(title, read / total if total else 0), markup.muted(last))


def _counts(under_way: Uploading) -> list[str]:
    """Return the counts so far: documents only for a single file, otherwise files, with documents if a file holds
    several."""
    read, total, documents = under_way.read, under_way.total, under_way.documents
    so_far = say("library.documents_so_far", n=documents)
    if total == 1:
        return [so_far]
    files = say("library.reading_of", n=read, total=total) if total else say("library.reading", n=read)
    return [files, so_far] if documents > read else [files]


def take_finished() -> None:
    """Take the report of an ended upload, and choose its corpus. Called before the page is drawn."""
    ended = upload_under_way()
    if ended is None or not ended.ended.is_set():
        return
    take_upload()
    if ended.error is not None or ended.report is None:
        if ended.error is not None:
            message(ended.error, kind="error")
        return
    report = ended.report
    st.session_state[_REPORT] = (report, upload_rows(report, ended.sizes))
    state.remember("corpus", report.corpus_id)
    state.forget("upload_into", "upload_name")
    state.remember("doc", report.added[0].id if len(report.added) == 1 else None)
    if ended.then_build and report.added and not report.refusals:
        if report.duplicates:  # Library keeps the list of duplicates
            messages.toast_next(_summary(report), "upload_file")
        else:
            forget_outcome()
        to_build(report.corpus_id)


def has_outcome() -> bool:
    """Tell whether the page shows the outcome of an upload."""
    return _REPORT in st.session_state


def forget_outcome() -> None:
    """Close the outcome of the last upload."""
    st.session_state.pop(_REPORT, None)


def outcome() -> None:
    """Draw the result for each file of the last upload, until it is closed."""
    if not has_outcome():
        return
    report, rows = st.session_state[_REPORT]
    with st.container(border=True, gap="xsmall", key="upload_outcome"):
        draw(html('<div class="lr-big"><b style="font-size:1rem">{}</b></div>', _summary(report)))
        remarked = [row for row in rows[:_LOOKED_AT] if row.remarks]
        if remarked:
            listed = [
                (say(f"library.state.{row.state}" if row.state != ADDED else "library.state.note"), row.name, text)
                for row in remarked[:_LISTED]
                for text in _remarks(row)
            ]
            draw(markup.tagged_list(listed))
        if len(remarked) > _LISTED:
            markup.note(say("library.remarks_below", n=len(remarked) - _LISTED))
        if len(rows) > 1:
            with st.expander(say("library.all_files", n=len(rows)), expanded=len(remarked) > _LISTED):
                _table(rows)
        _namesakes(report)
        with st.container(horizontal=True, gap="small"):
            if report.added and buttons.secondary(say("library.build_after"), "construction", "build_after_upload"):
                to_build(report.corpus_id)
            buttons.tertiary(say("library.close"), "", "close_outcome", forget_outcome)


def _namesakes(report: UploadReport) -> None:
    """Draw which added files share their name with older ones of different text, and offer to remove the older ones."""
    with plain_errors():
        earlier = session.workbench().corpora.namesakes(report)
        if not earlier:
            return
        names = list(dict.fromkeys(isolated(document.name) for document in earlier))
        more = say("change.more", n=len(names) - _NAMED) if len(names) > _NAMED else ""
        message(say("library.namesakes", n=len(names), names=say("text.list").join(names[:_NAMED]) + more))
        deletion.button(
            "remove_earlier",
            say("library.remove_earlier", n=len(earlier)),
            say("library.remove_earlier.title", n=len(earlier)),
            say("text.list").join(names),
            say("library.removed_from_corpus"),
            partial(_remove_all, report.corpus_id, [document.id for document in earlier]),
        )


def _remove_all(corpus_id: str, document_ids: Sequence[str]) -> None:
    for document_id in document_ids:
        session.workbench().corpora.remove(corpus_id, document_id)


def _remarks(row: FileRow) -> list[str]:
    return [note_in(language(), words(each)) for each in row.remarks]


def _summary(report: UploadReport) -> str:
    total = len(report.added) + len(report.duplicates) + len(report.refusals)
    if report.refusals:
        summary = say("library.refused_of", n=total, refused=len(report.refusals))
        if report.added and not report.duplicates:
            return joined_sentences([summary, say("library.others_in")])
        return joined_sentences([summary, *_added(report)]) if report.added else summary
    return joined_sentences(_added(report)) if report.added else say("library.nothing_new")


def _added(report: UploadReport) -> list[str]:
    twice = [say("library.left_out", n=len(report.duplicates))] if report.duplicates else []
    return [say("library.documents_added", n=len(report.added)), *twice]


def _table(rows: Sequence[FileRow]) -> None:
    shown = paging.rows_of_page(rows, _ROWS, key="upload_rows")
    table = pd.DataFrame(
        {
            say("library.column.state"): [say(f"library.state.{row.state}") for row in shown],
            say("library.column.file"): [row.name for row in shown],
            say("library.column.size"): [
                "–" if row.size_bytes is None else numbers.size(row.size_bytes) for row in shown
            ],
            say("library.column.tokens"): [row.tokens for row in shown],
            say("library.column.language"): [row.language or "–" for row in shown],
            say("library.column.remarks"): [joined_sentences(_remarks(row)) for row in shown],
        }
    )
    styled = forms.visible_cells(table).style.format("{:,.0f}", subset=[say("library.column.tokens")], na_rep="–")
    height = forms.table_height(len(shown), 400)
    st.dataframe(styled, hide_index=True, key="upload_table", height=height)


def to_build(corpus_id: str) -> None:
    """Open the Build page for the corpus."""
    state.remember("corpus", corpus_id)
    state.forget("job")
    open_page("build")


def _formats() -> str:
    """Return the supported formats in the reader's language."""
    return say("text.list").join(map(words, known()))
