"""Checks that manifest and report agree with the tables."""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise

from leanrag_core.checking.problem import Note, Problem, Subject
from leanrag_core.checking.relations import tau_of
from leanrag_core.indexing.describe import count_layers
from leanrag_core.indexing.manifest import counts_of

_MANIFEST, _REPORT = "manifest.json", "report.json"


def counts(subject: Subject) -> Iterator[Problem | Note]:
    """The manifest counts documents, chunks, entities, relations, clusters and components right."""
    index = subject.index
    rows = count_layers(index.layers)
    counted = counts_of(rows, index.documents.num_rows, index.chunks.num_rows)
    yield from _different(_MANIFEST, "counts", index.manifest.counts, vars(counted))
    for number, (recorded, row) in enumerate(zip(index.manifest.layers, rows, strict=False)):
        yield from _different(_MANIFEST, f"layers[{number}]", recorded, vars(row))


def _different(file: str, place: str, recorded: object, counted: Mapping[str, object]) -> Iterator[Problem]:
    for name, value in counted.items():
        stored = getattr(recorded, name)
        if stored != value:
            yield Problem(file, None, f"{place}.{name} is {_shown(stored)}, but there are {_shown(value)}")


def _shown(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def drops(subject: Subject) -> Iterator[Problem | Note]:
    """What was dropped is counted and listed; chunks said to be empty are there."""
    report = subject.index.report
    counted, listed = report.drops, report.dropped
    for stage, examples in listed.items():
        if len(examples) > counted.get(stage, 0):
            yield Problem(_REPORT, None, f"stage {stage!r} lists {len(examples)} drops, counts {counted.get(stage, 0)}")
    for stage, number in counted.items():
        if number and not listed.get(stage):
            yield Problem(_REPORT, None, f"stage {stage!r} counts {number} drops and lists none")
    unknown = set(report.empty_chunks) - set(subject.index.chunks["id"].to_pylist())
    for chunk in sorted(unknown)[:20]:
        yield Problem(_REPORT, None, f"empty_chunks names {chunk!r}, which is no chunk")
    for name, value in vars(report.usage).items():
        if not value >= 0:
            yield Problem(_REPORT, None, f"usage.{name} is {value}")


def clustering(subject: Subject) -> Iterator[Problem | Note]:
    """What the report says of each layer's clusters, relations and tau is so."""
    index = subject.index
    facts = index.report.clustering
    if not facts:
        yield Note("the report says nothing of clusters")
        return
    if len(facts) != len(index.layers) - 1:
        yield Problem(_REPORT, None, f"clustering speaks of {len(facts)} layers, there are {len(index.layers) - 1}")
    counted = count_layers(index.layers)
    for row, (below, above) in enumerate(pairwise(index.layers)):
        if row >= len(facts):
            return
        lifted = below.parent[below.ends.reshape(-1, 2)]
        expected = {
            "layer": above.number,
            "nodes": len(below),
            "clusters": len(above),
            "largest": counted[row].largest_cluster,
            "relations_below": below.relations.num_rows,
            "relations_inside": int((lifted[:, 0] == lifted[:, 1]).sum()),
            "summarised": counted[row + 1].summarised,
            "concatenated": counted[row + 1].concatenated,
        }
        reported = {name: value for name, value in expected.items() if getattr(facts[row], name) is not None}
        yield from _different(_REPORT, f"clustering[{row}]", facts[row], reported)
        tau = facts[row].tau
        by_lambda = index.manifest.config.relation_rule == "lambda"
        if by_lambda and tau is not None and not math.isclose(tau, tau_of(index, above), abs_tol=1e-9):
            text = f"clustering[{row}].tau is {tau}, but the configuration makes it {tau_of(index, above):g}"
            yield Problem(_REPORT, None, text)
