"""The report of a build, value by value against the tables of its index, counted here in another way."""

import base64
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.jobs.events import JobLog, JobSpec, create_job
from leanrag_core.queries.conflicts import find_conflicts
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.job import JobReport
from leanrag_core.types.settings import Settings
from pages.build import build_report
from tests.app import drawn
from tests.app.conftest import CORPUS
from tests.endpoint.server import EndpointServer

Visit = Callable[..., AppTest]
SAMPLES = Path(__file__).resolve().parents[2] / "sample_corpora"


def report_of(bench: Workbench, index: Index, visit: Visit) -> AppTest:
    """Return the Build page with the report of a job that made the index."""
    assert index.path is not None
    config, corpus = index.manifest.config.values(), index.manifest.corpus.id
    folder = bench.root / "jobs" / "one"
    create_job(folder, JobSpec("one", "Bees", corpus, config, {"name": ""}, "2026-01-02T03:04:05+00:00"))
    log = JobLog(folder)
    log.write("started", pid=1)
    log.write("done", result=index.path.name, report=JobReport(drops=dict(index.report.drops)))
    app = visit("build", bench, job="one")
    drawn.assert_sound(app)
    return app


def table(app: AppTest, first: str) -> list[dict[str, str]]:
    """Return the rows of the table whose first column has that head."""
    for body in drawn.html(app):
        rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", body)]
        if rows and rows[0][0] == first:
            return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    raise AssertionError(f"no table begins with {first!r}")


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def neighbours_share(layer: Layer) -> float:
    """Return the share of each entity's ten nearest others that are in its cluster."""
    nearness = layer.vectors @ layer.vectors.T
    np.fill_diagonal(nearness, -np.inf)
    k = min(10, len(layer) - 1)
    nearest = np.argsort(-nearness, axis=1, kind="stable")[:, :k]
    return float((layer.parent[nearest] == layer.parent[:, None]).mean())


def clusters_of(layer: Layer) -> dict[str, str]:
    sizes = sorted(Counter(layer.parent.tolist()).values())
    half = len(sizes) // 2
    median = sizes[half] if len(sizes) % 2 else (sizes[half - 1] + sizes[half]) / 2
    inside = [layer.parent[left] == layer.parent[right] for left, right in layer.ends.tolist()]
    return {
        "Into layer": f"L{layer.number + 1}",
        "Smallest": f"{sizes[0]:,}",
        "Median": f"{median:g}",
        "Singles": f"{sizes.count(1):,}",
        "Relations": percent(sum(inside) / len(inside)) if inside else "–",
    }


def layer_row(layer: Layer, *, top: bool) -> dict[str, str]:
    sizes = Counter(layer.parent.tolist())
    kinds = layer.relations["kind"].to_pylist()
    graph = networkx.Graph(layer.ends.tolist())
    graph.add_nodes_from(range(len(layer)))
    return {
        "Layer": f"L{layer.number}",
        "Entities": f"{layer.entities.num_rows:,}",
        "Relations": f"{len(kinds):,}",
        "Summarised": f"{kinds.count('summarised'):,}" if layer.number else "–",
        "Joined": f"{kinds.count('concatenated'):,}" if layer.number else "–",
        "Clusters": "–" if top else f"{len(sizes):,}",
        "Largest": "–" if top else f"{max(sizes.values()):,}",
        "Components": f"{networkx.number_connected_components(graph):,}",
    }


def assert_report_is_true(app: AppTest, index: Index) -> None:
    layers = index.layers
    shown = table(app, "Layer")
    assert shown == [layer_row(layer, top=layer is layers[-1]) for layer in reversed(layers)]
    clustered = table(app, "Into layer")
    for row, layer in zip(clustered, reversed(layers[:-1]), strict=True):
        expected = clusters_of(layer)
        assert {name: row[name] for name in expected} == expected
        shown_share = float(row["Neighbours"].removesuffix(" %"))
        assert shown_share == pytest.approx(100 * neighbours_share(layer), abs=0.6), "ties may fall either way"
        assert re.fullmatch(r"–|−?[\d,]+\.\d", row["Likelihood"])
    tiles = re.findall(r'<div class="lr-label" style="margin:0">(.*?)</div><div class="v">(.*?)</div>', page_html(app))
    assert dict(tiles) == {
        "Entities": f"{len(layers[0]):,}",
        "Relations": f"{layers[0].relations.num_rows:,}",
        "Aggregated": f"{sum(len(layer) for layer in layers[1:]):,}",
        "Inter-cluster": f"{sum(layer.relations.num_rows for layer in layers[1:]):,}",
        "Chunks": f"{index.chunks.num_rows:,}",
    }
    for stage, dropped in index.report.dropped.items():
        n = index.report.drops[stage]
        assert len(dropped) == min(n, 200), "as many are listed"
        assert f"<td>{stage.capitalize()}</td><td>{n:,}</td>" in page_html(app)
    for share in re.findall(r"([\d,]+) ?%", page_html(app)):
        assert 0 <= int(share.replace(",", "")) <= 100


def test_charts_are_drawn_when_their_fold_is_open_and_count_what_the_index_holds(home: Workbench, visit: Visit) -> None:
    [summary] = home.indexes.all()
    index = home.indexes.open(summary.id)
    app = report_of(home, index, visit)
    assert not app.get("plotly_chart"), "closed, they cost nothing"
    app.session_state["build_charts"] = True
    app.run()
    assert not app.exception
    drawn_figures = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    in_bars = sum(sum(_numbers(bar["y"])) for bar in drawn_figures[0]["data"])
    assert in_bars == sum(len(layer) for layer in index.layers[1:])


def test_quotes_that_contradict_each_other_are_counted_when_their_fold_is_open(
    empty_home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    filler = "Keepers of the coast keep bees, and the ferry carries mail."
    said = ("Wellix Lines has 300 employees.", "Wellix Lines has about 900 employees.", "Holm <b>Island</b> is flat.")
    files = [(f"{number}.md", f"{text} {filler}".encode()) for number, text in enumerate(said)]
    corpus = empty_home.add_documents("coast", files).corpus_id
    index = empty_home.build(corpus, IndexConfig(cluster_size=3, chunk_tokens=100, overlap_tokens=5))
    app = report_of(empty_home, index, visit)
    assert "Sentences read" not in page_html(app)
    app.session_state["build_conflicts"] = True
    for _ in range(2):
        app.run()
        assert not app.exception
        [row] = table(app, "About")
        assert row["About"].endswith("Wellix Lines: Employees")
        assert {row["One quote"], row["The other"]} == {f"{text} ({n}.md)" for n, text in enumerate(said[:2])}
        shown = re.search(r"1 conflict between quotes\. Sentences read: 6; .* compare: (\d+)\.", page_html(app))
        assert shown is not None
        assert int(shown[1]) == find_conflicts(index).statements
    monkeypatch.setattr(build_report, "READ_IN_PASSING", 2)
    app.run()
    assert "not counted above 2,000 chunks" in page_html(app)


def _numbers(values: Any) -> list[float]:
    """Return the values of an array of a Plotly figure, which are packed where they came from numpy."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"]).tolist()
    return list(values)


def page_html(app: AppTest) -> str:
    return "\n".join(drawn.html(app))


def test_every_value_of_a_report_is_that_of_the_index(home: Workbench, visit: Visit) -> None:
    [summary] = home.indexes.all()
    index = home.indexes.open(summary.id)
    app = report_of(home, index, visit)
    assert any(len(layer.ends) > 0 for layer in index.layers[:-1])
    assert_report_is_true(app, index)


def test_every_value_of_a_report_on_a_models_graph_is_that_of_the_index(empty_home: Workbench, visit: Visit) -> None:
    with EndpointServer() as endpoint:
        empty_home.settings.save(Settings(base_url=endpoint.url))
        empty_home.corpora.all()
        config = IndexConfig(model="openai:scripted-chat", cluster_size=3, chunk_tokens=64, overlap_tokens=8)
        index = empty_home.build(CORPUS, config)
        assert_report_is_true(report_of(empty_home, index, visit), index)
        empty_home.calls.close()


@pytest.mark.slow
def test_every_value_of_a_report_on_contracts_is_that_of_their_index(empty_home: Workbench, visit: Visit) -> None:
    names = ("credit-agreement-excerpts.md", "guaranty.md")
    files = [(name, (SAMPLES / "legal" / "documents" / name).read_bytes()) for name in names]
    index = empty_home.build(empty_home.add_documents("Contracts", files).corpus_id)
    assert index.report.drops
    assert_report_is_true(report_of(empty_home, index, visit), index)
