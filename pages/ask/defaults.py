"""The settings that a person saved for an index on the board; a session without other choices starts with them."""

from collections.abc import Mapping

import streamlit as st

from leanrag_core.retrieval.base import StrategyInfo
from leanrag_core.retrieval.settings import all_settings
from leanrag_core.types.summary import IndexSummary
from leanrag_core.workbench.settings import AskedWith
from pages.ask import controls, presets
from pages.common import session, state
from pages.common.frame import plain_errors
from pages.common.scope import Scope

_BEGUN = "lr_defaults"  # by scope, the index whose settings were applied


def begin(scope: Scope, summary: IndexSummary, strategies: Mapping[str, StrategyInfo]) -> None:
    """Set the controls of the scope to the settings of the index, once per index, unless others were chosen."""
    begun: dict[str, str] = st.session_state.setdefault(_BEGUN, {})
    before = begun.get(scope.prefix)
    if before == summary.id:
        return
    begun[scope.prefix] = summary.id
    with plain_errors():
        known = session.workbench().defaults
        left, asked = known.chosen_for(before) if before else None, known.chosen_for(summary.id)
        if left is not None and is_held(scope, left, strategies):
            forget(scope, left, strategies)
        if asked is not None and asked.strategy in strategies and not _is_set(scope, asked, strategies):
            take(scope, asked, strategies)


def take(scope: Scope, chosen: AskedWith, strategies: Mapping[str, StrategyInfo]) -> None:
    """Set the controls of the scope to that strategy with those options."""
    state.remember(scope.name("strategy"), chosen.strategy)
    presets.set_options(scope, strategies[chosen.strategy], chosen.options, reset=True)


def is_held(scope: Scope, chosen: AskedWith, strategies: Mapping[str, StrategyInfo]) -> bool:
    """Return whether the controls have exactly these values."""
    if chosen.strategy not in strategies:
        return False
    current = controls.held(scope, strategies)
    return current.strategy == chosen.strategy and current.options == all_settings(
        strategies[chosen.strategy], chosen.options
    )


def forget(scope: Scope, chosen: AskedWith, strategies: Mapping[str, StrategyInfo]) -> None:
    """Reset the controls of the scope to the official settings."""
    state.forget(*_names(scope, chosen, strategies))


def _names(scope: Scope, chosen: AskedWith, strategies: Mapping[str, StrategyInfo]) -> list[str]:
    beside = {scope.name(name) for name in ("index", "q", "step", "node", "show")}
    every = controls.url_names(scope, {chosen.strategy: strategies[chosen.strategy]})
    return [name for name in every if name not in beside]


def _is_set(scope: Scope, chosen: AskedWith, strategies: Mapping[str, StrategyInfo]) -> bool:
    return any(state.recall(name) for name in _names(scope, chosen, strategies))
