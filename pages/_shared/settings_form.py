"""Settings as widgets: the file is the truth, a valid change is kept at once, a wrong one is told."""

import os
import re
from dataclasses import replace
from html import escape
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.storage.settings import read_settings
from leanrag_core.types.settings import Settings
from pages._shared import forms, keys, session
from pages._shared.frame import message

_FAULTS = "lr_settings_faults"
_LONGEST = 300  # characters of an address
_HOST = re.compile(r"[A-Za-z0-9_.:-]+")  # of a name, of IPv4, of IPv6
_HARMLESS = re.compile(  # what is no address yet, but no secret either: localhost:1234/v1, api.example.com/v1, http://
    r"(https?://)?([A-Za-z0-9-]{1,40}(\.[A-Za-z0-9-]{1,40})*\.[a-z]{2,10}|localhost|[\d.]{7,15})?(:\d{1,5})?(/[\w/.-]{0,40})?"
)


def keep(name: str, value: Any) -> None:
    """The setting is saved; one that cannot be is told by fault() below its widget. For callbacks."""
    st.session_state.setdefault(_FAULTS, {}).pop(name, None)
    bench = session.workbench()
    try:
        # What the file leaves open to the environment stays open.
        bench.save_settings(replace(read_settings(bench.root / "settings.json"), **{name: value}))
    except LeanRAGError as error:
        refuse(name, str(error))


def refuse(name: str, said: str) -> None:
    """What is wrong with a setting is shown below its widget."""
    st.session_state.setdefault(_FAULTS, {})[name] = said


def fault(name: str) -> bool:
    """Draws what is wrong with the last wish for that setting; whether something is."""
    said = st.session_state.get(_FAULTS, {}).get(name, "")
    if said:
        message(said, kind="error")
    return bool(said)


def is_refused(settings: Settings, name: str) -> bool:
    """Whether the widget holds something that was refused, and the file another value."""
    return bool(st.session_state.get(_FAULTS, {}).get(name)) and st.session_state.get(_widget_key(name)) != getattr(
        settings, name
    )


def fault_of_address(address: str) -> str:
    """Why that is no address of a server, without repeating it; empty when it is one, or empty."""
    if not address:
        return ""
    if not address.startswith(("http://", "https://")):
        return "an address begins with http:// or https://, such as http://localhost:11434/v1"
    if len(address) > _LONGEST:
        return "the address is too long to be one"
    if set(address) & set("?#"):
        return "the address holds a question mark or a hash: write it up to /v1 alone"
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:  # a port that is none, half an address of IPv6
        host, port = "", None
    if "@" in _authority(address):
        return "the address holds a name or password: take it out, and put the key into the environment"
    if not _HOST.fullmatch(host) or port == 0:
        return "the address names no server: write it as in http://localhost:11434/v1"
    return ""


def _authority(address: str) -> str:
    """The part of an address between // and the path: host, port, and a name or password if there is one."""
    return address.split("//", 1)[-1].split("/", 1)[0]


def _widget_key(name: str) -> str:
    return f"set_{name}"


def number(settings: Settings, name: str) -> None:
    """A number of the settings with its help."""
    spec, key = forms.option_fields(Settings)[name], _widget_key(name)
    now = getattr(settings, name)
    st.session_state[key] = now

    def changed() -> None:
        keep(name, type(now)(st.session_state[key]))

    fractional = isinstance(now, float)
    with st.container(gap="xsmall"):
        st.number_input(
            forms.title_of(name),
            min_value=spec.metadata["low"],
            max_value=spec.metadata["high"],
            step=(0.1 if name == "temperature" else 5.0) if fractional else 1,
            format="%.1f" if name == "temperature" else "%.0f" if fractional else None,
            key=key,
            on_change=changed,
        )
        st.html(f'<div class="lr-hint">{escape(forms.hint(spec))}</div>')


def address(settings: Settings) -> None:
    """The endpoint's address."""
    key = _widget_key("base_url")

    def changed() -> None:
        wanted = str(st.session_state[key] or "").strip()
        said = fault_of_address(wanted)
        if said:
            refuse("base_url", said)
            if not _HARMLESS.fullmatch(wanted):  # a key, perhaps, or a password: it is not kept in the page
                st.session_state[key] = settings.base_url
        else:
            keep("base_url", wanted)

    if not st.session_state.get(_FAULTS, {}).get("base_url") or key not in st.session_state:
        st.session_state[key] = settings.base_url
    st.text_input("Address", key=key, on_change=changed, placeholder="https://api.openai.com/v1")
    told = "An OpenAI-compatible server, up to and with /v1. Empty is OpenAI's own service."
    if os.environ.get("OPENAI_BASE_URL") and settings.base_url == os.environ["OPENAI_BASE_URL"]:
        told = "From the environment variable OPENAI_BASE_URL; what you write here goes before it."
    if not fault("base_url"):
        st.html(f'<div class="lr-hint">{told}</div>')


def key_variable(settings: Settings) -> None:
    """The name of the variable that holds the key, and whether there is one. The key itself is in no widget."""
    key = _widget_key("key_variable")

    def changed() -> None:
        wanted = str(st.session_state[key] or "").strip()
        said = keys.fault_of_name(wanted)
        if said:
            refuse("key_variable", said)
            st.session_state[key] = settings.key_variable
        else:
            keep("key_variable", wanted)

    st.session_state[key] = settings.key_variable
    st.text_input("Variable that holds the key", key=key, on_change=changed)
    if not fault("key_variable"):
        sign = "ok" if keys.has_key(settings) or settings.local else "none"
        st.html(
            f'<div class="lr-hint"><i class="lr-dot-{sign}" aria-hidden="true"></i>{escape(keys.key_state(settings))}'
            "</div>"
        )
