"""Importing a graph of n entities: reading and merging the files of each format, and building the index on them."""

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import networkx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.memory import peak_gb, reset_peak
from benchmarks.planted import DIMENSIONS, planted
from leanrag_core.importing.base import graph_by, importer
from leanrag_core.indexing.build import BuildRequest, build_from_graph
from leanrag_core.indexing.build_models import BuildModels
from leanrag_core.types.config import IndexConfig

TITLE = "Importing n entities, 2 n relations and n / 10 chunks: reading by format, and the whole import but embedding"
SIZES = (20_000,)
_WORDS = ("amber", "bridge", "cedar", "delta", "ember", "fjord", "grove", "harbour", "island", "knoll", "lake", "moor")


class PreparedEmbedding:
    """Planted vectors one after the other, made before: no model is at work."""

    name, fingerprint, dimension = "prepared", "prepared:1", DIMENSIONS

    def __init__(self, n: int) -> None:
        self._vectors = planted(n).vectors
        self._given = 0

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return the next (n, d) float32 unit rows."""
        rows = np.arange(self._given, self._given + len(texts)) % len(self._vectors)
        self._given += len(texts)
        return self._vectors[rows]


def measure(size: int) -> dict[str, float | int | str]:
    """Return the seconds of reading and merging by format, and of the whole import of the first one without a model."""
    figures: dict[str, float | int | str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, write in WRITERS.items():
            place = Path(folder) / name
            place.mkdir()
            write(place, size)
        reset_peak()
        for name in WRITERS:
            started, processor = time.perf_counter(), time.process_time()
            imported = graph_by(importer(name), Path(folder) / name)
            figures[f"{name}_seconds"] = round(time.perf_counter() - started, 2)
            figures[f"{name}_processor_seconds"] = round(time.process_time() - processor, 2)
            if imported.graph.entities.num_rows != size:
                raise AssertionError(f"{name} gave {imported.graph.entities.num_rows:,} entities, not {size:,}")
        embedding = PreparedEmbedding(2 * size)  # entities of all layers, and chunks
        started, processor = time.perf_counter(), time.process_time()
        imported = graph_by(importer("lightrag"), Path(folder) / "lightrag")
        request = BuildRequest((), IndexConfig(), Path(folder) / "index")
        build_from_graph(imported, "lightrag", request, BuildModels(embedding))
        figures["import_without_embedding_seconds"] = round(time.perf_counter() - started, 2)
        figures["import_without_embedding_processor_seconds"] = round(time.process_time() - processor, 2)
    figures["peak_gb"] = round(peak_gb(), 3)
    return figures


def _name(row: int) -> str:
    return f"{_WORDS[row % 12].capitalize()} {_WORDS[row // 12 % 12]} {row}"


def _about(row: int) -> str:
    near, met = _WORDS[row * 7 % 12], _WORDS[row * 5 % 12]
    return f"{_name(row)} is by the {near} and meets the {met} every {row % 365} days."


def _ends(size: int) -> list[tuple[int, int]]:
    pairs = np.random.default_rng(7).integers(0, size, (2 * size, 2))
    return [(int(source), int(target)) for source, target in pairs if source != target]


def _chunks(size: int) -> dict[str, str]:
    return {f"chunk-{n}": " ".join(map(_about, range(10 * n, 10 * n + 10))) for n in range(size // 10)}


def _lightrag(folder: Path, size: int) -> None:
    graph = networkx.Graph()
    for row in range(size):
        chunks = f"chunk-{row // 10}<SEP>chunk-{row * 3 % (size // 10)}"
        graph.add_node(_name(row), entity_type="place", description=_about(row), source_id=chunks)
    for source, target in _ends(size):
        graph.add_edge(
            _name(source),
            _name(target),
            weight=1.5,
            description=f"{_name(source)} meets {_name(target)}.",
            keywords="meeting, road",
            source_id=f"chunk-{source // 10}",
        )
    networkx.write_graphml(graph, folder / "graph_chunk_entity_relation.graphml")
    stored = {id_: {"content": text, "full_doc_id": "doc-1"} for id_, text in _chunks(size).items()}
    (folder / "kv_store_text_chunks.json").write_text(json.dumps(stored))


def _graphrag(folder: Path, size: int) -> None:
    def table(name: str, rows: list[dict[str, object]]) -> None:
        pq.write_table(pa.Table.from_pylist(rows), folder / f"{name}.parquet")

    table(
        "entities",
        [
            {"id": f"e{row}", "title": _name(row), "type": "PLACE", "description": _about(row)}
            | {"text_unit_ids": [f"chunk-{row // 10}"]}
            for row in range(size)
        ],
    )
    table(
        "relationships",
        [
            {"id": f"r{place}", "source": _name(source), "target": _name(target), "description": "They meet."}
            | {"weight": 2.0, "text_unit_ids": [f"chunk-{source // 10}"]}
            for place, (source, target) in enumerate(_ends(size))
        ],
    )
    table("text_units", [{"id": id_, "text": text, "document_id": "d"} for id_, text in _chunks(size).items()])


def _leanrag(folder: Path, size: int) -> None:
    rows = [
        {"entity_name": _name(row), "description": _about(row), "source_id": f"chunk-{row // 10}"}
        for row in range(size)
    ]
    (folder / "entity.jsonl").write_text("\n".join(map(json.dumps, rows)))
    relations = [
        {"src_tgt": _name(source), "tgt_src": _name(target), "description": "They meet.", "weight": 1}
        | {"source_id": f"chunk-{source // 10}"}
        for source, target in _ends(size)
    ]
    (folder / "relation.jsonl").write_text("\n".join(map(json.dumps, relations)))
    chunks = [{"hash_code": id_, "text": text} for id_, text in _chunks(size).items()]
    (folder / "chunk.json").write_text(json.dumps(chunks))


def _plain(folder: Path, size: int) -> None:
    def table(name: str, rows: list[dict[str, object]]) -> None:
        pq.write_table(pa.Table.from_pylist(rows), folder / f"{name}.parquet")

    table("entities", [{"name": _name(row), "description": _about(row)} for row in range(size)])
    table("relations", [{"source": _name(source), "target": _name(target)} for source, target in _ends(size)])


WRITERS: dict[str, Callable[[Path, int], None]] = {
    "lightrag": _lightrag,
    "graphrag": _graphrag,
    "leanrag": _leanrag,
    "plain": _plain,
}
