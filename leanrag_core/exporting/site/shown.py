"""What the views of a site draw, each in a shard of its own that is loaded when the view is opened."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from leanrag_core.exporting.site.shards import SiteFiles
from leanrag_core.figures.all_nodes import all_nodes
from leanrag_core.figures.embedding_map import embedding_places
from leanrag_core.figures.palette import palette
from leanrag_core.figures.play import play
from leanrag_core.figures.play_values import play_values
from leanrag_core.messages.catalog import Say, saying, sentence
from leanrag_core.queries.clusters import cluster_quality
from leanrag_core.queries.map_picture import layer_clusters
from leanrag_core.queries.schema import schema_of
from leanrag_core.types.index import Index
from leanrag_core.types.trace import RecordedRun
from leanrag_core.views.clusters import COLUMNS, MOST_ROWS, board_values, board_words, finding
from leanrag_core.views.graph import named_nodes, packed_nodes
from leanrag_core.views.islands import drawn_note, islands_of, picture_values
from leanrag_core.views.islands import finding as islands_finding
from leanrag_core.views.map import default_colour, layer_values, map_words, point_values
from leanrag_core.views.schema import schema_values

_HUES = len(palette(dark=False).clusters) - 1  # of clusters: one is too near to that of seeds


def write_views(index: Index, files: SiteFiles, say: Say) -> dict[str, list[int]]:
    """Write the views of the index; return for each the layers that it can show."""
    views: dict[str, list[int]] = {"hierarchy": [0], "graph": [0]}
    drawn = all_nodes(index, [None] * len(index.layers), [None] * len(index.layers))
    all_nodes_packed = {**packed_nodes(drawn, say), "hops": []}
    named = named_nodes(index, drawn, {}, None)
    files.add(
        "graph", {"all": all_nodes_packed, "named": named, "rows": drawn.rows.tolist(), "total": sum(drawn.totals)}
    )
    schema = schema_of(index)
    if schema.types:
        files.add("schema-0", schema_values(schema, say))
        views["schema"] = [0]
    views["map"] = [number for number in range(len(index.layers) - 1) if len(index.layers[number]) > 1]
    for number in views["map"]:
        files.add(f"map-{number}", _map(index, number, say))
    islands = islands_of(index)
    if islands.layers:
        values = picture_values(index.id, islands, say)
        files.add("islands-0", {**values, "finding": islands_finding(islands, say), "note": drawn_note(islands, say)})
        views["islands"] = [0]
    views["clusters"] = [layer.number for layer in index.layers[1:] if len(layer) > 1]
    for number in views["clusters"]:
        files.add(f"clusters-{number}", _board(index, number, say))
    return {name: layers for name, layers in views.items() if layers}


def _map(index: Index, number: int, say: Say) -> dict[str, Any]:
    layer = index.layers[number]
    shown = embedding_places(layer.vectors)
    above = [layer_clusters(index, number, each, shown, _HUES) for each in range(number + 1, len(index.layers))]
    code = "explore.map.sample" if len(shown.rows) < len(layer) else "explore.map.all"
    return {
        **point_values(layer, shown),
        "rows": shown.rows.tolist(),
        "layers": [layer_values(each, say) for each in above],
        "colour": default_colour(above),
        "words": map_words(say) | {"layer": f"L{number}", "score": ""},
        "note": say(code, n=len(shown.rows), total=len(layer)),
    }


def _board(index: Index, number: int, say: Say) -> dict[str, Any]:
    """Return the board with the rows that come first in any order, so that it can be sorted without the others."""
    quality, rows = cluster_quality(index, number), np.arange(len(index.layers[number]))
    clustering = next((step for step in index.report.clustering if step.layer == number), None)
    orders = [(column, rising) for column in COLUMNS for rising in (True, False)]
    boards = [board_values(index, quality, rows, None, order) for order in orders]
    listed = {row[0]: row for board in boards for row in board["rows"]}
    wanted, cap = (index.manifest.config.cluster_size, clustering.cap or 0) if clustering is not None else (0, 0)
    first = boards[orders.index(("cohesion", True))]
    words = board_words(say) | {
        "wanted": say("explore.clusters.mark_wanted", n=wanted),
        "cap": say("explore.clusters.mark_cap", n=cap),
        "caption": say("explore.clusters.listed", listed=min(MOST_ROWS, len(rows)), n=len(rows)),
    }
    return {
        **first,
        "rows": [listed[key] for key in sorted(listed, key=lambda key: int(key.partition(".")[2]))],
        "most": MOST_ROWS,
        "wanted": wanted,
        "cap": cap,
        "words": words,
        "finding": finding(index, quality, clustering, say),
        "note": say("explore.clusters.drawn", drawn=len(first["dots"]), n=len(rows)),
    }


def write_runs(runs: Sequence[RecordedRun], files: SiteFiles, language: str) -> list[dict[str, Any]]:
    """Write recorded runs; return the questions, each with the runs that answer it."""
    say, questions = saying(language), dict[str, list[dict[str, Any]]]()
    for place, run in enumerate(runs):
        trace, answer = run.trace, run.answer
        shown = play(trace, answer=answer, language=language)
        marks = trace.context.mark_of
        passages = [
            {
                "row": passage.row if trace.scope is None else None,  # of the whole index
                "name": passage.source.title if passage.source else passage.name,
                "mark": marks.get(passage.id, ""),
                "text": passage.text,
            }
            for passage in trace.passages
        ]
        start = f"{shown.segments[0].name}.1"
        files.add(f"run-{place}", {"play": play_values(shown), "start": start, "passages": passages})
        parts = [[part.text, list(part.marks)] for part in answer.parts] if answer is not None else []
        side = {
            "shard": f"run-{place}",
            "title": sentence(trace.title, language),
            "tokens": trace.context.tokens,
            "passages": [passage.id for passage in trace.passages],
            "answer": parts or ([[answer.text, []]] if answer is not None else []),
            "by": "" if answer is None else say("site.extractive") if answer.extractive else answer.model,
        }
        questions.setdefault(trace.question, []).append(side)
    return [{"question": question, "sides": sides} for question, sides in questions.items()]
