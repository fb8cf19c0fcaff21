"""The charts of a build's report: what the clusters and relations are like, and what the build took."""

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
from leanrag_core.jobs.state import outlook
from leanrag_core.types.forecast import Range
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobState
from pages.build import job_words, outlook_view
from pages.common import chart_view, markup, units
from pages.common.frame import colours
from pages.common.messages import language, say


def hierarchy(index: Index) -> None:
    """Cluster sizes of all layers, and lambda of each aggregated layer that has relations."""
    clusters = [
        LayerClusterSizes(below.number + 1, np.bincount(below.parent)) for below in index.layers[:-1] if len(below) > 1
    ]
    cap_of = {of_layer.layer: of_layer.cap for of_layer in index.report.clustering}
    tau_of = {of_layer.layer: of_layer.tau for of_layer in index.report.clustering}
    left, right = st.columns(2, gap="large")
    with left:
        if clusters:
            cap = cap_of.get(clusters[0].layer)
            chart_view.show(
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
                chart_view.show(chart, title=say("build.relations_by_lambda"), key=f"lambda_{layer.number}")


def costs(job: JobState) -> None:
    """Time by stage; for a model at an endpoint also tokens by stage, and the forecast beside the actual values."""
    times = [StageTime(job_words.stage_title(job, stage.name), stage.seconds) for stage in job.stages if stage.seconds]
    tokens = [
        StageTokens(job_words.stage_title(job, stage), usage.calls, usage.prompt_tokens, usage.completion_tokens)
        for stage, usage in job.spending.by_stage.items()
        if usage.calls
    ]
    left, right = st.columns(2, gap="large")
    with left:
        if times:
            chart_view.show(
                stage_times_chart(times, colours(), language=language()),
                title=say("build.time_by_stage"),
                key="stage_times",
            )
    with right:
        if tokens:
            chart_view.show(
                stage_tokens_chart(tokens, colours(), language=language()),
                title=say("build.tokens_by_stage"),
                key="stage_tokens",
            )
        else:
            markup.note(say("build.no_calls"))
    compared = _compared(job)
    if compared:
        chart_view.show(
            forecast_chart(compared, colours(), language=language()),
            title=say("build.forecast_and_actual"),
            key="forecast_actual",
        )


def _compared(job: JobState) -> Sequence[Compared]:
    forecast = job.forecast
    ahead = outlook(job.kind, forecast, job.spending, job.stages)
    if forecast is None or ahead is None or not outlook_view.has_forecast(job):
        return ()
    taken = ahead.so_far
    compared = [
        _compare(
            outlook_view.calls_title(job, stage.forecast.stage),
            stage.forecast.calls,
            stage.so_far.calls,
            "{:,.0f}".format,
        )
        for stage in ahead.stages
    ]
    compared.append(
        _compare(say("build.tokens"), forecast.tokens, taken.tokens, lambda value: numbers.tokens(round(value)))
    )
    if forecast.dollars.expected:
        compared.append(_compare(say("build.cost"), forecast.dollars, taken.dollars, numbers.money))
    compared.append(_compare(say("build.time"), forecast.seconds, job.seconds, numbers.duration))
    return compared


def _compare(title: str, expected: Range, actual: float, shown: Callable[[float], str]) -> Compared:
    span = units.span(shown(expected.low), shown(expected.high))
    return Compared(title, expected.low, expected.expected, expected.high, actual, span, shown(actual))
