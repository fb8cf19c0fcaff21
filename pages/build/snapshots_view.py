"""Earlier states of an index in a fold below the table of indexes: listed, opened, named, compared and restored."""

from functools import partial

import streamlit as st

from leanrag_core.comparing.states import Changes, QuestionDifferences, StateDifferences
from leanrag_core.figures import numbers
from leanrag_core.figures.drawing import isolated
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.system.threads import BoundedCache
from leanrag_core.types.snapshots import KEPT_STATES, MAX_NAME, Snapshot
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.visible import visible
from leanrag_core.workbench.indexes import earlier_id
from leanrag_core.workbench.snapshots import AskedOfStates, ComparedStates
from pages.common import buttons, choices, deletion, forms, markup, session, state
from pages.common.frame import lazy_fold, page_button
from pages.common.html import draw, html
from pages.common.messages import kept_fault, language, say, show_fault, words

COMPARED = "state"  # in the URL: the state compared with the index
_NAMES = 8  # most names shown
_FAULT = "lr_snapshot_fault"  # why the last action failed
_FOLD, _DRAWN = "index_snapshots", "lr_snapshots_drawn"  # in the session: whether it is open, and was ever drawn


def fold(index: IndexSummary) -> None:
    """Draw the fold; its content is looked up when it is opened. A link to a comparison opens it."""
    if state.recall(COMPARED) and _DRAWN not in st.session_state:  # nothing in this session can have begun it
        st.session_state[_FOLD] = True
    st.session_state[_DRAWN] = True
    lazy_fold(say("snapshot.fold"), partial(panel, index), key=_FOLD, icon="history")


def panel(index: IndexSummary) -> None:
    """Draw a field that saves the present state under a name, and the earlier states."""
    at_work = session.at_work(index)
    show_fault(_FAULT)
    markup.note(say("snapshot.explained", n=KEPT_STATES))
    _keep_present(index, at_work=at_work)
    states = session.workbench().snapshots.list(index.path)
    if not states:
        markup.note(say("snapshot.none"))
    for each in states:
        _row(index, each, at_work=at_work)
    compared = next((each for each in states if each.id == state.recall(COMPARED)), None)
    if compared is not None:
        _compare(index, compared)


def _keep_present(index: IndexSummary, *, at_work: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(say("snapshot.name"), key="snapshot_name", max_chars=MAX_NAME, width=280)
        label = say("snapshot.keep_present")
        buttons.secondary(label, "bookmark_add", "keep_snapshot", _keep, index, "", "snapshot_name", disabled=at_work)


def _row(index: IndexSummary, kept: Snapshot, *, at_work: bool) -> None:
    """Draw a state with its name, its description and its actions."""
    key = str(kept.number)
    name = html("<b>{}</b> ", isolated(kept.name)) if kept.name else ""
    day = say("snapshot.kept_on", time=numbers.day(kept.kept, language())) if kept.kept else ""
    facts = say(
        "snapshot.facts",
        documents=say("count.documents", n=kept.documents),
        size=numbers.size(kept.size_bytes),
        own=numbers.size(kept.own_bytes),
    )
    with st.container(border=True, gap="xsmall", key=f"snapshot_{key}"):
        description = joined_sentences(filter(None, (day, words(kept.because))))
        draw(html('<div class="lr-small">{}{}<br><span class="lr-muted">{}</span></div>', name, description, facts))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            label, opens, act = say("snapshot.open"), f"open_snapshot_{key}", state.remember
            earlier = earlier_id(index.id, kept)
            page_button("explore", label, "account_tree", opens, act, "index", earlier, look=buttons.tertiary)
            with st.popover(
                say("snapshot.rename" if kept.name else "snapshot.give_name"),
                icon=":material/bookmark:",
                type="tertiary",
                key=f"name_snapshot_{key}",
            ):
                field = f"snapshot_name_{key}_{kept.id}"
                st.text_input(say("snapshot.name"), value=kept.name, key=field, max_chars=MAX_NAME)
                buttons.primary(say("snapshot.keep"), "", f"primary_name_snapshot_{key}", _keep, index, key, field)
            label, wanted = say("snapshot.compare"), None if state.recall(COMPARED) == kept.id else kept.id
            button_key = f"compare_snapshot_{key}"
            buttons.tertiary(label, "compare_arrows", button_key, state.remember, COMPARED, wanted)
            label, icon, hint = say("snapshot.restore"), "settings_backup_restore", say("snapshot.restore_hint")
            button_key = f"restore_snapshot_{key}"
            buttons.tertiary(label, icon, button_key, _restore, index, kept, help=hint, disabled=at_work)
            if not at_work:
                deletion.button(
                    f"delete_snapshot_{key}",
                    say("snapshot.delete"),
                    say("snapshot.delete_title"),
                    kept.name or description,
                    say("snapshot.delete_means", size=numbers.size(kept.own_bytes)),
                    partial(session.workbench().snapshots.delete, index.path, key),
                )


def _keep(index: IndexSummary, number: str, field: str) -> None:
    """Save the state, or the index as it is, under the name in the field. For callbacks."""
    with kept_fault(_FAULT):
        session.workbench().snapshots.keep(index.path, st.session_state[field], number)
        if not number:
            st.session_state[field] = ""


def _restore(index: IndexSummary, kept: Snapshot) -> None:
    """Restore the index to the state. For callbacks."""
    with kept_fault(_FAULT):
        session.workbench().snapshots.restore(index.path, str(kept.number))
        st.toast(say("snapshot.restored"), icon=":material/settings_backup_restore:")


@st.cache_resource(show_spinner=False)
def _compared() -> BoundedCache[tuple[str, ...], ComparedStates]:
    return BoundedCache(16)


def _compare(index: IndexSummary, kept: Snapshot) -> None:
    """Draw the differences between the index and the state, and on request the results of a question set."""
    bench = session.workbench()
    key = (index.id, kept.id, session.open_index(index).id)
    with st.spinner(say("snapshot.comparing")):
        compared = _compared().get_or_make(key, lambda: bench.snapshots.compare(index.path, str(kept.number)))
    draw(markup.label(say("snapshot.compared", name=kept.name or words(kept.because))))
    _differences(compared.differences)
    sets = {
        each.id: visible(f"{each.title} ({each.n_evidence:,})")
        for each in bench.question_sets.all()
        if each.n_evidence and each.corpus_id == index.corpus_id
    }
    if not sets:
        markup.note(say("snapshot.no_questions"))
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = choices.dropdown("state_questions", say("snapshot.questions"), sets, width=320)
        clicked = buttons.secondary(say("snapshot.ask"), "rule", "ask_snapshot")
    comparison_key = (*key, chosen)
    if not clicked and comparison_key not in _compared():
        return
    questions = AskedOfStates(bench.question_sets.questions(chosen))
    with st.spinner(say("snapshot.asking"), show_time=True):
        answered = _compared().get_or_make(
            comparison_key, lambda: bench.snapshots.compare(index.path, str(kept.number), asked=questions)
        )
    if answered.questions is None:
        markup.note(say("snapshot.no_score"))
    else:
        _questions(answered.questions)


def _differences(shown: StateDifferences) -> None:
    head = ("", *(say(f"update.column.{name}") for name in ("changed", "new", "gone")))
    kinds = ("documents", shown.documents), ("entities", shown.entities), ("relations", shown.relations)
    rows = [
        (say(f"snapshot.row.{kind}"), *(f"{len(names):,}" for names in (each.changed, each.added, each.removed)))
        for kind, each in kinds
    ]
    draw(markup.facts_table(head, rows))
    for kind, each in kinds:
        _names(kind, each)
    layer_head = (
        say("snapshot.clusters"),
        *(say(f"update.column.{name}") for name in ("kept", "changed", "new", "gone")),
        say("snapshot.moved"),
        say("snapshot.rand"),
    )
    layers = []
    for moves in shown.layers:
        row, rand = moves.clusters, "–" if moves.adjusted_rand is None else numbers.score(moves.adjusted_rand, 3)
        counts = (f"{n:,}" for n in (row.kept, row.changed, row.new, row.gone, moves.moved))
        layers.append((f"L{row.layer}", *counts, rand))
    if layers:
        draw(markup.facts_table(layer_head, layers))
    draw(markup.muted(say("snapshot.texts", n=len(shown.texts), names=forms.first_of(shown.texts, _NAMES))))


def _names(kind: str, changes: Changes) -> None:
    for change, names in (("new", changes.added), ("gone", changes.removed), ("changed", changes.changed)):
        if names:
            title = say(f"update.column.{change}")
            draw(
                markup.muted(
                    say(
                        "snapshot.names",
                        what=say(f"snapshot.row.{kind}"),
                        how=title,
                        names=forms.first_of(names, _NAMES),
                    )
                )
            )


def _questions(shown: QuestionDifferences) -> None:
    gap = shown.difference
    ends = [numbers.difference(end, 3) for end in (gap.low, gap.high) if end is not None]
    bounds = f"[{', '.join(ends)}]" if ends else ""
    draw(
        markup.tiles(
            [
                (say("snapshot.recall_before"), numbers.score(shown.before.value, 3), ""),
                (say("snapshot.recall_after"), numbers.score(shown.after.value, 3), ""),
                (say("snapshot.difference"), numbers.difference(gap.value, 3), bounds),
                (
                    say("snapshot.won_lost"),
                    f"{len(shown.won):,} / {len(shown.lost):,}",
                    f"p {numbers.p_value(shown.p)}",
                ),
            ]
        )
    )
    for code, questions in (("snapshot.won", shown.won), ("snapshot.lost", shown.lost)):
        if questions:
            draw(markup.muted(say(code, n=len(questions), questions=forms.first_of(questions, _NAMES))))
