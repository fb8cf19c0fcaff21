"""Roles as a table: who does what, where, at which price, and the result of the last check. No widget holds a key."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st
from markupsafe import Markup

from leanrag_core.errors import InvalidConfig, LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.messages.message import message as message_of
from leanrag_core.models.providers import providers
from leanrag_core.models.reranking import rerank_forms
from leanrag_core.system.threads import BoundedCache
from leanrag_core.types.config import is_file, model_title
from leanrag_core.types.roles import EMBEDDINGS, MAX_BODY, RERANKING, ROLES, Price, Role
from leanrag_core.types.settings import Settings
from leanrag_core.types.visible import visible
from leanrag_core.workbench.role_checks import (
    BAD,
    GOOD,
    THIN,
    UNTRIED,
    RoleCheck,
    is_asked,
    role_model,
    served_by,
    why_untried,
)
from leanrag_core.workbench.samples import FIRST_SAMPLE
from pages.common import buttons, choices, forms, keys, markup, session, state, widgets
from pages.common.html import draw, html
from pages.common.messages import message, say, words
from pages.settings import endpoint_view, settings_form

_ROW = (1.2, 2.1, 2.05, 0.65, 1.15, 1.05, 1.95, 1.05, 0.75)
_HEAD = ("role", "address", "model", "window", "price", "speed", "check", "", "")
_SIGNS = {GOOD: "ok", THIN: "out", BAD: "bad", UNTRIED: "none"}
_DRAWN = "lr_roles_opened"  # in the session: roles whose further settings are drawn
_NUMBERS = ("concurrency", "requests_per_minute", "tokens_per_minute", "timeout_seconds", "max_reply_tokens", "window")


def check_all(settings: Settings) -> None:
    """Draw a button that checks every role with a server."""
    checkable_roles = [role for role in ROLES if why_untried(settings, role) is None]
    if buttons.secondary(say("roles.check_all"), "network_check", "check_all_roles", disabled=not checkable_roles):
        _check(settings, checkable_roles)


def table(settings: Settings) -> None:
    """Draw the roles, one row each."""
    with st.container(gap=None, key="roles"):
        with st.container(key="roles_columns"):
            for column, name in zip(st.columns(_ROW, gap="small"), _HEAD, strict=True):
                with column:
                    draw(html('<div class="lr-rolehead {}">{}</div>', name, say(f"roles.{name}") if name else ""))
        for role in ROLES:
            _row(settings, role)
    draw(markup.hint(say("roles.hint")))


def _row(settings: Settings, role: str) -> None:
    with st.container(key=f"role_{role}", gap=None):
        cells = st.columns(_ROW, gap="small", vertical_alignment="center")
        server_settings, role_settings = settings.of_role(role), settings.roles.get(role, Role())
        model = model_title(role_model(settings, role))
        is_on = is_asked(settings, role)
        with cells[0]:
            draw(html('<div class="lr-role">{}</div>', say(f"role.{role}")))
        with cells[1]:
            _address(settings, role, role_settings)
        with cells[2]:
            _model(settings, role)
        tested = endpoint_view.tested_window(server_settings, model) if is_on else None
        # Prompts are cut to this window.
        window = min(filter(None, (server_settings.windows.get(model), tested)), default=None)
        speed = session.workbench().models.speeds.of(server_settings.base_url, model) if is_on else None
        facts = (
            (say("roles.window"), f"{window:,}" if window else "–"),
            (say("roles.price"), _price(server_settings, role_model(settings, role), is_on=is_on)),
            (say("roles.speed"), f"{round(speed.tokens_per_second):,}" if speed else "–"),
        )
        for cell, (title, fact) in zip(cells[3:6], facts, strict=True):
            with cell:
                draw(html('<div class="lr-rolefact"><i>{}</i>{}</div>', title, fact))
        untried = why_untried(settings, role)
        with cells[6]:
            draw(_said(settings, role))
        with cells[7]:
            checked = _checked(settings, role)
            label = say("roles.check_again" if checked else "roles.check_one")
            if untried is None and buttons.tertiary(label, "", f"check_{role}"):
                _check(settings, [role])
        with cells[8]:
            st.fragment(_fold)(settings, role, role_settings)
        settings_form.fault(f"role_{role}")


def _address(settings: Settings, role: str, role_settings: Role) -> None:
    served = {each.address: each.title for each in providers() if each.serves(role)}
    # Without a model nothing is sent, whatever the common address is.
    blank = say("roles.builtin")
    if is_asked(settings, role):
        other = settings.asked_with(role)
        with_other = other != role and other in settings.roles
        other_title = say(f"role.{other}")
        blank = say("roles.as_role", role=other_title) if with_other else say("roles.as_all", host=settings.host)
        backend = served_by(settings, role)
        blank = blank if backend is None else words(backend)
    options = [
        "",
        *served,
        *([role_settings.base_url] if role_settings.base_url and role_settings.base_url not in served else []),
    ]

    def keep(wanted: str) -> str | None:
        known = next((each for each in providers() if each.address == wanted and each.serves(role)), None)
        usual = known.role(role) if known else Role(rerank_form=role_settings.rerank_form)
        changes = {"key_variable": usual.key_variable, "rerank_form": usual.rerank_form}
        return _set(role, role_settings.base_url, base_url=wanted, **changes)

    def title(address: str) -> str:
        return served.get(address, _short(address)) or blank

    label = say("roles.address_of", role=say(f"role.{role}"))
    _choice(f"role_address_{role}", label, options, title, role_settings.base_url, keep, blank)


def _choice(
    key: str,
    label: str,
    options: list[str],
    title: Callable[[str], str],
    chosen: str,
    keep: Callable[[str], str | None],
    form: object,
) -> None:
    """Draw a choice in which another value can be written. title: of an option. keep, form: see widgets.show()."""

    def widget(mount: widgets.Mount[str]) -> Any:
        place = options.index(mount.value) if mount.value in options else 0
        return st.selectbox(
            label, options, place, lambda option: visible(title(option)), **mount.wired, accept_new_options=True
        )

    widgets.show(key, chosen, widget, keep, read=lambda stored: str(stored or "").strip(), form=form)


def _short(address: str) -> str:
    """Return an address without scheme and version, for the rows."""
    return address.partition("://")[2].removesuffix("/").removesuffix("/v1") or address


def _model(settings: Settings, role: str) -> None:
    chosen = endpoint_view.short_name(settings.role_model(role))
    server_settings = settings.of_role(role)
    embeds = role in (EMBEDDINGS, RERANKING)
    names = endpoint_view.listing(server_settings).embedding_first if embeds else endpoint_view.writers(server_settings)
    taken_over = model_title(role_model(settings, role))
    if chosen or not taken_over:
        blank = say("roles.none" if role == RERANKING else "roles.builtin")
    else:
        blank = say("roles.same", model=taken_over)
    options = ["", *names, *([chosen] if chosen and chosen not in names else [])]

    def keep(wanted: str) -> str | None:
        return _set(role, chosen, model=wanted)

    label = say("roles.model_of", role=say(f"role.{role}"))
    _choice(f"role_model_{role}", label, options, lambda model: model or blank, chosen, keep, (names, blank))


def _price(server_settings: Settings, model: str, *, is_on: bool) -> str:
    if not is_on:
        return "0"
    price = server_settings.prices.get(model_title(model))
    is_here = server_settings.local or is_file(model)
    if price is None:
        return say("roles.own_machine") if is_here else "–"
    if is_here and not (price.prompt or price.completion):
        return say("roles.own_machine")
    return f"{numbers.money(price.prompt)} / {numbers.money(price.completion)}"


def _set(role: str, before: str, *, model: str | None = None, **changes: Any) -> str | None:
    """Change the role. Return None; if the change was refused, show why below the row and return `before` for the
    widget."""
    settings_form.forgive(f"role_{role}")

    def changed(settings: Settings) -> Settings:
        role_settings = replace(settings.roles.get(role, Role()), **changes)
        return settings.with_role(role, role_settings, None if model is None else endpoint_view.full_name(model))

    try:
        session.workbench().settings.change(changed)
    except LeanRAGError as error:
        settings_form.refuse(f"role_{role}", words(error))
        return before
    if role == EMBEDDINGS or model is not None:
        state.forget("b_model", "b_embedding", "b_aggregation")  # Build then uses what the settings propose
    keys.provide()
    return None


def _fold(settings: Settings, role: str, role_settings: Role) -> None:
    """Draw the further settings of the role once a person has opened them; they then stay, with what is not saved."""
    key, drawn = f"more_{role}", state.in_session(_DRAWN, set[str])
    fold = st.popover(say("roles.more"), type="tertiary", key=key, on_change="rerun")
    if fold.open:
        drawn.add(role)
    with fold:
        draw(html('<b class="lr-late">{}</b>', say(f"role.{role}")))
        if role in drawn:
            _more(settings, role, role_settings)


def _more(settings: Settings, role: str, role_settings: Role) -> None:
    """Draw the fields of the further settings, saved by one click."""
    with st.form(f"form_{role}", border=False):
        server_settings = settings.of_role(role)
        texts = {"key_variable": st.text_input(forms.title_of("key_variable"), role_settings.key_variable)}
        draw(markup.hint(keys.key_state(server_settings)))
        values: dict[str, Any] = {}
        with st.grid(2, min_column_width=130, gap="small"):
            for name in (*_NUMBERS, *(("dimensions",) if role == EMBEDDINGS else ())):
                bounds = forms.option_fields(Role)[name].metadata
                values[name] = st.number_input(
                    _title(name), bounds["low"], bounds["high"], getattr(role_settings, name)
                )
            if role == RERANKING:
                values["max_calls"] = st.number_input(_title("max_calls"), 0, 1_000_000, role_settings.max_calls)
            now = (role_settings.price.prompt, role_settings.price.completion) if role_settings.price else (None, None)
            prompt = st.number_input(say("settings.prices.prompt"), 0.0, value=now[0])
            completion = st.number_input(say("settings.prices.completion"), 0.0, value=now[1])
        for name in ("query_prefix", "passage_prefix") if role == EMBEDDINGS else ():
            texts[name] = st.text_input(_title(name), getattr(role_settings, name))
        if role == RERANKING:
            titles = {form.name: form.title for form in rerank_forms()}
            texts["rerank_form"] = choices.selectbox(_title("rerank_form"), titles, role_settings.rerank_form)
        texts["body"] = st.text_area(
            _title("body"), role_settings.body, 90, MAX_BODY, placeholder='{"reasoning_effort": "low"}'
        )
        if st.form_submit_button(say("roles.keep")):
            problem = keys.fault_of_name(texts["key_variable"].strip()) if texts["key_variable"].strip() else ""
            if problem:
                settings_form.refuse(f"role_{role}", problem)
            else:
                prices = [None if value is None else float(value) for value in (prompt, completion)]
                values["price"] = None if prices == [None, None] else Price(prices[0] or 0.0, prices[1] or 0.0)
                stripped = {name: text if name.endswith("prefix") else text.strip() for name, text in texts.items()}
                _set(role, "", **values, **stripped)
            st.rerun()


def _title(name: str) -> str:
    return say(f"roles.option.{name}")


def _fingerprint(settings: Settings, role: str) -> tuple[str, str, str]:
    return settings.of_role(role).base_url, role_model(settings, role), repr(settings.own_role(role))


@st.cache_resource(show_spinner=False)
def _checks() -> BoundedCache[str, tuple[tuple[str, str, str], RoleCheck] | None]:
    """Return the last checks by role, each with the role's settings at the time. They outlive a reload of the page, as
    the settings that they are about do."""
    return BoundedCache(len(ROLES))


def _checked(settings: Settings, role: str) -> RoleCheck | None:
    """Return the last check of the role with its current settings."""
    known = _checks().get(role, None)
    return known[1] if known is not None and known[0] == _fingerprint(settings, role) else None


def _said(settings: Settings, role: str) -> Markup:
    checked, untried = _checked(settings, role), why_untried(settings, role)
    if checked is None:
        changed = untried is None and role in _checks()
        reason = untried or message_of("roles.changed" if changed else "roles.not_tried")
        return html('<div class="lr-rolesaid"><i class="lr-dot-none" aria-hidden="true"></i>{}</div>', words(reason))
    template = '<div class="lr-rolesaid {}"><i class="lr-dot-{}" aria-hidden="true"></i>{}</div>'
    return html(template, checked.state, _SIGNS[checked.state], words(checked.said))


def _check(settings: Settings, roles: list[str]) -> None:
    """Check the roles one after the other, and redraw the page with the results."""
    passage = endpoint_view.sample_passage(f"sample-{FIRST_SAMPLE}")
    for place, role in enumerate(roles, start=1):
        progress_text = say("roles.checking", role=say(f"role.{role}"), n=place, total=len(roles))
        with st.spinner(progress_text, show_time=True):
            try:
                check = session.workbench().role_checks.check(role, passage)
            except InvalidConfig as error:
                message(error, kind="error")
                return
        _checks().keep(role, (_fingerprint(settings, role), check))
    st.rerun()
