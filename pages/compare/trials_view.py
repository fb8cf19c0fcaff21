"""The list of trial indexes: what each is, its size on disk, and a button that deletes it."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.figures.drawing import isolated
from leanrag_core.retrieval.variants import Setting
from leanrag_core.types.config import SETTINGS
from leanrag_core.types.summary import IndexSummary
from leanrag_core.workbench.trials import Trial
from pages.common import buttons, session
from pages.common.html import draw, html
from pages.common.messages import kept_fault, say, show_fault, words
from pages.compare.columns import Column

_FAILED = "lr_trials_failed"  # in the session: why deleting failed
_FOLD = "lr_trials_fold"  # in the session: _Fold


@dataclass(frozen=True)
class _Fold:
    """The fold as it was drawn last. expanded: what it began with under its title."""

    title: str = ""
    expanded: bool = False
    open: bool = False


def show(chosen: Sequence[Column]) -> None:
    """Draw the list in a fold; nothing while there are none."""
    show_fault(_FAILED)
    trials = session.workbench().trials.all()
    if not trials:
        return
    used = {column.summary.id: column.letter for column in chosen}
    bases = {index.id: index for index in session.index_list().indexes}
    size = numbers.size(sum(trial.summary.size_bytes for trial in trials))
    title, before = say("trials.title", n=len(trials), size=size), st.session_state.get(_FOLD, _Fold())
    expanded = before.expanded if before.title == title else before.open  # another title makes another fold
    with st.expander(title, expanded=expanded, key="compare_trials", on_change="rerun") as fold:
        st.session_state[_FOLD] = _Fold(title, expanded, bool(fold.open))
        if not fold.open:
            return
        for trial in trials:
            _row(trial, bases.get(trial.base), used.get(trial.id, ""))
        free = [trial.id for trial in trials if trial.id not in used]
        label, clear = say("trials.clear_all", n=len(free)), kept_fault(_FAILED)(session.workbench().trials.clear)
        buttons.tertiary(label, "delete", "trials_clear_all", clear, *free, disabled=not free)


def _row(trial: Trial, base: IndexSummary | None, used_by: str) -> None:
    """Draw a trial: the changed settings and their index, its size, and whether a column uses it."""
    trial_settings = trial.summary.config.by_name()
    recorded = base.config.by_name() if base else {}
    names = [name for name in SETTINGS if base is None or trial_settings.get(name) != recorded.get(name)]
    changes = say("ask.comma").join(words(Setting(name, of_index=True).words(trial_settings[name])) for name in names)
    facts = say("trials.facts", base=isolated(trial.summary.name), size=numbers.size(trial.summary.size_bytes))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        with st.container(width="stretch", gap=None):
            note = say("trials.used", letter=used_by) if used_by else ""
            draw(html('<div class="lr-trial"><b>{}</b> {} {}</div>', changes, facts, note))
        label, clear = say("trials.clear"), kept_fault(_FAILED)(session.workbench().trials.clear)
        buttons.tertiary(label, "", f"trials_clear_{trial.id}", clear, trial.id, disabled=bool(used_by))
