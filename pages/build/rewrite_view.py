"""Rewriting upper layers with a model at an endpoint: a fold below the table of indexes."""

from functools import partial

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.files.records import plain
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import endpoint_model
from leanrag_core.types.index import Index
from leanrag_core.types.roles import AGGREGATION
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.updating import RewriteForecast, UpdateReport
from leanrag_core.types.visible import visible
from leanrag_core.workbench.rewrites import rewritable_layers
from pages.build import forecast_card
from pages.build.engine_form import to_settings
from pages.common import buttons, markup, session, state, widgets
from pages.common.frame import lazy_fold
from pages.common.html import draw, html
from pages.common.messages import message, say, words
from pages.settings import endpoint_view


def fold(index: IndexSummary) -> None:
    """Draw the fold; its content is looked up when it is opened."""
    lazy_fold(say("rewrite.fold"), partial(panel, index), key="index_rewrite", icon="edit_note")


def panel(index: IndexSummary) -> None:
    """Draw what is rewritten, the model, the forecast, and the start button."""
    markup.note(say("rewrite.explained"))
    opened = session.open_index(index)
    first_layers = rewritable_layers(opened)
    if not first_layers:
        message(say("rewrite.no_layers", index=visible(index.name)))
        return
    settings = session.workbench().settings.read().of_role(AGGREGATION)
    if not endpoint_view.is_set_up(settings):
        message(say("rewrite.no_endpoint"))
        to_settings()
        return
    listed = endpoint_view.listing(settings)
    if listed.error:
        message(listed.error, kind="error", title=say("build.engine.no_answer"))
    with st.grid(2, min_column_width=190, gap="small"):
        model = endpoint_view.pick_model(say("rewrite.model"), "rw_model", listed.writing)
        n_upper = _layers(first_layers)
    draw(markup.hint(_where(settings.local, settings.host)))
    if not model:
        markup.note(say("build.engine.choose_model"))
        return
    top = first_layers[-1] if len(first_layers) > 1 else len(opened.layers) - 1
    from_layer = top - n_upper + 1 if len(first_layers) > 1 else 1
    try:
        expected = _forecast(
            index.id, opened.id, model, from_layer, plain(settings), len(session.workbench().calls), opened
        )
    except LeanRAGError as error:
        message(error, kind="error")
        return
    _show(expected)
    _start(index, endpoint_model(model), from_layer)


def _where(local: bool, host: str) -> str:
    return say("build.engine.runs_here" if local else "build.engine.sent_to", host=host)


def _layers(first_layers: range) -> int:
    """Ask how many of the upper layers to rewrite, and return the number."""
    n = len(first_layers)
    chosen = widgets.remembered(
        "rw_layers",
        n,
        lambda mount: st.selectbox(
            say("rewrite.layers"),
            range(n, 0, -1),
            index=n - mount.value,
            format_func=lambda k: say("rewrite.all_layers" if k == n else "rewrite.upper_layers", n=k),
            **mount.wired,
        ),
        widgets.Values(parse=int, allowed=lambda value: 1 <= value <= n),
        key="rewrite_layers",
    )
    return int(chosen)


@st.cache_data(max_entries=16, ttl=600, show_spinner=False)
def _forecast(
    index_id: str, state_id: str, model: str, from_layer: int, settings: dict[str, object], n_calls: int, _index: Index
) -> RewriteForecast:
    """Return the forecast, cached until the index, the settings or the number of stored calls changes."""
    return session.workbench().rewrites.forecast(_index, endpoint_model(model), from_layer)


def _show(expected: RewriteForecast) -> None:
    forecast = expected.forecast
    time = numbers.duration(forecast.seconds.expected)
    calls = expected.calls
    title = say("rewrite.calls", n=calls, time=time) if calls else say("rewrite.nothing_to_pay", time=time)
    priced = forecast.dollars.expected > 0
    cost = numbers.money(forecast.dollars.expected) if priced else _unpriced(expected.model)
    draw(html('<div class="lr-big"><b>{}</b><span>{}</span></div>', title, cost))
    draw(html('<div class="lr-small lr-muted" style="margin:.2rem 0 .5rem">{}</div>', words(forecast.basis or "")))
    head = tuple(say(f"rewrite.column.{name}") for name in ("layer", "names", "sentences", "stored", "cost"))
    rows = [
        (
            f"L{row.layer}",
            f"{row.clusters:,}",
            f"{row.sentences:,}",
            f"{row.saved:,}",
            numbers.money(row.dollars) if priced else "–",
        )
        for row in reversed(expected.layers)
    ]
    draw(markup.facts_table(head, rows))


def _unpriced(model: str) -> str:
    settings = session.workbench().settings.read().of_role(AGGREGATION)
    known = settings.local or not settings.unpriced((endpoint_model(model),))
    return say("build.no_cost" if known else "build.price_unknown")


def _start(index: IndexSummary, model: str, from_layer: int) -> None:
    at_work = session.at_work(index)
    if at_work:
        message(say("rewrite.at_work"))
    n_calls = forecast_card.count_field(
        "rw_calls", say("rewrite.budget_calls"), step=forecast_card.CALLS_STEP, key="rewrite_calls", width=190
    )
    draw(markup.hint(say("rewrite.budget_hint")))
    if buttons.primary(say("rewrite.button"), "edit_note", "primary_rewrite", disabled=at_work):
        budget = Budget(calls=n_calls)
        state.remember("job", session.workbench().rewrites.start(index.id, model, from_layer, budget=budget))
        st.toast(say("rewrite.started"), icon=":material/edit_note:")  # its panel is far above
        st.rerun()


def outcome(index: Index, report: UpdateReport) -> None:
    """Draw what the rewriting changed, and what the model could not write."""
    first, last = report.rewritten_from, len(index.layers) - 1
    code = "rewrite.written" if first < last else "rewrite.written_one"
    counts = {"names": report.texts_written, "sentences": report.sentences_written}
    n_lost = index.manifest.builtin_texts
    lost = say("rewrite.losses", n=n_lost) if n_lost else say("rewrite.no_losses")
    markup.note(joined_sentences([say(code, first=first, last=last, **counts), lost]))
