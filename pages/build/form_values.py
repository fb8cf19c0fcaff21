"""What the form of Build holds: taken from a preset, from an index, and as a preset that it still agrees with."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.retrieval.strategies import leanrag
from leanrag_core.types.config import SETTINGS, IndexConfig, Preset, presets
from leanrag_core.types.summary import IndexSummary
from pages.build import engine_form
from pages.common import forms, session, state
from pages.common.messages import say


def known_presets() -> dict[str, Preset]:
    """The presets by title: the program's, then the person's own as far as their file reads."""
    try:
        return {preset.title: preset for preset in session.workbench().presets.with_shipped()}
    except LeanRAGError:  # the page says so where it draws them
        return {preset.title: preset for preset in presets()}


def take_preset(title: str | None) -> None:
    """Fills the form with the preset, and Ask with its top-N, top-C and budgets. What another preset has set there is
    taken back, unless a person has changed it since."""
    known = known_presets()
    before = known.get(state.recall("b_preset"))
    state.remember("b_preset", title)
    chosen = known.get(title or "")
    if chosen is None:
        return
    fill(chosen.index)
    for field, value in before.ask.items() if before else ():
        if state.recall(on_ask(field)) == state.written(value):
            state.remember(on_ask(field), None)
    for field, value in chosen.ask.items():
        state.remember(on_ask(field), value)


def on_ask(field: str) -> str:
    """Under which name Ask remembers an option of LeanRAG."""
    return forms.link_name(forms.option_fields(leanrag.Config)[field], "leanrag_")


def fill(values: Mapping[str, Any]) -> None:
    """Fills the form with these values, and the other fields with their defaults."""
    specs = forms.option_fields(IndexConfig)
    for field in SETTINGS:
        value = values.get(field)
        state.remember(f"b_{field}", None if value == specs[field].default else value)


def take_settings(index: IndexSummary) -> None:
    """Fills the form with the settings of an index, to be changed and built. For callbacks."""
    values = index.config.by_name()
    fill(values)
    engine_form.take_settings(values)
    state.remember("corpus", index.corpus_id)
    state.remember("b_name", say("build.changed_name", name=index.name))
    st.toast(say("build.form_filled"), icon=":material/content_copy:")


def marked_preset() -> str | None:
    """The chosen preset while the fields have its values; else the default if they have those; else none."""
    specs = forms.option_fields(IndexConfig)
    now = {field: forms.field_value(IndexConfig, field, f"b_{field}") for field in SETTINGS}
    defaults = {field: specs[field].default for field in SETTINGS}
    known = known_presets()
    held = [title for title in (state.recall("b_preset"), next(iter(known))) if title in known]
    return next((title for title in held if now == {**defaults, **known[title].index}), None)
