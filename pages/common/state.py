"""A link is a state: what a page shows is remembered for the session and written into the URL.

A person's action, an arriving link, or a step in the browser's history changes what is remembered. Drawing a page
changes nothing. The widgets that show it are in widgets.py.
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

from leanrag_core.messages.catalog import ENGLISH

LANGUAGE = "lang"  # in the link of every page, so that a reload keeps the language of the first link
_MEMORY = "lr_memory"
_Kept = TypeVar("_Kept")
_GLANCED: ContextVar[tuple[ScriptRunContext, "Memory"] | None] = ContextVar("lr_glanced", default=None)


@dataclass
class Memory:
    """What a session remembers, and what was last sent to its browser."""

    values: dict[str, str] = field(default_factory=dict)
    language: str = ENGLISH  # the settings' language when the last run of a page began
    page: str = ""  # the current page; empty before the first one
    visit: int = 0  # number of times that a page was entered
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by page, the names in its URL as last written
    published: dict[str, str] = field(default_factory=dict)  # the URL as last written
    unfit: set[str] = field(default_factory=set)  # names whose remembered value is impossible on the current page
    screen: dict[str, Any] = field(default_factory=dict)  # what each widget holds, and its form
    replaced: dict[str, int] = field(default_factory=dict)  # how often a widget was replaced by a new one

    def follow(self, page: str, url: dict[str, str]) -> None:
        """Take over the page's URL: remember its values, and forget values that the page writes into its URL but this
        one lacks."""
        for name in self.names.get(page, ()):
            self.values.pop(name, None)
        self.values.update({name: value for name, value in url.items() if value})


def memory() -> Memory:
    """Return the memory of this session.

    Each call uses the session's state, which ends a run that a newer one has overtaken, before it can write.
    """
    return in_session(_MEMORY, Memory)


def glance() -> Memory:
    """Return the memory of this session for reading only. A page reads it several hundred times a run, and going
    through the session's state each time would take a tenth of the run."""
    context = get_script_run_ctx(suppress_warning=True)
    current = _GLANCED.get()
    if context is None or current is None or current[0] is not context:
        kept = memory()
        if context is not None:
            _GLANCED.set((context, kept))
        return kept
    return current[1]


def read_url(page: str) -> None:
    """Take the URL over when a session begins (a link, a reload) and after a step back or forward in the history.

    At any other time the URL repeats what this session wrote, and may be late, since a browser sends the URL that it
    knows. The bare URL of a page, as in links of the navigation, changes nothing.
    """
    kept = memory()
    arrived = {name: st.query_params[name] for name in st.query_params}
    if not kept.page or (arrived and _came_by_history()):
        kept.follow(page, arrived)
    kept.visit += kept.page != page
    kept.page = page
    kept.unfit.clear()


def _came_by_history() -> bool:
    """Return whether the browser went back or forward to this URL; only Streamlit's run context knows."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def recall(name: str) -> str:
    """Return the remembered value under that name; empty if there is none."""
    return glance().values.get(name, "")


def remember(name: str, value: Any) -> None:
    """Remember the value under that name, so that its widget shows it; None or "" forgets it."""
    if value is None or value == "":
        memory().values.pop(name, None)
    else:
        memory().values[name] = written(value)


def forget(*names: str) -> None:
    """Forget what is remembered under these names."""
    for name in names:
        remember(name, None)


def in_session(key: str, make: Callable[[], _Kept]) -> _Kept:
    """Return the session's object under that key, which the first call makes."""
    kept: _Kept = st.session_state.setdefault(key, make())
    return kept


def written(value: Any) -> str:
    """Return a value as the text that is remembered."""
    return ("1" if value else "0") if isinstance(value, bool) else str(value)


def fitting(name: str, default: Any, parse: Callable[[str], Any], allowed: Callable[[Any], bool]) -> Any:
    """Return the remembered value if it is possible, else the default; an impossible one stays remembered."""
    kept = glance()
    fits, value = True, default
    if name in kept.values:
        try:
            value = parse(kept.values[name])
            fits = bool(allowed(value))
        except ValueError:  # a link written by hand
            fits = False
    if fits and name in kept.unfit:
        memory().unfit.discard(name)
    elif not fits and name not in kept.unfit:
        memory().unfit.add(name)
    return value if fits else default


def as_flag(text: str) -> bool:
    """Return True for "1", False for "0". Raises ValueError for anything else."""
    if text not in ("0", "1"):
        raise ValueError(text)
    return text == "1"


def publish_again() -> None:
    """Write the URL of the current page again. For fragments, which change what is remembered without a run of the
    page."""
    kept = memory()
    if kept.page in kept.names:
        publish(kept.names[kept.page])


def publish(names: Sequence[str]) -> None:
    """Write the remembered values of those names into the URL, with the link's language, as far as they are possible,
    and nothing else."""
    kept, names = memory(), tuple(dict.fromkeys((*names, LANGUAGE)))
    wanted = {name: kept.values[name] for name in names if kept.values.get(name) and name not in kept.unfit}
    # The browser may be late: even if it shows this URL, another one may be on its way to it.
    if wanted != kept.published or wanted != {name: st.query_params[name] for name in st.query_params}:
        st.query_params.from_dict(wanted)
    kept.published, kept.names[kept.page] = wanted, names
