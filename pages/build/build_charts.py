"""The charts of a build's report: properties of clusters and relations, and what the build took."""

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.figures.stage_charts import (
    Compared,
    LayerClusterSizes,
    StageTime,
    StageTokens,
    cluster_sizes_chart,
    forecast_chart,
    stage_times_chart,
    stage_tokens_chart,
    strengths_chart,
)
from leanrag_core.jobs.state import Amount, Outlook, StageOutlook, outlook
from leanrag_core.messages.message import message as message_of
from leanrag_core.types.calls import NO_SPENDING, NO_USAGE
from leanrag_core.types.forecast import Range
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobState
from pages.build import job_words
from pages.common import drawing_view, markup, messages
from pages.common.frame import colours
from pages.common.messages import language, message, say, words


def live(job: JobState) -> None:
    """Draw the forecast, the use so far and the expected total by stage; warn if the budget is too small."""
    job_outlook = outlook(job.kind, job.forecast, job.spending, job.stages)
    if job_outlook is None or job.forecast is None:
        return
    rows = [_live_row(job, stage) for stage in job_outlook.stages]
    forecast, so_far, at_end = job.forecast, job_outlook.so_far, job_outlook.at_end
    tokens = numbers.tokens(round(so_far.tokens)), numbers.tokens(round(at_end.tokens))
    rows.append((say("build.tokens"), tokens_of(forecast.tokens), *tokens))
    if forecast.dollars.high or so_far.dollars:
        rows.append(
            (
                say("build.cost"),
                money_of(forecast.dollars),
                numbers.money(so_far.dollars),
                numbers.money(at_end.dollars),
            )
        )
    whole = "" if job_outlook.seconds_left is None else numbers.duration(job.seconds + job_outlook.seconds_left)
    rows.append((say("build.time"), span(forecast.seconds), numbers.duration(job.seconds), whole or "–"))
    head = ("", *(say(f"build.outlook.{name}") for name in ("forecast", "so_far", "at_end")))
    table = markup.facts_table(head, rows, caption=say("build.outlook.caption"))
    markup.block(say("build.forecast"), table, say("build.outlook.updated"))
    warning = _budget_warning(job, job_outlook)
    if warning:
        message(warning)


def _live_row(job: JobState, stage: StageOutlook) -> tuple[str, str, str, str]:
    return (
        calls_title(job, stage.forecast.stage),
        counts(stage.forecast.calls),
        f"{stage.so_far.calls:,.0f}",
        f"{stage.at_end.calls:,.0f}",
    )


def calls_title(job: JobState, stage_name: str) -> str:
    """Return the title of the table row with the calls of a stage."""
    return say("build.outlook.calls", stage=words(job.kind.stage(stage_name).title))


def _budget_warning(job: JobState, job_outlook: Outlook) -> str:
    """Return a warning if the budget will run out before the end; empty if it is sufficient."""
    budget, at_end = job.budget, job_outlook.at_end
    lacking = []
    if budget.tokens and at_end.tokens > budget.tokens:
        needed, allowed = numbers.tokens(round(at_end.tokens)), numbers.tokens(budget.tokens)
        lacking.append(message_of("build.outlook.too_many_tokens", needed=needed, allowed=allowed))
    if budget.dollars and at_end.dollars > budget.dollars:
        needed, allowed = numbers.money(at_end.dollars), numbers.money(budget.dollars)
        lacking.append(message_of("build.outlook.too_many_dollars", needed=needed, allowed=allowed))
    if not lacking:
        return ""
    return say("build.outlook.budget_too_small", needs=tuple(lacking))


def has_forecast(job: JobState) -> bool:
    """Tell whether there is a forecast of calls to compare with the actual ones."""
    return job.spending != NO_SPENDING and job.forecast is not None and bool(job.forecast.calling)


def ended(job: JobState) -> None:
    """Draw the forecast and the actual use of an ended job by stage; nothing if no calls were forecast."""
    forecast = job.forecast
    if forecast is None or not has_forecast(job):
        return
    usage_by_stage = job.spending.by_stage
    rows = [
        (calls_title(job, stage.stage), counts(stage.calls), f"{usage_by_stage.get(stage.stage, NO_USAGE).calls:,}")
        for stage in forecast.calling
    ]
    usage = job.spending.usage
    actual = Amount(usage.calls, usage.prompt_tokens + usage.completion_tokens, usage.cost)
    rows.append((say("build.outlook.all_calls"), counts(forecast.calls), f"{actual.calls:,}"))
    rows.append((say("build.tokens"), tokens_of(forecast.tokens), numbers.tokens(round(actual.tokens))))
    if forecast.dollars.high or actual.dollars:
        rows.append((say("build.cost"), money_of(forecast.dollars), numbers.money(actual.dollars)))
    rows.append((say("build.time"), span(forecast.seconds), numbers.duration(job.seconds)))
    head = ("", *(say(f"build.outlook.{name}") for name in ("forecast", "actual")))
    title = say("build.forecast_and_actual")
    markup.block(title, markup.facts_table(head, rows, caption=title))


def counts(range_: Range) -> str:
    """Return a range of counts as "51 to 78"."""
    return _spanned(range_, lambda n: f"{round(n):,}")


def tokens_of(range_: Range) -> str:
    """Return a range of tokens as "125 k to 184 k"."""
    return _spanned(range_, lambda n: numbers.tokens(round(n)))


def money_of(range_: Range) -> str:
    """Return a range of dollars as "$0.12 to $0.30"."""
    return _spanned(range_, numbers.money)


def span(range_: Range) -> str:
    """Return a range of seconds as "11 s to 3 min"."""
    return _spanned(range_, numbers.duration)


def _spanned(range_: Range, shown: Callable[[float], str]) -> str:
    return messages.span(shown(range_.low), shown(range_.high))


def hierarchy(index: Index) -> None:
    """Draw the cluster sizes of all layers, and lambda for each aggregated layer with relations."""
    clusters = [
        LayerClusterSizes(below.number + 1, np.bincount(below.parent)) for below in index.layers[:-1] if len(below) > 1
    ]
    cap_of = {of_layer.layer: of_layer.cap for of_layer in index.report.clustering}
    tau_of = {of_layer.layer: of_layer.tau for of_layer in index.report.clustering}
    left, right = st.columns(2, gap="large")
    with left:
        if clusters:
            cap = cap_of.get(clusters[0].layer)
            drawing_view.show_chart(
                cluster_sizes_chart(clusters, cap, colours(), language=language()),
                title=say("build.cluster_sizes"),
                key="cluster_sizes",
            )
        else:
            markup.note(say("build.nothing_clustered"))
    with right:
        joined = [layer for layer in index.layers[1:] if layer.relations.num_rows]
        if not joined:
            markup.note(say("build.no_cluster_relation"))
            return
        for tab, layer in zip(
            st.tabs([say("markup.layer", layer=layer.number) for layer in joined]), joined, strict=True
        ):
            tau, strength = tau_of.get(layer.number), layer.relations["strength"].to_numpy()
            with tab:
                if tau is None:
                    markup.note(say("build.no_tau"))
                    continue
                chart = strengths_chart(strength, tau, layer.number, colours(), language=language())
                drawing_view.show_chart(chart, title=say("build.relations_by_lambda"), key=f"lambda_{layer.number}")


def costs(job: JobState) -> None:
    """Draw time by stage; for a model at an endpoint also tokens by stage, and forecast against actual values."""
    times = [StageTime(job_words.stage_title(job, stage.name), stage.seconds) for stage in job.stages if stage.seconds]
    tokens = [
        StageTokens(job_words.stage_title(job, stage), usage.calls, usage.prompt_tokens, usage.completion_tokens)
        for stage, usage in job.spending.by_stage.items()
        if usage.calls
    ]
    left, right = st.columns(2, gap="large")
    with left:
        if times:
            drawing_view.show_chart(
                stage_times_chart(times, colours(), language=language()),
                title=say("build.time_by_stage"),
                key="stage_times",
            )
    with right:
        if tokens:
            drawing_view.show_chart(
                stage_tokens_chart(tokens, colours(), language=language()),
                title=say("build.tokens_by_stage"),
                key="stage_tokens",
            )
        else:
            markup.note(say("build.no_calls"))
    compared = _compared(job)
    if compared:
        title, key = say("build.forecast_and_actual"), "forecast_actual"
        drawing_view.show_chart(forecast_chart(compared, colours(), language=language()), title=title, key=key)


def _compared(job: JobState) -> Sequence[Compared]:
    forecast = job.forecast
    job_outlook = outlook(job.kind, forecast, job.spending, job.stages)
    if forecast is None or job_outlook is None or not has_forecast(job):
        return ()
    so_far = job_outlook.so_far
    compared = [
        _compare(calls_title(job, stage.forecast.stage), stage.forecast.calls, stage.so_far.calls, "{:,.0f}".format)
        for stage in job_outlook.stages
    ]
    compared.append(
        _compare(say("build.tokens"), forecast.tokens, so_far.tokens, lambda value: numbers.tokens(round(value)))
    )
    if forecast.dollars.expected:
        compared.append(_compare(say("build.cost"), forecast.dollars, so_far.dollars, numbers.money))
    compared.append(_compare(say("build.time"), forecast.seconds, job.seconds, numbers.duration))
    return compared


def _compare(title: str, expected: Range, actual: float, shown: Callable[[float], str]) -> Compared:
    ends = expected.low, expected.expected, expected.high
    return Compared(title, *ends, actual, _spanned(expected, shown), shown(actual))
