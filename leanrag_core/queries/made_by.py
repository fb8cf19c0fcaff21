"""What made a chunk, an entity or a relation of an index: the model call that wrote it, or the rule."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from leanrag_core.queries.browse import locate
from leanrag_core.queries.entity_search import chunk_of, relation_of
from leanrag_core.types.calls import MadeBy, RecordedCall
from leanrag_core.types.config import BUILTIN, REFERENCE
from leanrag_core.types.graph import Entity, Relation
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import BY_MODEL, HEURISTIC, IMPORTED, REFERENCE_GRAPH
from leanrag_core.types.updating import layer_writers, writer_of

_IMPORT = "import-"
_RECORDED = ("kind", "key", "prompt_tokens", "completion_tokens", "cost")  # of a call, as the index records it


def made_by(index: Index, id_: str) -> MadeBy | None:
    """Return what made the chunk, entity or relation of that id; None when the index has no such id."""
    place = locate(index, id_)
    if place is not None:
        return entity_made_by(index, index.layers[place.layer].entity(place.row))
    relation = relation_of(index, id_)
    if relation is not None:
        return relation_made_by(index, relation)
    chunk = chunk_of(index, id_)
    return None if chunk is None else chunk_made_by(index, chunk)


def entity_made_by(index: Index, entity: Entity) -> MadeBy:
    """Return what made that entity."""
    if entity.layer == 0:
        return _extracted(index, entity.id, entity.chunks)
    if entity.promoted:
        return MadeBy("promoted")
    item = f"layer {entity.layer}, {entity.name}"
    return _written(index, entity.id, entity.layer, item, "aggregate entities")


def relation_made_by(index: Index, relation: Relation) -> MadeBy:
    """Return what made that relation."""
    if relation.layer == 0:
        return _extracted(index, relation.id, relation.chunks)
    if relation.kind == "concatenated":
        tau = next((facts.tau for facts in index.report.clustering if facts.layer == relation.layer), None)
        return MadeBy("joined", sources=len(relation.members), strength=relation.strength, tau=tau)
    names = [index.layers[relation.layer].entities["name"][row].as_py() for row in (relation.source, relation.target)]
    item = f"layer {relation.layer}, {names[0]} – {names[1]}"
    return _written(index, relation.id, relation.layer, item, "aggregate relations")


def chunk_made_by(index: Index, row: int) -> MadeBy:
    """Return what cut that chunk, and the calls that read it."""
    if index.manifest.kind == IMPORTED:
        return MadeBy("imported", engine=_importer(index))
    id_ = index.chunk_cells.value("id", row)
    return MadeBy("cut", calls=_calls(index, [id_], "extract"))


def _extracted(index: Index, id_: str, chunks: Sequence[int]) -> MadeBy:
    kind = index.manifest.kind
    condensed = _calls(index, [id_], "condense")
    if kind == IMPORTED:
        return MadeBy("imported", engine=_importer(index), calls=condensed)
    if kind == REFERENCE_GRAPH:
        return MadeBy("by_hand", calls=condensed)
    if kind == HEURISTIC:
        return MadeBy("merged", engine=BUILTIN, sources=len(chunks), calls=condensed)
    ids = index.chunks["id"].take(pa.array(chunks, pa.int64())).to_pylist()
    calls = (*_calls(index, ids, "extract"), *condensed)
    return MadeBy("merged", engine=_model(index.manifest.language_model), sources=len(chunks), calls=calls)


def _written(index: Index, id_: str, layer: int, item: str, stage: str) -> MadeBy:
    """Return who wrote the thing. item: what the report of a reference graph calls it when it had no text for it."""
    manifest = index.manifest
    calls = _calls(index, [id_])
    if calls:
        return MadeBy("by_model", engine=calls[0].model, calls=calls)
    rewritten = any(step.rewritten_from and step.rewritten_from <= layer for step in manifest.lineage)
    lost = {drop.item for drop in index.report.dropped.get(stage, ())}
    if manifest.kind == REFERENCE_GRAPH and not rewritten and item not in lost:
        return MadeBy("by_hand")
    writer = _writer(index, layer)
    if writer == BUILTIN:
        return MadeBy("by_builtin", engine=BUILTIN)
    return MadeBy("not_recorded" if index.calls is None else "instead", engine=writer)


def _calls(index: Index, targets: Sequence[str], kind: str = "") -> tuple[RecordedCall, ...]:
    """Return the calls that wrote one of those things."""
    import pyarrow.compute as pc

    if index.calls is None or not targets:
        return ()
    matches = pc.is_in(index.calls["target"], value_set=pa.array(targets, pa.string()))
    if kind:
        matches = pc.and_(matches, pc.equal(index.calls["kind"], kind))
    rows = np.flatnonzero(matches.to_numpy())
    chunk_of = _rows_of_chunks(index, targets) if kind == "extract" else {}
    recorded = []
    for row, cells in zip(rows.tolist(), index.calls.take(pa.array(rows)).to_pylist(), strict=True):
        model, chunk = _model_of_call(index, cells["kind"], cells["layer"]), chunk_of.get(cells["target"])
        own = {name: cells[name] for name in _RECORDED}
        recorded.append(RecordedCall(number=row + 1, total=index.calls.num_rows, model=model, chunk=chunk, **own))
    return tuple(recorded)


def _rows_of_chunks(index: Index, ids: Sequence[str]) -> dict[str, int]:
    import pyarrow.compute as pc

    rows = np.flatnonzero(pc.is_in(index.chunks["id"], value_set=pa.array(ids, pa.string())).to_numpy())
    return dict(zip(index.chunks["id"].take(pa.array(rows)).to_pylist(), rows.tolist(), strict=True))


def _model_of_call(index: Index, kind: str, layer: int) -> str:
    by_extractor = kind == "extract" and index.manifest.kind == BY_MODEL
    return _model(index.manifest.language_model) if by_extractor else _writer(index, layer)


def _writer(index: Index, layer: int) -> str:
    """Return the name of the model that writes the layer; in layer 0, long descriptions."""
    manifest = index.manifest
    writer = writer_of(layer_writers(_model(manifest.aggregation_model), manifest.lineage), layer)
    return BUILTIN if writer == REFERENCE else writer


def _model(fingerprint: str) -> str:
    """Return the model's name without the temperature that its fingerprint ends with."""
    return BUILTIN if fingerprint in ("", "none") else fingerprint.rpartition("@t")[0] or fingerprint


def _importer(index: Index) -> str:
    extractor = index.manifest.extractor
    return extractor.removeprefix(_IMPORT).partition("/")[0] if extractor.startswith(_IMPORT) else ""
