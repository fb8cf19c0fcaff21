"""The forecast of a build: what it will take; the name, the budget, and the button that starts it."""

from dataclasses import replace
from typing import Any, TypeVar

import streamlit as st
from markupsafe import Markup

from leanrag_core.errors import LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.files.records import plain
from leanrag_core.indexing.forecasting.forecasts import as_batches
from leanrag_core.models import e5
from leanrag_core.storage.corpus_record import MAX_NAME
from leanrag_core.types.batches import ROUND_SECONDS
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import BUILTIN, MULTILINGUAL, IndexConfig
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.job import JobState
from leanrag_core.types.roles import AGGREGATION, EMBEDDINGS, EXTRACTION
from leanrag_core.types.settings import Settings
from leanrag_core.types.summary import CorpusSummary
from leanrag_core.types.visible import visible
from pages.build import build_charts, embedding_view
from pages.build.engine_form import Engine
from pages.common import buttons, choices, markup, running_view, session, state, widgets
from pages.common.frame import plain_errors
from pages.common.html import draw, html
from pages.common.messages import as_capital, message, say, toast_next, words
from pages.settings import call_store_view

CALLS_STEP, TOKENS_STEP = 10, 100_000  # of the fields of a budget
_MOST_TOKENS = 2**53  # the largest exact number in a browser
_Number = TypeVar("_Number", int, float)


def dollars_field(name: str, label: str, default: float = 0.0, *, key: str, **layout: Any) -> float:
    """Ask for the most dollars to spend, and return them; 0 for no limit."""
    most = float("inf")
    return _limit_field(name, label, default, most, key=key, step=1.0, format="%.2f", **layout)


def count_field(name: str, label: str, default: int = 0, *, step: int, key: str, **layout: Any) -> int:
    """Ask for the most calls to make or tokens to spend, and return them; 0 for no limit."""
    return _limit_field(name, label, default, _MOST_TOKENS, key=key, step=step, **layout)


def _limit_field(name: str, label: str, default: _Number, most: float, *, key: str, **layout: Any) -> _Number:
    """Draw a field for a number of the default's type, from 0 to below the most."""
    kind = type(default)
    chosen = widgets.remembered(
        name,
        default,
        lambda mount: st.number_input(label, min_value=kind(0), value=mount.value, **mount.wired, **layout),
        widgets.Values(parse=kind, allowed=lambda value: 0 <= value < most),
        key=key,
    )
    return kind(chosen)


URL = ("b_name", "b_dollars", "b_tokens")
_SAMPLED = 3  # chunks of a dry run


def card(corpus: CorpusSummary, config: IndexConfig, engine: Engine, jobs: list[JobState], *, fault: str) -> None:
    """Draw the forecast for these settings, and the start button. fault: what is wrong with the form."""
    with st.container(border=True, key="forecast"):
        if engine.remote:
            endpoint_forecast(corpus, config, engine)
            budget = budget_fields(config)
        else:
            builtin_forecast(corpus, config, jobs)
            budget = None
        fits = widgets.Values(allowed=lambda written: len(written) <= MAX_NAME)
        look: dict[str, Any] = {"placeholder": visible(corpus.name), "max_chars": MAX_NAME}
        name = choices.text("b_name", say("build.index_name"), fits, key="index_name", **look)
        label, lacks = say("library.build_index"), bool(fault or engine.lacking) or not corpus.documents
        if buttons.primary(label, "play_arrow", "primary_build", width="stretch", disabled=lacks):
            with plain_errors():
                started = session.workbench().builds.start(
                    corpus.id, config, name.strip(), budget=budget, as_batches=engine.as_batches
                )
                session.endpoint_builds.clear()
                state.remember("job", started)
                running_view.choose_when_built(started)
                toast_next(say("build.started"), "construction")  # its panel may be out of view, far above the button
                st.rerun()
        if not corpus.documents:
            markup.note(say("build.corpus_empty" if corpus.arriving is None else "library.filling_note"))
        else:
            wrong = say("build.setting_wrong") if fault else ""
            markup.note(engine.lacking or wrong or say("build.goes_on"))


def builtin_forecast(corpus: CorpusSummary, config: IndexConfig, jobs: list[JobState]) -> None:
    """Draw the time, estimated from earlier builds; the built-in engine costs nothing."""
    n_built = sum(job.builds_index and job.status == "done" for job in jobs)
    try:
        expected = _forecast(corpus.id, corpus.tokens, corpus.documents, config, {}, n_built)
    except LeanRAGError as error:
        message(error, kind="error")
        return
    rows = [
        (say("library.documents"), f"{corpus.documents:,}"),
        (say("build.tokens"), f"{corpus.tokens:,}"),
        (say("build.chunks"), say("build.about", n=f"{expected.chunks:,}")),
        (say("build.llm_calls"), "0"),
    ]
    _head(say("build.no_cost"), build_charts.span(expected.seconds), words(expected.basis or ""))
    draw(markup.facts_table(("", ""), [*rows, *_other_embedding(corpus, config, n_built)]))


def _other_embedding(corpus: CorpusSummary, config: IndexConfig, n_built: int) -> list[tuple[str, str]]:
    """Return the time with the other local embedding, if choosing between them makes sense."""
    if not e5.is_installed() or not (
        config.embedding == MULTILINGUAL or session.workbench().builds.foreign_language(corpus.id)
    ):
        return []
    other = replace(config, embedding=BUILTIN if config.embedding == MULTILINGUAL else MULTILINGUAL)
    expected = _forecast(corpus.id, corpus.tokens, corpus.documents, other, {}, n_built)
    title = say("build.with_embedding", embedding=embedding_view.SHORT[other.embedding])
    return [(title, build_charts.span(expected.seconds))]


def _head(cost: str, time: str, basis: str) -> None:
    draw(
        markup.label(say("build.forecast"))
        + html('<div class="lr-big"><b>{}</b><span>{}</span></div>', cost, time)
        + html('<div class="lr-small lr-muted" style="margin:.2rem 0 .5rem">{}</div>', basis)
    )


def endpoint_forecast(corpus: CorpusSummary, config: IndexConfig, engine: Engine) -> None:
    """Draw calls, tokens, cost and time of a build with an endpoint's models."""
    if engine.lacking:
        _head("–", "", engine.lacking)
        return
    bench = session.workbench()
    try:
        settings = bench.settings.read()
        expected = forecast_with_endpoint(corpus, config)
    except LeanRAGError as error:
        message(error, kind="error")
        return
    kept = _kept_answers(corpus.id, config)

    def shown(high: str, whole: str) -> str:
        """Return the upper bound alone where kept answers may replace calls."""
        return say("build.at_most", amount=high) if kept else whole

    calls, tokens = expected.calls, expected.tokens
    batched = as_batches(expected, config)
    chosen = batched if engine.as_batches else expected
    cost = _cost(chosen, settings, config)
    if kept and chosen.dollars.high:
        cost = as_capital(shown(numbers.money(chosen.dollars.high), cost))
    time = shown(numbers.duration(expected.seconds.high), build_charts.span(expected.seconds))
    if engine.as_batches:
        time = say("build.batches.days", n=round(batched.seconds.high / ROUND_SECONDS))
    _head(cost, time, words(chosen.basis or ""))
    rows = [
        (say("build.chunks"), f"{expected.chunks:,}"),
        (say("build.entities"), build_charts.counts(expected.entities)),
        (say("build.column.calls"), shown(f"{calls.high:,.0f}", build_charts.counts(calls))),
        (say("build.tokens"), shown(numbers.tokens(round(tokens.high)), build_charts.tokens_of(tokens))),
        (say("build.calls_saved"), f"{expected.saved:,}"),
    ]
    if engine.has_batches and expected.dollars.high:
        for code, each in (("build.direct_calls", expected), ("build.in_batches", batched)):
            rows.append((say(code), shown(numbers.money(each.dollars.high), build_charts.money_of(each.dollars))))
    draw(markup.facts_table(("", ""), rows))
    if kept:
        note = _rebuild_note(corpus.id, config, kept)
        draw(html('<div class="lr-notes"><div>{}</div></div>', note))
    with st.expander(say("build.by_stage")):
        draw(_by_stage(chosen))
    if expected.chunks > expected.sampled < _SAMPLED and buttons.tertiary(
        say("build.improve", n=min(_SAMPLED, expected.chunks)), "labs", "dry_run", help=say("build.improve_hint")
    ):
        with plain_errors(), st.spinner(say("build.reading"), show_time=True):
            bench.builds.forecast(corpus.id, config, dry_run=_SAMPLED)
            st.rerun()


def _by_stage(expected: Forecast) -> Markup:
    """Return the table of the stages that call a model."""
    head = tuple(say(code) for code in ("build.stage", "build.column.calls", "build.tokens", "build.column.cost"))
    rows = [
        (
            say(f"stage.{stage.stage.replace(' ', '_')}"),
            f"{stage.calls.expected:,.0f}",
            numbers.tokens(round(stage.prompt_tokens.expected + stage.completion_tokens.expected)),
            numbers.money(stage.dollars.expected),
        )
        for stage in expected.calling
    ]
    return markup.facts_table(head, rows)


def forecast_with_endpoint(corpus: CorpusSummary, config: IndexConfig) -> Forecast:
    """Return the forecast of a build with an endpoint's models, from what is stored by now. Raises as forecast()
    does."""
    bench = session.workbench()
    settings = plain(bench.settings.read())
    return _forecast(corpus.id, corpus.tokens, corpus.documents, config, settings, len(bench.calls))


def _kept_answers(corpus_id: str, config: IndexConfig) -> int:
    """Count the stored answers of these models to later questions about this corpus (merging, clusters, relations).
    Which of them can be reused is known only after clustering."""
    models = {config.model, config.aggregation_model or config.model}
    return sum(
        group.calls
        for group in call_store_view.groups()
        if group.model in models
        and group.index.startswith(f"{corpus_id}-")
        and group.task.startswith(("aggregate_", "merge_"))
    )


def _rebuild_note(corpus_id: str, config: IndexConfig, kept: int) -> str:
    """Return why the forecast is only an upper bound."""
    indexes = session.index_list().indexes
    if any(index.corpus_id == corpus_id and index.config.is_of(config) for index in indexes):
        return say("build.same_settings")
    return say("build.kept_answers", n=kept)


@st.cache_data(max_entries=24, ttl=600, show_spinner=False)
def _forecast(
    corpus_id: str, tokens: int, documents: int, config: IndexConfig, settings: dict[str, object], n_results: int
) -> Forecast:
    """Return the forecast, cached until the corpus, the settings, or the number of builds or stored calls changes."""
    return session.workbench().builds.forecast(corpus_id, config)


def _cost(expected: Forecast, settings: Settings, config: IndexConfig) -> str:
    if expected.dollars.high > 0:
        return build_charts.money_of(expected.dollars)
    models = {EXTRACTION: config.model, AGGREGATION: config.aggregation_model, EMBEDDINGS: config.embedding}
    of_role = {role: settings.of_role(role) for role in models}
    paid = [role for role, name in models.items() if name and not of_role[role].local]
    unknown = any(of_role[role].unpriced((models[role],)) for role in paid)
    return say("build.price_unknown" if unknown else "build.no_cost")


def budget_fields(config: IndexConfig) -> Budget:
    """Ask for the budget of the build and return it; a build that reaches it stops and can be resumed."""
    left, right = st.columns(2, gap="small")
    with left:
        dollars = dollars_field("b_dollars", say("build.budget_dollars"), key="budget_dollars")
    with right:
        tokens = count_field("b_tokens", say("build.budget_tokens"), step=TOKENS_STEP, key="budget_tokens")
    hint = say("build.budget_hint")
    draw(markup.hint(hint))
    if dollars:
        with plain_errors():
            names = session.workbench().settings.read().unpriced(config.models)
            if names:
                warning = say("build.no_price", models=say("ask.comma").join(names))
                draw(html('<div class="lr-notes"><div>{}</div></div>', warning))
    return Budget(dollars, tokens)
