"""What manifest and report say is what the tables hold."""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from leanrag_core.checking.problem import Note, Problem, Subject
from leanrag_core.checking.relations import tau_of
from leanrag_core.indexing.describe import count_layers

_MANIFEST, _REPORT = "manifest.json", "report.json"


def counts(subject: Subject) -> Iterator[Problem | Note]:
    """The manifest counts documents, chunks, entities, relations, clusters and components right."""
    index = subject.index
    wanted = {
        "documents": index.documents.num_rows,
        "chunks": index.chunks.num_rows,
        "layers": len(index.layers),
        "entities": [len(layer) for layer in index.layers],
        "relations": [layer.relations.num_rows for layer in index.layers],
    }
    yield from _different(_MANIFEST, "counts", index.manifest.get("counts", {}), wanted)
    listed = index.manifest.get("layers", [])
    for row, (held, counted) in enumerate(zip(listed, count_layers(index), strict=False)):
        yield from _different(_MANIFEST, f"layers[{row}]", held, counted)


def _different(file: str, place: str, held: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[Problem]:
    for name, value in wanted.items():
        if held.get(name) != value:
            yield Problem(file, None, f"{place}.{name} is {held.get(name)}, but there are {value}")


def drops(subject: Subject) -> Iterator[Problem | Note]:
    """What was dropped is counted and listed; chunks said to be empty are there."""
    report = subject.index.report
    counted, listed = report.get("drops"), report.get("dropped")
    if not isinstance(counted, dict):
        yield Problem(_REPORT, None, "it does not count what was dropped")
        return
    for stage, examples in (listed or {}).items():
        if len(examples) > int(counted.get(stage, 0)):
            yield Problem(_REPORT, None, f"stage {stage!r} lists {len(examples)} drops, counts {counted.get(stage, 0)}")
    for stage, number in counted.items():
        if number and not (listed or {}).get(stage):
            yield Problem(_REPORT, None, f"stage {stage!r} counts {number} drops and lists none")
    unknown = set(report.get("empty_chunks", ())) - set(subject.index.chunks["id"].to_pylist())
    for chunk in sorted(unknown)[:20]:
        yield Problem(_REPORT, None, f"empty_chunks names {chunk!r}, which is no chunk")
    for name, value in report.get("usage", {}).items():
        if not value >= 0:
            yield Problem(_REPORT, None, f"usage.{name} is {value}")


def clustering(subject: Subject) -> Iterator[Problem | Note]:
    """What the report says of each layer's clusters, relations and tau is so."""
    index = subject.index
    facts = index.report.get("clustering") or []
    if not facts:
        yield Note("the report says nothing of clusters")
        return
    if len(facts) != len(index.layers) - 1:
        yield Problem(_REPORT, None, f"clustering speaks of {len(facts)} layers, there are {len(index.layers) - 1}")
    counted = count_layers(index)
    for row, (below, above) in enumerate(pairwise(index.layers)):
        if row >= len(facts):
            return
        lifted = below.parent[below.ends.reshape(-1, 2)]
        wanted: dict[str, Any] = {
            "layer": above.number,
            "nodes": len(below),
            "clusters": len(above),
            "largest": counted[row]["largest_cluster"],
            "relations_below": below.relations.num_rows,
            "relations_inside": int((lifted[:, 0] == lifted[:, 1]).sum()),
            "summarised": counted[row + 1]["summarised"],
            "concatenated": counted[row + 1]["concatenated"],
        }
        said = {name: value for name, value in wanted.items() if name in facts[row]}
        yield from _different(_REPORT, f"clustering[{row}]", facts[row], said)
        tau = facts[row].get("tau")
        if tau is not None and not math.isclose(tau, tau_of(index, above), abs_tol=1e-9):
            text = f"clustering[{row}].tau is {tau}, but the configuration makes it {tau_of(index, above):g}"
            yield Problem(_REPORT, None, text)
