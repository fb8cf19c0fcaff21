"""Checks of what is stored beside the graph: files, records, model calls, parts, and what an import left."""

import math
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from leanrag_core.checking.problem import Note, Problem, Subject, at_rows
from leanrag_core.checking.relations import tau_of
from leanrag_core.errors import IndexDamaged
from leanrag_core.indexing.manifest import count_layers, counts_of
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.storage.digests import differing
from leanrag_core.storage.layout import read_imported, surplus_files
from leanrag_core.storage.ownership import CALLS, FOREIGN_IDS, IMPORTED
from leanrag_core.storage.part_store import RECORD, PartStore, changed_files, fits
from leanrag_core.types.calls import KINDS
from leanrag_core.types.imported import ImportedCommunity, ImportedExtras
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import FINISHED, UNFINISHED
from leanrag_core.types.rows import numbers


def hashes(subject: Subject) -> Iterator[Problem | Note]:
    """Check that size and sha256 of every file are those that the manifest records, and no table or vectors are there
    besides."""
    recorded = subject.index.manifest.files
    if subject.folder is None:
        yield Note("the index is in memory alone")
        return
    if not recorded:
        yield Note("hashes are missing: the index was written before they were kept. Build it again to have them")
        return
    for name, problem in differing(subject.folder, recorded):
        yield Problem(name, None, sentence(problem))
    for name in surplus_files(subject.index):
        yield Problem(name, None, sentence(message("damage.surplus")))


def tables(subject: Subject) -> Iterator[Problem | Note]:
    """Check that every cell of every table reads: offsets ascend, texts are UTF-8."""
    index = subject.index
    tables_by_name = {"documents": index.documents, "chunks": index.chunks}
    for layer in index.layers:
        tables_by_name |= {f"entities-{layer.number}": layer.entities, f"relations-{layer.number}": layer.relations}
    if index.calls is not None:
        tables_by_name["calls"] = index.calls
    for name, table in tables_by_name.items():
        for column in table.column_names:
            start = 0
            for piece in table[column].chunks:
                try:
                    piece.validate(full=True)
                except pa.ArrowException as error:
                    position = re.search(r"(?:index|slot|at) (\d+)", str(error))
                    row = start + int(position[1]) if position else None
                    yield Problem(subject.table(name), row, f"column {column!r}: {error}")
                start += len(piece)


_MANIFEST, _REPORT = "manifest.json", "report.json"


def counts(subject: Subject) -> Iterator[Problem | Note]:
    """Check that the manifest counts documents, chunks, entities, relations, clusters and components right."""
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
    """Check that what was dropped is counted and listed; chunks said to be empty are there."""
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
    """Check that what the report says of each layer's clusters, relations and tau is so."""
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


def calls_recorded(subject: Subject) -> Iterator[Problem | Note]:
    """Check that every recorded model call wrote a chunk's reading, an entity or a relation that the index has."""
    index = subject.index
    if index.calls is None:
        yield Note("no model call is recorded")
        return
    kinds, layers, targets = (index.calls[name].to_pylist() for name in ("kind", "layer", "target"))
    entities = [set(layer.entities["id"].to_pylist()) for layer in index.layers]
    relations = [set(layer.relations["id"].to_pylist()) for layer in index.layers]
    chunks = set(index.chunks["id"].to_pylist())
    may_have_written = {
        "extract": lambda layer: chunks if layer == 0 else set(),
        "condense": lambda layer: entities[0] | relations[0] if layer == 0 else set(),
        "entity": lambda layer: entities[layer],
        "relation": lambda layer: relations[layer],
    }
    unknown = [row for row, kind in enumerate(kinds) if kind not in KINDS]
    yield from at_rows(CALLS, unknown, "the call is of no known kind")
    n_layers, calls = len(index.layers), list(zip(kinds, layers, targets, strict=True))
    astray = [
        row
        for row, (kind, layer, target) in enumerate(calls)
        if kind in KINDS
        and not (layer is not None and 0 <= layer < n_layers and target in may_have_written[kind](layer))
    ]
    yield from at_rows(CALLS, astray, "what the call wrote is not there")
    columns = [numbers(index.calls[name]) for name in ("prompt_tokens", "completion_tokens", "cost")]
    yield from at_rows(CALLS, np.flatnonzero(np.min(columns, axis=0) < 0), "a count or cost is below zero")


def parts_stored(subject: Subject) -> Iterator[Problem | Note]:
    """Check that every finished part was made of this index, and its files are those that were written."""
    if subject.folder is None:
        yield Note("the index is in memory alone")
        return
    all_parts = PartStore(subject.folder).all()
    if not all_parts:
        yield Note("the index has no parts")
    finished = {part.name: part.fingerprint for part in all_parts if part.status == FINISHED}
    for part in all_parts:
        below = part.folder.relative_to(subject.folder).as_posix()
        if part.status == UNFINISHED:
            yield Note(f"the part {part.name} is not finished: make it again, which goes on where it stopped")
        elif part.problem is not None:
            file = Path(str(part.problem.values.get("path", part.folder / RECORD)))
            yield Problem(file.relative_to(subject.folder).as_posix(), None, sentence(part.problem))
        elif part.record is not None:
            for name, reason in changed_files(part.folder, part.record).items():
                yield Problem(f"{below}/{name}", None, sentence(reason))
            if not fits(part.record, subject.folder, finished):
                yield Problem(f"{below}/{RECORD}", None, sentence(message("part.of_another_index", part=part.name)))


def imported_kept(subject: Subject) -> Iterator[Problem | Note]:
    """Check that communities, claims and foreign ids lead to entities, relations, chunks and documents of the index; a
    community lies in one that is coarser."""
    if subject.folder is None:
        yield Note("the index is in memory alone")
        return
    try:
        extras = read_imported(subject.folder)
    except IndexDamaged as error:
        yield Problem(IMPORTED, None, str(error))
        return
    ids = _ids(subject.index)
    yield from _communities(extras, ids["entity"])
    claims = extras.claims
    without = [row for row, claim in enumerate(claims) if claim.subject not in ids["entity"]]
    yield from at_rows(IMPORTED, without, "the subject of the claim is no entity")
    unknown = [row for row, claim in enumerate(claims) if claim.chunk and claim.chunk not in ids["chunk"]]
    yield from at_rows(IMPORTED, unknown, "the chunk of the claim is not there")
    foreign = [row for row, each in enumerate(extras.foreign_ids) if each.id not in ids.get(each.kind, ())]
    yield from at_rows(FOREIGN_IDS, foreign, "the foreign id is of nothing that the index has")


def _ids(index: Index) -> dict[str, set[str]]:
    base = index.layers[0]
    tables = {"entity": base.entities, "relation": base.relations, "chunk": index.chunks, "document": index.documents}
    return {kind: set(table["id"].to_pylist()) for kind, table in tables.items()}


def _communities(extras: ImportedExtras, entities: set[str]) -> Iterator[Problem]:
    by_id = {community.id: community for community in extras.communities}
    if len(by_id) < len(extras.communities):
        yield Problem(IMPORTED, None, "two communities have one id")
    without = [row for row, each in enumerate(extras.communities) if not set(each.entities) <= entities]
    yield from at_rows(IMPORTED, without, "the community names an entity that is not there")
    astray = [row for row, each in enumerate(extras.communities) if each.parent and not _is_above(by_id, each)]
    yield from at_rows(IMPORTED, astray, "the parent of the community is not there, or of no coarser level")


def _is_above(by_id: dict[str, ImportedCommunity], community: ImportedCommunity) -> bool:
    parent = by_id.get(community.parent)
    return parent is not None and parent.level < community.level
