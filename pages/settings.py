"""Settings: where models are served and what they cost, who does the work of builds, and the calls that are kept."""

import pandas as pd
import streamlit as st

from leanrag_core.errors import InvalidConfig
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message
from leanrag_core.models.listing import ModelList
from leanrag_core.types.model_names import endpoint_model, model_title
from leanrag_core.types.settings import LANGUAGES, Price, Settings
from pages._shared.common import forms, markup, session, state, tour
from pages._shared.common.frame import enter, heading, message, plain_errors
from pages._shared.common.html import draw, html
from pages._shared.common.messages import LANGUAGE, say
from pages._shared.settings import (
    call_store_view,
    endpoint_view,
    execution_view,
    model_check_view,
    search_server_view,
    settings_form,
    storage_view,
)

PRESETS = {
    "OpenAI": "https://api.openai.com/v1",
    "Ollama": "http://localhost:11434/v1",
    "vLLM": "http://localhost:8000/v1",
    "LM Studio": "http://localhost:1234/v1",
    "llama.cpp": "http://localhost:8080/v1",
}
PRICED = 8  # models without a price that are listed in the table
LIMITS = (
    "concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "timeout_seconds",
    "retries",
    "temperature",
    "max_reply_tokens",
)
READING = ("parse_seconds", "parse_memory_mb", "parse_output_mb")


def section(title: str, note: str = "") -> None:
    draw(
        html(
            '<div class="lr-section"><span role="heading" aria-level="2">{}</span><span class="s">{}</span></div>',
            title,
            note,
        )
    )


def endpoint_section(settings: Settings) -> None:
    section("Endpoint", "an OpenAI-compatible server")
    with st.container(horizontal=True, gap="xsmall", key="presets"):
        for name, address in PRESETS.items():
            st.button(
                name,
                key=f"preset_{name}",
                type="secondary",
                disabled=settings.base_url == address,
                on_click=settings_form.keep,
                args=("base_url", address),
            )
    settings_form.address(settings)
    settings_form.key_variable(settings)
    where = "The model runs on this machine" if settings.local else f"Text is sent to {settings.host}"
    used = "" if endpoint_view.is_set_up(settings) else " Nothing is sent yet: no endpoint is set up."
    draw(
        html(
            '<div class="lr-small lr-muted">{} when an index is built or asked with a model of the endpoint. The '
            "built-in engine sends nothing.{}</div>",
            where,
            used,
        )
    )
    refused = settings_form.is_refused("base_url")
    if st.button("Test connection", icon=":material/network_check:", key="test_connection", disabled=refused):
        with st.spinner("Waiting for the server"):
            st.session_state["lr_tested"] = (_who(settings), endpoint_view.test_connection(settings))
    who, tested = st.session_state.get("lr_tested", (None, None))
    if tested is not None and who == _who(settings) and not refused:
        endpoint_view.show_test(tested, settings)


def _who(settings: Settings) -> tuple[str, str]:
    return settings.base_url, settings.key_variable


def limits_section(settings: Settings) -> None:
    section("Limits", "for builds and answers that start from now on")
    with st.grid(2, min_column_width=170, gap="small"):
        for name in LIMITS:
            settings_form.number(settings, name)
    answer_model(settings)
    models = endpoint_view.listing(settings) if endpoint_view.is_set_up(settings) else None
    if models is not None and models.writing:
        probe(settings, models)


def language_section(settings: Settings) -> None:
    section(say("settings.language"), say("settings.language_note"))
    codes = list(LANGUAGES)
    chosen = st.segmented_control(
        say("settings.language"),
        codes,
        default=settings.language,
        format_func=lambda code: sentence(Message("settings.language_name"), code),
        key="language",
        required=True,
        label_visibility="collapsed",
    )
    if chosen != settings.language:
        settings_form.keep("language", chosen)
        state.remember(LANGUAGE, None)
        st.rerun()
    settings_form.fault("language")
    st.button(say("tour.again"), icon=":material/tour:", key="tour_again", on_click=tour.show_again)


def reading_section(settings: Settings) -> None:
    section("Reading files", "a file that needs more is skipped and reported")
    with st.grid(2, min_column_width=170, gap="small"):
        for name in READING:
            settings_form.number(settings, name)


def answer_model(settings: Settings) -> None:
    """Another model for answers than the index's own."""
    if not endpoint_view.is_set_up(settings):
        return
    state.remember("answer_model", model_title(settings.answer_model))
    models = endpoint_view.listing(settings)
    endpoint_view.pick_model(
        "Model for answers",
        "answer_model",
        models,
        names=models.writing,
        blank="The model that built the index",
        on_pick=lambda chosen: settings_form.keep("answer_model", endpoint_model(chosen)),
    )


def probe(settings: Settings, models: ModelList) -> None:
    """Measures how many calls in flight the server can use, and offers that number."""
    chosen = state.recall("check_model")
    model = chosen if chosen in models.writing else models.writing[0]
    if st.button("Find out how many calls in flight it can use", type="tertiary", icon=":material/speed:", key="probe"):
        st.session_state.pop("lr_probed", None)
        with (
            plain_errors(),
            st.spinner(f"Asking {forms.plain(model)}, with more calls at a time", show_time=True),
        ):
            st.session_state["lr_probed"] = (_who(settings), model, session.workbench().probe_concurrency(model))
    draw(html('<div class="lr-hint">At most 64 short questions to {}; nothing is stored.</div>', model))
    who, asked, probed = st.session_state.get("lr_probed", (None, "", None))
    if probed is None or who != _who(settings):
        return
    rows = [(f"{level:,}", f"{rate:,.1f}") for level, rate in probed.calls_a_second.items()]
    draw(
        markup.label("Measured", asked)
        + markup.facts_table(("Calls in flight", "Calls a second"), rows, caption="Calls a second by calls in flight")
    )
    if probed.chosen == settings.concurrency:
        message(f"{probed.chosen:,} in flight, as set, is as good as any other number.", kind="good")
        return
    message(f"{probed.chosen:,} in flight is as good as any higher number; {settings.concurrency:,} are set.")
    st.button(
        f"Set calls in flight to {probed.chosen:,}",
        key="take_probed",
        on_click=settings_form.keep,
        args=("concurrency", probed.chosen),
    )


def price_section(settings: Settings) -> None:
    section("Prices", "US dollars for a million tokens")
    version = st.session_state.setdefault("lr_prices_version", 0)
    known = dict(settings.prices)
    model_names = endpoint_view.listing(settings).names if endpoint_view.is_set_up(settings) else ()
    without = [name for name in model_names if name not in known]
    without = without if len(without) <= PRICED else []
    rows = pd.DataFrame(
        {
            "Model": pd.Series([*known, *without], dtype=str),
            "Prompt": pd.Series([*(price.prompt for price in known.values()), *[None] * len(without)], dtype=float),
            "Completion": pd.Series(
                [*(price.completion for price in known.values()), *[None] * len(without)], dtype=float
            ),
        }
    )
    edited = st.data_editor(
        rows,
        num_rows="dynamic",
        hide_index=True,
        placeholder="–",
        key=f"prices_{version}_{len(rows)}",
        height=forms.table_height(len(rows) + 1, 260),
        column_config={
            "Model": st.column_config.TextColumn(required=True, width=220),
            "Prompt": st.column_config.NumberColumn(min_value=0.0, format="%.3f", width=80),
            "Completion": st.column_config.NumberColumn(min_value=0.0, format="%.3f", width=80),
        },
    )
    prices = {
        str(row["Model"]).strip(): Price(_amount(row["Prompt"]), _amount(row["Completion"]))
        for row in edited.to_dict("records")
        if str(row["Model"] or "").strip() and not (pd.isna(row["Prompt"]) and pd.isna(row["Completion"]))
    }
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if st.button("Save prices", key="save_prices", disabled=prices == dict(settings.prices)):
            settings_form.keep("prices", prices)
            st.session_state["lr_prices_version"] = version + 1
            st.rerun()
        draw(html('<div class="lr-hint" style="margin:0">Forecasts and budgets in dollars count by these.</div>'))
    settings_form.fault("prices")


def _amount(value: object) -> float:
    return float(value) if isinstance(value, int | float) and value == value else 0.0


def damaged(error: InvalidConfig) -> None:
    message(str(error), kind="error", title="The settings cannot be read.")
    if st.button("Start again with the defaults", key="reset_settings"):
        session.workbench().save_settings(Settings())
        st.rerun()


def page() -> None:
    enter("settings")
    settings_form.begin()
    try:
        settings = session.workbench().settings()
    except InvalidConfig as error:
        heading("Settings")
        damaged(error)
        state.publish(["index"])
        return
    where = settings.host if endpoint_view.is_set_up(settings) else "no endpoint yet; the built-in engine needs none"
    heading("Settings", where)
    left, right = st.columns([6, 5], gap="large")
    with left:
        endpoint_section(settings)
        price_section(settings)
    with right:
        limits_section(settings)
    left, right = st.columns([6, 5], gap="large")
    with left:
        section("Work", "who reads, embeds and clusters in a build")
        execution_view.panel(settings)
    with right:
        language_section(settings)
        reading_section(settings)
        section("Search index", "of large layers")
        search_server_view.panel(settings)
        section("Storage", "on this machine")
        storage_view.panel(settings)
    section("Model check", "one passage, before you build")
    if endpoint_view.is_set_up(settings):
        model_check_view.panel(settings)
    else:
        draw(html('<div class="lr-small lr-muted">Set up an endpoint first.</div>'))
    section("Stored calls", "every answer of an endpoint")
    with plain_errors():
        call_store_view.panel()
    state.publish(["index"])


page()
