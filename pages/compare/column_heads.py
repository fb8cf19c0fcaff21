"""The heads of the columns: names, settings, common settings, and trials that can be kept."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.figures.drawing import isolated
from leanrag_core.retrieval.variants import Setting, settings_in_words
from leanrag_core.storage.corpus_record import MAX_NAME
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.visible import shortened, visible_values
from leanrag_core.workbench.trials import MOST
from pages.common import buttons, session, state
from pages.common.component import component
from pages.common.html import draw, html, joined
from pages.common.messages import kept_fault, message, say, words
from pages.compare import columns, fragments, settings_panel
from pages.compare.loading import Loaded

_NAMES, _NAMES_KEY = Path(__file__).with_name("column_names.js"), "compare_names"
_EQUAL_NAMED = 6  # settings named in the line of equal settings before it is opened
_KEPT, KEEP_FAILED = "lr_compare_kept", "lr_compare_keep_failed"  # in the session


def show(loaded: Loaded, changeable: bool) -> None:
    """Draw the head of a column. changeable: whether name and settings can be changed, which is False in a saved
    comparison."""
    letter = loaded.letter
    draw(fragments.rule(letter))
    with st.container(
        horizontal=True, wrap=False, gap="xxsmall", vertical_alignment="center", key=f"compare_head_{letter.lower()}"
    ):
        with st.container(width="stretch", gap=None):
            draw(fragments.heading(loaded, renames=changeable))
        if changeable:
            pinned = state.recall("base") == letter.lower()
            code, icon = ("compare.unpin", "keep") if pinned else ("compare.pin", "keep_off")
            buttons.icon_alone(say(code, letter=letter), icon, f"compare_pin_{letter.lower()}", columns.pin, letter)
            _column_buttons(loaded)
    draw(fragments.settings(loaded))
    _trial_line(loaded)


def _column_buttons(loaded: Loaded) -> None:
    """Draw the buttons that duplicate the column and open its settings."""
    letter = loaded.letter
    key, is_full = letter.lower(), len(columns.letters()) >= columns.MOST
    label = say("compare.duplicate", letter=letter)
    act = settings_panel.duplicate
    buttons.icon_alone(label, "library_add", f"compare_duplicate_{key}", act, letter, disabled=is_full)
    label = say("compare.settings_of", letter=letter)
    buttons.icon_alone(label, "tune", f"compare_settings_{key}", settings_panel.toggle, letter)


def same_columns(chosen: Sequence[columns.Column]) -> None:
    """Draw which column no longer differs from an earlier one, with remedies; not for a new copy whose settings are
    still open."""
    for place, column in enumerate(chosen):
        twin = next((each for each in chosen[:place] if each.does_the_same(column)), None)
        if twin is None or settings_panel.is_unapplied(column.letter):
            continue
        letter = column.letter
        with st.container(
            horizontal=True, gap="small", vertical_alignment="center", key=f"compare_same_{letter.lower()}"
        ):
            with st.container(width="content", gap=None):
                message(say("compare.no_difference", letter=letter, other=twin.letter))
            if len(chosen) > columns.LEAST:
                label = say("compare.remove", letter=letter)
                buttons.secondary(label, "", f"compare_same_remove_{letter.lower()}", columns.remove, letter)
            label = say("compare.change_setting")
            buttons.secondary(label, "", f"compare_same_change_{letter.lower()}", settings_panel.open_for, letter)


def equal_line(chosen: Sequence[columns.Column]) -> None:
    """Draw the settings that columns of one strategy have in common, in one line that unfolds to a list."""
    for group in dict.fromkeys(column.group for column in chosen if column.group is not None):
        if not group.equal:
            continue
        own, n = next(iter(group.settings.values())), len(group.equal)
        config = next(column.info.config for column in chosen if column.group is group)
        in_row = {
            Setting(spec.name, of_index)
            for kind, of_index in ((config, False), (IndexConfig, True))
            for spec in fields(kind)
            if spec.metadata.get("in_row")
        }
        equal = sorted(group.equal, key=lambda each: (each not in in_row, each.of_index))
        code = "compare.equal_all" if len(group.settings) == len(chosen) else "compare.equal_some"
        title = say(code, n=n, letters=say("ask.comma").join(group.settings))
        first = words(settings_in_words(equal[:_EQUAL_NAMED], own))
        rest = say("compare.equal_more", n=n - _EQUAL_NAMED) if n > _EQUAL_NAMED else ""
        rows = joined(
            html("<div><span>{}</span> <b>{}</b></div>", words(each.title), words(each.value_words(own.value(each))))
            for each in equal
        )
        template = '<details class="lr-equal"><summary><b>= {}</b> <span>{}{}</span></summary><div>{}</div></details>'
        draw(html(template, title, first, rest, rows))


def _trial_line(loaded: Loaded) -> None:
    """Draw, for a column with a trial index, how long making it took, and the button that keeps it."""
    column, letter = loaded.live, loaded.letter.lower()
    kept = st.session_state.get(_KEPT, {}).get(loaded.letter)
    if column is None:
        return
    if kept and column.base.id == kept and not column.changed:
        draw(html('<div class="lr-trial">{}</div>', say("compare.kept", name=isolated(column.base.title))))
        return
    if not column.is_trial:
        if column.group and any(setting.of_index for setting in column.group.differing):
            draw(html('<div class="lr-trial">{}</div>', say("compare.of_index", name=isolated(column.summary.title))))
        return
    trial = next((each for each in session.workbench().trials.all() if each.id == column.summary.id), None)
    with st.container(
        horizontal=True, wrap=False, gap="small", vertical_alignment="center", key=f"compare_trial_{letter}"
    ):
        with st.container(width="stretch", gap=None):
            time = numbers.duration(trial.seconds if trial else 0.0)
            draw(html('<div class="lr-trial">{}</div>', say("compare.trial_made", time=time, most=MOST)))
        key = f"compare_keep_{letter}"
        buttons.secondary(say("compare.keep"), "bookmark_add", key, keep_trial, column, help=say("compare.keep_help"))


def name_to_keep(column: columns.Column) -> str:
    """Return the name under which the column's trial is kept: its base's name, and what differs."""
    config = column.settings
    parts = [words(Setting(name, of_index=True).words(config.index[name])) for name in column.changed]
    own = "".join(say("ask.comma") + part for part in parts)
    return f"{shortened(column.base.name, MAX_NAME - len(own))}{own}"


def keep_trial(column: columns.Column) -> None:
    """Keep the column's trial as one of the indexes, under a name that says what differs. For callbacks."""
    with kept_fault(KEEP_FAILED):
        _take(column, session.workbench().trials.keep(column.summary.id, name_to_keep(column)))


def _take(column: columns.Column, kept: str) -> None:
    """Give the column the index that was its trial."""
    panel = [settings_panel.DRAFT] if settings_panel.shown() == column.letter else []
    for scope in (column.scope, *panel):
        state.forget(*(scope.name(columns.index_name(setting)) for setting in column.changed))
        state.remember(scope.name("index"), kept)
    st.session_state.setdefault(_KEPT, {})[column.letter] = kept


def let_rename() -> None:
    """Make the names in the heads editable, with one component for all columns."""
    data = visible_values({"named": say("compare.rename"), "longest": columns.LONGEST_TITLE})
    component(_NAMES, "<span></span>")(data=data, key=_NAMES_KEY, on_renamed_change=_renamed)


def _renamed() -> None:
    renamed = st.session_state[_NAMES_KEY].get("renamed") or {}
    letter = str(renamed.get("letter", "")).upper()
    if letter in columns.LETTERS:
        columns.rename(letter, str(renamed.get("name", "")))
