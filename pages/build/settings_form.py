"""The form of Build: corpus, engine, preset and settings, each with its help; errors stand at their fields."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.errors import InvalidConfig, LeanRAGError
from leanrag_core.indexing.aggregation.rules import parse_tau
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.prompts.catalog import PromptBook
from leanrag_core.retrieval.strategies import leanrag
from leanrag_core.storage.corpus_record import MAX_NAME
from leanrag_core.types.config import SETTINGS, IndexConfig, Preset, is_remote, presets
from leanrag_core.types.summary import CorpusSummary, IndexSummary
from leanrag_core.types.visible import shortened
from pages.build import engine_form, forecast_card
from pages.common import buttons, choices, forms, markup, session, state, widgets
from pages.common.component import component
from pages.common.frame import plain_errors
from pages.common.html import draw
from pages.common.messages import message, say, say_or, words

_SCRIPT = Path(__file__).with_name("size_effect.js")
_FRAME = '<div class="lr-effect"></div>'
_KEY = "size_effect"
# From 8 on roughly even on a logarithmic scale, as the slider is drawn.
_SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 22, 25, 28, 32, 36, 40, 45, 50, 56, 63, 70, 80, 90, 100)
_LARGE = (112, 125, 140, 160, 180, 200)


def show_size_effect(corpus: CorpusSummary, config: IndexConfig, *, forecast: bool) -> None:
    """Draw the curve over clustersize with the form's value marked; choosing a size there changes the form.

    forecast: whether there is a forecast of an endpoint's models beside it, whose entities it takes."""
    sizes, expected = sorted({*_SIZES, *_LARGE, config.cluster_size}), None
    if forecast:
        with suppress(LeanRAGError):  # the forecast beside it shows the error
            expected = forecast_card.forecast_with_endpoint(corpus, config)
    try:
        effects = session.workbench().builds.size_effects(corpus.id, config, sizes, expected)
    except LeanRAGError:  # the forecast beside it shows the error
        return

    def chosen() -> None:
        size = st.session_state[_KEY].get("size")
        if isinstance(size, int) and 2 <= size <= 200:
            state.remember("b_cluster_size", None if size == IndexConfig().cluster_size else size)

    by_model = is_remote(config.aggregation_model or config.model)
    basis = "build.effect.sampled" if effects.n_chunks_read else "build.effect.estimated"
    values = {
        "rows": [[row.cluster_size, row.layers, row.aggregated, row.summarised] for row in effects.effects],
        "size": config.cluster_size,
        "title": say("build.effect.title"),
        "basis": say("build.effect.measured" if effects.is_measured else basis, n=effects.entities),
        # Filled in by the script, which follows the slider.
        "said": say(
            "build.effect.said", size="{size}", layers="{layers}", entities="{entities}", relations="{relations}"
        ),
        "entities": say("build.effect.entities"),
        "relations": say("build.effect.relations_called" if by_model else "build.effect.relations"),
        "paper": say("build.effect.paper", size=20),
    }
    component(_SCRIPT, _FRAME)(data=values, key=_KEY, on_size_change=chosen)


def known_presets() -> dict[str, Preset]:
    """Return the presets by title: the program's, then the person's own if their file can be read."""
    try:
        return {preset.title: preset for preset in session.workbench().presets.with_shipped()}
    except LeanRAGError:  # the page reports it where it draws the presets
        return {preset.title: preset for preset in presets()}


def take_preset(title: str | None) -> None:
    """Fill the form with the preset, and Ask with its top-N, top-C and budgets. Options of Ask that the previous preset
    set are reset, unless a person has changed them since."""
    known = known_presets()
    before = known.get(state.recall("b_preset"))
    state.remember("b_preset", title)
    chosen = known.get(title or "")
    if chosen is None:
        return
    fill(chosen.index)
    for field, value in before.ask.items() if before else ():
        if state.recall(on_ask(field)) == state.written(value):
            state.forget(on_ask(field))
    for field, value in chosen.ask.items():
        state.remember(on_ask(field), value)


def on_ask(field: str) -> str:
    """Return the name under which Ask remembers an option of LeanRAG."""
    return forms.link_name(forms.option_fields(leanrag.Config)[field], "leanrag_")


def fill(values: Mapping[str, Any]) -> None:
    """Fill the form with these values, and all other fields with their defaults."""
    specs = forms.option_fields(IndexConfig)
    for field in SETTINGS:
        value = values.get(field)
        state.remember(f"b_{field}", None if value == specs[field].default else value)


def take_settings(index: IndexSummary) -> None:
    """Fill the form with the settings of an index, to change and build them. For callbacks."""
    values = index.config.by_name()
    fill(values)
    engine_form.take_settings(values)
    state.remember("corpus", index.corpus_id)
    room = MAX_NAME - len(say("build.changed_name", name=""))
    state.remember("b_name", say("build.changed_name", name=shortened(index.name, room)))
    st.toast(say("build.form_filled"), icon=":material/content_copy:")


def marked_preset() -> str | None:
    """Return the chosen preset if the fields have its values; else the default preset if they have those; else None."""
    specs = forms.option_fields(IndexConfig)
    now = {field: forms.field_value(IndexConfig, field, f"b_{field}") for field in SETTINGS}
    defaults = {field: specs[field].default for field in SETTINGS}
    known = known_presets()
    candidates = [title for title in (state.recall("b_preset"), next(iter(known))) if title in known]
    return next((title for title in candidates if now == {**defaults, **known[title].index}), None)


NAMES = (*SETTINGS, "preset")


@dataclass(frozen=True)
class Form:
    """The form's values. config: for the forecast, always buildable; fault: why the form itself cannot be built."""

    corpus_id: str
    engine: engine_form.Engine
    config: IndexConfig
    fault: str = ""


def show(corpora: list[CorpusSummary]) -> Form:
    """Draw the form, and return its values."""
    left, right = st.columns([2, 3], gap="small")
    with left:
        corpus_id = _corpus(corpora)
    with right:
        engine = engine_form.choose(corpus_id)
    if engine.remote:
        engine = engine_form.models(engine, corpus_id)
    _preset()
    chunk_tokens = partial(forms.field_value, IndexConfig, "chunk_tokens", "b_chunk_tokens")  # as the field has it then
    checks: dict[str, Callable[[Any], str]] = {
        # Otherwise the job would fail minutes later.
        "tau": lambda value: _fault_of(parse_tau, value, heuristic=engine.reads_by_grammar),
        "overlap_tokens": lambda value: _fault_of(IndexConfig, chunk_tokens=chunk_tokens(), overlap_tokens=value),
    }
    specs = forms.option_fields(IndexConfig)
    first = [name for name in SETTINGS if specs[name].metadata["in_row"]]
    folded = [name for name in SETTINGS if name not in first]
    values = forms.draw_fields(IndexConfig, first, prefix="b_", faults=checks)
    size_place = st.container(gap=None)
    with st.expander(say("build.clustering_settings")):
        values |= forms.draw_fields(IndexConfig, folded, prefix="b_")
    form = _checked(corpus_id, engine, values, {name: check(values[name]) for name, check in checks.items()})
    with size_place:
        corpus = next(each for each in corpora if each.id == corpus_id)
        show_size_effect(corpus, form.config, forecast=engine.remote and not engine.lacking)
    return form


def _corpus(corpora: list[CorpusSummary]) -> str:
    names = {
        corpus.id: say("ask.comma").join(
            [
                corpus.name,
                *([say("count.documents", n=corpus.documents)] if corpus.documents or corpus.arriving is None else []),
                *([say("library.tag.filling")] if corpus.arriving is not None else []),
            ]
        )
        for corpus in corpora
    }
    wanted = state.recall("corpus")
    if wanted and wanted not in names:
        message(say("build.corpus_gone", corpus=wanted, chosen=corpora[0].name), kind="error")
    return choices.dropdown("corpus", say("build.corpus"), names, pin=True)


def _preset() -> None:
    """Draw the presets, marking the one whose values the fields have."""
    with plain_errors():
        session.workbench().presets.with_shipped()  # an unreadable file shows its error; shipped presets remain
    presets = known_presets()
    # A shipped preset has a title in the reader's language; a person's own is shown unchanged.
    titles = {
        title: forms.plain(say_or(preset.title, f"build.preset.{preset.name}")) for title, preset in presets.items()
    }
    label = say("build.preset")
    title = widgets.show(
        "preset",
        marked_preset(),
        lambda mount: st.pills(
            label, list(presets), default=mount.value, format_func=titles.__getitem__, **mount.wired, wrap=True
        ),
        take_preset,
        form=widgets.labels(titles),
    )
    if title and {"top_n", "top_c"} <= set(presets[title].ask):
        draw(markup.hint(_on_ask(presets[title])))
    if title and presets[title].name.startswith("own-"):
        buttons.tertiary(say("preset.delete"), "delete", "delete_preset", _delete_preset, title)


def _on_ask(preset: Preset) -> str:
    """Return in words what the preset sets on Ask."""
    parts = [say("build.plain_mixture")] if preset.plain_mixture else []
    parts.append(say("build.set_on_ask", top_n=preset.ask["top_n"], top_c=preset.ask["top_c"]))
    return joined_sentences(parts)


def _delete_preset(title: str) -> None:
    """Delete the person's preset; the form keeps its values. For callbacks."""
    with plain_errors():
        session.workbench().presets.delete(title)
        state.forget("b_preset")


def _fault_of(check: Callable[..., object], *args: Any, **values: Any) -> str:
    """Return in words why the check refuses these values; empty if it does not."""
    try:
        check(*args, **values)
    except InvalidConfig as error:
        return words(error)
    return ""


def _checked(corpus_id: str, engine: engine_form.Engine, values: dict[str, Any], faults: Mapping[str, str]) -> Form:
    """Return the form with checked values; an invalid field takes its last valid value."""
    right = st.session_state.setdefault("lr_right_values", {})
    specs = forms.option_fields(IndexConfig)
    for name, fault in faults.items():
        if fault:
            values = values | {name: right.get(name, specs[name].default)}
        else:
            right[name] = values[name]
    values = values | {"overlap_tokens": min(values["overlap_tokens"], values["chunk_tokens"] - 1)}
    fault, chosen = next((problem for problem in faults.values() if problem), ""), dict(engine.values)
    try:
        PromptBook(chosen.get("prompts", ()))
    except InvalidConfig as error:
        message(error, kind="error", title=say("build.prompt_unusable"))
        fault, chosen["prompts"] = fault or words(error), ()
    return Form(corpus_id, engine, IndexConfig(**values, **chosen), fault)
