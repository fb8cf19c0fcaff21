"""The controls of a retrieval: its strategy, the strategy's main options in a row, and a button to the others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass
from functools import cache
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from leanrag_core.files.records import may_be_absent
from pages.common import choices, forms, state, widgets
from pages.common.html import draw, html
from pages.common.messages import say, words
from pages.common.scope import Scope


@dataclass(frozen=True)
class Chosen:
    """The chosen strategy and its option values. calls_model: whether the strategy calls a model to retrieve."""

    strategy: str
    options: dict[str, Any]
    calls_model: bool


def url_names(scope: Scope, strategies: Mapping[str, Any]) -> list[str]:
    """Return the names in links of what these controls and the views of a retrieval show."""
    specs = [(name, spec) for name, info in strategies.items() for spec in forms.option_fields(info.config).values()]
    shared = dict.fromkeys(spec.metadata["link"] for _, spec in specs if spec.metadata.get("link"))
    names = ["index", "q", "strategy", *shared, "step", "node", "show"]
    names += [f"{name}_use" for name in strategies]
    names += [forms.link_name(spec, f"{name}_") for name, spec in specs if not spec.metadata.get("link")]
    return [scope.name(name) for name in names]


def held(scope: Scope, strategies: Mapping[str, Any], *, default: str = "") -> Chosen:
    """Return the values of the controls of that scope, drawn or not. default: the strategy while none was chosen."""
    name = state.fitting(scope.name("strategy"), default, str, lambda value: value in strategies)
    if name not in strategies:
        name = next(iter(strategies))
    options: dict[str, Any] = {}
    config = strategies[name].config
    specs = forms.option_fields(config)
    switches = [field for field, spec in specs.items() if is_switch(spec)]
    used = state.fitting(scope.name(f"{name}_use"), _switched_on(specs, switches), _parts_of, _among(switches))
    for field, spec in specs.items():
        link = scope.name(forms.link_name(spec, f"{name}_"))
        if field in switches:
            options[field] = field in used
        elif spec.metadata.get("in_row") and spec.metadata.get("low") is not None:
            bounds = range(int(spec.metadata["low"]), int(spec.metadata["high"]) + 1)
            options[field] = state.fitting(link, spec.default, int, bounds.__contains__)
        else:
            value = forms.field_value(config, field, link)
            is_text = spec.default is None or isinstance(spec.default, str)
            options[field] = (value or spec.default) if is_text else value
    options = {field: value for field, value in options.items() if not _is_unsaid(specs[field], value)}
    return Chosen(name, options, strategies[name].calls_model)


def _is_unsaid(spec: Field[Any], value: Any) -> bool:
    """Return whether records omit the option at that value."""
    return may_be_absent(spec) and bool(value == spec.default)


def is_switch(spec: Field[Any]) -> bool:
    """Return whether an option is a switch in the row."""
    return bool(spec.metadata.get("in_row")) and isinstance(spec.default, bool)


def _switched_on(specs: Mapping[str, Field[Any]], switches: Sequence[str]) -> list[str]:
    return sorted(field for field in switches if specs[field].default)


def _parts_of(text: str) -> list[str]:
    return [] if text == "none" else sorted(text.split(","))


def _among(switches: Sequence[str]) -> Callable[[list[str]], bool]:
    return lambda parts: set(parts) <= set(switches)


@dataclass(frozen=True)
class Controls:
    """The values of the controls, and a function that draws the options behind the button. Nothing on the page waits
    for them, so they are drawn after the picture; a second call does nothing."""

    chosen: Chosen
    draw_rest: Callable[[], None]


def show(
    scope: Scope, strategies: Mapping[str, Any], *, above: Callable[[Scope, Any], None] = lambda scope, info: None
) -> Controls:
    """Draw the controls in a row. strategies: by name. above: draws what stands above the other options behind the
    button, for the chosen strategy."""
    with st.container(horizontal=True, vertical_alignment="top", gap="medium", key=scope.name("params")):
        titles = {name: words(info.title) for name, info in strategies.items()}
        name = choices.dropdown(scope.name("strategy"), say("ask.strategy"), titles, width=210)
        config = strategies[name].config
        specs = forms.option_fields(config)
        in_row = [field for field, spec in specs.items() if spec.metadata.get("in_row")]
        switches = [field for field in in_row if is_switch(specs[field])]
        for field in in_row:
            if field not in switches:
                _slider(scope, specs[field], forms.link_name(specs[field], f"{name}_"))
        if switches:
            _switches(scope, f"{name}_use", specs, switches)
        rest = [field for field in specs if field not in in_row]
        place = _more_settings(scope) if rest else None

    @cache
    def draw_rest() -> None:
        if place is not None:
            with place:
                above(scope, strategies[name])
                for field in rest:
                    forms.draw_field(config, field, under=scope.name(forms.link_name(specs[field], f"{name}_")))

    return Controls(held(scope, strategies), draw_rest)


def _more_settings(scope: Scope) -> DeltaGenerator:
    with st.container(gap="xsmall", width="content"):
        draw(html('<div class="lr-small" style="height:1.35rem"></div>'))
        key = scope.name("more_settings")
        return st.popover(say("ask.more_settings"), icon=":material/tune:", type="tertiary", width="content", key=key)


def _slider(scope: Scope, spec: Field[Any], link: str) -> None:
    """Draw the slider of a number; strategies may share its name, each with bounds of its own."""
    low, high = int(spec.metadata["low"]), int(spec.metadata["high"])

    def allowed(value: int) -> bool:
        return low <= value <= high

    # A value from a link extends the scale, which does not shrink while a person moves the handle back.
    widest, name = scope.key(f"widest_{link}"), scope.name(link)
    now = state.fitting(name, spec.default, int, allowed)
    st.session_state[widest] = max(spec.metadata.get("scale") or high, now, st.session_state.get(widest, 0))
    top = min(high, st.session_state[widest])
    label = forms.title_of(spec.name)
    widgets.remembered(
        name,
        spec.default,
        lambda mount: st.slider(label, low, top, mount.value, **mount.wired, width=160, help=forms.hint(spec)),
        widgets.Values(parse=int, allowed=allowed, form=(low, top)),
    )


def _switches(scope: Scope, name: str, specs: Mapping[str, Field[Any]], fields: list[str]) -> None:
    """Draw the switches of a strategy's parts, remembered per strategy."""
    default = _switched_on(specs, fields)
    titles = {field: forms.title_of(field) for field in fields}
    widgets.remembered(
        scope.name(name),
        default,
        lambda mount: choices.several_pills(
            say("ask.use"), titles, mount.value, **mount.wired, width="content", wrap=True
        ),
        widgets.Values(
            parse=_parts_of,
            allowed=_among(fields),
            write=lambda parts: ",".join(parts) or "none",
            read=sorted,
            form=tuple(fields),
        ),
        key=scope.key("use"),
    )
