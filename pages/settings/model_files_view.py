"""Model files of this machine: a card that lists them, to use, add by path, and stop them."""

import os
from collections.abc import Callable

import streamlit as st
from markupsafe import Markup

from leanrag_core.errors import LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.figures.drawing import isolated
from leanrag_core.files.written_paths import written_path
from leanrag_core.models.local_servers import free_bytes
from leanrag_core.models.model_files import ListedFile
from leanrag_core.models.model_server import INSTALL, is_installed, plan_for
from leanrag_core.types.config import file_model
from leanrag_core.types.settings import Settings
from pages.common import buttons, session, state
from pages.common.html import NOTHING, draw, html
from pages.common.messages import kept_fault, message, say, words
from pages.settings import settings_form

_SHOWN = 6  # most files in the card
_FAULT = "lr_model_file_fault"
_PATH = "model_file_path"


def card(settings: Settings) -> None:
    """Draw the model files, each with its actions."""
    with st.container(border=True, gap="xsmall", key="found_file", height="stretch"):
        files = session.workbench().model_files.all()
        usable = any(each.file is not None for each in files)
        note = say("found.file.here") if is_installed() else say("found.file.not_here")
        draw(head("ok" if usable and is_installed() else "none", say("backend.file"), note))
        if not is_installed():
            draw(html('<div class="lr-small">{}</div>', say("found.file.install", command=INSTALL)))
        for each in files[:_SHOWN]:
            _row(settings, each)
        if len(files) > _SHOWN:
            draw(html('<div class="lr-small lr-muted">{}</div>', say("found.file.more", n=len(files) - _SHOWN)))
        if not files:
            draw(html('<div class="lr-small">{}</div>', say("found.file.none")))
        _adding()


def head(sign: str, title: str, note: str) -> Markup:
    """Return the head of a server's card, or of the card of files. sign: ok or none, which colours its dot."""
    template = '<div class="lr-found"><i class="lr-dot-{}" aria-hidden="true"></i><b>{}</b> <span>{}</span></div>'
    return html(template, sign, title, note)


def _row(settings: Settings, each: ListedFile) -> None:
    bench = session.workbench()
    used = settings.build_model == file_model(each.name)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"found_file_{each.name}"):
        running = each.file is not None and bench.model_files.servers.running(each.file) is not None
        draw(_facts(each, used=used, running=running))
        if each.file is not None and not used and is_installed():
            buttons.secondary(say("found.use_one"), "", f"use_file_{each.name}", _use, each.name)
        if running:
            buttons.tertiary(say("found.file.stop"), "", f"stop_{each.name}", _stop, each)
        elif each.by_path:
            buttons.tertiary(say("found.file.forget"), "", f"forget_{each.name}", _forget, each.name)


def _facts(each: ListedFile, *, used: bool, running: bool) -> Markup:
    facts = [numbers.size(each.n_bytes)] if each.n_bytes else []
    fault: Markup = NOTHING
    if each.file is not None:
        try:
            plan = plan_for(each.file)
        except LeanRAGError as error:
            fault = html("{}", words(error))
        else:
            facts.append(say("found.window", n=plan.window))
            if not running and plan.n_bytes > free_bytes():
                facts.append(say("found.too_big", free=numbers.size(free_bytes())))
    elif each.fault is not None:
        fault = html("{}", words(each.fault))
    facts += [say("found.in_use")] if used else []
    facts += [say("found.file.running")] if running else []
    line = fault or html("{}", say("ask.comma").join(facts))
    return html('<div class="lr-found-model"><b dir="auto">{}</b><span>{}</span></div>', each.name, line)


def _adding() -> None:
    with st.popover(say("found.file.add"), type="tertiary", icon=":material/attach_file:", key="found_file_add"):
        draw(html('<p class="lr-small">{}</p>', say("found.file.path_hint")))
        with st.form("found_file_form", border=False):
            st.text_input(say("found.file.path"), key=_PATH, placeholder="~/models/qwen3-1.7b-q4_k_m.gguf")
            st.form_submit_button(say("found.file.take"), on_click=_add)
    if st.session_state.get(_FAULT):
        message(st.session_state[_FAULT], kind="error")


def _add() -> None:
    _trying(lambda: session.workbench().model_files.add(str(st.session_state.get(_PATH, "")).strip()))
    if not st.session_state.get(_FAULT):
        st.session_state[_PATH] = ""


def _forget(name: str) -> None:
    _trying(lambda: session.workbench().model_files.forget(name))


def _stop(each: ListedFile) -> None:
    if each.file is not None:
        session.workbench().model_files.servers.stop(each.file)


def _use(name: str) -> None:
    """Make Build propose the file. For callbacks."""
    settings_form.forgive("build_model")
    settings_form.keep("build_model", file_model(name))
    state.forget("b_engine", "b_file", "check_model")
    st.toast(say("found.file.used", name=name), icon=":material/check:")


def _trying(act: Callable[[], object]) -> None:
    st.session_state.pop(_FAULT, None)
    with kept_fault(_FAULT):
        act()


def folder_field(settings: Settings) -> None:
    """Draw the field for the folder of model files."""

    def wish(wanted: str) -> None:
        if wanted and not os.path.isdir(written_path(wanted)):
            settings_form.refuse(
                "models_folder", say("settings.no_models_folder", folder=isolated(wanted)), shown=wanted
            )
        else:
            settings_form.keep("models_folder", wanted)

    label, hint = say("option.title.models_folder"), say("option.help.models_folder")
    usual = str(session.workbench().model_files.default_folder)
    settings_form.text_field(label, "models_folder", settings.models_folder, wish, hint, usual)
