"""What the workbench stores on disk and where; the limit of stored results, and a button that deletes them."""

from pathlib import Path

import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.storage.chroma_server import ChromaSeen
from leanrag_core.storage.layout import size_bytes
from leanrag_core.types.settings import Settings
from pages.common import buttons, forms, markup, session
from pages.common.html import draw, html
from pages.common.messages import message, say
from pages.settings import settings_form

_STAGES = "stages"
_KEPT = ("corpora", "indexes", "calls", "batches", "jobs", _STAGES)


def panel(settings: Settings) -> None:
    """Draw the workbench's folder, the sizes of its parts, and the limit of stored results."""
    root = session.workbench().root
    sizes = _sizes(str(root))
    rows = [(say(f"settings.storage.{folder}"), numbers.size(sizes[folder])) for folder in _KEPT]
    rows.append((say("settings.storage.total"), numbers.size(sum(sizes.values()))))
    draw(
        html('<div class="lr-small lr-muted lr-path">{}</div>', str(root))
        + markup.facts_table(("", ""), rows, caption=say("settings.storage"))
        + markup.muted(say("settings.storage.where_deleted"))
    )
    settings_form.number(settings, "stages_mb")
    label = say("settings.storage.delete", size=numbers.size(sizes[_STAGES]))
    if buttons.secondary(label, "delete", "clear_stages", disabled=not sizes[_STAGES]):
        session.workbench().stages.clear()
        _sizes.clear()
        st.toast(say("settings.storage.deleted"))
        st.rerun()
    draw(markup.hint(say("settings.storage.hint")))


@st.cache_data(ttl=20, max_entries=2, show_spinner=False)
def _sizes(root: str) -> dict[str, int]:
    """Return the bytes below each folder, computed at most every twenty seconds."""
    return {folder: size_bytes(Path(root) / folder) for folder in _KEPT}


def server_panel(settings: Settings) -> None:
    """Draw the server's address, and a test of the connection."""
    settings_form.address_field(
        forms.title_of("chroma_url"),
        "chroma_url",
        settings.chroma_url,
        settings_form.CHROMA,
        lambda wanted: settings_form.keep("chroma_url", wanted),
        example=say("settings.search.files"),
        hint=say("settings.search.hint"),
    )
    draw(html('<div class="lr-small lr-muted">{}</div>', say("settings.search.what")))
    status = settings_form.look_button(
        "server", "chroma_url", settings.chroma_url, session.workbench().searches.servers.look_at, key="test_chroma"
    )
    if status is not None:
        show_server(status)


def show_server(status: ChromaSeen | str) -> None:
    """Draw the server's response time and content. status: a text if the server was not reached."""
    if isinstance(status, str):
        message(status, kind="error", title=say("settings.search.not_reached"))
        return
    holds = "settings.search.collections" if status.collections else "settings.search.empty"
    contents, duration = say(holds, n=status.collections), numbers.duration(status.seconds)
    sentence = say("settings.search.answers", url=status.url, time=duration, version=status.version, contents=contents)
    message(sentence, kind="good")
    if status.in_python:
        message(say("settings.search.in_python"), kind="error")
