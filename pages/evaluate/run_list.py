"""The runs in the form of an experiment: systems with their options, also several variants of one system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import streamlit as st

from leanrag_core.evaluation.run_titles import run_titles, with_ids
from leanrag_core.retrieval.base import StrategyInfo
from leanrag_core.retrieval.settings import all_settings, own_settings, settings_line, shown_settings
from leanrag_core.retrieval.variants import VariantSettings, groups, settings_in_words
from leanrag_core.types.experiment import RunSpec
from leanrag_core.types.summary import IndexSummary
from pages.ask import option_rows
from pages.common import buttons, markup
from pages.common.html import draw, html
from pages.common.messages import say, words

_STARTERS = ("leanrag", "vector", "bm25")
_RUNS = "lr_experiment_runs"  # in the session: the drafts, in order
# In the session: the draft whose options are open, and whether all options are shown.
_OPEN, _MORE = "lr_experiment_run", "lr_experiment_run_more"
_ADD = "experiment_add"


@dataclass(frozen=True)
class Draft:
    """A planned run of an experiment. number: unique in the list. options: those that differ from the official ones."""

    number: int
    strategy: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Return the key of its widgets, and of its run before it has an index."""
        return f"run{self.number}"


def show(strategies: Mapping[str, StrategyInfo]) -> tuple[Draft, ...]:
    """Draw the list of runs with buttons that add, duplicate, change and remove them; return the drafts."""
    drafts = _drafts(strategies)
    titles = {key: words(title) for key, title in run_titles([_unplaced(each) for each in drafts]).items()}
    draw(markup.label(say("evaluate.form.runs"), say("evaluate.form.runs_hint")))
    with st.container(key="experiment_runs", gap=None):
        for draft in drafts:
            info = strategies[draft.strategy]
            _row(draft, info, titles[draft.key])
            if st.session_state.get(_OPEN) == draft.number:
                _options(draft, drafts, info, titles)
    for same, other in repeated(drafts, strategies).items():
        draw(markup.muted(say("evaluate.form.same_run", run=titles[same], other=titles[other])))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        names = {name: words(info.title) for name, info in strategies.items()}
        st.selectbox(
            say("evaluate.form.add"),
            list(names),
            index=None,
            format_func=names.__getitem__,
            placeholder=say("evaluate.form.add"),
            label_visibility="collapsed",
            key=_ADD,
            on_change=_add,
            width=260,
        )
        buttons.tertiary(say("evaluate.form.all_strategies"), "", "experiment_all", _add_all, tuple(strategies))
    return drafts


def take(runs: Sequence[tuple[str, Mapping[str, Any]]], strategies: Mapping[str, StrategyInfo]) -> None:
    """Fill the list with these strategies and their options."""
    st.session_state[_RUNS] = tuple(
        Draft(number, name, own_settings(strategies[name], options)) for number, (name, options) in enumerate(runs, 1)
    )
    st.session_state.pop(_OPEN, None)


def runs_of(drafts: Sequence[Draft], chosen: Sequence[IndexSummary]) -> tuple[RunSpec, ...]:
    """Return a run for each draft on each index, in the order of the indexes."""
    return with_ids([RunSpec("", index.id, draft.strategy, draft.options) for index in chosen for draft in drafts])


def repeated(drafts: Sequence[Draft], strategies: Mapping[str, StrategyInfo]) -> dict[str, str]:
    """Map the key of each draft that equals an earlier one to the key of the earlier one."""
    first: dict[str, str] = {}
    same = {}
    for draft in drafts:
        settings = repr((draft.strategy, all_settings(strategies[draft.strategy], draft.options)))
        if first.setdefault(settings, draft.key) != draft.key:
            same[draft.key] = first[settings]
    return same


def _drafts(strategies: Mapping[str, StrategyInfo]) -> tuple[Draft, ...]:
    """Return the drafts of the session whose strategies still exist."""
    if _RUNS not in st.session_state:
        take([(name, {}) for name in _STARTERS if name in strategies], strategies)
    return tuple(draft for draft in st.session_state[_RUNS] if draft.strategy in strategies)


def _unplaced(draft: Draft) -> RunSpec:
    """Return the draft's run without an index, so that it can be named."""
    return RunSpec("", "", draft.strategy, draft.options, id=draft.key)


def _row(draft: Draft, info: StrategyInfo, title: str) -> None:
    """Draw the run's title, its settings, and its buttons."""
    with st.container(
        horizontal=True, wrap=False, gap="xsmall", vertical_alignment="center", key=f"draft_row_{draft.number}"
    ):
        with st.container(width="stretch", gap=None):
            settings = words(settings_line(shown_settings(info, all_settings(info, draft.options))))
            draw(html('<div class="lr-run"><b>{}</b><span>{}</span></div>', title, settings))
        is_open = st.session_state.get(_OPEN) == draft.number
        for icon, code, act in (
            ("expand_less" if is_open else "tune", "close_run" if is_open else "set_run", _toggle),
            ("content_copy", "duplicate_run", _duplicate),
            ("close", "remove_run", _remove),
        ):
            key = f"experiment_{act.__name__.strip('_')}_{draft.key}"
            buttons.icon_alone(say(f"evaluate.form.{code}", run=title), icon, key, act, draft.number)


def _options(draft: Draft, drafts: Sequence[Draft], info: StrategyInfo, titles: Mapping[str, str]) -> None:
    """Draw the run's options by step; mark what differs from the first other variant, and fold away what all variants
    share."""
    alike = {
        each.key: VariantSettings(each.strategy, all_settings(info, each.options), {})
        for each in drafts
        if each.strategy == draft.strategy
    }
    other = next((key for key in alike if key != draft.key), "")
    beside = option_rows.Beside(titles[other], alike[other]) if other else None
    with st.container(border=True, gap="xsmall", key="experiment_run_options"):
        more = bool(st.session_state.get(_MORE))
        rows = option_rows.Rows(draft.key, more, beside)
        n_hidden = option_rows.of_strategy(info, alike[draft.key].options, rows, partial(_set, draft.number, info))
        label = say("compare.less") if more else say("compare.panel_more", n=n_hidden)
        buttons.tertiary(label, "", "experiment_run_more", st.session_state.__setitem__, _MORE, not more)
        for group in groups(alike):
            if group.differing:
                draw(
                    html(
                        '<details class="lr-run-equal"><summary>= {}</summary><div>{}</div></details>',
                        say("compare.equal_all", n=len(group.equal)),
                        words(settings_in_words(group.equal, alike[draft.key])),
                    )
                )


def _add() -> None:
    """Add the chosen system to the runs. For callbacks."""
    name = st.session_state[_ADD]
    if name:
        _put(Draft(_free_number(), name))
    st.session_state[_ADD] = None


def _add_all(names: Sequence[str]) -> None:
    """Add every system that the list does not contain yet. For callbacks."""
    listed_strategies = {draft.strategy for draft in st.session_state[_RUNS]}
    for name in names:
        if name not in listed_strategies:
            _put(Draft(_free_number(), name))


def _duplicate(number: int) -> None:
    """Add a run like this one below it, with its options open. For callbacks."""
    new_number = _free_number()
    for draft in st.session_state[_RUNS]:
        if draft.number == number:
            _put(replace(draft, number=new_number), after=number)
            st.session_state[_OPEN] = new_number


def _remove(number: int) -> None:
    st.session_state[_RUNS] = tuple(draft for draft in st.session_state[_RUNS] if draft.number != number)


def _toggle(number: int) -> None:
    st.session_state[_OPEN] = None if st.session_state.get(_OPEN) == number else number


def _set(number: int, info: StrategyInfo, name: str, value: Any) -> None:
    """Set the run's option to that value."""
    st.session_state[_RUNS] = tuple(
        replace(draft, options=own_settings(info, {**draft.options, name: value})) if draft.number == number else draft
        for draft in st.session_state[_RUNS]
    )


def _put(draft: Draft, after: int | None = None) -> None:
    drafts = list(st.session_state[_RUNS])
    numbers = [each.number for each in drafts]
    drafts.insert(numbers.index(after) + 1 if after in numbers else len(drafts), draft)
    st.session_state[_RUNS] = tuple(drafts)


def _free_number() -> int:
    return 1 + max((draft.number for draft in st.session_state[_RUNS]), default=0)
