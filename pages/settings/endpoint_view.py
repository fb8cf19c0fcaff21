"""The server of the settings: does it answer, which models it has, and the choice among them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.models.listing import ModelList, context_windows, list_models
from leanrag_core.system.threads import BoundedCache
from leanrag_core.types.settings import Settings
from pages.common import forms, keys, session, state, widgets
from pages.common.frame import message
from pages.common.html import draw, html
from pages.common.messages import say

_PATIENCE = 6.0  # seconds for a list of models; a page waits for it
_WINDOWS_ASKED = 12  # models whose context window is asked for


@dataclass(frozen=True)
class Tested:
    """A connection that was tried. windows: tokens that a model reads, None where the server does not tell."""

    models: ModelList
    windows: dict[str, int | None]


def is_set_up(settings: Settings) -> bool:
    """Whether there is an address, or a key for OpenAI's own."""
    return bool(settings.base_url) or keys.has_key(settings)


def listing(settings: Settings) -> ModelList:
    """The server's models. One on this machine is asked at most every half minute; another machine hears nothing, and
    gets no key, before somebody has tested the connection."""
    if settings.local:
        return _listing(settings.base_url, settings.key_variable, keys.has_key(settings))
    return _tested().get(_who(settings), ModelList())


def _who(settings: Settings) -> tuple[str, str]:
    return settings.base_url, settings.key_variable


@st.cache_resource(show_spinner=False)
def _tested() -> BoundedCache[tuple[str, str], ModelList]:
    """What servers elsewhere answered when their connection was tested."""
    return BoundedCache(64)


@st.cache_data(ttl=30, max_entries=8, show_spinner=False)
def _listing(base_url: str, key_variable: str, has_key: bool) -> ModelList:
    bench = session.workbench()
    settings = _patient(replace(bench.settings.read(), base_url=base_url))
    return list_models(bench.models.endpoint(settings))


def _patient(settings: Settings) -> Settings:
    return replace(settings, timeout_seconds=min(_PATIENCE, settings.timeout_seconds))


def test_connection(settings: Settings) -> Tested:
    """The server is asked now for its models and their context windows."""
    _listing.clear()
    endpoint = session.workbench().models.endpoint(_patient(settings))
    listed = list_models(endpoint)
    if listed.error is None:
        listed = list_models(endpoint)  # the first time, loading the client took longer than the server
    _tested().keep(_who(settings), listed)
    return Tested(listed, context_windows(endpoint, listed.names[:_WINDOWS_ASKED]))


def show_test(tested: Tested, settings: Settings) -> None:
    """What answered, how many models, how fast; else what went wrong."""
    listed = tested.models
    if listed.error is not None:
        message(listed.error, kind="error", title=say("settings.connection.none"))
        if listed.nothing_there and not settings.base_url.rstrip("/").endswith("/v1"):
            draw(html('<div class="lr-small">{}</div>', say("settings.connection.up_to_v1")))
        return
    taken = numbers.duration(listed.seconds)
    message(say("settings.connection.good", address=listed.address, n=len(listed.names), time=taken), kind="good")
    if not listed.names:
        message(say("settings.connection.no_model"))
        return
    model, window, price = (say(f"settings.connection.{name}") for name in ("model", "window", "price"))
    table = pd.DataFrame(
        {
            model: listed.names,
            window: [_window(tested, name) for name in listed.names],
            price: [_price(settings, name) for name in listed.names],
        }
    )
    st.dataframe(
        table,
        hide_index=True,
        height=forms.table_height(len(table), 260),
        column_config={
            model: st.column_config.TextColumn(width=220),
            window: st.column_config.TextColumn(width=130),
            price: st.column_config.TextColumn(width=140),
        },
    )


def _window(tested: Tested, name: str) -> str:
    if name not in tested.windows:
        return "–"
    window = tested.windows[name]
    return say("settings.connection.unknown") if window is None else f"{window:,}"


def _price(settings: Settings, name: str) -> str:
    price = settings.prices.get(name)
    if price is None:
        return "–"
    return say(
        "settings.connection.price_of", prompt=numbers.money(price.prompt), reply=numbers.money(price.completion)
    )


def pick_model(
    title: str,
    name: str,
    models: ModelList,
    *,
    blank: str = "",
    names: Sequence[str] | None = None,
    on_pick: Callable[[str], None] | None = None,
) -> str:
    """The model that is remembered under `name`: chosen from the server's list, or written. blank: says what none
    means, where there may be none. on_pick: called when another one is chosen."""
    listed = list(models.names if names is None else names)
    chosen = state.recall(name)
    if not chosen and not blank and len(listed) == 1:
        chosen = listed[0]
        state.remember(name, chosen)
    options = [*([""] if blank else []), *listed, *([chosen] if chosen and chosen not in listed else [])]

    def pick(mount: widgets.Mount[str]) -> str | None:
        if listed:
            index = options.index(mount.value) if mount.value in options else None
            picked = st.selectbox(
                title,
                options,
                format_func=lambda model: model or blank,
                key=mount.key,
                on_change=mount.changed,
                accept_new_options=True,
                index=index,
                placeholder=say("settings.model.choose"),
            )
        else:
            hint = blank or say("settings.model.write")
            picked = st.text_input(title, value=mount.value, key=mount.key, on_change=mount.changed, placeholder=hint)
        return picked

    def keep(wanted: str) -> None:
        state.remember(name, wanted)
        if on_pick is not None:
            on_pick(wanted)

    base = f"lr_{name}_{'chosen' if listed else 'written'}"
    picked: str = widgets.show(base, chosen, pick, keep, read=lambda stored: str(stored or "").strip())
    return picked
