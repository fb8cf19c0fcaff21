"""Widgets for settings: the file is authoritative; a valid change is saved at once, an invalid one is reported."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.system import addresses
from leanrag_core.system.addresses import AddressKind
from leanrag_core.types.settings import Settings
from pages.common import buttons, forms, keys, markup, reveal, session, state, widgets
from pages.common.html import draw, html
from pages.common.messages import message, say, words

_HARMLESS = re.compile(  # not yet an address, but no secret: localhost:1234/v1, api.example.com/v1, http://
    r"((https?|tcp|tls)://|((https?|tcp|tls)://)?"
    r"(localhost|\d{1,3}(\.\d{1,3}){3}|[A-Za-z0-9-]{1,40}(\.[A-Za-z0-9-]{1,40})*\.[a-z]{2,10}))"
    r"(:\d{1,5})?(/[a-z]{1,12}\d{0,2}){0,3}/?"
)
_BARE_NAME = re.compile(r"(tcp|tls)://[a-z][a-z0-9-]{0,30}|[a-z][a-z0-9-]{0,30}:878[67]")  # tcp://head, head:8786


@dataclass(frozen=True)
class AddressField:
    """A field for an address of that kind. ends_at: the last part that is written; instead: where a password belongs;
    both are message codes."""

    kind: AddressKind
    example: str
    ends_at: str
    instead: str


_TO_V1, _TO_PORT, _INSTEAD = "settings.address.up_to_v1", "settings.address.up_to_port", "settings.address.instead"
ENDPOINT = AddressField(addresses.ENDPOINT, "http://localhost:11434/v1", _TO_V1, f"{_INSTEAD}.endpoint")
CHROMA = AddressField(addresses.CHROMA, "http://127.0.0.1:8000", _TO_PORT, f"{_INSTEAD}.chroma")
SCHEDULER = AddressField(addresses.SCHEDULER, "tcp://10.0.0.1:8786", _TO_PORT, f"{_INSTEAD}.scheduler")


def tidied(text: str, field: AddressField) -> str:
    """Return the text stripped of spaces at both ends, and of a trailing slash if the kind has no path."""
    text = text.strip()
    return text if field.kind.with_path else re.sub(r"([^/:])/+$", r"\1", text)


def fault_text(address: str, field: AddressField) -> str:
    """Return why this is no address for the field, without repeating it; empty for an address or an empty text."""
    fault = addresses.fault_of(address, field.kind)
    if fault is None:
        return ""
    schemes = say("settings.address.or").join(field.kind.schemes)
    ends_at, instead = say(field.ends_at), say(field.instead)
    code = f"settings.address.{fault.name.lower()}"
    return say(code, schemes=schemes, example=field.example, ends_at=ends_at, instead=instead)


def is_harmless(text: str, field: AddressField) -> bool:
    """Return whether an invalid address may stay on the page to be corrected, since it does not look like a secret."""
    return bool(_HARMLESS.fullmatch(text) or (field.kind.with_port and _BARE_NAME.fullmatch(text)))


_FAULTS = "lr_settings_faults"  # by the setting's name
_REFUSED = "lr_settings_refused"  # refused values that stay in their widgets, by the setting's name
_VISIT = "lr_settings_visit"
_Seen = TypeVar("_Seen")


def keep(name: str, value: Any) -> None:
    """Save the setting; fault() reports below its widget if that fails."""
    change(name, lambda settings: value)


def change(name: str, new_value: Callable[[Settings], Any]) -> None:
    """Save a setting as keep() does, with a value computed from the settings at the time of saving."""
    forgive(name)
    try:
        session.workbench().settings.change(lambda settings: replace(settings, **{name: new_value(settings)}))
    except LeanRAGError as error:
        refuse(name, words(error))


def refuse(name: str, problem: str, *, shown: str | None = None) -> None:
    """Show what is wrong with a setting below its widget. shown: the refused value, if it may stay in the widget."""
    st.session_state.setdefault(_FAULTS, {})[name] = problem
    if shown is not None:
        st.session_state.setdefault(_REFUSED, {})[name] = shown


def fault(name: str) -> bool:
    """Draw what is wrong with the last value for that setting; tell whether there is anything."""
    problem = st.session_state.get(_FAULTS, {}).get(name, "")
    if problem:
        message(problem, kind="error")
    return bool(problem)


def forgive(name: str) -> None:
    """Stop showing what was wrong with a setting."""
    for key in (_FAULTS, _REFUSED):
        st.session_state.get(key, {}).pop(name, None)


def begin() -> None:
    """Forget the refused values of an earlier visit of the page. Called at its top."""
    visit = state.memory().visit
    if st.session_state.get(_VISIT) != visit:
        for key in (_FAULTS, _REFUSED):
            st.session_state.pop(key, None)
        st.session_state[_VISIT] = visit


def is_refused(name: str) -> bool:
    """Return whether the last value for that setting was refused, even if its text was removed from the widget."""
    return name in st.session_state.get(_FAULTS, {})


def _standing(name: str, kept: str) -> str:
    """Return what the widget shows: the refused value, else the setting."""
    return str(st.session_state.get(_REFUSED, {}).get(name, kept))


def number(settings: Settings, name: str) -> None:
    """Draw a numeric setting with its help."""
    spec, now = forms.option_fields(Settings)[name], getattr(settings, name)
    fractional = isinstance(now, float)
    with reveal.place(name), st.container(gap="xsmall", key=f"setting_{name}"):
        widgets.show(
            f"set_{name}",
            now,
            lambda mount: st.number_input(
                forms.title_of(name),
                min_value=spec.metadata["low"],
                max_value=spec.metadata["high"],
                value=mount.value,
                step=(0.1 if name == "temperature" else 5.0) if fractional else 1,
                format="%.2f" if name == "temperature" else "%.0f" if fractional else None,
                **mount.wired,
            ),
            lambda wanted: keep(name, wanted),
            read=type(now),
        )
        draw(markup.hint(forms.hint(spec)))


def address_field(
    label: str, name: str, kept: str, field: AddressField, save: Callable[[str], None], *, example: str, hint: str
) -> None:
    """Draw the field of an address, which is saved if valid; otherwise draw what is wrong instead of the hint."""

    def wish(wanted: str) -> str | None:
        forgive(name)
        problem = fault_text(wanted, field)
        if not problem:
            save(wanted)
        elif is_harmless(wanted, field):
            refuse(name, problem, shown=wanted)
        else:  # possibly a key or a password, so it is removed from the page
            refuse(name, problem)
            return kept
        return None

    text_field(label, name, kept, wish, hint, example, read=partial(tidied, field=field))


def text_field(
    label: str,
    name: str,
    kept: str,
    wish: Callable[[str], str | None],
    hint: str,
    example: str,
    read: Callable[[str], str] = str.strip,
) -> None:
    """Draw the field of a text, and below it the hint, or what was wrong. wish: takes what is written; see keep in
    widgets.show(). read: tidies it."""
    with reveal.place(name), st.container(gap="xsmall", key=f"setting_{name}"):
        widgets.show(
            f"set_{name}",
            _standing(name, kept),
            lambda mount: st.text_input(label, value=mount.value, **mount.wired, placeholder=example),
            wish,
            read=lambda stored: read(str(stored or "")),
        )
        if not fault(name):
            draw(markup.hint(hint))


def look_button(
    server_kind: str,
    name: str,
    current_address: str,
    read_status: Callable[[str], _Seen],
    *,
    key: str,
    disabled: bool = False,
) -> _Seen | str | None:
    """Draw a button that contacts the address of that setting, and return the last result: a text says why it failed;
    None before a click, or after the address was changed or refused."""
    kept, refused = f"lr_seen_by_{key}", is_refused(name)
    blocked = refused or disabled or not current_address
    if buttons.secondary(say(f"settings.test.{server_kind}"), "network_check", key, disabled=blocked):
        with st.spinner(say(f"settings.waiting.{server_kind}")):
            try:
                st.session_state[kept] = (current_address, read_status(current_address))
            except LeanRAGError as error:
                st.session_state[kept] = (current_address, words(error))
    read_address, answer = st.session_state.get(kept, ("", None))
    return None if refused or read_address != current_address else answer


def address(settings: Settings) -> None:
    """Draw the field for the endpoint's address."""
    caption = say("settings.endpoint.hint")
    if os.environ.get("OPENAI_BASE_URL") and settings.base_url == os.environ["OPENAI_BASE_URL"]:
        caption = say("settings.endpoint.from_environment")
    address_field(
        forms.title_of("base_url"),
        "base_url",
        settings.base_url,
        ENDPOINT,
        lambda wanted: keep("base_url", wanted),
        example="https://api.openai.com/v1",
        hint=caption,
    )


def key_variable(settings: Settings) -> None:
    """Draw the name of the variable that holds the key, and whether the key is there. No widget holds the key
    itself."""

    def wish(wanted: str) -> str | None:
        problem = keys.fault_of_name(wanted)
        if problem:
            refuse("key_variable", problem)
            return settings.key_variable
        keep("key_variable", wanted)
        return None

    with reveal.place("key_variable"), st.container(key="setting_key_variable"):
        widgets.show(
            "set_key_variable",
            settings.key_variable,
            lambda mount: st.text_input(forms.title_of("key_variable"), value=mount.value, **mount.wired),
            wish,
            read=lambda stored: str(stored or "").strip(),
        )
    if not fault("key_variable"):
        sign = "ok" if keys.has_key(settings) or settings.local else "none"
        template = '<div class="lr-hint"><i class="lr-dot-{}" aria-hidden="true"></i>{}</div>'
        draw(html(template, sign, keys.key_state(settings)))
