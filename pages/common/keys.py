"""The endpoint's key, from the environment or the app's secrets; only its last characters are ever shown."""

import os
import re

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.types.settings import Settings
from pages.common import session
from pages.common.messages import say

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_LONG = 20  # a long run of letters and digits is a key rather than a name
_SHOWN = 4


def provide() -> None:
    """Set the variables that Settings names to the keys in the app's secrets, unless the environment has them; jobs
    inherit them. Without a secrets file do nothing."""
    try:
        names = session.workbench().settings.read().key_variables
    except LeanRAGError:  # the Settings page shows the error
        return
    missing = [name for name in names if not os.environ.get(name)]
    if not missing or not st.secrets.load_if_toml_exists():
        return
    for name in missing:
        key = st.secrets.get(name)
        if isinstance(key, str) and key.strip():
            os.environ[name] = key.strip()


def has_key(settings: Settings) -> bool:
    """Return whether there is a key."""
    return bool(os.environ.get(settings.key_variable, "").strip())


def key_state(settings: Settings) -> str:
    """Return in a sentence whether there is a key, with its last four characters if it is longer than twelve."""
    name, key = settings.key_variable, os.environ.get(settings.key_variable, "").strip()
    if len(key) > 3 * _SHOWN:
        return say("settings.key.ends_with", name=name, end=key[-_SHOWN:])
    if key:
        return say("settings.key.is_set", name=name)
    if settings.local:
        return say("settings.key.not_needed", name=name)
    return say("settings.key.missing", name=name)


def fault_of_name(name: str) -> str:
    """Return why this cannot be the name of a variable, without repeating it; empty if it can."""
    if (len(name) >= _LONG and "_" not in name) or name.startswith("sk-"):
        return say("settings.key.is_a_key")
    if not _NAME.fullmatch(name):
        return say("settings.key.no_name")
    return ""
