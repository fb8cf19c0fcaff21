"""Turns messages into sentences of the reader's language, and draws them in boxes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.messages.catalog import codes, languages, sentence, space_between
from leanrag_core.messages.message import Message, Value
from leanrag_core.retrieval.settings import option_title
from pages.common import state
from pages.common.html import NOTHING, draw, html

LANGUAGE = state.LANGUAGE
_NEXT = "lr_said_next"  # in the session
Text = Message | LeanRAGError | str


def language() -> str:
    """Return the language code of all sentences on a page: that of the link (?lang=zh) with which the session began,
    else that of the settings. The browser's language is ignored, so that a link looks the same to everybody."""
    return str(state.fitting(LANGUAGE, state.glance().language, str, lambda code: code in languages()))


def begin(setting: str) -> None:
    """Set the language for this run from the settings, or from the link with which the session begins."""
    state.memory().language = setting
    linked = st.query_params.get(LANGUAGE, "")
    if linked and not state.memory().page:
        state.remember(LANGUAGE, linked)


def words(text: Text) -> str:
    """Return the text of a message or an error in the reader's language; a plain text is returned unchanged."""
    if isinstance(text, LeanRAGError):
        text = text.message
    return sentence(_with_titles(text), language()) if isinstance(text, Message) else text


def _with_titles(text: Message) -> Message:
    """Return the message with settings named by their titles on screen: errors of the core have the names that commands
    and Python know."""
    if not text.code.startswith(("option.", "role.")):
        return text
    values, of_index = text.values, bool(text.values.get("of_index"))
    names = {key: values[key] for key in ("option", "limiting_option") if key in values}
    titles = {key: option_title(name, of_index=of_index) for key, name in names.items() if isinstance(name, str)}
    return replace(text, values={**values, **titles})


def say(code: str, /, **values: Value) -> str:
    """Return the catalog's sentence with that code in the reader's language."""
    return words(Message(code, values))


def say_or(otherwise: str, code: str, /, **values: Value) -> str:
    """Return the catalog's sentence with that code, or the other text where it has none."""
    return say(code, **values) if known(code) else otherwise


def known(code: str) -> bool:
    """Return whether the catalog has a sentence for that code."""
    return code in codes()


def message(text: Text, *, kind: str = "note", title: Text = "") -> None:
    """Draw one sentence (or two) in a box. kind: note, error or good."""
    sentences, role = as_sentence(words(text)), "alert" if kind == "error" else "status"
    head = html("<b>{}</b>{}", words(title), space_between(words(title), sentences)) if title else NOTHING
    draw(html('<div class="lr-msg {}" role="{}">{}{}</div>', kind, role, head, sentences))


@contextmanager
def kept_fault(key: str) -> Iterator[None]:
    """Store an error of the with block in the session, for show_fault(). For callbacks."""
    try:
        yield
    except LeanRAGError as error:
        st.session_state[key] = error


def show_fault(key: str) -> None:
    """Draw the error that was stored under the key, once."""
    error = st.session_state.pop(key, None)
    if error is not None:
        message(error, kind="error")


def toast_next(text: str, icon: str) -> None:
    """Store a sentence for a toast in the next run, since a toast is lost if this run ends with a rerun or another
    page."""
    st.session_state[_NEXT] = (text, icon)


def show_toast() -> None:
    """Show the toast that the previous run stored."""
    text, icon = st.session_state.pop(_NEXT, ("", ""))
    if text:
        st.toast(text, icon=f":material/{icon}:", duration="long")


def as_capital(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


def as_sentence(text: str) -> str:
    """Return the text with a capital letter and the final stop of the reader's language. A first word that names a file
    or a model, such as bad.csv, stays unchanged."""
    text = text.strip()
    if not text:
        return text
    if text.split(maxsplit=1)[0].rstrip(".:,;!?").isalpha():
        text = as_capital(text)
    return text if text[-1] in ".!?。！？" else text + say("text.stop")


def percent(share: float | None) -> str:
    """Return a share in percent; a dash if there is none."""
    return "–" if share is None else numbers.share(share)


def time_left(seconds: float | None) -> str:
    """Return the time left, such as "about 39 min left"; empty while it is unknown."""
    return "" if seconds is None else say("units.time_left", time=numbers.remaining(seconds))


def rate(done: int, seconds: float) -> str:
    """Return a rate such as "9.8 a second" or "19 a minute"; empty before anything is done."""
    if done <= 0 or seconds < 0.5:
        return ""
    per_second = done / seconds
    if per_second >= 1:
        return say("units.a_second", n=f"{per_second:.1f}" if per_second < 10 else f"{per_second:,.0f}")
    if per_second * 60 >= 1:
        return say("units.a_minute", n=f"{per_second * 60:.0f}")
    return say("units.an_hour", n=f"{per_second * 3600:.0f}")


def span(low: str, high: str) -> str:
    """Return a range such as "11 s to 3 min", or one bound if both read the same."""
    return low if low == high else say("units.span", low=low, high=high)
