"""Settings: the servers of models and their prices, the execution of builds, and the stored calls."""

from collections import Counter

import pandas as pd
import streamlit as st

from leanrag_core.errors import InvalidConfig
from leanrag_core.messages.catalog import joined_sentences, sentence
from leanrag_core.messages.message import Message
from leanrag_core.models.listing import ModelList, probe_concurrency
from leanrag_core.models.local_servers import KINDS, usual_ports
from leanrag_core.types.settings import LANGUAGES, LEAST_WINDOW, MOST_WINDOW, PROMPT_FORMS, Price, Settings
from leanrag_core.workbench.role_checks import writers_at_common_server
from pages.common import buttons, choices, forms, markup, reveal, session, state, tour
from pages.common.frame import enter, heading, plain_errors
from pages.common.html import draw, html
from pages.common.messages import LANGUAGE, language, message, say
from pages.settings import (
    call_store_view,
    endpoint_view,
    execution_view,
    found_view,
    model_files_view,
    roles_view,
    settings_form,
    storage_view,
)

PRESETS = {"OpenAI": "https://api.openai.com/v1", **{kind.title: kind.address for kind in KINDS}}
PRICED = 8  # most models without a price in the table
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


def section(title: str, note: str) -> None:
    template = '<div class="lr-section"><span role="heading" aria-level="2">{}</span><span class="s">{}</span></div>'
    draw(html(template, title, note))


def found_section(settings: Settings) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="found_head"):
        section(say("found.title"), say("found.note", n=sum(map(bool, usual_ports().values()))))
        found_view.look_again()
    found_view.cards(settings, with_files=True)


def roles_section(settings: Settings) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="roles_head"):
        section(say("roles.title"), say("roles.note"))
        roles_view.check_all(settings)
    roles_view.table(settings)


def endpoint_section(settings: Settings) -> None:
    section(say("settings.endpoint"), say("settings.endpoint.note"))
    refused = settings_form.is_refused("base_url")
    with st.container(horizontal=True, gap="xsmall", key="presets"):
        for name, address in PRESETS.items():
            is_set = settings.base_url == address and not refused
            buttons.secondary(name, "", f"preset_{name}", settings_form.keep, "base_url", address, disabled=is_set)
    settings_form.address(settings)
    settings_form.key_variable(settings)
    parts = [say("settings.endpoint.local" if settings.local else "settings.endpoint.sent_to", host=settings.host)]
    parts += [] if endpoint_view.is_set_up(settings) else [say("settings.endpoint.nothing_sent")]
    draw(markup.muted(joined_sentences(parts)))
    refused = settings_form.is_refused("base_url")  # the field may just have refused its text
    if buttons.secondary(say("settings.endpoint.test"), "network_check", "test_connection", disabled=refused):
        with st.spinner(say("settings.waiting.server")):
            st.session_state["lr_tested"] = (endpoint_view.server_of(settings), endpoint_view.test_connection(settings))
        st.rerun()  # the table of roles above shows the tested windows
    who, tested = st.session_state.get("lr_tested", (None, None))
    if tested is not None and who == endpoint_view.server_of(settings) and not refused:
        endpoint_view.show_test(tested, settings)
    build_models(settings)


def limits_section(settings: Settings) -> None:
    section(say("settings.limits"), say("settings.limits.note"))
    with st.grid(2, min_column_width=170, gap="small"):
        for name in LIMITS:
            settings_form.number(settings, name)
    prompt_form(settings)
    answer_model(settings)
    models = endpoint_view.listing(settings) if endpoint_view.is_set_up(settings) else None
    if models is not None and models.writing:
        probe(settings, models)


def prompt_form(settings: Settings) -> None:
    """Draw the choice of the form of prompts."""
    title = forms.title_of("prompt_form")
    with reveal.place("prompt_form"):
        titles = {form: say(f"settings.prompt_form.{form}") for form in PROMPT_FORMS}
        hint = say("option.help.prompt_form")
        chosen = choices.segmented_control(title, titles, settings.prompt_form, key="prompt_form", help=hint)
    if chosen != settings.prompt_form:
        settings_form.keep("prompt_form", chosen)
        st.rerun()
    settings_form.fault("prompt_form")


def language_section() -> None:
    title = forms.title_of("language")
    section(title, say("settings.language_note"))
    titles = {code: sentence(Message("settings.language_name"), code) for code in LANGUAGES}
    with reveal.place("language"):
        chosen = choices.segmented_control(title, titles, language(), key="language", label_visibility="collapsed")
    if chosen != language():
        settings_form.keep("language", chosen)
        state.forget(LANGUAGE)
        st.rerun()
    settings_form.fault("language")
    buttons.secondary(say("tour.again"), "tour", "tour_again", tour.show_again)


def reading_section(settings: Settings) -> None:
    section(say("settings.reading"), say("settings.reading.note"))
    with st.grid(2, min_column_width=170, gap="small"):
        for name in READING:
            settings_form.number(settings, name)


def build_models(settings: Settings) -> None:
    """Draw the choice of the models that Build proposes."""
    names = endpoint_view.writers(settings)
    if not names and not endpoint_view.is_set_up(settings):
        return
    with st.grid(2, min_column_width=190, gap="small"):
        _setting_of_model(settings, "build_model", names, say("build.engine.builtin"))
        if endpoint_view.is_set_up(settings):
            embedding = endpoint_view.listing(settings).embedding_first
            _setting_of_model(settings, "build_embedding", embedding, say("build.engine.builtin_embedding"))


def answer_model(settings: Settings) -> None:
    """Draw the choice of a model for answers other than the index's own."""
    names = endpoint_view.writers(settings)
    if names or endpoint_view.is_set_up(settings):
        _setting_of_model(settings, "answer_model", names, say("settings.answer_model.same"))


def _setting_of_model(settings: Settings, name: str, names: tuple[str, ...], blank: str) -> None:
    """Draw a setting that names a model. blank: label for no model."""
    state.remember(name, endpoint_view.short_name(getattr(settings, name)))
    with reveal.place(name):
        endpoint_view.pick_model(
            forms.title_of(name),
            name,
            names,
            blank=blank,
            on_pick=lambda chosen: settings_form.keep(name, endpoint_view.full_name(chosen)),
        )


def probe(settings: Settings, models: ModelList) -> None:
    """Measure how many concurrent calls the server can use, and offer that number."""
    wanted = (state.recall("check_model"), *writers_at_common_server(settings))
    model = next((name for name in wanted if name in models.writing), models.writing[0])
    if buttons.tertiary(say("settings.probe"), "speed", "probe"):
        st.session_state.pop("lr_probed", None)
        with plain_errors(), st.spinner(say("settings.probe.asking", model=forms.plain(model)), show_time=True):
            probed = probe_concurrency(session.workbench().models.make().endpoint, model)
            st.session_state["lr_probed"] = (endpoint_view.server_of(settings), model, probed)
    draw(markup.hint(say("settings.probe.hint", model=model)))
    who, probed_model, probed = st.session_state.get("lr_probed", (None, "", None))
    if probed is None or who != endpoint_view.server_of(settings):
        return
    rows = [(f"{level:,}", f"{rate:,.1f}") for level, rate in probed.calls_a_second.items()]
    head = (say("settings.probe.in_flight"), say("settings.probe.a_second"))
    table = markup.facts_table(head, rows, caption=say("settings.probe.caption"))
    draw(markup.label(say("settings.probe.measured"), probed_model) + table)
    if probed.chosen == settings.concurrency:
        message(say("settings.probe.as_set", n=probed.chosen), kind="good")
        return
    message(say("settings.probe.better", better=probed.chosen, now=settings.concurrency))
    buttons.secondary(
        say("settings.probe.take", n=probed.chosen), "", "take_probed", settings_form.keep, "concurrency", probed.chosen
    )


def price_section(settings: Settings) -> None:
    section(forms.title_of("prices"), say("settings.prices.note"))
    version = st.session_state.setdefault("lr_prices_version", 0)
    windows = dict(settings.windows)
    rows = _price_rows(settings)
    model, prompt, cached, completion, window = rows.columns
    with reveal.place("prices"):
        edited = st.data_editor(
            rows,
            num_rows="dynamic",
            hide_index=True,
            placeholder="–",
            key=f"prices_{version}_{len(rows)}",
            height=forms.table_height(len(rows) + 1, 260),
            column_config={
                model: st.column_config.TextColumn(required=True, width=165),
                prompt: st.column_config.NumberColumn(min_value=0.0, format="%.3f", width=80),
                cached: st.column_config.NumberColumn(
                    min_value=0.0, format="%.3f", width=105, help=say("settings.prices.cached.help")
                ),
                completion: st.column_config.NumberColumn(min_value=0.0, format="%.3f", width=110),
                window: st.column_config.NumberColumn(
                    min_value=LEAST_WINDOW, max_value=MOST_WINDOW, step=1, format="%d", width=80
                ),
            },
        )
    written = [(str(row[model] or "").strip(), row) for row in edited.to_dict("records")]
    written = [(name, row) for name, row in written if name]
    prices = {
        name: Price(
            _amount(row[prompt]), _amount(row[completion]), None if pd.isna(row[cached]) else float(row[cached])
        )
        for name, row in written
        if not (pd.isna(row[prompt]) and pd.isna(row[completion]))
    }
    set_windows = {name: int(row[window]) for name, row in written if not pd.isna(row[window])}
    unchanged = (prices, set_windows) == (dict(settings.prices), windows)
    wrong = ""
    if any(pd.isna(row[prompt]) != pd.isna(row[completion]) for _, row in written):
        wrong = say("settings.prices.half")
    elif twice := [name for name, n in Counter(name for name, _ in written).items() if n > 1]:
        wrong = say("settings.prices.twice", model=twice[0])
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if buttons.secondary(say("settings.prices.save"), "", "save_prices", disabled=unchanged or bool(wrong)):
            settings_form.keep("prices", prices)
            settings_form.keep("windows", set_windows)
            st.session_state["lr_prices_version"] = version + 1
            st.rerun()
        draw(html('<div class="lr-hint" style="margin:0">{}</div>', wrong or say("settings.prices.hint")))
    settings_form.fault("prices")
    settings_form.fault("windows")


def _price_rows(settings: Settings) -> pd.DataFrame:
    """Return the models that have a price or a window, then the server's others, unless these are many."""
    known = {name: settings.prices.get(name) for name in (*settings.prices, *settings.windows)}
    model_names = endpoint_view.listing(settings).names if endpoint_view.is_set_up(settings) else ()
    without = [name for name in model_names if name not in known]
    without = without if len(without) <= PRICED else []
    names = [*known, *without]
    prices = [known.get(name) for name in names]
    columns = {
        "model": pd.Series(names, dtype=str),
        "prompt": pd.Series([price.prompt if price else None for price in prices], dtype=float),
        "cached": pd.Series([price.cached if price else None for price in prices], dtype=float),
        "completion": pd.Series([price.completion if price else None for price in prices], dtype=float),
        "window": pd.Series([settings.windows.get(name) for name in names], dtype="Int64"),
    }
    return pd.DataFrame({say(f"settings.prices.{name}"): values for name, values in columns.items()})


def _amount(value: object) -> float:
    return float(value) if isinstance(value, int | float) and value == value else 0.0


def damaged(error: InvalidConfig) -> None:
    message(error, kind="error", title=say("build.engine.settings_unreadable"))
    if buttons.secondary(say("settings.start_again"), "", "reset_settings"):
        session.workbench().settings.save(Settings())
        st.rerun()


def page() -> None:
    enter("settings")
    settings_form.begin()
    try:
        settings = session.workbench().settings.read()
    except InvalidConfig as error:
        heading(say("page.settings"))
        damaged(error)
        state.publish(["index"])
        return
    server = settings.host if endpoint_view.is_set_up(settings) else say("settings.no_endpoint")
    heading(say("page.settings"), server)
    found_section(settings)
    roles_section(settings)
    left, right = st.columns([6, 5], gap="large")
    with left:
        endpoint_section(settings)
        price_section(settings)
    with right:
        limits_section(settings)
    left, right = st.columns([6, 5], gap="large")
    with left:
        section(forms.title_of("execution"), say("settings.work.note"))
        with reveal.place("execution"):
            execution_view.panel(settings)
        reading_section(settings)
        section(say("settings.search"), say("settings.search.note"))
        storage_view.server_panel(settings)
    with right:
        language_section()
        section(say("settings.storage"), say("settings.storage.note"))
        storage_view.panel(settings)
        model_files_view.folder_field(settings)
    section(say("settings.check"), say("settings.check.note"))
    if endpoint_view.is_set_up(settings) or endpoint_view.writers(settings):
        endpoint_view.check_panel(settings)
    else:
        draw(markup.muted(say("build.engine.set_up_first")))
    section(say("settings.calls"), say("settings.calls.note"))
    with plain_errors():
        call_store_view.panel()
    state.publish(["index"])


page()
