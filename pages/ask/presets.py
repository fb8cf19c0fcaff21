"""Presets of a strategy as buttons, and setting options from outside their widgets."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from leanrag_core.retrieval.base import StrategyInfo
from pages.ask import controls
from pages.common import buttons, forms, state
from pages.common.messages import words
from pages.common.scope import Scope


def show(scope: Scope, info: StrategyInfo) -> None:
    """Draw a button for each preset; none if the defaults are the only one."""
    if not any(preset.options for preset in info.presets):
        return
    with st.container(horizontal=True, gap="xsmall"):
        for preset in info.presets:
            key = scope.name(f"preset_{info.name}_{preset.name}")
            buttons.secondary(forms.plain(words(preset.title)), "", key, take, scope, info, preset.name)


def take(scope: Scope, info: StrategyInfo, name: str) -> None:
    """Set the strategy's options to those of that preset, and all others to their defaults. For callbacks."""
    set_options(scope, info, info.preset(name).options, reset=True)


def set_options(scope: Scope, info: StrategyInfo, options: Mapping[str, Any], *, reset: bool = False) -> None:
    """Set the strategy's options to these values. reset: set all others to their defaults."""
    specs = forms.option_fields(info.config)
    switches = [name for name, spec in specs.items() if controls.is_switch(spec)]
    if reset or any(name in switches for name in options):
        current_options = controls.held(scope, {info.name: info}).options
        base = {name: specs[name].default if reset else current_options[name] for name in switches}
        used = sorted(name for name in switches if {**base, **options}[name])
        state.remember(scope.name(f"{info.name}_use"), ",".join(used) or "none")
    for name, spec in specs.items():
        if name in switches or not (reset or name in options):
            continue
        value = options.get(name, spec.default)
        link = scope.name(forms.link_name(spec, f"{info.name}_"))
        state.remember(link, None if value == spec.default else value)
