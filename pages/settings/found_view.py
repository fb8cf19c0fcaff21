"""Model servers found on this machine, a card each, used by one click. For Settings and the engine form of Build."""

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
from pages.common import forms, markup, session, state
from pages.common.html import draw, html, joined
from pages.common.messages import message, say, words
from pages.settings import endpoint_view, model_files_view

_LOOK = "lr_look"  # what the visit at hand looks at
_PATIENCE = 0.15  # seconds: where nothing listens, the look takes milliseconds, and nothing flickers
_EVERY = 0.4  # seconds between two looks at the look
_MODELS = 4  # of a server that are listed; the others are chosen by name
_FAULT = "lr_found_fault"


@dataclass(frozen=True)
class _Look:
    """One look at the ports of this machine. visit: of the page that asked for it."""

    visit: int
    call: StreamedCall[None, Found]


def begin() -> None:
    """Look now, in a thread: the page goes on, and nothing waits. For callbacks."""
    st.session_state.pop(_FAULT, None)
    calls: StreamedCalls[None, Found] = StreamedCalls()
    st.session_state[_LOOK] = _Look(state.memory().visit, calls.begin(None, lambda write: find_servers()))


def look_again() -> None:
    """Draw a button that looks anew."""
    st.button(say("found.again"), key="look_again", type="tertiary", icon=":material/refresh:", on_click=begin)


def cards(settings: Settings, *, with_files: bool = False) -> None:
    """Draw the servers that answer, with what can be done with each; look once for each visit of the page. with_files:
    and the model files."""
    found = _seen(say("found.looking"))
    if found is None:
        return
    if st.session_state.get(_FAULT):
        message(st.session_state[_FAULT], kind="error")
    if not found.servers:
        _nothing()
    if found.servers or with_files:
        _grid(settings, found, with_files=with_files)


def offer(settings: Settings) -> None:
    """Draw the servers that have a model that writes, where nobody has chosen one; nothing where none answers."""
    found = _seen("")
    if found is not None and any(server.writing for server in found.servers):
        draw(markup.label(say("found.title")))
        _grid(settings, found)


def _seen(meanwhile: str) -> Found | None:
    """Return what answers, looked for once for each visit of the page; None, with that note, until it is known."""
    look: _Look | None = st.session_state.get(_LOOK)
    if look is None or look.visit != state.memory().visit:
        begin()
        look = st.session_state[_LOOK]
    if not look.call.wait(_PATIENCE):
        st.fragment(_waiting, run_every=_EVERY)(look, meanwhile)
        return None
    return look.call.result()


def _grid(settings: Settings, found: Found, *, with_files: bool = False) -> None:
    with st.grid(3, min_column_width=250, gap="small"):
        for server in found.servers:
            with st.container(border=True, gap="xsmall", key=f"found_{server.kind.name}", height="stretch"):
                _card(settings, server, found.free_bytes)
        if with_files:
            model_files_view.card(settings)


def _waiting(look: _Look, note: str) -> None:
    if look.call.wait(0):
        st.rerun()
    draw(markup.muted(note))


def _nothing() -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        draw(html('<div class="lr-small">{}</div>', say("found.none")))
        with st.popover(say("found.how"), type="tertiary", key="found_how"):
            draw(joined(html('<p class="lr-small">{}</p>', say(f"found.how.{step}")) for step in ("install", "load")))


def _card(settings: Settings, server: FoundServer, free_bytes: int) -> None:
    where = f"localhost:{server.port}"
    if server.needs_key or not server.models:
        state_of = "found.wants_key" if server.needs_key else "found.no_model"
        draw(_head("none", server.kind.title, say(state_of, address=where)))
        code = "found.wants_key.hint" if server.needs_key else f"found.no_model.{server.kind.name}"
        draw(html('<div class="lr-small">{}</div>', say(code)))
        return
    draw(_head("ok", server.kind.title, say("found.models", address=where, n=len(server.models))))
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
    st.button(label, key=key, on_click=_use, args=(server, models))


def _is_used(settings: Settings, server: FoundServer, model: FoundModel) -> bool:
    chosen = settings.build_embedding if model.embeds else settings.build_model
    return settings.base_url == server.address and chosen == endpoint_model(model.name)


def _head(sign: str, title: str, note: str) -> Markup:
    return html(
        '<div class="lr-found"><i class="lr-dot-{}" aria-hidden="true"></i><b>{}</b> <span>{}</span></div>',
        sign,
        title,
        note,
    )


def _model(model: FoundModel, free_bytes: int, *, is_used: bool) -> Markup:
    facts = [numbers.size(model.n_bytes)] if model.n_bytes else []
    facts += [say("found.window", n=model.window)] if model.window else []
    facts += [say("found.embeds")] if model.embeds else []
    if not model.loaded and model.n_bytes > free_bytes:
        facts.append(say("found.too_big", free=numbers.size(free_bytes)))
    facts += [say("found.in_use")] if is_used else []
    said = say("ask.comma").join(facts)
    return html('<div class="lr-found-model"><b dir="auto">{}</b><span>{}</span></div>', model.name, said)


def _use(server: FoundServer, models: Sequence[FoundModel]) -> None:
    """Save the server in the settings, and let Build propose these models. For callbacks."""
    model = next((each.name for each in models if not each.embeds), "")
    embedding = next((each.name for each in models if each.embeds), "")
    st.session_state.pop(_FAULT, None)
    try:
        session.workbench().settings.change(lambda settings: settings_with(settings, server, model, embedding))
    except LeanRAGError as error:
        st.session_state[_FAULT] = words(error)
        return
    endpoint_view.forget()
    for name in ("b_engine", "b_model", "b_embedding", "b_aggregation", "check_model"):
        state.remember(name, None)  # Build and the check take what the settings propose
    calls = server.n_slots or server.kind.n_calls
    st.toast(say("found.used", server=server.kind.title, n=calls), icon=":material/check:")
