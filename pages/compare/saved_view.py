"""Sharing a comparison: as a link, as one HTML file, and as a file that shows it again without index and model."""

from collections.abc import Sequence
from datetime import date
from urllib.parse import urlencode

import streamlit as st

from leanrag_core.comparing.lost_evidence import found_ids
from leanrag_core.comparing.recorded import MAX_BYTES, RecordedColumn, RecordedComparison, comparison_of, content_of
from leanrag_core.comparing.sharing import Shared, compare
from leanrag_core.presenting.making import compared
from leanrag_core.presenting.story import COMPARISON, AddedComparison
from leanrag_core.types.trace import RecordedRun
from pages.common import buttons, downloads, markup, saved_files, state, to_presentation
from pages.common.frame import heading
from pages.common.html import draw, html
from pages.common.messages import language, message, say, words
from pages.compare import columns, contexts_view, export, fragments, missed_view, sharing_view, side_by_side
from pages.compare.gold_view import GoldOf
from pages.compare.loading import Head, Loaded, traces_of

_OPENED = "lr_comparison"


def share_button(loaded: Sequence[Loaded], shared: Shared, gold: GoldOf, question: str) -> None:
    """Draw a button with link, HTML file and saved comparison; the files are made once it is open."""
    popover = st.popover(
        say("compare.share"), icon=":material/ios_share:", type="tertiary", key="compare_export", on_change="rerun"
    )
    if not popover.open:
        return
    with popover:
        draw(markup.label(say("compare.link")), markup.muted(say("compare.link_hint")))
        st.code(link(), language=None, wrap_lines=True)
        if not any(each.trace for each in loaded):
            return
        name = downloads.name_from(question, 40, "question")
        draw(markup.label(say("compare.files")))
        downloads.button(
            say("compare.export_html"),
            export.page(loaded, shared, gold, question).encode(),
            f"{say('download.comparison')} {name}.html",
            "text/html",
            key="compare_html",
            icon=":material/html:",
            type="secondary",
        )
        title, file_name, mime = say("compare.save"), f"{say('download.comparison')} {name}.json", "application/json"
        downloads.button(
            title, content_of(recorded(loaded, gold, question)), file_name, mime, key="compare_save", type="secondary"
        )
        draw(markup.muted(say("compare.files_hint")))


def link() -> str:
    """Return the address of this comparison, with the settings of its columns."""
    base = str(st.context.url or "").split("?")[0]
    return f"{base}?{urlencode({name: st.query_params[name] for name in st.query_params})}"


def recorded(loaded: Sequence[Loaded], gold: GoldOf, question: str) -> RecordedComparison:
    """Return the comparison as its file holds it: the columns that have a result."""
    return RecordedComparison(
        question,
        tuple(
            RecordedColumn(
                letter=each.letter,
                index=each.trace.index.name,
                badge=each.head.badge,
                differs=each.head.differs,
                settings=dict(each.head.settings),
                run=RecordedRun(each.trace, each.answer),
                lanes=gold.lanes.get(each.letter, ()),
                title=each.head.named,
            )
            for each in loaded
            if each.trace is not None
        ),
        gold.evidence,
        columns.baseline([each.letter for each in loaded]),
    )


def present_button(loaded: Sequence[Loaded], gold: GoldOf, question: str) -> None:
    """Draw the button that adds the columns with a result to a presentation."""
    runs = {each.letter: RecordedRun(each.trace, each.answer) for each in loaded if each.trace is not None}
    if len(runs) < 2:
        return
    n_gold = len(gold.evidence)
    gold_counts = [gold.n_found(letter) if n_gold else None for letter in runs]

    def make() -> AddedComparison:
        return compared(question, date.today().isoformat(), tuple(runs.values()), gold=gold_counts, n_gold=n_gold)

    topic = (question, tuple((letter, run.trace.strategy, str(run.trace.parameters)) for letter, run in runs.items()))
    to_presentation.button(COMPARISON, make, key="compare_present", topic=topic)


def open_button() -> None:
    """Draw the button that opens a saved comparison."""

    def read(content: bytes, name: str) -> None:
        st.session_state[_OPENED] = comparison_of(content, name=name)

    codes = ("compare.open", "compare.open_hint", "compare.file", "compare.not_opened")
    saved_files.open_button(codes, MAX_BYTES, read, key="compare_open", file_key="comparison_file")


def opened() -> RecordedComparison | None:
    """Return the opened comparison until it is closed."""
    comparison: RecordedComparison | None = st.session_state.get(_OPENED)
    return comparison


def _close() -> None:
    st.session_state[_OPENED] = None


def loaded_of(comparison: RecordedComparison) -> list[Loaded]:
    """Return the columns of a saved comparison."""
    several = len({column.index for column in comparison.columns}) > 1
    loaded = []
    for column in comparison.columns:
        trace = column.run.trace
        title = say("ask.comma").join((words(trace.title), column.index)) if several else words(trace.title)
        named = column.title[: columns.LONGEST_TITLE]
        head = Head(column.letter, named or title, column.badge, column.differs, column.settings, named=named)
        loaded.append(Loaded(head, comparison.question, trace=trace, answer=column.run.answer))
    return loaded


def show(comparison: RecordedComparison, view: str) -> None:
    """Draw the comparison as it was saved, without asking an index or a model."""
    loaded = loaded_of(comparison)
    heading(say("page.compare"), fragments.columns_sentence(loaded))
    message(say("compare.saved_banner"), title=say("compare.saved"))
    buttons.secondary(say("compare.close"), "close", "compare_close", _close)
    draw(html('<div class="lr-read" style="font-size:1.2rem" dir="auto">{}</div>', comparison.question))
    shared = compare(traces_of(loaded), language())
    lanes = {column.letter: column.lanes for column in comparison.columns}
    ids = {column.letter: found_ids(column.run.trace, column.lanes) for column in comparison.columns}
    gold = GoldOf(None, comparison.gold, lanes, ids if comparison.gold else {})
    differ = state.recall("differ") == "1"
    if view == columns.CONTEXTS:
        contexts_view.show(loaded, differences_only=differ)
    elif view == columns.MISSED:
        missed_view.show(loaded, gold, comparison.question)
    else:
        side_by_side.show(loaded, shared, gold, None, differences_only=differ)
        sharing_view.strip(loaded, shared, gold)
    side_by_side.drawers(loaded)
