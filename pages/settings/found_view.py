"""Model servers found on this machine, one card each, used by one click. For Settings and Build's engine form."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from markupsafe import Markup

from leanrag_core.errors import LeanRAGError
from leanrag_core.execution.background import StreamedCall, StreamedCalls
from leanrag_core.figures import numbers
from leanrag_core.models.local_servers import Found, FoundModel, FoundServer, find_servers, settings_with
from leanrag_core.types.config import endpoint_model
from leanrag_core.types.settings import Settings
from pages.common import buttons, dialogs, forms, markup, session, state
from pages.common.html import draw, html, joined
from pages.common.messages import message, say, words
from pages.settings import endpoint_view, model_files_view

_LOOK = "lr_look"  # the search of the current visit
_PATIENCE = 0.15  # seconds; without servers the search takes milliseconds, so waiting avoids flicker
_EVERY = 0.4  # seconds between two checks of the search
_MODELS = 4  # models listed per server; others are chosen by name
_FAULT = "lr_found_fault"


@dataclass(frozen=True)
class _Look:
    """A search of this machine's ports. visit: of the page that began it."""

    visit: int
    call: StreamedCall[None, Found]


def begin() -> None:
    """Begin a search in a thread, without waiting. For callbacks."""
    st.session_state.pop(_FAULT, None)
    calls: StreamedCalls[None, Found] = StreamedCalls()
    st.session_state[_LOOK] = _Look(state.memory().visit, calls.begin(None, lambda write: find_servers()))


def look_again() -> None:
    """Draw a button that repeats the search."""
    buttons.tertiary(say("found.again"), "refresh", "look_again", begin)


def cards(settings: Settings, *, with_files: bool = False) -> None:
    """Draw the servers that answer, each with its actions; search once per visit of the page. with_files: draw the
    model files too."""
    servers_found = _seen(say("found.looking"))
    if servers_found is None:
        return
    if st.session_state.get(_FAULT):
        message(st.session_state[_FAULT], kind="error")
    if not servers_found.servers:
        _nothing()
    if servers_found.servers or with_files:
        _grid(settings, servers_found, with_files=with_files)


def offer(settings: Settings) -> None:
    """Draw the servers with a writing model, if nobody has chosen one; nothing if there are none."""
    servers_found = _seen("")
    if servers_found is not None and any(server.writing for server in servers_found.servers):
        draw(markup.label(say("found.title")))
        _grid(settings, servers_found)


def _seen(meanwhile: str) -> Found | None:
    """Return the servers that answer, searched once per visit of the page; None, with that note drawn, until they are
    known."""
    look: _Look | None = st.session_state.get(_LOOK)
    if look is None or look.visit != state.memory().visit:
        begin()
        look = st.session_state[_LOOK]
    if not look.call.wait(_PATIENCE):
        st.fragment(_waiting, run_every=_EVERY)(look, meanwhile)
        return None
    return look.call.result()


def _grid(settings: Settings, servers_found: Found, *, with_files: bool = False) -> None:
    with st.grid(3, min_column_width=250, gap="small"):
        for server in servers_found.servers:
            with st.container(border=True, gap="xsmall", key=f"found_{server.kind.name}", height="stretch"):
                _card(settings, server, servers_found.free_bytes)
        if with_files:
            model_files_view.card(settings)


def _waiting(look: _Look, note: str) -> None:
    if look.call.wait(0):
        dialogs.refresh()
    draw(markup.muted(note))


def _nothing() -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        draw(html('<div class="lr-small">{}</div>', say("found.none")))
        with st.popover(say("found.how"), type="tertiary", key="found_how"):
            draw(joined(html('<p class="lr-small">{}</p>', say(f"found.how.{step}")) for step in ("install", "load")))


def _card(settings: Settings, server: FoundServer, free_bytes: int) -> None:
    address = f"localhost:{server.port}"
    if server.needs_key or not server.models:
        state_of = "found.wants_key" if server.needs_key else "found.no_model"
        draw(model_files_view.head("none", server.kind.title, say(state_of, address=address)))
        code = "found.wants_key.hint" if server.needs_key else f"found.no_model.{server.kind.name}"
        draw(html('<div class="lr-small">{}</div>', say(code)))
        return
    draw(model_files_view.head("ok", server.kind.title, say("found.models", address=address, n=len(server.models))))
    shown = [*server.writing[:_MODELS], *server.embedding[:_MODELS]]
    used = {model.name for model in shown if _is_used(settings, server, model)}
    for model in shown:
        is_used, alike = model.name in used, server.embedding if model.embeds else server.writing
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"found_row_{model.name}"):
            draw(_model(model, free_bytes, is_used=is_used))
            if not is_used and (len(alike) > 1 or used):
                _use_button(say("found.use_one"), f"use_{model.name}", server, model)
    rest = len(server.models) - len(shown)
    if rest:
        draw(markup.muted(say("found.more", n=rest)))
    pair = [*server.writing[:1], *server.embedding[:1]]
    if server.writing and not used:
        name, *other = (forms.plain(each.name) for each in pair)
        label = say("found.use_both", model=name, other=other[0]) if other else say("found.use", model=name)
        _use_button(label, f"use_{server.kind.name}", server, *pair)


def _use_button(label: str, key: str, server: FoundServer, *models: FoundModel) -> None:
    buttons.secondary(label, "", key, _use, server, models)


def _is_used(settings: Settings, server: FoundServer, model: FoundModel) -> bool:
    chosen = settings.build_embedding if model.embeds else settings.build_model
    return settings.base_url == server.address and chosen == endpoint_model(model.name)


def _model(model: FoundModel, free_bytes: int, *, is_used: bool) -> Markup:
    facts = [numbers.size(model.n_bytes)] if model.n_bytes else []
    facts += [say("found.window", n=model.window)] if model.window else []
    facts += [say("found.embeds")] if model.embeds else []
    if not model.loaded and model.n_bytes > free_bytes:
        facts.append(say("found.too_big", free=numbers.size(free_bytes)))
    facts += [say("found.in_use")] if is_used else []
    facts_line = say("ask.comma").join(facts)
    return html('<div class="lr-found-model"><b dir="auto">{}</b><span>{}</span></div>', model.name, facts_line)


def _use(server: FoundServer, models: Sequence[FoundModel]) -> None:
    """Save the server in the settings, and make Build propose these models. For callbacks."""
    model = next((each.name for each in models if not each.embeds), "")
    embedding = next((each.name for each in models if each.embeds), "")
    st.session_state.pop(_FAULT, None)
    try:
        session.workbench().settings.change(lambda settings: settings_with(settings, server, model, embedding))
    except LeanRAGError as error:
        st.session_state[_FAULT] = words(error)
        return
    endpoint_view.forget()
    state.forget(
        "b_engine", "b_model", "b_embedding", "b_aggregation", "check_model"
    )  # Build and the check then use what the settings propose
    calls = server.n_slots or server.kind.n_calls
    st.toast(say("found.used", server=server.kind.title, n=calls), icon=":material/check:")
