"""Compare: several strategies, settings or indexes on the same question, side by side."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from leanrag_core.comparing.as_code import code_of_comparison
from leanrag_core.comparing.sharing import compare
from leanrag_core.retrieval.base import strategies as all_strategies
from leanrag_core.types.summary import IndexSummary
from pages.ask import beside_view, defaults, question_view
from pages.build import job_view
from pages.common import buttons, choices, code_view, session, state, unkept
from pages.common.frame import enter, gone_index, heading, kind_line, plain_errors
from pages.common.html import draw, draw_styles, html
from pages.common.messages import language, message, say
from pages.common.scope import PAGE, Scope
from pages.compare import (
    board_view,
    column_heads,
    columns,
    contexts_view,
    fragments,
    gold_view,
    loading,
    missed_view,
    multiples_view,
    other_lanes,
    saved_view,
    set_view,
    settings_panel,
    sharing_view,
    side_by_side,
    trials_view,
)
from pages.compare.columns import Column


def page() -> None:
    summary = enter("compare")
    draw_styles(Path(__file__).with_name("compare.css"))
    listed = all_strategies()
    strategies = listed.by_name()
    saved = saved_view.opened()
    if saved is not None:
        view = _views((columns.SIDE, columns.CONTEXTS, columns.MISSED))
        saved_view.show(saved, view)
        state.publish(columns.url_names(strategies))
        return
    if summary is None:
        heading(say("page.compare"))
        if not gone_index():
            job_view.no_index()
        saved_view.open_button()
        state.publish(columns.url_names(strategies))
        return
    indexes = {each.id: each for each in (*session.index_list().indexes, summary)}  # which may be an earlier state
    wanted = st.session_state.pop(beside_view.OPEN_SETTINGS, "")
    if wanted in columns.letters():
        settings_panel.open_for(wanted)
    defaults.begin(columns.scope_of("A"), summary, strategies)
    chosen = columns.chosen_columns(summary, indexes, strategies)
    unkept.note({each.summary.id: column_heads.name_to_keep(each) for each in chosen if each.is_trial})
    place = _head(chosen)
    for broken in listed.broken:
        message(broken.message, title=say("ask.broken_strategy"))
    view = _toolbar(chosen)
    state.publish(columns.url_names(strategies))
    question = state.recall("q")
    if _show_gone(indexes):  # otherwise another index would answer the question
        return
    with plain_errors():
        if any(column.unmade for column in chosen):
            _compare(chosen, question, columns.SIDE, indexes, place)
        elif view == columns.QUESTIONS:
            set_view.show(chosen)
        elif view == columns.BOARD:
            board_view.show(chosen, strategies)
        elif view == columns.MULTIPLES:
            multiples_view.show(chosen[0], question)
        elif question:
            _compare(chosen, question, view, indexes, place)
        else:
            _compare(chosen, "", columns.SIDE, indexes, place)
            kind_line(summary)
            offered = session.workbench().corpora.samples.examples(summary.corpus_id) is not None
            first = say("compare.first_visit") if offered else say("compare.first_visit.no_examples")
            draw(html('<div class="lr-small lr-muted">{}</div>', first))
            question_view.examples(PAGE, summary, askers=_askers())
            saved_view.open_button()
    state.publish(columns.url_names(strategies))


def _show_gone(indexes: Mapping[str, IndexSummary]) -> bool:
    """Name the columns whose index is gone, with what to do; return whether there are any."""
    gone = columns.gone_indexes(indexes)
    for letter, id_ in gone.items():
        message(say("compare.index_gone", letter=letter, index=id_), kind="error", title=say("frame.index_not_here"))
        buttons.secondary(
            say("compare.take_index_of_page"), "", f"compare_index_{letter}", columns.take_index_of_page, letter
        )
    return bool(gone)


def _askers() -> list[Scope]:
    return [columns.scope_of(letter) for letter in columns.letters()]


def _head(chosen: Sequence[Column]) -> DeltaGenerator:
    """Draw title, buttons and question; return the place of the share button."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="compare_title"):
        with st.container(width="stretch", gap=None):
            heading(say("page.compare"), _facts(chosen))
        buttons.tertiary(
            say("compare.add_column"), "add", "compare_add", columns.add, disabled=len(chosen) >= columns.MOST
        )
        shared_place = st.container(horizontal=True, wrap=False, width="content", gap="small")
    if state.recall("cview") != columns.BOARD:  # the set view asks all questions of the set
        question_view.form(PAGE, button="compare.button", icon="play_arrow", askers=_askers())
    return shared_place


def _facts(chosen: Sequence[Column]) -> str:
    """Return in a line what is compared."""
    if state.recall("cview") == columns.BOARD:
        return say("board.facts", n=len(gold_view.questions_of(chosen[0].summary)))
    return fragments.columns_sentence([loading.blank(column, "") for column in chosen])


def _views(views: tuple[str, ...]) -> str:
    """Draw the choice of a view and return it."""
    titles = {name: say(f"compare.view.{name}") for name in views}
    return choices.segments("cview", say("compare.view"), titles, label_visibility="collapsed", wrap=True)


def _toolbar(chosen: Sequence[Column]) -> str:
    """Draw view, budget, "only differences" and baseline in a row, and return the view."""
    budgets = {
        columns.OFFICIAL: say("compare.budget.official"),
        columns.EQUAL: say("compare.budget.equal", n=columns.equal_tokens()),
    }
    on_board = state.recall("cview") == columns.BOARD
    key = "board_toolbar" if on_board else "compare_toolbar"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=key):
        view = _views(columns.VIEWS)
        if on_board:
            return view
        chosen_budget = choices.segments("budget", say("compare.budget"), budgets, label_visibility="collapsed")
        if chosen_budget == columns.EQUAL:
            look: dict[str, Any] = {"step": 500, "label_visibility": "collapsed", "width": 120}
            choices.number("equal", say("compare.equal_tokens"), columns.EQUAL_TOKENS, (200, 64_000), **look)
        if view in (columns.SIDE, columns.CONTEXTS):
            choices.toggle("differ", say("compare.only_differences"))
        _baseline(chosen)
    return view


def _baseline(chosen: Sequence[Column]) -> None:
    titles = {"": say("compare.no_baseline")}
    titles |= {column.letter.lower(): f"{column.letter} {column.title}" for column in chosen}
    choices.dropdown("base", say("compare.baseline"), titles, label_visibility="collapsed", width=210)


def _compare(
    chosen: Sequence[Column], question: str, view: str, indexes: Mapping[str, IndexSummary], place: DeltaGenerator
) -> None:
    loaded = [loading.load(column, question) for column in chosen]
    traces = loading.traces_of(loaded)
    shared = compare(traces, language())
    differ = state.recall("differ") == "1"
    gold = gold_view.of_question(loaded, question)
    if traces:
        with place:
            by_letter = {column.letter: column.as_code for column in chosen if not column.unmade}
            code_view.button(
                partial(code_of_comparison, session.workbench().root, by_letter, question), key="compare_code"
            )
            saved_view.share_button(loaded, shared, gold, question)
            saved_view.present_button(loaded, gold, question)
    if view == columns.SIDE:
        with st.container(horizontal=True, wrap=False, gap="medium", key="compare_body"):
            main = st.container(width="stretch", key="compare_main")
            settings_panel.show(chosen, indexes)
        with main:
            column_heads.same_columns(chosen)
            column_heads.equal_line(chosen)
            places = side_by_side.show(loaded, shared, gold, indexes, differences_only=differ)
            if traces:
                sharing_view.strip(loaded, shared, gold)
            trials_view.show(chosen)
        side_by_side.wait(loaded, places)
    elif view == columns.CONTEXTS:
        contexts_view.show(loaded, differences_only=differ)
    elif view == columns.MISSED:
        missed_view.show(loaded, gold, question)
        if gold.evidence:
            other_lanes.show(loaded, gold.evidence[missed_view.chosen_piece(gold)])
        set_view.losses(chosen)
    if question:
        saved_view.open_button()
    side_by_side.drawers(loaded)


page()
