"""Charts of a build as pure values: what they count, and that axes say their unit in both themes."""

import re
from itertools import chain, pairwise

import numpy as np
import pytest

from leanrag_core.figures.chart import Chart, as_csv
from leanrag_core.figures.palette import palette
from leanrag_core.figures.stage_charts import (
    Compared,
    LayerClusterSizes,
    StageTime,
    StageTokens,
    cluster_sizes_chart,
    forecast_chart,
    stage_times_chart,
    stage_tokens_chart,
    strength_bins,
    strengths_chart,
)

LIGHT = palette(dark=False)


def sizes(*values: int, layer: int = 1) -> LayerClusterSizes:
    return LayerClusterSizes(layer, np.array(values))


def test_every_cluster_is_counted_in_the_bar_of_its_size() -> None:
    chart = cluster_sizes_chart([sizes(3, 3, 5), sizes(2, layer=2)], 6, LIGHT)
    assert chart.rows == (("L1", "3", "2"), ("L1", "5", "1"), ("L2", "2", "1"))
    bars = chart.figure.data[0]
    assert dict(zip(bars.x.tolist(), bars.y.tolist(), strict=True))[3.0] == 2
    assert chart.figure.layout.annotations[0].text == "cap 6"
    assert chart.figure.layout.shapes[0].x0 == 6.5


def test_large_clusters_share_bars_and_none_is_lost() -> None:
    chart = cluster_sizes_chart([sizes(*range(1, 401))], None, LIGHT)
    assert sum(chart.figure.data[0].y) == 400
    assert len(chart.figure.data[0].y) <= 41
    assert not chart.figure.layout.shapes


@pytest.mark.parametrize(("largest", "tau"), [(1, 3.0), (7, 3.0), (250, 101.25), (250, 0.5), (3, 100.0)])
def test_bars_of_lambda_have_no_gap_and_tau_lies_between_two(largest: int, tau: float) -> None:
    bins = strength_bins(largest, tau)
    assert bins[0][0] == 1
    assert bins[-1][1] >= largest
    assert all(left[1] + 1 == right[0] for left, right in pairwise(bins))
    assert all(last <= tau or first > tau for first, last in bins if last <= largest or first <= tau)


def test_relations_above_tau_are_summarised_and_the_others_joined() -> None:
    chart = strengths_chart(np.array([1, 1, 3, 4, 9]), 3.0, 1, LIGHT)
    joined, summarised = chart.figure.data
    assert (sum(joined.y), sum(summarised.y)) == (3, 2)
    assert chart.rows[0] == ("1", "2", "joined")
    assert [row for row in chart.rows if row[0] == "4"] == [("4", "1", "summarised")]
    assert chart.figure.layout.annotations[0].text == "τ 3"
    assert chart.figure.layout.shapes[0].x0 == 2.5, "between the bars of 3 and 4"


def test_tokens_are_stacked_and_calls_written_at_the_end() -> None:
    chart = stage_tokens_chart([StageTokens("Extract", 7, 900, 100)], LIGHT)
    assert [bar.x[0] for bar in chart.figure.data] == [900, 100]
    assert chart.figure.layout.annotations[0].text == " 1,000 in 7 calls"
    assert chart.rows == (("Extract", "7", "900", "100"),)


def test_forecast_and_actual_share_an_axis_of_multiples_of_the_expected() -> None:
    values = [
        Compared("Calls", 5, 10, 20, 15, "5 to 20", "15"),
        Compared("Time", 1, 2, 3, 4, "1.0 s to 3.0 s", "4.0 s"),
        Compared("Cost", 0, 0, 0, 0, "$0", "$0"),
    ]
    chart = forecast_chart(values, LIGHT)
    bar, mark = chart.figure.data
    assert list(bar.y) == ["Calls", "Time"], "nothing was expected of the third"
    assert (list(bar.base), list(bar.x)) == ([0.5, 0.5], [1.5, 1.0])
    assert list(mark.x) == [1.5, 2.0]
    assert chart.label == "1 of 2 values lie within their forecast"
    assert len(chart.rows) == 3


def test_a_short_stage_is_not_shown_as_no_time() -> None:
    chart = stage_times_chart([StageTime("Embed", 1.2), StageTime("Extract", 0.015)], palette(dark=False))
    assert chart.rows == (("Embed", "1.20"), ("Extract", "0.01"))
    assert list(chart.figure.data[0].text) == ["1.2 s", "15 ms"]


@pytest.mark.parametrize("dark", [False, True])
def test_axes_are_titled_and_texts_have_the_colours_of_the_theme(dark: bool) -> None:
    colours = palette(dark=dark)
    charts: list[Chart] = [
        cluster_sizes_chart([sizes(3)], 6, colours),
        strengths_chart(np.array([1, 5]), 3.0, 1, colours),
        stage_times_chart([StageTime("embed", 1.2)], colours),
        stage_tokens_chart([StageTokens("extract", 1, 2, 3)], colours),
        forecast_chart([Compared("Calls", 1, 2, 3, 2, "1 to 3", "2")], colours),
    ]
    for chart in charts:
        layout = chart.figure.layout
        assert layout.xaxis.title.text
        assert layout.font.color == colours["text"]
        assert chart.label
        assert len({len(chart.head), *(len(row) for row in chart.rows)}) == 1


def test_a_table_becomes_csv_with_quotes_where_needed() -> None:
    assert as_csv(("a", "b"), [("1,234", 'x "y"')]) == 'a,b\n"1,234","x ""y"""\n'


def test_every_text_of_a_chart_is_in_the_reader_s_language() -> None:
    charts = [
        cluster_sizes_chart([sizes(3), sizes(*range(1, 90), layer=2)], 6, LIGHT, language="zh"),
        strengths_chart(np.array([1, 5]), 3.0, 1, LIGHT, language="zh"),
        stage_times_chart([StageTime("抽取", 1.2)], LIGHT, language="zh"),
        stage_tokens_chart([StageTokens("抽取", 1, 2, 3)], LIGHT, language="zh"),
        forecast_chart([Compared("调用", 1, 2, 3, 2, "1 – 3", "2")], LIGHT, language="zh"),
    ]
    for chart in charts:
        layout = chart.figure.layout
        texts = [layout.xaxis.title.text, layout.yaxis.title.text, chart.label, *chart.head, *chain(*chart.rows)]
        texts += [annotation.text for annotation in layout.annotations]
        for trace in chart.figure.data:
            hover = re.sub(r"%\{.*?\}|<extra></extra>", "", trace.hovertemplate)
            texts += [trace.name, hover, *(trace.customdata if trace.customdata is not None else ())]
        assert not [text for text in texts if text and re.search(r"[A-Za-z]{2}", text)]
