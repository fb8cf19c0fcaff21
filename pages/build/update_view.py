"""Updating an index, undoing that, and manual edits, in a fold below the table of indexes."""

from functools import partial

import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.storage.earlier_states import earlier_states
from leanrag_core.storage.layout import read_edits
from leanrag_core.types import updating
from leanrag_core.types.summary import IndexSummary
from pages.build import rewrite_view
from pages.common import buttons, forms, markup, session, state
from pages.common.frame import lazy_fold, plain_errors
from pages.common.html import draw
from pages.common.messages import message, say

_FOLD, _OPEN = "index_update", "lr_open_update"
_NAMES = 8  # most document names shown


def open_fold() -> None:
    """Request that the fold is open when the Build page is drawn next."""
    st.session_state[_OPEN] = True


def fold(index: IndexSummary) -> None:
    """Draw the fold; its content is looked up when it is opened."""
    if st.session_state.pop(_OPEN, False):
        st.session_state[_FOLD] = True
    lazy_fold(say("update.fold"), partial(panel, index), key=_FOLD, icon="sync")


def panel(index: IndexSummary) -> None:
    """Draw what an update would change, the last change with its undo button, and the edits."""
    bench = session.workbench()
    at_work = session.at_work(index)
    if at_work:
        message(say("update.at_work"))
    with plain_errors():  # the corpus was deleted; earlier changes can still be undone
        changes = bench.updates.corpus_changes(session.open_index(index))
        if changes:
            _preview(index, changes, at_work=at_work)
        else:
            message(say("update.up_to_date"), kind="good")
    _last_change(index, at_work=at_work)
    _edits(index, at_work=at_work)


def _preview(index: IndexSummary, changes: updating.DocumentChanges, *, at_work: bool) -> None:
    preview = session.workbench().updates.preview(session.open_index(index), changes)
    names = (
        ("update.documents.added", preview.added),
        ("update.documents.changed", preview.changed),
        ("update.documents.removed", preview.removed),
    )
    rows = [(say(code, n=len(listed)), forms.first_of(listed, _NAMES)) for code, listed in names if listed]
    markup.block(say("update.preview"), markup.facts_table(("", ""), rows))
    draw(markup.tiles(_tiles(preview)))
    if preview.calls_forgotten:
        message(say("update.forgotten", n=preview.calls_forgotten))
    if buttons.primary(say("update.button"), "sync", "primary_update_index", disabled=at_work):
        state.remember("job", session.workbench().updates.start(index.id))
        st.rerun()


def _tiles(preview: updating.UpdatePreview) -> list[tuple[str, str, str]]:
    calls = preview.usage.calls
    cost = f"{numbers.money(preview.usage.cost)}{say('ask.comma')}" if preview.usage.cost else ""
    fresh = say("update.fresh_calls", n=preview.fresh_calls) if preview.fresh_calls else say("update.no_calls")
    return [
        (say("update.tile.chunks"), f"{preview.chunks_added:,}", say("update.kept", n=preview.chunks_kept)),
        (say("update.tile.entities"), f"≈ {preview.entities_touched:,}", ""),
        (say("update.tile.clusters"), f"≈ {preview.clusters_touched:,}", say("update.of", n=preview.clusters)),
        (say("update.tile.calls"), f"≈ {calls:,}" if calls else "0", f"{cost}{fresh}"),
    ]


def outcome(index: IndexSummary) -> None:
    """Draw what the last update or edit of the index changed; nothing after a build."""
    opened = session.open_index(index)
    report = opened.report.update
    if report is not None and report.rewritten_from:
        rewrite_view.outcome(opened, report)
    elif report is not None:
        markup.block(say("update.changed"), markup.facts_table(_head(), _rows(report)))
        _advice(report)


def _head() -> tuple[str, ...]:
    return ("", *(say(f"update.column.{name}") for name in ("kept", "changed", "new", "gone")))


def _rows(report: updating.UpdateReport) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (say("update.row.chunks"), "–", "–", f"{report.chunks_added:,}", f"{report.chunks_removed:,}"),
        (
            say("update.row.entities"),
            "–",
            f"{report.entities_changed:,}",
            f"{report.entities_added:,}",
            f"{report.entities_removed:,}",
        ),
        (
            say("update.row.relations"),
            "–",
            f"{report.relations_changed:,}",
            f"{report.relations_added:,}",
            f"{report.relations_removed:,}",
        ),
    ]
    rows += [
        (say("update.row.layer", layer=row.layer), *(f"{n:,}" for n in (row.kept, row.changed, row.new, row.gone)))
        for row in report.layers
    ]
    # A text that is written again may come out unchanged.
    written = say("update.written_again", n=report.texts_written)
    rows.append((say("update.row.texts"), f"{report.texts_kept:,}", written, "–", "–"))
    if report.sentences_kept or report.sentences_written:
        written = say("update.written_again", n=report.sentences_written)
        rows.append((say("update.row.sentences"), f"{report.sentences_kept:,}", written, "–", "–"))
    return rows


def _advice(report: updating.UpdateReport) -> None:
    """Draw how far the clusters are from fresh ones, and whether a rebuild is worthwhile."""
    lowest = report.agreement[0] if report.agreement else None
    if lowest is None:
        return
    advice = say("update.advice.rebuild" if lowest < updating.REBUILD_BELOW else "update.advice.stay")
    markup.note(f"{say('update.agreement', index=numbers.score(lowest))} {advice}")


def _last_change(index: IndexSummary, *, at_work: bool) -> None:
    bench = session.workbench()
    outcome(index)
    _distance(index, at_work=at_work)
    states = [each for each in earlier_states(index.path) if each.undoable]
    if not states:
        return
    size = numbers.size(sum(each.own_bytes for each in states))
    markup.note(say("update.states", n=len(states), size=size))
    with st.container(horizontal=True, gap="small"):
        if buttons.secondary(say("update.undo"), "undo", "undo_update", disabled=at_work):
            bench.updates.undo(index.path)
            st.toast(say("update.undone"), icon=":material/undo:")
            st.rerun()
        if buttons.tertiary(
            say("update.forget"), "delete", "forget_states", help=say("update.forget_hint"), disabled=at_work
        ):
            bench.updates.forget_earlier(index.path)
            st.rerun()


def _distance(index: IndexSummary, *, at_work: bool) -> None:
    """Draw the distance of an updated index from a fresh build, or a button that computes it."""
    bench, opened = session.workbench(), session.open_index(index)
    if not opened.manifest.lineage:
        return
    distance = bench.fresh_builds.store.read(opened.id)
    if distance is None:
        if buttons.tertiary(
            say("update.compare"), "compare_arrows", "compare_fresh", help=say("update.compare_hint"), disabled=at_work
        ):
            state.remember("job", bench.fresh_builds.start(index.id))
            st.rerun()
        return
    listed = say("ask.comma").join(numbers.score(value) for value in distance.clusters)
    rows = [(say("update.distance.clusters"), listed)]
    if distance.recall is not None and distance.fresh_recall is not None:
        rows += [
            (say("update.distance.recall", n=distance.n_questions), numbers.score(distance.recall, 3)),
            (say("update.distance.fresh_recall"), numbers.score(distance.fresh_recall, 3)),
        ]
    advice = say("update.advice.rebuild" if distance.advises_rebuild else "update.advice.stay")
    markup.block(say("update.distance"), markup.facts_table(("", ""), rows), advice)


def _edits(index: IndexSummary, *, at_work: bool) -> None:
    bench = session.workbench()
    log = read_edits(index.path)
    if not log.edits:
        return
    draw(markup.label(say("edit.log"), f"{len(log.edits):,}"))
    outcomes = {each.number: each for each in session.open_index(index).report.edits}
    for edit in log.edits:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text(sentence_of(edit, outcomes.get(edit.number)))
            if buttons.tertiary(say("edit.undo"), "", f"undo_edit_{edit.number}", disabled=at_work):
                state.remember("job", bench.updates.start_undoing_edit(index.id, edit.number))
                st.rerun()


def sentence_of(edit: updating.Edit, outcome: updating.EditOutcome | None = None) -> str:
    """Return in a sentence what the edit did. outcome: of the last update; adds that the edit no longer applies."""
    text = say(
        f"edit.done.{edit.action}", name=edit.name, other=edit.other, documents=say("ask.comma").join(edit.documents)
    )
    return text if outcome is None or outcome.applies else joined_sentences([text, say("edit.no_longer_applies")])
